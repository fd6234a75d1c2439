// SPDX-License-Identifier: MIT OR Apache-2.0
// What NumPy saved, as it is read.
#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/archive_reading.h"
#include "tests/support/file_head.h"
#include "tests/support/noise.h"
#include "tests/support/npy_file.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

using Floats = std::vector<float>;

const OpenOptions strict{.strictness = Strictness::strict};
const OpenOptions lenient{.strictness = Strictness::lenient};

std::string npz(const std::vector<std::pair<std::string, std::string>>& arrays,
                bool deflate = false) {
  std::vector<ZipItem> items;
  for (const auto& [name, content] : arrays) {
    items.push_back({.name = name + ".npy", .content = content, .deflate = deflate});
  }
  return zip_file(items);
}

TEST(NumpyReader, ReadsALoneArrayUnderTheEmptyName) {
  const Archive archive = open_numpy(np_save_matrix()).value();
  EXPECT_EQ(archive.format(), "numpy");
  EXPECT_EQ(archive.packaging(), "npy");
  EXPECT_EQ(archive.origin(), "test.npz");
  EXPECT_EQ(archive.file_bytes(), np_save_matrix().size());
  ASSERT_EQ(archive.size(), 1u);
  const TensorInfo info = archive.info(0);
  EXPECT_EQ(info.name, "");
  EXPECT_EQ(info.dtype, DType::f32);
  EXPECT_EQ(info.file_dtype, "<f4");
  EXPECT_EQ(Shape(info.shape), (Shape{2, 3}));
  EXPECT_EQ(info.offset, 128u);
  EXPECT_EQ(info.byte_size, 24u);
  EXPECT_EQ(floats(archive, ""), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(archive.notes().empty());
  EXPECT_TRUE(archive.skipped().empty());
}

TEST(NumpyReader, ReadsFortranOrderAndBigEndianNumbers) {
  const Archive archive = open_numpy(np_save_fortran()).value();
  EXPECT_EQ(archive.info(0).dtype, DType::i16);
  EXPECT_EQ(archive.info(0).file_dtype, ">i2");
  EXPECT_EQ(archive.info(0).offset, std::nullopt);
  EXPECT_EQ(Shape(archive.info(0).shape), (Shape{2, 3}));
  EXPECT_EQ(values_of<std::int16_t>(archive, ""), (std::vector<std::int16_t>{1, 2, 3, 4, 5, 6}));
}

TEST(NumpyReader, ReadsAScalar) {
  const Archive archive = open_numpy(np_save_scalar()).value();
  EXPECT_EQ(archive.info(0).shape.size(), 0u);
  EXPECT_EQ(values_of<double>(archive, ""), (std::vector<double>{0.5}));
}

TEST(NumpyReader, ReadsTheArraysOfSavez) {
  const std::string file = np_savez();
  const Archive archive = open_numpy(file).value();
  EXPECT_EQ(archive.packaging(), "npz");
  EXPECT_EQ(archive.file_bytes(), file.size());
  // Names that differ in their case are two.
  EXPECT_EQ(names_of(archive), (Names{"w", "W"}));
  EXPECT_EQ(floats(archive, "w"), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(archive.info(1).dtype, DType::boolean);
  EXPECT_EQ(archive.info(1).file_dtype, "|b1");
  EXPECT_EQ(read(archive, "W").bytes().text(), std::string_view("\1\0", 2));
  const TensorInfo info = archive.info(0);
  ASSERT_TRUE(info.offset);
  EXPECT_EQ(file.substr(*info.offset, info.byte_size), memory_of<float>({1, 2, 3, 4, 5, 6}));
}

TEST(NumpyReader, ReadsTheArraysOfSavezCompressed) {
  const Archive archive = open_numpy(np_savez_compressed()).value();
  EXPECT_EQ(names_of(archive), (Names{"w", "z"}));
  EXPECT_EQ(archive.info(0).offset, std::nullopt);
  EXPECT_EQ(floats(archive, "w"), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(archive.info(1).dtype, DType::f64);
  EXPECT_EQ(read(archive, "z").bytes().text(), std::string(8000, '\0'));
}

TEST(NumpyReader, ReadsEveryPlainTypeInBothByteOrders) {
  struct Case {
    const char* code;
    DType dtype;
    std::size_t swapped;  // bytes that change places
  };
  const Case cases[] = {
      {"b1", DType::boolean, 1}, {"?", DType::boolean, 1}, {"i1", DType::i8, 1},
      {"u1", DType::u8, 1},      {"i2", DType::i16, 2},    {"u2", DType::u16, 2},
      {"i4", DType::i32, 4},     {"u4", DType::u32, 4},    {"i8", DType::i64, 8},
      {"u8", DType::u64, 8},     {"f2", DType::f16, 2},    {"f4", DType::f32, 4},
      {"f8", DType::f64, 8},     {"c8", DType::c64, 4},    {"c16", DType::c128, 8},
  };
  for (const Case& one : cases) {
    const std::size_t width = bit_width(one.dtype) / 8;
    std::string data = noise(6 * width);
    if (one.dtype == DType::boolean) data = std::string("\0\1\1\0\1\0", 6);
    std::string swapped = data;
    for (std::size_t at = 0; at < data.size(); at += one.swapped) {
      std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(at),
                   swapped.begin() + static_cast<std::ptrdiff_t>(at + one.swapped));
    }
    for (const std::string order : {"<", ">", "=", "|", ""}) {
      const Result<Archive> archive =
          open_numpy(npy_file(order + one.code, "(2, 3)", order == ">" ? swapped : data), strict);
      ASSERT_TRUE(archive) << order << one.code << ": " << archive.error().to_string();
      EXPECT_EQ(archive->info(0).dtype, one.dtype);
      EXPECT_EQ(archive->info(0).file_dtype, order + one.code);
      EXPECT_EQ(archive->info(0).offset.has_value(), order != ">" || width == 1);
      EXPECT_EQ(read(*archive, "").bytes().text(), data) << order << one.code;
    }
  }
}

TEST(NumpyReader, FortranOrderTurnsAnyNumberOfDimensions) {
  std::vector<std::int32_t> stored(24);
  std::vector<std::int32_t> expected;
  for (int i = 0; i < 24; ++i) stored[static_cast<std::size_t>(i)] = i;
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 4; ++c) expected.push_back(a + 2 * b + 6 * c);
    }
  }
  for (const bool deflate : {false, true}) {
    const std::string array = npy_file("<i4", "(2, 3, 4)", memory_of(stored), "True");
    const Archive archive = open_numpy(npz({{"a", array}}, deflate)).value();
    EXPECT_EQ(values_of<std::int32_t>(archive, "a"), expected);
    EXPECT_EQ(archive.info(0).offset, std::nullopt);
  }
}

TEST(NumpyReader, AnArrayWithOneDimensionIsARunInEitherOrder) {
  for (const char* shape : {"(4,)", "(1, 4)", "(4, 1, 1)", "(0, 7)", "()"}) {
    const std::string file = npy_file("<u1", shape, "abcd", "True");
    EXPECT_TRUE(open_numpy(file).value().info(0).offset) << shape;
  }
}

TEST(NumpyReader, ReadsArraysWithoutElements) {
  for (const char* order : {"True", "False"}) {
    for (const char* descr : {"<f4", ">c16", "|b1"}) {
      for (const char* shape : {"(0,)", "(3, 0, 2)", "(0, 0)"}) {
        const Archive archive = open_numpy(npy_file(descr, shape, "", order), strict).value();
        EXPECT_EQ(archive.info(0).byte_size, 0u);
        EXPECT_EQ(read(archive, "").byte_size(), 0u);
      }
    }
  }
}

TEST(NumpyReader, ReadsAllVersionsOfTheHeader) {
  for (const unsigned major : {1u, 2u, 3u}) {
    const std::string file = npy_of_header(npy_header_of("'<u1'", "(2,)"), "ab", major);
    EXPECT_EQ(read(open_numpy(file, strict).value(), "").bytes().text(), "ab") << major;
  }
}

TEST(NumpyReader, ReadsHeadersInAnyFormThatPythonReads) {
  for (const char* header :
       {"{'descr': '<u1', 'fortran_order': False, 'shape': (2,), }\n",
        "{'shape':(2,),'fortran_order':False,'descr':'<u1'}",
        "{\"descr\": \"<u1\", \"fortran_order\": True, \"shape\": (2L,)}",
        " {\n'fortran_order' :\tFalse ,\r\n 'shape' : ( 2 , ) , 'descr' : '|u1' , } \n\n"}) {
    const Result<Archive> archive = open_numpy(npy_of_header(header, "ab"), strict);
    ASSERT_TRUE(archive) << header << archive.error().to_string();
    EXPECT_EQ(read(*archive, "").bytes().text(), "ab");
  }
}

TEST(NumpyReader, ReadsHeadersOfManyDimensions) {
  std::string shape = "(";
  for (int i = 0; i < 64; ++i) shape += "1, ";
  const Archive archive = open_numpy(npy_file("<u1", shape + ")", "x")).value();
  EXPECT_EQ(archive.info(0).shape.size(), 64u);
  EXPECT_EQ(numpy_error(npy_file("<u1", shape + "1)", "x")), ErrorCode::limit_exceeded);
}

TEST(NumpyReader, SkipsWhatNoTensorHoldsAndSaysWhy) {
  const std::string good = npy_file("<u1", "(1,)", "x");
  const std::string structured =
      npy_of_header(npy_header_of("[('a', '<f4'), ('b]\\'', '<i2', (2,))]", "(1,)"), "12345678");
  const std::string file = npz({{"objects", npy_file("|O", "(1,)", "a pickle")},
                                {"text", npy_file("<U3", "(1,)", "aaaabbbbcccc")},
                                {"bytes", npy_file("|S3", "(1,)", "abc")},
                                {"dates", npy_file("<M8[ns]", "(1,)", "12345678")},
                                {"spans", npy_file("<m8[us]", "(1,)", "12345678")},
                                {"long", npy_file("<f16", "(1,)", std::string(16, 'x'))},
                                {"struct", structured},
                                {"what", npy_file("<i3", "(1,)", "123")},
                                {"good", good}});
  const Archive archive = open_numpy(file).value();
  EXPECT_EQ(names_of(archive), Names{"good"});
  EXPECT_EQ(skipped_in(archive),
            (Names{"objects: an array of Python objects, in a pickle, dtype |O",
                   "text: an array of text, dtype <U3", "bytes: an array of text, dtype |S3",
                   "dates: an array of dates, dtype <M8[ns]",
                   "spans: an array of time spans, dtype <m8[us]",
                   "long: an array of long doubles, which differ between machines, dtype <f16",
                   "struct: an array of structures, dtype [('a', '<f4'), ('b]\\'', '<i2', (2,))]",
                   "what: an array of elements of an unknown type, dtype <i3"}));
  EXPECT_EQ(numpy_error(file, strict), ErrorCode::unsupported_dtype);
  EXPECT_EQ(open_numpy(npy_file("|O", "()", "x")).value().skipped().size(), 1u);
}

TEST(NumpyReader, CarriesOpaqueElementsAsTheyAre) {
  // This is how ml_dtypes' bfloat16 is saved.
  const Archive archive = open_numpy(npz({{"a", npy_file("<V2", "(2, 2)", "12345678")}})).value();
  EXPECT_EQ(archive.info(0).dtype, DType::raw);
  EXPECT_EQ(archive.info(0).file_dtype, "<V2");
  EXPECT_EQ(archive.snapshot(0).dtype_text(), "raw:<V2");
  EXPECT_EQ(read(archive, "a").bytes().text(), "12345678");
  EXPECT_TRUE(has_note(archive, "tensor 'a': opaque elements"));
  const std::string turned = npy_file("<V2", "(2, 2)", "12345678", "True");
  EXPECT_EQ(skipped_in(open_numpy(npz({{"a", turned}})).value()),
            Names{"a: an array of opaque elements in Fortran order, dtype <V2"});
  EXPECT_EQ(numpy_error(npy_file("<V2", "(1,)", "ab"), strict), ErrorCode::unsupported_dtype);
}

TEST(NumpyReader, SkipsEntriesThatAreNoArrays) {
  const std::string array = npy_file("<u1", "(1,)", "x");
  const Archive archive = open_numpy(zip_file({{.name = "folder/"},
                                               {.name = "folder/a.npy", .content = array},
                                               {.name = "readme.txt", .content = "hello"},
                                               {.name = "__MACOSX/._a.npy", .content = "junk"},
                                               {.name = "\xff.npy", .content = array},
                                               {.name = ".npy", .content = array}}))
                              .value();
  EXPECT_EQ(names_of(archive), (Names{"folder/a", ""}));
  EXPECT_EQ(skipped_in(archive),
            (Names{"readme.txt: its name does not end in .npy", "\xff: its name is not UTF-8"}));
}

TEST(NumpyReader, AnEmptyArchiveHasNoTensors) {
  const Archive archive = open_numpy(zip_file({})).value();
  EXPECT_TRUE(archive.empty());
  EXPECT_EQ(archive.packaging(), "npz");
}

TEST(NumpyReader, OtherFilesAreRefused) {
  EXPECT_EQ(numpy_error("GGUF and more"), ErrorCode::not_a_weight_file);
  EXPECT_EQ(numpy_error(zip_file({{.name = "a.txt", .content = "x"}})),
            ErrorCode::not_a_weight_file);
  EXPECT_EQ(numpy_error(""), ErrorCode::truncated);
}

TEST(NumpyReader, BytesAfterTheDataAreNotedOrRefused) {
  const std::string array = npy_file("<u1", "(2,)", "ab and more");
  for (const std::string& file : {array, npz({{"a", array}})}) {
    const Archive archive = open_numpy(file).value();
    EXPECT_EQ(read(archive, archive.info(0).name).bytes().text(), "ab");
    EXPECT_TRUE(has_note(archive, "bytes after the array's data"));
    EXPECT_EQ(numpy_error(file, strict), ErrorCode::size_mismatch);
  }
}

TEST(NumpyReader, ALenientReadingSkipsBrokenArrays) {
  const std::string good = npy_file("<u1", "(1,)", "x");
  const std::string file = npz({{"short", npy_file("<f4", "(2,)", "1234")},
                                {"none", "no array"},
                                {"version", npy_of_header("{}", "", 7)},
                                {"good", good}});
  const Result<Archive> refused = open_numpy(file);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::truncated);
  EXPECT_EQ(refused.error().tensor, "short");
  const Archive archive = open_numpy(file, lenient).value();
  EXPECT_EQ(names_of(archive), Names{"good"});
  EXPECT_EQ(archive.skipped().size(), 3u);
  const Archive longer = open_numpy(npz({{"good", good}}) + "appended", lenient).value();
  EXPECT_EQ(names_of(longer), Names{"good"});
  EXPECT_TRUE(has_note(longer, "bytes after the zip archive were ignored"));
}

TEST(NumpyReader, OpeningReadsTheHeadersAlone) {
  const std::string large = npy_file("<u1", "(1000000,)", noise(1'000'000));
  for (const bool deflate : {false, true}) {
    const std::string file = npz({{"a", large}, {"b", large}, {"c", large}}, deflate);
    const auto source = std::make_shared<TestSource>(file);
    const Archive archive = detail::read_numpy({source, {}}).value();
    // The end of the archive, and a little of each entry.
    EXPECT_LT(source->bytes_read(), 80'000u) << deflate;
    EXPECT_LE(source->reads(), 4u + (deflate ? 6u : 3u)) << deflate;
    EXPECT_EQ(read(archive, "c").bytes().text(), noise(1'000'000));
  }
  const auto lone = std::make_shared<TestSource>(large);
  EXPECT_TRUE(detail::read_numpy({lone, {}}));
  EXPECT_LT(lone->bytes_read(), 1000u);
}

TEST(NumpyReader, TensorsOutliveTheArchive) {
  std::vector<TensorSnapshot> kept;
  {
    const Archive archive = open_numpy(np_savez_compressed()).value();
    kept = {archive.snapshot(0), archive.snapshot(1)};
  }
  EXPECT_EQ(kept[0].full_path(), "w");
  EXPECT_EQ(kept[0].read().value().to_vector<float>().value(), (Floats{1, 2, 3, 4, 5, 6}));
}

TEST(IsNumpy, TellsFilesByTheirFirstBytes) {
  const auto is_numpy = [](std::string_view file) {
    return test::is_taken_for(detail::is_numpy, file);
  };
  EXPECT_TRUE(is_numpy(np_save_matrix()));
  EXPECT_FALSE(is_numpy("\x93NUM"));
  EXPECT_TRUE(is_numpy(np_savez()));
  EXPECT_TRUE(is_numpy(std::string_view(np_savez()).substr(0, 35)));
  EXPECT_FALSE(is_numpy(std::string_view(np_savez()).substr(0, 34)));
  EXPECT_TRUE(is_numpy(zip_file({})));
  EXPECT_FALSE(is_numpy(zip_file({{.name = "folder/"}})));
  EXPECT_TRUE(is_numpy(zip_file({{.name = "folder/"}, {.name = "folder/a.npy"}})));
  EXPECT_TRUE(is_numpy(zip_file({{.name = "a.txt"}, {.name = "a.npy"}})));
  EXPECT_TRUE(is_numpy(zip_file({{.name = std::string(600, 'n') + ".npy"}})));
  EXPECT_FALSE(is_numpy(zip_file({{.name = "a.txt"}, {.name = "b.txt"}})));
  EXPECT_FALSE(is_numpy(zip_file({{.name = "x/a.npy.txt"}, {.name = "x/data.pkl"}})));
  EXPECT_FALSE(is_numpy(TorchFile().zip(py::dict({}))));
}

}  // namespace
}  // namespace andiron::test
