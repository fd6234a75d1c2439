// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/pytorch/pickled_numpy.h"

#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <vector>

#include "tests/support/torch_containers.h"
#include "tests/support/torch_file.h"

namespace andiron {
namespace {

using test::six;

using namespace test;

const Py f4 = py::numpy_dtype("f4");

Archive opened(const Py& root) { return open_pickle(root).value(); }

ErrorCode refusal(const Py& array) {
  const Result<Archive> result = open_pickle(py::dict({{"a", array}}));
  EXPECT_FALSE(result);
  return result ? ErrorCode::io : result.error().code;
}

std::string reason(const Py& array) {
  const Archive archive = opened(py::dict({{"a", array}}));
  EXPECT_TRUE(archive.empty());
  return archive.skipped().size() == 1 ? archive.skipped()[0].reason : "";
}

TEST(NumpyArrays, AreTensorsUnderTheirNames) {
  const Archive archive = opened(
      py::dict({{"a", py::numpy_array(f4, {2, 3}, py::encoded_bytes(memory_of(six)))}, {"b", 1}}));
  EXPECT_EQ(names_of(archive), (Names{"a"}));
  EXPECT_EQ(Shape(archive.info(0).shape), Shape({2, 3}));
  EXPECT_EQ(archive.info(0).dtype, DType::f32);
  EXPECT_EQ(floats(archive, "a"), six);
  EXPECT_EQ(archive.packaging(), "pickle");
}

TEST(NumpyArrays, InBytesOfTheirOwnLieInTheFile) {
  const Archive archive = opened(py::numpy_array(f4, {6}, py::bytes(memory_of(six))));
  EXPECT_EQ(floats(archive, ""), six);
  EXPECT_TRUE(archive.info(0).offset.has_value());
  EXPECT_EQ(archive.snapshot(0).can_borrow(), true);
}

TEST(NumpyArrays, OfEveryTypeAreRead) {
  const std::pair<const char*, DType> known[] = {
      {"f2", DType::f16}, {"f4", DType::f32},  {"f8", DType::f64}, {"i1", DType::i8},
      {"i2", DType::i16}, {"i4", DType::i32},  {"i8", DType::i64}, {"u1", DType::u8},
      {"u2", DType::u16}, {"u4", DType::u32},  {"u8", DType::u64}, {"b1", DType::boolean},
      {"c8", DType::c64}, {"c16", DType::c128}};
  for (const auto& [code, dtype] : known) {
    const std::string content(3 * bit_width(dtype) / 8, '\1');
    const Archive archive =
        opened(py::numpy_array(py::numpy_dtype(code), {3}, py::encoded_bytes(content)));
    ASSERT_EQ(archive.size(), 1u) << code;
    EXPECT_EQ(archive.info(0).dtype, dtype) << code;
    EXPECT_EQ(read(archive, "").bytes().text(), content) << code;
  }
}

TEST(NumpyArrays, InFortransOrderHaveTheirColumnsNextToEachOther) {
  const std::vector<float> columns = {0, 3, 1, 4, 2, 5};
  const Py array = py::numpy_array(f4, {2, 3}, py::encoded_bytes(memory_of(columns)), true);
  EXPECT_EQ(floats(opened(array), ""), six);
  const Py buffer = py::numpy_buffer(f4, {2, 3}, py::bytes(memory_of(columns)), {"F"});
  EXPECT_EQ(floats(opened(buffer), ""), six);
}

TEST(NumpyArrays, InBigEndianAreSwapped) {
  const Archive archive =
      opened(py::numpy_array(py::numpy_dtype("i2", ">"), {2}, py::encoded_bytes("\1\2\3\4")));
  EXPECT_EQ(values_of<std::int16_t>(archive, ""), (std::vector<std::int16_t>{0x0102, 0x0304}));
}

TEST(NumpyArrays, OfProtocol5AreBuffers) {
  const Py rows = py::numpy_buffer(f4, {2, 3}, py::bytes(memory_of(six)), {"C"});
  EXPECT_EQ(floats(opened(rows), ""), six);
}

TEST(NumpyArrays, OfProtocol5MayHaveTheirAxesInAnyOrder) {
  // numpy.arange(6).reshape(1, 2, 3).transpose(2, 0, 1)
  const Py turned =
      py::numpy_buffer(f4, {1, 2, 3}, py::bytes(memory_of(six)), {"K", py::tuple({2, 0, 1})});
  const Archive archive = opened(turned);
  EXPECT_EQ(Shape(archive.info(0).shape), Shape({3, 1, 2}));
  EXPECT_EQ(floats(archive, ""), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  for (const Py& axes : {py::tuple({0, 1}), py::tuple({0, 1, 1}), py::tuple({0, 1, 3}),
                         py::tuple({0, 1, -1}), Py("axes")}) {
    EXPECT_EQ(refusal(py::numpy_buffer(f4, {1, 2, 3}, py::bytes(memory_of(six)), {"K", axes})),
              ErrorCode::bad_pickle);
  }
}

TEST(NumpyArrays, OfPython2HaveTheirBytesAsText) {
  const Py array = py::numpy_array(py::numpy_dtype("u1", "|"), {3}, py::old_text("\xff\x80\x01"));
  EXPECT_EQ(values_of<std::uint8_t>(opened(array), ""), (std::vector<std::uint8_t>{255, 128, 1}));
}

TEST(NumpyArrays, OfTheOldestVersionHaveNoNumberInFront) {
  const Py array =
      py::with_state(py::call(py::global("numpy.core.multiarray", "_reconstruct"),
                              {py::global("numpy", "ndarray"), py::tuple({0}), "b"}),
                     py::tuple({py::tuple({6}), f4, false, py::encoded_bytes(memory_of(six))}));
  EXPECT_EQ(floats(opened(array), ""), six);
}

TEST(NumpyArrays, OfNumPy2AreReadTheSame) {
  Py array = py::numpy_array(f4, {6}, py::encoded_bytes(memory_of(six)));
  const std::string old_module = "numpy.core.multiarray";
  array.code.replace(array.code.find(old_module), old_module.size(), "numpy._core.multiarray");
  EXPECT_EQ(floats(opened(array), ""), six);
}

TEST(NumpyArrays, MayHaveNoDimensionsOrNoElements) {
  const std::vector<float> one = {7};
  EXPECT_EQ(floats(opened(py::numpy_array(f4, {}, py::encoded_bytes(memory_of(one)))), ""), one);
  const Archive archive = opened(py::numpy_array(f4, {0, 3}, py::encoded_bytes("")));
  EXPECT_EQ(Shape(archive.info(0).shape), Shape({0, 3}));
  EXPECT_EQ(archive.info(0).byte_size, 0u);
}

TEST(NumpyArrays, OfTypesOfOtherPackagesAreKnownByTheName) {
  const Py bfloat16 =
      py::call(py::global("numpy", "dtype"), {py::global("ml_dtypes", "bfloat16"), false, true});
  const Archive archive = opened(py::numpy_array(bfloat16, {1}, py::encoded_bytes("\x80\x3f")));
  EXPECT_EQ(archive.info(0).dtype, DType::bf16);
}

TEST(NumpyArrays, OfWhatAreNoNumbersAreSkippedWithTheirType) {
  EXPECT_EQ(reason(py::numpy_array(py::numpy_dtype("M8"), {1}, py::encoded_bytes("12345678"))),
            "a NumPy array of type 'M8'");
  EXPECT_EQ(reason(py::numpy_array(py::numpy_dtype("S2", "|"), {1}, py::encoded_bytes("ab"))),
            "a NumPy array of type 'S2'");
  EXPECT_EQ(reason(py::numpy_array(py::numpy_dtype("V8", "|"), {1}, py::encoded_bytes("12345678"))),
            "a NumPy array of type 'V8'");
  EXPECT_EQ(reason(py::numpy_array(nullptr, {1}, py::encoded_bytes("1"))),
            "a NumPy array of an unknown type");
}

TEST(NumpyArrays, WithAMaskAreSkipped) {
  const Py masked = py::with_state(
      py::call(py::global("numpy.ma.core", "_mareconstruct"),
               {py::global("numpy.ma", "MaskedArray"), py::global("numpy", "ndarray"),
                py::tuple({0}), "b"}),
      py::tuple({1, py::tuple({1}), f4, false, py::encoded_bytes(memory_of<float>({1})),
                 py::encoded_bytes("0"), nullptr}));
  EXPECT_EQ(reason(masked), "a masked array, which a tensor cannot represent");
}

TEST(NumpyArrays, BesideTensorsOfPytorchAreSkippedUnlessAskedFor) {
  const Py array = py::numpy_array(f4, {2, 3}, py::encoded_bytes(memory_of(six)));
  const Py dates = py::numpy_array(py::numpy_dtype("M8"), {1}, py::encoded_bytes("12345678"));
  const std::string file = zip_file(torch_records(
      py::dict({{"w", torch_tensor({.shape = {1}, .elements = 1})}, {"a", array}, {"d", dates}}),
      {{"0", memory_of<float>({7})}}));
  const Archive archive = open_text(file).value();
  EXPECT_EQ(names_of(archive), std::vector<std::string>{"w"});
  EXPECT_EQ(reason_for(archive, "a"),
            "a NumPy array; set PytorchSettings::numpy_arrays to read it");
  EXPECT_EQ(reason_for(archive, "d"), "a NumPy array of type 'M8'");

  const Archive all = open_text(file, {.settings = PytorchSettings{.numpy_arrays = true}}).value();
  EXPECT_EQ(names_of(all), (std::vector<std::string>{"w", "a"}));
  EXPECT_EQ(floats(all, "a"), six);

  // The same without a tensor of PyTorch.
  const Archive arrays = open_text(zip_file(torch_records(py::dict({{"a", array}}), {}))).value();
  EXPECT_EQ(floats(arrays, "a"), six);
}

TEST(NumpyArrays, OfObjectsGiveUpTheTensorsInThem) {
  TorchFile file;
  const Py objects = py::list({file.tensor({1}), "text", py::dict({{"w", file.tensor({2})}})});
  const Archive archive =
      file.open(py::dict({{"a", py::numpy_array(py::numpy_dtype("O8", "|"), {3}, objects)}}))
          .value();
  EXPECT_EQ(names_of(archive), (Names{"a.0", "a.2.w"}));
  EXPECT_EQ(floats(archive, "a.2.w"), (std::vector<float>{2}));
}

TEST(NumpyArrays, ThatShareTheirBytesAreTied) {
  const Py data = py::encoded_bytes(memory_of(six));
  const Py first = py::put(0, py::numpy_array(f4, {6}, py::put(1, data)));
  const Archive archive = opened(
      py::dict({{"a", first}, {"b", py::get(0)}, {"c", py::numpy_array(f4, {6}, py::get(1))}}));
  EXPECT_EQ(archive.ties(), (std::vector<std::optional<std::size_t>>{std::nullopt, 0, 0}));
}

TEST(NumpyArrays, WithBytesThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal(py::numpy_array(f4, {2}, py::encoded_bytes("1234567"))),
            ErrorCode::size_mismatch);
  EXPECT_EQ(refusal(py::numpy_array(f4, {2}, py::encoded_bytes("123456789"))),
            ErrorCode::size_mismatch);
  EXPECT_EQ(refusal(py::numpy_array(f4, {}, py::encoded_bytes(""))), ErrorCode::size_mismatch);
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(refusal(py::numpy_array(f4, {huge, huge}, py::encoded_bytes("1234"))),
            ErrorCode::bad_pickle);
}

TEST(NumpyArrays, ThatArePutTogetherWrongAreRefused) {
  const Py data = py::encoded_bytes("1234");
  EXPECT_EQ(refusal(py::numpy_array(f4, {-1}, data)), ErrorCode::bad_pickle);
  EXPECT_EQ(refusal(py::numpy_array(f4, {1}, 5)), ErrorCode::bad_pickle);
  EXPECT_EQ(refusal(py::numpy_array(f4, {1}, py::encoded_bytes("\xff") /* cut below */)),
            ErrorCode::size_mismatch);
  EXPECT_EQ(refusal(py::numpy_array(f4, std::vector<std::int64_t>(65, 1), data)),
            ErrorCode::bad_pickle);
  const Py made = py::call(py::global("numpy.core.multiarray", "_reconstruct"),
                           {py::global("numpy", "ndarray"), py::tuple({0}), "b"});
  EXPECT_EQ(refusal(made), ErrorCode::bad_pickle);
  EXPECT_EQ(refusal(py::with_state(made, py::tuple({1, 2}))), ErrorCode::bad_pickle);
  EXPECT_EQ(refusal(py::with_state(made, py::dict({}))), ErrorCode::bad_pickle);
  EXPECT_EQ(refusal(py::with_items(py::numpy_array(f4, {1}, data), {1})), ErrorCode::bad_pickle);
  EXPECT_EQ(refusal(py::call(py::global("numpy.core.numeric", "_frombuffer"), {data, f4})),
            ErrorCode::bad_pickle);
  const Py wide = py::call(py::global("_codecs", "encode"), {"\xe2\x82\xac", "latin1"});
  EXPECT_EQ(refusal(py::numpy_array(f4, {1}, wide)), ErrorCode::bad_pickle);
}

TEST(NumpyScalars, AreNumbersOfTheTree) {
  const auto value = [](const char* code, const std::string& content, const char* order = "<") {
    return opened(py::numpy_scalar(py::numpy_dtype(code, order), content)).value().value();
  };
  EXPECT_EQ(*value("f8", memory_of<double>({1.5})).get<double>(), 1.5);
  EXPECT_EQ(*value("f4", memory_of<float>({0.5})).get<double>(), 0.5);
  EXPECT_EQ(*value("i8", memory_of<std::int64_t>({-5})).get<std::int64_t>(), -5);
  EXPECT_EQ(*value("i1", "\xff").get<std::int64_t>(), -1);
  EXPECT_EQ(*value("u8", std::string(8, '\xff')).get<std::uint64_t>(), ~std::uint64_t{0});
  EXPECT_EQ(*value("u2", "\1\2").get<std::int64_t>(), 0x0201);
  EXPECT_EQ(*value("u2", "\1\2", ">").get<std::int64_t>(), 0x0102);
  EXPECT_EQ(*value("b1", "\1", "|").get<bool>(), true);
}

TEST(NumpyScalars, OfOtherTypesAreNull) {
  EXPECT_TRUE(opened(py::numpy_scalar(py::numpy_dtype("M8"), "12345678")).value()->is_null());
  EXPECT_TRUE(opened(py::numpy_scalar(py::numpy_dtype("c8"), "12345678")).value()->is_null());
  EXPECT_TRUE(opened(py::numpy_scalar(nullptr, "12345678")).value()->is_null());
}

TEST(NumpyScalars, ThatAreWrongDoNotKeepAFileFromBeingRead) {
  TorchFile file;
  const Archive archive =
      file.open(py::dict({{"lr", py::numpy_scalar(f4, "12")}, {"w", file.tensor({1})}})).value();
  EXPECT_EQ(names_of(archive), (Names{"w"}));
  EXPECT_FALSE(archive.value()->is_null());
}

}  // namespace
}  // namespace andiron
