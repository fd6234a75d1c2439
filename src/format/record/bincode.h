// SPDX-License-Identifier: MIT OR Apache-2.0
// Records in bincode (.bin, .bin.gz): tensors in the order of a Rust struct's fields, without
// names. Only a module with the same fields tells which is which.
#pragma once

#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/open.h"

namespace andiron::inline v1::detail {

// Whether a file that begins so may be such a record.
bool is_bincode_record(std::string_view head);

// What to say to those who open one without a module.
Error needs_module(const std::string& file);
// Whether an error is that one.
bool asks_for_module(const Error& error);

// The tensors of a record under the names that are expected, one for each, in order. ShapeMismatch
// when the tensors do not fit. REQUIRES: options.expected.
Result<Archive> read_bincode(const ByteSourcePtr& source, const OpenOptions& options);

}  // namespace andiron::inline v1::detail
