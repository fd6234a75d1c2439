// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/load/fit.h"

#include <gtest/gtest.h>

#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using detail::fit;

TensorSnapshot raw_tensor(const char* name) {
  const Bytes bytes = Bytes::copy(std::as_bytes(std::span("12345678", 8))).value();
  return TensorSnapshot("t", Tensor::raw(name, {2}, bytes).value());
}

TEST(Fitted, ComparesTheNamesOfUnknownTypes) {
  const LeafInfo wanted{.dtype = DType::raw, .shape = {2}, .raw_name = "A"};
  EXPECT_TRUE(fit(raw_tensor("A"), wanted, DTypePolicy::strict));
  EXPECT_EQ(fit(raw_tensor("B"), wanted, DTypePolicy::strict).error().code,
            ErrorCode::dtype_mismatch);
}

TEST(Fitted, TakesQuantizedDataForFloatsButDoesNotConvertIt) {
  const Bytes bytes = Bytes::copy(std::as_bytes(std::span("1234", 4))).value();
  const TensorSnapshot quantized("t", Tensor::qfloat({}, {2}, bytes).value());
  LeafInfo wanted{.dtype = DType::f32, .shape = {2}, .accepts_any_dtype = true};
  EXPECT_EQ(fit(quantized, wanted, DTypePolicy::from_file).value().dtype(), DType::qfloat);
  EXPECT_FALSE(fit(quantized, wanted, DTypePolicy::cast_to_module));
  wanted.accepts_any_dtype = false;
  EXPECT_FALSE(fit(quantized, wanted, DTypePolicy::from_file));
}

TEST(Fitted, ChecksTheShapeOfWhatIsSet) {
  const TensorSnapshot tensor("t", test::f32({3, 2}, 1));
  LeafInfo wanted{.dtype = DType::f32, .shape = {2, 3}, .accepts_any_dtype = true};
  const Result<TensorSnapshot> misfit = fit(tensor, wanted, DTypePolicy::from_file);
  EXPECT_EQ(misfit.error().code, ErrorCode::shape_mismatch);
  EXPECT_NE(misfit.error().hint.find("transposed"), std::string::npos);
  wanted.accepts_any_shape = true;
  EXPECT_TRUE(fit(tensor, wanted, DTypePolicy::strict));
}

}  // namespace
}  // namespace andiron
