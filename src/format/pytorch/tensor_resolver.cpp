// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_resolver_test.cpp
#include "src/format/pytorch/tensor_resolver.h"

#include <algorithm>
#include <array>
#include <vector>

#include "src/core/try.h"
#include "src/format/pytorch/numpy.h"
#include "src/format/pytorch/python_text.h"

namespace andiron::inline v1::detail {
namespace {

using Kind = Resolution::Kind;

// Wrappers around wrappers: a parameter of a subclass of a tensor of another device.
constexpr unsigned deepest = 16;
// Of the dict with a tensor's bits, which many tensors may share: it is looked through for each.
constexpr std::uint32_t most_metadata = 256;

Resolution skipped(std::string reason) {
  return {.kind = Kind::skipped, .text = std::make_unique<std::string>(std::move(reason))};
}

Resolution taken_with_note(std::string note) {
  return {.kind = Kind::taken, .note = std::make_unique<std::string>(std::move(note))};
}

// None where there are fewer.
PickleValue at(std::span<const PickleValue> values, std::size_t index) {
  return index < values.size() ? values[index] : PickleValue();
}

// Whether tensors that are made so are listed as their parts.
bool makes_parts(Callable callable) {
  return callable == Callable::rebuild_quantized || callable == Callable::rebuild_sparse ||
         callable == Callable::rebuild_nested || callable == Callable::rebuild_jagged;
}

// Hands a tensor on to be read as another dtype.
class ConvertedTo : public PartSink {
 public:
  ConvertedTo(PartSink& sink, const ElementType* type) : sink_(sink), type_(type) {}
  Status take(std::string_view part, const TorchTensor& tensor) override {
    TorchTensor converted = tensor;
    converted.converted = type_;
    ANDIRON_TRY(converted.check_view());
    return sink_.take(part, converted);
  }

 private:
  PartSink& sink_;
  const ElementType* type_;
};

// Hands a tensor on under the name of a part, where it has the length that the part must have.
class PartOf : public PartSink {
 public:
  PartOf(PartSink& sink, std::string_view part, std::optional<std::uint64_t> length = {})
      : sink_(sink), part_(part), length_(length) {}
  Status take(std::string_view, const TorchTensor& tensor) override {
    if (length_ && (tensor.rank != 1 || tensor.shape[0] != *length_)) {
      return Error{.code = ErrorCode::bad_pickle,
                   .message = "a quantized tensor with scales that do not fit its channels",
                   .expected = std::to_string(*length_)};
    }
    return sink_.take(part_, tensor);
  }

 private:
  PartSink& sink_;
  std::string_view part_;
  std::optional<std::uint64_t> length_;
};

// Keeps the parts of a tensor until it is known that all are there.
class Parts : public PartSink {
 public:
  Status take(std::string_view part, const TorchTensor& tensor) override {
    parts_.emplace_back(part, tensor);
    return {};
  }
  Status hand_on(PartSink& sink) const {
    for (const auto& [part, tensor] : parts_) ANDIRON_TRY(sink.take(part, tensor));
    return {};
  }

 private:
  std::vector<std::pair<std::string, TorchTensor>> parts_;
};

}  // namespace

Error TensorResolver::bad(std::string message, std::string found) const {
  return Error{.code = ErrorCode::bad_pickle,
               .message = std::move(message),
               .file = content_.source()->name(),
               .found = std::move(found)};
}

bool TensorResolver::is_tensor(PickleValue value) const {
  if (value.kind == PickleKind::persistent) return true;
  const Callable callable = content_.callable_of(value);
  return makes_tensor(callable) || callable == Callable::load_from_bytes;
}

Result<Resolution> TensorResolver::resolve(PickleValue value, PartSink& sink) {
  // Nearly all tensors, without a way around: nothing wraps them, nothing was added to them.
  if (content_.callable_of(value) == Callable::rebuild_tensor_v2 &&
      content_.graph().is_as_made(value)) {
    const std::span<const PickleValue> args = content_.args(value);
    return plain(args, nullptr, at(args, 6), sink);
  }
  return resolve_inner(value, sink, 0);
}

Result<Resolution> TensorResolver::resolve_inner(PickleValue value, PartSink& sink,
                                                 unsigned depth) {
  if (value.kind == PickleKind::persistent) return bare_storage(value, sink);
  if (value.kind != PickleKind::object) return Resolution();
  const Callable callable = content_.callable_of(value);
  if (callable == Callable::load_from_bytes) return bare_storage(value, sink);
  if (!makes_tensor(callable)) return Resolution();
  const PickleGraph& graph = content_.graph();
  if (!graph.is_as_made(value) && (!graph.items(value).empty() || !graph.pairs(value).empty())) {
    return bad("a tensor is filled like a list or a dict");
  }
  if (callable == Callable::numpy_array || callable == Callable::numpy_buffer) {
    return array(value, sink);
  }
  ANDIRON_ASSIGN(
      Resolution made,
      resolve_call({callable, content_.args(value), content_.state(value)}, sink, depth));
  // What a state holds beside the tensor is to be told, too.
  const bool is_state_read =
      callable == Callable::tensor_class || callable == Callable::parameter_class;
  if (!made.has_state() && !is_state_read) {
    made.state = content_.state(value).value_or(PickleValue());
  }
  return made;
}

Result<Resolution> TensorResolver::resolve_call(const Call& call, PartSink& sink, unsigned depth) {
  if (depth > deepest) return bad("tensors are wrapped too deeply");
  if (!makes_parts(call.callable)) return resolve_known(call, sink, depth);
  if (within_parts_) return bad("a part of a tensor that has parts itself");
  within_parts_ = true;
  Parts parts;
  Result<Resolution> made = resolve_known(call, parts, depth);
  within_parts_ = false;
  if (made && made->kind == Kind::taken) ANDIRON_TRY(parts.hand_on(sink));
  return made;
}

Result<Resolution> TensorResolver::resolve_known(const Call& call, PartSink& sink, unsigned depth) {
  const std::span<const PickleValue> args = call.args;
  switch (call.callable) {
    case Callable::rebuild_tensor:
    case Callable::rebuild_tensor_v2:
      return plain(args, nullptr, at(args, 6), sink);
    case Callable::rebuild_tensor_v3: {
      const PickleValue dtype = at(args, 6);
      if (dtype.kind != PickleKind::global) return bad("a tensor without a dtype");
      const std::string_view name = content_.graph().global(dtype).name;
      const ElementType* type = torch_dtype(name);
      if (type == nullptr) return skipped("a dtype that we do not know: " + std::string(name));
      return plain(args, type, at(args, 7), sink);
    }
    case Callable::rebuild_from_tensor: {
      const PickleValue dtype = at(args, 1);
      const ElementType* type = dtype.kind == PickleKind::global
                                    ? torch_dtype(content_.graph().global(dtype).name)
                                    : nullptr;
      if (type == nullptr) return skipped("a tensor of a dtype that we do not know");
      ConvertedTo converted(sink, type);
      return resolve_inner(args[0], converted, depth + 1);
    }
    case Callable::rebuild_parameter: {
      if (args.empty()) return bad("a parameter without a tensor");
      ANDIRON_ASSIGN(Resolution inner, resolve_inner(args[0], sink, depth + 1));
      if (inner.kind == Kind::no_tensor) return bad("a parameter that is made of no tensor");
      if (!inner.has_state()) inner.state = at(args, 3);
      return inner;
    }
    case Callable::rebuild_from_type:
      return from_type(call, sink, depth);
    case Callable::rebuild_wrapper:
      return skipped("the shell of a tensor, without data");
    case Callable::rebuild_quantized:
      return quantized(call, sink, depth);
    case Callable::rebuild_sparse:
      return sparse(call, sink, depth);
    case Callable::rebuild_nested:
      return nested(call, sink, depth);
    case Callable::rebuild_jagged:
      return jagged(call, sink, depth);
    case Callable::rebuild_meta:
      return skipped("a tensor on the device 'meta', which has no data");
    case Callable::rebuild_from_numpy:
      if (args.empty()) return bad("a tensor without an array");
      return from_numpy(args[0], at(args, 1), sink);
    case Callable::tensor_class:
      return old_tensor(call, sink);
    case Callable::parameter_class: {
      const auto state = call.state ? content_.tuple(*call.state) : std::nullopt;
      const bool in_state = state && !state->empty() && is_tensor((*state)[0]);
      if (!in_state && args.empty()) return skipped("a parameter without a tensor");
      return resolve_inner(in_state ? (*state)[0] : args[0], sink, depth + 1);
    }
    case Callable::numpy_masked:
      return skipped("an array with a mask, which a tensor has no place for");
    case Callable::uninitialized:
      return skipped("a parameter of a lazy module, not initialized yet");
    default:
      return Resolution();
  }
}

// A tensor of a class of its own, or with attributes.
Result<Resolution> TensorResolver::from_type(const Call& call, PartSink& sink, unsigned depth) {
  if (call.args.size() < 3) return bad("a tensor of a class of its own, without arguments");
  const Callable function = content_.callable(call.args[0]);
  const PickleValue state = at(call.args, 3);
  if (function == Callable::rebuild_wrapper) {
    Resolution shell{.kind = Kind::shell, .state = state};
    if (call.args[1].kind == PickleKind::global) {
      shell.text = std::make_unique<std::string>(content_.graph().global(call.args[1]).name);
    }
    return shell;
  }
  const auto args = content_.tuple(call.args[2]);
  if (!makes_tensor(function) || !args) {
    return skipped("a tensor that is made by a function that we do not know");
  }
  ANDIRON_ASSIGN(Resolution inner, resolve_call({function, *args, {}}, sink, depth + 1));
  // A jagged tensor has its parts there again.
  if (!inner.has_state() && function != Callable::rebuild_jagged) {
    inner.state = state;
  }
  return inner;
}

Result<Resolution> TensorResolver::plain(std::span<const PickleValue> args, const ElementType* type,
                                         PickleValue metadata, PartSink& sink) {
  TorchTensor tensor;
  tensor.type = type;
  ANDIRON_TRY(set_view(args, tensor));
  if (metadata.kind == PickleKind::dict) {
    if (content_.graph().pairs(metadata).size() > most_metadata) {
      return bad("a tensor with too many bits of metadata");
    }
    const auto is_set = [&](std::string_view name) {
      const auto bit = content_.entry(metadata, name);
      return bit && content_.integer(*bit).value_or(0) != 0;
    };
    tensor.conjugate = is_set("conj");
    tensor.negate = is_set("neg");
  }
  return take("", tensor, sink);
}

Status TensorResolver::set_view(std::span<const PickleValue> args, TorchTensor& tensor) {
  if (args.size() < 4) return bad("a tensor without storage, offset, size and stride");
  ANDIRON_TRY(storages_.resolve(args[0], tensor.storage));
  if (tensor.type == nullptr) tensor.type = tensor.storage.type;
  tensor.big_endian = big_endian_ && tensor.storage.home != Storage::Home::pickle;
  const auto offset = content_.size(args[1]);
  const auto dims = content_.tuple(args[2]);
  const auto strides = content_.tuple(args[3]);
  if (!offset || !dims || !strides) return bad("a tensor whose size or stride is no tuple");
  if (dims->size() != strides->size() || dims->size() > max_rank) {
    return bad("a tensor with " + std::to_string(dims->size()) + " dimensions and " +
               std::to_string(strides->size()) + " strides");
  }
  tensor.offset = *offset;
  tensor.rank = dims->size();
  for (std::size_t d = 0; d < tensor.rank; ++d) {
    const auto dim = content_.size((*dims)[d]);
    const auto stride = content_.integer((*strides)[d]);
    if (!dim || !stride) return bad("a tensor with a dimension that is no size");
    tensor.shape[d] = *dim;
    tensor.strides[d] = *stride;
  }
  return {};
}

Result<Resolution> TensorResolver::take(std::string_view part, TorchTensor& tensor,
                                        PartSink& sink) const {
  if (tensor.storage.home == Storage::Home::nowhere) {
    return skipped("a tensor on the device 'meta', which has no data");
  }
  ANDIRON_TRY(tensor.check());
  if (!tensor.is_run()) {
    ANDIRON_TRY(tensor.check_view());
    if (Status size = tensor.check_size(most_bytes_); !size) {
      if (!lenient_) return std::move(size).error();
      return skipped(size.error().description());
    }
  }
  ANDIRON_TRY(sink.take(part, tensor));
  return Resolution{.kind = Kind::taken};
}

// Values that share bytes are shown as the bytes they are packed into, in one dimension.
Status TensorResolver::show_packed_bytes(TorchTensor& tensor) const {
  std::uint64_t values = 1;
  for (std::size_t d = 0; d < tensor.rank; ++d) {
    if (__builtin_mul_overflow(values, tensor.shape[d], &values)) {
      return bad("a quantized tensor that is too large");
    }
  }
  const std::uint64_t each = tensor.type->values_per_byte;
  if (!tensor.is_contiguous() || tensor.offset % each != 0) {
    return bad("a quantized tensor whose values do not begin with a byte");
  }
  tensor.offset /= each;
  tensor.rank = 1;
  tensor.shape[0] = values / each + (values % each != 0 ? 1 : 0);
  tensor.strides[0] = 1;
  return {};
}

// The numbers as they are stored, and what they are scaled by.
Result<Resolution> TensorResolver::quantized(const Call& call, PartSink& sink, unsigned depth) {
  TorchTensor tensor;
  ANDIRON_TRY(set_view(call.args, tensor));
  const auto params = call.args.size() > 4 ? content_.tuple(call.args[4]) : std::nullopt;
  if (!tensor.type->is_quantized() || !params || params->size() < 3) {
    return bad("a quantized tensor without scale and zero point");
  }
  const bool per_channel = params->size() > 3;
  const std::uint64_t axis =
      per_channel ? content_.size((*params)[3]).value_or(max_rank) : max_rank;
  const std::uint64_t channels = axis < tensor.rank ? tensor.shape[axis] : 0;
  tensor.as_int_repr = true;
  if (tensor.type->values_per_byte > 1) ANDIRON_TRY(show_packed_bytes(tensor));
  ANDIRON_ASSIGN(Resolution taken, take(".int_repr", tensor, sink));
  if (taken.kind != Kind::taken) return taken;

  // A number, or one for each channel as a list or a tensor.
  const auto take_parameter = [&](std::string_view part, PickleValue value, bool whole) -> Status {
    if (is_tensor(value)) {
      PartOf renamed(sink, part, channels);
      ANDIRON_ASSIGN(const Resolution inner, resolve_inner(value, renamed, depth + 1));
      return inner.kind == Kind::taken ? Status() : bad("a quantized tensor without its scales");
    }
    TorchTensor scale;
    ANDIRON_ASSIGN(scale.storage, storages_.numbers(value, whole));
    scale.type = scale.storage.type;
    scale.rank = content_.tuple(value) ? 1 : 0;
    scale.shape[0] = scale.storage.bytes / 8;
    scale.strides[0] = 1;
    if (scale.rank == 1 && scale.shape[0] != channels) {
      return bad("a quantized tensor with scales that do not fit its channels");
    }
    return sink.take(part, scale);
  };
  ANDIRON_TRY(take_parameter(".scale", (*params)[1], false));
  ANDIRON_TRY(take_parameter(".zero_point", (*params)[2], true));
  if (!per_channel) return taken;
  return taken_with_note("quantized for each channel of dimension " + std::to_string(axis));
}

namespace {

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

}  // namespace

Result<Resolution> TensorResolver::sparse(const Call& call, PartSink& sink, unsigned depth) {
  if (call.args.size() < 2) return bad("a sparse tensor without parts");
  std::string_view layout;
  std::optional<std::span<const PickleValue>> parts;
  std::optional<PickleValue> size;
  if (const auto number = content_.size(call.args[0])) {
    // TorchScript: (layout, size, requires_grad, parts ..., hooks)
    if (*number < std::size(numbered_layouts)) layout = numbered_layouts[*number];
    parts = call.args.subspan(std::min<std::size_t>(3, call.args.size()));
    size = call.args[1];
  } else {
    // torch.save: (layout, (parts ..., size))
    if (content_.callable_of(call.args[0]) == Callable::get_layout &&
        !content_.args(call.args[0]).empty()) {
      layout = content_.text(content_.args(call.args[0])[0]).value_or("");
      if (layout.starts_with("torch.")) layout.remove_prefix(6);
    }
    parts = content_.tuple(call.args[1]);
    if (!parts) return bad("a sparse tensor without parts");
  }
  for (const SparseParts& known : sparse_parts) {
    if (known.layout != layout) continue;
    std::size_t count = 0;
    for (const std::string_view name : known.parts) {
      if (name.empty()) continue;
      if (count >= parts->size()) return bad("a sparse tensor with too few parts");
      PartOf part(sink, name);
      ANDIRON_ASSIGN(const Resolution inner, resolve_inner((*parts)[count++], part, depth + 1));
      if (inner.kind != Kind::taken) return bad("a sparse tensor with a part that is no tensor");
    }
    if (!size) size = at(*parts, count);
    const auto dims = size ? content_.tuple(*size) : std::nullopt;
    if (!dims || dims->size() > max_rank) return bad("a sparse tensor without a size");
    std::vector<std::uint64_t> shape;
    for (const PickleValue dim : *dims) shape.push_back(content_.size(dim).value_or(0));
    return taken_with_note("a " + std::string(layout) +
                           " tensor, listed as its parts; its shape is " +
                           Shape(shape).to_string());
  }
  return skipped("a sparse tensor of a layout that we do not know: " + std::string(layout));
}

Result<Resolution> TensorResolver::nested(const Call& call, PartSink& sink, unsigned depth) {
  constexpr std::string_view names[] = {".values", ".sizes", ".strides", ".offsets"};
  if (call.args.size() < std::size(names)) return bad("a nested tensor with too few parts");
  for (std::size_t i = 0; i < std::size(names); ++i) {
    PartOf part(sink, names[i]);
    ANDIRON_ASSIGN(const Resolution inner, resolve_inner(call.args[i], part, depth + 1));
    if (inner.kind != Kind::taken) return bad("a nested tensor with a part that is no tensor");
  }
  return taken_with_note("a nested tensor, listed as its parts");
}

Result<Resolution> TensorResolver::jagged(const Call& call, PartSink& sink, unsigned depth) {
  bool has_values = false;
  if (!call.args.empty() && call.args[0].kind == PickleKind::dict &&
      content_.graph().pairs(call.args[0]).size() > most_metadata) {
    return bad("a nested tensor with too many parts");
  }
  for (const std::string_view name : {"values", "offsets", "lengths"}) {
    const auto value = call.args.empty() ? std::nullopt : content_.entry(call.args[0], name);
    if (!value || value->kind == PickleKind::none) continue;
    const std::string part_name = "." + std::string(name);
    PartOf part(sink, part_name);
    ANDIRON_ASSIGN(const Resolution inner, resolve_inner(*value, part, depth + 1));
    if (inner.kind != Kind::taken) return bad("a nested tensor with a part that is no tensor");
    has_values = true;
  }
  if (!has_values) return bad("a nested tensor without values");
  return taken_with_note("a nested tensor, listed as its parts");
}

Result<Resolution> TensorResolver::array(PickleValue value, PartSink& sink) {
  if (!takes_arrays_) {
    ANDIRON_ASSIGN(const NumpyArray read, numpy_array(content_, value, limits_));
    if (!read.objects && read.refused.empty()) {
      return skipped("a NumPy array beside PyTorch's tensors (OpenOptions::numpy_arrays)");
    }
  }
  return from_numpy(value, {}, sink);
}

Result<Resolution> TensorResolver::from_numpy(PickleValue array, PickleValue dtype,
                                              PartSink& sink) {
  const Callable callable = content_.callable_of(array);
  if (callable != Callable::numpy_array && callable != Callable::numpy_buffer) {
    return bad("a tensor made of no array");
  }
  ANDIRON_ASSIGN(NumpyArray read, numpy_array(content_, array, limits_));
  if (read.objects) return Resolution{.kind = Kind::shell, .state = *read.objects};
  if (!read.refused.empty()) return skipped(read.refused);
  // NumPy has no bfloat16: such tensors are stored as wider ones.
  if (dtype.kind == PickleKind::global) {
    const std::string_view name = content_.graph().global(dtype).name;
    read.tensor.converted = torch_dtype(name);
    if (read.tensor.converted == nullptr) {
      return skipped("a dtype that we do not know: " + std::string(name));
    }
  }
  return take("", read.tensor, sink);
}

// Before 0.4: an empty tensor of a class, whose state is what later became arguments.
Result<Resolution> TensorResolver::old_tensor(const Call& call, PartSink& sink) {
  const auto state = call.state ? content_.tuple(*call.state) : std::nullopt;
  if (!state || state->size() < 4) return skipped("a tensor without data");
  return plain(state->first(4), nullptr, {}, sink);
}

// A storage without a tensor is one of one dimension. Classes are named by persistent ids too.
Result<Resolution> TensorResolver::bare_storage(PickleValue value, PartSink& sink) {
  if (value.kind == PickleKind::persistent) {
    const PickleValue id = content_.graph().persistent_id(value);
    std::string key;
    if (id.kind != PickleKind::tuple) append_python_str(key, content_.graph(), id);
    if (const TorchTensor* tensor = finder_.tensor(key)) {
      TorchTensor copy = *tensor;
      return take("", copy, sink);
    }
    if (id.kind == PickleKind::tuple) {
      const auto items = content_.graph().tuple(id);
      if (items.empty() || content_.text(items[0]) != "storage") return Resolution();
    }
  }
  TorchTensor tensor;
  ANDIRON_TRY(storages_.resolve(value, tensor.storage));
  tensor.type = tensor.storage.type;
  tensor.big_endian = big_endian_ && tensor.storage.home != Storage::Home::pickle;
  tensor.rank = 1;
  tensor.shape[0] = tensor.storage.bytes / tensor.type->bytes;
  tensor.strides[0] = 1;
  return take("", tensor, sink);
}

}  // namespace andiron::inline v1::detail
