// SPDX-License-Identifier: MIT OR Apache-2.0
// Everything that rebuilds a tensor, read without being called.
#include "src/format/pytorch/tensor_resolver.h"

#include <gtest/gtest.h>

#include <complex>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/torch_containers.h"

namespace andiron {
namespace {

using test::six;

using namespace test;

// A storage in a pickle outside of torch.save: a file of its own, as bytes.
Py embedded_storage(const std::vector<float>& values) {
  const TorchView view = {.elements = static_cast<std::int64_t>(values.size()),
                          .storage_view = no_view};
  return py::call(
      py::global("torch.storage", "_load_from_bytes"),
      {py::encoded_bytes(legacy_file(torch_storage(view), {{"0", memory_of(values)}}))});
}

class PytorchResolver : public testing::Test {
 protected:
  // Of a file that holds this and nothing else, under the name "t".
  Archive opened(const Py& value) { return file.open(py::dict({{"t", value}})).value(); }

  // (storage, offset, size, stride) of two rows.
  py::Values two_rows() { return {file.storage(six), 0, py::sizes({2, 3}), py::sizes({3, 1})}; }

  static py::Values with(py::Values args, const py::Values& more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  void expect_two_rows(const Py& value) {
    const Archive archive = opened(value);
    ASSERT_EQ(names_of(archive), (Names{"t"}));
    EXPECT_EQ(Shape(archive.info(0).shape), Shape({2, 3}));
    EXPECT_EQ(floats(archive, "t"), six);
    EXPECT_TRUE(archive.skipped().empty());
  }

  std::string reason(const Py& value) {
    const Archive archive = opened(value);
    EXPECT_TRUE(archive.empty());
    return archive.skipped().size() == 1 ? archive.skipped()[0].reason : "";
  }

  TorchFile file;
};

TEST_F(PytorchResolver, TensorsOfEveryReleaseAreRead) {
  const Py hooks = py::ordered_dict();
  expect_two_rows(py::rebuild("_rebuild_tensor", two_rows()));
  expect_two_rows(py::rebuild("_rebuild_tensor_v2", with(two_rows(), {false, hooks})));
  expect_two_rows(py::rebuild("_rebuild_tensor_v2", with(two_rows(), {true, nullptr})));
  expect_two_rows(py::rebuild("_rebuild_tensor_v2", with(two_rows(), {true, hooks, nullptr})));
  expect_two_rows(py::rebuild("_rebuild_tensor_v2", with(two_rows(), {true, hooks, py::dict({})})));
}

TEST_F(PytorchResolver, TensorsOfTheThirdVersionTellTheirDtypeThemselves) {
  const Py storage = file.storage("UntypedStorage", memory_of<std::uint16_t>({1, 2, 65535}), 6);
  const py::Values args = {storage, 1, py::sizes({2}), py::sizes({1}), false, py::ordered_dict()};
  const Archive archive =
      opened(py::rebuild("_rebuild_tensor_v3", with(args, {py::global("torch", "uint16")})));
  EXPECT_EQ(archive.info(0).dtype, DType::u16);
  EXPECT_EQ(values_of<std::uint16_t>(archive, "t"), (std::vector<std::uint16_t>{2, 65535}));
  EXPECT_EQ(reason(py::rebuild("_rebuild_tensor_v3", with(args, {py::global("torch", "int128")}))),
            "unknown dtype: int128");
}

TEST_F(PytorchResolver, ConjugateAndNegativeBitsAreApplied) {
  const std::vector<std::complex<float>> stored = {{1, 2}, {3, 4}};
  const Py storage = file.storage("ComplexFloatStorage", memory_of(stored), 2);
  const auto with_bits = [&](const Py& bits) {
    const Archive archive =
        opened(py::rebuild("_rebuild_tensor_v2", {storage, 0, py::sizes({2}), py::sizes({1}), false,
                                                  py::ordered_dict(), bits}));
    return values_of<std::complex<float>>(archive, "t");
  };
  using Read = std::vector<std::complex<float>>;
  EXPECT_EQ(with_bits(py::dict({{"conj", true}})), (Read{{1, -2}, {3, -4}}));
  EXPECT_EQ(with_bits(py::dict({{"conj", true}, {"neg", true}})), (Read{{-1, 2}, {-3, 4}}));
  EXPECT_EQ(with_bits(py::dict({{"conj", false}, {"other", true}})), stored);
}

TEST_F(PytorchResolver, SizesMayBeOfTheirOwnClassAndLists) {
  const Py size = py::call(py::global("torch", "Size"), {py::sizes({2, 3})});
  expect_two_rows(py::rebuild("_rebuild_tensor", {file.storage(six), 0, size, py::list({3, 1})}));
  expect_two_rows(py::rebuild("_rebuild_tensor",
                              {file.storage(six), false, py::sizes({2, 3}), py::tuple({3, true})}));
}

TEST_F(PytorchResolver, ParametersAreTheTensorsInThem) {
  const Py tensor = py::rebuild("_rebuild_tensor", two_rows());
  const Py hooks = py::ordered_dict();
  expect_two_rows(py::rebuild("_rebuild_parameter", {tensor, true, hooks}));
  expect_two_rows(py::rebuild("_rebuild_parameter_with_state",
                              {tensor, true, hooks, py::dict({{"note", "text"}})}));
  const Py twice = py::rebuild("_rebuild_parameter", {tensor, true, hooks});
  expect_two_rows(py::rebuild("_rebuild_parameter", {twice, true, hooks}));
}

TEST_F(PytorchResolver, TensorsAmongTheAttributesOfATensorAreSkipped) {
  const Py state = py::dict({{"grad_ema", file.tensor({9})}, {"step", 5}});
  const Archive archive = opened(py::rebuild("_rebuild_parameter_with_state",
                                             {file.tensor({1}), true, py::ordered_dict(), state}));
  EXPECT_EQ(names_of(archive), (Names{"t"}));
  EXPECT_EQ(skipped_in(archive), (Names{"t.grad_ema: an attribute of a tensor"}));
}

TEST_F(PytorchResolver, SubclassesAreTheTensorsThatTheyWrap) {
  const Py function = py::global("torch._utils", "_rebuild_tensor_v2");
  const Py args = py::tuple(with(two_rows(), {false, py::ordered_dict()}));
  for (const char* name : {"_rebuild_from_type", "_rebuild_from_type_v2"}) {
    expect_two_rows(py::call(py::global("torch._tensor", name),
                             {function, py::global("mine", "Special"), args, py::dict({})}));
  }
  const Py slots = py::tuple({nullptr, py::dict({{"extra", file.tensor({9})}})});
  const Archive archive = opened(py::call(py::global("torch._tensor", "_rebuild_from_type_v2"),
                                          {function, py::global("mine", "Special"), args, slots}));
  EXPECT_EQ(names_of(archive), (Names{"t"}));
  EXPECT_EQ(skipped_in(archive), (Names{"t.extra: an attribute of a tensor"}));
}

TEST_F(PytorchResolver, SubclassesMadeByOtherFunctionsAreSkipped) {
  EXPECT_EQ(reason(py::call(py::global("torch._tensor", "_rebuild_from_type_v2"),
                            {py::global("mine", "make"), py::global("mine", "Special"),
                             py::tuple(two_rows()), py::dict({})})),
            "a tensor made by an unknown function");
}

TEST_F(PytorchResolver, ShellsGiveUpTheTensorsInTheirState) {
  const Py function = py::global("torch._utils", "_rebuild_wrapper_subclass");
  const Py kind = py::global("torchao.quantization", "AffineQuantizedTensor");
  const Py args = py::tuple({kind, py::global("torch", "float32"), py::sizes({2}), py::sizes({1}),
                             0, py::global("torch", "strided"), "cpu", false});
  const Py state = py::dict({{"data", file.tensor({1})}, {"scale", file.tensor({2})}, {"n", 3}});
  const Py shell =
      py::call(py::global("torch._tensor", "_rebuild_from_type_v2"), {function, kind, args, state});
  EXPECT_EQ(names_of(opened(shell)), (Names{"t.data", "t.scale"}));
  const Py parameter = py::rebuild("_rebuild_parameter", {shell, true, py::ordered_dict()});
  EXPECT_EQ(names_of(opened(parameter)), (Names{"t.data", "t.scale"}));
  EXPECT_EQ(reason(py::rebuild("_rebuild_wrapper_subclass", {kind})),
            "a tensor object without data");
}

TEST_F(PytorchResolver, DistributedTensorsAreThePartThatIsHere) {
  const Py kind = py::global("torch.distributed.tensor", "DTensor");
  for (const bool slots : {false, true}) {
    const Py attributes = py::dict({{"_local_tensor", file.tensor({1, 2})}, {"_spec", nullptr}});
    const Py state = slots ? py::tuple({attributes, py::dict({})}) : attributes;
    const Archive archive = opened(py::call(
        py::global("torch._tensor", "_rebuild_from_type_v2"),
        {py::global("torch._utils", "_rebuild_wrapper_subclass"), kind, py::tuple({kind}), state}));
    EXPECT_EQ(names_of(archive), (Names{"t"}));
    EXPECT_EQ(floats(archive, "t"), (std::vector<float>{1, 2}));
    ASSERT_EQ(archive.notes().size(), 1u);
    EXPECT_EQ(archive.notes()[0], "'t': this rank's part of a distributed tensor");
  }
}

TEST_F(PytorchResolver, TensorsOfOtherDevicesAreUnwrapped) {
  expect_two_rows(py::rebuild("_rebuild_device_tensor_from_cpu_tensor",
                              {py::rebuild("_rebuild_tensor", two_rows()),
                               py::global("torch", "float32"), "xla:0", false}));
  for (const char* function : {"_rebuild_device_tensor_from_numpy", "_rebuild_xla_tensor"}) {
    const Py array =
        py::numpy_array(py::numpy_dtype("f4"), {2, 3}, py::encoded_bytes(memory_of(six)));
    expect_two_rows(py::rebuild(function, {array, py::global("torch", "float32"), "xla:0", false}));
  }
}

TEST_F(PytorchResolver, TensorsOfOtherDevicesHaveTheDtypeThatTheyAreTold) {
  // NumPy has no bfloat16: torch stored such tensors as float32.
  const Py array =
      py::numpy_array(py::numpy_dtype("f4"), {2, 3}, py::encoded_bytes(memory_of(six)));
  const Archive archive =
      opened(py::rebuild("_rebuild_device_tensor_from_numpy",
                         {array, py::global("torch", "bfloat16"), "xla:0", false}));
  EXPECT_EQ(archive.info(0).dtype, DType::bf16);
  EXPECT_EQ(archive.info(0).byte_size, 12u);
  EXPECT_EQ(to_float(values_of<BFloat16>(archive, "t")[5]), 5.0f);
}

TEST_F(PytorchResolver, TensorsWithoutDataAreSkippedWithTheReason) {
  const std::string on_meta = "a tensor on the device 'meta', which has no data";
  EXPECT_EQ(
      reason(py::rebuild("_rebuild_meta_tensor_no_storage",
                         {py::global("torch", "float32"), py::sizes({2}), py::sizes({1}), false})),
      on_meta);
  EXPECT_EQ(
      reason(py::rebuild_tensor_v2(py::storage("FloatStorage", "99", 6, "meta"), 0, {6}, {1})),
      on_meta);
  const std::string lazy = "a parameter of a lazy module, not initialized yet";
  for (const char* name : {"UninitializedParameter", "UninitializedBuffer"}) {
    EXPECT_EQ(reason(py::call(py::global("torch.nn.parameter", name), {true})), lazy);
  }
}

TEST_F(PytorchResolver, TensorsBeforeTheFourthReleaseHaveTheirStorageInTheirState) {
  for (const char* name : {"FloatTensor", "Tensor"}) {
    expect_two_rows(py::with_state(py::call(py::global("torch", name)), py::tuple(two_rows())));
    expect_two_rows(
        py::with_state(py::new_object(py::global("torch", name)), py::tuple(two_rows())));
  }
  expect_two_rows(
      py::with_state(py::call(py::global("torch.cuda", "FloatTensor")), py::tuple(two_rows())));
  EXPECT_EQ(reason(py::call(py::global("torch", "FloatTensor"))), "a tensor without data");
}

TEST_F(PytorchResolver, OldParametersHaveTheirTensorFirst) {
  const Py kind = py::global("torch.nn.parameter", "Parameter");
  const Py tensor = py::rebuild("_rebuild_tensor", two_rows());
  const Py state = py::tuple({tensor, nullptr, py::ordered_dict(), true, false});
  expect_two_rows(py::with_state(py::call(kind), state));
  expect_two_rows(py::with_state(py::new_object(kind), state));
  expect_two_rows(py::with_state(py::call(kind, {tensor, true}),
                                 py::tuple({true, nullptr, py::ordered_dict()})));
  expect_two_rows(
      py::with_state(py::call(py::global("torch.autograd.variable", "Variable")), state));
  EXPECT_EQ(reason(py::call(kind)), "a parameter has no tensor");
}

TEST_F(PytorchResolver, StoragesByThemselvesAreTensorsOfOneDimension) {
  const Archive archive =
      file.open(py::list({file.storage(six),
                          file.storage("LongStorage", memory_of<std::int64_t>({7}), 1)}))
          .value();
  EXPECT_EQ(names_of(archive), (Names{"0", "1"}));
  EXPECT_EQ(Shape(archive.info(0).shape), Shape({6}));
  EXPECT_EQ(floats(archive, "0"), six);
  EXPECT_EQ(values_of<std::int64_t>(archive, "1"), (std::vector<std::int64_t>{7}));
}

TEST_F(PytorchResolver, StoragesThatTheWriterInCppNamesAreKnown) {
  const Py storage = file.storage("UInt16Storage", memory_of<std::uint16_t>({5, 6}), 2);
  const Archive archive = opened(py::rebuild_tensor_v2(storage, 0, {2}, {1}));
  EXPECT_EQ(values_of<std::uint16_t>(archive, "t"), (std::vector<std::uint16_t>{5, 6}));
}

TEST_F(PytorchResolver, PicklesOutsideOfTorchSaveHoldTheirStorages) {
  const Py storage = py::put(0, embedded_storage(six));
  const Archive archive =
      open_pickle(py::dict({{"a", py::rebuild_tensor_v2(storage, 0, {2, 3}, {3, 1})},
                            {"b", py::rebuild_tensor_v2(py::get(0), 3, {3}, {1})},
                            {"c", py::get(0)},
                            {"d", py::rebuild_tensor_v2(py::get(0), 0, {2, 3}, {3, 1})}}))
          .value();
  EXPECT_EQ(floats(archive, "a"), six);
  EXPECT_EQ(floats(archive, "b"), (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(floats(archive, "c"), six);
  EXPECT_EQ(archive.ties()[3], 0u) << "one storage is read once";
}

TEST_F(PytorchResolver, ViewsOfTheOldestFilesArePartsOfAStorage) {
  const Py tensor = torch_tensor(
      {.shape = {2}, .offset = 1, .elements = 6, .storage_view = py::tuple({"view", 2, 3})});
  const Archive archive = open_text(legacy_file(tensor, {{"0", memory_of(six)}})).value();
  EXPECT_EQ(archive.packaging(), "legacy");
  EXPECT_EQ(floats(archive, ""), (std::vector<float>{3, 4}));
}

TEST_F(PytorchResolver, TensorsOfOneStorageAreTied) {
  const Py storage = py::put(0, file.storage(six));
  const Archive archive =
      file.open(py::dict({{"a", py::put(1, py::rebuild_tensor_v2(storage, 0, {6}, {1}))},
                          {"b", py::get(1)},
                          {"c", py::rebuild_tensor_v2(py::get(0), 0, {6}, {1})},
                          {"d", py::rebuild_tensor_v2(py::get(0), 0, {2, 3}, {3, 1})},
                          {"e", py::rebuild_tensor_v2(py::get(0), 0, {3, 2}, {1, 3})},
                          {"f", py::rebuild_tensor_v2(py::get(0), 0, {3, 2}, {1, 3})},
                          {"g", py::rebuild_tensor_v2(py::get(0), 0, {3}, {1})}}))
          .value();
  using Ties = std::vector<std::optional<std::size_t>>;
  EXPECT_EQ(archive.ties(), (Ties{{}, 0, 0, {}, {}, 4, {}}));
}

TEST_F(PytorchResolver, BigEndianFilesAreSwapped) {
  const Py storage = file.storage("ShortStorage", "\1\2\3\4", 2);
  const std::string zip = file.zip(py::rebuild_tensor_v2(storage, 0, {2}, {1}), "big");
  const Archive archive = open(source_of(zip)).value();
  EXPECT_EQ(values_of<std::int16_t>(archive, ""), (std::vector<std::int16_t>{0x0102, 0x0304}));
}

}  // namespace
}  // namespace andiron
