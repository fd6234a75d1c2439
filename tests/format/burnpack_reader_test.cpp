// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "andiron/open.h"
#include "andiron/tensor.h"
#include "andiron/write.h"
#include "tests/support/burnpack_file.h"
#include "tests/support/burnpack_reading.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

TEST(BurnpackReader, ReadsTheWorkedExample) {
  const Archive archive = open_burnpack(worked_example()).value();
  EXPECT_EQ(archive.format(), "burnpack");
  EXPECT_EQ(archive.packaging(), "single");
  EXPECT_EQ(archive.file_bytes(), 770u);
  ASSERT_EQ(archive.size(), 3u);
  EXPECT_EQ(archive.metadata(), (Metadata{{"producer", "burn"}}));
  EXPECT_TRUE(archive.notes().empty());

  const TensorInfo weight = archive.info(archive.find("weight").value());
  EXPECT_EQ(weight.dtype, DType::f32);
  EXPECT_EQ(weight.file_dtype, "F32");
  EXPECT_EQ(weight.byte_size, 16u);
  EXPECT_EQ(weight.offset, 256u);
  EXPECT_EQ(weight.param_id, ParamId{42});
  EXPECT_EQ(archive.get("weight").value().shape(), Shape({2, 2}));
  EXPECT_EQ(archive.get("weight").value().read().value().to_vector<float>().value(),
            (std::vector<float>{1, 2, 3, 4}));
  const TensorInfo mask = archive.info(archive.find("mask").value());
  EXPECT_EQ(mask.dtype, DType::boolean);
  EXPECT_EQ(mask.file_dtype, "Bool(Native)");
  EXPECT_FALSE(mask.param_id);
  EXPECT_EQ(archive.get("mask").value().read().value().to_vector<bool>().value(),
            (std::vector<bool>{true, false, true}));
  EXPECT_EQ(to_float(archive.get("bias").value().read().value().to_vector<Float16>().value()[0]),
            0.5f);

  EXPECT_EQ(*archive.value()->find("lr")->get<double>(), 0.001);
  EXPECT_EQ(*archive.value()->find("step")->get<std::uint64_t>(), 42u);
}

TEST(BurnpackReader, ReadsTheSmallestExample) {
  const Archive archive = open_burnpack(smallest_example()).value();
  ASSERT_EQ(archive.size(), 1u);
  EXPECT_EQ(archive.info(0).name, "w");
  EXPECT_EQ(archive.info(0).param_id, ParamId{42});
  EXPECT_TRUE(archive.metadata().empty());
  EXPECT_TRUE(archive.value()->is_null());
  EXPECT_EQ(archive.snapshot(0).read().value().to_vector<float>().value(),
            (std::vector<float>{1, 2}));
}

TEST(BurnpackReader, AnEmptyPackHasNothingInIt) {
  const Archive archive = open_burnpack(burnpack_file(pack_metadata({}))).value();
  EXPECT_TRUE(archive.empty());
  EXPECT_TRUE(archive.metadata().empty());
  EXPECT_TRUE(archive.value()->is_null());
  EXPECT_TRUE(archive.notes().empty());
  EXPECT_EQ(archive.get("missing").error().code, ErrorCode::missing_tensor);
}

TEST(BurnpackReader, TensorsComeInByteOrderOfTheirNames) {
  const Archive archive =
      open_burnpack(
          burnpack_file(pack_metadata({pack_u8("Z", 512, 515), pack_u8("a", 0, 1),
                                       pack_u8("a.b", 256, 258), pack_u8("\xc3\xa9", 768, 772)}),
                        counting(772)))
          .value();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < archive.size(); ++i) names.emplace_back(archive.info(i).name);
  EXPECT_EQ(names, (std::vector<std::string>{"Z", "a", "a.b", "\xc3\xa9"}));
  EXPECT_EQ(data_of(archive, "a"), counting(772).substr(0, 1));
  EXPECT_EQ(data_of(archive, "a.b"), counting(772).substr(256, 2));
  EXPECT_EQ(data_of(archive, "Z"), counting(772).substr(512, 3));
  EXPECT_EQ(data_of(archive, "\xc3\xa9"), counting(772).substr(768, 4));
  EXPECT_TRUE(archive.notes().empty());
}

TEST(BurnpackReader, ReadsFilesOf0_19WhereTheyLie) {
  const std::vector<PackTensor> tensors = {pack_u8("a", 0, 5), pack_u8("b", 5, 12)};
  const std::string file =
      burnpack_file(pack_metadata(tensors), counting(12), PackLayout::unaligned);
  const Archive archive = open_burnpack(file).value();
  EXPECT_EQ(data_of(archive, "a"), counting(12).substr(0, 5));
  EXPECT_EQ(data_of(archive, "b"), counting(12).substr(5));
  EXPECT_EQ(archive.info(0).offset, file.size() - 12);
  EXPECT_TRUE(archive.notes().empty());
}

TEST(BurnpackReader, FilesAndMemoryReadAlike) {
  const TempDir folder;
  const std::string path = folder.file("m.bpk");
  write_file(path, worked_example());
  for (IoMode mode : {IoMode::automatic, IoMode::mmap, IoMode::pread, IoMode::direct}) {
    const Archive archive = open(path, {.io = mode}).value();
    EXPECT_EQ(archive.origin(), path);
    EXPECT_EQ(data_of(archive, "mask"), from_hex("01 00 01"));
    EXPECT_EQ(data_of(archive, "bias"), from_hex("00 38"));
  }
}

TEST(BurnpackReader, OpeningReadsTheHeaderAlone) {
  const std::string data = counting(100'000);
  const std::string file = burnpack_file(pack_metadata({pack_u8("t", 0, 100'000)}), data);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
  const auto source =
      std::make_shared<TestSource>(std::vector<std::byte>(bytes.begin(), bytes.end()));
  source->fail_reads_past(512);
  const Archive archive = open(ByteSourcePtr(source)).value();
  EXPECT_LE(source->bytes_read(), 1024u);
  const Result<Tensor> broken = archive.snapshot(0).read();
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().tensor, "t");
  source->fail_reads_past(~std::uint64_t{0});
  EXPECT_EQ(data_of(archive, "t"), data);
}

TEST(BurnpackReader, SnapshotsReadFromSeveralThreads) {
  const Archive archive = open_burnpack(worked_example()).value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) EXPECT_EQ(data_of(archive, "mask").size(), 3u);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(BurnpackReader, BorrowsAlignedDataFromAMappingThatOutlivesArchiveAndFile) {
  const TempDir folder;
  const std::string path = folder.file("m.bpk");
  write_file(path, worked_example());
  std::vector<Tensor> borrowed;
  {
    const Archive archive = open(path).value();
    for (std::size_t i = 0; i < archive.size(); ++i) {
      EXPECT_TRUE(archive.snapshot(i).can_borrow());
      borrowed.push_back(archive.snapshot(i).borrow().value());
    }
  }
  std::filesystem::remove(path);
  for (const Tensor& tensor : borrowed) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 256, 0u);
  }
  EXPECT_EQ(borrowed[0].bytes().text(), from_hex("00 38"));
  EXPECT_EQ(borrowed[1].bytes().text(), from_hex("01 00 01"));
  EXPECT_EQ(borrowed[2].to_vector<float>().value()[3], 4.0f);
}

TEST(BurnpackReader, BorrowsFromStaticMemoryWhereItLies) {
  alignas(256) static std::byte memory[770];
  const std::string file = worked_example();
  std::memcpy(memory, file.data(), file.size());
  const Archive archive = open(Bytes::borrow(memory)).value();
  const Tensor weight = archive.get("weight").value().borrow().value();
  EXPECT_EQ(weight.bytes().data(), memory + 256);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(weight.bytes().data()) % 256, 0u);
  EXPECT_EQ(weight.as<float>().value()[0], 1.0f);
  // A copy is a copy.
  EXPECT_NE(archive.get("weight").value().read().value().bytes().data(), memory + 256);
}

TEST(BurnpackReader, ReadsPartsOfATensor) {
  const std::string file = burnpack_file(pack_metadata({pack_u8("t", 0, 100)}), counting(100));
  const TensorSnapshot tensor = open_burnpack(file).value().get("t").value();
  std::vector<std::byte> part(7);
  ASSERT_TRUE(tensor.read_part(50, part));
  EXPECT_EQ(part[0], std::byte{51});
  EXPECT_EQ(tensor.slice(0, 90, 100).value().read().value().bytes().text(),
            counting(100).substr(90));
}

TEST(BurnpackReader, ZeroSizedTensorsAndScalarsAreRead) {
  const Archive archive =
      open_burnpack(burnpack_file(pack_metadata({{"empty", cbor_text("F32"), {0}, 0, 0},
                                                 {"empty2", cbor_text("F64"), {3, 0, 2}, 0, 0},
                                                 {"one", cbor_text("F32"), {}, 0, 4}}),
                                  counting(4)))
          .value();
  EXPECT_EQ(data_of(archive, "empty"), "");
  EXPECT_EQ(archive.get("empty2").value().shape(), Shape({3, 0, 2}));
  EXPECT_EQ(archive.get("one").value().shape(), Shape());
  EXPECT_EQ(data_of(archive, "one").size(), 4u);
}

TEST(BurnpackReader, ReadsLongOddAndUnicodeNamesAndMetadata) {
  const std::string long_name(10'000, 'n');
  const std::vector<std::string> names = {long_name,
                                          "a/b\\c",
                                          "with space",
                                          "\xe6\xa8\xa1\xe5\x9e\x8b.\xf0\x9f\x94\xa5",
                                          "",
                                          "a..b",
                                          std::string("nul\0inside", 10),
                                          "quote\"'",
                                          "__metadata__"};
  std::vector<PackTensor> tensors;
  for (const std::string& name : names) tensors.push_back(pack_u8(name, 0, 1));
  const Cbor metadata = cbor_map({{"", cbor_text("")},
                                  {"empty", cbor_text("")},
                                  {"\xf0\x9f\x94\xa5", cbor_text("\xe6\xa8\xa1")}});
  const Archive archive =
      open_burnpack(burnpack_file(pack_metadata(tensors, {{"metadata", metadata}}), "x")).value();
  for (const std::string& name : names) EXPECT_EQ(data_of(archive, name), "x") << name;
  EXPECT_EQ(archive.metadata(),
            (Metadata{{"", ""}, {"empty", ""}, {"\xf0\x9f\x94\xa5", "\xe6\xa8\xa1"}}));
}

TEST(BurnpackReader, ReadsLargeMetadata) {
  std::vector<std::pair<std::string, Cbor>> entries;
  for (int i = 0; i < 10'000; ++i) {
    entries.emplace_back("key_" + std::to_string(i), cbor_text(std::string(100, 'v')));
  }
  const std::string file =
      burnpack_file(pack_metadata({pack_u8("t", 0, 1)}, {{"metadata", cbor_map(entries)}}), "x");
  ASSERT_GT(file.size(), std::size_t{1} << 20);
  EXPECT_EQ(open_burnpack(file).value().metadata().size(), 10'000u);
}

TEST(BurnpackReader, ReadsTensorsOfManyDimensions) {
  const std::vector<std::uint64_t> shape = {2, 1, 3, 1, 2, 1, 1, 2, 1, 1};
  const Archive archive =
      open_burnpack(
          burnpack_file(pack_metadata({{"t", cbor_text("U8"), shape, 0, 24}}), counting(24)))
          .value();
  EXPECT_EQ(archive.snapshot(0).shape(), Shape(shape));
}

TEST(BurnpackReader, KeepsDistinctIdsAndTheirAbsence) {
  const Archive archive =
      open_burnpack(burnpack_file(pack_metadata({{"a", cbor_text("U8"), {1}, 0, 1, 0},
                                                 {"b", cbor_text("U8"), {1}, 0, 1, UINT64_MAX},
                                                 {"c", cbor_text("U8"), {1}, 0, 1}}),
                                  "x"))
          .value();
  EXPECT_EQ(archive.info(0).param_id, ParamId{0});
  EXPECT_EQ(archive.info(1).param_id, ParamId{UINT64_MAX});
  EXPECT_FALSE(archive.info(2).param_id);
  EXPECT_EQ(archive.snapshot(1).param_id(), ParamId{UINT64_MAX});
  EXPECT_FALSE(archive.snapshot(2).param_id());
}

TEST(BurnpackReader, ReadsScalarsOfEveryKindWithTheirTypes) {
  const Cbor scalars = cbor_map({{"b", cbor_map({{"Bool", from_hex("f5")}})},
                                 {"f", cbor_map({{"Float", from_hex("fb3f50624dd2f1a9fc")}})},
                                 {"i", cbor_map({{"Int", from_hex("3863")}})},
                                 {"u", cbor_map({{"UInt", from_hex("1bffffffffffffffff")}})}});
  const Archive archive =
      open_burnpack(burnpack_file(pack_metadata({}, {{"scalars", scalars}}))).value();
  EXPECT_EQ(*archive.value()->find("b")->get<bool>(), true);
  EXPECT_EQ(*archive.value()->find("f")->get<double>(), 0.001);
  EXPECT_EQ(*archive.value()->find("i")->get<std::int64_t>(), -100);
  EXPECT_EQ(*archive.value()->find("u")->get<std::uint64_t>(), UINT64_MAX);
}

TEST(BurnpackReader, QuantizedTensorsKeepTheirScheme) {
  const Cbor scheme = cbor_map({{"value", cbor_text("Q8S")},
                                {"param", cbor_text("F32")},
                                {"store", cbor_text("Native")},
                                {"level", cbor_text("Tensor")},
                                {"mode", cbor_text("Symmetric")}});
  const std::string payload = from_hex("01 02 fe 0000003f");
  const std::string file =
      burnpack_file(pack_metadata({{"q", cbor_map({{"QFloat", scheme}}), {3}, 0, 7}}), payload);
  const Archive archive = open_burnpack(file).value();
  EXPECT_EQ(archive.info(0).dtype, DType::qfloat);
  EXPECT_EQ(archive.info(0).file_dtype, "QFloat(Q8S,Native,Symmetric,tensor=F32)");
  EXPECT_EQ(dequantize(archive.snapshot(0).read().value()).value().to_vector<float>().value(),
            (std::vector<float>{0.5f, 1.0f, -1.0f}));
}

TEST(BurnpackReader, BooleansOf32BitsAreCarriedUnderTheirName) {
  const std::string file = burnpack_file(
      pack_metadata({{"b", cbor_map({{"Bool", cbor_text("U32")}}), {2}, 0, 8}}), counting(8));
  for (const Strictness strictness :
       {Strictness::lenient, Strictness::standard, Strictness::strict}) {
    const Archive archive = open_burnpack(file, strictness).value();
    EXPECT_EQ(archive.snapshot(0).dtype_text(), "raw:Bool(U32)");
    EXPECT_EQ(archive.snapshot(0).byte_size(), 8u);
    EXPECT_TRUE(archive.notes().empty());
  }
}

TEST(BurnpackReader, UnknownTypesAreNotedAndStrictRefusesThem) {
  const std::string file =
      burnpack_file(pack_metadata({{"t", cbor_text("F8E4M3"), {3}, 0, 3},
                                   {"u", cbor_map({{"New", cbor_list({})}}), {2}, 0, 3}}),
                    counting(3));
  const Archive archive = open_burnpack(file).value();
  EXPECT_EQ(archive.snapshot(0).dtype_text(), "raw:F8E4M3");
  EXPECT_EQ(archive.snapshot(1).dtype_text(), "raw:New");
  EXPECT_EQ(data_of(archive, "t"), counting(3));
  EXPECT_TRUE(has_note(archive, "'t': unknown dtype"));
  EXPECT_TRUE(has_note(archive, "1 more"));
  const Result<Archive> strict = open_burnpack(file, Strictness::strict);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, ErrorCode::unsupported_dtype);
  EXPECT_EQ(strict.error().tensor, "t");
  EXPECT_EQ(strict.error().found, "F8E4M3");
}

TEST(BurnpackReader, DataThatDoesNotFitIsRefusedWithNumbersAndCarriedWhenLenient) {
  struct Type {
    Cbor cbor;
    std::string name;
    std::string expected;
  };
  const Type types[] = {
      {cbor_text("F32"), "F32", "12 for f32 [3]"},
      {cbor_text("Bool"), "Bool", "3 for bool [3]"},
      {cbor_map({{"Bool", cbor_text("Native")}}), "Bool(Native)", "3 for bool [3]"},
      {cbor_map({{"Bool", cbor_text("U8")}}), "Bool(U8)", "3 for bool [3]"},
      {cbor_map({{"Bool", cbor_text("U32")}}), "Bool(U32)", "12 for u32 [3]"}};
  for (const auto& [type, name, expected] : types) {
    SCOPED_TRACE(name);
    const std::string file = burnpack_file(pack_metadata({{"t", type, {3}, 0, 13}}), counting(13));
    const Result<Archive> archive = open_burnpack(file);
    ASSERT_FALSE(archive);
    EXPECT_EQ(archive.error().code, ErrorCode::size_mismatch);
    EXPECT_EQ(archive.error().tensor, "t");
    EXPECT_EQ(archive.error().found, "13 bytes");
    EXPECT_EQ(archive.error().expected, expected);
    EXPECT_EQ(code_of(file, Strictness::strict), ErrorCode::size_mismatch);
    const Archive lenient = open_burnpack(file, Strictness::lenient).value();
    EXPECT_EQ(lenient.snapshot(0).dtype_text(), "raw:" + name);
    EXPECT_EQ(data_of(lenient, "t"), counting(13));
    EXPECT_EQ(lenient.notes().size(), 1u);
    EXPECT_TRUE(has_note(lenient, "'t': the data size does not match dtype and shape"));
    // It is not written as what it is not.
    EXPECT_EQ(write_to_memory(lenient, {.format = Format::burnpack}).error().code,
              ErrorCode::unsupported_dtype);
  }
}

TEST(BurnpackReader, OfANameGivenTwiceTheLastCountsAndStrictRefuses) {
  const std::string file = burnpack_file(
      pack_metadata({pack_u8("a", 0, 1),
                     {"t", cbor_text("U8"), {1}, 1, 2, 7},
                     pack_u8("b", 2, 3),
                     {"t", cbor_text("U8"), {2}, 3, 5, 9}},
                    {pack_producer("0.21.0"),
                     {"scalars", cbor_map({{"n", cbor_map({{"Int", cbor_number(1)}})}})}}),
      counting(5));
  for (const Strictness strictness : {Strictness::lenient, Strictness::standard}) {
    const Archive archive = open_burnpack(file, strictness).value();
    ASSERT_EQ(archive.size(), 3u);
    EXPECT_EQ(data_of(archive, "t"), counting(5).substr(3));
    EXPECT_EQ(archive.info(archive.find("t").value()).param_id, ParamId{9});
    EXPECT_EQ(data_of(archive, "b"), counting(5).substr(2, 1));
    EXPECT_EQ(archive.metadata().at("version"), "0.21.0");
    EXPECT_EQ(*archive.value()->find("n")->get<std::int64_t>(), 1);
    EXPECT_TRUE(has_note(archive, "'t': duplicate name; the last one is used"));
  }
  const Result<Archive> strict = open_burnpack(file, Strictness::strict);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, ErrorCode::duplicate_key);
  EXPECT_EQ(strict.error().tensor, "t");
}

TEST(BurnpackReader, NamesInChunksCanRepeatOthers) {
  const Cbor descriptor = pack_u8("", 0, 4).descriptor();
  const Cbor metadata = from_hex("a1") + cbor_text("tensors") + from_hex("bf") + cbor_text("ab") +
                        descriptor + from_hex("7f 61 61 61 62 ff") + descriptor + cbor_text("c") +
                        descriptor + from_hex("ff");
  const std::string file = burnpack_file(metadata, counting(4));
  const Archive archive = open_burnpack(file).value();
  EXPECT_EQ(archive.size(), 2u);
  EXPECT_EQ(data_of(archive, "ab"), counting(4));
  EXPECT_EQ(code_of(file, Strictness::strict), ErrorCode::duplicate_key);
}

TEST(BurnpackReader, KeysOfMetadataAndScalarsGivenTwiceAreNotedAndTheLastCounts) {
  const Cbor texts = cbor_map({{"k", cbor_text("1")}, {"k", cbor_text("2")}});
  const Cbor scalars = cbor_map({{"s", cbor_map({{"Int", cbor_number(1)}})},
                                 {"r", cbor_map({{"Int", cbor_number(5)}})},
                                 {"s", cbor_map({{"Bool", from_hex("f5")}})}});
  const Archive archive =
      open_burnpack(burnpack_file(pack_metadata({}, {{"metadata", texts}, {"scalars", scalars}})))
          .value();
  EXPECT_EQ(archive.metadata(), (Metadata{{"k", "2"}}));
  EXPECT_EQ(archive.value()->get<ValueDict>()->size(), 2u);
  EXPECT_TRUE(*archive.value()->find("s")->get<bool>());
  EXPECT_TRUE(has_note(archive, "'k': given twice"));
}

TEST(BurnpackReader, UnknownKeysAndTrailingBytesAreNoted) {
  const Cbor descriptor = cbor_head(5, 4) + pack_u8("", 0, 4).descriptor().substr(1) +
                          cbor_text("stride") + cbor_list({cbor_number(1)});
  const Cbor metadata =
      cbor_map({{"tensors", cbor_map({{"t", descriptor}})}, {"checksum", cbor_number(7)}}) + "tail";
  const Archive archive = open_burnpack(burnpack_file(metadata, counting(9))).value();
  EXPECT_EQ(data_of(archive, "t"), counting(4));
  EXPECT_TRUE(has_note(archive, "'t': unknown keys"));
  EXPECT_TRUE(has_note(archive, "1 unknown parts of the metadata"));
  EXPECT_TRUE(has_note(archive, "4 bytes after the metadata"));
  EXPECT_TRUE(has_note(archive, "5 bytes after the last tensor"));
  EXPECT_EQ(archive.notes().size(), 4u);
}

TEST(BurnpackReader, OverlappingDataIsReadAndStrictRefusesIt) {
  const std::string file = burnpack_file(
      pack_metadata({pack_u8("a", 0, 4), pack_u8("b", 2, 6), pack_u8("c", 0, 0)}), counting(6));
  const Archive archive = open_burnpack(file).value();
  EXPECT_EQ(data_of(archive, "b"), counting(6).substr(2));
  EXPECT_TRUE(has_note(archive, "'b': the data overlaps another tensor's"));
  const Result<Archive> strict = open_burnpack(file, Strictness::strict);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, ErrorCode::bad_offsets);
  EXPECT_EQ(strict.error().tensor, "b");
  EXPECT_NE(strict.error().to_string().find("'a'"), std::string::npos);
  // Overlaps that gaps elsewhere make up for are found by strict reading alone.
  const std::string hidden =
      burnpack_file(pack_metadata({pack_u8("a", 0, 4), pack_u8("b", 2, 6), pack_u8("c", 512, 513)}),
                    counting(513));
  EXPECT_TRUE(open_burnpack(hidden));
  EXPECT_EQ(code_of(hidden, Strictness::strict), ErrorCode::bad_offsets);
}

TEST(BurnpackReader, StrictReadingTakesWhatBurnWrites) {
  EXPECT_TRUE(open_burnpack(worked_example(), Strictness::strict));
  EXPECT_TRUE(open_burnpack(smallest_example(), Strictness::strict));
}

}  // namespace
}  // namespace andiron::test
