// SPDX-License-Identifier: MIT OR Apache-2.0
// NumPy's files that are cut, changed or made to do harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/modest.h"
#include "tests/support/npy_file.h"

namespace andiron::test {
namespace {

constexpr Strictness all_of_them[] = {Strictness::lenient, Strictness::standard,
                                      Strictness::strict};

// An error, or an archive whose every tensor can be read or says why not.
void use(const Result<Archive>& archive, std::size_t file_bytes) {
  if (!archive) {
    EXPECT_FALSE(archive.error().message.empty());
    EXPECT_EQ(archive.error().file, "test.npz");
    return;
  }
  for (std::size_t i = 0; i < archive->size(); ++i) {
    const TensorInfo info = archive->info(i);
    EXPECT_EQ(archive->find(info.name), i);
    EXPECT_LE(info.byte_size, 1100 * file_bytes);
    const Result<Tensor> tensor = archive->snapshot(i).read();
    if (tensor) {
      EXPECT_EQ(tensor->byte_size(), info.byte_size);
    } else {
      EXPECT_EQ(tensor.error().tensor, info.name);
    }
  }
}

// In all strictnesses, each of which refuses what the one before it does.
void use_strictly_and_not(std::string_view file) {
  bool refused = false;
  for (const Strictness strictness : all_of_them) {
    OpenOptions options{.strictness = strictness};
    options.limits.inflated_bytes = 1 << 20;
    const Result<Archive> archive = open_numpy(file, options);
    use(archive, file.size());
    EXPECT_TRUE(!archive || !refused);
    refused = !archive;
  }
}

std::string small_npz(bool deflate) {
  return zip_file(
      {{.name = "a.npy", .content = npy_file("<f4", "(2,)", "12345678"), .deflate = deflate},
       {.name = "b.npy",
        .content = npy_file(">i2", "(1, 2)", "1234", "True"),
        .deflate = deflate,
        .descriptor = Descriptor::signed32},
       {.name = "o.npy", .content = npy_file("|O", "()", "pickle"), .deflate = deflate}});
}

std::vector<std::string> small_files() {
  return {np_save_matrix(), npy_of_header(npy_header_of("[('a', '<f4')]", "(1,)"), "1234", 3),
          npy_file(">f8", "(1,)", "12345678"), small_npz(false), small_npz(true)};
}

TEST(NumpyHostile, FilesCutAnywhereAreRefusedOrWellFormed) {
  for (const std::string& file : small_files()) {
    use_strictly_and_not(file);
    for (std::size_t size = 0; size < file.size(); ++size) {
      use_strictly_and_not(std::string_view(file).substr(0, size));
    }
  }
  const std::string lone = np_save_matrix();
  for (std::size_t size = 0; size < lone.size(); ++size) {
    EXPECT_EQ(numpy_error(std::string_view(lone).substr(0, size)), ErrorCode::truncated) << size;
  }
}

TEST(NumpyHostile, FilesCutOrChangedTakeLittleMemory) {
  for (const std::string& file : small_files()) expect_modest_when_changed(file);
}

TEST(NumpyHostile, FilesWithAnyByteChangedAreRefusedOrWellFormed) {
  for (std::string file : small_files()) {
    for (std::size_t at = 0; at < file.size(); ++at) {
      const char before = file[at];
      for (const int change : {0x01, 0x04, 0x20, 0x80, 0xff}) {
        file[at] = static_cast<char>(before ^ change);
        use_strictly_and_not(file);
      }
      file[at] = before;
    }
  }
}

TEST(NumpyHostile, RefusalsSayWhatWasFoundAndWhatWasExpected) {
  const auto text = [](std::string_view header, std::string_view data = "ab") {
    const Result<Archive> archive = open_numpy(npy_of_header(header, data));
    EXPECT_FALSE(archive) << header;
    return archive ? std::string() : archive.error().to_string();
  };
  const auto has = [](const std::string& all, std::string_view part) {
    EXPECT_NE(all.find(part), all.npos) << all;
  };
  const std::string unknown = text("{'descr': '<u1', 'order': 'C'}");
  has(unknown, "unknown key");
  has(unknown, "'order'");
  has(unknown, "at byte 17");
  has(unknown, "'fortran_order'");
  has(text("{'descr': '<u1', 'descr': '<u1'}"), "duplicate key");
  has(text("{'descr': '<u1', 'shape': ()}"), "no 'fortran_order'");
  has(text("{'descr': '<u1', 'fortran_order': 0, 'shape': ()}"), "True or False");
  has(text("{'descr': '<u1', 'fortran_order': False, 'shape': (-1,)}"), "0 or more");
  has(text("{'descr': '<u1', 'fortran_order': False, 'shape': (3)}"), "',' after a single size");
  has(text("{'descr': '<u1', 'fortran_order': False, 'shape': (9,)}"), "9 for <u1 [9]");
  has(text("{'descr': '<u1', 'fortran_order': False, 'shape': (9,)}"), "2 bytes");
  has(open_numpy(npy_of_header("{}", "", 9)).error().to_string(), "9.0");
}

TEST(NumpyHostile, HeadersOfAnotherGrammarAreRefused) {
  const auto code = [](std::string_view header) {
    return numpy_error(npy_of_header(header, "abcdefgh"));
  };
  const char* const shapes[] = {"(1, 2",   "(,)",         "(1,,2)",    "1",      "[1]",
                                "(1 2)",   "(True,)",     "(1.0,)",    "('1',)", "(1_0,)",
                                "(0x1,)",  "(+1,)",       "(01,)",     "(1LL,)", "(1,)(1,)",
                                "((1,),)", "None",        "(1,) + ()", "(1l,)",  "__import__('os')",
                                "(1j,)",   "\xef\xbc\x91"};
  for (const char* shape : shapes) {
    EXPECT_EQ(code("{'descr': '<u1', 'fortran_order': False, 'shape': " + std::string(shape) + "}"),
              ErrorCode::bad_header)
        << shape;
  }
  for (const char* header : {"",
                             " ",
                             "{",
                             "}",
                             "{}",
                             "[]",
                             "{'descr'}",
                             "{'descr': }",
                             "{'descr': '<u1}",
                             "{descr: 1}",
                             "{'descr': u'<u1', 'fortran_order': False, 'shape': ()}",
                             "{'descr': '<\\x75' '1', 'fortran_order': False, 'shape': ()}",
                             "{'descr': '<u1', 'fortran_order': False, 'shape': ()} x",
                             "{'descr': '<u1', 'fortran_order': False, 'shape': ()}}",
                             "{'descr': '<u1',, 'fortran_order': False, 'shape': ()}",
                             "{'descr': '<u1' 'fortran_order': False, 'shape': ()}",
                             "{'descr': '<u1', 'fortran_order': False, 'shape': (), 'extra': 1}",
                             "{'descr': '<u1', 'fortran_order': Falsehood, 'shape': ()}",
                             "{'descr': 1, 'fortran_order': False, 'shape': ()}",
                             "{'descr': {'names': []}, 'fortran_order': False, 'shape': ()}",
                             "{'descr': [('a', '<f4')), 'fortran_order': False, 'shape': ()}",
                             "{'descr': [('a', '<f4'], 'fortran_order': False, 'shape': ()}",
                             "{'descr': [('a\\",
                             "# comment\n{}"}) {
    EXPECT_EQ(code(header), ErrorCode::bad_header) << header;
  }
  EXPECT_EQ(
      numpy_error(npy_of_header("{'descr': '\xff', 'fortran_order': False, 'shape': ()}", "", 3)),
      ErrorCode::bad_header);
}

TEST(NumpyHostile, NestingIsBounded) {
  const auto code = [](std::size_t levels) {
    return numpy_error(npy_of_header("{'descr': " + std::string(levels, '[') +
                                         std::string(levels, ']') +
                                         ", 'fortran_order': False, 'shape': ()}",
                                     ""));
  };
  EXPECT_EQ(code(33), ErrorCode::limit_exceeded);
  EXPECT_EQ(code(20'000), ErrorCode::limit_exceeded);
}

TEST(NumpyHostile, HugeShapesAllocateNothing) {
  const auto code = [](std::string_view descr, std::string_view shape) {
    return numpy_error(npy_file(descr, shape, "abcdefgh"));
  };
  EXPECT_EQ(code("<f4", "(1000000000000,)"), ErrorCode::truncated);
  EXPECT_EQ(code("<f4", "(4294967296, 4294967296)"), ErrorCode::overflow);
  EXPECT_EQ(code("<f4", "(18446744073709551615,)"), ErrorCode::overflow);
  EXPECT_EQ(code("<f4", "(18446744073709551616,)"), ErrorCode::overflow);
  EXPECT_EQ(code("<f4", "(" + std::string(5000, '9') + ",)"), ErrorCode::overflow);
  EXPECT_EQ(code("<V18446744073709551615", "(2,)"), ErrorCode::overflow);
  EXPECT_EQ(code("<V9", "(1,)"), ErrorCode::truncated);
  for (const char* order : {"True", "False"}) {
    const Archive empty =
        open_numpy(npy_file("<f4", "(0, 18446744073709551615)", "", order)).value();
    EXPECT_EQ(read(empty, "").byte_size(), 0u);
  }
}

TEST(NumpyHostile, LengthsBeyondTheFileAndTheLimitAreRefused) {
  const std::string header = npy_header_of("'<u1'", "(1,)");
  std::string huge = npy_of_header(header, "x", 2);
  huge.replace(8, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(numpy_error(huge), ErrorCode::limit_exceeded);
  std::string beyond = npy_of_header(header, "x", 2);
  beyond.replace(8, 4, little_endian(std::uint32_t{60'000}));
  EXPECT_EQ(numpy_error(beyond), ErrorCode::truncated);
  OpenOptions options;
  options.limits.npy_header_bytes = header.size();
  EXPECT_TRUE(open_numpy(npy_of_header(header, "x"), options));
  options.limits.npy_header_bytes = header.size() - 1;
  EXPECT_EQ(numpy_error(npy_of_header(header, "x"), options), ErrorCode::limit_exceeded);
  const std::string long_header = header + std::string(60'000, ' ');
  EXPECT_TRUE(open_numpy(npy_of_header(long_header, "x")));
}

TEST(NumpyHostile, KeepsToTheLimitsOfArchives) {
  const std::string array = npy_file("<u1", "(1,)", "x");
  const std::string file =
      zip_file({{.name = "first.npy", .content = array}, {.name = "second.npy", .content = array}});
  const auto code = [&](auto change) {
    OpenOptions options;
    change(options.limits);
    return numpy_error(file, options);
  };
  EXPECT_EQ(code([](Limits& limits) { limits.tensors = 1; }), ErrorCode::limit_exceeded);
  EXPECT_EQ(code([](Limits& limits) { limits.name_bytes = 5; }), ErrorCode::limit_exceeded);
  EXPECT_EQ(code([](Limits& limits) { limits.zip_entries = 1; }), ErrorCode::limit_exceeded);
}

TEST(NumpyHostile, InflatedArraysKeepToTheLimit) {
  const std::string array = npy_file("<u1", "(100000,)", std::string(100'000, 'x'));
  const std::string file = zip_file({{.name = "a.npy", .content = array, .deflate = true}});
  OpenOptions options;
  options.limits.inflated_bytes = 100'000;
  const Archive archive = open_numpy(file, options).value();
  const Result<Tensor> tensor = archive.snapshot(0).read();
  ASSERT_FALSE(tensor);
  EXPECT_EQ(tensor.error().code, ErrorCode::limit_exceeded);
  EXPECT_EQ(tensor.error().tensor, "a");
}

TEST(NumpyHostile, ADirectoryThatPromisesTooMuchIsRefusedAtOnce) {
  ZipWriting zip;
  zip.add({.name = "a.npy",
           .content = npy_file("<u1", "(4000000000,)", "x"),
           .deflate = true,
           .local = {.bytes = 4'000'000'000U},
           .directory = {.bytes = 4'000'000'000U}});
  const std::string file = zip.finish();
  EXPECT_EQ(numpy_error(file), ErrorCode::bad_archive);
  expect_modest(file);
}

TEST(NumpyHostile, DamagedDeflatedDataIsRefused) {
  const auto code = [](std::string stored, std::uint32_t size) {
    return numpy_error(zip_file({{.name = "a.npy",
                                  .content = "x",
                                  .deflate = true,
                                  .stored = std::move(stored),
                                  .local = {.bytes = size},
                                  .directory = {.bytes = size}}}));
  };
  EXPECT_EQ(code(std::string(200, '\xff'), 300), ErrorCode::bad_archive);
  EXPECT_EQ(code(deflated("\x93NUMPY"), 100), ErrorCode::bad_archive);
  EXPECT_EQ(code(deflated(np_save_matrix()).substr(0, 20), 152), ErrorCode::bad_archive);
}

TEST(NumpyHostile, EntriesGivenTwiceAreRefused) {
  const std::string array = npy_file("<u1", "(1,)", "x");
  EXPECT_EQ(numpy_error(zip_file({{.name = "a.npy", .content = array},
                                  {.name = "b.npy", .content = array},
                                  {.name = "a.npy", .content = array}})),
            ErrorCode::bad_archive);
  EXPECT_EQ(numpy_error(zip_file(
                {{.name = "A.npy", .content = array}, {.name = "A.npy", .content = array}})),
            ErrorCode::bad_archive);
}

TEST(NumpyHostile, EncryptedAndForeignEntriesAreRefused) {
  const std::string array = npy_file("<u1", "(1,)", "x");
  EXPECT_EQ(numpy_error(zip_file({{.name = "a.npy", .content = array, .flags = 1}})),
            ErrorCode::unsupported);
  const std::string xz = zip_file({{.name = "a.npy",
                                    .content = array,
                                    .local = {.method = std::uint16_t{95}},
                                    .directory = {.method = std::uint16_t{95}}}});
  EXPECT_EQ(numpy_error(xz), ErrorCode::unsupported);
  EXPECT_EQ(skipped_in(open_numpy(xz, {.strictness = Strictness::lenient}).value()).size(), 1u);
}

}  // namespace
}  // namespace andiron::test
