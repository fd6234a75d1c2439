// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that are listed as their parts: quantized, sparse and nested ones.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "src/format/pytorch/tensor_resolver.h"
#include "tests/support/torch_file.h"

namespace andiron {
namespace {

using namespace test;

class PytorchParts : public testing::Test {
 protected:
  Result<Archive> open_value(const Py& value) { return file.open(py::dict({{"t", value}})); }
  Archive opened(const Py& value) { return open_value(value).value(); }

  std::string refusal(const Py& value) {
    const Result<Archive> result = open_value(value);
    if (result) return "accepted";
    EXPECT_EQ(result.error().code, ErrorCode::bad_pickle);
    EXPECT_EQ(result.error().tensor, "t");
    return result.error().message;
  }

  Py longs(const std::vector<std::int64_t>& values, const std::vector<std::int64_t>& shape,
           const std::vector<std::int64_t>& stride) {
    const auto count = static_cast<std::int64_t>(values.size());
    return py::rebuild_tensor_v2(file.storage("LongStorage", memory_of(values), count), 0, shape,
                                 stride);
  }
  Py longs(const std::vector<std::int64_t>& values) {
    return longs(values, {static_cast<std::int64_t>(values.size())}, {1});
  }
  Py doubles(const std::vector<double>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return py::rebuild_tensor_v2(file.storage("DoubleStorage", memory_of(values), count), 0,
                                 {count}, {1});
  }

  // Two rows of three numbers.
  Py quantized(const Py& parameters, const char* storage = "QInt8Storage") {
    return py::rebuild(
        "_rebuild_qtensor",
        {file.storage(storage, std::string("\1\2\3\xff\xfe\xfd"), 6), 0, py::sizes({2, 3}),
         py::sizes({3, 1}), parameters, false, py::ordered_dict()});
  }
  static Py per_channel(const Py& scales, const Py& zero_points, const Py& axis) {
    return py::tuple({py::global("torch", "per_channel_affine"), scales, zero_points, axis});
  }

  static Py layout(const char* name) {
    return py::call(py::global("torch.serialization", "_get_layout"), {name});
  }
  static Py size(const std::vector<std::int64_t>& dims) {
    return py::call(py::global("torch", "Size"), {py::sizes(dims)});
  }

  TorchFile file;
};

TEST_F(PytorchParts, TensorsQuantizedAsAWholeHaveOneScale) {
  const Archive archive =
      opened(quantized(py::tuple({py::global("torch", "per_tensor_affine"), 0.5, -3})));
  EXPECT_EQ(names_of(archive), (Names{"t.int_repr", "t.scale", "t.zero_point"}));
  EXPECT_EQ(values_of<std::int8_t>(archive, "t.int_repr"),
            (std::vector<std::int8_t>{1, 2, 3, -1, -2, -3}));
  EXPECT_EQ(Shape(archive.info(0).shape), Shape({2, 3}));
  EXPECT_EQ(values_of<double>(archive, "t.scale"), (std::vector<double>{0.5}));
  EXPECT_EQ(values_of<std::int64_t>(archive, "t.zero_point"), (std::vector<std::int64_t>{-3}));
  EXPECT_EQ(Shape(archive.info(1).shape), Shape({}));
}

TEST_F(PytorchParts, TensorsQuantizedByChannelHaveAScaleForEach) {
  const Archive with_tensors = opened(quantized(per_channel(doubles({.1, .2}), longs({1, 2}), 0)));
  const Archive with_lists =
      opened(quantized(per_channel(py::list({.1, .2}), py::list({1, 2}), 0)));
  for (const Archive& archive : {with_tensors, with_lists}) {
    EXPECT_EQ(names_of(archive), (Names{"t.int_repr", "t.scale", "t.zero_point"}));
    EXPECT_EQ(values_of<double>(archive, "t.scale"), (std::vector<double>{.1, .2}));
    EXPECT_EQ(values_of<std::int64_t>(archive, "t.zero_point"), (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(Shape(archive.info(1).shape), Shape({2}));
  }
}

TEST_F(PytorchParts, ManyChannelsMayHaveTheirScalesInOneList) {
  const std::int64_t channels = 2500;
  py::Values scales;
  py::Values zero_points;
  for (std::int64_t i = 0; i < channels; ++i) {
    scales.emplace_back(static_cast<double>(i));
    zero_points.emplace_back(i);
  }
  const Py storage = file.storage("QUInt8Storage", std::string(channels, 'x'), channels);
  const Archive archive = opened(py::rebuild(
      "_rebuild_qtensor",
      {storage, 0, py::sizes({channels}), py::sizes({1}),
       per_channel(py::list(scales), py::list(zero_points), 0), false, py::ordered_dict()}));
  EXPECT_EQ(values_of<double>(archive, "t.scale")[2499], 2499.0);
  EXPECT_EQ(values_of<std::int64_t>(archive, "t.zero_point")[2499], 2499);
}

TEST_F(PytorchParts, TensorsThatShareAListOfScalesShareWhatItIsReadAs) {
  const Py scales = py::put(0, py::list({.1, .2}));
  const Py first = quantized(per_channel(scales, py::put(1, py::list({1, 2})), 0));
  const Py second = quantized(per_channel(py::get(0), py::get(1), 0));
  const Archive archive = file.open(py::list({first, second})).value();
  EXPECT_EQ(archive.ties()[4], 1u);
  EXPECT_EQ(archive.ties()[5], 2u);
}

TEST_F(PytorchParts, AnEmptyTensorWithoutChannelsIsQuantizedToo) {
  const Archive archive = opened(
      py::rebuild("_rebuild_qtensor",
                  {file.storage("QInt8Storage", "", 0), 0, py::sizes({0, 3}), py::sizes({3, 1}),
                   per_channel(py::list({}), py::list({}), 0), false, py::ordered_dict()}));
  EXPECT_EQ(Shape(archive.info(1).shape), Shape({0}));
}

TEST_F(PytorchParts, QuantizedTensorsThatDoNotFitTheirParametersAreRefused) {
  const std::string no_fit = "the scales of a quantized tensor do not match its channels";
  const std::string no_scale = "a quantized tensor has no scale or zero point";
  const Py two = py::list({1, 2});
  EXPECT_EQ(refusal(quantized(per_channel(py::list({1.0}), two, 0))), no_fit);
  EXPECT_EQ(refusal(quantized(per_channel(two, py::list({1}), 0))), no_fit);
  EXPECT_EQ(refusal(quantized(per_channel(two, two, 1))), no_fit);
  EXPECT_EQ(refusal(quantized(per_channel(two, two, 2))), no_fit) << "there are two dimensions";
  EXPECT_EQ(refusal(quantized(per_channel(two, two, -1))), no_fit);
  EXPECT_EQ(refusal(quantized(per_channel(doubles({1, 2, 3}), longs({1, 2}), 0))), no_fit);
  EXPECT_EQ(refusal(quantized(per_channel(doubles({1, 2}), longs({1, 2}, {2, 1}, {1, 1}), 0))),
            no_fit);
  const Py affine = py::global("torch", "per_tensor_affine");
  EXPECT_EQ(refusal(quantized(py::tuple({affine, 0.5}))), no_scale);
  EXPECT_EQ(refusal(quantized(nullptr)), no_scale);
  EXPECT_EQ(refusal(quantized(py::tuple({affine, 0.5, 1}), "CharStorage")), no_scale);
  EXPECT_EQ(refusal(quantized(py::tuple({affine, "half", 1}))), "a scale is not a number");
  EXPECT_EQ(refusal(quantized(py::tuple({affine, 0.5, 1.5}))), "a scale is not a number");
}

TEST_F(PytorchParts, SparseTensorsAreNamedByTheirLayout) {
  const Py coo = py::rebuild(
      "_rebuild_sparse_tensor",
      {layout("torch.sparse_coo"),
       py::tuple({longs({0, 1, 2, 0}, {2, 2}, {2, 1}), file.tensor({5, 6}), size({3, 3})})});
  const Archive archive = opened(coo);
  EXPECT_EQ(names_of(archive), (Names{"t.indices", "t.values"}));
  EXPECT_EQ(values_of<std::int64_t>(archive, "t.indices"), (std::vector<std::int64_t>{0, 1, 2, 0}));
  EXPECT_EQ(floats(archive, "t.values"), (std::vector<float>{5, 6}));
  EXPECT_EQ(
      archive.notes(),
      (std::vector<Message>{"'t': a sparse_coo tensor, listed as its parts; its shape is [3, 3]"}));

  const std::pair<const char*, Names> compressed[] = {
      {"torch.sparse_csr", {"t.crow_indices", "t.col_indices", "t.values"}},
      {"torch.sparse_bsr", {"t.crow_indices", "t.col_indices", "t.values"}},
      {"torch.sparse_csc", {"t.ccol_indices", "t.row_indices", "t.values"}},
      {"torch.sparse_bsc", {"t.ccol_indices", "t.row_indices", "t.values"}}};
  for (const auto& [name, parts] : compressed) {
    const Py tensor = py::rebuild("_rebuild_sparse_tensor",
                                  {layout(name), py::tuple({longs({0, 1, 2}), longs({0, 1}),
                                                            file.tensor({5, 6}), size({2, 2})})});
    EXPECT_EQ(names_of(opened(tensor)), parts);
  }
}

TEST_F(PytorchParts, SparseTensorsOfTorchScriptAreToldByNumbers) {
  // torch.jit.save: (layout, size, requires_grad, parts ..., hooks)
  const Py coo = py::rebuild("_rebuild_sparse_tensor",
                             {1, py::sizes({3, 3}), false, longs({0, 1}, {2, 1}, {1, 1}),
                              file.tensor({5}), py::ordered_dict()});
  const Archive archive = opened(coo);
  EXPECT_EQ(names_of(archive), (Names{"t.indices", "t.values"}));
  EXPECT_EQ(
      archive.notes(),
      (std::vector<Message>{"'t': a sparse_coo tensor, listed as its parts; its shape is [3, 3]"}));
  const Py csr =
      py::rebuild("_rebuild_sparse_tensor", {2, py::sizes({1, 2}), false, longs({0, 1}), longs({1}),
                                             file.tensor({5}), py::ordered_dict()});
  EXPECT_EQ(names_of(opened(csr)), (Names{"t.crow_indices", "t.col_indices", "t.values"}));
}

TEST_F(PytorchParts, SparseTensorsOfOtherLayoutsAreSkipped) {
  for (const Py& unknown : {layout("torch.sparse_new"), Py(99), Py(0), Py(nullptr)}) {
    const Archive archive =
        opened(py::rebuild("_rebuild_sparse_tensor", {unknown, py::tuple({1, 2, 3})}));
    ASSERT_EQ(archive.skipped().size(), 1u);
    EXPECT_TRUE(archive.skipped()[0].reason.starts_with("a sparse tensor of an unknown layout"));
  }
}

TEST_F(PytorchParts, SparseTensorsThatLackSomethingAreRefused) {
  const Py coo = layout("torch.sparse_coo");
  const Py indices = longs({0, 1}, {2, 1}, {1, 1});
  const Py values = file.tensor({5});
  const auto made = [](const py::Values& args) {
    return py::rebuild("_rebuild_sparse_tensor", args);
  };
  EXPECT_EQ(refusal(made({coo})), "a sparse tensor has no parts");
  EXPECT_EQ(refusal(made({coo, nullptr})), "a sparse tensor has no parts");
  EXPECT_EQ(refusal(made({coo, py::tuple({indices})})), "a sparse tensor has too few parts");
  EXPECT_EQ(refusal(made({coo, py::tuple({indices, 5, size({3, 3})})})),
            "a sparse tensor has a part that is not a tensor");
  EXPECT_EQ(refusal(made({coo, py::tuple({indices, values})})), "a sparse tensor has no size");
  EXPECT_EQ(refusal(made({coo, py::tuple({indices, values, nullptr})})),
            "a sparse tensor has no size");
  EXPECT_EQ(refusal(made({1, py::sizes({3, 3})})), "a sparse tensor has too few parts");
}

TEST_F(PytorchParts, OfATensorThatLacksSomethingNoneIsListed) {
  const Py half = py::rebuild(
      "_rebuild_sparse_tensor",
      {layout("torch.sparse_coo"), py::tuple({longs({0, 1}, {2, 1}, {1, 1}), 5, size({3, 3})})});
  const Py root = py::dict({{"t", half}, {"w", file.tensor({1})}});
  const Archive archive = file.open(root, {.strictness = Strictness::lenient}).value();
  EXPECT_EQ(names_of(archive), (Names{"w"}));
  ASSERT_EQ(archive.skipped().size(), 1u);
  EXPECT_EQ(archive.skipped()[0].name, "t");
}

TEST_F(PytorchParts, OfATensorWithAPartThatCannotBeReadNoneIsListed) {
  // Nobody negates a truth value.
  const Py flags =
      py::rebuild("_rebuild_tensor_v2",
                  {file.storage("BoolStorage", std::string(1, '\1'), 1), 0, py::sizes({1}),
                   py::sizes({1}), false, nullptr, py::dict({{"neg", true}})});
  const Py half = py::rebuild("_rebuild_sparse_tensor",
                              {layout("torch.sparse_coo"),
                               py::tuple({longs({0, 1}, {2, 1}, {1, 1}), flags, size({3, 3})})});
  const Archive archive =
      file.open(py::dict({{"t", half}}), {.strictness = Strictness::lenient}).value();
  EXPECT_TRUE(archive.empty());
  EXPECT_EQ(archive.skipped().size(), 1u);
}

TEST_F(PytorchParts, NestedTensorsAreTheirBufferAndItsGeometry) {
  const Py nested =
      py::rebuild("_rebuild_nested_tensor", {file.tensor({1, 2, 3}), longs({2, 1}, {2, 1}, {1, 1}),
                                             longs({1, 1}, {2, 1}, {1, 1}), longs({0, 2})});
  const Archive archive = opened(nested);
  EXPECT_EQ(names_of(archive), (Names{"t.values", "t.sizes", "t.strides", "t.offsets"}));
  EXPECT_EQ(archive.notes(), (std::vector<Message>{"'t': a nested tensor, listed as its parts"}));
  EXPECT_EQ(refusal(py::rebuild("_rebuild_nested_tensor", {file.tensor({1})})),
            "a nested tensor has too few parts");
  EXPECT_EQ(refusal(py::rebuild("_rebuild_nested_tensor", {file.tensor({1}), 1, 2, 3})),
            "a nested tensor has a part that is not a tensor");
}

TEST_F(PytorchParts, OfTheRootFollowItsEmptyName) {
  const Archive archive =
      file.open(quantized(py::tuple({py::global("torch", "per_tensor_affine"), 0.5, -3}))).value();
  EXPECT_EQ(names_of(archive), (Names{".int_repr", ".scale", ".zero_point"}));
}

TEST_F(PytorchParts, AreADictInTheTreeOfValues) {
  const Py tensor = quantized(py::tuple({py::global("torch", "per_tensor_affine"), 0.5, -3}));
  const Archive archive = file.open(py::list({tensor, tensor, 5})).value();
  const ValueList* list = archive.value()->get<ValueList>();
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ((*list)[1].find("zero_point")->get<TensorIndex>()->index, 5u);
  EXPECT_EQ(*(*list)[2].get<std::int64_t>(), 5);
  const Archive root = file.open(tensor).value();
  EXPECT_EQ(root.value()->find("scale")->get<TensorIndex>()->index, 1u);
}

}  // namespace
}  // namespace andiron
