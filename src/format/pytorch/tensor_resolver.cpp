// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_resolver_test.cpp
#include "src/format/pytorch/tensor_resolver.h"

#include "src/core/try.h"
#include "src/format/pytorch/pickled_numpy.h"
#include "src/format/pytorch/python_text.h"

namespace andiron::inline v1::detail {
namespace {

// Wrappers around wrappers: a parameter of a subclass of a tensor of another device.
constexpr unsigned most_tensor_wrappers = 16;

// None where there are fewer.
PickleValue at(std::span<const PickleValue> values, std::size_t index) {
  return index < values.size() ? values[index] : PickleValue();
}

// Whether tensors that are made so are listed as their parts.
bool makes_parts(Callable callable) {
  return callable == Callable::rebuild_quantized || callable == Callable::rebuild_sparse ||
         callable == Callable::rebuild_nested || callable == Callable::rebuild_jagged;
}

}  // namespace

bool TensorResolver::is_tensor(PickleValue value) const {
  if (value.kind == PickleKind::persistent) return true;
  const Callable callable = content_.callable_of(value);
  return makes_tensor(callable) || callable == Callable::load_from_bytes;
}

Status TensorResolver::resolve(PickleValue value, Resolution& out) {
  // Nearly all tensors, without a way around: nothing wraps them, nothing was added to them.
  if (content_.callable_of(value) == Callable::rebuild_tensor_v2 &&
      content_.graph().is_as_made(value)) {
    const std::span<const PickleValue> args = content_.args(value);
    return plain(args, nullptr, at(args, 6), out);
  }
  return resolve_inner(value, out);
}

Status TensorResolver::resolve_inner(PickleValue value, Resolution& out) {
  if (value.kind == PickleKind::persistent) return bare_storage(value, out);
  if (value.kind != PickleKind::object) return {};
  const Callable callable = content_.callable_of(value);
  if (callable == Callable::load_from_bytes) return bare_storage(value, out);
  if (!makes_tensor(callable)) return {};
  const PickleGraph& graph = content_.graph();
  if (!graph.is_as_made(value) && (!graph.items(value).empty() || !graph.pairs(value).empty())) {
    return content_.bad("a tensor is filled like a list or a dict");
  }
  if (callable == Callable::numpy_array || callable == Callable::numpy_buffer) {
    return array(value, {}, takes_arrays_, out);
  }
  ANDIRON_TRY(resolve_call({callable, content_.args(value), content_.state(value)}, out));
  // What a state holds beside the tensor is to be told, too.
  const bool is_state_read =
      callable == Callable::tensor_class || callable == Callable::parameter_class;
  if (!out.has_state() && !is_state_read) {
    out.state = content_.state(value).value_or(PickleValue());
  }
  return {};
}

Status TensorResolver::resolve_call(const Call& call, Resolution& out) {
  if (out.wrappers++ > most_tensor_wrappers) return content_.bad("tensors are wrapped too deeply");
  if (out.is_part && makes_parts(call.callable)) {
    return content_.bad("a part of a tensor has parts itself");
  }
  const std::span<const PickleValue> args = call.args;
  switch (call.callable) {
    case Callable::rebuild_tensor:
    case Callable::rebuild_tensor_v2:
      return plain(args, nullptr, at(args, 6), out);
    case Callable::rebuild_tensor_v3: {
      const PickleValue dtype = at(args, 6);
      if (dtype.kind != PickleKind::global) return content_.bad("a tensor has no dtype");
      const std::string_view name = content_.graph().global(dtype).name;
      const ElementType* type = torch_dtype(name);
      if (type == nullptr) return skip("unknown dtype: " + std::string(name), out);
      return plain(args, type, at(args, 7), out);
    }
    case Callable::rebuild_from_tensor: {
      const PickleValue dtype = at(args, 1);
      const ElementType* type = dtype.kind == PickleKind::global
                                    ? torch_dtype(content_.graph().global(dtype).name)
                                    : nullptr;
      if (type == nullptr) return skip("a tensor of an unknown dtype", out);
      ANDIRON_TRY(resolve_inner(args[0], out));
      if (out.kind != Resolution::Kind::taken) return {};
      for (TensorPart& part : out.tensors()) {
        part.tensor.converted = type;
        ANDIRON_TRY(part.tensor.check_view());
      }
      return {};
    }
    case Callable::rebuild_parameter:
      if (args.empty()) return content_.bad("a parameter has no tensor");
      ANDIRON_TRY(resolve_inner(args[0], out));
      if (out.kind == Resolution::Kind::no_tensor)
        return content_.bad("a parameter is not made from a tensor");
      if (!out.has_state()) out.state = at(args, 3);
      return {};
    case Callable::rebuild_from_type:
      return from_type(call, out);
    case Callable::rebuild_wrapper:
      return skip("a tensor object without data", out);
    case Callable::rebuild_quantized:
      return quantized(args, out);
    case Callable::rebuild_sparse:
      return sparse(args, out);
    case Callable::rebuild_nested:
      return nested(args, out);
    case Callable::rebuild_jagged:
      return jagged(args, out);
    case Callable::rebuild_meta:
      return skip("a tensor on the device 'meta', which has no data", out);
    case Callable::rebuild_from_numpy: {
      if (args.empty()) return content_.bad("a tensor has no array");
      const Callable made_by = content_.callable_of(args[0]);
      if (made_by != Callable::numpy_array && made_by != Callable::numpy_buffer) {
        return content_.bad("a tensor is not made from an array");
      }
      return array(args[0], at(args, 1), true, out);
    }
    case Callable::tensor_class: {
      // Before 0.4: an empty tensor of a class, whose state is what later became arguments.
      const auto state = call.state ? content_.tuple(*call.state) : std::nullopt;
      if (!state || state->size() < 4) return skip("a tensor without data", out);
      return plain(state->first(4), nullptr, {}, out);
    }
    case Callable::parameter_class: {
      const auto state = call.state ? content_.tuple(*call.state) : std::nullopt;
      const bool in_state = state && !state->empty() && is_tensor((*state)[0]);
      if (!in_state && args.empty()) return skip("a parameter has no tensor", out);
      return resolve_inner(in_state ? (*state)[0] : args[0], out);
    }
    case Callable::numpy_masked:
      return skip("a masked array, which a tensor cannot represent", out);
    case Callable::uninitialized:
      return skip("a parameter of a lazy module, not initialized yet", out);
    default:
      return {};
  }
}

// A tensor of a class of its own, or with attributes.
Status TensorResolver::from_type(const Call& call, Resolution& out) {
  if (call.args.size() < 3) return content_.bad("a tensor subclass has no arguments");
  const Callable function = content_.callable(call.args[0]);
  const PickleValue state = at(call.args, 3);
  if (function == Callable::rebuild_wrapper) {
    out.kind = Resolution::Kind::shell;
    out.state = state;
    const PickleValue made = call.args[1];
    if (made.kind == PickleKind::global) out.text = content_.graph().global(made).name;
    return {};
  }
  const auto args = content_.tuple(call.args[2]);
  if (!makes_tensor(function) || !args) {
    return skip("a tensor made by an unknown function", out);
  }
  ANDIRON_TRY(resolve_call({function, *args, {}}, out));
  // A jagged tensor has its parts there again.
  if (!out.has_state() && function != Callable::rebuild_jagged) out.state = state;
  return {};
}

Status TensorResolver::plain(std::span<const PickleValue> args, const ElementType* type,
                             PickleValue metadata, Resolution& out) {
  out.whole.tensor.type = type;
  ANDIRON_TRY(set_view(args, out.whole.tensor));
  if (metadata.kind == PickleKind::dict) {
    if (content_.graph().pairs(metadata).size() > most_metadata) {
      return content_.bad("a tensor has too many metadata bits");
    }
    const auto is_set = [&](std::string_view name) {
      const auto bit = content_.entry(metadata, name);
      return bit && content_.integer(*bit).value_or(0) != 0;
    };
    out.whole.tensor.conjugate = is_set("conj");
    out.whole.tensor.negate = is_set("neg");
  }
  return take(out);
}

Status TensorResolver::set_view(std::span<const PickleValue> args, TorchTensor& tensor) {
  if (args.size() < 4) return content_.bad("a tensor lacks its storage, offset, size or stride");
  ANDIRON_TRY(storages_.resolve(args[0], tensor.storage));
  if (tensor.type == nullptr) tensor.type = tensor.storage.type;
  tensor.big_endian = big_endian_ && tensor.storage.home != Storage::Home::pickle;
  const auto offset = content_.size(args[1]);
  const auto dims = content_.tuple(args[2]);
  const auto strides = content_.tuple(args[3]);
  if (!offset || !dims || !strides)
    return content_.bad("the size or stride of a tensor is not a tuple");
  if (dims->size() != strides->size() || dims->size() > max_rank) {
    return content_.bad("a tensor has " + std::to_string(dims->size()) + " dimensions and " +
                        std::to_string(strides->size()) + " strides");
  }
  tensor.offset = *offset;
  tensor.rank = dims->size();
  for (std::size_t d = 0; d < tensor.rank; ++d) {
    const auto dim = content_.size((*dims)[d]);
    const auto stride = content_.integer((*strides)[d]);
    if (!dim || !stride) return content_.bad("a tensor has an invalid dimension");
    tensor.shape[d] = *dim;
    tensor.strides[d] = *stride;
  }
  return {};
}

Status TensorResolver::take(Resolution& out) const {
  const TorchTensor& tensor = out.whole.tensor;
  if (tensor.storage.home == Storage::Home::nowhere) {
    return skip("a tensor on the device 'meta', which has no data", out);
  }
  ANDIRON_TRY(tensor.check());
  if (!tensor.is_run()) {
    // First: a size whose bits do not fit 64 bits is no view.
    if (Status size = tensor.check_size(most_bytes_); !size) {
      if (!lenient_) return size;
      return skip(sentence_of(size.error()), out);
    }
    ANDIRON_TRY(tensor.check_view());
  }
  out.kind = Resolution::Kind::taken;
  return {};
}

Status TensorResolver::array(PickleValue value, PickleValue dtype, bool is_taken, Resolution& out) {
  ANDIRON_ASSIGN(NumpyArray read, numpy_array(content_, value, limits_, out.whole.tensor));
  if (read.objects) {
    out.kind = Resolution::Kind::shell;
    out.state = *read.objects;
    return {};
  }
  if (!read.refused.empty()) return skip(std::move(read.refused), out);
  if (!is_taken) {
    return skip("a NumPy array; " + Message(Advice::numpy_arrays), out);
  }
  // NumPy has no bfloat16: such tensors are stored as wider ones.
  if (dtype.kind == PickleKind::global) {
    const std::string_view name = content_.graph().global(dtype).name;
    out.whole.tensor.converted = torch_dtype(name);
    if (out.whole.tensor.converted == nullptr) {
      return skip("unknown dtype: " + std::string(name), out);
    }
  }
  return take(out);
}

// A storage without a tensor is one of one dimension. Classes are named by persistent ids too.
Status TensorResolver::bare_storage(PickleValue value, Resolution& out) {
  TorchTensor& tensor = out.whole.tensor;
  if (value.kind == PickleKind::persistent) {
    const PickleValue id = content_.graph().persistent_id(value);
    std::string key;
    if (id.kind != PickleKind::tuple) append_python_str(key, content_.graph(), id);
    if (const TorchTensor* named = finder_.tensor(key)) {
      tensor = *named;
      return take(out);
    }
    if (id.kind == PickleKind::tuple) {
      const auto items = content_.graph().tuple(id);
      if (items.empty() || content_.text(items[0]) != "storage") return {};
    }
  }
  ANDIRON_TRY(storages_.resolve(value, tensor.storage));
  tensor.type = tensor.storage.type;
  tensor.big_endian = big_endian_ && tensor.storage.home != Storage::Home::pickle;
  tensor.rank = 1;
  tensor.shape[0] = tensor.storage.bytes / tensor.type->bytes;
  tensor.strides[0] = 1;
  return take(out);
}

}  // namespace andiron::inline v1::detail
