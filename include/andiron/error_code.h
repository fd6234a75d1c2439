// SPDX-License-Identifier: MIT OR Apache-2.0
// The kinds of failure, for programs. Error (error.h) has the text for people. Freestanding.
#pragma once

#if __cplusplus < 202002L
#error "Andiron needs C++20: compile with -std=c++20"
#endif

#include <cstdint>
#include <string_view>

namespace andiron::inline v1 {

/// What went wrong. The names that code_name() returns are part of the tool's JSON output and do
/// not change.
enum class ErrorCode : std::uint8_t {
  io,                 ///< the operating system refused to open, read or write
  not_found,          ///< no such file
  already_exists,     ///< the target exists and overwriting is not allowed
  cancelled,          ///< the progress callback returned false
  out_of_memory,      ///< not enough memory, or more than Limits::load_bytes
  not_a_weight_file,  ///< the content is not a format we know
  unsupported,        ///< valid, but not something this library does
  unsupported_dtype,  ///< the dtype cannot be read, written or converted here
  truncated,          ///< the data ends too early
  header_too_large,   ///< the header claims more than the limit
  bad_header,         ///< the header breaks the format's grammar
  duplicate_key,      ///< one name appears twice
  bad_offsets,        ///< tensors overlap, leave a gap or run backwards
  size_mismatch,      ///< a byte count does not fit shape and dtype, or the file
  overflow,           ///< a size does not fit in 64 bits
  misaligned,         ///< an element or slice does not start on a byte (or type) boundary
  limit_exceeded,     ///< a limit of limits.h is exceeded
  bad_index,          ///< a shard index breaks its rules
  missing_shard,      ///< a shard that the index names does not exist
  missing_tensor,     ///< there is no tensor with this name
  name_collision,     ///< two tensors end up with one name
  invalid_pattern,    ///< a regular expression or glob does not parse
  invalid_argument,   ///< an argument is out of range
  dtype_mismatch,     ///< the data has another dtype than requested
  shape_mismatch,     ///< the shape does not fit
  file_changed,       ///< the file is not the one that was opened
  unused_tensor,      ///< the file has tensors that no parameter uses
  adapter_failed,     ///< an adapter could not make a tensor from others
  bad_archive,        ///< a zip or tar archive breaks its rules or contradicts itself
  bad_pickle,         ///< a pickle breaks its rules or describes something impossible
  missing_storage,    ///< the data that a tensor refers to is not in the file
  checksum_mismatch,  ///< data does not match the checksum that the file has for it
  missing_value,      ///< there is no value at this path
  value_mismatch,     ///< a value has another type than requested, or does not fit it
};

/// Returns "DuplicateKey" for ErrorCode::duplicate_key.
constexpr std::string_view code_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::io:
      return "Io";
    case ErrorCode::not_found:
      return "NotFound";
    case ErrorCode::already_exists:
      return "AlreadyExists";
    case ErrorCode::cancelled:
      return "Cancelled";
    case ErrorCode::out_of_memory:
      return "OutOfMemory";
    case ErrorCode::not_a_weight_file:
      return "NotAWeightFile";
    case ErrorCode::unsupported:
      return "Unsupported";
    case ErrorCode::unsupported_dtype:
      return "UnsupportedDType";
    case ErrorCode::truncated:
      return "Truncated";
    case ErrorCode::header_too_large:
      return "HeaderTooLarge";
    case ErrorCode::bad_header:
      return "BadHeader";
    case ErrorCode::duplicate_key:
      return "DuplicateKey";
    case ErrorCode::bad_offsets:
      return "BadOffsets";
    case ErrorCode::size_mismatch:
      return "SizeMismatch";
    case ErrorCode::overflow:
      return "Overflow";
    case ErrorCode::misaligned:
      return "Misaligned";
    case ErrorCode::limit_exceeded:
      return "LimitExceeded";
    case ErrorCode::bad_index:
      return "BadIndex";
    case ErrorCode::missing_shard:
      return "MissingShard";
    case ErrorCode::missing_tensor:
      return "MissingTensor";
    case ErrorCode::name_collision:
      return "NameCollision";
    case ErrorCode::invalid_pattern:
      return "InvalidPattern";
    case ErrorCode::invalid_argument:
      return "InvalidArgument";
    case ErrorCode::dtype_mismatch:
      return "DTypeMismatch";
    case ErrorCode::shape_mismatch:
      return "ShapeMismatch";
    case ErrorCode::file_changed:
      return "FileChanged";
    case ErrorCode::unused_tensor:
      return "UnusedTensor";
    case ErrorCode::adapter_failed:
      return "AdapterFailed";
    case ErrorCode::bad_archive:
      return "BadArchive";
    case ErrorCode::bad_pickle:
      return "BadPickle";
    case ErrorCode::missing_storage:
      return "MissingStorage";
    case ErrorCode::checksum_mismatch:
      return "ChecksumMismatch";
    case ErrorCode::missing_value:
      return "MissingValue";
    case ErrorCode::value_mismatch:
      return "ValueMismatch";
  }
  return "Unknown";
}

/// Success, or what is wrong and where. For the freestanding views.
struct [[nodiscard]] ViewStatus {
  ErrorCode code = ErrorCode::io;
  const char* what = nullptr;  ///< a few words; nullptr on success
  std::uint64_t offset = 0;    ///< from the start of the file

  bool ok() const noexcept { return what == nullptr; }
};

}  // namespace andiron::inline v1
