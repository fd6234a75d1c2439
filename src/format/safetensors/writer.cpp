// SPDX-License-Identifier: MIT OR Apache-2.0
// Archive to SafeTensors, byte for byte as the reference crate writes: tensors by dtype rank
// descending, then by name; compact JSON; spaces up to the alignment. Metadata, which the crate
// leaves in a hash map's order, is sorted. The byte layout is in
// src/freestanding/safetensors_view.cpp. Tested by tests/format/safetensors_writer_test.cpp
#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "andiron/safetensors_view.h"
#include "src/core/check_limit.h"
#include "src/core/little_endian.h"
#include "src/core/sort.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"
#include "src/format/data_copier.h"
#include "src/format/safetensors/header.h"
#include "src/format/safetensors/param_ids.h"
#include "src/format/safetensors/safetensors.h"
#include "src/freestanding/append_json.h"

namespace andiron::inline v1::detail {
namespace {

// Unknown dtypes go back under the name they came with, if that can be a SafeTensors name.
bool is_dtype_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string_view dtype_spelling(const TensorInfo& info) {
  if (info.dtype != DType::raw) return safetensors_dtype_name(info.dtype);
  // A name that we do know belongs to other bytes than these.
  const bool free = safetensors_dtype(info.file_dtype) == DType::raw;
  return free && is_dtype_name(info.file_dtype) ? info.file_dtype : std::string_view();
}

Status check_name(std::string_view name, const Limits& limits) {
  Error error{.code = ErrorCode::bad_header,
              .message = "this name cannot be written to SafeTensors"};
  error.tensor = name;
  if (name == "__metadata__") {
    error.found = "it is reserved for metadata";
  } else if (name.find('\0') != std::string_view::npos) {
    error.found = "it contains a NUL byte, which hides what follows from many readers";
  } else if (!is_utf8(name)) {
    error.found = "it is not UTF-8";
  } else {
    return check_limit(name.size(), limits.name_bytes,
                       {"the name is too long", &Limits::name_bytes, "bytes", {}, name});
  }
  error.hint = Message(Advice::rename, "the tensor");
  return error;
}

Status check_tensor(const TensorInfo& info, const Limits& limits) {
  ANDIRON_TRY(check_name(info.name, limits));
  if (!dtype_spelling(info).empty()) return {};
  return Error{.code = ErrorCode::unsupported_dtype,
               .message = "SafeTensors cannot store this dtype",
               .tensor = std::string(info.name),
               .found = std::string(dtype_name(info.dtype)) +
                        (info.dtype == DType::raw ? ":" + std::string(info.file_dtype) : ""),
               .hint = cast_or_leave_out(info.dtype, {DType::c64})};
}

void append_tensor(std::string& out, const TensorInfo& info, std::uint64_t begin) {
  append_safetensors_entry(
      out, info.name, dtype_spelling(info), info.shape.size(),
      [&](std::size_t i) { return info.shape[i]; }, begin, begin + info.byte_size);
}

void sort_as_the_crate_does(const Archive& archive, std::vector<std::size_t>& order) {
  struct Key {
    int rank;
    std::string_view name;
    std::size_t index;
  };
  std::vector<Key> keys;
  keys.reserve(order.size());
  for (const std::size_t i : order) {
    const TensorInfo info = archive.info(i);
    keys.push_back({safetensors_dtype_rank(info.dtype), info.name, i});
  }
  detail::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.name < b.name;
  });
  std::transform(keys.begin(), keys.end(), order.begin(), [](const Key& key) { return key.index; });
}

Status check_alignment(std::uint64_t alignment) {
  if (std::has_single_bit(alignment) && alignment >= 8) return {};
  return Error{.code = ErrorCode::invalid_argument,
               .message = "unsupported alignment",
               .found = std::to_string(alignment),
               .expected = "a power of two, at least 8"};
}

}  // namespace

Kept kept_by_safetensors(const KeptContext& context) {
  const auto& [archive, tree, options, ending] = context;
  return {.metadata = archive.metadata().size(),
          .param_ids = settings_in<SafetensorsSettings>(options.settings).param_ids,
          .ids_if_asked = true,
          .ties = true};
}

Result<std::uint64_t> write_safetensors(const WriteContext& context) {
  const Archive& archive = context.archive;
  const WriteOptions& options = context.options;
  const auto settings = settings_in<SafetensorsSettings>(options.settings);
  ANDIRON_TRY(check_alignment(settings.data_alignment));
  ANDIRON_TRY(
      check_limit(archive.size(), options.limits.tensors, {"too many tensors", &Limits::tensors}));
  std::vector<std::size_t> order(archive.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i : order) ANDIRON_TRY(check_tensor(archive.info(i), options.limits));
  sort_as_the_crate_does(archive, order);

  std::string header(safetensors_length_bytes, '\0');
  header += '{';
  Metadata metadata = archive.metadata();
  if (settings.param_ids) add_param_ids(metadata, archive, order);
  if (!metadata.empty()) {
    ANDIRON_ASSIGN(const std::string json, safetensors_metadata_json(metadata, options.limits));
    header += "\"__metadata__\":" + json;
  }
  std::uint64_t data_bytes = 0;
  for (std::size_t i : order) {
    if (header.back() != '{') header += ',';
    const TensorInfo info = archive.info(i);
    append_tensor(header, info, data_bytes);
    data_bytes += info.byte_size;
  }
  header += '}';
  ANDIRON_TRY(finish_safetensors_header(header, settings.data_alignment, options.limits));

  ANDIRON_TRY(context.sink.reserve(header.size() + data_bytes));
  std::vector<FilePart> parts;
  parts.reserve(order.size());
  for (std::size_t i : order) parts.push_back({{}, i, archive.info(i).byte_size});
  ANDIRON_TRY(context.sink.write(std::as_bytes(std::span(header))));
  DataCopier copier(context.sink, options, data_bytes);
  ANDIRON_TRY(copier.copy_parts(
      archive, parts, [&](std::size_t i) { return archive.snapshot(i); }, context.file));
  return header.size() + data_bytes;
}

}  // namespace andiron::inline v1::detail
