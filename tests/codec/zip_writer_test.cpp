// SPDX-License-Identifier: MIT OR Apache-2.0
// Zip archives that we write, as we and others read them.
#include "src/codec/zip/writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "src/codec/zip/reader.h"
#include "tests/support/noise.h"
#include "tests/support/sparse_source.h"
#include "tests/support/test_sink.h"
#include "tests/support/test_source.h"
#include "tests/support/zip_writing.h"

namespace andiron::detail {
namespace {

using test::crc_of_text;
using test::little_endian;
using test::noise;
using test::source_of;
using test::torch_item;
using test::ZipWriting;

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

struct Entry {
  std::string name;
  std::string content;
};

std::string zip_of(const std::vector<Entry>& entries, std::uint64_t alignment = 0) {
  MemorySink sink;
  ZipWriter zip(sink);
  ZipLayout layout;
  for (const Entry& entry : entries) {
    EXPECT_TRUE(zip.begin(entry.name, entry.content.size(), alignment));
    const ZipPlace place = layout.add(entry.name, entry.content.size(), alignment).value();
    EXPECT_EQ(zip.data_offset(), place.data);
    EXPECT_EQ(zip.size(), place.data);
    EXPECT_TRUE(zip.write(bytes(entry.content)));
    EXPECT_TRUE(zip.end());
    EXPECT_EQ(zip.size(), place.end);
  }
  EXPECT_TRUE(zip.finish());
  EXPECT_EQ(zip.size(), layout.size());
  std::string file(sink.take().text());
  EXPECT_EQ(file.size(), layout.size());
  return file;
}

// Zeros that sinks know by where they lie: to look at gigabytes of them takes time.
const std::vector<std::byte>& zeros() {
  static const std::vector<std::byte> block(std::size_t{1} << 24);
  return block;
}

// Keeps all but zeros(), so that entries may be larger than memory.
class SparseSink : public Sink {
 public:
  Status write(std::span<const std::byte> data) override {
    if (data.data() != zeros().data()) {
      pieces_.emplace_back(size_,
                           std::string(reinterpret_cast<const char*>(data.data()), data.size()));
    }
    size_ += data.size();
    return {};
  }

  ByteSourcePtr source() const { return std::make_shared<test::SparseSource>(pieces_, size_); }
  std::uint64_t size() const { return size_; }

 private:
  std::vector<test::SparseSource::Piece> pieces_;
  std::uint64_t size_ = 0;
};

void write_zeros(ZipWriter& zip, std::uint64_t count) {
  while (count != 0) {
    const std::size_t part =
        static_cast<std::size_t>(std::min<std::uint64_t>(count, zeros().size()));
    ASSERT_TRUE(zip.write(std::span(zeros()).first(part)));
    count -= part;
  }
}

TEST(ZipWriter, WritesEveryByteAsItIsSaid) {
  const std::uint16_t none = 0;
  const std::uint16_t day = 0x21;
  const std::uint32_t crc = crc_of_text("data");
  const std::string local =
      little_endian(std::uint32_t{0x04034b50}, std::uint16_t{20}, std::uint16_t{0x0808}, none, none,
                    day, std::uint32_t{0}, std::uint32_t{0}, std::uint32_t{0}, std::uint16_t{1},
                    std::uint16_t{29}) +
      "a" + "FB" + little_endian(std::uint16_t{25}) + std::string(25, 'Z');
  ASSERT_EQ(local.size(), 60u);
  const std::string descriptor =
      little_endian(std::uint32_t{0x08074b50}, crc, std::uint32_t{4}, std::uint32_t{4});
  const std::string directory =
      little_endian(std::uint32_t{0x02014b50}, std::uint16_t{0x032d}, std::uint16_t{20},
                    std::uint16_t{0x0808}, none, none, day, crc, std::uint32_t{4}, std::uint32_t{4},
                    std::uint16_t{1}, none, none, none, none, std::uint32_t{0x81a40000},
                    std::uint32_t{0}) +
      "a";
  const std::string end =
      little_endian(std::uint32_t{0x06054b50}, none, none, std::uint16_t{1}, std::uint16_t{1},
                    static_cast<std::uint32_t>(directory.size()), std::uint32_t{80}, none);
  EXPECT_EQ(zip_of({{"a", "data"}}, 60), local + "data" + descriptor + directory + end);
}

TEST(ZipWriter, AnArchiveWithoutEntriesIsItsEnd) {
  EXPECT_EQ(zip_of({}), "PK\5\6" + std::string(18, '\0'));
  EXPECT_TRUE(ZipReader::open(source_of(zip_of({})), {}).value()->entries().empty());
}

TEST(ZipWriter, OurReaderReadsWhatItWrites) {
  const std::vector<Entry> entries = {
      {"a", "text"}, {"folder/empty", ""}, {"\xc3\xa9\xe6\x97\xa5", noise(100'000)}, {"last", "x"}};
  for (const std::uint64_t alignment : {0u, 1u, 7u, 64u, 4096u, 32768u}) {
    const std::string file = zip_of(entries, alignment);
    const ZipReaderPtr zip = ZipReader::open(source_of(file), {}).value();
    ASSERT_EQ(zip->entries().size(), entries.size());
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(zip->entries()[i].name, entries[i].name);
      EXPECT_EQ(zip->entries()[i].crc, crc_of_text(entries[i].content));
      EXPECT_EQ(zip->read(i, 1 << 20).value().text(), entries[i].content);
      const std::uint64_t offset = zip->data_offset(i, 0).value();
      EXPECT_EQ(file.substr(offset, entries[i].content.size()), entries[i].content);
      EXPECT_EQ(alignment == 0 ? 0 : offset % alignment, 0u);
    }
  }
}

TEST(ZipWriter, DataThatComesInPartsHasTheChecksumOfTheWhole) {
  const std::string content = noise(10'000);
  MemorySink sink;
  ZipWriter zip(sink);
  ASSERT_TRUE(zip.begin("a", content.size()));
  std::string_view rest = content;
  for (std::size_t part = 0; !rest.empty(); ++part) {
    const std::size_t count = std::min(rest.size(), part * 7 % 300);
    ASSERT_TRUE(zip.write(bytes(rest.substr(0, count))));
    rest.remove_prefix(count);
  }
  ASSERT_TRUE(zip.end());
  ASSERT_TRUE(zip.finish());
  EXPECT_EQ(sink.take().text(), zip_of({{"a", content}}));
}

// The same places as in a file of PyTorch: its readers may compute them.
TEST(ZipWriter, PadsAsPytorchDoes) {
  ZipWriting torch;
  ZipLayout ours;
  const std::pair<const char*, std::uint64_t> records[] = {
      {"archive/data.pkl", 1000},       {"archive/empty", 0}, {"archive/data/0", 5'000'000'000},
      {"archive/data/1", 17},           {"archive/none", 0},  {"archive/data/2", 4'294'967'295},
      {"archive/data/3", 4'294'967'294}};
  for (const auto& [name, size] : records) {
    const std::uint64_t data = torch.add({.name = name, .hole = size, .torch_alignment = 64});
    const ZipPlace place = ours.add(name, size, 64).value();
    EXPECT_EQ(place.data, data) << name;
    EXPECT_EQ(place.end, torch.size()) << name;
  }
  EXPECT_EQ(ours.size(), torch.source()->size());
}

TEST(ZipWriter, TheDirectoryAloneTellsWhereAlignedDataLies) {
  const std::string file = zip_of({{"a", "text"}, {"b", ""}, {"c", noise(1000)}}, 64);
  const auto source = std::make_shared<test::TestSource>(file);
  const ZipReaderPtr zip = ZipReader::open(source, {}).value();
  const std::uint64_t reads = source->reads();
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(zip->data_offset(i).value() % 64, 0u);
  EXPECT_EQ(source->reads(), reads);
}

TEST(ZipWriter, LargeEntriesAndFarOnesHaveZip64Fields) {
  SparseSink sink;
  ZipWriter zip(sink);
  ZipLayout layout;
  const std::uint64_t large = 0xffffffff;
  for (const auto& [name, size] :
       {std::pair("small", std::uint64_t{5}), std::pair("large", large),
        std::pair("far", std::uint64_t{5000}), std::pair("empty", std::uint64_t{0})}) {
    ASSERT_TRUE(zip.begin(name, size, 64));
    ASSERT_TRUE(layout.add(name, size, 64));
    write_zeros(zip, size);
    ASSERT_TRUE(zip.end());
  }
  ASSERT_TRUE(zip.finish());
  EXPECT_EQ(sink.size(), layout.size());
  EXPECT_TRUE(layout.has_zip64_end());
  const ZipReaderPtr read = ZipReader::open(sink.source(), {}).value();
  ASSERT_EQ(read->entries().size(), 4u);
  EXPECT_EQ(read->entries()[1].bytes, large);
  EXPECT_GT(read->entries()[2].header_offset, large);
  EXPECT_EQ(read->entries()[2].crc, crc_of_text(std::string(5000, '\0')));
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint64_t told = read->data_offset(i).value();
    EXPECT_EQ(told % 64, 0u);
    EXPECT_TRUE(test::head_of(read, i, 1)) << i;
    EXPECT_EQ(read->data_offset(i, 0).value(), told) << i;
  }
}

TEST(ZipWriter, ManyEntriesHaveAZip64End) {
  for (const std::size_t count : {65534u, 65535u, 65536u}) {
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < count; ++i) entries.push_back({std::to_string(i), ""});
    const std::string file = zip_of(entries);
    EXPECT_EQ(file.find("PK\6\7") != file.npos, count >= 65535);
    EXPECT_EQ(ZipReader::open(source_of(file), {}).value()->entries().size(), count);
  }
}

TEST(ZipWriter, MoreOrLessDataThanAnnouncedIsRefused) {
  MemorySink sink;
  ZipWriter more(sink);
  ASSERT_TRUE(more.begin("a", 3));
  ASSERT_TRUE(more.write(bytes("ab")));
  const Status beyond = more.write(bytes("cd"));
  EXPECT_EQ(beyond.error().code, ErrorCode::size_mismatch);
  EXPECT_EQ(beyond.error().found, "4 bytes");
  EXPECT_EQ(beyond.error().expected, "3");
  ZipWriter less(sink);
  ASSERT_TRUE(less.begin("a", 3));
  ASSERT_TRUE(less.write(bytes("ab")));
  EXPECT_EQ(less.end().error().code, ErrorCode::size_mismatch);
}

TEST(ZipWriter, CallsOutOfOrderAreRefused) {
  MemorySink sink;
  ZipWriter zip(sink);
  EXPECT_EQ(zip.write(bytes("a")).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(zip.end().error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(zip.begin("a", 0));
  EXPECT_EQ(zip.begin("b", 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(zip.finish().error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(zip.end());
  ASSERT_TRUE(zip.finish());
  EXPECT_EQ(zip.begin("b", 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(zip.finish().error().code, ErrorCode::invalid_argument);
}

TEST(ZipWriter, WhatAZipCannotHoldIsRefused) {
  ZipLayout layout;
  EXPECT_EQ(layout.add("", 0, 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(layout.add(std::string(65536, 'n'), 0, 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(layout.add("a", 0, 32769).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(layout.add("a", ~std::uint64_t{0}, 0).error().code, ErrorCode::overflow);
  EXPECT_TRUE(layout.add(std::string(65535, 'n'), std::uint64_t{1} << 62, 32768));
  EXPECT_EQ(layout.add("a", 0, 0).error().code, ErrorCode::overflow);
}

TEST(ZipWriter, PassesOnWhatTheSinkSays) {
  test::FullSink full;
  ZipWriter zip(full);
  EXPECT_EQ(zip.begin("a", 1).error().code, ErrorCode::io);
}

}  // namespace
}  // namespace andiron::detail
