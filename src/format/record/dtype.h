// SPDX-License-Identifier: MIT OR Apache-2.0
// The dtype of a tensor in a record.
#pragma once

#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/value.h"
#include "src/codec/msgpack_writer.h"

namespace andiron::inline v1::detail {

struct RecordDType {
  DType dtype = DType::raw;
  std::string spelling;  // as TensorInfo::file_dtype
};

// "F32", {"Bool": "Native"}, {"QFloat": {...}}, as the releases with recorders (up to 0.21) write
// them. Others are raw.
RecordDType record_dtype(const Value& value);

// The number types that a record's metadata gives by their Rust names: "f64", "i32",
// "half::binary16::f16". f32 and i32 where the name is that of anything else.
DType record_float_type(std::string_view rust_name);
DType record_int_type(std::string_view rust_name);

// How the releases of Burn differ in what they write.
struct RecordRelease {
  bool has_bool_stores = true;    // from 0.21 on: {"Bool": "Native"} instead of "Bool"
  bool has_packed_stores = true;  // from 0.20 on: {"PackedU32": 0} instead of "U32"

  static RecordRelease of(std::string_view version);
};

// Writes the dtype of `info`, whose elements are stored as `stored`. UnsupportedDType for types
// that the release lacks.
Status write_record_dtype(MsgpackWriter& out, const TensorInfo& info, DType stored,
                          const RecordRelease& release);

}  // namespace andiron::inline v1::detail
