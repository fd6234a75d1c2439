// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors of records before 0.14, which hold their elements as a list of numbers.
#pragma once

#include <array>
#include <cstddef>

#include "andiron/bytes.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/sink.h"
#include "andiron/value.h"
#include "src/format/record/cursor.h"

namespace andiron {
inline namespace v1 {
namespace detail {

// Packs numbers as elements of one dtype, which the first of them and the record's precision
// decide.
class NumberList {
 public:
  NumberList(DType float_type, DType int_type) : float_type_(float_type), int_type_(int_type) {}

  // The error has a message only.
  Status add(const RecordItem& number);
  // The dtype of what was added; the precision's float where that was nothing.
  DType dtype() const noexcept;
  // The same for numbers that turn out to be no tensor's elements.
  DType list_dtype() const noexcept;
  Result<Bytes> take();

 private:
  Status put(DType from, const void* element);

  DType float_type_;
  DType int_type_;
  DType dtype_ = DType::raw;  // until the first number
  bool is_bits_ = false;      // floats of 16 bits, as Rust's serde writes them: by their bits
  bool has_negative_ = false;
  MemorySink packed_;
  std::array<std::byte, 4096> chunk_;
  std::size_t used_ = 0;
};

// Packed elements as a list again.
Value unpacked(DType dtype, const Bytes& elements);

}  // namespace detail
}  // namespace v1
}  // namespace andiron
