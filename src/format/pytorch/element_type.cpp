// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_element_type_test.cpp
#include "src/format/pytorch/element_type.h"

#include <algorithm>
#include <array>

namespace andiron::inline v1::detail {
namespace {

struct Row {
  ElementType type;
  std::string_view alias;    // of the dtype
  std::string_view storage;  // "Float" of FloatStorage, as Python or the writer in C++ has it
};

constexpr ElementType plain(std::string_view name, DType dtype) {
  return {name, dtype, static_cast<std::uint8_t>(bit_width(dtype) / 8)};
}

constexpr ElementType opaque(std::string_view name, std::uint8_t bytes = 1) {
  return {name, DType::raw, bytes};
}

constexpr ElementType quantized(std::string_view name, DType int_repr,
                                std::uint8_t values_per_byte = 1) {
  return {name, DType::raw, static_cast<std::uint8_t>(bit_width(int_repr) / 8),
          1,    int_repr,   values_per_byte};
}

constexpr std::array rows = {
    Row{plain("float32", DType::f32), "float", "Float"},
    Row{plain("float16", DType::f16), "half", "Half"},
    Row{plain("bfloat16", DType::bf16), "", "BFloat16"},
    Row{plain("float64", DType::f64), "double", "Double"},
    Row{plain("int64", DType::i64), "long", "Long"},
    Row{plain("int32", DType::i32), "int", "Int"},
    Row{plain("int16", DType::i16), "short", "Short"},
    Row{plain("int8", DType::i8), "", "Char"},
    Row{plain("uint8", DType::u8), "", "Byte"},
    Row{plain("bool", DType::boolean), "", "Bool"},
    Row{plain("uint16", DType::u16), "", "UInt16"},
    Row{plain("uint32", DType::u32), "", "UInt32"},
    Row{plain("uint64", DType::u64), "", "UInt64"},
    Row{plain("complex32", DType::c32), "chalf", "ComplexHalf"},
    Row{plain("complex64", DType::c64), "cfloat", "ComplexFloat"},
    Row{plain("complex128", DType::c128), "cdouble", "ComplexDouble"},
    Row{plain("float8_e5m2", DType::f8e5m2), "", "Float8_e5m2"},
    Row{plain("float8_e4m3fn", DType::f8e4m3fn), "", "Float8_e4m3fn"},
    Row{plain("float8_e5m2fnuz", DType::f8e5m2fnuz), "", "Float8_e5m2fnuz"},
    Row{plain("float8_e4m3fnuz", DType::f8e4m3fnuz), "", "Float8_e4m3fnuz"},
    Row{plain("float8_e8m0fnu", DType::f8e8m0), "", "Float8_e8m0fnu"},
    Row{{"float4_e2m1fn_x2", DType::f4e2m1, 1, 2}, "", "Float4_e2m1fn_x2"},
    Row{opaque("bcomplex32", 4), "", "ComplexBFloat16"},
    Row{quantized("qint8", DType::i8), "", "QInt8"},
    Row{quantized("quint8", DType::u8), "", "QUInt8"},
    Row{quantized("qint32", DType::i32), "", "QInt32"},
    // int_repr() does not take bytes apart either.
    Row{quantized("quint4x2", DType::u8, 2), "", "QUInt4x2"},
    Row{quantized("quint2x4", DType::u8, 4), "", "QUInt2x4"},
    Row{opaque("bits1x8"), "", "Bits1x8"},
    Row{opaque("bits2x4"), "", "Bits2x4"},
    Row{opaque("bits4x2"), "", "Bits4x2"},
    Row{opaque("bits8"), "", "Bits8"},
    Row{opaque("bits16", 2), "", "Bits16"},
    // Types without arithmetic; tensors of them hold whole bytes.
    Row{opaque("uint1"), "", "UInt1"},
    Row{opaque("uint2"), "", "UInt2"},
    Row{opaque("uint3"), "", "UInt3"},
    Row{opaque("uint4"), "", "UInt4"},
    Row{opaque("uint5"), "", "UInt5"},
    Row{opaque("uint6"), "", "UInt6"},
    Row{opaque("uint7"), "", "UInt7"},
    Row{opaque("int1"), "", "Int1"},
    Row{opaque("int2"), "", "Int2"},
    Row{opaque("int3"), "", "Int3"},
    Row{opaque("int4"), "", "Int4"},
    Row{opaque("int5"), "", "Int5"},
    Row{opaque("int6"), "", "Int6"},
    Row{opaque("int7"), "", "Int7"},
};

template <class Matches>
const ElementType* find(Matches matches) {
  const auto row = std::find_if(rows.begin(), rows.end(), matches);
  return row == rows.end() ? nullptr : &row->type;
}

const ElementType* class_elements(std::string_view class_name, std::string_view ending) {
  if (!class_name.ends_with(ending)) return nullptr;
  const std::string_view stem = class_name.substr(0, class_name.size() - ending.size());
  if (stem.empty()) return nullptr;
  return find([&](const Row& row) { return row.storage == stem; });
}

}  // namespace

const ElementType* torch_dtype(std::string_view name) {
  if (name.empty()) return nullptr;
  return find([&](const Row& row) { return row.type.torch_name == name || row.alias == name; });
}

const ElementType* storage_elements(std::string_view class_name) {
  if (class_name == "UntypedStorage" || class_name == "_UntypedStorage") return &byte_elements();
  return class_elements(class_name, "Storage");
}

const ElementType* tensor_class_elements(std::string_view class_name) {
  return class_elements(class_name, "Tensor");
}

const ElementType* elements_of(DType dtype) {
  return find([&](const Row& row) { return row.type.dtype == dtype && dtype != DType::raw; });
}

const ElementType& byte_elements() { return *torch_dtype("uint8"); }

}  // namespace andiron::inline v1::detail
