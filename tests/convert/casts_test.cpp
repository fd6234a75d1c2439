// SPDX-License-Identifier: MIT OR Apache-2.0
// Casts of a conversion: which tensors change, and what is said of elements that are lost.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "andiron/convert.h"
#include "andiron/tensor.h"
#include "andiron/write.h"

namespace andiron {
namespace {

Archive file() {
  Archive archive;
  const auto add = [&](const char* name, Tensor tensor) {
    archive.add(TensorSnapshot(name, tensor)).value();
  };
  add("weight", Tensor::from_values<float>({3}, {1, 1e6f, 1e-12f}).value());
  add("steps", Tensor::from_values<std::int64_t>({1}, {3}).value());
  return archive;
}

Result<Conversion> cast(const std::vector<std::string>& rules) {
  ConvertOptions options;
  for (const std::string& rule : rules) options.casts.push_back(CastRule::parse(rule).value());
  return convert(file(), options);
}

TEST(ConvertCasts, AGlobLeavesTensorsOfAnotherKindAlone) {
  const Conversion conversion = cast({"**=f16"}).value();
  EXPECT_EQ(conversion.archive.get("weight").value().dtype(), DType::f16);
  EXPECT_EQ(conversion.archive.get("steps").value().dtype(), DType::i64);
  ASSERT_EQ(conversion.casts.size(), 1u);
  EXPECT_EQ(conversion.casts[0].from, DType::f32);
}

TEST(ConvertCasts, AWholeNameIsCastWhateverItContains) {
  EXPECT_EQ(cast({"steps=f32"}).value().archive.get("steps").value().dtype(), DType::f32);
}

TEST(ConvertCasts, TheLastRuleThatMatchesCounts) {
  const Conversion conversion = cast({"weight=f64", "**=bf16"}).value();
  EXPECT_EQ(conversion.archive.get("weight").value().dtype(), DType::bf16);
}

TEST(ConvertCasts, LostElementsAreCountedWhileTheArchiveIsWritten) {
  const Conversion conversion = cast({"weight=f16"}).value();
  EXPECT_TRUE(conversion.cast_losses().empty());
  write_to_memory(conversion.archive).value();
  const std::vector<std::string> expected = {
      "tensor 'weight': 1 element overflowed and 1 element became 0 in the cast from f32 to f16"};
  EXPECT_EQ(conversion.cast_losses(), expected);
}

TEST(ConvertCasts, ARuleWithoutAMatchIsAnError) {
  const Error error = cast({"bias=f16"}).error();
  EXPECT_EQ(error.code, ErrorCode::missing_tensor);
  EXPECT_EQ(error.message, "no tensor matches the cast 'bias=f16'");
}

TEST(ConvertCasts, ARuleThatChangesNothingIsNoted) {
  const Conversion conversion = cast({"step?=f16"}).value();
  ASSERT_EQ(conversion.notes.size(), 1u);
  EXPECT_NE(conversion.notes[0].find("changed nothing"), std::string::npos);
}

TEST(ConvertCasts, ARuleIsAGlobAndADType) {
  EXPECT_EQ(CastRule::parse("f16").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(CastRule::parse("=f16").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(CastRule::parse("**=float").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(CastRule::parse("**=qfloat").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace andiron
