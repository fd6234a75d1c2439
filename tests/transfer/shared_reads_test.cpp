// SPDX-License-Identifier: MIT OR Apache-2.0
// Data that a source has once is read once, however many parameters take it.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "andiron/module.h"
#include "andiron/param.h"
#include "andiron/transfer.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

struct Model {
  Param embedding;
  Param head;
  ANDIRON_MODULE(Model, embedding, head)
};

class SharedReads : public testing::Test {
 protected:
  TensorSnapshot view(const char* name, std::uint64_t offset) const {
    return TensorSnapshot::from_source(name, source, offset, 16, DType::f32, {4}).value();
  }
  static Model model() {
    const Tensor zeros = Tensor::from_values<float>({4}, {0, 0, 0, 0}).value();
    return {Param(zeros), Param(zeros)};
  }

  static float number(const Param& param, std::size_t index) {
    const Tensor tensor = param.val().value();
    return tensor.as<float>().value()[index];
  }

  std::shared_ptr<test::TestSource> source =
      std::make_shared<test::TestSource>(test::bytes_of<float>({1, 2, 3, 4, 5, 6, 7, 8}));
};

TEST_F(SharedReads, OfTiedTensorsThereIsOne) {
  Model loaded = model();
  const Snapshots tied({view("embedding", 0), view("head", 0)});
  ASSERT_TRUE(apply(loaded, tied));
  EXPECT_EQ(source->bytes_read(), 16U);
  EXPECT_EQ(number(loaded.head, 3), 4.0f);
}

TEST_F(SharedReads, OfOthersThereIsOneEach) {
  Model loaded = model();
  const Snapshots apart({view("embedding", 0), view("head", 16)});
  ASSERT_TRUE(apply(loaded, apart));
  EXPECT_EQ(source->bytes_read(), 32U);
  EXPECT_EQ(number(loaded.head, 3), 8.0f);
}

TEST_F(SharedReads, DoNotTieWhatTheModuleHasApart) {
  Model loaded = model();
  const Snapshots tied({view("embedding", 0), view("head", 0)});
  ASSERT_TRUE(apply(loaded, tied));
  loaded.embedding = Param(Tensor::from_values<float>({4}, {9, 9, 9, 9}).value());
  EXPECT_EQ(number(loaded.head, 0), 1.0f);
}

}  // namespace
}  // namespace andiron
