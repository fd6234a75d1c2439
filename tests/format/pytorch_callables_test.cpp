// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/pytorch/callables.h"

#include <gtest/gtest.h>

#include "tests/support/pickle_document.h"

namespace andiron::detail {
namespace {

using namespace test;

TEST(PytorchCallables, FunctionsThatRebuildTensorsAreKnown) {
  const std::pair<const char*, Callable> known[] = {
      {"_rebuild_tensor", Callable::rebuild_tensor},
      {"_rebuild_tensor_v2", Callable::rebuild_tensor_v2},
      {"_rebuild_tensor_v3", Callable::rebuild_tensor_v3},
      {"_rebuild_parameter", Callable::rebuild_parameter},
      {"_rebuild_parameter_with_state", Callable::rebuild_parameter},
      {"_rebuild_wrapper_subclass", Callable::rebuild_wrapper},
      {"_rebuild_qtensor", Callable::rebuild_quantized},
      {"_rebuild_sparse_tensor", Callable::rebuild_sparse},
      {"_rebuild_sparse_csr_tensor", Callable::rebuild_sparse},
      {"_rebuild_nested_tensor", Callable::rebuild_nested},
      {"_rebuild_meta_tensor_no_storage", Callable::rebuild_meta},
      {"_rebuild_device_tensor_from_cpu_tensor", Callable::rebuild_from_tensor},
      {"_rebuild_device_tensor_from_numpy", Callable::rebuild_from_numpy},
      {"_rebuild_xla_tensor", Callable::rebuild_from_numpy},
      {"_rebuild_something_else", Callable::other},
  };
  for (const auto& [name, callable] : known) {
    EXPECT_EQ(callable_named({"torch._utils", name}), callable) << name;
    EXPECT_EQ(callable_named({"my._utils", name}), Callable::other) << name;
  }
}

TEST(PytorchCallables, SubclassesOfTensorsAreRebuiltFromTwoPlaces) {
  for (const char* module : {"torch._tensor", "torch.tensor"}) {
    EXPECT_EQ(callable_named({module, "_rebuild_from_type"}), Callable::rebuild_from_type);
    EXPECT_EQ(callable_named({module, "_rebuild_from_type_v2"}), Callable::rebuild_from_type);
  }
}

TEST(PytorchCallables, ModulesOfPython2HaveTodaysMeaning) {
  EXPECT_EQ(callable_named({"__builtin__", "set"}), Callable::sequence_class);
  EXPECT_EQ(callable_named({"builtins", "set"}), Callable::sequence_class);
  EXPECT_EQ(callable_named({"__builtin__", "bytearray"}), Callable::bytes_class);
  EXPECT_EQ(callable_named({"copy_reg", "_reconstructor"}), Callable::reconstructor);
  EXPECT_EQ(callable_named({"copyreg", "_reconstructor"}), Callable::reconstructor);
  EXPECT_EQ(callable_named({"copyreg", "__newobj__"}), Callable::new_object);
}

TEST(PytorchCallables, NumPyIsKnownBeforeAndSinceItsSecondVersion) {
  for (const char* module : {"numpy.core.multiarray", "numpy._core.multiarray"}) {
    EXPECT_EQ(callable_named({module, "_reconstruct"}), Callable::numpy_array);
    EXPECT_EQ(callable_named({module, "scalar"}), Callable::numpy_scalar);
  }
  EXPECT_EQ(callable_named({"numpy.core.numeric", "_frombuffer"}), Callable::numpy_buffer);
  EXPECT_EQ(callable_named({"numpy._core.numeric", "_frombuffer"}), Callable::numpy_buffer);
  EXPECT_EQ(callable_named({"numpy", "dtype"}), Callable::numpy_dtype);
}

TEST(PytorchCallables, OldClassesOfTensorsAreThoseOfTorchAndItsGpus) {
  EXPECT_EQ(callable_named({"torch", "FloatTensor"}), Callable::tensor_class);
  EXPECT_EQ(callable_named({"torch.cuda", "HalfTensor"}), Callable::tensor_class);
  EXPECT_EQ(callable_named({"torch", "Tensor"}), Callable::tensor_class);
  EXPECT_EQ(callable_named({"torch.sparse", "FloatTensor"}), Callable::other);
  EXPECT_EQ(callable_named({"torch", "FunnyTensor"}), Callable::other);
  EXPECT_EQ(callable_named({"mine", "FloatTensor"}), Callable::other);
  EXPECT_EQ(callable_named({"torch.nn.parameter", "Parameter"}), Callable::parameter_class);
  EXPECT_EQ(callable_named({"torch.autograd.variable", "Variable"}), Callable::parameter_class);
  EXPECT_EQ(callable_named({"torch.nn.parameter", "UninitializedParameter"}),
            Callable::uninitialized);
}

TEST(PytorchCallables, WhatMightDoHarmIsOneOfTheOthers) {
  EXPECT_EQ(callable_named({"posix", "system"}), Callable::other);
  EXPECT_EQ(callable_named({"builtins", "eval"}), Callable::other);
  EXPECT_EQ(callable_named({"", ""}), Callable::other);
}

TEST(PytorchCallables, AreFoundForTheValuesOfAGraph) {
  const auto content = content_of(
      py::tuple({py::global("collections", "OrderedDict"), py::global("posix", "system"), "text"}));
  const auto values = content->graph().tuple(content->graph().root());
  const Callables callables(content->graph());
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(callables.of(values[0]), Callable::dict_class);
    EXPECT_EQ(callables.of(values[1]), Callable::other);
    EXPECT_EQ(callables.of(values[2]), Callable::other);
  }
}

}  // namespace
}  // namespace andiron::detail
