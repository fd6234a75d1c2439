// SPDX-License-Identifier: MIT OR Apache-2.0
// PyTorch files that are cut, changed or made to do harm.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/gzip_writing.h"
#include "tests/support/modest.h"
#include "tests/support/tar_writing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_containers.h"
#include "tests/support/value_text.h"

namespace andiron::test {
namespace {

// Small enough that nothing in a damaged file can ask for much.
OpenOptions small_limits(Strictness strictness = Strictness::standard) {
  OpenOptions options{.strictness = strictness};
  options.limits.expanded_bytes = 1 << 16;
  options.limits.inflated_bytes = 1 << 20;
  return options;
}

// An error, or an archive whose every tensor can be read or says why not.
void use(const Result<Archive>& archive, std::size_t file_bytes) {
  if (!archive) {
    EXPECT_FALSE(archive.error().message.empty());
    EXPECT_FALSE(archive.error().file.empty()) << archive.error().to_string();
    return;
  }
  const std::uint64_t most = std::max<std::uint64_t>(1 << 16, 16 * file_bytes);
  for (std::size_t i = 0; i < archive->size(); ++i) {
    const TensorInfo info = archive->info(i);
    EXPECT_EQ(archive->find(info.name), i);
    EXPECT_LE(info.byte_size, most);
    const Result<Tensor> tensor = archive->snapshot(i).read();
    if (tensor) {
      EXPECT_EQ(tensor->byte_size(), info.byte_size);
    } else {
      EXPECT_EQ(tensor.error().tensor, info.name);
    }
  }
  EXPECT_EQ(archive->ties().size(), archive->size());
  const Result<Value> tree = archive->value();
  EXPECT_TRUE(tree ? text_bytes(*tree) <= 64 * file_bytes
                   : tree.error().code == ErrorCode::limit_exceeded);
}

std::string small_zip() {
  // Without padding, so that most bytes mean something.
  std::vector<ZipItem> items = sample_records("a/");
  for (ZipItem& item : items) item = torch_item(item.name, item.content, 1);
  items.push_back(torch_item("a/byteorder", "little", 1));
  return zip_file(items);
}

std::string deflated_zip() {
  std::vector<ZipItem> items = sample_records("a/");
  for (ZipItem& item : items) item = {.name = item.name, .content = item.content, .deflate = true};
  return zip_file(items);
}

std::string small_tar() {
  const auto storage = [](const Py& key, const std::string& data) {
    return py::pickle(py::tuple({key, "cpu", py::global("torch", "FloatStorage")})) +
           little_endian(std::uint64_t{data.size() / 4}) + data;
  };
  const std::string tensor = py::pickle(py::tuple({7, "0", py::global("torch", "FloatTensor")})) +
                             little_endian(std::int32_t{1}, std::uint32_t{0}) +
                             little_endian(std::int64_t{2}, std::int64_t{1}, std::int64_t{0});
  const Py object = py::dict(
      {{"w", py::persistent("7")}, {"b", torch_tensor({.shape = {2}, .key = "1", .elements = 2})}});
  return tar_file({{.name = "pickle", .content = py::pickle(object)},
                   {.name = "tensors", .content = py::pickle(1) + tensor},
                   {.name = "storages",
                    .content = py::pickle(1) + storage("0", memory_of<float>({1, 2, 3, 4})) +
                               py::pickle(py::list({py::tuple({"1", "0", 2, 2})}))}});
}

std::string small_script() {
  const Py net = py::with_state(py::new_object(py::global("__torch__", "Net")),
                                py::dict({{"p", torch_tensor({.shape = {1}, .elements = 1})},
                                          {"q", torch_tensor({.shape = {1}, .elements = 1})}}));
  std::vector<ZipItem> items = torch_records(net, {{"0", memory_of<float>({1})}}, "a/");
  for (ZipItem& item : items) item = torch_item(item.name, item.content, 1);
  items.push_back({.name = "a/code/__torch__.py",
                   .content = "class Net(Module):\n  __parameters__ = [\"p\", ]\n"
                              "  __buffers__ = []\n"});
  items.push_back({.name = "a/constants.pkl", .content = py::pickle(py::tuple({1, 2}))});
  return zip_file(items);
}

std::string small_export() {
  return zip_file(
      {{.name = "a/archive_format", .content = "pt2"},
       {.name = "a/data/weights/m_weights_config.json",
        .content =
            R"({"config":{"w":{"path_name":"w0","use_pickle":false,"tensor_meta":{"dtype":7,)"
            R"("sizes":[{"as_int":2}],"strides":[{"as_int":1}],)"
            R"("storage_offset":{"as_int":0}}}}})"},
       {.name = "a/data/weights/w0", .content = memory_of<float>({1, 2})}});
}

// A tensor, an array, objects, and what else a pickle by itself may have.
std::string small_pickle() {
  const Py dtype = py::with_state(py::call(py::global("numpy", "dtype"), {"f4", false, true}),
                                  py::tuple({3, "<", nullptr, nullptr, nullptr, -1, -1, 0}));
  const Py array = py::with_state(
      py::call(py::global("numpy.core.multiarray", "_reconstruct"),
               {py::global("numpy", "ndarray"), py::sizes({0}), py::bytes("b")}),
      py::tuple({1, py::sizes({2}), dtype, false, py::bytes(memory_of<float>({1, 2}))}));
  const std::string inner =
      legacy_file(torch_storage({.key = "7", .elements = 1, .storage_view = no_view}),
                  {{"7", memory_of<float>({3})}});
  const Py tensor = py::rebuild_tensor_v2(
      py::call(py::global("torch.storage", "_load_from_bytes"), {py::bytes(inner)}), 0, {1}, {1});
  return py::pickle(py::dict({{"array", py::put(5, array)},
                              {"again", py::get(5)},
                              {"tensor", tensor},
                              {"net", py::module("Net", {{"w", tensor}}, {}, {})},
                              {"n", py::list({1, 2.5, "text", nullptr})}}));
}

std::vector<std::string> small_files() {
  return {small_zip(),    deflated_zip(), sample_legacy_file(), small_tar(),
          small_script(), small_export(), small_pickle(),       gzipped(sample_legacy_file())};
}

TEST(PytorchHostile, TheSmallFilesAreFine) {
  for (const std::string& file : small_files()) {
    const Result<Archive> archive = open_text(file, small_limits());
    ASSERT_TRUE(archive) << archive.error().to_string();
    EXPECT_FALSE(archive->empty());
    use(archive, file.size());
  }
}

TEST(PytorchHostile, EveryCutIsAnErrorOrAWholeArchive) {
  for (const std::string& file : small_files()) {
    const bool is_tar = file.starts_with("pickle");
    for (std::size_t size = 0; size < file.size(); ++size) {
      const Result<Archive> archive =
          open_text(std::string_view(file).substr(0, size), small_limits());
      // Tar archives end in blocks of zeros that none needs.
      EXPECT_TRUE(is_tar || !archive) << size << " of " << file.size();
      use(archive, size);
    }
  }
}

TEST(PytorchHostile, EveryChangedByteGivesAnErrorOrAWholeArchive) {
  for (std::string file : small_files()) {
    for (std::size_t i = 0; i < file.size(); ++i) {
      const char original = file[i];
      // Of tar blocks, most bytes are padding.
      if (original == '\0' && file.size() > 3000 && i % 7 != 0) continue;
      for (const int change : {0x01, 0x80, 0xff}) {
        file[i] = static_cast<char>(original ^ change);
        use(open_text(file, small_limits()), file.size());
        use(open_text(file, small_limits(Strictness::lenient)), file.size());
      }
      for (const char value : {'\0', '.', 'R', 'h', 'Q', '\x7f'}) {
        file[i] = value;
        use(open_text(file, small_limits()), file.size());
      }
      file[i] = original;
    }
  }
}

TEST(PytorchHostile, FilesCutOrChangedTakeLittleMemory) {
  for (const std::string& file : small_files()) expect_modest_when_changed(file);
}

TEST(PytorchHostile, EveryChangedByteOfDistributedMetadataGivesAnErrorOrAWholeArchive) {
  const TempDir folder;
  const std::string item = zip_file(torch_records(torch_tensor({.shape = {2}, .elements = 2}),
                                                  {{"0", memory_of<float>({1, 2})}}));
  write_file(folder.file("a"), item);
  const auto object = [](const char* name, const Py& state) {
    return py::with_state(py::new_object(py::global("m", name)), state);
  };
  const Py chunk =
      object("Chunk", py::dict({{"offsets", py::sizes({0})}, {"sizes", py::sizes({2})}}));
  const Py tensor = object(
      "TensorStorageMetadata",
      py::dict({{"properties", object("P", py::tuple({py::global("torch", "float32"), false}))},
                {"size", py::sizes({2})},
                {"chunks", py::list({chunk})}}));
  const Py index = object("Index", py::dict({{"fqn", "w"}, {"offset", py::sizes({0})}}));
  const Py info = object("Info", py::dict({{"relative_path", "a"},
                                           {"offset", 0},
                                           {"length", static_cast<std::int64_t>(item.size())}}));
  std::string metadata =
      py::pickle(object("Metadata", py::dict({{"state_dict_metadata", py::dict({{"w", tensor}})},
                                              {"storage_data", py::dict({{index, info}})}})));
  const std::string path = folder.file(".metadata");
  write_file(path, metadata);
  ASSERT_EQ(floats(open(path).value(), "w"), (std::vector<float>{1, 2}));
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    write_file(path, metadata.substr(0, i));
    EXPECT_FALSE(open(path, small_limits()));
    const char original = metadata[i];
    for (const int change : {0x01, 0xff}) {
      metadata[i] = static_cast<char>(original ^ change);
      write_file(path, metadata);
      use(open(path, small_limits()), item.size());
    }
    metadata[i] = original;
  }
}

TEST(PytorchHostile, StridesOfZeroDoNotMakeMuchOfLittle) {
  const Py huge = torch_tensor({.shape = {1 << 30, 1 << 20}, .strides = {{0, 0}}, .elements = 1});
  const std::string file = zip_file(torch_records(py::dict({{"w", huge}}), {{"0", "abcd"}}));
  expect_refused(open_text(file), ErrorCode::limit_exceeded, "'w'");
  // Beyond 64 bits, and by an offset that wraps around.
  for (const TorchView& view :
       {TorchView{.shape = {std::int64_t{1} << 62, 8}, .elements = 1},
        TorchView{.shape = {2}, .strides = {{std::int64_t{1} << 62}}, .elements = 1},
        TorchView{.shape = {1}, .offset = std::int64_t{1} << 62, .elements = 1}}) {
    EXPECT_FALSE(open_text(zip_file(torch_records(torch_tensor(view), {{"0", "abcd"}}))));
  }
}

TEST(PytorchHostile, DeepNestingIsNotFollowed) {
  std::string deep = "\x80\x02";
  for (int i = 0; i < 200'000; ++i) deep += "](";
  for (int i = 0; i < 200'000; ++i) deep += "e";
  const Archive archive = open_text(deep + ".").value();
  EXPECT_TRUE(archive.empty());
  ASSERT_EQ(archive.skipped().size(), 1u);
  EXPECT_NE(archive.skipped()[0].reason.find("deeper"), std::string::npos);
  EXPECT_FALSE(archive.value()->is_null());
}

TEST(PytorchHostile, AContainerWithinItselfIsEnteredOnce) {
  const std::string file = "\x80\2]q\1(h\1h\1e.";
  EXPECT_TRUE(open_text(file).value().empty());
}

// Lists of ten that each hold the one before ten times: ten to the twentieth leaves.
TEST(PytorchHostile, SharedContainersDoNotMultiplyWithoutEnd) {
  py::Values once = {torch_tensor({.shape = {1}, .elements = 1})};
  std::string file = "\x80\2" + py::put(0, py::list({})).code + py::appended(once);
  for (std::uint32_t level = 0; level < 20; ++level) {
    const py::Values ten(10, py::get(level));
    file += "0" + py::put(level + 1, py::list({})).code + py::appended(ten);
  }
  std::vector<ZipItem> items = torch_records(nullptr, {{"0", memory_of<float>({1})}});
  items[0].content = file + ".";
  OpenOptions options;
  options.limits.pickle_repeats = 10'000;
  options.limits.tensors = 100'000;
  const Result<Archive> archive = open_text(zip_file(items), options);
  if (archive) {
    EXPECT_LE(archive->size(), 20'000u);
    EXPECT_FALSE(archive->skipped().empty());
    EXPECT_TRUE(archive->value());
  } else {
    EXPECT_EQ(archive.error().code, ErrorCode::limit_exceeded);
  }
}

constexpr std::size_t long_text = 60'000;

TEST(PytorchHostile, NamesOfWhatIsSkippedAreBounded) {
  py::Values tensors = {py::put(1, torch_tensor({.shape = {1}, .elements = 1, .device = "meta"}))};
  for (int i = 0; i < 2000; ++i) tensors.push_back(py::get(1));
  const std::string file = py::pickle(py::dict({{std::string(long_text, 'x'), py::list(tensors)}}));
  expect_refused(open_text(file), ErrorCode::limit_exceeded, "names and entries");
  EXPECT_TRUE(expect_modest(file).starts_with("LimitExceeded"));
}

TEST(PytorchHostile, TextThatIsReferredToOftenDoesNotFillTheTree) {
  const std::string text(long_text, 'x');
  py::Values texts = {py::put(1, text)};
  py::Values keys = {py::dict({{py::put(1, text), 1}})};
  py::Values names = {py::put(1, py::global("m", text))};
  for (int i = 0; i < 2000; ++i) {
    texts.push_back(py::get(1));
    keys.push_back(py::dict({{py::get(1), 1}}));
    names.push_back(py::get(1));
  }
  for (const py::Values& values : {texts, keys, names}) {
    const std::string file = py::pickle(py::list(values));
    const Archive archive = open_text(file).value();
    // A long name of a class is left out.
    const Result<Value> tree = archive.value();
    EXPECT_TRUE(tree ? text_bytes(*tree) < 10'000 : tree.error().code == ErrorCode::limit_exceeded);
    expect_modest(file);
  }
}

TEST(PytorchHostile, BytesThatManyArraysShareAreKeptOnce) {
  constexpr std::int64_t size = 1 << 20;
  const Py dtype = py::with_state(py::call(py::global("numpy", "dtype"), {"u1", false, true}),
                                  py::tuple({3, "|", nullptr, nullptr, nullptr, -1, -1, 0}));
  const auto array = [&](const Py& bytes) {
    return py::with_state(
        py::call(py::global("numpy.core.multiarray", "_reconstruct"),
                 {py::global("numpy", "ndarray"), py::sizes({0}), py::encoded_bytes("b")}),
        py::tuple({1, py::sizes({size}), dtype, false, bytes}));
  };
  py::Values arrays = {array(py::put(1, py::encoded_bytes(std::string(size, 'x'))))};
  for (int i = 0; i < 20; ++i) arrays.push_back(array(py::get(1)));
  const Result<Archive> archive =
      open_text(py::pickle(py::list(arrays)), {.limits = {.inflated_bytes = 4 * size}});
  if (!archive) {
    EXPECT_EQ(archive.error().code, ErrorCode::limit_exceeded);
    return;
  }
  const auto ties = archive->ties();
  for (std::size_t i = 1; i < ties.size(); ++i) EXPECT_EQ(ties[i], std::optional<std::size_t>(0));
}

TEST(PytorchHostile, LongKeysAreNotMistakenForEachOther) {
  const auto one = [](const char* key) {
    return torch_tensor({.shape = {1}, .key = key, .elements = 1});
  };
  const std::string file = zip_file(torch_records(
      py::dict({{std::string(70'000, 'x'), one("0")}, {std::string(70'000, 'y'), one("1")}}),
      {{"0", memory_of<float>({1})}, {"1", memory_of<float>({2})}}));
  expect_refused(open_text(file), ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace andiron::test
