// SPDX-License-Identifier: MIT OR Apache-2.0
// How NumPy pickles an array:
//
//   numpy.core.multiarray._reconstruct(numpy.ndarray, (0,), b'b')
//     with the state (1, shape, dtype, is_fortran, bytes, or a list for arrays of objects)
//   numpy.core.numeric._frombuffer(bytes, dtype, shape, order)          protocol 5
//   numpy.core.multiarray.scalar(dtype, bytes)
//   numpy.dtype('f4', False, True) with the state (3, '<', ...)
//
// Tested by tests/format/pytorch_pickled_numpy_test.cpp
#include "src/format/pytorch/pickled_numpy.h"

#include <algorithm>
#include <array>
#include <bit>

#include "src/core/little_endian.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/numpy/npy_type.h"

namespace andiron::inline v1::detail {
namespace {

struct ArrayType {
  const ElementType* elements = nullptr;
  bool big_endian = false;
  bool objects = false;
  std::string refused;
};

// numpy.dtype(code, align, copy) with the state (3, byte order, subarray, names, fields, ...).
ArrayType array_type(const PickleDocument& content, PickleValue dtype) {
  ArrayType type;
  if (content.callable_of(dtype) != Callable::numpy_dtype || content.args(dtype).empty()) {
    type.refused = "a NumPy array of an unknown type";
    return type;
  }
  const PickleValue code = content.args(dtype)[0];
  std::string name;
  if (const auto text = content.text(code)) {
    if (const auto plain = numpy_dtype(*text)) type.elements = elements_of(*plain);
    type.objects = text->starts_with('O');
    name = *text;
  } else if (code.kind == PickleKind::global) {
    // Types that packages add to NumPy, such as bfloat16.
    name = content.graph().global(code).name;
    type.elements = torch_dtype(name);
  }
  if (type.elements == nullptr) {
    type.refused = "a NumPy array of type " + in_quotes(name);
    return type;
  }
  if (const auto state = content.state(dtype)) {
    const auto fields = content.tuple(*state);
    const auto order = fields && fields->size() > 1 ? content.text((*fields)[1]) : std::nullopt;
    type.big_endian = order == ">";
  }
  return type;
}

Status set_shape(const PickleDocument& content, PickleValue shape, TorchTensor& tensor) {
  const auto dims = content.tuple(shape);
  if (!dims || dims->size() > max_rank) return content.bad("a NumPy array has no shape");
  tensor.rank = dims->size();
  for (std::size_t d = 0; d < tensor.rank; ++d) {
    const auto dim = content.size((*dims)[d]);
    if (!dim) return content.bad("a NumPy array has an invalid dimension");
    tensor.shape[d] = *dim;
  }
  return {};
}

// Fortran's order has the first dimension's elements next to each other.
void set_strides(TorchTensor& tensor, bool fortran) {
  tensor.set_row_major();
  if (!fortran) return;
  std::uint64_t step = 1;
  for (std::size_t d = 0; d < tensor.rank; ++d) {
    tensor.strides[d] = static_cast<std::int64_t>(step);
    step *= std::max<std::uint64_t>(tensor.shape[d], 1);
  }
}

// An array in an order of its own: dimension i is dimension axes[i] of what is stored.
Status permute(const PickleDocument& content, PickleValue axes, TorchTensor& tensor) {
  const auto order = content.tuple(axes);
  if (!order || order->size() != tensor.rank) return content.bad("a NumPy array has bad axes");
  const TorchTensor stored = tensor;
  std::array<bool, max_rank> taken = {};
  for (std::size_t d = 0; d < tensor.rank; ++d) {
    const auto found = content.size((*order)[d]);
    if (!found || *found >= tensor.rank) return content.bad("a NumPy array has bad axes");
    const auto axis = static_cast<std::size_t>(*found);
    if (taken[axis]) return content.bad("a NumPy array has bad axes");
    taken[axis] = true;
    tensor.shape[d] = stored.shape[axis];
    tensor.strides[d] = stored.strides[axis];
  }
  return {};
}

Status set_data(const PickleDocument& content, PickleValue data, const Limits& limits,
                TorchTensor& tensor) {
  ANDIRON_ASSIGN(const auto storage, content.bytes(data, limits));
  if (!storage) return content.bad("a NumPy array has no bytes");
  tensor.storage = *storage;
  std::uint64_t bytes = tensor.type->bytes;
  for (std::size_t d = 0; d < tensor.rank; ++d) {
    if (__builtin_mul_overflow(bytes, tensor.shape[d], &bytes)) {
      return content.bad("the size of a NumPy array does not fit in 64 bits");
    }
  }
  if (bytes == storage->bytes) return {};
  Error error = content.bad("the bytes of a NumPy array do not match its shape");
  error.code = ErrorCode::size_mismatch;
  error.found = std::to_string(storage->bytes) + " bytes";
  error.expected = std::to_string(bytes);
  return error;
}

}  // namespace

Result<NumpyArray> numpy_array(const PickleDocument& content, PickleValue object,
                               const Limits& limits, TorchTensor& tensor) {
  PickleValue shape;
  PickleValue dtype;
  PickleValue data;
  PickleValue axes;
  bool fortran = false;
  if (content.callable_of(object) == Callable::numpy_buffer) {
    const auto args = content.args(object);
    if (args.size() < 4) return content.bad("a NumPy buffer has no shape");
    data = args[0];
    dtype = args[1];
    shape = args[2];
    const auto order = content.text(args[3]);
    fortran = order == "F";
    if (order == "K" && args.size() > 4) axes = args[4];
  } else {
    const auto state = content.state(object);
    auto fields = state ? content.tuple(*state) : std::nullopt;
    // The oldest ones have no version in front.
    if (fields && fields->size() == 5) fields = fields->subspan(1);
    if (!fields || fields->size() != 4) return content.bad("a NumPy array has no content");
    shape = (*fields)[0];
    dtype = (*fields)[1];
    fortran = content.integer((*fields)[2]).value_or(0) != 0;
    data = (*fields)[3];
  }
  NumpyArray array;
  const ArrayType type = array_type(content, dtype);
  if (type.objects) {
    array.objects = data;
    return array;
  }
  array.refused = type.refused;
  if (!array.refused.empty()) return array;
  tensor.type = type.elements;
  tensor.big_endian = type.big_endian;
  ANDIRON_TRY(set_shape(content, shape, tensor));
  set_strides(tensor, fortran);
  ANDIRON_TRY(set_data(content, data, limits, tensor));
  if (axes.kind != PickleKind::none) ANDIRON_TRY(permute(content, axes, tensor));
  return array;
}

Result<Value> numpy_scalar(const PickleDocument& content, PickleValue object,
                           const Limits& limits) {
  const auto args = content.args(object);
  if (args.size() < 2) return Value();
  const ArrayType type = array_type(content, args[0]);
  if (type.elements == nullptr || type.elements->dtype == DType::raw) return Value();
  TorchTensor tensor;
  tensor.type = type.elements;
  tensor.big_endian = type.big_endian;
  ANDIRON_TRY(set_data(content, args[1], limits, tensor));
  ANDIRON_ASSIGN(const TensorSnapshot stored, tensor.snapshot(""));
  const DType dtype = stored.dtype();
  if (is_complex(dtype)) return Value();
  const bool whole = is_integer(dtype) || dtype == DType::boolean;
  const DType wide = !whole ? DType::f64 : dtype == DType::u64 ? DType::u64 : DType::i64;
  ANDIRON_ASSIGN(const TensorSnapshot widened, stored.cast(wide));
  std::array<std::byte, 8> bytes;
  ANDIRON_TRY(widened.read_into(bytes));
  const std::uint64_t bits = load_u64(bytes.data());
  if (dtype == DType::boolean) return Value(bits != 0);
  if (wide == DType::f64) return Value(std::bit_cast<double>(bits));
  if (wide == DType::u64) return Value(bits);
  return Value(static_cast<std::int64_t>(bits));
}

}  // namespace andiron::inline v1::detail
