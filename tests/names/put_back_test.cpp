// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "andiron/names.h"
#include "andiron/value.h"
#include "tests/names/named_archive.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;

// A tensor of shape [2] that holds `first` and the number after it.
Status add(Archive& archive, const std::string& name, float first) {
  return archive.add(TensorSnapshot(name, f32({2}, first)));
}

float first_of(const Archive& archive, std::string_view name) {
  return archive.get(name).value().read().value().to_vector<float>().value()[0];
}

// A checkpoint with a wrapper, gaps in its numbers, and more than the model.
Archive checkpoint() {
  Archive file;
  add(file, "net.fc.0.weight", 1).value();
  add(file, "net.fc.3.weight", 2).value();
  add(file, "optimizer.step", 3).value();
  file.set_metadata({{"author", "me"}});
  file.set_value(ValueDict{{"epoch", Value(std::int64_t{7})}});
  return file;
}

NameOptions names_of_model() {
  NameOptions names{.top_level_key = "net", .close_gaps = true};
  names.remapper.add_pattern("^fc", "layers");
  return names;
}

TEST(PutBack, TensorsTakeThePlacesAndNamesThatTheyHadInTheFile) {
  const Archive named = apply_names(checkpoint(), names_of_model()).value();
  ASSERT_EQ(names_of(named), (Names{"layers.0.weight", "layers.1.weight"}));
  Archive tensors;
  add(tensors, "layers.1.weight", 20).value();
  add(tensors, "layers.0.weight", 10).value();
  const Archive back = put_back(tensors, named).value();
  EXPECT_EQ(names_of(back), (Names{"net.fc.0.weight", "net.fc.3.weight", "optimizer.step"}));
  EXPECT_EQ(first_of(back, "net.fc.0.weight"), 10);
  EXPECT_EQ(first_of(back, "net.fc.3.weight"), 20);
  EXPECT_EQ(first_of(back, "optimizer.step"), 3);
  EXPECT_TRUE(back.notes().empty());
}

TEST(PutBack, ValuesAndMetadataAreTheFiles) {
  const Archive named = apply_names(checkpoint(), names_of_model()).value();
  const Archive back = put_back(Archive(), named).value();
  EXPECT_EQ(back.metadata().at("author"), "me");
  EXPECT_EQ(back.value().value().at("epoch").as<int>().value(), 7);
}

TEST(PutBack, TensorsWithoutAPlaceAreListedAndRefused) {
  const Archive named = apply_names(checkpoint(), names_of_model()).value();
  Archive tensors;
  add(tensors, "layers.0.weight", 10).value();
  add(tensors, "layers.2.weight", 20).value();
  // The file has it, but not under the key that the model was loaded from.
  add(tensors, "optimizer.step", 30).value();
  const Error error = put_back(tensors, named).error();
  EXPECT_EQ(error.code, ErrorCode::missing_tensor);
  EXPECT_EQ(error.message, "the file has no tensor for 2 parameters");
  EXPECT_EQ(error.found, "'layers.2.weight', 'optimizer.step'");
}

TEST(PutBack, AnotherShapeIsTaken) {
  const Archive named = apply_names(checkpoint(), names_of_model()).value();
  Archive tensors;
  tensors.add(TensorSnapshot("layers.0.weight", f32({5}, 1))).value();
  const Archive back = put_back(tensors, named).value();
  EXPECT_EQ(back.get("net.fc.0.weight").value().shape(), Shape({5}));
  EXPECT_EQ(back.notes(), (std::vector<Message>{"1 tensor has another shape than in the file: "
                                                "'net.fc.0.weight', [5] instead of [2]"}));
}

TEST(PutBack, AnotherDtypeIsTakenWithANoteOrCastBack) {
  const Archive named = apply_names(checkpoint(), names_of_model()).value();
  Archive tensors;
  const TensorSnapshot half =
      TensorSnapshot("layers.0.weight", f32({2}, 4)).cast(DType::f16).value();
  tensors.add(half).value();
  const Archive back = put_back(tensors, named).value();
  EXPECT_EQ(back.info(0).dtype, DType::f16);
  EXPECT_EQ(back.notes(), (std::vector<Message>{"1 tensor has another dtype than in the file: "
                                                "'net.fc.0.weight', f16 instead of f32"}));
  const Archive cast = put_back(tensors, named, {.keep_dtypes = true}).value();
  EXPECT_EQ(cast.info(0).dtype, DType::f32);
  EXPECT_EQ(first_of(cast, "net.fc.0.weight"), 4);
  EXPECT_TRUE(cast.notes().empty());
}

TEST(PutBack, TensorsThatTheFileTiesMustStillBeEqual) {
  Archive file;
  add(file, "embedding", 1).value();
  file.set_aliases({{"output", "embedding"}});
  Archive tensors;
  add(tensors, "embedding", 5).value();
  add(tensors, "output", 5).value();
  const Archive back = put_back(tensors, file).value();
  EXPECT_EQ(names_of(back), Names{"embedding"});
  EXPECT_EQ(first_of(back, "output"), 5);

  Archive apart;
  add(apart, "embedding", 5).value();
  add(apart, "output", 6).value();
  const Error error = put_back(apart, file).error();
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.tensor, "output");
  EXPECT_EQ(error.found, "other data than 'embedding'");
}

TEST(PutBack, TellsWhatTheReaderSkipped) {
  Archive file = checkpoint();
  file.set_skipped({{"packed", "a class that is not known"}});
  EXPECT_EQ(put_back(Archive(), file).value().notes(),
            (std::vector<Message>{"1 entry of the file could not be read and is not carried "
                                  "over: 'packed': a class that is not known"}));
}

TEST(PutBack, TensorsThatShareBytesInTheFileStayEqual) {
  const Tensor shared = f32({2}, 1);
  const ByteSourcePtr bytes = memory_source(shared.bytes());
  Archive file;
  for (const char* name : {"embedding", "output"}) {
    file.add(TensorSnapshot::from_source(name, bytes, 0, 8, DType::f32, {2}).value()).value();
  }
  ASSERT_TRUE(file.ties()[1]);
  Archive one;
  add(one, "output", 5).value();
  const Archive back = put_back(one, file).value();
  EXPECT_EQ(first_of(back, "embedding"), 5);
  Archive apart;
  add(apart, "embedding", 5).value();
  add(apart, "output", 6).value();
  EXPECT_EQ(put_back(apart, file).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace andiron
