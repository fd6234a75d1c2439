// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_callables_test.cpp
#include "src/format/pytorch/callables.h"

#include <algorithm>

#include "src/format/pytorch/element_type.h"

namespace andiron::inline v1::detail {
namespace {

struct Named {
  std::string_view module;
  std::string_view name;
  Callable callable;
};

// Modules of Python 2 come first where they have another name.
constexpr Named table[] = {
    {"collections", "OrderedDict", Callable::dict_class},
    {"collections", "defaultdict", Callable::dict_class},
    {"collections", "Counter", Callable::dict_class},
    {"builtins", "dict", Callable::dict_class},
    {"builtins", "list", Callable::sequence_class},
    {"builtins", "tuple", Callable::sequence_class},
    {"builtins", "set", Callable::sequence_class},
    {"builtins", "frozenset", Callable::sequence_class},
    {"collections", "deque", Callable::sequence_class},
    {"torch", "Size", Callable::sequence_class},
    {"builtins", "bytes", Callable::bytes_class},
    {"builtins", "bytearray", Callable::bytes_class},
    {"_codecs", "encode", Callable::encode},
    {"copyreg", "__newobj__", Callable::new_object},
    {"copyreg", "_reconstructor", Callable::reconstructor},
    {"torch._utils", "_rebuild_tensor", Callable::rebuild_tensor},
    {"torch._utils", "_rebuild_tensor_v2", Callable::rebuild_tensor_v2},
    {"torch._utils", "_rebuild_tensor_v3", Callable::rebuild_tensor_v3},
    {"torch._utils", "_rebuild_parameter", Callable::rebuild_parameter},
    {"torch._utils", "_rebuild_parameter_with_state", Callable::rebuild_parameter},
    {"torch._utils", "_rebuild_wrapper_subclass", Callable::rebuild_wrapper},
    {"torch._utils", "_rebuild_qtensor", Callable::rebuild_quantized},
    {"torch._utils", "_rebuild_sparse_tensor", Callable::rebuild_sparse},
    {"torch._utils", "_rebuild_sparse_csr_tensor", Callable::rebuild_sparse},
    {"torch._utils", "_rebuild_nested_tensor", Callable::rebuild_nested},
    {"torch.nested._internal.nested_tensor", "_rebuild_njt", Callable::rebuild_jagged},
    {"torch._utils", "_rebuild_meta_tensor_no_storage", Callable::rebuild_meta},
    {"torch._utils", "_rebuild_device_tensor_from_cpu_tensor", Callable::rebuild_from_tensor},
    {"torch._utils", "_rebuild_device_tensor_from_numpy", Callable::rebuild_from_numpy},
    {"torch._utils", "_rebuild_xla_tensor", Callable::rebuild_from_numpy},
    {"torch._tensor", "_rebuild_from_type", Callable::rebuild_from_type},
    {"torch._tensor", "_rebuild_from_type_v2", Callable::rebuild_from_type},
    {"torch.tensor", "_rebuild_from_type", Callable::rebuild_from_type},
    {"torch.tensor", "_rebuild_from_type_v2", Callable::rebuild_from_type},
    {"torch", "Tensor", Callable::tensor_class},
    {"torch.nn.parameter", "Parameter", Callable::parameter_class},
    {"torch.nn.parameter", "Buffer", Callable::parameter_class},
    {"torch.autograd.variable", "Variable", Callable::parameter_class},
    {"torch.nn.parameter", "UninitializedParameter", Callable::uninitialized},
    {"torch.nn.parameter", "UninitializedBuffer", Callable::uninitialized},
    {"torch.storage", "_load_from_bytes", Callable::load_from_bytes},
    {"torch.serialization", "_get_layout", Callable::get_layout},
    {"torch.jit._pickle", "build_intlist", Callable::script_list},
    {"torch.jit._pickle", "build_tensorlist", Callable::script_list},
    {"torch.jit._pickle", "build_doublelist", Callable::script_list},
    {"torch.jit._pickle", "build_boollist", Callable::script_list},
    {"torch.jit._pickle", "restore_type_tag", Callable::script_type_tag},
    {"numpy.core.multiarray", "_reconstruct", Callable::numpy_array},
    {"numpy.core.numeric", "_frombuffer", Callable::numpy_buffer},
    {"numpy.ma.core", "_mareconstruct", Callable::numpy_masked},
    {"numpy.core.multiarray", "scalar", Callable::numpy_scalar},
    {"numpy", "dtype", Callable::numpy_dtype},
};

// The module's name today, of those that were renamed.
std::string_view todays_module(std::string_view module) {
  constexpr std::string_view renamed[][2] = {
      {"__builtin__", "builtins"},
      {"copy_reg", "copyreg"},
      {"numpy._core.multiarray", "numpy.core.multiarray"},
      {"numpy._core.numeric", "numpy.core.numeric"},
  };
  for (const auto& [before, now] : renamed) {
    if (module == before) return now;
  }
  return module;
}

}  // namespace

Callable callable_named(const PickleGlobal& global) {
  const std::string_view module = todays_module(global.module);
  const auto found = std::find_if(std::begin(table), std::end(table), [&](const Named& named) {
    return named.name == global.name && named.module == module;
  });
  if (found != std::end(table)) return found->callable;
  const bool is_of_torch = module == "torch" || module == "torch.cuda";
  if (is_of_torch && tensor_class_elements(global.name) != nullptr) return Callable::tensor_class;
  return module.starts_with("omegaconf.") ? Callable::config_node : Callable::other;
}

Callable Callables::look_up(PickleValue global) const {
  if (global.index >= known_.size()) known_.resize(global.index + 1);
  known_[global.index] = {true, callable_named(graph_.global(global))};
  return known_[global.index].callable;
}

}  // namespace andiron::inline v1::detail
