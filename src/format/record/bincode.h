// SPDX-License-Identifier: MIT OR Apache-2.0
// Records in bincode (.bin, .bin.gz): tensors in the order of a Rust struct's fields, without
// names. Only a module with the same fields can tell what they are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/open.h"
#include "andiron/shape.h"

namespace andiron::inline v1::detail {

// Whether a file that begins so is such a record.
bool is_bincode_record(std::string_view head);

// What to say to those who open one without a module.
Error needs_module(const std::string& file);

// Where a module has room for a tensor.
struct RecordPlace {
  std::string name;
  std::optional<Shape> shape;  // nothing where any will do
};

// The tensors of a record, plain or gzip, under the names of `places`, one for each, in order;
// nothing for files that are no such records. ShapeMismatch when the tensors do not fit.
Result<std::optional<Archive>> open_bincode_record(const std::string& path,
                                                   std::span<const RecordPlace> places,
                                                   const OpenOptions& options);
Result<std::optional<Archive>> open_bincode_record(Bytes bytes, std::span<const RecordPlace> places,
                                                   const OpenOptions& options);

}  // namespace andiron::inline v1::detail
