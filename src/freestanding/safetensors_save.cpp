// SPDX-License-Identifier: MIT OR Apache-2.0
// SafeTensors without a heap, byte for byte as src/format/safetensors/writer.cpp writes it. The
// header is made twice: to learn its length, and to write it.
// Tested by tests/freestanding/view_writer_test.cpp
#include "andiron/limits.h"
#include "andiron/safetensors_view.h"
#include "andiron/view_writer.h"
#include "src/core/little_endian.h"
#include "src/freestanding/append_json.h"
#include "src/freestanding/save_checks.h"
#include "src/freestanding/save_output.h"
#include "src/freestanding/tensor_list.h"

namespace andiron::inline v1 {
namespace {

using detail::InOrder;
using detail::ListedTensor;
using detail::SaveOutput;
using detail::TensorList;

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t alignment = 8;

ViewStatus check_tensor(const TensorToWrite& tensor) noexcept {
  if (tensor.name == "__metadata__") {
    return {ErrorCode::bad_header, "the name is reserved for metadata"};
  }
  if (tensor.name.find('\0') != std::string_view::npos) {
    return {ErrorCode::bad_header, "the name contains a NUL byte"};
  }
  if (safetensors_dtype_name(tensor.dtype).empty()) {
    return {ErrorCode::unsupported_dtype, "SafeTensors cannot store this dtype"};
  }
  return {};
}

void add_header(SaveOutput& out, const TensorList& list,
                std::span<const MetadataToWrite> metadata) noexcept {
  out += '{';
  bool is_first = true;
  if (!metadata.empty()) {
    out += std::string_view("\"__metadata__\":{");
    detail::MetadataInOrder entries(metadata);
    while (const MetadataToWrite* entry = entries.next()) {
      if (!is_first) out += ',';
      is_first = false;
      detail::append_json_text(out, entry->key);
      out += ':';
      detail::append_json_text(out, entry->value);
    }
    out += '}';
    is_first = false;
  }
  InOrder tensors(list, InOrder::Order::by_type);
  std::uint64_t begin = 0;
  while (tensors.next()) {
    const ListedTensor& listed = tensors.tensor();
    if (!is_first) out += ',';
    is_first = false;
    const std::uint64_t end = begin + listed.tensor.data.size();
    detail::append_safetensors_entry(
        out, listed.tensor.name, safetensors_dtype_name(listed.tensor.dtype), listed.rank(),
        [&](std::size_t i) { return listed.dim(i); }, begin, end);
    begin = end;
  }
  out += '}';
}

SaveResult save(const TensorList& list, const SaveTarget& target,
                std::span<const MetadataToWrite> metadata) noexcept {
  const detail::Checked checked = detail::check_tensors(list, check_tensor);
  if (!checked.result.ok()) return checked.result;
  if (const SaveResult result = detail::check_metadata(metadata, false); !result.ok()) {
    return result;
  }
  SaveOutput counted;
  add_header(counted, list, metadata);
  const std::uint64_t padded = (counted.size() + alignment - 1) / alignment * alignment;
  if (padded > Limits().header_bytes) {
    return detail::save_error(ErrorCode::header_too_large, "the header would be too large");
  }
  const std::uint64_t bytes = length_bytes + padded + checked.data_bytes;
  if (const SaveResult result = detail::check_room(target, bytes); !result.ok()) return result;

  SaveOutput out(target);
  std::byte length[length_bytes];
  store_u64(padded, length);
  out.add(length);
  add_header(out, list, metadata);
  out.fill(' ', padded - counted.size());
  InOrder tensors(list, InOrder::Order::by_type);
  while (!out.has_failed() && tensors.next()) out.add_data(tensors.tensor());
  return detail::finish_save(out, bytes);
}

}  // namespace

SaveResult save_safetensors(std::span<const TensorToWrite> tensors, const SaveTarget& target,
                            std::span<const MetadataToWrite> metadata) noexcept {
  return save(TensorList(tensors, 1), target, metadata);
}

SaveResult detail::save_safetensors(const ViewModel& model, const SaveTarget& target,
                                    std::span<const MetadataToWrite> metadata) noexcept {
  return save(TensorList(model, 1), target, metadata);
}

}  // namespace andiron::inline v1
