// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "andiron/open.h"
#include "andiron/safetensors_view.h"
#include "andiron/write.h"
#include "tests/support/archive_reading.h"
#include "tests/support/archive_writing.h"
#include "tests/support/progress_steps.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_sink.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using test::archive_of;
using test::filled_with_any_bits;
using test::safetensors_file;
using test::written;

std::string written(const Archive& archive) { return written(archive, {}); }

TEST(SafetensorsWriter, WritesTheReferenceVectors) {
  EXPECT_EQ(written(Archive()), safetensors_file("{}      ", 0));

  Archive only_metadata;
  only_metadata.set_metadata({{"framework", "pt"}});
  EXPECT_EQ(written(only_metadata),
            safetensors_file(R"({"__metadata__":{"framework":"pt"}}     )", 0));

  const Tensor numbers = Tensor::from_values<float>({1, 2, 3}, {0, 1, 2, 3, 4, 5}).value();
  EXPECT_EQ(written(archive_of({{"attn.0", numbers}})),
            safetensors_file(R"({"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}})",
                             numbers.bytes().text()));
  EXPECT_EQ(written(archive_of({{"attn0", filled_with_any_bits(DType::f32, {1, 1, 2, 3})}}))
                .substr(8 + 65, 7),
            "       ");
  const std::string four_bits =
      written(archive_of({{"attn.0", filled_with_any_bits(DType::f4e2m1, {1, 2})}}));
  EXPECT_EQ(four_bits.size(), 8u + 64 + 1);
}

TEST(SafetensorsWriter, OrdersByTypeThenByName) {
  Archive archive = archive_of({{"b", filled_with_any_bits(DType::u8, {1})},
                                {"a", filled_with_any_bits(DType::f32, {1})},
                                {"c", filled_with_any_bits(DType::u64, {1})},
                                {"\xc3\xa9", filled_with_any_bits(DType::f32, {1})},
                                {"Z", filled_with_any_bits(DType::f32, {1})},
                                {"d", filled_with_any_bits(DType::boolean, {1})}});
  archive.set_metadata({{"z", "1"}, {"a", "2"}});
  const Archive again = test::open_safetensors(written(archive)).value();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < again.size(); ++i) names.emplace_back(again.info(i).name);
  EXPECT_EQ(names, (std::vector<std::string>{"c", "Z", "a", "\xc3\xa9", "b", "d"}));
  EXPECT_EQ(written(archive).substr(8, 37), R"({"__metadata__":{"a":"2","z":"1"},"c")");
}

TEST(SafetensorsWriter, AlignsTheDataWhenAsked) {
  for (std::uint64_t alignment : {8u, 64u, 4096u, 65536u}) {
    const std::string file =
        written(archive_of({{"t", filled_with_any_bits(DType::f32, {3})}}),
                {.settings = SafetensorsSettings{.data_alignment = alignment}});
    EXPECT_EQ((file.size() - 12) % alignment, 0u);
    EXPECT_TRUE(test::open_safetensors(file));
  }
  for (std::uint64_t alignment : {0u, 1u, 4u, 12u, 4095u}) {
    EXPECT_EQ(
        write_to_memory(Archive(), {.settings = SafetensorsSettings{.data_alignment = alignment}})
            .error()
            .code,
        ErrorCode::invalid_argument);
  }
  const SafetensorsSettings huge{.data_alignment = 1 << 30};
  EXPECT_EQ(write_to_memory(Archive(), {.settings = huge}).error().hint,
            "choose a smaller alignment");
}

TEST(SafetensorsWriter, RefusesWhatTheFormatCannotHold) {
  auto code = [](TensorSnapshot tensor) {
    return write_to_memory(archive_of({std::move(tensor)})).error().code;
  };
  EXPECT_EQ(code({"t", filled_with_any_bits(DType::c128, {1})}), ErrorCode::unsupported_dtype);
  EXPECT_EQ(code({"t", filled_with_any_bits(DType::c32, {1})}), ErrorCode::unsupported_dtype);
  EXPECT_EQ(code({"t", Tensor::qfloat({}, {1}, Bytes()).value()}), ErrorCode::unsupported_dtype);
  EXPECT_EQ(code({"t", Tensor::raw("quint8", {1}, Bytes()).value()}), ErrorCode::unsupported_dtype);
  // A known name over other bytes would make a file that says what is not so.
  EXPECT_EQ(code({"t", Tensor::raw("F32", {2, 3}, Bytes::own(std::vector<std::byte>(5))).value()}),
            ErrorCode::unsupported_dtype);
  EXPECT_EQ(code({"__metadata__", filled_with_any_bits(DType::u8, {1})}), ErrorCode::bad_header);
  EXPECT_EQ(code({std::string("a\0b", 3), filled_with_any_bits(DType::u8, {1})}),
            ErrorCode::bad_header);
  EXPECT_EQ(code({"a\xff", filled_with_any_bits(DType::u8, {1})}), ErrorCode::bad_header);
  EXPECT_EQ(code({std::string(70'000, 'x'), filled_with_any_bits(DType::u8, {1})}),
            ErrorCode::limit_exceeded);
  Archive bad_metadata;
  bad_metadata.set_metadata({{"k", "\xff"}});
  EXPECT_EQ(write_to_memory(bad_metadata).error().code, ErrorCode::bad_header);
}

TEST(SafetensorsWriter, KeepsTiesThroughRenamingAndBack) {
  const std::string file = safetensors_file(
      R"({"__metadata__":{"b":"a"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
      R"("x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
      std::string_view("AX"));
  const Archive archive = test::open_safetensors(file).value();
  const std::vector<std::string> names = {"c", "a"};
  const Archive renamed = archive.rename(names).value();
  const Archive again = test::open_safetensors(written(renamed)).value();
  EXPECT_EQ(again.get("b").value().read().value().bytes().text(), "A");
  EXPECT_EQ(again.get("a").value().read().value().bytes().text(), "X");
  const std::vector<std::size_t> second = {1};
  EXPECT_FALSE(test::open_safetensors(written(archive.select(second).value())).value().find("b"));
}

TEST(SafetensorsWriter, KeepsToTheHeaderLimit) {
  Archive archive;
  archive.set_metadata({{"k", std::string(2000, 'x')}});
  WriteOptions options;
  options.limits.header_bytes = 1000;
  EXPECT_EQ(write_to_memory(archive, options).error().code, ErrorCode::header_too_large);
}

TEST(SafetensorsWriter, WritesViewsCastsAndJoinsAsTheirValues) {
  const TensorSnapshot matrix("m", Tensor::from_values<float>({2, 2}, {1, 2, 3, 4}).value());
  const std::vector<TensorSnapshot> parts = {matrix, matrix};
  const Archive archive =
      archive_of({matrix.transpose(0, 1).value(), matrix.cast(DType::f16).value().with_path("h"),
                  TensorSnapshot::concat(parts, 0).value().with_path("j")});
  const Archive again = test::open_safetensors(written(archive)).value();
  EXPECT_EQ(again.get("m").value().read().value().to_vector<float>().value()[1], 3.0f);
  EXPECT_EQ(to_float(again.get("h").value().read().value().to_vector<Float16>().value()[3]), 4.0f);
  EXPECT_EQ(again.get("j").value().shape(), Shape({4, 2}));
}

TEST(SafetensorsWriter, RandomArchivesComeBackEqual) {
  std::mt19937 random(99);
  for (int round = 0; round < 50; ++round) {
    Archive archive;
    for (unsigned i = 0; i < random() % 20; ++i) {
      const auto dtype = static_cast<DType>(random() % dtype_count);
      if (safetensors_dtype_name(dtype).empty()) continue;
      std::vector<std::uint64_t> dims;
      for (unsigned d = random() % 5; d-- > 0;) dims.push_back(random() % 4);
      if (is_sub_byte(dtype)) dims.push_back(8);
      archive
          .add({"t" + std::to_string(i) + "\"\n\xc3\xa9", filled_with_any_bits(dtype, Shape(dims))})
          .value();
    }
    archive.set_metadata({{"round", std::to_string(round)}});
    const Archive again = test::open_safetensors(written(archive)).value();
    EXPECT_EQ(again.metadata(), archive.metadata());
    test::expect_same_tensors(again, archive);
    EXPECT_EQ(written(again), written(archive));
  }
}

TEST(SafetensorsWriter, StreamsThroughOneWindow) {
  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(1 << 20));
  const Archive archive = archive_of(
      {TensorSnapshot::from_source("t", source, 0, 1 << 20, DType::f32, {1 << 18}).value()});
  test::LargestWrite sink;
  WriteOptions options;
  options.limits.window_bytes = 4096;
  ASSERT_TRUE(write(archive, sink, options));
  EXPECT_EQ(sink.largest, 4096u);
}

TEST(SafetensorsWriter, ReportsProgressAndCancels) {
  const test::TempDir folder;
  const Archive archive = archive_of({{"t", filled_with_any_bits(DType::f32, {1024})}});
  std::vector<std::uint64_t> seen;
  WriteOptions options;
  options.limits.window_bytes = 1024;
  options.progress = test::steps_into(seen, 4096);
  ASSERT_TRUE(write(archive, folder.file("a.safetensors"), options));
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1024, 2048, 3072, 4096}));

  options.progress = [](std::uint64_t done, std::uint64_t) { return done < 2048; };
  EXPECT_EQ(write(archive, folder.file("b.safetensors"), options).error().code,
            ErrorCode::cancelled);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.safetensors"});
}

TEST(SafetensorsWriter, AFailingTensorLeavesTheOldFile) {
  const test::TempDir folder;
  const std::string path = folder.file("m.safetensors");
  ASSERT_TRUE(write(archive_of({{"old", filled_with_any_bits(DType::u8, {3})}}), path));
  const std::string before = test::read_file(path);

  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(4096));
  source->fail_reads_past(1000);
  const Archive broken =
      archive_of({TensorSnapshot::from_source("new", source, 0, 4096, DType::u8, {4096}).value()});
  WriteOptions options{.overwrite = true};
  options.limits.window_bytes = 256;
  Result<WriteReport> report = write(broken, path, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().tensor, "new");
  EXPECT_EQ(test::read_file(path), before);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.safetensors"});
}

TEST(SafetensorsWriter, AnArchiveCanBeWrittenOverTheFileItReads) {
  const test::TempDir folder;
  test::expect_can_be_written_over_itself(folder.file("m.safetensors"));
}

}  // namespace
}  // namespace andiron
