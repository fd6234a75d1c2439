// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/freestanding/view_writer_test.cpp
#include "src/freestanding/save_checks.h"

#include "andiron/limits.h"
#include "src/core/text/utf8.h"

namespace andiron::inline v1::detail {
namespace {

ViewStatus check_any_format(const TensorList& list, const ListedTensor& listed) noexcept {
  const TensorToWrite& tensor = listed.tensor;
  if (listed.has_long_name) return {ErrorCode::limit_exceeded, "the path of a field is too long"};
  if (tensor.name.size() > Limits().name_bytes) {
    return {ErrorCode::limit_exceeded, "the name is too long"};
  }
  if (!is_utf8(tensor.name)) return {ErrorCode::bad_header, "the name is not UTF-8"};
  if (!list.has_lasting_names() && tensor.data.data() == nullptr) {
    return {ErrorCode::missing_tensor, "the field is not bound"};
  }
  if (is_opaque(tensor.dtype)) {
    return {ErrorCode::unsupported_dtype, "the format cannot store this dtype"};
  }
  if (tensor.shape.size() > max_rank) {
    return {ErrorCode::limit_exceeded, "the shape has too many dimensions"};
  }
  std::uint64_t bytes = 0;
  if (byte_count(tensor.dtype, tensor.shape, bytes) != SizeCheck::ok ||
      bytes != tensor.data.size()) {
    return {ErrorCode::size_mismatch, "the data size does not match dtype and shape"};
  }
  return {};
}

}  // namespace

SaveResult save_error(ErrorCode code, const char* what, std::size_t tensor) noexcept {
  SaveResult result;
  static_cast<ViewStatus&>(result) = {code, what, 0};
  result.tensor = tensor;
  return result;
}

Checked check_tensors(const TensorList& list,
                      ViewStatus (*check)(const TensorToWrite& tensor)) noexcept {
  Checked checked;
  list.each([&](const ListedTensor& listed) {
    ++checked.tensors;
    checked.data_end = listed.begin + listed.tensor.data.size();
    checked.data_bytes += listed.tensor.data.size();
    if (!checked.result.ok()) return;
    ViewStatus status = check_any_format(list, listed);
    if (status.ok()) status = check(listed.tensor);
    if (!status.ok()) checked.result = save_error(status.code, status.what, listed.index);
  });
  if (!checked.result.ok()) return checked;
  InOrder names(list, InOrder::Order::by_name);
  while (names.next()) {
    if (!names.is_repeated()) continue;
    checked.result = save_error(ErrorCode::name_collision, "two tensors have the same name",
                                names.tensor().index);
    break;
  }
  return checked;
}

const MetadataToWrite* MetadataInOrder::next() noexcept {
  const MetadataToWrite* best = nullptr;
  for (const MetadataToWrite& entry : all_) {
    if (last_ != nullptr && entry.key <= last_->key) continue;
    if (best == nullptr || entry.key < best->key) best = &entry;
  }
  last_ = best;
  return best;
}

SaveResult check_metadata(std::span<const MetadataToWrite> metadata, bool allow_nul) noexcept {
  const auto has_nul = [](std::string_view text) {
    return text.find('\0') != std::string_view::npos;
  };
  for (const MetadataToWrite& entry : metadata) {
    if (!is_utf8(entry.key) || !is_utf8(entry.value)) {
      return save_error(ErrorCode::bad_header, "metadata must be UTF-8");
    }
    if (!allow_nul && (has_nul(entry.key) || has_nul(entry.value))) {
      return save_error(ErrorCode::bad_header, "metadata contains a NUL byte");
    }
  }
  MetadataInOrder keys(metadata);
  std::size_t count = 0;
  while (keys.next() != nullptr) ++count;
  if (count == metadata.size()) return {};
  return save_error(ErrorCode::duplicate_key, "a key of the metadata comes twice");
}

SaveResult check_room(const SaveTarget& target, std::uint64_t bytes) noexcept {
  SaveResult result;
  if (!target.is_function() && target.memory().size() < bytes) {
    result = save_error(ErrorCode::out_of_memory, "the memory is too small for the file");
  }
  result.bytes = bytes;
  return result;
}

SaveResult finish_save(SaveOutput& out, std::uint64_t bytes) noexcept {
  out.flush();
  SaveResult result;
  if (out.has_failed()) {
    result = save_error(ErrorCode::io, "the function did not take all bytes");
    result.offset = out.size();
  }
  result.bytes = bytes;
  return result;
}

}  // namespace andiron::inline v1::detail
