// SPDX-License-Identifier: MIT OR Apache-2.0
// Examples of the documents on Burn's importers that recorder_test.cpp does not have.
// docs/scope-parity.md lists all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "andiron/andiron.h"
#include "tests/store/scope_models.h"
#include "tests/support/module_fingerprint.h"
#include "tests/support/state_dict.h"
#include "tests/support/temp_dir.h"

namespace andiron::test::scope::recorders {
namespace {

// A file of each framework with these tensors of two floats.
struct Files {
  explicit Files(const Names& names) {
    StateDict dict;
    for (const std::string& name : names) dict.add(name, {2});
    write_file(pytorch, dict.file());
    write(open(pytorch).value(), safetensors).value();
  }
  TempDir folder;
  std::string pytorch = folder.file("model.pt");
  std::string safetensors = folder.file("model.safetensors");
};

TEST(ScopeSafetensorsModel, AFileIsConvertedToBurnsOwnFormatOnce) {
  const TempDir folder;
  const std::string converted = folder.file("model.mpk");
  {  // in a tool that runs at build time
    Net model;
    load_file(model, conv2d_safetensors(folder), SafetensorsFileRecorder<FullPrecisionSettings>())
        .value();
    const NamedMpkFileRecorder<FullPrecisionSettings> recorder;
    recorder.record(into_record(model).value(), converted).value();
  }
  // in the application
  const Record record = NamedMpkFileRecorder<FullPrecisionSettings>().load(converted).value();
  Net model;
  load_record(model, record).value();
  Net expected;
  load_from(expected, PytorchStore::from_file(conv2d_pt())).value();
  EXPECT_EQ(bytes_by_path(model), bytes_by_path(expected));
}

TEST(ScopeSafetensorsModel, OriginalAndRemappedKeysArePrinted) {
  const Files files({"conv.conv1.bias"});
  std::ostringstream out;
  const auto args = LoadArgs(files.safetensors)
                        .with_key_remap("conv\\.(.*)", "$1")
                        .with_debug_print(out);  // Burn always prints to standard output
  const Record record = SafetensorsFileRecorder<FullPrecisionSettings>().load(args).value();
  EXPECT_EQ(
      out.str(),
      "Debug information of keys and tensor shapes:\n---\n"
      "Original Key: conv.conv1.bias\nRemapped Key: conv1.bias\nShape: [2]\nDtype: F32\n---\n");
}

TEST(ScopeSafetensorsModel, GapsInIndicesAreClosedInTheOrderOfTheFile) {
  const Files files({"model.layers.0.weight", "model.layers.0.bias", "model.layers.2.weight",
                     "model.layers.2.bias", "model.layers.4.weight", "model.layers.4.bias"});
  const auto earlier_names = [](const Record& record) {
    Names names;
    for (const Rename& rename : renames(record.archive().value())) {
      names.push_back(rename.from + " -> " + rename.to);
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  const Names expected = {"model.layers.2.bias -> model.layers.1.bias",
                          "model.layers.2.weight -> model.layers.1.weight",
                          "model.layers.4.bias -> model.layers.2.bias",
                          "model.layers.4.weight -> model.layers.2.weight"};
  EXPECT_EQ(earlier_names(SafetensorsFileRecorder().load(files.safetensors).value()), expected);
  EXPECT_EQ(earlier_names(PyTorchFileRecorder().load(files.pytorch).value()), expected);
}

TEST(ScopeSafetensorsModel, AModelIsPutTogetherFromPartsOfTwoFiles) {
  const TempDir folder;
  const auto layout = AdapterType::NoAdapter;
  const Model first;
  const Model second;
  save_into(
      first,
      SafetensorsStore::from_file(folder.file("first.safetensors")).with_regex(R"(^encoder\.)"))
      .value();
  save_into(second, SafetensorsStore::from_file(folder.file("second.safetensors"))).value();

  // Only the encoder of an encoder and decoder.
  struct Part {
    Encoder encoder;
    ANDIRON_MODULE(Part, encoder)
  } part;
  const SafetensorsFileRecorder<FullPrecisionSettings> recorder;
  load_file(part, LoadArgs(folder.file("second.safetensors")).with_adapter_type(layout), recorder)
      .value();
  EXPECT_EQ(bytes_by_path(part.encoder), bytes_by_path(second.encoder));

  // A hybrid: the encoder of the first file over the second.
  Model hybrid;
  for (const char* name : {"second.safetensors", "first.safetensors"}) {
    const auto args = LoadArgs(folder.file(name)).with_adapter_type(layout).allow_partial(true);
    load_file(hybrid, args, recorder).value();
  }
  EXPECT_EQ(bytes_by_path(hybrid.encoder), bytes_by_path(first.encoder));
  EXPECT_EQ(bytes_by_path(hybrid.decoder), bytes_by_path(second.decoder));
}

}  // namespace
}  // namespace andiron::test::scope::recorders
