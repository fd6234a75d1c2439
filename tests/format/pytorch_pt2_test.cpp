// SPDX-License-Identifier: MIT OR Apache-2.0
// The weights of torch.export.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

using Floats = std::vector<float>;
using OrderedJson = nlohmann::ordered_json;

constexpr int float32 = 7;  // as torch.export counts dtypes

OrderedJson sizes_of(const std::vector<std::int64_t>& numbers) {
  OrderedJson list = OrderedJson::array();
  for (const std::int64_t number : numbers) list.push_back({{"as_int", number}});
  return list;
}

OrderedJson weight(const std::string& record, const std::vector<std::int64_t>& sizes,
                   const std::vector<std::int64_t>& strides, std::int64_t offset = 0,
                   int dtype = float32) {
  return {{"path_name", record},
          {"is_param", true},
          {"use_pickle", false},
          {"tensor_meta",
           {{"dtype", dtype},
            {"sizes", sizes_of(sizes)},
            {"strides", sizes_of(strides)},
            {"storage_offset", {{"as_int", offset}}},
            {"requires_grad", false}}}};
}

std::vector<ZipItem> export_records(const std::string& config,
                                    const std::string& folder = "model/") {
  return {torch_item(folder + "archive_format", "pt2"),
          torch_item(folder + "archive_version", "0"),
          torch_item(folder + "models/model.json", "{}"),
          torch_item(folder + "data/weights/model_weights_config.json", config),
          torch_item(folder + "data/weights/weight_0", memory_of<float>({1, 2, 3, 4})),
          torch_item(folder + "data/weights/weight_1", "abc"),
          torch_item(folder + ".data/version", "6\n")};
}

std::string export_file(const OrderedJson& weights) {
  return zip_file(export_records(OrderedJson{{"config", weights}}.dump()));
}

TEST(PytorchPt2, ReadsTheWeightsThatTheListNames) {
  const OrderedJson weights = {{"fc.weight", weight("weight_0", {2, 2}, {2, 1})},
                               {"fc.turned", weight("weight_0", {2, 2}, {1, 2})},
                               {"fc.part", weight("weight_0", {2}, {1}, 2)},
                               {"fc.tied", weight("weight_0", {2, 2}, {2, 1})},
                               {"flags", weight("weight_1", {3}, {1}, 0, 1)}};
  for (const char* folder : {"model/", "archive/", ""}) {
    const std::string file =
        zip_file(export_records(OrderedJson{{"config", weights}}.dump(), folder));
    const Archive archive = open_text(file).value();
    EXPECT_EQ(archive.format(), "pytorch");
    EXPECT_EQ(archive.packaging(), "pt2");
    EXPECT_EQ(archive.file_bytes(), file.size());
    EXPECT_EQ(names_of(archive), (Names{"fc.weight", "fc.turned", "fc.part", "fc.tied", "flags"}));
    EXPECT_EQ(floats(archive, "fc.weight"), (Floats{1, 2, 3, 4}));
    EXPECT_EQ(floats(archive, "fc.turned"), (Floats{1, 3, 2, 4}));
    EXPECT_EQ(floats(archive, "fc.part"), (Floats{3, 4}));
    EXPECT_EQ(read(archive, "flags").bytes().text(), "abc");
    EXPECT_EQ(file.substr(*archive.info(2).offset, 8), memory_of<float>({3, 4}));
    EXPECT_EQ(archive.ties()[3], std::optional<std::size_t>(0));
  }
}

TEST(PytorchPt2, PlainNumbersAndAListWithoutConfigAreReadToo) {
  const OrderedJson weights = {
      {"w",
       {{"path_name", "weight_0"},
        {"tensor_meta",
         {{"dtype", float32}, {"sizes", {4}}, {"strides", {1}}, {"storage_offset", 0}}}}}};
  EXPECT_EQ(floats(open_text(zip_file(export_records(weights.dump()))).value(), "w"),
            (Floats{1, 2, 3, 4}));
}

TEST(PytorchPt2, DtypesHaveTheNumbersOfTheExportSchema) {
  const std::pair<int, DType> numbers[] = {
      {1, DType::u8},          {2, DType::i8},          {3, DType::i16},       {4, DType::i32},
      {5, DType::i64},         {6, DType::f16},         {7, DType::f32},       {8, DType::f64},
      {9, DType::c32},         {10, DType::c64},        {11, DType::c128},     {12, DType::boolean},
      {13, DType::bf16},       {28, DType::u16},        {29, DType::f8e4m3fn}, {30, DType::f8e5m2},
      {31, DType::f8e4m3fnuz}, {32, DType::f8e5m2fnuz}, {33, DType::f8e8m0},   {34, DType::u32},
      {35, DType::u64}};
  OrderedJson weights;
  for (const auto& [number, dtype] : numbers) {
    weights[std::to_string(number)] = weight("weight_0", {1}, {1}, 0, number);
  }
  const Archive archive = open_text(export_file(weights)).value();
  for (const auto& [number, dtype] : numbers) {
    EXPECT_EQ(archive.get(std::to_string(number)).value().dtype(), dtype) << number;
  }
  weights = {{"odd", weight("weight_0", {1}, {1}, 0, 99)}};
  EXPECT_FALSE(reason_for(open_text(export_file(weights)).value(), "odd").empty());
}

TEST(PytorchPt2, APickledWeightIsAnArchiveWithinTheArchive) {
  OrderedJson pickled = {{"path_name", "weight_2"}, {"use_pickle", true}};
  std::vector<ZipItem> items = export_records(
      OrderedJson{{"config", {{"a", pickled}, {"b", pickled}, {"w", weight("weight_0", {4}, {1})}}}}
          .dump());
  items.push_back(torch_item("model/data/weights/weight_2",
                             zip_file(torch_records(torch_tensor({.shape = {2}, .elements = 2}),
                                                    {{"0", memory_of<float>({8, 9})}}))));
  const Archive archive = open_text(zip_file(items)).value();
  EXPECT_EQ(floats(archive, "a"), (Floats{8, 9}));
  EXPECT_EQ(floats(archive, "b"), (Floats{8, 9}));
  EXPECT_EQ(archive.ties()[1], std::optional<std::size_t>(0));
  // A list is no weight.
  items.back() =
      torch_item("model/data/weights/weight_2", zip_file(torch_records(py::list({1, 2}), {})));
  expect_refused(open_text(zip_file(items)), ErrorCode::bad_archive, "contains no tensor");
  items.back() = torch_item("model/data/weights/weight_2", "no archive");
  EXPECT_FALSE(open_text(zip_file(items)));
}

TEST(PytorchPt2, DeflatedWeightsAreInflated) {
  std::vector<ZipItem> items =
      export_records(OrderedJson{{"config", {{"w", weight("weight_0", {4}, {1})}}}}.dump());
  for (ZipItem& item : items) item = {.name = item.name, .content = item.content, .deflate = true};
  EXPECT_EQ(floats(open_text(zip_file(items)).value(), "w"), (Floats{1, 2, 3, 4}));
}

TEST(PytorchPt2, ConstantsAreSkipped) {
  std::vector<ZipItem> items =
      export_records(OrderedJson{{"config", {{"w", weight("weight_0", {4}, {1})}}}}.dump());
  items.push_back(
      torch_item("model/data/constants/model_constants_config.json",
                 OrderedJson{{"config", {{"c", weight("tensor_0", {1}, {1})}}}}.dump()));
  const Archive archive = open_text(zip_file(items)).value();
  EXPECT_EQ(names_of(archive), Names{"w"});
  EXPECT_NE(reason_for(archive, "c").find("constant"), std::string::npos);
}

TEST(PytorchPt2, AMissingRecordIsNamed) {
  const OrderedJson weights = {{"w", weight("weight_9", {4}, {1})}};
  expect_refused(open_text(export_file(weights)), ErrorCode::missing_storage, "weight_9");
  for (const char* record : {"../../archive_format", "/weight_0", ""}) {
    EXPECT_FALSE(open_text(export_file({{"w", weight(record, {4}, {1})}}))) << record;
  }
}

TEST(PytorchPt2, WeightsThatLeaveTheirRecordAreRefused) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  for (const OrderedJson& wrong :
       {weight("weight_0", {5}, {1}), weight("weight_0", {2}, {4}), weight("weight_0", {1}, {1}, 4),
        weight("weight_0", {huge, huge}, {1, 1}), weight("weight_0", {2}, {-1}, 1),
        weight("weight_0", {1}, {1}, huge), weight("weight_1", {1}, {1})}) {
    const Result<Archive> archive = open_text(export_file({{"w", wrong}}));
    ASSERT_FALSE(archive) << wrong;
    EXPECT_EQ(archive.error().tensor, "w");
    EXPECT_EQ(archive.error().file, "test.pt");
  }
  // A few bytes that strides of zero repeat without end.
  expect_refused(open_text(export_file({{"w", weight("weight_0", {huge / 8}, {0})}})),
                 ErrorCode::limit_exceeded);
}

TEST(PytorchPt2, ListsOfOtherShapesAreRefused) {
  OrderedJson no_sizes = weight("weight_0", {4}, {1});
  no_sizes["tensor_meta"].erase("sizes");
  OrderedJson no_offset = weight("weight_0", {4}, {1});
  no_offset["tensor_meta"].erase("storage_offset");
  OrderedJson text_size = weight("weight_0", {4}, {1});
  text_size["tensor_meta"]["sizes"] = {"4"};
  const OrderedJson wrong[] = {
      weight("weight_0", {4, 1}, {1}),
      weight("weight_0", {-4}, {1}),
      weight("weight_0", {4}, {1}, -1),
      weight("weight_0", std::vector<std::int64_t>(65, 1), std::vector<std::int64_t>(65, 1)),
      no_sizes,
      no_offset,
      text_size,
      {{"path_name", "weight_0"}},
      {{"path_name", 7}},
      {{"is_param", true}},
      7,
      nullptr};
  for (const OrderedJson& one : wrong) {
    expect_refused(open_text(export_file({{"w", one}})), ErrorCode::bad_archive);
  }
  for (const char* config : {"", "[]", "7", R"({"config": 7})", R"({"config": )"}) {
    const Result<Archive> archive = open_text(zip_file(export_records(config)));
    ASSERT_FALSE(archive) << config;
    EXPECT_EQ(archive.error().file, "test.pt");
  }
}

TEST(PytorchPt2, AnArchiveWithoutAListIsUnsupported) {
  std::vector<ZipItem> items = export_records("{}");
  items.erase(items.begin() + 3);
  expect_refused(open_text(zip_file(items)), ErrorCode::unsupported, "has no list of weights");
}

TEST(PytorchPt2, SeveralModelsAreToldApartByTheirNames) {
  const std::string config = OrderedJson{{"config", {{"w", weight("weight_0", {4}, {1})}}}}.dump();
  std::vector<ZipItem> items = export_records(config);
  items.push_back(torch_item("model/data/weights/other_weights_config.json", config));
  EXPECT_EQ(names_of(open_text(zip_file(items)).value()), (Names{"model.w", "other.w"}));
}

TEST(PytorchPt2, AWeightOfAClassOfItsOwnIsItsParts) {
  const Py two =
      py::call(py::global("torch._tensor", "_rebuild_from_type_v2"),
               {py::global("torch._utils", "_rebuild_wrapper_subclass"),
                py::global("mine", "TwoTensor"), py::tuple({}),
                py::dict({{"a", torch_tensor({.shape = {1}, .elements = 2})},
                          {"b", torch_tensor({.shape = {1}, .offset = 1, .elements = 2})}})});
  const OrderedJson pickled = {{"path_name", "weight_2"}, {"use_pickle", true}};
  std::vector<ZipItem> items =
      export_records(OrderedJson{{"config", {{"w", pickled}, {"v", pickled}}}}.dump());
  items.push_back(torch_item("model/data/weights/weight_2",
                             zip_file(torch_records(two, {{"0", memory_of<float>({8, 9})}}))));
  const Archive archive = open_text(zip_file(items)).value();
  EXPECT_EQ(names_of(archive), (Names{"w.a", "w.b", "v.a", "v.b"}));
  EXPECT_EQ(floats(archive, "v.b"), (Floats{9}));
}

TEST(PytorchPt2, ALenientReadingLeavesOutWhatIsMissing) {
  const std::string file =
      export_file({{"w", weight("weight_0", {4}, {1})}, {"gone", weight("weight_9", {4}, {1})}});
  expect_refused(open_text(file), ErrorCode::missing_storage, "'gone'");
  const Archive archive = open_text(file, {.strictness = Strictness::lenient}).value();
  EXPECT_EQ(names_of(archive), (Names{"w"}));
  EXPECT_EQ(archive.skipped().at(0).name, "gone");
}

TEST(PytorchPt2, KeepsToTheLimitOnTensors) {
  const std::string file =
      export_file({{"a", weight("weight_0", {4}, {1})}, {"b", weight("weight_0", {4}, {1})}});
  EXPECT_TRUE(open_text(file, {.limits = {.tensors = 2}}));
  expect_refused(open_text(file, {.limits = {.tensors = 1}}), ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace andiron::test
