// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that are listed as the tensors that they are made of.
// Tested by tests/format/pytorch_resolver_parts_test.cpp
#include <algorithm>
#include <array>

#include "src/core/try.h"
#include "src/format/pytorch/tensor_resolver.h"

namespace andiron::inline v1::detail {
namespace {

constexpr char nested_note[] = "a nested tensor, listed as its parts";
constexpr char nested_otherwise[] = "a nested tensor has a part that is not a tensor";

// The tensors that a sparse one is made of, as its layout names them.
struct SparseParts {
  std::string_view layout;
  std::array<std::string_view, 3> parts;  // the last may be empty
};

constexpr SparseParts sparse_parts[] = {
    {"sparse_coo", {".indices", ".values", ""}},
    {"sparse_csr", {".crow_indices", ".col_indices", ".values"}},
    {"sparse_bsr", {".crow_indices", ".col_indices", ".values"}},
    {"sparse_csc", {".ccol_indices", ".row_indices", ".values"}},
    {"sparse_bsc", {".ccol_indices", ".row_indices", ".values"}},
};

// By the numbers that the writer in C++ gives to layouts.
constexpr std::string_view numbered_layouts[] = {"strided",    "sparse_coo", "sparse_csr", "mkldnn",
                                                 "sparse_csc", "sparse_bsr", "sparse_bsc"};

// Values that share bytes are shown as the bytes they are packed into, in one dimension.
Status show_packed_bytes(const PickleDocument& content, TorchTensor& tensor) {
  std::uint64_t values = 1;
  for (std::size_t d = 0; d < tensor.rank; ++d) {
    if (__builtin_mul_overflow(values, tensor.shape[d], &values)) {
      return content.bad("a quantized tensor is too large");
    }
  }
  const std::uint64_t each = tensor.type->values_per_byte;
  if (!tensor.is_contiguous() || tensor.offset % each != 0) {
    return content.bad("the values of a quantized tensor do not start at a whole byte");
  }
  tensor.offset /= each;
  tensor.rank = 1;
  tensor.shape[0] = values / each + (values % each != 0 ? 1 : 0);
  tensor.strides[0] = 1;
  return {};
}

}  // namespace

Status TensorResolver::add_part(std::string_view name, PickleValue value, const char* otherwise,
                                Resolution& out) {
  Resolution part;
  part.is_part = true;
  part.wrappers = out.wrappers;
  ANDIRON_TRY(resolve_inner(value, part));
  if (part.kind != Resolution::Kind::taken) return content_.bad(otherwise);
  out.kind = Resolution::Kind::taken;
  out.parts.push_back({name, std::move(part.whole.tensor)});
  return {};
}

// The numbers as they are stored, and what they are scaled by.
Status TensorResolver::quantized(std::span<const PickleValue> args, Resolution& out) {
  TorchTensor& tensor = out.whole.tensor;
  ANDIRON_TRY(set_view(args, tensor));
  std::span<const PickleValue> params;
  if (args.size() > 4) params = content_.tuple(args[4]).value_or(params);
  if (!tensor.type->is_quantized() || params.size() < 3) {
    return content_.bad("a quantized tensor has no scale or zero point");
  }
  const bool per_channel = params.size() > 3;
  const std::uint64_t axis = per_channel ? content_.size(params[3]).value_or(max_rank) : max_rank;
  const std::uint64_t channels =
      axis < tensor.rank ? tensor.shape[static_cast<std::size_t>(axis)] : 0;
  tensor.as_int_repr = true;
  if (tensor.type->values_per_byte > 1) ANDIRON_TRY(show_packed_bytes(content_, tensor));
  ANDIRON_TRY(take(out));
  if (out.kind != Resolution::Kind::taken) return {};
  out.parts.push_back({".int_repr", tensor});
  ANDIRON_TRY(add_scale(".scale", params[1], false, channels, out));
  ANDIRON_TRY(add_scale(".zero_point", params[2], true, channels, out));
  if (per_channel) out.text = "quantized per channel of dimension " + std::to_string(axis);
  return {};
}

// A number, or one for each channel as a list or a tensor.
Status TensorResolver::add_scale(std::string_view name, PickleValue value, bool whole,
                                 std::uint64_t channels, Resolution& out) {
  const bool is_number = !is_tensor(value) && !content_.tuple(value);
  if (is_tensor(value)) {
    ANDIRON_TRY(add_part(name, value, "a quantized tensor has no scales", out));
  } else {
    TorchTensor scale;
    ANDIRON_ASSIGN(scale.storage, storages_.numbers(value, whole));
    scale.type = scale.storage.type;
    scale.rank = is_number ? 0 : 1;
    scale.shape[0] = scale.storage.bytes / 8;
    scale.strides[0] = 1;
    out.parts.push_back({name, std::move(scale)});
  }
  const TorchTensor& added = out.parts.back().tensor;
  if (is_number || (added.rank == 1 && added.shape[0] == channels)) return {};
  Error error = content_.bad("the scales of a quantized tensor do not match its channels");
  error.expected = std::to_string(channels);
  return error;
}

Status TensorResolver::sparse(std::span<const PickleValue> args, Resolution& out) {
  if (args.size() < 2) return content_.bad("a sparse tensor has no parts");
  std::string_view layout;
  std::optional<std::span<const PickleValue>> values;
  std::optional<PickleValue> size;
  if (const auto number = content_.size(args[0])) {
    // TorchScript: (layout, size, requires_grad, parts ..., hooks)
    if (*number < std::size(numbered_layouts)) layout = numbered_layouts[*number];
    values = args.subspan(std::min<std::size_t>(3, args.size()));
    size = args[1];
  } else {
    // torch.save: (layout, (parts ..., size))
    if (content_.callable_of(args[0]) == Callable::get_layout && !content_.args(args[0]).empty()) {
      layout = content_.text(content_.args(args[0])[0]).value_or("");
      if (layout.starts_with("torch.")) layout.remove_prefix(6);
    }
    values = content_.tuple(args[1]);
    if (!values) return content_.bad("a sparse tensor has no parts");
  }
  for (const SparseParts& known : sparse_parts) {
    if (known.layout != layout) continue;
    std::size_t count = 0;
    for (const std::string_view name : known.parts) {
      if (name.empty()) continue;
      if (count >= values->size()) return content_.bad("a sparse tensor has too few parts");
      ANDIRON_TRY(add_part(name, (*values)[count++],
                           "a sparse tensor has a part that is not a tensor", out));
    }
    if (!size && count < values->size()) size = (*values)[count];
    const auto dims = size ? content_.tuple(*size) : std::nullopt;
    if (!dims || dims->size() > max_rank) return content_.bad("a sparse tensor has no size");
    std::vector<std::uint64_t> shape;
    for (const PickleValue dim : *dims) shape.push_back(content_.size(dim).value_or(0));
    out.text = "a " + std::string(layout) + " tensor, listed as its parts; its shape is " +
               Shape(shape).to_string();
    return {};
  }
  return skip("a sparse tensor of an unknown layout: " + std::string(layout), out);
}

Status TensorResolver::nested(std::span<const PickleValue> args, Resolution& out) {
  constexpr std::string_view names[] = {".values", ".sizes", ".strides", ".offsets"};
  if (args.size() < std::size(names)) return content_.bad("a nested tensor has too few parts");
  for (std::size_t i = 0; i < std::size(names); ++i) {
    ANDIRON_TRY(add_part(names[i], args[i], nested_otherwise, out));
  }
  out.text = nested_note;
  return {};
}

Status TensorResolver::jagged(std::span<const PickleValue> args, Resolution& out) {
  if (!args.empty() && args[0].kind == PickleKind::dict &&
      content_.graph().pairs(args[0]).size() > most_metadata) {
    return content_.bad("a nested tensor has too many parts");
  }
  for (const std::string_view name : {".values", ".offsets", ".lengths"}) {
    const auto value = args.empty() ? std::nullopt : content_.entry(args[0], name.substr(1));
    if (!value || value->kind == PickleKind::none) continue;
    ANDIRON_TRY(add_part(name, *value, nested_otherwise, out));
  }
  if (out.parts.empty()) return content_.bad("a nested tensor has no values");
  out.text = nested_note;
  return {};
}

}  // namespace andiron::inline v1::detail
