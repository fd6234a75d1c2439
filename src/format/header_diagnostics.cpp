// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/safetensors_reader_test.cpp and tests/format/burnpack_reader_test.cpp
#include "src/format/header_diagnostics.h"
#include "src/core/text/in_quotes.h"

#include "andiron/shape.h"

namespace andiron::inline v1::detail {

void Oddity::note(std::vector<Message>& notes, std::string_view kind, std::string_view what) const {
  if (count == 0) return;
  std::string text = std::string(kind) + " " + in_quotes(name) + ": ";
  text += what;
  if (count > 1) text += " (and " + std::to_string(count - 1) + " more like it)";
  notes.push_back(std::move(text));
}

Error header_error(const ViewStatus& status, const std::string& file, const HeaderTensor& tensor) {
  Error result{.code = status.code, .message = status.what, .file = file, .tensor = tensor.name};
  const std::string what =
      std::string(dtype_name(tensor.dtype)) + " " + Shape(tensor.shape).to_string();
  if (tensor.name.empty()) {
    result.found = "at byte " + std::to_string(status.offset);
    return result;
  }
  switch (status.code) {
    case ErrorCode::size_mismatch: {
      std::uint64_t bytes = 0;
      byte_count(tensor.dtype, tensor.shape, bytes);
      result.found = std::to_string(tensor.end - tensor.begin) + " bytes";
      result.expected = std::to_string(bytes) + " for " + what;
      break;
    }
    case ErrorCode::overflow:
    case ErrorCode::misaligned:
      result.found = what;
      break;
    case ErrorCode::bad_offsets:
      result.found = std::to_string(tensor.begin) + " to " + std::to_string(tensor.end);
      break;
    default:
      result.found = "at byte " + std::to_string(status.offset);
  }
  return result;
}

}  // namespace andiron::inline v1::detail
