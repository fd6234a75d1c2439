// SPDX-License-Identifier: MIT OR Apache-2.0
// Files for np.load.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/codec/zip/reader.h"
#include "tests/support/archive_writing.h"
#include "tests/support/file_head.h"
#include "tests/support/npy_file.h"
#include "tests/support/progress_steps.h"
#include "tests/support/test_sink.h"

namespace andiron::test {
namespace {

using detail::write_numpy;

constexpr std::string_view npy_ending = ".npy";
constexpr std::string_view npz_ending = ".npz";

std::string file_of(const Archive& archive, std::string_view ending,
                    const WriteOptions& options = {}) {
  MemorySink sink;
  const Result<std::uint64_t> bytes = write_numpy({archive, sink, options, ending});
  EXPECT_TRUE(bytes) << bytes.error().to_string();
  std::string file(sink.take().text());
  EXPECT_EQ(bytes ? *bytes : 0, file.size());
  return file;
}

Error refusal(const Archive& archive, std::string_view ending, const WriteOptions& options = {}) {
  MemorySink sink;
  const Result<std::uint64_t> bytes = write_numpy({archive, sink, options, ending});
  EXPECT_FALSE(bytes);
  EXPECT_TRUE(sink.take().empty());
  return bytes ? Error{} : bytes.error();
}

Tensor matrix() { return Tensor::from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6}).value(); }

TEST(NumpyWriter, WritesALoneArrayAsNumpyDoes) {
  EXPECT_EQ(file_of(archive_of({{"any name", matrix()}}), npy_ending), np_save_matrix());
  const Tensor half = Tensor::from_values<double>({}, {0.5}).value();
  EXPECT_EQ(file_of(archive_of({{"", half}}), npy_ending), np_save_scalar());
}

TEST(NumpyWriter, WhatItWritesIsReadAgain) {
  std::vector<TensorSnapshot> tensors;
  for (const DType dtype :
       {DType::boolean, DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32,
        DType::i64, DType::u64, DType::f16, DType::f32, DType::f64, DType::c64, DType::c128}) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 4}, Shape{1, 2, 1, 5}}) {
      tensors.emplace_back(std::string(dtype_name(dtype)) + "/" + shape.to_string(),
                           filled(dtype, shape));
    }
  }
  tensors.emplace_back("\xc3\xa9.weight", filled(DType::f32, {1000, 10}));
  const Archive archive = archive_of(tensors);
  const std::string file = file_of(archive, npz_ending);
  const Archive again = open_numpy(file, {.strictness = Strictness::strict}).value();
  ASSERT_EQ(names_of(again), names_of(archive));
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = again.info(i);
    EXPECT_EQ(info.dtype, archive.info(i).dtype);
    EXPECT_EQ(Shape(info.shape), Shape(archive.info(i).shape));
    EXPECT_EQ(info.offset.value() % 64, 0u) << info.name;
    EXPECT_EQ(read(again, info.name).bytes().text(), read(archive, info.name).bytes().text());
  }
  EXPECT_TRUE(again.notes().empty());
  EXPECT_TRUE(test::is_taken_for(detail::is_numpy, file));
  // Nothing in it depends on when it was written.
  EXPECT_EQ(file_of(again, npz_ending), file);
}

TEST(NumpyWriter, EachEntryIsWhatNumpySaves) {
  const std::string file = file_of(archive_of({{"w", matrix()}}), npz_ending);
  const auto zip = detail::ZipReader::open(source_of(file), {}).value();
  EXPECT_EQ(zip->entries()[0].name, "w.npy");
  EXPECT_EQ(zip->read(0, 1000).value().text(), np_save_matrix());
}

TEST(NumpyWriter, AnArchiveWithoutTensorsIsAnEmptyZip) {
  EXPECT_EQ(file_of(Archive(), npz_ending), zip_file({}));
}

TEST(NumpyWriter, ViewsAreWrittenRowByRow) {
  const TensorSnapshot turned = TensorSnapshot("t", matrix()).transpose(0, 1).value();
  const Archive again = open_numpy(file_of(archive_of({turned}), npz_ending)).value();
  EXPECT_EQ(floats(again, "t"), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  const Archive fortran = open_numpy(np_save_fortran()).value();
  EXPECT_EQ(values_of<std::int16_t>(open_numpy(file_of(fortran, npy_ending)).value(), ""),
            (std::vector<std::int16_t>{1, 2, 3, 4, 5, 6}));
}

TEST(NumpyWriter, ALoneArrayAndNoOtherFitsNpy) {
  for (const Archive& archive : {Archive(), archive_of({{"a", matrix()}, {"b", matrix()}})}) {
    const Error error = refusal(archive, npy_ending);
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_NE(error.hint.find(".npz"), std::string::npos);
  }
}

TEST(NumpyWriter, TypesThatNumpyLacksAreRefused) {
  for (const DType dtype :
       {DType::bf16, DType::f8e4m3fn, DType::f8e5m2, DType::f4e2m1, DType::c32}) {
    for (const std::string_view ending : {npy_ending, npz_ending}) {
      const Error error = refusal(archive_of({{"a.weight", filled(dtype, {2})}}), ending);
      EXPECT_EQ(error.code, ErrorCode::unsupported_dtype);
      EXPECT_EQ(error.tensor, "a.weight");
      EXPECT_EQ(error.found, dtype_name(dtype));
      EXPECT_EQ(error.hint, dtype == DType::c32 ? "cast it to c64, or leave it out"
                                                : "cast it to f32, or leave it out");
    }
  }
}

TEST(NumpyWriter, OpaqueElementsGoBackAsTheyCame) {
  const std::string array = npy_file("<V2", "(2,)", "abcd");
  const Archive archive = open_numpy(array).value();
  const Archive again = open_numpy(file_of(archive, npy_ending)).value();
  EXPECT_EQ(again.info(0).file_dtype, "<V2");
  EXPECT_EQ(read(again, "").bytes().text(), "abcd");
  // Raw bytes of others have no name here.
  for (const char* name : {"E8M0", "|V3", "<V", ">V2", ""}) {
    const TensorSnapshot raw =
        TensorSnapshot::from_source("r", source_of("abcd"), 0, 4, DType::raw, {2}, name).value();
    EXPECT_EQ(refusal(archive_of({raw}), npz_ending).code, ErrorCode::unsupported_dtype) << name;
  }
}

TEST(NumpyWriter, NamesThatCannotBeKeptAreRefused) {
  for (const char* name : {"/absolute", "../up", "a/../b", "back\\slash", "\xff"}) {
    const Error error = refusal(archive_of({{name, matrix()}}), npz_ending);
    EXPECT_EQ(error.code, ErrorCode::bad_header) << name;
    EXPECT_EQ(error.tensor, name);
    EXPECT_FALSE(error.found.empty());
  }
  // With its ending, the last part of this is an ordinary name.
  EXPECT_EQ(names_of(open_numpy(file_of(archive_of({{"a/..", matrix()}}), npz_ending)).value()),
            Names{"a/.."});
  const std::string nul("a\0b", 3);
  EXPECT_EQ(refusal(archive_of({{nul, matrix()}}), npz_ending).code, ErrorCode::bad_header);
  const std::string longest(65531, 'n');
  EXPECT_TRUE(open_numpy(file_of(archive_of({{longest, matrix()}}), npz_ending)));
  EXPECT_EQ(refusal(archive_of({{longest + "n", matrix()}}), npz_ending).code,
            ErrorCode::limit_exceeded);
  WriteOptions few;
  few.limits.name_bytes = 3;
  EXPECT_EQ(refusal(archive_of({{"abcd", matrix()}}), npz_ending, few).code,
            ErrorCode::limit_exceeded);
}

TEST(NumpyWriter, NamesThatNumpyTakesForOneAreRefused) {
  const Error error = refusal(archive_of({{"a.npy", matrix()}, {"a", matrix()}}), npz_ending);
  EXPECT_EQ(error.code, ErrorCode::name_collision);
  EXPECT_EQ(error.tensor, "a.npy");
  const Archive alone = open_numpy(file_of(archive_of({{"a.npy", matrix()}}), npz_ending)).value();
  EXPECT_EQ(names_of(alone), Names{"a.npy"});
  const Archive two = archive_of({{"w", matrix()}, {"W", matrix()}});
  EXPECT_EQ(names_of(open_numpy(file_of(two, npz_ending)).value()), (Names{"w", "W"}));
}

TEST(NumpyWriter, TiedNamesGetCopies) {
  Archive archive = archive_of({{"a", matrix()}});
  archive.set_aliases({{"b", "a"}});
  archive = archive.with_ties_as_copies().value();
  const Archive again = open_numpy(file_of(archive, npz_ending)).value();
  EXPECT_EQ(names_of(again), (Names{"a", "b"}));
  EXPECT_EQ(floats(again, "b"), floats(again, "a"));
}

TEST(NumpyWriter, ADryRunTellsTheSizeAndTouchesNothing) {
  const Archive archive = archive_of({{"a", matrix()}, {"b", filled(DType::u8, {100'000})}});
  const WriteOptions dry{.dry_run = true};
  MemorySink sink;
  EXPECT_EQ(write_numpy({archive, sink, dry, npz_ending}).value(),
            file_of(archive, npz_ending).size());
  EXPECT_EQ(write_numpy({archive_of({{"a", matrix()}}), sink, dry, npy_ending}).value(), 128u + 24);
  EXPECT_TRUE(sink.take().empty());
  EXPECT_EQ(refusal(archive_of({{"a", filled(DType::bf16, {1})}}), npz_ending, dry).code,
            ErrorCode::unsupported_dtype);
}

TEST(NumpyWriter, DataPassesThroughOneWindow) {
  const std::string file = npy_file(">u2", "(50000,)", std::string(100'000, 'x'));
  const Archive archive = open_numpy(file).value();
  WriteOptions options;
  options.limits.window_bytes = 4096;
  LargestWrite sink;
  ASSERT_TRUE(write_numpy({archive, sink, options, npz_ending}));
  EXPECT_LE(sink.largest, 4096u);
}

TEST(NumpyWriter, TellsItsProgressAndCanBeStopped) {
  const Archive archive = archive_of({{"a", matrix()}, {"b", matrix()}});
  std::vector<std::uint64_t> seen;
  WriteOptions options;
  options.progress = steps_into(seen, 48);
  file_of(archive, npz_ending, options);
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{24, 48}));
  options.progress = [](std::uint64_t, std::uint64_t) { return false; };
  MemorySink sink;
  EXPECT_EQ(write_numpy({archive, sink, options, npz_ending}).error().code, ErrorCode::cancelled);
}

TEST(NumpyWriter, KeepsToTheLimitOfTensors) {
  WriteOptions options;
  options.limits.tensors = 1;
  const Archive two = archive_of({{"a", matrix()}, {"b", matrix()}});
  EXPECT_EQ(refusal(two, npz_ending, options).code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace andiron::test
