// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/pytorch/element_type.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/format/numpy/npy_type.h"

namespace andiron::detail {
namespace {

struct Known {
  const char* name;
  DType dtype;
  unsigned bytes;
  const char* alias;
  const char* storage;
  const char* numpy;
};

// torch's own tables, and NumPy's codes for the same.
constexpr Known numbers[] = {
    {"float32", DType::f32, 4, "float", "Float", "f4"},
    {"float16", DType::f16, 2, "half", "Half", "f2"},
    {"bfloat16", DType::bf16, 2, "", "BFloat16", ""},
    {"float64", DType::f64, 8, "double", "Double", "f8"},
    {"int64", DType::i64, 8, "long", "Long", "i8"},
    {"int32", DType::i32, 4, "int", "Int", "i4"},
    {"int16", DType::i16, 2, "short", "Short", "i2"},
    {"int8", DType::i8, 1, "", "Char", "i1"},
    {"uint8", DType::u8, 1, "", "Byte", "u1"},
    {"bool", DType::boolean, 1, "", "Bool", "b1"},
    {"uint16", DType::u16, 2, "", "UInt16", "u2"},
    {"uint32", DType::u32, 4, "", "UInt32", "u4"},
    {"uint64", DType::u64, 8, "", "UInt64", "u8"},
    {"complex32", DType::c32, 4, "chalf", "ComplexHalf", ""},
    {"complex64", DType::c64, 8, "cfloat", "ComplexFloat", "c8"},
    {"complex128", DType::c128, 16, "cdouble", "ComplexDouble", "c16"},
    {"float8_e5m2", DType::f8e5m2, 1, "", "Float8_e5m2", ""},
    {"float8_e4m3fn", DType::f8e4m3fn, 1, "", "Float8_e4m3fn", ""},
    {"float8_e5m2fnuz", DType::f8e5m2fnuz, 1, "", "Float8_e5m2fnuz", ""},
    {"float8_e4m3fnuz", DType::f8e4m3fnuz, 1, "", "Float8_e4m3fnuz", ""},
    {"float8_e8m0fnu", DType::f8e8m0, 1, "", "Float8_e8m0fnu", ""},
};

TEST(TorchDtype, EveryNumberHasItsNameAndItsSize) {
  for (const Known& known : numbers) {
    const ElementType* type = torch_dtype(known.name);
    ASSERT_NE(type, nullptr) << known.name;
    EXPECT_EQ(type->torch_name, known.name);
    EXPECT_EQ(type->dtype, known.dtype) << known.name;
    EXPECT_EQ(type->bytes, known.bytes) << known.name;
    EXPECT_EQ(type->per_item, 1u) << known.name;
    EXPECT_FALSE(type->is_quantized()) << known.name;
  }
}

TEST(TorchDtype, OldNamesMeanTheSame) {
  for (const Known& known : numbers) {
    if (*known.alias == '\0') continue;
    EXPECT_EQ(torch_dtype(known.alias), torch_dtype(known.name)) << known.alias;
  }
}

TEST(TorchDtype, OtherNamesAreNone) {
  for (const char* name : {"", "Float", "float33", "torch.float32", "f4", "per_tensor_affine"}) {
    EXPECT_EQ(torch_dtype(name), nullptr) << name;
  }
}

TEST(TorchDtype, FourBitFloatsAreTwoToAByte) {
  const ElementType* type = torch_dtype("float4_e2m1fn_x2");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->dtype, DType::f4e2m1);
  EXPECT_EQ(type->bytes, 1u);
  EXPECT_EQ(type->per_item, 2u);
}

TEST(TorchDtype, QuantizedTypesTellWhatTheyAreStoredAs) {
  const std::vector<std::pair<const char*, DType>> known = {{"qint8", DType::i8},
                                                            {"quint8", DType::u8},
                                                            {"qint32", DType::i32},
                                                            {"quint4x2", DType::u8},
                                                            {"quint2x4", DType::u8}};
  for (const auto& [name, int_repr] : known) {
    const ElementType* type = torch_dtype(name);
    ASSERT_NE(type, nullptr) << name;
    EXPECT_EQ(type->dtype, DType::raw) << name;
    EXPECT_TRUE(type->is_quantized()) << name;
    EXPECT_EQ(type->int_repr, int_repr) << name;
    EXPECT_EQ(type->bytes, bit_width(int_repr) / 8) << name;
  }
}

TEST(TorchDtype, TypesThatWeDoNotTakeApartAreBytesUnderTheirName) {
  const std::vector<std::pair<const char*, unsigned>> known = {
      {"bits8", 1}, {"bits16", 2}, {"bits1x8", 1}, {"bits2x4", 1},    {"bits4x2", 1},
      {"uint1", 1}, {"uint7", 1},  {"int1", 1},    {"bcomplex32", 4}, {"int7", 1}};
  for (const auto& [name, bytes] : known) {
    const ElementType* type = torch_dtype(name);
    ASSERT_NE(type, nullptr) << name;
    EXPECT_EQ(type->torch_name, name);
    EXPECT_EQ(type->dtype, DType::raw) << name;
    EXPECT_EQ(type->bytes, bytes) << name;
    EXPECT_FALSE(type->is_quantized()) << name;
  }
}

TEST(TorchStorage, ClassesAreNamedByTheirElements) {
  for (const Known& known : numbers) {
    const std::string name = std::string(known.storage) + "Storage";
    EXPECT_EQ(storage_elements(name), torch_dtype(known.name)) << name;
  }
  EXPECT_EQ(storage_elements("QUInt8Storage"), torch_dtype("quint8"));
  EXPECT_EQ(storage_elements("Float4_e2m1fn_x2Storage"), torch_dtype("float4_e2m1fn_x2"));
}

TEST(TorchStorage, WithoutATypeIsMadeOfBytes) {
  EXPECT_EQ(storage_elements("UntypedStorage"), &byte_elements());
  EXPECT_EQ(storage_elements("_UntypedStorage"), &byte_elements());
  EXPECT_EQ(byte_elements().dtype, DType::u8);
  EXPECT_EQ(byte_elements().bytes, 1u);
}

TEST(TorchStorage, OtherClassesAreNone) {
  for (const char* name : {"", "Storage", "Float", "FloatTensor", "floatStorage", "XStorage"}) {
    EXPECT_EQ(storage_elements(name), nullptr) << name;
  }
}

TEST(TorchTensorClass, OldClassesAreNamedByTheirElements) {
  EXPECT_EQ(tensor_class_elements("FloatTensor"), torch_dtype("float32"));
  EXPECT_EQ(tensor_class_elements("ByteTensor"), torch_dtype("uint8"));
  EXPECT_EQ(tensor_class_elements("LongTensor"), torch_dtype("int64"));
  EXPECT_EQ(tensor_class_elements("Tensor"), nullptr);
  EXPECT_EQ(tensor_class_elements("FloatStorage"), nullptr);
}

TEST(NumpyCode, NamesTheSameTypes) {
  for (const Known& known : numbers) {
    if (*known.numpy == '\0') continue;
    EXPECT_EQ(elements_of(numpy_dtype(known.numpy).value()), torch_dtype(known.name))
        << known.numpy;
  }
  EXPECT_EQ(numpy_dtype("?"), DType::boolean);
}

TEST(NumpyCode, WhatIsNoNumberIsNone) {
  for (const char* code : {"", "O", "S5", "U3", "V4", "M8", "m8", "f16", "c32", "f", "float32"}) {
    EXPECT_EQ(numpy_dtype(code), std::nullopt) << code;
  }
}

TEST(ElementsOf, AreThoseOfPlainNumbers) {
  EXPECT_EQ(elements_of(DType::bf16), torch_dtype("bfloat16"));
  EXPECT_EQ(elements_of(DType::u8), torch_dtype("uint8")) << "not a quantized type";
  EXPECT_EQ(elements_of(DType::raw), nullptr);
}

}  // namespace
}  // namespace andiron::detail
