// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions and classes in PyTorch files that we understand. None is ever called: the result is
// read from the arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "src/codec/pickle/graph.h"

namespace andiron::inline v1::detail {

enum class Callable : std::uint8_t {
  other,
  // Python
  dict_class,      // OrderedDict and the like: takes pairs, then has items set
  sequence_class,  // list, set, deque, torch.Size ...: takes what it holds
  bytes_class,     // bytes, bytearray
  encode,          // _codecs.encode: how bytes are spelled up to protocol 2
  new_object,      // copyreg.__newobj__(class, ...)
  reconstructor,   // copyreg._reconstructor(class, base, content)
  // OmegaConf
  config_node,  // DictConfig, ListConfig, AnyNode ...: what it holds is in its state
  // PyTorch, in the order of formats
  rebuild_tensor,       // (storage, offset, size, stride)
  rebuild_tensor_v2,    // (... requires_grad, hooks[, metadata])
  rebuild_tensor_v3,    // (... requires_grad, hooks, dtype[, metadata])
  rebuild_parameter,    // (tensor, requires_grad, hooks[, state])
  rebuild_from_type,    // (function, class, arguments, state)
  rebuild_wrapper,      // (class, dtype, size ...): a shell, whose tensors are its state
  rebuild_quantized,    // (storage, offset, size, stride, parameters, requires_grad, hooks)
  rebuild_sparse,       // (layout, (parts))
  rebuild_nested,       // (buffer, sizes, strides, offsets)
  rebuild_jagged,       // ({"values", "offsets" ...},)
  rebuild_meta,         // (dtype, size, stride, requires_grad): no data
  rebuild_from_tensor,  // (tensor, dtype, device, requires_grad)
  rebuild_from_numpy,   // (array, dtype, device, requires_grad)
  tensor_class,         // before 0.4: (), then the state (storage, offset, size, stride)
  parameter_class,      // before 1.0: the tensor is the first item of the state
  uninitialized,        // parameters of lazy modules
  load_from_bytes,      // a storage outside of torch.save: a whole file of its own in bytes
  get_layout,           // ("torch.sparse_coo",)
  script_list,          // torch.jit._pickle.build_intlist and the like
  script_type_tag,      // torch.jit._pickle.restore_type_tag(value, type)
  // NumPy
  numpy_array,   // _reconstruct(...), then the state
  numpy_buffer,  // _frombuffer(buffer, dtype, shape, order)
  numpy_masked,  // an array with a mask
  numpy_scalar,  // (dtype, bytes)
  numpy_dtype,   // (code, ...), then the state
};

Callable callable_named(const PickleGlobal& global);

// Whether a call makes a tensor, or an array, which is one here.
constexpr bool makes_tensor(Callable callable) noexcept {
  return (callable >= Callable::rebuild_tensor && callable <= Callable::uninitialized) ||
         (callable >= Callable::numpy_array && callable <= Callable::numpy_masked);
}

// What the globals of one graph are, found once for each.
class Callables {
 public:
  explicit Callables(const PickleGraph& graph) : graph_(graph) {}
  // Callable::other for what is no global.
  Callable of(PickleValue value) const {
    if (value.kind != PickleKind::global) return Callable::other;
    if (value.index < known_.size() && known_[value.index].looked_up) {
      return known_[value.index].callable;
    }
    return look_up(value);
  }

 private:
  Callable look_up(PickleValue global) const;

  const PickleGraph& graph_;
  struct Known {
    bool looked_up = false;
    Callable callable = Callable::other;
  };
  mutable std::vector<Known> known_;
};

}  // namespace andiron::inline v1::detail
