// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/view_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "andiron/bind.h"
#include "andiron/open.h"
#include "andiron/write.h"
#include "tests/support/archive_writing.h"
#include "tests/support/burnpack_writing.h"
#include "tests/support/fixtures.h"

namespace andiron::test {
namespace {

using Generation = BurnpackGeneration;

// An archive as the heapless writers take it.
class Inputs {
 public:
  explicit Inputs(const Archive& archive) {
    for (std::size_t i = 0; i < archive.size(); ++i) {
      data_.push_back(archive.snapshot(i).read().value());
    }
    for (std::size_t i = 0; i < archive.size(); ++i) {
      const TensorInfo info = archive.info(i);
      names_.emplace_back(info.name);
      shapes_.emplace_back(info.shape.begin(), info.shape.end());
      TensorToWrite tensor;
      tensor.dtype = info.dtype;
      tensor.data = data_[i].bytes().span();
      tensor.has_param_id = info.param_id.has_value();
      if (info.param_id) tensor.param_id = info.param_id->value;
      tensors.push_back(tensor);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      tensors[i].name = names_[i];
      tensors[i].shape = shapes_[i];
    }
    for (const auto& [key, value] : archive.metadata()) entries_.emplace_back(key, value);
    for (const auto& [key, value] : entries_) metadata.push_back({key, value});
    std::reverse(metadata.begin(), metadata.end());
  }

  std::vector<TensorToWrite> tensors;
  std::vector<MetadataToWrite> metadata;

 private:
  std::vector<Tensor> data_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::uint64_t>> shapes_;
  std::vector<std::pair<std::string, std::string>> entries_;
};

// Runs a save into memory that it first measures, and through a function; both must agree.
template <class Save>
std::string saved_by(const Save& save) {
  const SaveResult measured = save(SaveTarget(std::span<std::byte>()));
  EXPECT_EQ(measured.code, ErrorCode::out_of_memory);
  std::string memory(static_cast<std::size_t>(measured.bytes), '#');
  const SaveResult result = save(SaveTarget(std::as_writable_bytes(std::span(memory))));
  EXPECT_TRUE(result.ok()) << result.what;
  EXPECT_EQ(result.bytes, measured.bytes);
  std::string pieces;
  const auto take = [](void* to, std::span<const std::byte> bytes) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes.data()),
                                          bytes.size());
    return true;
  };
  const SaveResult in_pieces = save(SaveTarget(take, &pieces));
  EXPECT_TRUE(in_pieces.ok());
  EXPECT_EQ(in_pieces.bytes, result.bytes);
  EXPECT_TRUE(pieces == memory);
  return memory;
}

std::string saved_safetensors(const Archive& archive) {
  const Inputs in(archive);
  return saved_by(
      [&](const SaveTarget& to) { return save_safetensors(in.tensors, to, in.metadata); });
}

std::string saved_burnpack(const Archive& archive, Generation release) {
  const Inputs in(archive);
  return saved_by(
      [&](const SaveTarget& to) { return save_burnpack(in.tensors, to, in.metadata, release); });
}

void expect_equal_to_hosted(Archive archive) {
  // What only the hosted writers write.
  archive.set_value(Value());
  EXPECT_TRUE(saved_safetensors(archive) == written(archive, {.format = Format::safetensors}));
  for (const Generation release : generations) {
    EXPECT_TRUE(saved_burnpack(archive, release) == written(archive, for_release(release)))
        << name_of(release);
  }
}

constexpr DType common_dtypes[] = {DType::boolean, DType::u8,  DType::i8,  DType::u16, DType::i16,
                                   DType::u32,     DType::i32, DType::u64, DType::i64, DType::f16,
                                   DType::bf16,    DType::f32, DType::f64};

TEST(ViewWriter, WritesTheSameBytesAsTheHostedWriters) {
  expect_equal_to_hosted(Archive());
  Archive archive;
  for (const DType dtype : common_dtypes) {
    const std::string name(dtype_name(dtype));
    archive.add({"z." + name, filled(dtype, {2, 3})}).value();
    archive.add({"a." + name, filled(dtype, {})}).value();
    archive
        .add(TensorSnapshot("m." + name, filled(dtype, {0, 70000}))
                 .with_param_id(ParamId{archive.size() * 0x1234567}))
        .value();
  }
  expect_equal_to_hosted(archive);
  archive.set_metadata({{"producer", "andiron"}, {"a \"quoted\" key\n\t\x01\x7f", "\\ \xc3\xa9"}});
  expect_equal_to_hosted(archive);
}

TEST(ViewWriter, NamesAreSortedAndEscapedAsTheHostedWritersDo) {
  expect_equal_to_hosted(archive_of({{"", filled(DType::u8, {1})},
                                     {"b", filled(DType::f32, {3})},
                                     {"a.b", filled(DType::u8, {5})},
                                     {"a", filled(DType::f32, {1})},
                                     {"\xc3\xa9", filled(DType::u8, {2})},
                                     {"\"\\/\b\f\r\x1f", filled(DType::u8, {2})},
                                     {std::string(300, 'n'), filled(DType::u8, {2})},
                                     {"a-b", filled(DType::u64, {1})}}));
}

TEST(ViewWriter, RandomArchivesAreWrittenAsTheHostedWritersDo) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    Archive archive;
    const unsigned count = random() % 12;
    for (unsigned i = 0; i < count; ++i) {
      std::string name = std::to_string(i);
      for (unsigned n = random() % 30; n > 0; --n) name += static_cast<char>(' ' + random() % 95);
      std::vector<std::uint64_t> dims(random() % 4);
      for (std::uint64_t& dim : dims) dim = random() % 30;
      archive.add({name, filled(common_dtypes[random() % std::size(common_dtypes)], Shape(dims))})
          .value();
    }
    for (unsigned n = random() % 3; n > 0; --n) {
      Metadata metadata = archive.metadata();
      metadata.emplace(std::to_string(random()), std::string(random() % 400, 'v'));
      archive.set_metadata(metadata);
    }
    expect_equal_to_hosted(archive);
  }
}

TEST(ViewWriter, FilesOfOtherSystemsAreWrittenAgainAsTheHostedWritersDo) {
  unsigned files = 0;
  for (const auto& folder : fixture_folders()) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string ending = entry.path().extension().string();
      if ((ending != ".safetensors" && ending != ".bpk") || entry.file_size() > 1'000'000) continue;
      Result<Archive> archive = open(entry.path().string());
      if (!archive || archive->size() > 300) continue;
      bool is_plain = true;
      for (std::size_t i = 0; i < archive->size(); ++i) {
        const TensorInfo info = archive->info(i);
        const bool is_common = std::find(std::begin(common_dtypes), std::end(common_dtypes),
                                         info.dtype) != std::end(common_dtypes);
        // The files' own spellings of types are the hosted writer's.
        is_plain = is_plain && is_common && info.file_dtype != "Flex32" &&
                   info.file_dtype != "Bool(U8)" && info.name.find('\0') == std::string_view::npos;
        is_plain = is_plain && archive->snapshot(i).read().ok();
      }
      for (const auto& [key, value] : archive->metadata()) {
        is_plain = is_plain && (key + value).find('\0') == std::string::npos;
      }
      if (!is_plain) continue;
      SCOPED_TRACE(entry.path().string());
      expect_equal_to_hosted(*std::move(archive));
      ++files;
    }
  }
  EXPECT_GT(files, 20u);
}

TEST(ViewWriter, TypesThatOnlySafetensorsHasAreWrittenThere) {
  const Archive archive = archive_of({{"a", filled(DType::f8e4m3fn, {4})},
                                      {"b", filled(DType::f4e2m1, {4})},
                                      {"c", filled(DType::c64, {4})}});
  EXPECT_TRUE(saved_safetensors(archive) == written(archive, {}));
  const Inputs in(archive);
  std::byte memory[2000];
  const SaveResult result = save_burnpack(in.tensors, memory);
  EXPECT_EQ(result.code, ErrorCode::unsupported_dtype);
  EXPECT_EQ(result.tensor, 0u);
}

// ---- Models ----

struct SavedLinear {
  TensorView<float, 2, 3> weight;
  TensorView<float, 2> bias;
  ANDIRON_MODULE(SavedLinear, weight, bias)
};

struct SavedNet {
  std::array<SavedLinear, 2> blocks;
  Transposed<float, 3, 2> turned;
  TensorView<std::int16_t> any;
  TensorView<bool, 3> mask;
  ANDIRON_MODULE(SavedNet, blocks, turned, any, mask)
};

Archive saved_archive() {
  Archive archive;
  for (const char* block : {"blocks.0", "blocks.1"}) {
    archive.add({std::string(block) + ".weight", filled(DType::f32, {2, 3})}).value();
    archive.add({std::string(block) + ".bias", filled(DType::f32, {2})}).value();
  }
  archive.add({"turned", filled(DType::f32, {2, 3})}).value();
  archive.add({"any", filled(DType::i16, {1, 4})}).value();
  archive.add({"mask", filled(DType::boolean, {3})}).value();
  return archive;
}

class BoundModel {
 public:
  BoundModel() : file_(written(saved_archive(), for_release())) {
    BurnpackView view;
    EXPECT_TRUE(BurnpackView::open(std::as_bytes(std::span(file_)), view).ok());
    const BindResult result = bind(net, view, {.arena = arena_});
    char text[200];
    EXPECT_TRUE(result.ok()) << result.describe(text);
  }
  SavedNet net;

 private:
  std::string file_;
  alignas(8) std::byte arena_[200];
};

TEST(ViewWriter, ABoundModelIsSavedAsItCame) {
  const BoundModel bound;
  EXPECT_TRUE(saved_by([&](const SaveTarget& to) { return save_burnpack(bound.net, to); }) ==
              written(saved_archive(), for_release()));
  EXPECT_TRUE(saved_by([&](const SaveTarget& to) { return save_safetensors(bound.net, to); }) ==
              written(saved_archive(), {}));
}

TEST(ViewWriter, AChangedTensorIsSavedAndReadByTheHost) {
  BoundModel bound;
  static constexpr float bias[2] = {7, 8};
  bound.net.blocks[1].bias = TensorView<float, 2>(bias);
  const MetadataToWrite metadata[] = {{"step", "3"}};
  const std::string file =
      saved_by([&](const SaveTarget& to) { return save_safetensors(bound.net, to, metadata); });
  const Archive archive = open(Bytes::copy(std::as_bytes(std::span(file))).value()).value();
  EXPECT_EQ(archive.size(), 7u);
  EXPECT_EQ(archive.metadata().at("step"), "3");
  EXPECT_EQ(archive.get("blocks.1.bias").value().read().value().to_vector<float>().value(),
            (std::vector<float>{7, 8}));
}

TEST(ViewWriter, AFieldThatIsNotBoundIsAnError) {
  BoundModel bound;
  bound.net.blocks[1].weight = {};
  std::byte memory[4000];
  const SaveResult result = save_safetensors(bound.net, memory);
  EXPECT_EQ(result.code, ErrorCode::missing_tensor);
  EXPECT_EQ(result.tensor, 2u);
}

struct Deep {
  TensorView<float, 1> a_name_of_sixty_four_characters_which_is_as_long_as_names_can_be;
  ANDIRON_MODULE(Deep, a_name_of_sixty_four_characters_which_is_as_long_as_names_can_be)
};
struct Deeper {
  Deep a_name_of_sixty_four_characters_which_is_as_long_as_names_can_be;
  ANDIRON_MODULE(Deeper, a_name_of_sixty_four_characters_which_is_as_long_as_names_can_be)
};

TEST(ViewWriter, PathsOfFieldsHaveALimit) {
  static constexpr float number[1] = {1};
  Deeper model;
  model.a_name_of_sixty_four_characters_which_is_as_long_as_names_can_be
      .a_name_of_sixty_four_characters_which_is_as_long_as_names_can_be =
      TensorView<float, 1>(number);
  std::byte memory[2000];
  const SaveResult result = save_safetensors(model, memory);
  EXPECT_EQ(result.code, ErrorCode::limit_exceeded);
}

// ---- Errors ----

TEST(ViewWriter, MemoryThatIsAByteTooSmallStaysUntouched) {
  const Inputs in(saved_archive());
  const auto expect_refused = [](const auto& save) {
    std::string memory(static_cast<std::size_t>(save(SaveTarget(std::span<std::byte>())).bytes - 1),
                       '#');
    const SaveResult result = save(SaveTarget(std::as_writable_bytes(std::span(memory))));
    EXPECT_EQ(result.code, ErrorCode::out_of_memory);
    EXPECT_STREQ(result.what, "the memory is too small for the file");
    EXPECT_EQ(result.bytes, memory.size() + 1);
    EXPECT_EQ(memory.find_first_not_of('#'), std::string::npos);
  };
  expect_refused([&](const SaveTarget& to) { return save_safetensors(in.tensors, to); });
  expect_refused([&](const SaveTarget& to) { return save_burnpack(in.tensors, to); });
}

// Takes so many pieces and no more.
struct Taker {
  unsigned pieces;
  std::uint64_t bytes = 0;

  static bool take(void* taker, std::span<const std::byte> piece) {
    auto& self = *static_cast<Taker*>(taker);
    if (self.pieces == 0) return false;
    --self.pieces;
    self.bytes += piece.size();
    return true;
  }
};

TEST(ViewWriter, AFunctionMayGiveUpAtAnyPiece) {
  const BoundModel bound;
  const auto expect_given_up = [](const auto& save) {
    unsigned pieces = 0;
    for (;; ++pieces) {
      Taker taker{pieces};
      const SaveResult result = save(SaveTarget(Taker::take, &taker));
      if (result.ok()) break;
      EXPECT_EQ(result.code, ErrorCode::io);
      EXPECT_EQ(result.offset, taker.bytes);
    }
    EXPECT_GT(pieces, 3u);
  };
  expect_given_up([&](const SaveTarget& to) { return save_safetensors(bound.net, to); });
  expect_given_up([&](const SaveTarget& to) { return save_burnpack(bound.net, to); });
}

TEST(ViewWriter, WrongTensorsAreNamedByTheirIndex) {
  const std::uint64_t shape[] = {2};
  const std::byte data[8] = {};
  std::byte memory[2000];
  const auto code_for = [&](TensorToWrite second) {
    const TensorToWrite tensors[] = {{"first", DType::f32, shape, data}, second};
    const SaveResult result = save_safetensors(tensors, memory);
    EXPECT_EQ(result.tensor, 1u);
    return result.code;
  };
  EXPECT_EQ(code_for({"__metadata__", DType::f32, shape, data}), ErrorCode::bad_header);
  EXPECT_EQ(code_for({{"a\0b", 3}, DType::f32, shape, data}), ErrorCode::bad_header);
  EXPECT_EQ(code_for({"\xff", DType::f32, shape, data}), ErrorCode::bad_header);
  EXPECT_EQ(code_for({"a", DType::f64, shape, data}), ErrorCode::size_mismatch);
  EXPECT_EQ(code_for({"a", DType::c32, shape, data}), ErrorCode::unsupported_dtype);
  EXPECT_EQ(code_for({"a", DType::qfloat, shape, data}), ErrorCode::unsupported_dtype);
  const std::string name(70'000, 'n');
  EXPECT_EQ(code_for({name, DType::f32, shape, data}), ErrorCode::limit_exceeded);
}

TEST(ViewWriter, TwoTensorsWithOneNameAreRefusedWhateverTheirTypes) {
  const std::uint64_t shape[] = {2};
  const std::byte data[8] = {};
  const TensorToWrite tensors[] = {{"b", DType::f32, shape, data},
                                   {"a", DType::f32, shape, data},
                                   {"b", DType::u32, shape, data}};
  std::byte memory[2000];
  EXPECT_EQ(save_safetensors(tensors, memory).code, ErrorCode::name_collision);
  EXPECT_EQ(save_burnpack(tensors, memory).code, ErrorCode::name_collision);
}

TEST(ViewWriter, MetadataIsChecked) {
  std::byte memory[2000];
  const auto code_for = [&](std::vector<MetadataToWrite> metadata) {
    return save_safetensors(std::span<const TensorToWrite>(), memory, metadata).code;
  };
  EXPECT_EQ(code_for({{"a", "1"}, {"b", "2"}, {"a", "3"}}), ErrorCode::duplicate_key);
  EXPECT_EQ(code_for({{"a", "\xff"}}), ErrorCode::bad_header);
  EXPECT_EQ(code_for({{{"a\0b", 3}, ""}}), ErrorCode::bad_header);
}

}  // namespace
}  // namespace andiron::test
