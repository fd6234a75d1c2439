// SPDX-License-Identifier: MIT OR Apache-2.0
// Records in bincode (.bin, .bin.gz): tensors in the order of a Rust struct's fields, without
// names. Only a module with the same fields can tell what they are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/open.h"
#include "andiron/shape.h"

namespace andiron {
inline namespace v1 {
namespace detail {

// Whether a file that begins so is such a record.
bool is_bincode_record(std::string_view head);

// What to say to those who open one without a module.
Error needs_module(const std::string& file);

// The record in a file, inflated where it is compressed; nothing for other files.
Result<std::optional<ByteSourcePtr>> find_bincode_record(const ByteSourcePtr& file,
                                                         const Limits& limits);

// Where a module has room for a tensor.
struct RecordPlace {
  std::string name;
  std::optional<Shape> shape;  // nothing where any will do
};

// The tensors of a record under the names of `places`, one for each, in order. ShapeMismatch when
// they do not fit.
Result<Archive> read_bincode_record(const ByteSourcePtr& source,
                                    std::span<const RecordPlace> places,
                                    const OpenOptions& options);

}  // namespace detail
}  // namespace v1
}  // namespace andiron
