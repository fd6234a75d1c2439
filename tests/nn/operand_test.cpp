// SPDX-License-Identifier: MIT OR Apache-2.0
// What layers compute with: whose memory it is, and which dtypes it comes from.
#include "src/nn/forward/operand.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/nn/linear.h"
#include "andiron/stores.h"
#include "tests/core/quant_schemes.h"
#include "tests/nn/numbers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temp_dir.h"

namespace andiron::nn {
namespace {

using test::counting;
using test::expect_error;
using test::expect_near;
using test::misaligned;
using test::random_tensor;
using test::tensor_of;

const void* place_of(const Tensor& tensor) { return tensor.bytes().data(); }

TEST(Operand, UsesTheElementsWhereTheyAre) {
  const Tensor floats = counting({2, 3});
  const Operand<float> operand = Operand<float>::of("Layer", floats).value();
  EXPECT_EQ(operand.data(), place_of(floats));
  EXPECT_EQ(operand.shape(), Shape({2, 3}));
  EXPECT_EQ(operand.rank(), 2U);
  EXPECT_EQ(operand.dim(1), 3U);
  EXPECT_EQ(operand.size(), 6U);

  const Tensor doubles = counting<double>({2});
  EXPECT_EQ(Operand<double>::of("Layer", doubles).value().data(), place_of(doubles));
  const Param param(floats);
  EXPECT_EQ(Operand<float>::of("Layer", "weight", param).value().data(), place_of(floats));
}

TEST(Operand, KeepsTheElementsAlive) {
  const Operand<float> operand = [] {
    const Param param(counting({3}, 7));
    return Operand<float>::of("Layer", "weight", param).value();
  }();
  EXPECT_EQ(operand.data()[2], 9.0F);
}

TEST(Operand, CopiesWhatDoesNotStartOnABoundary) {
  const Tensor shifted = misaligned(counting({5}, 1));
  const Operand<float> operand = Operand<float>::of("Layer", shifted).value();
  EXPECT_NE(operand.data(), place_of(shifted));
  expect_near(operand.tensor(), {5}, {1, 2, 3, 4, 5}, 0);
  expect_near(Operand<double>::of("Layer", misaligned(counting<double>({2}))).value().tensor(), {2},
              {0, 1});
  // What is converted is read from anywhere.
  for (const DType dtype : {DType::f16, DType::bf16, DType::f64}) {
    const Tensor other = misaligned(cast(counting({5}, 1), dtype).value());
    expect_near(Operand<float>::of("Layer", other).value().tensor(), {5}, {1, 2, 3, 4, 5}, 0);
  }
}

TEST(Operand, WidensAndNarrowsFloats) {
  const Tensor numbers = tensor_of({3}, {1.5, -2, 1.0 / 3});
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Tensor small = cast(numbers, dtype).value();
    const Tensor widened = cast(small, DType::f32).value();
    EXPECT_EQ(Operand<float>::of("Layer", small).value().tensor().bytes().text(),
              widened.bytes().text());
  }
  const Tensor exact = tensor_of<double>({1}, {1.0 / 3});
  EXPECT_EQ(Operand<float>::of("Layer", exact).value().data()[0], static_cast<float>(1.0 / 3));
  EXPECT_EQ(Operand<double>::of("Layer", numbers).value().data()[2],
            static_cast<double>(static_cast<float>(1.0 / 3)));
}

TEST(Operand, DequantizesParameters) {
  const QuantScheme scheme = test::per_tensor(QuantValue::q8s, QuantStore::native);
  const Param param(
      Tensor::qfloat(scheme, {2, 2},
                     Bytes::own(std::vector<std::uint8_t>{1, 2, 0xff, 4, 0, 0, 0, 63}))
          .value());
  expect_near(Operand<float>::of("Layer", "weight", param).value().tensor(), {2, 2},
              {0.5, 1, -0.5, 2}, 0);
}

TEST(Operand, RefusesWhatIsNotAFloat) {
  for (const DType dtype : {DType::i64, DType::u8, DType::boolean, DType::c64, DType::f8e4m3fn}) {
    const Tensor tensor = Tensor::zeros(dtype, {2}).value();
    expect_error(Operand<float>::of("Layer", tensor), ErrorCode::dtype_mismatch,
                 {dtype_name(dtype), "nn::cast()"});
  }
  const Tensor raw = Tensor::raw("odd", {2}, Bytes::own(std::string("ab"))).value();
  expect_error(Operand<double>::of("Layer", raw), ErrorCode::dtype_mismatch, {"raw:odd"});
}

TEST(Operand, OfAParameterThatIsNotSetIsMissing) {
  expect_error(Operand<float>::of("Layer", "weight", Param()), ErrorCode::missing_tensor);
  EXPECT_FALSE(optional_operand<float>("Layer", "bias", std::nullopt).value().has_value());
  expect_error(optional_operand<float>("Layer", "bias", std::optional(Param())),
               ErrorCode::missing_tensor, {"Layer", "bias"});
}

TEST(NewTensor, RefusesSizesThatCannotBe) {
  EXPECT_FALSE(NewTensor<float>::of({test::huge_size}).ok());
  EXPECT_FALSE(NewTensor<float>::of({test::huge_size, 4}).ok());
  EXPECT_EQ(NewTensor<float>::of({3, 0}).value().size(), 0U);
  EXPECT_EQ(NewTensor<double>::of({}).value().size(), 1U);
}

TEST(CheckedDim, CountsFromBothEnds) {
  EXPECT_EQ(checked_dim("f", 1, {2, 3}).value(), 1U);
  EXPECT_EQ(checked_dim("f", -2, {2, 3}).value(), 0U);
  expect_error(checked_dim("f", 2, {2, 3}), ErrorCode::invalid_argument,
               {"f: ", "2 of [2, 3]", "-2 to 1"});
  EXPECT_FALSE(checked_dim("f", -3, {2, 3}).ok());
  EXPECT_FALSE(checked_dim("f", 0, {}).ok());
  EXPECT_FALSE(checked_dim("f", -1, {}).ok());
  EXPECT_FALSE(checked_dim("f", std::numeric_limits<std::int64_t>::min(), {2}).ok());
}

// --- parameters of files ---

struct BorrowingNet {
  Linear fc;
  ANDIRON_MODULE(BorrowingNet, fc)
};

TEST(Operand, UsesParametersOfAFileWithoutACopy) {
  const test::TempDir dir;
  const BorrowingNet from = {LinearConfig(16, 8).init()};
  const std::string path = dir.file("m.bpk");
  save_into(from, BurnpackStore::from_file(path)).value();
  BorrowingNet net = {LinearConfig(16, 8).init()};
  load_from(net, BurnpackStore::from_file(path).zero_copy(true)).value();
  Tensor weight = net.fc.weight.val().value();
  EXPECT_TRUE(weight.writable().empty()) << "it is the file's";
  EXPECT_EQ(Operand<float>::of("Layer", "weight", net.fc.weight).value().data(), place_of(weight));
  const Tensor input = random_tensor({3, 16}, 1);
  expect_near(net.fc.forward(input), from.fc.forward(input), 0);
}

TEST(Operand, ComputesWithParametersAnywhereInAFile) {
  // A header of each length moves the data by one byte.
  for (int more = 0; more < 4; ++more) {
    const std::string header =
        R"({"fc.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})" +
        std::string(static_cast<std::size_t>(more), ' ');
    const float values[] = {3, 5};
    const std::string file = test::safetensors_file(
        header, std::string_view(reinterpret_cast<const char*>(values), sizeof values));
    BorrowingNet net;
    load_from(net, SafetensorsStore::from_bytes(test::bytes_of_text(file)).zero_copy(true)).value();
    const Tensor weight = net.fc.weight.val().value();
    EXPECT_EQ(
        Operand<float>::of("Layer", "weight", net.fc.weight).value().data() == place_of(weight),
        weight.as<float>().ok());
    expect_near(net.fc.forward(tensor_of({1, 1}, {2})), {1, 2}, {6, 10}, 0);
  }
}

}  // namespace
}  // namespace andiron::nn
