// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack files that are cut, changed or made to do harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "andiron/open.h"
#include "tests/support/burnpack_file.h"
#include "tests/support/burnpack_reading.h"
#include "tests/support/modest.h"
#include "tests/support/repeated_text.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

TEST(BurnpackReader, RefusalsSayWhatWasFoundAndWhatWasExpected) {
  const auto error = [](const std::string& file) {
    return open_burnpack(file).error().to_string();
  };
  const std::string file = worked_example();
  EXPECT_EQ(code_of(file.substr(0, 4)), ErrorCode::truncated);
  EXPECT_NE(error(file.substr(0, 4)).find("4 bytes"), std::string::npos);
  EXPECT_EQ(code_of("BURN" + file.substr(4)), ErrorCode::not_a_weight_file);
  EXPECT_NE(error("BURN" + file.substr(4)).find("NRUB"), std::string::npos);
  std::string newer = file;
  newer[4] = 2;
  EXPECT_EQ(code_of(newer), ErrorCode::unsupported);
  EXPECT_NE(error(newer).find("version 2"), std::string::npos);
  EXPECT_EQ(code_of(file.substr(0, 100)), ErrorCode::truncated);
  EXPECT_NE(error(file.substr(0, 100)).find("at least 246"), std::string::npos);
  const Result<Archive> cut = open_burnpack(file.substr(0, 769));
  EXPECT_EQ(cut.error().code, ErrorCode::truncated);
  EXPECT_EQ(cut.error().tensor, "bias");
  EXPECT_NE(cut.error().to_string().find("513 bytes"), std::string::npos);
  EXPECT_NE(cut.error().to_string().find("at least 514"), std::string::npos);
  EXPECT_TRUE(open_burnpack(file));
  EXPECT_TRUE(has_note(open_burnpack(file + "x").value(), "1 bytes after"));
}

TEST(BurnpackReader, ABrokenFileNamedBpkGetsTheReasonWhy) {
  const TempDir folder;
  write_file(folder.file("m.bpk"), "NRU");
  const Result<Archive> archive = open(folder.file("m.bpk"));
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::truncated);
  EXPECT_EQ(archive.error().file, folder.file("m.bpk"));
}

TEST(BurnpackReader, RefusesMetadataBeyondTheLimitBeforeAllocating) {
  const std::string fixed("NRUB\1\0", 6);
  EXPECT_EQ(code_of(fixed + from_hex("01004006")), ErrorCode::header_too_large);
  EXPECT_EQ(code_of(fixed + from_hex("00004006")), ErrorCode::truncated);
  Limits limits;
  limits.burnpack_metadata_bytes = 235;
  EXPECT_EQ(code_of(worked_example(), Strictness::standard, limits), ErrorCode::header_too_large);
  limits.burnpack_metadata_bytes = 236;
  EXPECT_TRUE(open_burnpack(worked_example(), Strictness::standard, limits));
}

TEST(BurnpackReader, KeepsToTheLimitsOfTensorsNamesAndMetadata) {
  Limits limits;
  limits.tensors = 2;
  EXPECT_EQ(code_of(worked_example(), Strictness::standard, limits), ErrorCode::limit_exceeded);
  limits.tensors = 3;
  EXPECT_TRUE(open_burnpack(worked_example(), Strictness::standard, limits));
  limits = {};
  limits.name_bytes = 5;
  EXPECT_EQ(code_of(worked_example(), Strictness::standard, limits), ErrorCode::limit_exceeded);
  limits.name_bytes = 6;
  EXPECT_TRUE(open_burnpack(worked_example(), Strictness::standard, limits));
  limits = {};
  limits.metadata_bytes = 300;
  EXPECT_EQ(code_of(worked_example(), Strictness::standard, limits), ErrorCode::limit_exceeded);
}

TEST(BurnpackReader, WhatBurnWouldNotReadIsReadHere) {
  // Burn's limits on tensors, tensor sizes and file sizes do not bound reading.
  Limits limits;
  limits.burnpack_tensors = 1;
  limits.burnpack_tensor_bytes = 1;
  limits.burnpack_file_bytes = 1;
  EXPECT_TRUE(open_burnpack(worked_example(), Strictness::standard, limits));
}

TEST(BurnpackReader, HugeCountsAllocateNothing) {
  const Cbor counts[] = {
      from_hex("a1 67") + "tensors" + from_hex("bbffffffffffffffff"),
      from_hex("a1 67") + "tensors" + from_hex("bb00000000ffffffff 6161 a3"),
      from_hex("bbffffffffffffffff 67") + "tensors" + from_hex("a0"),
      from_hex("a1 67") + "tensors" + from_hex("a1 7bffffffffffffffff"),
      from_hex("a2 67") + "tensors" + from_hex("a0 68") + "metadata" +
          from_hex("bbffffffffffffffff"),
      from_hex("a2 67") + "tensors" + from_hex("a0 61") + "x" + from_hex("9bffffffffffffffff"),
      from_hex("a2 67") + "tensors" + from_hex("a0 61") + "x" + from_hex("5bffffffffffffffff"),
  };
  for (const Cbor& cbor : counts) {
    EXPECT_EQ(code_of(burnpack_file(cbor)), ErrorCode::bad_header);
    expect_modest(burnpack_file(cbor));
  }
  // A table is made for no more tensors than the metadata has room for.
  const Cbor lying = from_hex("a1 67") + "tensors" + from_hex("bb0000000100000000") +
                     pack_metadata({pack_u8("t", 0, 1)}).substr(10);
  EXPECT_EQ(code_of(burnpack_file(lying, "x")), ErrorCode::bad_header);
  expect_modest(burnpack_file(lying, "x"));
}

TEST(BurnpackReader, IndefiniteLengthsWithoutAnEndAreRefused) {
  const Cbor whole = from_hex("bf 67") + "tensors" + from_hex("bf 6161") +
                     pack_u8("", 0, 1).descriptor() + from_hex("ff ff");
  EXPECT_TRUE(open_burnpack(burnpack_file(whole, "x")));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(open_burnpack(burnpack_file(whole.substr(0, size), "x"))) << size;
  }
}

TEST(BurnpackReader, DeepNestingIsRefused) {
  const auto deep = [](const std::string& open, std::size_t levels) {
    return burnpack_file(pack_metadata({}, {{"x", repeated(open, levels)}}));
  };
  EXPECT_EQ(code_of(deep("\x81", 1'000'000)), ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of(deep("\x9f", 1'000'000)), ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of(deep(from_hex("a1 00"), 1'000'000)), ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of(deep("\xc1", 1'000'000)), ErrorCode::bad_header);
}

TEST(BurnpackReader, HostileOffsetsAndShapesAreRefused) {
  const std::uint64_t most = ~std::uint64_t{0};
  const auto code = [&](const std::vector<std::uint64_t>& shape, std::uint64_t begin,
                        std::uint64_t end) {
    return code_of(
        burnpack_file(pack_metadata({{"t", cbor_text("U8"), shape, begin, end}}), counting(600)));
  };
  EXPECT_EQ(code({4}, 4, 0), ErrorCode::bad_offsets);
  EXPECT_EQ(code({4}, most, 3), ErrorCode::bad_offsets);
  EXPECT_EQ(code({4}, most - 4, most), ErrorCode::truncated);
  EXPECT_EQ(code({256}, most - 256, most), ErrorCode::truncated);
  EXPECT_EQ(code({0}, most, most), ErrorCode::truncated);
  EXPECT_EQ(code({most}, 0, most), ErrorCode::overflow);
  EXPECT_EQ(code({std::uint64_t{1} << 40}, 0, std::uint64_t{1} << 40), ErrorCode::truncated);
  EXPECT_EQ(code({std::uint64_t{1} << 32, std::uint64_t{1} << 32}, 0, 0), ErrorCode::overflow);
  EXPECT_EQ(code({most, most, 0}, 0, 0), ErrorCode::overflow);
  // The sizes of unknown types follow from nothing, but the data must be there.
  const auto raw = [&](std::uint64_t begin, std::uint64_t end) {
    return burnpack_file(pack_metadata({{"t", cbor_text("X"), {most, most}, begin, end}}),
                         counting(600));
  };
  EXPECT_EQ(code_of(raw(0, most)), ErrorCode::truncated);
  EXPECT_EQ(data_of(open_burnpack(raw(0, 5)).value(), "t"), counting(5));
}

TEST(BurnpackReader, TextThatIsNotUtf8IsRefused) {
  EXPECT_EQ(code_of(burnpack_file(pack_metadata({pack_u8("a\xff", 0, 1)}), "x")),
            ErrorCode::bad_header);
  for (const char* part : {"metadata", "scalars"}) {
    const Cbor entry = cbor_map({{"\xc3", cbor_map({{"Int", cbor_number(1)}})}});
    EXPECT_EQ(code_of(burnpack_file(pack_metadata({}, {{part, entry}}))), ErrorCode::bad_header);
  }
}

TEST(BurnpackReader, RandomMetadataIsRefused) {
  EXPECT_EQ(code_of(burnpack_file(std::string(100, '\xff'))), ErrorCode::bad_header);
  EXPECT_EQ(code_of(burnpack_file("")), ErrorCode::bad_header);
  EXPECT_EQ(code_of(burnpack_file(counting(200))), ErrorCode::bad_header);
}

TEST(BurnpackReader, ErrorsNameTheTensorAndThePlace) {
  const Cbor metadata = pack_metadata({pack_u8("good", 0, 1), {"bad", cbor_number(5), {1}, 0, 1}});
  const Result<Archive> archive = open_burnpack(burnpack_file(metadata, "x"));
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::bad_header);
  EXPECT_EQ(archive.error().tensor, "bad");
  EXPECT_EQ(archive.error().file, "memory");
  EXPECT_TRUE(archive.error().found.starts_with("at byte ")) << archive.error().found;
}

// A well-formed result: names are unique, every tensor can be described and read.
void check_well_formed(const Archive& archive) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    EXPECT_TRUE(names.insert(std::string(info.name)).second);
    const Result<Tensor> tensor = archive.snapshot(i).read();
    ASSERT_TRUE(tensor) << tensor.error().to_string();
    EXPECT_EQ(tensor->byte_size(), info.byte_size);
    EXPECT_EQ(archive.find(info.name), i);
  }
}

std::string old_file() {
  return burnpack_file(pack_metadata({{"a", cbor_text("F32"), {3}, 0, 12, 77},
                                      pack_u8("b", 12, 17),
                                      {"c", cbor_text("Bool"), {2, 2}, 17, 21}},
                                     {pack_producer("0.19.1")}),
                       counting(21), PackLayout::unaligned);
}

TEST(BurnpackReader, AFileCutAnywhereIsRefused) {
  const std::string files[] = {
      smallest_example(), worked_example(), old_file(),
      burnpack_file(pack_metadata({pack_u8("t", 0, 512)}), counting(512)),
      burnpack_file(pack_metadata({pack_u8("t", 0, 512)}), counting(512), PackLayout::unaligned)};
  for (const std::string& file : files) {
    ASSERT_TRUE(open_burnpack(file));
    for (const Strictness strictness :
         {Strictness::lenient, Strictness::standard, Strictness::strict}) {
      for (std::size_t size = 0; size < file.size(); ++size) {
        ASSERT_FALSE(open_burnpack(file.substr(0, size), strictness)) << size;
      }
    }
  }
  // Without tensors, nothing is missing once the metadata is there.
  const std::string empty = burnpack_file(pack_metadata({}, {pack_producer("1.0")}));
  const std::size_t metadata_end = 10 + pack_metadata({}, {pack_producer("1.0")}).size();
  for (std::size_t size = 0; size < empty.size(); ++size) {
    const Result<Archive> archive = open_burnpack(empty.substr(0, size));
    ASSERT_EQ(archive.ok(), size >= metadata_end) << size;
    EXPECT_TRUE(!archive || archive->metadata().at("version") == "1.0");
  }
}

TEST(BurnpackReader, FilesCutOrChangedTakeLittleMemory) {
  for (const std::string& file : {smallest_example(), worked_example(), old_file()}) {
    expect_modest_when_changed(file);
  }
}

TEST(BurnpackReader, AFileOnDiskCutAnywhereIsRefused) {
  const TempDir folder;
  const std::string file = smallest_example();
  for (std::size_t size = 0; size < file.size(); ++size) {
    write_file(folder.file("m.bpk"), file.substr(0, size));
    EXPECT_FALSE(open(folder.file("m.bpk"))) << size;
  }
}

TEST(BurnpackReader, EveryChangedByteOfTheHeaderGivesAnErrorOrAWellFormedResult) {
  const std::string files[] = {smallest_example(), worked_example(), old_file()};
  for (const std::string& original : files) {
    const std::size_t head = std::min<std::size_t>(original.size(), 256);
    for (std::size_t at = 0; at < head; ++at) {
      std::vector<char> values = {'\0', '\xff', '\x7f', '\x9f', '\xbf', '\x5f', '\x1b', '\xa0'};
      for (unsigned bit = 0; bit < 8; ++bit) {
        values.push_back(static_cast<char>(original[at] ^ 1 << bit));
      }
      for (const char value : values) {
        std::string file = original;
        file[at] = value;
        for (const Strictness strictness :
             {Strictness::lenient, Strictness::standard, Strictness::strict}) {
          const Result<Archive> archive = open_burnpack(file, strictness);
          if (archive) check_well_formed(*archive);
          ASSERT_FALSE(::testing::Test::HasFailure()) << "byte " << at;
        }
      }
    }
  }
}

}  // namespace
}  // namespace andiron::test
