// SPDX-License-Identifier: MIT OR Apache-2.0
// The precision of recorders, and the files of Burn's own.
#include "andiron/recorder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/nn/linear.h"
#include "andiron/open.h"
#include "andiron/sha256.h"
#include "andiron/stores.h"
#include "tests/store/recorder_cases.h"
#include "tests/support/fixtures.h"
#include "tests/support/module_fingerprint.h"
#include "tests/support/places.h"
#include "tests/support/temp_dir.h"

namespace andiron::test::recorder_cases {
namespace {

// ---- Precision ----

struct Numbers {
  Param weight;
  Param steps;
  Param flags;
  ANDIRON_MODULE(Numbers, weight, steps, flags)
};

// 1/3 differs in every precision.
Numbers third() {
  return {Param(Tensor::from_values<double>({2}, {1.0 / 3, 2}).value()),
          Param(Tensor::from_values<std::int64_t>({2}, {-7, 1000}).value()),
          Param(Tensor::from_values<bool>({2}, {true, false}).value())};
}

Numbers zeros(DType floating, DType integer) {
  return {Param(Tensor::zeros(floating, {2}).value()), Param(Tensor::zeros(integer, {2}).value()),
          Param(Tensor::zeros(DType::boolean, {2}).value())};
}

template <class Settings>
double saved_third(DType floating, DType integer) {
  const TempDir folder;
  const NamedMpkFileRecorder<Settings> recorder;
  save_file(third(), folder.file("m"), recorder).value();
  const Archive file = open(folder.file("m.mpk")).value();
  EXPECT_EQ(file.get("weight").value().dtype(), floating);
  EXPECT_EQ(file.get("steps").value().dtype(), integer);
  EXPECT_EQ(file.get("flags").value().dtype(), DType::boolean);
  // The module keeps its dtypes.
  Numbers loaded = zeros(DType::f64, DType::i64);
  load_file(loaded, folder.file("m"), recorder).value();
  EXPECT_EQ(loaded.steps.as<std::int64_t>().value()[1], 1000);
  EXPECT_EQ(loaded.flags.val().value().to_vector<bool>().value(), (std::vector<bool>{1, 0}));
  return loaded.weight.as<double>().value()[0];
}

constexpr double third_as_f16 = 0.333251953125;

TEST(RecorderPrecision, NumbersAreSavedInTheTypesOfTheSettings) {
  EXPECT_EQ((saved_third<FullPrecisionSettings>(DType::f32, DType::i32)), double(1.0F / 3));
  EXPECT_EQ((saved_third<HalfPrecisionSettings>(DType::f16, DType::i16)), third_as_f16);
  EXPECT_EQ((saved_third<DoublePrecisionSettings>(DType::f64, DType::i64)), 1.0 / 3);
}

TEST(RecorderPrecision, TheMetadataNamesTheSettings) {
  const TempDir folder;
  save_file(third(), folder.file("m"), CompactRecorder()).value();
  EXPECT_EQ(open(folder.file("m.mpk")).value().metadata().at("settings"), "HalfPrecisionSettings");
}

void expect_rounding(const std::string& path, const FileRecorder& half_recorder,
                     const FileRecorder& full_recorder, const FileRecorder& double_recorder) {
  const auto loaded = [&](const FileRecorder& recorder, Numbers into) {
    load_file(into, path, recorder).value();
    return into;
  };
  const Numbers half = loaded(half_recorder, zeros(DType::f64, DType::i64));
  EXPECT_EQ(half.weight.as<double>().value()[0], third_as_f16);
  EXPECT_EQ(half.steps.as<std::int64_t>().value()[0], -7);
  const Numbers full = loaded(full_recorder, zeros(DType::f64, DType::i64));
  EXPECT_EQ(full.weight.as<double>().value()[0], double(1.0F / 3));
  const Numbers doubled = loaded(double_recorder, zeros(DType::f64, DType::i64));
  EXPECT_EQ(doubled.weight.as<double>().value()[0], 1.0 / 3);
  // A parameter that is not set takes the settings' types.
  const Numbers unset = loaded(half_recorder, Numbers());
  EXPECT_EQ(unset.weight.dtype(), DType::f16);
  EXPECT_EQ(unset.steps.dtype(), DType::i16);
  EXPECT_EQ(unset.flags.dtype(), DType::boolean);
  // One of another float type keeps it.
  const Numbers narrow = loaded(full_recorder, zeros(DType::f16, DType::i64));
  EXPECT_EQ(narrow.weight.dtype(), DType::f16);
}

TEST(RecorderPrecision, NumbersAreLoadedThroughTheTypesOfTheSettings) {
  const TempDir folder;
  save_into(third(), SafetensorsStore::from_file(folder.file("m.safetensors"))).value();
  expect_rounding(folder.file("m.safetensors"), SafetensorsFileRecorder<HalfPrecisionSettings>(),
                  SafetensorsFileRecorder<FullPrecisionSettings>(),
                  SafetensorsFileRecorder<DoublePrecisionSettings>());
  expect_rounding(folder.file("m.safetensors"), PyTorchFileRecorder<HalfPrecisionSettings>(),
                  PyTorchFileRecorder<FullPrecisionSettings>(),
                  PyTorchFileRecorder<DoublePrecisionSettings>());
  save_into(third(), MpkStore::from_file(folder.file("m.mpk")).precision(RecordPrecision::doubled))
      .value();
  expect_rounding(folder.file("m.mpk"), NamedMpkFileRecorder<HalfPrecisionSettings>(),
                  NamedMpkFileRecorder<FullPrecisionSettings>(),
                  NamedMpkFileRecorder<DoublePrecisionSettings>());
}

TEST(RecorderPrecision, IdsSurviveTheConversion) {
  const TempDir folder;
  const Numbers original = third();
  save_file(original, folder.file("m"), NamedMpkFileRecorder<DoublePrecisionSettings>()).value();
  Numbers loaded = zeros(DType::f64, DType::i64);
  load_file(loaded, folder.file("m"), CompactRecorder()).value();
  EXPECT_EQ(loaded.weight.id(), original.weight.id());
  EXPECT_EQ(loaded.steps.id(), original.steps.id());
}

TEST(RecorderPrecision, IntegersThatDoNotFitAreRefused) {
  const TempDir folder;
  Numbers large = third();
  large.steps = Param(Tensor::from_values<std::int64_t>({2}, {1, 1 << 20}).value());
  const auto saved = save_file(large, folder.file("m"), CompactRecorder());
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, ErrorCode::overflow);
  EXPECT_EQ(saved.error().tensor, "steps");
  EXPECT_TRUE(folder.names().empty());

  save_file(large, folder.file("m"), DefaultRecorder()).value();
  Numbers loaded = zeros(DType::f64, DType::i64);
  const std::string before = fingerprint(loaded);
  const auto refused = load_file(loaded, folder.file("m"), CompactRecorder());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::overflow);
  EXPECT_EQ(fingerprint(loaded), before);
  load_file(loaded, folder.file("m"), DefaultRecorder()).value();
}

TEST(RecorderPrecision, BytesFeedBooleans) {
  const TempDir folder;
  Archive archive;
  archive.add({"mask", Tensor::from_values<std::uint8_t>({2}, {0, 1}).value()}).value();
  write(archive, folder.file("m.safetensors")).value();
  struct Masked {
    Param mask = Param(Tensor::zeros(DType::boolean, {2}).value());
    ANDIRON_MODULE(Masked, mask)
  } model;
  load_file(model, folder.file("m.safetensors"), SafetensorsFileRecorder()).value();
  EXPECT_EQ(model.mask.val().value().to_vector<bool>().value(), (std::vector<bool>{0, 1}));
}

TEST(RecorderPrecision, ARecordOfAFileIsWrittenInTheWritersPrecision) {
  const TempDir folder;
  save_file(third(), folder.file("m"), NamedMpkFileRecorder<DoublePrecisionSettings>()).value();
  const Record record = CompactRecorder().load(folder.file("m")).value();
  EXPECT_EQ(record.archive().value().get("weight").value().dtype(), DType::f16);
  NamedMpkFileRecorder<DoublePrecisionSettings>().record(record, folder.file("again")).value();
  Numbers loaded = zeros(DType::f64, DType::i64);
  load_file(loaded, folder.file("again"), NamedMpkFileRecorder<DoublePrecisionSettings>()).value();
  EXPECT_EQ(loaded.weight.as<double>().value()[0], third_as_f16);
}

TEST(RecorderPrecision, BufferOfIntegersInAPytorchFile) {
  struct Buffered {
    Param buffer = Param(Tensor::zeros(DType::i64, {3}).value());
    ANDIRON_MODULE(Buffered, buffer)
  } model;
  load_file(model, torch_layer("integer/integer"), PyTorchFileRecorder()).value();
  EXPECT_EQ(model.buffer.val().value().to_vector<std::int64_t>().value(),
            (std::vector<std::int64_t>{1, 2, 3}));
}

// ---- Records of Burn itself ----

// What Burn's own tests recorded under these names.
struct Linear48 {
  Param weight = Param(Tensor::zeros(DType::f32, {4, 8}).value());
  std::optional<Param> bias = Param(Tensor::zeros(DType::f32, {8}).value());
  ANDIRON_MODULE(Linear48, weight, bias)
};

// Loads linear.NAME of a folder; returns the values, or nothing if the folder has none.
template <class Model>
std::optional<Model> loaded_from(const std::filesystem::path& folder, const std::string& name,
                                 const FileRecorder& recorder) {
  const std::string path = (folder / name).string();
  if (!std::filesystem::exists(path)) return std::nullopt;
  Model model;
  const auto result = load_file(model, path, recorder);
  EXPECT_TRUE(result) << path << ": " << refusal(result);
  return model;
}

TEST(RecorderOfBurn, EveryRecorderLoadsItsFiles) {
  std::size_t loaded = 0;
  for (const std::filesystem::path& folder : fixture_folders("mpk-")) {
    SCOPED_TRACE(folder.string());
    const auto reference = loaded_from<Linear48>(folder, "linear.mpk", DefaultRecorder());
    ASSERT_TRUE(reference);
    struct Case {
      const char* name;
      FileRecorder recorder;
    };
    const Case cases[] = {
        {"linear.mpk", DefaultFileRecorder<FullPrecisionSettings>()},
        {"linear.mpk.gz", NamedMpkGzFileRecorder<FullPrecisionSettings>()},
        {"linear.bin", BinFileRecorder<FullPrecisionSettings>()},
        {"linear.bin.gz", BinGzFileRecorder<FullPrecisionSettings>()},
        {"linear.json", PrettyJsonFileRecorder<FullPrecisionSettings>()},
        {"linear.json.gz", JsonGzFileRecorder<FullPrecisionSettings>()},
        {"linear.double.mpk", NamedMpkFileRecorder<DoublePrecisionSettings>()},
    };
    for (const Case& one : cases) {
      const auto model = loaded_from<Linear48>(folder, one.name, one.recorder);
      if (!model) continue;
      ++loaded;
      EXPECT_EQ(fingerprint(*model), fingerprint(*reference)) << one.name;
    }
    const auto half = loaded_from<Linear48>(folder, "linear.half.mpk", CompactRecorder());
    ASSERT_TRUE(half);
    EXPECT_EQ(half->weight.dtype(), DType::f32);
    const auto rounded = loaded_from<Linear48>(folder, "linear.mpk", CompactRecorder());
    EXPECT_EQ(fingerprint(*half), fingerprint(*rounded));
    const auto half_bin =
        loaded_from<Linear48>(folder, "linear.half.bin", BinFileRecorder<HalfPrecisionSettings>());
    if (half_bin) {
      EXPECT_EQ(fingerprint(*half_bin), fingerprint(*half));
    }
  }
  EXPECT_GE(loaded, 7u);
}

TEST(RecorderOfBurn, ValuesAreThoseThatBurnLoaded) {
  const std::string folder = test_data() + "/mpk-0.21.0/";
  const auto truth = nlohmann::json::parse(read_file(folder + "truth.json"));
  // Burn loaded these into a model of f32.
  for (const char* name : {"linear.bin", "linear.half.bin"}) {
    Linear48 model;
    const bool is_half = std::string_view(name).find("half") != std::string_view::npos;
    load_file(model, folder + name,
              is_half ? FileRecorder(BinFileRecorder<HalfPrecisionSettings>())
                      : FileRecorder(BinFileRecorder<FullPrecisionSettings>()))
        .value();
    for (const TensorSnapshot& tensor : collect(model).value()) {
      const auto& known = truth[name]["tensors"][tensor.full_path()];
      EXPECT_EQ(known["sha256"], to_hex(sha256(tensor).value())) << tensor.full_path();
      EXPECT_EQ(known["param_id"], std::to_string(tensor.param_id()->value));
    }
  }
}

TEST(RecorderOfBurn, ARecordIsWrittenAgainByteForByte) {
  const TempDir folder;
  for (const std::filesystem::path& set : fixture_folders("mpk-")) {
    for (const char* name : {"linear.mpk", "nested.mpk", "option_none.mpk", "zoo.mpk"}) {
      if (!std::filesystem::exists(set / name)) continue;
      const std::string path = (set / name).string();
      const Record record = DefaultRecorder().load(path).value();
      DefaultRecorder().record(record, folder.file(name)).value();
      EXPECT_EQ(read_file(folder.file(name)), read_file(path)) << path;
    }
    const std::string half = (set / "linear.half.mpk").string();
    CompactRecorder().record(CompactRecorder().load(half).value(), folder.file("h.mpk")).value();
    EXPECT_EQ(read_file(folder.file("h.mpk")), read_file(half));
  }
}

TEST(RecorderOfBurn, AJsonRecordBecomesMessagePack) {
  const TempDir folder;
  const std::string data = test_data() + "/mpk-0.21.0/";
  const Record record = PrettyJsonFileRecorder().load(data + "linear.json").value();
  DefaultRecorder().record(record, folder.file("linear")).value();
  EXPECT_EQ(read_file(folder.file("linear.mpk")), read_file(data + "linear.mpk"));
}

TEST(RecorderOfBurn, ABinRecordGoesThroughAModule) {
  const TempDir folder;
  const std::string data = test_data() + "/mpk-0.21.0/";
  const Record record = BinFileRecorder().load(data + "linear.bin").value();
  EXPECT_EQ(record.archive().error().code, ErrorCode::unsupported);
  const auto refused = DefaultRecorder().record(record, folder.file("m"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(contains(refusal(refused), "then write into_record(model)")) << refusal(refused);
  Linear48 model;
  load_record(model, record).value();
  save_file(model, folder.file("m"), DefaultRecorder()).value();
  Linear48 again;
  load_file(again, folder.file("m"), DefaultRecorder()).value();
  EXPECT_EQ(fingerprint(again), fingerprint(model));
}

TEST(RecorderOfBurn, ABinRecordHasNoNamesToChangeOrPrint) {
  const std::string path = test_data() + "/mpk-0.21.0/linear.bin";
  std::ostringstream out;
  const LoadArgs wrong[] = {
      LoadArgs(path).with_key_remap("a", "b"), LoadArgs(path).with_top_level_key("a"),
      LoadArgs(path).with_adapter_type(AdapterType::PyTorch), LoadArgs(path).with_debug_print(out)};
  for (const LoadArgs& args : wrong) {
    const auto refused = BinFileRecorder().load(args);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(out.str(), "");
}

TEST(RecorderOfBurn, QuantizedTensorsStayAsTheyAre) {
  const TempDir folder;
  const std::string path = test_data() + "/mpk-0.21.0/quantized.mpk";
  Linear48 model;
  load_file(model, path, CompactRecorder()).value();
  EXPECT_EQ(model.weight.dtype(), DType::qfloat);
  DefaultRecorder().record(into_record(model).value(), folder.file("q")).value();
  EXPECT_EQ(open(folder.file("q.mpk")).value().get("weight").value().dtype(), DType::qfloat);
}

}  // namespace
}  // namespace andiron::test::recorder_cases
