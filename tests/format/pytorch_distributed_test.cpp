// SPDX-License-Identifier: MIT OR Apache-2.0
// Folders of torch.distributed.checkpoint.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

using Floats = std::vector<float>;
using Sizes = std::vector<std::int64_t>;

Py object_of(const std::string& module, const std::string& name, const Py& state) {
  return py::with_state(py::new_object(py::global(module, name)), state);
}

Py meta(const std::string& name, const Py& state) {
  return object_of("torch.distributed.checkpoint.metadata", name, state);
}

Py size(const Sizes& sizes) { return py::call(py::global("torch", "Size"), {py::sizes(sizes)}); }

// A piece of a tensor and the file of which it is the next item.
struct Part {
  Sizes offsets;
  Sizes sizes;
  Floats values;
  std::string file = "__0_0.distcp";
};

// What torch.save writes for one tensor.
std::string item_of(const Sizes& sizes, const Floats& values) {
  return zip_file(torch_records(
      torch_tensor({.shape = sizes, .elements = static_cast<std::int64_t>(values.size())}),
      {{"0", memory_of(values)}}));
}

class Checkpoint : public testing::Test {
 protected:
  // Adds an item to a file; returns where it lies, as storage_data tells it.
  Py add_item(const std::string& content, const std::string& file, const py::Pairs& more = {}) {
    const std::string path = folder_.file(file);
    const std::string before = std::filesystem::exists(path) ? read_file(path) : "";
    write_file(path, before + content);
    return info(file, static_cast<std::int64_t>(before.size()),
                static_cast<std::int64_t>(content.size()), more);
  }

  static Py info(const std::string& file, std::int64_t offset, std::int64_t length,
                 const py::Pairs& more = {}) {
    py::Pairs state = {{"relative_path", file}, {"offset", offset}, {"length", length}};
    state.insert(state.end(), more.begin(), more.end());
    return object_of("torch.distributed.checkpoint.filesystem", "_StorageInfo", py::dict(state));
  }

  static Py index(const std::string& name, const std::optional<Sizes>& offsets) {
    py::Pairs state = {{"fqn", name}, {"index", nullptr}};
    if (offsets) state.emplace_back("offset", size(*offsets));
    return meta("MetadataIndex", py::dict(state));
  }

  void add_entry(const std::string& name, const Sizes& shape, const std::vector<Part>& parts,
                 const std::string& dtype = "float32") {
    py::Values chunks;
    for (const Part& part : parts) {
      chunks.push_back(meta("ChunkStorageMetadata", py::dict({{"offsets", size(part.offsets)},
                                                              {"sizes", size(part.sizes)}})));
    }
    const Py properties = meta(
        "TensorProperties",
        py::tuple({py::global("torch", dtype),
                   py::call(py::global("torch.serialization", "_get_layout"), {"torch.strided"}),
                   false, nullptr, false}));
    entries_.emplace_back(name,
                          meta("TensorStorageMetadata", py::dict({{"properties", properties},
                                                                  {"size", size(shape)},
                                                                  {"chunks", py::list(chunks)}})));
  }

  void add_tensor(const std::string& name, const Sizes& shape, const std::vector<Part>& parts) {
    add_entry(name, shape, parts);
    for (const Part& part : parts) {
      items_.emplace_back(index(name, part.offsets),
                          add_item(item_of(part.sizes, part.values), part.file));
    }
  }

  void add_object(const std::string& name, const Py& object, const Storages& storages = {}) {
    entries_.emplace_back(name, py::new_object(py::global("torch.distributed.checkpoint.metadata",
                                                          "BytesStorageMetadata")));
    items_.emplace_back(index(name, std::nullopt),
                        add_item(zip_file(torch_records(object, storages)), "__0_0.distcp"));
  }

  Result<Archive> read(const OpenOptions& options = {}) {
    const Py all = meta("Metadata", py::dict({{"state_dict_metadata", py::dict(entries_)},
                                              {"planner_data", py::dict({})},
                                              {"storage_data", py::dict(items_)},
                                              {"storage_meta", nullptr}}));
    write_file(folder_.file(".metadata"), py::pickle(all));
    return open(folder_.path(), options);
  }

  void expect_error(ErrorCode code, std::string_view said) {
    const Result<Archive> archive = read();
    ASSERT_FALSE(archive);
    const std::string message = archive.error().to_string();
    EXPECT_EQ(code_name(archive.error().code), code_name(code)) << message;
    EXPECT_NE(message.find(said), std::string::npos) << message;
    EXPECT_NE(message.find(folder_.path()), std::string::npos) << message;
  }

  TempDir folder_;
  py::Pairs entries_;
  py::Pairs items_;
};

TEST_F(Checkpoint, PutsTensorsTogetherFromThePiecesOfAllRanks) {
  add_tensor("model.w", {4, 2},
             {{{0, 0}, {2, 2}, {0, 1, 2, 3}}, {{2, 0}, {2, 2}, {4, 5, 6, 7}, "__1_0.distcp"}});
  add_tensor("model.b", {3}, {{{0}, {3}, {7, 8, 9}}});
  const Archive archive = read().value();
  EXPECT_EQ(archive.format(), "pytorch");
  EXPECT_EQ(archive.packaging(), "distributed");
  EXPECT_TRUE(archive.is_pickled());
  EXPECT_EQ(archive.origin(), folder_.path());
  EXPECT_EQ(names_of(archive), (Names{"model.w", "model.b"}));
  EXPECT_EQ(floats(archive, "model.w"), (Floats{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(floats(archive, "model.b"), (Floats{7, 8, 9}));
  EXPECT_EQ(archive.file_bytes(), std::filesystem::file_size(folder_.file(".metadata")) +
                                      std::filesystem::file_size(folder_.file("__0_0.distcp")) +
                                      std::filesystem::file_size(folder_.file("__1_0.distcp")));
  EXPECT_EQ(names_of(open(folder_.file(".metadata")).value()), names_of(archive));
}

TEST_F(Checkpoint, PiecesInAGridOfUnevenSizesAreFine) {
  add_tensor("w", {3, 3},
             {{{0, 0}, {2, 2}, {0, 1, 3, 4}},
              {{0, 2}, {2, 1}, {2, 5}, "__1_0.distcp"},
              {{2, 0}, {1, 2}, {6, 7}, "__2_0.distcp"},
              {{2, 2}, {1, 1}, {8}, "__3_0.distcp"}});
  EXPECT_EQ(floats(read().value(), "w"), (Floats{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(Checkpoint, EmptyTensorsAndSingleNumbersAreFine) {
  add_tensor("none", {0, 3}, {{{0, 0}, {0, 3}, {}}});
  add_tensor("one", {}, {{{}, {}, {5}}});
  const Archive archive = read().value();
  EXPECT_EQ(archive.get("none").value().shape(), (Shape{0, 3}));
  EXPECT_EQ(floats(archive, "one"), Floats{5});
}

TEST_F(Checkpoint, ItemsAreOpenedWhenTheyAreRead) {
  add_entry("w", {2}, {{{0}, {2}, {}}});
  items_.emplace_back(index("w", Sizes{0}), add_item("no archive at all", "__0_0.distcp"));
  const Archive archive = read().value();
  EXPECT_EQ(archive.size(), 1u);
  const Result<Tensor> tensor = archive.get("w").value().read();
  ASSERT_FALSE(tensor);
  EXPECT_EQ(tensor.error().tensor, "w");
}

TEST_F(Checkpoint, OtherObjectsBecomeTheTreeAndTheirTensorsGetTheirNames) {
  add_tensor("w", {1}, {{{0}, {1}, {1}}});
  add_object("epoch", 42);
  add_object("config", py::dict({{"lr", 0.5}, {"name", "net"}}));
  add_object("state", py::dict({{"t", torch_tensor({.shape = {2}, .elements = 2})}, {"n", 1}}),
             {{"0", memory_of<float>({3, 4})}});
  const Archive archive = read().value();
  EXPECT_EQ(names_of(archive), (Names{"w", "state.t"}));
  EXPECT_EQ(floats(archive, "state.t"), (Floats{3, 4}));
  EXPECT_EQ(*archive.value()->find("epoch")->get<std::int64_t>(), 42);
  EXPECT_EQ(*archive.value()->find("config")->find("name")->get<std::string>(), "net");
  const Value& state = *archive.value()->find("state");
  EXPECT_EQ(*state.find("n")->get<std::int64_t>(), 1);
  EXPECT_EQ(state.find("t")->get<TensorIndex>()->index, archive.find("state.t"));
}

TEST_F(Checkpoint, AnObjectIsReadForOneNameAlone) {
  add_object("a", py::dict({{"n", 1}}));
  entries_.emplace_back("b", entries_.back().second);
  items_.emplace_back(index("b", std::nullopt), items_.back().second);
  const Archive archive = read().value();
  EXPECT_EQ(reason_for(archive, "b"), "it shares its data with another object");
  EXPECT_EQ(*archive.value()->find("a")->find("n")->get<std::int64_t>(), 1);
}

TEST_F(Checkpoint, NotesOnTensorsOfAnObjectHaveTheirNames) {
  const Py nested = py::rebuild(
      "_rebuild_nested_tensor",
      {torch_tensor({.shape = {1}, .elements = 1}), torch_tensor({.shape = {1}, .elements = 1}),
       torch_tensor({.shape = {1}, .elements = 1}), torch_tensor({.shape = {1}, .elements = 1})});
  add_object("state", py::dict({{"t", nested}}), {{"0", memory_of<float>({3})}});
  EXPECT_EQ(read().value().notes(),
            (std::vector<Message>{"'state.t': a nested tensor, listed as its parts"}));
}

TEST_F(Checkpoint, WhatIsSkippedInAnObjectIsTold) {
  add_object("state",
             py::dict({{"m", torch_tensor({.shape = {2}, .elements = 2, .device = "meta"})},
                       {"t", torch_tensor({.shape = {1}, .elements = 1})}}),
             {{"0", memory_of<float>({3})}});
  EXPECT_NE(reason_for(read().value(), "state.m").find("meta"), std::string::npos);
}

TEST_F(Checkpoint, AnObjectWithoutDataIsSkipped) {
  add_object("gone", 1);
  items_.clear();
  EXPECT_FALSE(reason_for(read().value(), "gone").empty());
}

TEST_F(Checkpoint, TensorsOfAllObjectsCountAgainstTheLimit) {
  add_object("a",
             py::list({torch_tensor({.shape = {1}, .elements = 1}),
                       torch_tensor({.shape = {1}, .elements = 1})}),
             {{"0", memory_of<float>({3})}});
  EXPECT_TRUE(read({.limits = {.tensors = 2}}));
  EXPECT_FALSE(read({.limits = {.tensors = 1}}));
}

TEST_F(Checkpoint, AMissingItemIsNamed) {
  add_entry("w", {4}, {{{0}, {2}, {}}, {{2}, {2}, {}}});
  items_.emplace_back(index("w", Sizes{0}), add_item(item_of({2}, {1, 2}), "__0_0.distcp"));
  expect_error(ErrorCode::missing_storage, "[2]");
  EXPECT_EQ(read().error().tensor, "w");
}

TEST_F(Checkpoint, ALenientReadingLeavesOutWhatIsMissing) {
  add_tensor("w", {1}, {{{0}, {1}, {1}}});
  add_tensor("gone", {1}, {{{0}, {1}, {2}}});
  items_.pop_back();
  EXPECT_FALSE(read());
  const Archive archive = read({.strictness = Strictness::lenient}).value();
  EXPECT_EQ(names_of(archive), (Names{"w"}));
  EXPECT_FALSE(reason_for(archive, "gone").empty());
}

TEST_F(Checkpoint, AMissingFileIsNamed) {
  add_tensor("w", {1}, {{{0}, {1}, {1}, "__7_0.distcp"}});
  std::filesystem::remove(folder_.file("__7_0.distcp"));
  expect_error(ErrorCode::missing_shard, "__7_0.distcp");
}

TEST_F(Checkpoint, PiecesThatOverlapOrLeaveAGapAreRefused) {
  add_tensor("w", {4}, {{{0}, {2}, {1, 2}}, {{3}, {1}, {4}}});
  expect_error(ErrorCode::bad_offsets, "w");
  entries_.clear();
  add_tensor("w", {4}, {{{0}, {3}, {1, 2, 3}}, {{2}, {2}, {3, 4}}});
  expect_error(ErrorCode::bad_offsets, "w");
}

TEST_F(Checkpoint, AnItemThatHoldsAnotherPieceIsAnErrorWhenRead) {
  const std::vector<std::string> wrong = {
      item_of({3}, {1, 2, 3}), item_of({1, 2}, {1, 2}),
      zip_file(torch_records(torch_tensor({.shape = {2}, .elements = 2, .type = "Int"}),
                             {{"0", memory_of<float>({1, 2})}})),
      zip_file(torch_records(py::dict({{"w", torch_tensor({.shape = {2}, .elements = 2})}}),
                             {{"0", memory_of<float>({1, 2})}}))};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const std::string name = "w" + std::to_string(i);
    add_entry(name, {2}, {{{0}, {2}, {}}});
    items_.emplace_back(index(name, Sizes{0}), add_item(wrong[i], "__0_0.distcp"));
  }
  const Archive archive = read().value();
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const std::string name = "w" + std::to_string(i);
    const Result<Tensor> tensor = archive.get(name).value().read();
    ASSERT_FALSE(tensor) << name;
    EXPECT_EQ(tensor.error().tensor, name);
    EXPECT_NE(tensor.error().to_string().find("__0_0.distcp"), std::string::npos);
  }
}

TEST_F(Checkpoint, ItemsThatLeaveTheirFileAreRefused) {
  const std::string content = item_of({1}, {1});
  const auto length = static_cast<std::int64_t>(content.size());
  add_entry("w", {1}, {{{0}, {1}, {}}});
  add_item(content, "__0_0.distcp");
  for (const auto& [offset, bytes] :
       {std::pair<std::int64_t, std::int64_t>{1, length},
        {0, length + 1},
        {length + 1, 0},
        {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()}}) {
    items_ = {{index("w", Sizes{0}), info("__0_0.distcp", offset, bytes)}};
    expect_error(ErrorCode::truncated, "__0_0.distcp");
  }
  // Too small for what it is said to hold.
  items_ = {{index("w", Sizes{0}), info("__0_0.distcp", 0, 3)}};
  expect_error(ErrorCode::size_mismatch, "3 bytes");
  for (const Py& item : {info("__0_0.distcp", -1, length), info("__0_0.distcp", 0, -1)}) {
    items_ = {{index("w", Sizes{0}), item}};
    expect_error(ErrorCode::bad_index, "an item lacks");
  }
}

TEST_F(Checkpoint, FilesOutsideOfTheFolderAreRefused) {
  add_entry("w", {1}, {{{0}, {1}, {}}});
  for (const char* file : {"../x.distcp", "/etc/passwd", "a/../../x", "C:x", "a\\x", "", "./x"}) {
    items_ = {{index("w", Sizes{0}), info(file, 0, 10)}};
    expect_error(ErrorCode::bad_index, "outside the folder");
  }
}

TEST_F(Checkpoint, ATransformedItemIsUnsupported) {
  add_entry("w", {1}, {{{0}, {1}, {}}});
  items_ = {{index("w", Sizes{0}),
             info("__0_0.distcp", 0, 1, {{"transform_descriptors", py::list({"zstd"})}})}};
  expect_error(ErrorCode::unsupported, "zstd");
  items_.clear();
  items_.emplace_back(index("w", Sizes{0}), add_item(item_of({1}, {1}), "__0_0.distcp",
                                                     {{"transform_descriptors", py::list({})}}));
  EXPECT_TRUE(read());
}

TEST_F(Checkpoint, HugeSizesAreRefused) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  add_entry("w", {huge, huge}, {{{0, 0}, {huge, huge}, {}}});
  items_.emplace_back(index("w", Sizes{0, 0}), add_item(item_of({1}, {1}), "__0_0.distcp"));
  EXPECT_FALSE(read());
  entries_.clear();
  add_entry("w", Sizes(65, 1), {{Sizes(65, 0), Sizes(65, 1), {}}});
  expect_error(ErrorCode::bad_index, "size");
}

TEST_F(Checkpoint, ADtypeThatWeDoNotKnowIsSkipped) {
  add_entry("w", {1}, {{{0}, {1}, {}}}, "bits8");
  EXPECT_FALSE(reason_for(read().value(), "w").empty());
}

TEST_F(Checkpoint, MetadataOfOtherShapesIsRefused) {
  for (const Py& all : {Py(7), py::dict({}), meta("Metadata", py::dict({})),
                        meta("Metadata", py::dict({{"state_dict_metadata", py::dict({})}})),
                        meta("Metadata", py::dict({{"state_dict_metadata", py::list({})},
                                                   {"storage_data", py::dict({})}})),
                        meta("Metadata", py::dict({{"state_dict_metadata", py::dict({{"w", 7}})},
                                                   {"storage_data", py::dict({})}})),
                        meta("Metadata", py::dict({{"state_dict_metadata", py::dict({{7, 7}})},
                                                   {"storage_data", py::dict({})}})),
                        meta("Metadata", py::dict({{"state_dict_metadata", py::dict({})},
                                                   {"storage_data", py::dict({{7, 7}})}}))}) {
    write_file(folder_.file(".metadata"), py::pickle(all));
    const Result<Archive> archive = open(folder_.path());
    ASSERT_FALSE(archive);
    EXPECT_EQ(archive.error().code, ErrorCode::bad_index) << archive.error().to_string();
  }
  write_file(folder_.file(".metadata"), "");
  EXPECT_FALSE(open(folder_.path()));
}

TEST_F(Checkpoint, ANameListedTwiceIsRefused) {
  add_tensor("w", {1}, {{{0}, {1}, {1}}});
  add_object("x", py::dict({{"y", torch_tensor({.shape = {1}, .elements = 1})}}),
             {{"0", memory_of<float>({3})}});
  add_tensor("x.y", {1}, {{{0}, {1}, {1}}});
  expect_error(ErrorCode::bad_index, "twice");
}

TEST_F(Checkpoint, KeepsToTheLimitOnFiles) {
  add_tensor("w", {2}, {{{0}, {1}, {1}}, {{1}, {1}, {2}, "__1_0.distcp"}});
  EXPECT_TRUE(read({.limits = {.shards = 2}}));
  EXPECT_FALSE(read({.limits = {.shards = 1}}));
}

}  // namespace
}  // namespace andiron::test
