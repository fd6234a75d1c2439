// SPDX-License-Identifier: MIT OR Apache-2.0
// OpenOptions::verify: checksums of all formats that have them, and a note from the others.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "andiron/open.h"
#include "andiron/stores.h"
#include "andiron/write.h"
#include "tests/support/archive_writing.h"
#include "tests/support/npy_file.h"
#include "tests/support/places.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

using Floats = std::vector<float>;

constexpr const char* nothing_verified = "the file has no checksums; nothing was verified";

// The same records, one of which has another last byte than its checksum covers.
std::vector<ZipItem> with_damaged(std::vector<ZipItem> items, std::string_view name) {
  for (ZipItem& item : items) {
    if (!item.name.ends_with(name)) continue;
    const bool deflate = item.deflate;
    std::string other = item.content;
    other.back() ^= 1;
    item.stored = deflate ? deflated(other) : other;
  }
  return items;
}

Result<Archive> open_verified(std::string_view file, Strictness strictness = Strictness::standard) {
  return open_text(file, {.strictness = strictness, .verify = true});
}

TEST(Verify, ADamagedStorageIsFoundWhenATensorOfItIsRead) {
  const Py object = py::dict({{"first", torch_tensor({.shape = {2}, .elements = 4})},
                              {"last", torch_tensor({.shape = {2}, .offset = 2, .elements = 4})},
                              {"b", torch_tensor({.shape = {2}, .key = "1", .elements = 2})}});
  const std::string file =
      zip_file(with_damaged(torch_records(object, sample_storages()), "data/0"));
  EXPECT_TRUE(open_text(file).value().get("last").value().read()) << "not unless asked for";

  const Archive archive = open_verified(file).value();
  EXPECT_TRUE(archive.notes().empty());
  EXPECT_EQ(floats(archive, "b"), (Floats{5, 6}));
  // The damage is not in the first tensor, but in its record.
  for (const std::string name : {"first", "last"}) {
    const Error error = archive.get(name).value().read().error();
    EXPECT_EQ(error.code, ErrorCode::checksum_mismatch);
    EXPECT_EQ(error.tensor, name);
    EXPECT_EQ(error.file, archive.origin());
    EXPECT_NE(error.message.find("'archive/data/0'"), std::string::npos) << error.message;
    EXPECT_EQ(error.found.rfind("CRC-32 ", 0), 0u) << error.found;
    EXPECT_EQ(error.expected.rfind("CRC-32 ", 0), 0u) << error.expected;
    EXPECT_NE(error.hint.find("without OpenOptions::verify"), std::string::npos) << error.hint;
    EXPECT_EQ(archive.get(name).value().borrow().error().code, ErrorCode::checksum_mismatch);
  }
}

TEST(Verify, ADamagedFileIsNotWrittenOn) {
  const TempDir folder;
  const Archive archive = open_verified(zip_file(with_damaged(sample_records(), "data/1"))).value();
  for (const char* name : {"m.safetensors", "m.bpk", "m.mpk", "m.npz"}) {
    const Result<WriteReport> report = write(archive, folder.file(name));
    ASSERT_FALSE(report) << name;
    EXPECT_EQ(report.error().code, ErrorCode::checksum_mismatch);
    EXPECT_EQ(report.error().tensor, "b");
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(Verify, AStoreVerifiesWhatItLoads) {
  const TempDir folder;
  write_file(folder.file("m.pt"), zip_file(with_damaged(sample_records(), "data/1")));
  EXPECT_TRUE(PytorchStore::from_file(folder.file("m.pt")).get_snapshot("b").value()->read());
  const auto store = PytorchStore::from_file(folder.file("m.pt")).verify();
  EXPECT_TRUE(store.get_snapshot("w").value()->read());
  EXPECT_EQ(store.get_snapshot("b").value()->read().error().code, ErrorCode::checksum_mismatch);
}

TEST(Verify, DamagedSmallRecordsAreFoundWhenTheFileIsOpened) {
  for (const char* record : {"data.pkl", "version"}) {
    expect_refused(open_verified(zip_file(with_damaged(sample_records(), record))),
                   ErrorCode::checksum_mismatch, record);
  }
}

TEST(Verify, DamagedCodeAndConstantsOfAProgramAreFound) {
  std::vector<ZipItem> items = torch_records(
      py::with_state(py::new_object(py::global("__torch__", "Net")),
                     py::dict({{"p", torch_tensor({.shape = {2}, .key = "1", .elements = 2})}})),
      sample_storages(), "net/");
  items.push_back({.name = "net/code/__torch__.py",
                   .content = "class Net(Module):\n  __parameters__ = [\"p\", ]\n"
                              "  __buffers__ = []\n"});
  items.push_back(torch_item("net/constants.pkl", py::pickle(py::tuple({}))));
  EXPECT_EQ(floats(open_verified(zip_file(items)).value(), "p"), (Floats{5, 6}));
  for (const char* record : {"code/__torch__.py", "constants.pkl"}) {
    const std::string damaged = zip_file(with_damaged(items, record));
    EXPECT_TRUE(open_text(damaged)) << "they are not needed";
    expect_refused(open_verified(damaged), ErrorCode::checksum_mismatch, record);
  }
}

TEST(Verify, WeightsOfTorchExportHaveChecksums) {
  const nlohmann::json numbers = {{"dtype", 7},
                                  {"sizes", {{{"as_int", 2}}}},
                                  {"strides", {{{"as_int", 1}}}},
                                  {"storage_offset", {{"as_int", 0}}}};
  const nlohmann::json plain = {
      {"path_name", "weight_0"}, {"use_pickle", false}, {"tensor_meta", numbers}};
  const nlohmann::json pickled = {{"path_name", "weight_1"}, {"use_pickle", true}};
  const std::string inner = zip_file(torch_records(torch_tensor({.shape = {2}, .elements = 2}),
                                                   {{"0", memory_of<float>({3, 4})}}));
  const std::vector<ZipItem> items = {
      torch_item("m/archive_format", "pt2"),
      torch_item("m/data/weights/model_weights_config.json",
                 nlohmann::json{{"config", {{"a", plain}, {"b", pickled}}}}.dump()),
      torch_item("m/data/weights/weight_0", memory_of<float>({1, 2})),
      torch_item("m/data/weights/weight_1", inner)};
  const Archive archive = open_verified(zip_file(items)).value();
  EXPECT_EQ(floats(archive, "a"), (Floats{1, 2}));
  EXPECT_EQ(floats(archive, "b"), (Floats{3, 4}));
  const Archive damaged = open_verified(zip_file(with_damaged(items, "weight_0"))).value();
  EXPECT_EQ(damaged.get("a").value().read().error().code, ErrorCode::checksum_mismatch);
  expect_refused(open_verified(zip_file(with_damaged(items, "weight_1"))),
                 ErrorCode::checksum_mismatch, "weight_1");
}

TEST(Verify, ArraysOfAnNpzFileAreVerifiedWhenItIsOpened) {
  for (const bool deflate : {false, true}) {
    const std::vector<ZipItem> items = {
        {.name = "a.npy",
         .content = npy_file("<f4", "(2,)", memory_of<float>({1, 2})),
         .deflate = deflate},
        {.name = "b.npy",
         .content = npy_file("<f4", "(1,)", memory_of<float>({3})),
         .deflate = deflate}};
    const Archive whole = open_verified(zip_file(items)).value();
    EXPECT_TRUE(whole.notes().empty());
    EXPECT_EQ(floats(whole, "a"), (Floats{1, 2}));

    const std::string file = zip_file(with_damaged(items, "b.npy"));
    EXPECT_TRUE(open_text(file));
    expect_refused(open_verified(file), ErrorCode::checksum_mismatch, "b.npy");
    EXPECT_EQ(open_verified(file).error().tensor, "b");
    const Archive rest = open_verified(file, Strictness::lenient).value();
    EXPECT_EQ(names_of(rest), Names{"a"});
    ASSERT_EQ(rest.skipped().size(), 1u);
    EXPECT_EQ(rest.skipped()[0].name, "b");
  }
}

TEST(Verify, DeflatedStoragesAreVerifiedWheneverTheyAreRead) {
  std::vector<ZipItem> items = sample_records();
  for (ZipItem& item : items) {
    item = {.name = item.name, .content = item.content, .deflate = true};
  }
  const std::string file = zip_file(with_damaged(items, "data/0"));
  for (const bool verify : {false, true}) {
    const Archive archive = open_text(file, {.verify = verify}).value();
    EXPECT_EQ(floats(archive, "b"), (Floats{5, 6}));
    EXPECT_EQ(archive.get("w").value().read().error().code, ErrorCode::checksum_mismatch);
  }
}

TEST(Verify, FormatsWithoutChecksumsSaySo) {
  const Archive archive = archive_of({{"w", Tensor::zeros(DType::f32, {2}).value()}});
  for (const Format format : {Format::safetensors, Format::burnpack, Format::mpk}) {
    const Bytes file = write_to_memory(archive, {.format = format}).value();
    EXPECT_TRUE(open(file).value().notes().empty());
    EXPECT_EQ(open(file, {.verify = true}).value().notes(), std::vector<Message>{nothing_verified});
  }
  const std::string npy = npy_file("<u1", "(1,)", "x");
  EXPECT_EQ(open_verified(npy).value().notes(), std::vector<Message>{nothing_verified});
  expect_note(open_verified(sample_legacy_file()).value(), nothing_verified);
  expect_note(open_verified(py::pickle(py::dict({}))).value(), nothing_verified);
}

TEST(Verify, ForeignFilesMatchTheirChecksumsOrHaveNone) {
  std::size_t archives = 0;
  for (const auto& item : std::filesystem::recursive_directory_iterator(test_data())) {
    if (!item.is_regular_file()) continue;
    const std::string path = item.path().string();
    const Result<Archive> plain = open(path);
    if (!plain) continue;
    const Result<Archive> verified = open(path, {.verify = true});
    ASSERT_TRUE(verified) << verified.error().to_string();
    for (std::size_t i = 0; i < verified->size(); ++i) {
      const bool is_readable = plain->snapshot(i).read().ok();
      EXPECT_EQ(verified->snapshot(i).read().ok(), is_readable) << path;
    }
    const bool has_checksums = verified->notes().size() == plain->notes().size();
    archives += has_checksums ? 1 : 0;
    if (path.ends_with("no_crc32.pt")) {
      ASSERT_FALSE(has_checksums);
      EXPECT_NE(verified->notes().back().find("left out the checksum"), std::string::npos);
    }
  }
  EXPECT_GT(archives, 50u);
}

}  // namespace
}  // namespace andiron::test
