// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/stores.h"

#include <gtest/gtest.h>

#include "andiron/module.h"
#include "tests/support/param_numbers.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

using test::numbers;

struct ArrayPair {
  Param first = Param(Tensor::from_values<float>({2}, {1, 2}).value());
  Param second = Param(Tensor::from_values<std::int32_t>({1, 2}, {3, 4}).value());
  ANDIRON_MODULE(ArrayPair, first, second)
};

TEST(NumpyStore, SavesAModuleThatItLoadsAgain) {
  test::TempDir folder;
  ArrayPair saved;
  auto store = NumpyStore::from_file(folder.file("pair"));
  EXPECT_EQ(store.path(), folder.file("pair.npz"));
  const WriteReport report = save_into(saved, store).value();
  EXPECT_EQ(report.files, std::vector<std::string>{folder.file("pair.npz")});
  EXPECT_EQ(report.notes,
            std::vector<Message>{"numpy cannot store 2 parameter ids; they were left out"});
  EXPECT_EQ(store.keys().value(), (std::vector<std::string>{"first", "second"}));

  ArrayPair loaded;
  loaded.first.set_val(Tensor::from_values<float>({2}, {0, 0}).value());
  const ParamId id = loaded.first.id();
  EXPECT_EQ(load_from(loaded, store).value().applied.size(), 2u);
  EXPECT_EQ(numbers(loaded.first), (std::vector<float>{1, 2}));
  EXPECT_EQ(loaded.first.id(), id);
}

TEST(NumpyStore, ALoneArrayIsATensorWithoutAName) {
  struct One {
    Param weight = Param(Tensor::from_values<float>({2}, {1, 2}).value());
    ANDIRON_MODULE(One, weight)
  };
  test::TempDir folder;
  ASSERT_TRUE(save_into(One(), NumpyStore::from_file(folder.file("w.npy"))));
  EXPECT_EQ(NumpyStore::from_file(folder.file("w.npy")).keys().value(),
            std::vector<std::string>{""});
  One loaded;
  loaded.weight.set_val(Tensor::from_values<float>({2}, {0, 0}).value());
  load_from(loaded, NumpyStore::from_file(folder.file("w.npy")).with_key_remapping("^$", "weight"))
      .value();
  EXPECT_EQ(numbers(loaded.weight), (std::vector<float>{1, 2}));
}

TEST(NumpyStore, MetadataIsLeftOutWithANote) {
  auto store = NumpyStore().metadata("author", "nobody");
  const WriteReport report = save_into(ArrayPair(), store).value();
  EXPECT_EQ(report.notes.size(), 2u);
  EXPECT_EQ(report.notes.at(1), "numpy cannot store 1 metadata string; it was left out");
}

}  // namespace
}  // namespace andiron
