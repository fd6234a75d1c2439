// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that make much of little: by references, compression, strides of zero, and values of one
// byte. Each is opened, listed and printed in a process of its own, whose memory is measured.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/apply.h"
#include "andiron/param.h"
#include "tests/support/gzip_writing.h"
#include "tests/support/modest.h"
#include "tests/support/npy_file.h"
#include "tests/support/repeated_text.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/test_source.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

// Lists of `fan` that each hold the one before, `levels` of them around the value.
std::string nested_by_reference(const Py& value, std::uint32_t levels, std::size_t fan) {
  std::string code = "\x80\2" + py::put(0, value).code;
  for (std::uint32_t level = 0; level < levels; ++level) {
    code += "0" + py::put(level + 1, py::list(py::Values(fan, py::get(level)))).code;
  }
  return code + ".";
}

std::string zip_with(const std::string& pickle, bool deflate = false) {
  std::vector<ZipItem> items = torch_records(nullptr, {{"0", memory_of<float>({1})}});
  items[0].content = pickle;
  if (deflate) items[0] = {.name = items[0].name, .content = pickle, .deflate = true};
  return zip_file(items);
}

Py one_float() { return torch_tensor({.shape = {1}, .elements = 1}); }

// A value that is referred to many times with five bytes.
Py list_of(const Py& value, std::size_t times) {
  py::Values values(times, py::get(99));
  values[0] = py::put(99, value);
  return py::list(values);
}

bool is_refused(const std::string& outcome) {
  return outcome.starts_with("LimitExceeded") &&
         outcome.find("raise Limits::") != std::string::npos;
}

// The tensors can be used, the tree cannot be had.
bool has_no_values(const std::string& outcome) {
  return outcome.starts_with("opened") &&
         outcome.find("raise Limits::memory_bytes") != std::string::npos;
}

TEST(Amplification, ByNamesThatRepeatByReference) {
  EXPECT_TRUE(is_refused(expect_modest(zip_with(nested_by_reference(one_float(), 20, 10)))));
  const std::string long_key(60'000, '\x01');
  EXPECT_TRUE(is_refused(
      expect_modest(zip_with(py::pickle(py::dict({{long_key, list_of(one_float(), 5000)}}))))));
}

TEST(Amplification, ByValuesThatRepeatByReference) {
  EXPECT_TRUE(has_no_values(expect_modest(nested_by_reference(py::list({1}), 20, 10))));
  EXPECT_TRUE(has_no_values(expect_modest(nested_by_reference(nullptr, 100, 4))));
  const std::string text(60'000, '\x01');
  for (const Py& value : {Py(text), py::bytes(text), py::dict({{text, 1}}),
                          py::call(py::global("m", text.substr(0, 4000)))}) {
    EXPECT_TRUE(has_no_values(expect_modest(nested_by_reference(value, 4, 20))));
  }
}

TEST(Amplification, ByValuesWithTensorsBeside) {
  const std::string text(60'000, 'x');
  const Py root = py::dict({{"w", one_float()}, {"bomb", list_of(text, 5000)}});
  const std::string outcome = expect_modest(zip_with(py::pickle(root)));
  EXPECT_TRUE(has_no_values(outcome));
  EXPECT_TRUE(outcome.starts_with("opened 1 tensors, skipped 0"));
}

TEST(Amplification, ByContainersWithinThemselves) {
  constexpr std::uint32_t count = 8;
  std::string code = "\x80\2";
  for (std::uint32_t i = 0; i < count; ++i) code += py::put(i, py::list({})).code + "0";
  for (std::uint32_t i = 0; i < count; ++i) {
    code += py::get(i).code + py::appended(py::Values(12, py::get((i + 1) % count))) + "0";
  }
  expect_modest(code + py::get(0).code + ".");
}

TEST(Amplification, ByReasonsForWhatIsSkipped) {
  const Py meta = torch_tensor({.shape = {1}, .elements = 1, .device = "meta"});
  expect_modest(py::pickle(list_of(meta, 20'000)));
  const Py unknown =
      py::rebuild("_rebuild_tensor_v3",
                  {py::storage("FloatStorage", "0", 1), 0, py::sizes({1}), py::sizes({1}), false,
                   py::ordered_dict(), py::global("torch", std::string(60'000, 'x'))});
  EXPECT_TRUE(is_refused(expect_modest(zip_with(py::pickle(list_of(unknown, 2000))))));
  const Py broken = py::rebuild_tensor_v2(py::storage(std::string(4000, 'x'), "0", 1), 0, {1}, {1});
  EXPECT_TRUE(
      is_refused(expect_modest(zip_with(py::pickle(list_of(broken, 20'000))), {"--lenient"})));
}

TEST(Amplification, ByKeysThatAreLongTuples) {
  const Py tuple = py::tuple(py::Values(9, std::string(400, 't')));
  py::Pairs pairs = {{py::put(1, tuple), 1}};
  for (int i = 0; i < 20'000; ++i) pairs.emplace_back(py::tuple({py::get(1), i}), 1);
  expect_modest(py::pickle(py::dict(pairs)));
  pairs.resize(50'000, {py::get(1), 1});
  expect_modest(py::pickle(py::dict(pairs)));
}

TEST(Amplification, ByNestingThatIsIndented) {
  expect_modest("\x80\2" + std::string(900, ']') + "(" + repeated("K\x01", 50'000) + "e" +
                std::string(899, 'a') + ".");
}

TEST(Amplification, ByPicklesOfOneByteForAValue) {
  for (const std::string& values :
       {repeated("]", 1'000'000), repeated("N", 1'000'000), repeated(")", 1'000'000),
        repeated(std::string("U\0", 2), 500'000), repeated("N\x94", 500'000),
        repeated("cm\nf\n", 200'000), repeated("(l", 500'000), repeated("h\x01)\x81}b", 150'000)}) {
    const std::string pickle =
        "\x80\2cm\nf\nq\x01"
        "0(" +
        values + "t.";
    expect_modest(pickle);
    expect_modest(gzipped(pickle));
    expect_modest(zip_with(pickle, true));
  }
}

TEST(Amplification, ByStridesOfZeroInAll) {
  py::Pairs tensors;
  for (int i = 0; i < 234; ++i) {
    tensors.emplace_back(
        std::to_string(i),
        torch_tensor({.shape = {1 << 14, 1 << 14}, .strides = {{0, 0}}, .elements = 1}));
  }
  const std::string file = zip_with(py::pickle(py::dict(tensors)));
  expect_refused(open_text(file), ErrorCode::limit_exceeded, "repeat the file's data too often");
  EXPECT_TRUE(is_refused(expect_modest(file)));
  tensors.erase(tensors.begin() + 2, tensors.end());
  EXPECT_TRUE(open_text(zip_with(py::pickle(py::dict(tensors)))));
}

TEST(Amplification, ByTensorsThatShareAStorage) {
  const std::string data(1'000'000, '\0');
  const Py tensor = torch_tensor({.shape = {250'000}, .elements = 250'000});
  const auto file = [&](std::size_t times) {
    return zip_file(torch_records(list_of(tensor, times), {{"0", data}}));
  };
  EXPECT_TRUE(is_refused(expect_modest(file(10'000))));
  EXPECT_TRUE(open_text(file(1000)));
}

// A record of MessagePack around a list of `count` values.
std::string record_of(const std::string& value, std::uint32_t count) {
  std::string file = "\x82\xa8metadata\x80\xa4item\xdd";
  for (unsigned shift : {24u, 16u, 8u, 0u}) file += static_cast<char>(count >> shift & 0xff);
  return file + repeated(value, count);
}

TEST(Amplification, ByRecordsOfOneByteForAValue) {
  for (const std::string value : {"\xc0", "\x01", "\xa0", "\x90", "\x80",
                                  "\x81\xa1"
                                  "a\xc0"}) {
    expect_modest(record_of(value, 500'000));
    EXPECT_TRUE(is_refused(expect_modest(gzipped(record_of(value, 2'000'000)))));
  }
  std::string elements = "\x82\xa8metadata\x80\xa4item\x81\xa1t\x82\xa5value\xdd";
  elements += std::string("\x00\x0f\x42\x40", 4) + std::string(1'000'000, '\x01') +
              std::string("\xa5shape\x91\xce\x00\x0f\x42\x40", 12);
  EXPECT_TRUE(expect_modest(elements).starts_with("opened 1 "));
}

TEST(Amplification, ByRecordsInJson) {
  for (const char* value : {"0,", "\"\",", "{},", "[],"}) {
    expect_modest("{\"item\":[" + repeated(value, 200'000) + "0]}");
    expect_modest(gzipped("{\"item\":[" + repeated(value, 2'000'000) + "0]}"));
  }
}

TEST(Amplification, ByNamesUnderALongOneInARecord) {
  std::string file = "\x82\xa8metadata\x80\xa4item\x81\xda\xea\x60" + std::string(60'000, 'n');
  constexpr unsigned count = 10'000;
  file += {'\xde', static_cast<char>(count >> 8), static_cast<char>(count & 0xff)};
  for (unsigned i = 0; i < count; ++i) {
    char key[8];
    std::snprintf(key, sizeof key, "\xa4%04x", i);
    file += key;
    file += std::string(
        "\x83\xa5"
        "bytes\xc4\x00\xa5shape\x91\x00\xa5"
        "dtype\xa2U8",
        26);
  }
  EXPECT_TRUE(is_refused(expect_modest(file)));
  EXPECT_TRUE(is_refused(expect_modest(gzipped(file))));
}

TEST(Amplification, ByManySmallEntriesOfAHeader) {
  std::string header = "{";
  for (int i = 0; i < 20'000; ++i) {
    header += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
              R"(\u0001":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  EXPECT_TRUE(
      expect_modest(safetensors_file(header + "}", "")).starts_with("opened 20000 tensors"));
  std::string metadata = R"({"__metadata__":{)";
  for (int i = 0; i < 50'000; ++i)
    metadata += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"\"";
  EXPECT_TRUE(expect_modest(safetensors_file(metadata + "}}", "")).starts_with("opened 0 tensors"));
}

TEST(Amplification, ByInflation) {
  const std::string zeros(65 << 20, '\0');
  const std::string bomb = gzipped("\x80\3B" + py::number(zeros.size(), 4) + zeros + ".");
  expect_refused(open_text(bomb), ErrorCode::limit_exceeded, "with inflated data");
  EXPECT_TRUE(is_refused(expect_modest(bomb)));
  // The size at its end is a lie.
  std::string lying = bomb;
  lying.replace(lying.size() - 4, 4, std::string(4, '\0'));
  EXPECT_TRUE(is_refused(expect_modest(lying)));
}

// The data of a tensor is inflated when it is read: beyond 64 MiB, not to more than 64 times the
// size of the file.
TEST(Amplification, ByInflationOfATensor) {
  const std::string zeros(65 << 20, '\0');
  const auto read_from = [&](const std::string& more) {
    const std::string npz = zip_file(
        {{.name = "a.npy", .content = npy_file("|u1", "(68157440,)", zeros), .deflate = true},
         {.name = "b.npy", .content = npy_file("|u1", "()", more)}});
    return open(source_of(npz, "test.npz")).value().snapshot(0).read();
  };
  const Result<Tensor> refused = read_from("1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
  EXPECT_EQ(refused.error().hint, "raise Limits::inflated_ratio if you trust the file");
  EXPECT_TRUE(read_from(std::string(1 << 20, '1')));
}

// Tensors that use three storages in turn, of which memory holds one: each would have one inflated.
TEST(Amplification, ByInflatingStoragesInTurn) {
  constexpr std::int64_t elements = 6 << 20;
  const std::string zeros(4 * elements, '\0');
  const std::string stored = deflated(zeros);
  const ZipLies truth{.crc = crc_of_text(zeros)};
  const auto record = [&](const char* name) {
    return ZipItem{.name = name,
                   .content = zeros,
                   .deflate = true,
                   .stored = stored,
                   .local = truth,
                   .directory = truth};
  };
  py::Values tensors;
  for (int i = 0; i < 3000; ++i) {
    tensors.push_back(torch_tensor(
        {.shape = {2}, .offset = i, .key = std::to_string(i % 3), .elements = elements}));
  }
  const std::string file =
      zip_file({torch_item("a/data.pkl", py::pickle(py::list(tensors))), record("a/data/0"),
                record("a/data/1"), record("a/data/2"), torch_item("a/version", "3\n")});
  EXPECT_LT(file.size(), 700'000U);
  const OpenOptions options{.limits = {.inflated_bytes = std::uint64_t{64} << 20}};
  const auto source = std::make_shared<TestSource>(file);
  const Archive archive = open(source, options).value();
  ASSERT_EQ(archive.size(), 3000U);
  const std::uint64_t opening = source->bytes_read();
  std::uint64_t work = 0;  // how often a storage was inflated
  Error error;
  for (std::size_t i = 0; i < archive.size() && error.message.empty() && work < 25; ++i) {
    const Result<Tensor> read = archive.get(std::to_string(i))->read();
    if (!read) error = read.error();
    work = (source->bytes_read() - opening) / stored.size();
  }
  EXPECT_LT(work, 20U);
  EXPECT_EQ(error.code, ErrorCode::limit_exceeded) << error.to_string();
  EXPECT_EQ(error.message, "deflated entries were inflated again too often, for little of each");
  // A load reads what lies in one storage together.
  std::vector<Param> model(3000);
  const auto fresh = std::make_shared<TestSource>(file);
  ASSERT_TRUE(apply(model, open(fresh, options).value()));
  EXPECT_LT(fresh->bytes_read(), 2 * file.size());
}

// Read into memory of its own for each, they left a heap of holes.
TEST(Amplification, ByHeadersThatInflate) {
  const std::string file = npz_of_long_headers(5000);
  EXPECT_LT(file.size(), 1'500'000U);
  EXPECT_TRUE(expect_modest(file).starts_with("opened 5000 tensors"));
}

// What is inflated to look into it counts, too.
TEST(Amplification, ByATorchExportWithADeflatedArchive) {
  std::vector<ZipItem> items = torch_records(one_float(), {{"0", memory_of<float>({1})}});
  items.push_back(torch_item("archive/data/1", std::string(60 << 20, '\0')));
  EXPECT_TRUE(is_refused(expect_modest(
      zip_file({{.name = "a/archive_format", .content = "pt2"},
                {.name = "a/data/weights/m_weights_config.json",
                 .content = R"({"config":{"w":{"path_name":"w","use_pickle":true}}})"},
                {.name = "a/data/weights/w", .content = zip_file(items), .deflate = true}}))));
}

TEST(Amplification, ByATorchExportWhoseListIsBlank) {
  EXPECT_TRUE(
      is_refused(expect_modest(zip_file({{.name = "a/archive_format", .content = "pt2"},
                                         {.name = "a/data/weights/m_weights_config.json",
                                          .content = "{\"config\":{}}" + std::string(60 << 20, ' '),
                                          .deflate = true}}))));
}

TEST(Amplification, ByATorchExportWhoseListInflates) {
  std::string list = "{\"config\":{";
  for (int i = 0; i < 300'000; ++i) list += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  EXPECT_TRUE(is_refused(expect_modest(zip_file({{.name = "a/archive_format", .content = "pt2"},
                                                 {.name = "a/data/weights/m_weights_config.json",
                                                  .content = list + "}}",
                                                  .deflate = true}}))));
}

TEST(Amplification, ByATorchExportThatNamesOneArchiveOften) {
  std::string list = "{\"config\":{";
  for (int i = 0; i < 5000; ++i) {
    list +=
        (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":{"path_name":"w","use_pickle":true})";
  }
  const std::string inner = zip_with(py::pickle(list_of(one_float(), 200)));
  EXPECT_TRUE(is_refused(expect_modest(
      zip_file({{.name = "a/archive_format", .content = "pt2"},
                {.name = "a/data/weights/m_weights_config.json", .content = list + "}}"},
                {.name = "a/data/weights/w", .content = inner}}))));
}

TEST(Amplification, ByPiecesThatTensorsOfACheckpointShare) {
  const TempDir folder;
  const auto object = [](const char* name, const Py& state) {
    return py::with_state(py::new_object(py::global("m", name)), state);
  };
  const std::string item = zip_with(py::pickle(one_float()));
  write_file(folder.file("a"), item);
  constexpr int pieces = 1000;
  py::Values chunks;
  for (int i = 0; i < pieces; ++i) {
    chunks.push_back(
        object("Chunk", py::dict({{"offsets", py::sizes({i})}, {"sizes", py::sizes({1})}})));
  }
  const Py properties = object("P", py::tuple({py::global("torch", "float32"), false}));
  py::Pairs tensors;
  py::Pairs items;
  for (int t = 0; t < 20; ++t) {
    const std::string name = "t" + std::to_string(t);
    tensors.emplace_back(
        name, object("TensorStorageMetadata",
                     py::dict({{"properties", properties},
                               {"size", py::sizes({pieces})},
                               {"chunks", t == 0 ? py::put(1, py::list(chunks)) : py::get(1)}})));
    for (int i = 0; i < pieces; ++i) {
      const Py index = object("Index", py::dict({{"fqn", name}, {"offset", py::sizes({i})}}));
      const Py info =
          items.empty()
              ? py::put(2, object("Info",
                                  py::dict({{"relative_path", "a"},
                                            {"offset", 0},
                                            {"length", static_cast<std::int64_t>(item.size())}})))
              : py::get(2);
      items.emplace_back(index, info);
    }
  }
  const std::string metadata = py::pickle(object(
      "Metadata",
      py::dict({{"state_dict_metadata", py::dict(tensors)}, {"storage_data", py::dict(items)}})));
  write_file(folder.file(".metadata"), metadata);
  expect_modest_at(folder.path(), metadata.size() + item.size());
}

}  // namespace
}  // namespace andiron::test
