// SPDX-License-Identifier: MIT OR Apache-2.0
// The archives of torch.save: their folder, their small records, their storages.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/test_source.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

using Floats = std::vector<float>;

std::string with_record(const std::string& name, const std::string& content) {
  std::vector<ZipItem> items = sample_records();
  items.push_back(torch_item(name, content));
  return zip_file(items);
}

// The sample with one of its records changed.
template <class Change>
std::string with_changed(const std::string& name, Change change) {
  std::vector<ZipItem> items = sample_records();
  for (ZipItem& item : items) {
    if (item.name == name) change(item);
  }
  return zip_file(items);
}

std::string without(const std::string& name) {
  std::vector<ZipItem> items = sample_records();
  std::erase_if(items, [&](const ZipItem& item) { return item.name == name; });
  return zip_file(items);
}

void expect_sample(const Result<Archive>& archive) {
  ASSERT_TRUE(archive) << archive.error().to_string();
  EXPECT_EQ(floats(*archive, "w"), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(floats(*archive, "b"), (Floats{5, 6}));
}

TEST(PytorchZip, TheFolderMayHaveAnyNameOrNoneOrLieDeeper) {
  for (const char* folder : {"archive/", "my model.v2/", "", "a/b/c/", "data.pkl/", "data/"}) {
    SCOPED_TRACE(folder);
    const Result<Archive> archive = open_text(zip_file(sample_records(folder)));
    expect_sample(archive);
    EXPECT_TRUE(archive->notes().empty());
  }
}

TEST(PytorchZip, RecordsMayComeInAnyOrder) {
  std::vector<ZipItem> items = sample_records();
  std::reverse(items.begin(), items.end());
  expect_sample(open_text(zip_file(items)));
}

TEST(PytorchZip, RecordsOutsideOfTheFolderAreRefusedUnlessLenient) {
  for (const char* name : {"archive2/data.pkl", "a/data/0", "notes.txt", "archive2/version"}) {
    const std::string file = with_record(name, "x");
    expect_refused(open_text(file), ErrorCode::bad_archive, name);
    const Archive archive = open_text(file, {.strictness = Strictness::lenient}).value();
    EXPECT_EQ(archive.size(), 2u);
    expect_note(archive, name);
  }
}

TEST(PytorchZip, TwoFoldersWithAPickleAreRefused) {
  for (const char* other : {"another/", "archivf/", "a/"}) {
    std::vector<ZipItem> items = sample_records();
    for (const ZipItem& item : sample_records(other)) items.push_back(item);
    expect_refused(open_text(zip_file(items)), ErrorCode::bad_archive, "outside");
  }
}

TEST(PytorchZip, WhatArchiversLeaveBehindIsIgnored) {
  for (const char* name : {"__MACOSX/archive/._data.pkl", ".DS_Store", "archive/.DS_Store"}) {
    expect_sample(open_text(with_record(name, "x")));
  }
  for (const char* name : {"archive/", "archive/data/", "empty/"}) {
    expect_sample(open_text(with_record(name, "")));
  }
}

TEST(PytorchZip, RecordsThatWeDoNotKnowAreIgnored) {
  for (const char* name : {".format_version", ".data/serialization_id", "notes/of/mine"}) {
    expect_sample(open_text(with_record(std::string("archive/") + name, "1")));
  }
}

TEST(PytorchZip, TheVersionMustBeOneThatPytorchLoads) {
  const auto version = [](const std::string& text) {
    return with_changed("archive/version", [&](ZipItem& item) { item.content = text; });
  };
  for (const char* text : {"1", "3\n", "10\n", "6\r\n"}) expect_sample(open_text(version(text)));
  for (const char* text : {"0\n", "11\n", "", "x", "-1", "3.0", " 3", "18446744073709551617"}) {
    const std::string file = version(text);
    expect_refused(open_text(file), ErrorCode::bad_archive, "version");
    expect_note(open_text(file, {.strictness = Strictness::lenient}).value(), "version");
  }
  const std::string none = without("archive/version");
  expect_refused(open_text(none), ErrorCode::bad_archive, "no record 'version'");
  expect_note(open_text(none, {.strictness = Strictness::lenient}).value(), "no record");
  expect_refused(open_text(version(std::string(5000, '3'))), ErrorCode::limit_exceeded);
}

TEST(PytorchZip, TheVersionInTheHiddenFolderComesFirst) {
  const std::string hidden = with_record("archive/.data/version", "99\n");
  expect_refused(open_text(hidden), ErrorCode::bad_archive, "'99");
  std::vector<ZipItem> items = sample_records();
  items.back() = torch_item("archive/.data/version", "6\n");
  expect_sample(open_text(zip_file(items)));
}

TEST(PytorchZip, BigEndianStoragesAreSwapped) {
  expect_sample(open_text(with_record("archive/byteorder", "little")));
  expect_sample(open_text(with_record("archive/byteorder", "little\n")));
  std::string swapped = memory_of<float>({1, 2});
  std::reverse(swapped.begin(), swapped.begin() + 4);
  std::reverse(swapped.begin() + 4, swapped.end());
  const Py object =
      py::dict({{"f", torch_tensor({.shape = {2}, .elements = 2})},
                {"b", torch_tensor({.shape = {3}, .key = "1", .elements = 3, .type = "Byte"})}});
  std::vector<ZipItem> items = torch_records(object, {{"0", swapped}, {"1", "abc"}});
  items.push_back(torch_item("archive/byteorder", "big"));
  const Archive archive = open_text(zip_file(items)).value();
  EXPECT_EQ(floats(archive, "f"), (Floats{1, 2}));
  EXPECT_EQ(archive.get("b").value().read().value().bytes().text(), "abc");
  // Bytes that are swapped lie nowhere in the file.
  EXPECT_FALSE(archive.info(0).offset.has_value());
  EXPECT_TRUE(archive.info(1).offset.has_value());
}

TEST(PytorchZip, AnUnknownByteOrderIsRefused) {
  for (const char* order : {"middle", "", "LITTLE", "little big"}) {
    expect_refused(open_text(with_record("archive/byteorder", order)), ErrorCode::bad_archive,
                   "byte order");
  }
}

TEST(PytorchZip, DeflatedRecordsAreInflated) {
  std::vector<ZipItem> items = sample_records();
  for (ZipItem& item : items) item = {.name = item.name, .content = item.content, .deflate = true};
  const Result<Archive> archive = open_text(zip_file(items));
  expect_sample(archive);
  EXPECT_FALSE(archive->info(0).offset.has_value());
  // Views of one storage inflate it once, and each has its own part.
  const Py object = py::dict({{"a", torch_tensor({.shape = {2}, .offset = 1, .elements = 4})},
                              {"b", torch_tensor({.shape = {2}, .strides = {{2}}, .elements = 4})},
                              {"c", torch_tensor({.shape = {2}, .offset = 1, .elements = 4})}});
  items = torch_records(object, {});
  items.push_back(
      {.name = "archive/data/0", .content = memory_of<float>({1, 2, 3, 4}), .deflate = true});
  const Archive views = open_text(zip_file(items)).value();
  EXPECT_EQ(floats(views, "a"), (Floats{2, 3}));
  EXPECT_EQ(floats(views, "b"), (Floats{1, 3}));
  EXPECT_EQ(views.ties()[2], std::optional<std::size_t>(0));
}

TEST(PytorchZip, ADeflatedStorageThatIsDamagedIsAnErrorWhenRead) {
  for (const ZipItem& damaged : {ZipItem{.name = "archive/data/0",
                                         .content = memory_of<float>({1, 2, 3, 4}),
                                         .deflate = true,
                                         .stored = std::string("\xff\xff\xff")},
                                 ZipItem{.name = "archive/data/0",
                                         .content = memory_of<float>({1, 2, 3, 4}),
                                         .deflate = true,
                                         .local = {.crc = 7},
                                         .directory = {.crc = 7}}}) {
    const std::string file = with_changed("archive/data/0", [&](ZipItem& item) { item = damaged; });
    const Archive archive = open_text(file).value();
    EXPECT_EQ(floats(archive, "b"), (Floats{5, 6}));
    const Result<Tensor> read = archive.get("w").value().read();
    expect_refused(read, damaged.stored ? ErrorCode::bad_archive : ErrorCode::checksum_mismatch,
                   "archive/data/0");
    EXPECT_EQ(read.error().tensor, "w");
  }
}

TEST(PytorchZip, StoragesMayLieAnywhere) {
  std::vector<ZipItem> items = sample_records();
  for (ZipItem& item : items) item = {.name = item.name, .content = item.content};
  expect_sample(open_text(zip_file(items)));
  for (const std::uint64_t alignment : {1u, 16u, 64u, 4096u}) {
    for (ZipItem& item : items) item = torch_item(item.name, item.content, alignment);
    expect_sample(open_text(zip_file(items)));
  }
}

TEST(PytorchZip, TheAlignmentRecordSaysWhereDataBegins) {
  for (const char* text : {"64", "4096", "1", "0", "7", "much", ""}) {
    for (const std::uint64_t alignment : {64u, 4096u}) {
      std::vector<ZipItem> items = sample_records();
      for (ZipItem& item : items) item = torch_item(item.name, item.content, alignment);
      items.push_back(torch_item("archive/.storage_alignment", text, alignment));
      expect_sample(open_text(zip_file(items)));
    }
  }
}

TEST(PytorchZip, AViewReadsNoMoreThanItsOwnBytes) {
  constexpr std::int64_t elements = 1'000'000;
  const Py object = py::dict(
      {{"small", torch_tensor({.shape = {10}, .offset = 500'000, .elements = elements})},
       {"steps", torch_tensor({.shape = {4}, .strides = {{1000}}, .elements = elements})}});
  const std::string file =
      zip_file(torch_records(object, {{"0", std::string(elements * 4, '\1')}}));
  const auto source = std::make_shared<TestSource>(file);
  const Archive archive = open(ByteSourcePtr(source)).value();
  // The directory and the pickle, and nothing of the storage.
  EXPECT_LT(source->bytes_read(), 128u * 1024);
  const std::uint64_t before = source->bytes_read();
  const std::uint64_t reads = source->reads();
  ASSERT_TRUE(archive.get("small").value().read());
  // Its bytes, and once the header in front of them.
  EXPECT_LE(source->bytes_read() - before, 40u + 512);
  EXPECT_LE(source->reads() - reads, 3u);
  ASSERT_TRUE(archive.get("steps").value().read());
  EXPECT_LE(source->bytes_read() - before, 100u * 1024);
}

TEST(PytorchZip, OpeningReadsNothingOfTheStorages) {
  py::Pairs entries;
  Storages storages;
  for (int i = 0; i < 500; ++i) {
    const std::string key = std::to_string(i);
    entries.emplace_back("layer." + key,
                         torch_tensor({.shape = {256}, .key = key, .elements = 256}));
    storages.emplace_back(key, std::string(1024, 'x'));
  }
  const std::string file = zip_file(torch_records(py::dict(entries), storages));
  const auto source = std::make_shared<TestSource>(file);
  ASSERT_EQ(open(ByteSourcePtr(source)).value().size(), 500u);
  EXPECT_LT(source->reads(), 30u);
  EXPECT_LT(source->bytes_read(), 300u * 1024);
}

TEST(PytorchZip, RecordsAreFoundBesideMoreOfAnotherFolder) {
  std::vector<ZipItem> items = sample_records();
  for (int i = 0; i < 20; ++i)
    items.push_back(torch_item("archive/other/" + std::to_string(i), ""));
  expect_sample(open_text(zip_file(items)));
}

TEST(PytorchZip, ManyNumberedRecordsOutsideOfTheFolderAreSeen) {
  std::vector<ZipItem> items = sample_records();
  for (int i = 0; i < 20; ++i) items.push_back(torch_item("other/" + std::to_string(i), "x"));
  expect_refused(open_text(zip_file(items)), ErrorCode::bad_archive, "other/0");
}

TEST(PytorchZip, AMissingStorageIsNamed) {
  const std::string file = without("archive/data/1");
  expect_refused(open_text(file), ErrorCode::missing_storage, "archive/data/1");
  EXPECT_EQ(open_text(file).error().tensor, "b");
  // The others still count where that was asked for.
  const Archive archive = open_text(file, {.strictness = Strictness::lenient}).value();
  EXPECT_EQ(names_of(archive), std::vector<std::string>{"w"});
  EXPECT_NE(reason_for(archive, "b").find("archive/data/1"), std::string::npos);
}

TEST(PytorchZip, RecordsAreFoundInAnyOrderAndUnderAnyKeys) {
  const std::vector<std::vector<std::string>> orders = {
      {"0", "1", "2"},
      {"2", "0", "1"},
      {"5", "6", "9"},
      {"0", "1", "10", "11", "2"},
      {"07", "7", "8"},
      {"x", "0", "y.z"},
      {"18446744073709551615", "18446744073709551616"},
  };
  for (const std::vector<std::string>& keys : orders) {
    py::Pairs entries;
    Storages storages;
    for (const std::string& key : keys) {
      entries.emplace_back("t" + key, torch_tensor({.shape = {1}, .key = key, .elements = 1}));
      storages.emplace_back(key, memory_of<float>({static_cast<float>(storages.size())}));
    }
    std::reverse(entries.begin(), entries.end());
    const Archive archive = open_text(zip_file(torch_records(py::dict(entries), storages))).value();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(floats(archive, "t" + keys[i]), Floats{static_cast<float>(i)}) << keys[i];
    }
  }
}

TEST(PytorchZip, StoragesThatAreTooShortOrTooLongAreNamed) {
  for (const std::size_t size : {0u, 4u, 15u, 20u}) {
    const std::string file = with_changed(
        "archive/data/0", [&](ZipItem& item) { item.content = std::string(size, 'x'); });
    expect_refused(open_text(file), ErrorCode::size_mismatch, "storage '0'");
    EXPECT_EQ(open_text(file).error().tensor, "w");
  }
}

TEST(PytorchZip, AStorageMayHaveBytesLeftOverThatMakeNoElement) {
  for (const std::size_t size : {16u, 17u, 19u}) {
    const std::string file = with_changed(
        "archive/data/0", [&](ZipItem& item) { item.content = std::string(size, 'x'); });
    const Archive archive = open_text(file).value();
    EXPECT_EQ(archive.get("w").value().byte_size(), 16u);
  }
}

TEST(PytorchZip, KeysOfStoragesCannotLeadElsewhere) {
  for (const char* key : {"../version", "../data.pkl", "0/../0", "/0", "", "0\0x"}) {
    const Py object = py::dict({{"w", torch_tensor({.shape = {1}, .key = key, .elements = 1})}});
    expect_refused(open_text(zip_file(torch_records(object, {{"x", memory_of<float>({1})}}))),
                   ErrorCode::missing_storage);
  }
}

TEST(PytorchZip, OneStorageUnderTwoTypesOfOtherWidthIsRefused) {
  const Py object =
      py::dict({{"a", torch_tensor({.shape = {4}, .elements = 4})},
                {"b", torch_tensor({.shape = {4}, .elements = 4, .type = "Double"})}});
  expect_refused(open_text(zip_file(torch_records(object, {{"0", std::string(16, 'x')}}))),
                 ErrorCode::size_mismatch, "float64");
  // Of the same width, the same bytes are taken as another type.
  const Py same = py::dict({{"a", torch_tensor({.shape = {2}, .elements = 2})},
                            {"b", torch_tensor({.shape = {2}, .elements = 2, .type = "Int"})}});
  const Archive archive =
      open_text(zip_file(torch_records(same, {{"0", memory_of<float>({1, 2})}}))).value();
  EXPECT_EQ(archive.info(1).dtype, DType::i32);
  EXPECT_EQ(archive.ties()[1], std::nullopt);
}

TEST(PytorchZip, AWrongChecksumOfThePickleIsRefusedAndNoneIsFine) {
  const auto with_crc = [](const std::string& name, std::uint32_t crc) {
    return with_changed(name, [&](ZipItem& item) {
      item = {.name = item.name,
              .content = item.content,
              .local = {.crc = crc},
              .directory = {.crc = crc}};
    });
  };
  expect_refused(open_text(with_crc("archive/data.pkl", 7)), ErrorCode::checksum_mismatch,
                 "data.pkl");
  expect_refused(open_text(with_crc("archive/version", 7)), ErrorCode::checksum_mismatch,
                 "version");
  expect_sample(open_text(with_crc("archive/data.pkl", 0)));
  // Storages are read in parts, and PyTorch does not look at their checksums either.
  expect_sample(open_text(with_crc("archive/data/0", 7)));
}

TEST(PytorchZip, ADirectoryWithoutChecksumsIsFine) {
  std::vector<ZipItem> items = sample_records();
  for (ZipItem& item : items) item.directory.crc = 0;
  expect_sample(open_text(zip_file(items)));
}

TEST(PytorchZip, BytesBehindTheArchiveAreLeftAloneInALenientReading) {
  const std::string whole = zip_file(sample_records());
  for (const std::string& more :
       {std::string("\n"), std::string(1000, '\0'), whole.substr(0, 50)}) {
    const std::string file = whole + more;
    expect_refused(open_text(file), ErrorCode::bad_archive, "lenient");
    const Result<Archive> opened = open_text(file, {.strictness = Strictness::lenient});
    expect_sample(opened);
    expect_note(*opened, "were ignored, from byte " + std::to_string(whole.size()));
  }
  // Two archives in one file are two ways to read it.
  expect_refused(open_text(whole + whole, {.strictness = Strictness::lenient}),
                 ErrorCode::bad_archive, "");
}

TEST(PytorchZip, BytesBehindThePickleAreANoteUnlessStrict) {
  const std::string file =
      with_changed("archive/data.pkl", [](ZipItem& item) { item.content += "more"; });
  const Archive archive = open_text(file).value();
  expect_note(archive, "4 bytes follow the pickle");
  expect_refused(open_text(file, {.strictness = Strictness::strict}), ErrorCode::bad_archive,
                 "4 bytes");
}

TEST(PytorchZip, ABrokenPickleIsAnErrorThatNamesTheFile) {
  for (const char* pickle : {"", "\x80\2", "\x80\2}", "\x80\2\xff.", "\x80\2h\5."}) {
    const std::string file =
        with_changed("archive/data.pkl", [&](ZipItem& item) { item.content = pickle; });
    expect_refused(open_text(file), ErrorCode::bad_pickle);
    EXPECT_FALSE(open_text(file, {.strictness = Strictness::lenient}));
  }
}

TEST(PytorchZip, AFileThatAnotherZipWriterMadeIsRead) {
  std::vector<ZipItem> items = sample_records();
  for (ZipItem& item : items) {
    item = {.name = item.name, .content = item.content, .zip64 = true, .zip64_directory = true};
  }
  expect_sample(open_text(zip_file(items, {.zip64 = true})));
  for (ZipItem& item : items) {
    item = {.name = item.name, .content = item.content, .descriptor = Descriptor::plain32};
  }
  expect_sample(open_text(zip_file(items, {.comment = "made by hand"})));
}

TEST(PytorchZip, TensorsWithoutDataOnTheMetaDeviceAreSkipped) {
  const Py object =
      py::dict({{"m", torch_tensor({.shape = {2}, .key = "9", .elements = 2, .device = "meta"})},
                {"w", torch_tensor({.shape = {2}, .elements = 2})}});
  const Archive archive =
      open_text(zip_file(torch_records(object, {{"0", memory_of<float>({1, 2})}}))).value();
  EXPECT_EQ(names_of(archive), std::vector<std::string>{"w"});
  EXPECT_NE(reason_for(archive, "m").find("meta"), std::string::npos);
}

}  // namespace
}  // namespace andiron::test
