// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <set>

#include "andiron/burnpack_view.h"
#include "andiron/open.h"
#include "andiron/write.h"
#include "tests/support/archive_reading.h"
#include "tests/support/burnpack_file.h"
#include "tests/support/burnpack_writing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_sink.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

using Generation = BurnpackGeneration;

TensorSnapshot with_id(TensorSnapshot snapshot, std::uint64_t id) {
  return snapshot.with_param_id(ParamId{id});
}

TEST(BurnpackWriter, WritesTheWorkedExample) {
  Archive archive = archive_of(
      {with_id({"weight", Tensor::from_values<float>({2, 2}, {1, 2, 3, 4}).value()}, 42),
       {"mask", Tensor::from_values<bool>({3}, {true, false, true}).value()},
       with_id({"bias", Tensor::from_values<Float16>({1}, {to_float16(0.5)}).value()}, 7)});
  archive.set_metadata({{"producer", "burn"}});
  archive.set_value(ValueDict{{"step", std::uint64_t{42}}, {"lr", 0.001}});
  EXPECT_EQ(written(archive), worked_example());
}

TEST(BurnpackWriter, WritesTheSmallestExample) {
  EXPECT_EQ(
      written(archive_of({with_id({"w", Tensor::from_values<float>({2}, {1, 2}).value()}, 42)})),
      smallest_example());
}

TEST(BurnpackWriter, AnEmptyPackIs256BytesAnd20In0_19) {
  const std::string empty = written(Archive());
  EXPECT_EQ(empty, burnpack_file(from_hex("a1 67 74 65 6e 73 6f 72 73 a0")));
  EXPECT_EQ(empty.size(), 256u);
  EXPECT_EQ(written(Archive(), for_release(Generation::burn_0_19)), empty.substr(0, 20));
}

TEST(BurnpackWriter, KeepsDataInOrderAndSortsNamesByTheirBytes) {
  const Archive archive = archive_of({{"b", filled(DType::u8, {3})},
                                      {"\xc3\xa9", filled(DType::u8, {2})},
                                      {"a.longer", filled(DType::u8, {1})},
                                      {"Z", filled(DType::u8, {4})}});
  const auto u8 = [](const char* name, std::uint64_t begin, std::uint64_t size) {
    return PackTensor{name, cbor_text("U8"), {size}, begin, begin + size};
  };
  std::string data = from_hex("01 26 4b");
  data.resize(256, '\0');
  data += from_hex("01 26");
  data.resize(512, '\0');
  data += from_hex("01");
  data.resize(768, '\0');
  data += from_hex("01 26 4b 70");
  EXPECT_EQ(written(archive), burnpack_file(pack_metadata({u8("Z", 768, 4), u8("a.longer", 512, 1),
                                                           u8("b", 0, 3), u8("\xc3\xa9", 256, 2)}),
                                            data));
  EXPECT_EQ(written(archive, for_release(Generation::burn_0_19)),
            burnpack_file(pack_metadata({u8("Z", 6, 4), u8("a.longer", 5, 1), u8("b", 0, 3),
                                         u8("\xc3\xa9", 3, 2)}),
                          from_hex("01 26 4b 01 26 01 01 26 4b 70"), PackLayout::unaligned));
}

TEST(BurnpackWriter, EveryTensorStartsOnAMultipleOf256AndGapsAreZero) {
  for (std::size_t extra = 0; extra < 300; extra += 7) {
    Archive archive = archive_of({{"a", filled(DType::f64, {5})},
                                  {"b", filled(DType::u8, {257})},
                                  {"c", filled(DType::i16, {1})},
                                  {"d", filled(DType::f32, {64})},
                                  {"e", filled(DType::u8, {1})}});
    archive.set_metadata({{"pad", std::string(extra, 'p')}});
    const std::string file = written(archive);
    const Archive again = open_burnpack(file, Strictness::strict).value();
    std::vector<bool> is_data(file.size());
    for (std::size_t i = 0; i < again.size(); ++i) {
      const TensorInfo info = again.info(i);
      EXPECT_EQ(*info.offset % 256, 0u);
      for (std::uint64_t at = 0; at < info.byte_size; ++at) is_data[*info.offset + at] = true;
      EXPECT_EQ(again.snapshot(i).read().value().bytes().text(),
                archive.get(info.name).value().read().value().bytes().text());
    }
    std::uint64_t metadata_bytes = 0;
    ASSERT_TRUE(read_burnpack_header(std::as_bytes(std::span(file)), metadata_bytes).ok());
    for (std::size_t at = 10 + metadata_bytes; at < file.size(); ++at) {
      EXPECT_TRUE(is_data[at] || file[at] == 0) << at;
    }
    EXPECT_TRUE(is_data.back());
    EXPECT_EQ(again.file_bytes(), file.size());
    EXPECT_EQ(written(again), written(again));
  }
}

TEST(BurnpackWriter, TheDataStartsAtTheNextMultipleOf256) {
  // Metadata of every size around a multiple: exactly full, one below, one above.
  std::set<std::size_t> remainders;
  for (std::size_t extra = 0; extra < 500; ++extra) {
    Archive archive = archive_of({{"t", filled(DType::u8, {1})}});
    archive.set_metadata({{"k", std::string(100 + extra, 'v')}});
    const std::string file = written(archive);
    std::uint64_t metadata_bytes = 0;
    ASSERT_TRUE(read_burnpack_header(std::as_bytes(std::span(file)), metadata_bytes).ok());
    const std::uint64_t begin = file.size() - 1;
    EXPECT_EQ(begin % 256, 0u);
    EXPECT_GE(begin, 10 + metadata_bytes);
    EXPECT_LT(begin, 10 + metadata_bytes + 256);
    remainders.insert((10 + metadata_bytes) % 256);
  }
  EXPECT_EQ(remainders.size(), 256u);
}

TEST(BurnpackWriter, EmptyTensorsGetAnAlignedPlaceToo) {
  const Archive archive = archive_of({{"a", filled(DType::u8, {3})},
                                      {"empty", filled(DType::f32, {0, 4})},
                                      {"one", filled(DType::f32, {})},
                                      {"last", filled(DType::f32, {0})}});
  const std::string file = written(archive);
  EXPECT_EQ(file, burnpack_file(pack_metadata({{"a", cbor_text("U8"), {3}, 0, 3},
                                               {"empty", cbor_text("F32"), {0, 4}, 256, 256},
                                               {"last", cbor_text("F32"), {0}, 512, 512},
                                               {"one", cbor_text("F32"), {}, 256, 260}}),
                                file.substr(256)));
  // The last one begins behind the data, and the file reaches up to there.
  EXPECT_EQ(file.size(), 256u + 512);
  EXPECT_EQ(open_burnpack(file, Strictness::strict).value().size(), 4u);
}

TEST(BurnpackWriter, EveryTypeComesBackAsItWas) {
  const DType types[] = {DType::f64, DType::f32, DType::f16,    DType::bf16, DType::i64,
                         DType::i32, DType::i16, DType::i8,     DType::u64,  DType::u32,
                         DType::u16, DType::u8,  DType::boolean};
  for (const Generation generation : generations) {
    Archive archive;
    for (const DType type : types) {
      archive.add({std::string(dtype_name(type)), filled(type, {3, 5})}).value();
    }
    const Archive again =
        open_burnpack(written(archive, for_release(generation)), Strictness::strict).value();
    expect_same_tensors(again, archive);
  }
}

TEST(BurnpackWriter, SpecialNumbersKeepEveryBit) {
  const std::vector<std::uint32_t> bits = {0x7fc00000, 0xffc00001, 0x7f800001, 0x7f800000,
                                           0xff800000, 0x80000000, 0x00000001, 0x7f7fffff};
  std::vector<float> numbers;
  for (const std::uint32_t pattern : bits) numbers.push_back(std::bit_cast<float>(pattern));
  const Archive archive =
      archive_of({{"t", Tensor::from_bytes(DType::f32, {8}, Bytes::own(bytes_of(bits))).value()}});
  const Tensor back = open_burnpack(written(archive)).value().snapshot(0).read().value();
  EXPECT_EQ(std::memcmp(back.bytes().data(), bits.data(), 32), 0);
}

TEST(BurnpackWriter, RandomArchivesComeBackEqualInEveryRelease) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    Archive archive;
    for (unsigned i = 0; i < random() % 20; ++i) {
      const auto dtype = static_cast<DType>(random() % dtype_count);
      if (burnpack_dtype_name(dtype).empty() && dtype != DType::boolean) continue;
      std::vector<std::uint64_t> dims;
      for (std::uint64_t d = random() % 5; d-- > 0;) dims.push_back(random() % 7);
      TensorSnapshot snapshot("t" + std::to_string(i) + "\n\xc3\xa9", filled(dtype, Shape(dims)));
      if (random() % 2 == 0) snapshot = with_id(snapshot, random());
      archive.add(std::move(snapshot)).value();
    }
    if (random() % 2 == 0) archive.set_metadata({{"round", std::to_string(round)}, {"", ""}});
    for (const Generation generation : generations) {
      const std::string file = written(archive, for_release(generation));
      const Archive again = open_burnpack(file, Strictness::strict).value();
      EXPECT_TRUE(again.notes().empty());
      EXPECT_EQ(again.metadata(), archive.metadata());
      expect_same_tensors(again, archive);
      BurnpackView view;
      ASSERT_TRUE(BurnpackView::open(std::as_bytes(std::span(file)), view).ok());
      EXPECT_LE(view.layout().earliest, generation);
      EXPECT_GE(view.layout().latest, generation);
    }
  }
}

TEST(BurnpackWriter, WritesMetadataSortedAndScalarsOnlyWhereThereAreAny) {
  Archive archive;
  archive.set_metadata({{"z", "1"}, {"a", "\xf0\x9f\x94\xa5"}, {"", ""}});
  EXPECT_EQ(written(archive), burnpack_file(pack_metadata(
                                  {}, {{"metadata", cbor_map({{"", cbor_text("")},
                                                              {"a", cbor_text("\xf0\x9f\x94\xa5")},
                                                              {"z", cbor_text("1")}})}})));
  archive.set_value(ValueDict{});
  EXPECT_EQ(written(archive).find("scalars"), std::string::npos);
  archive.set_value(Value("text"));
  EXPECT_EQ(written(archive).find("scalars"), std::string::npos);
}

TEST(BurnpackWriter, WritesScalarsOfEveryKindSortedByName) {
  Archive archive;
  archive.set_value(ValueDict{{"z", true},
                              {"text", "is no scalar"},
                              {"f", 1.0},
                              {"list", ValueList{}},
                              {"i", std::int64_t{-3}},
                              {"b", std::int64_t{5}},
                              {"u", ~std::uint64_t{0}}});
  const Cbor scalars = cbor_map({{"b", cbor_map({{"Int", cbor_number(5)}})},
                                 {"f", cbor_map({{"Float", from_hex("f93c00")}})},
                                 {"i", cbor_map({{"Int", from_hex("22")}})},
                                 {"u", cbor_map({{"UInt", from_hex("1bffffffffffffffff")}})},
                                 {"z", cbor_map({{"Bool", from_hex("f5")}})}});
  for (const Generation generation : {Generation::burn_0_22_pre, Generation::burn_0_22}) {
    EXPECT_EQ(written(archive, for_release(generation)),
              burnpack_file(pack_metadata({}, {{"scalars", scalars}})));
  }
  const Archive again = open_burnpack(written(archive)).value();
  EXPECT_EQ(written(again), written(archive));
}

TEST(BurnpackWriter, ScalarsAreLeftOutForReleasesThatHaveNone) {
  Archive archive;
  archive.set_value(ValueDict{{"lr", 0.1}});
  for (const Generation generation :
       {Generation::burn_0_19, Generation::burn_0_20, Generation::burn_0_21}) {
    EXPECT_EQ(written(archive, for_release(generation)),
              written(Archive(), for_release(generation)));
  }
  archive.set_value(ValueDict{{"lr", 0.1}, {"lr", 0.2}});
  EXPECT_EQ(refusal(archive).code, ErrorCode::duplicate_key);
}

TEST(BurnpackWriter, TextThatIsNotUtf8IsRefused) {
  const Error name = refusal(archive_of({{"a\xff", filled(DType::u8, {1})}}));
  EXPECT_EQ(name.code, ErrorCode::bad_header);
  EXPECT_EQ(name.tensor, "a\xff");
  Archive metadata;
  metadata.set_metadata({{"k\xff", "v"}});
  EXPECT_EQ(refusal(metadata).code, ErrorCode::bad_header);
  metadata.set_metadata({{"k", "v\xff"}});
  EXPECT_EQ(refusal(metadata).code, ErrorCode::bad_header);
  Archive scalars;
  scalars.set_value(ValueDict{{"\xff", 1.0}});
  EXPECT_EQ(refusal(scalars).code, ErrorCode::bad_header);
}

TEST(BurnpackWriter, OddNamesAreWritten) {
  const std::vector<std::string> names = {"",
                                          "__metadata__",
                                          "a/b\\c d",
                                          std::string("a\0b", 3),
                                          std::string(10'000, 'n'),
                                          "\xe6\xa8\xa1\xe5\x9e\x8b"};
  Archive archive;
  for (const std::string& name : names) archive.add({name, filled(DType::u8, {1})}).value();
  const Archive again = open_burnpack(written(archive)).value();
  for (const std::string& name : names) EXPECT_TRUE(again.find(name)) << name;
}

TEST(BurnpackWriter, FileSinkAndMemoryGetTheSameBytes) {
  const TempDir folder;
  const Archive archive = open_burnpack(worked_example()).value();
  const std::string bytes = written(archive);
  const WriteReport report = write(archive, folder.file("m.bpk")).value();
  EXPECT_EQ(report.files, std::vector<std::string>{folder.file("m.bpk")});
  EXPECT_EQ(report.bytes, bytes.size());
  EXPECT_EQ(report.tensors, 3u);
  EXPECT_EQ(read_file(folder.file("m.bpk")), bytes);
  MemorySink sink;
  ASSERT_TRUE(write(archive, sink, for_release()));
  EXPECT_EQ(sink.take().text(), bytes);
  const Archive again = open(folder.file("m.bpk")).value();
  EXPECT_EQ(again.metadata(), archive.metadata());
}

TEST(BurnpackWriter, TheSinkHearsTheTotalBeforeTheFirstByte) {
  class Announced : public Sink {
   public:
    Status reserve(std::uint64_t bytes) override {
      EXPECT_EQ(written, 0u);
      total = bytes;
      return {};
    }
    Status write(std::span<const std::byte> data) override {
      written += data.size();
      return {};
    }
    std::uint64_t total = 0;
    std::uint64_t written = 0;
  };
  for (const Generation generation : generations) {
    Announced sink;
    const Archive archive = archive_of({{"a", filled(DType::u8, {300})},
                                        {"b", filled(DType::f32, {0})},
                                        {"c", filled(DType::f32, {3})}});
    ASSERT_TRUE(write(archive, sink, for_release(generation)));
    EXPECT_EQ(sink.total, sink.written);
  }
}

TEST(BurnpackWriter, EachTensorIsReadOnceInOrder) {
  const Watched watched(3);
  class Watching : public Sink {
   public:
    explicit Watching(const Watched& all) : watched(all) {}
    Status write(std::span<const std::byte> data) override {
      // Nothing is read ahead: a tensor is read when those before it are written.
      if (data.size() == 1000) {
        for (std::size_t i = 0; i < watched.sources.size(); ++i) {
          EXPECT_EQ(watched.sources[i]->bytes_read(), i <= tensor ? 1000u : 0u);
        }
        ++tensor;
      }
      return {};
    }
    const Watched& watched;
    std::size_t tensor = 0;
  } sink(watched);
  ASSERT_TRUE(write(watched.archive, sink, for_release()));
  EXPECT_EQ(sink.tensor, 3u);
}

TEST(BurnpackWriter, DeferredAndResidentTensorsGiveTheSameBytes) {
  const Watched watched(3);
  Archive resident;
  for (std::size_t i = 0; i < watched.archive.size(); ++i) {
    const TensorSnapshot snapshot = watched.archive.snapshot(i);
    resident.add({snapshot.full_path(), snapshot.read().value()}).value();
  }
  EXPECT_EQ(written(watched.archive), written(resident));
}

TEST(BurnpackWriter, LargeTensorsPassThroughOneWindow) {
  // Larger than the window of 8 MiB, by a little.
  const std::size_t size = (std::size_t{8} << 20) + 4096;
  std::vector<std::uint32_t> numbers(size / 4);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i * 7);
  const auto source = std::make_shared<TestSource>(bytes_of(numbers));
  const Archive archive = archive_of(
      {TensorSnapshot::from_source("t", source, 0, size, DType::u32, {size / 4}).value()});
  LargestWrite sink;
  ASSERT_TRUE(write(archive, sink, for_release()));
  EXPECT_EQ(sink.largest, std::size_t{8} << 20);
  const Tensor back = open_burnpack(written(archive)).value().snapshot(0).read().value();
  EXPECT_EQ(back.to_vector<std::uint32_t>().value(), numbers);
}

TEST(BurnpackWriter, PathsAreTakenAsTheyAreInBothDirections) {
  const TempDir folder;
  ASSERT_TRUE(write(Archive(), folder.file("model"), for_release()));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"model"});
  EXPECT_EQ(open(folder.file("model")).value().format(), "burnpack");
  ASSERT_TRUE(write(Archive(), folder.file("other.bpk")));
  EXPECT_EQ(open(folder.file("other")).error().code, ErrorCode::not_found);
}

TEST(BurnpackWriter, NoNameIsWrittenTwice) {
  Archive archive = archive_of({{"t", filled(DType::u8, {1})}});
  EXPECT_EQ(archive.add({"t", filled(DType::u8, {2})}).error().code, ErrorCode::duplicate_key);
  EXPECT_EQ(open_burnpack(written(archive), Strictness::strict).value().size(), 1u);
}

TEST(BurnpackWriter, EachWriteReadsItsTensorsAnew) {
  const Watched watched(1);
  EXPECT_EQ(written(watched.archive), written(watched.archive));
  EXPECT_EQ(watched.sources[0]->bytes_read(), 2000u);
}

TEST(BurnpackWriter, WritesViewsCastsAndJoinsAsTheirValues) {
  const TensorSnapshot matrix("m", Tensor::from_values<float>({2, 2}, {1, 2, 3, 4}).value());
  const std::vector<TensorSnapshot> parts = {matrix, matrix};
  const Archive archive =
      archive_of({matrix.transpose(0, 1).value(), matrix.cast(DType::f16).value().with_path("h"),
                  TensorSnapshot::concat(parts, 0).value().with_path("j")});
  const Archive again = open_burnpack(written(archive)).value();
  EXPECT_EQ(again.get("m").value().read().value().to_vector<float>().value(),
            (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(to_float(again.get("h").value().read().value().to_vector<Float16>().value()[3]), 4.0f);
  EXPECT_EQ(again.get("j").value().shape(), Shape({4, 2}));
}

TEST(BurnpackWriter, FilesOfOneReleaseBecomeFilesOfAnother) {
  Archive archive = archive_of({with_id({"a", filled(DType::f32, {3, 3})}, 1),
                                {"b", filled(DType::boolean, {5})},
                                {"c", filled(DType::bf16, {7})}});
  archive.set_metadata({{"producer", "burn"}, {"version", "0.19.1"}});
  const std::string newest = written(archive);
  for (const Generation from : generations) {
    for (const Generation to : generations) {
      const Archive one = open_burnpack(written(archive, for_release(from))).value();
      const Archive two = open_burnpack(written(one, for_release(to))).value();
      EXPECT_EQ(written(two), newest);
    }
  }
}

}  // namespace
}  // namespace andiron::test
