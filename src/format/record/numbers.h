// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists of numbers: the elements of tensors in records before 0.14.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "andiron/bytes.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/sink.h"
#include "andiron/value.h"
#include "src/format/record/cursor.h"

namespace andiron::inline v1::detail {

// A number as the file gives it.
struct RecordNumber {
  RecordItem::Kind kind;
  std::uint64_t bits;  // of the type that the kind tells
};

// Collects numbers until it is known whether they are a tensor's elements.
class NumberList {
 public:
  // REQUIRES: number.is_number().
  Status add(const RecordItem& number);
  // What was added: RecordNumbers, one after the other.
  Result<Bytes> take();

 private:
  MemorySink collected_;
  std::array<RecordNumber, 256> chunk_;
  std::size_t used_ = 0;
};

struct PackedNumbers {
  DType dtype;
  Bytes elements;
};

// As a tensor's elements, of a dtype that the first of them and the record's number types decide.
// The error has a message only.
Result<PackedNumbers> pack_numbers(const Bytes& numbers, DType float_type, DType int_type);

// As they are.
ValueList plain_numbers(const Bytes& numbers);

}  // namespace andiron::inline v1::detail
