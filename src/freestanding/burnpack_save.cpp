// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack without a heap, byte for byte as src/format/burnpack/writer.cpp writes it. The metadata
// is made twice: to learn its length, and to write it.
// Tested by tests/freestanding/view_writer_test.cpp
#include "andiron/burnpack_view.h"
#include "andiron/limits.h"
#include "andiron/view_writer.h"
#include "src/freestanding/append_cbor.h"
#include "src/freestanding/save_checks.h"
#include "src/freestanding/save_output.h"
#include "src/freestanding/tensor_list.h"

namespace andiron::inline v1 {
namespace {

using detail::CborAppender;
using detail::InOrder;
using detail::ListedTensor;
using detail::SaveOutput;
using detail::TensorList;
using Generation = BurnpackGeneration;

ViewStatus check_tensor(const TensorToWrite& tensor) noexcept {
  if (tensor.dtype != DType::boolean && burnpack_dtype_name(tensor.dtype).empty()) {
    return {ErrorCode::unsupported_dtype, "Burnpack cannot store this dtype"};
  }
  if (std::uint64_t{tensor.data.size()} > Limits().burnpack_tensor_bytes) {
    return {ErrorCode::limit_exceeded, "the tensor is larger than Burn reads"};
  }
  return {};
}

void add_dtype(CborAppender<SaveOutput>& out, DType dtype, Generation release) noexcept {
  if (dtype != DType::boolean) return out.text(burnpack_dtype_name(dtype));
  if (release > Generation::burn_0_20) {
    out.map(1);
    out.text("Bool");
  }
  out.text(release > Generation::burn_0_20 ? "Native" : "Bool");
}

void add_metadata(SaveOutput& bytes, const TensorList& list, std::size_t tensor_count,
                  std::span<const MetadataToWrite> metadata, Generation release) noexcept {
  CborAppender out(bytes);
  out.map(metadata.empty() ? 1 : 2);
  out.text("tensors");
  out.map(tensor_count);
  InOrder tensors(list, InOrder::Order::by_name);
  while (tensors.next()) {
    const ListedTensor& listed = tensors.tensor();
    const TensorToWrite& tensor = listed.tensor;
    detail::append_burnpack_entry(
        out, tensor.name, [&] { return add_dtype(out, tensor.dtype, release), true; },
        listed.rank(), [&](std::size_t i) { return listed.dim(i); }, listed.begin,
        listed.begin + tensor.data.size(), tensor.has_param_id ? &tensor.param_id : nullptr);
  }
  if (metadata.empty()) return;
  out.text("metadata");
  out.map(metadata.size());
  detail::MetadataInOrder entries(metadata);
  while (const MetadataToWrite* entry = entries.next()) {
    out.text(entry->key);
    out.text(entry->value);
  }
}

SaveResult save(const TensorList& list, const SaveTarget& target,
                std::span<const MetadataToWrite> metadata, Generation release) noexcept {
  const detail::Checked checked = detail::check_tensors(list, check_tensor);
  if (!checked.result.ok()) return checked.result;
  if (const SaveResult result = detail::check_metadata(metadata, true); !result.ok()) return result;
  SaveOutput counted;
  add_metadata(counted, list, checked.tensors, metadata, release);
  const Limits limits;
  if (counted.size() > limits.burnpack_metadata_bytes ||
      checked.tensors > limits.burnpack_tensors) {
    return detail::save_error(ErrorCode::limit_exceeded, "more than Burn reads");
  }
  const std::uint64_t end = burnpack_header_bytes + counted.size();
  const std::uint64_t data_begin = release == Generation::burn_0_19 ? end : burnpack_aligned(end);
  const std::uint64_t bytes = data_begin + checked.data_end;
  if (const SaveResult result = detail::check_room(target, bytes); !result.ok()) return result;

  SaveOutput out(target);
  detail::append_burnpack_head(out, counted.size());
  add_metadata(out, list, checked.tensors, metadata, release);
  out.fill('\0', data_begin - end);
  std::uint64_t at = 0;
  list.each([&](const ListedTensor& listed) {
    if (out.has_failed()) return;
    out.fill('\0', listed.begin - at);
    out.add_data(listed);
    at = listed.begin + listed.tensor.data.size();
  });
  return detail::finish_save(out, bytes);
}

std::uint64_t alignment_of(Generation release) noexcept {
  return release == Generation::burn_0_19 ? 1 : burnpack_alignment;
}

}  // namespace

SaveResult save_burnpack(std::span<const TensorToWrite> tensors, const SaveTarget& target,
                         std::span<const MetadataToWrite> metadata, Generation release) noexcept {
  return save(TensorList(tensors, alignment_of(release)), target, metadata, release);
}

SaveResult detail::save_burnpack(const ViewModel& model, const SaveTarget& target,
                                 std::span<const MetadataToWrite> metadata,
                                 Generation release) noexcept {
  return save(TensorList(model, alignment_of(release)), target, metadata, release);
}

}  // namespace andiron::inline v1
