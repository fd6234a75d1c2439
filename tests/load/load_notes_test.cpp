// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/load/load_notes.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "andiron/apply.h"
#include "andiron/nn/linear.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;

struct NoteNet {
  std::vector<nn::Linear> layers;
  ANDIRON_MODULE(NoteNet, layers)
};

NoteNet net_of(std::size_t layers) {
  NoteNet net;
  for (std::size_t i = 0; i < layers; ++i) {
    net.layers.emplace_back();
    net.layers.back().weight = Param(f32({2, 2}, 1));
  }
  return net;
}

Snapshots tensors_for(const NoteNet& net) { return collect(net).value(); }

std::vector<std::string> notes(const NoteNet& net, const Snapshots& tensors,
                               const ApplyOptions& options = {}) {
  return plan(net, tensors, options).value().result.notes;
}

bool has(const std::vector<std::string>& notes, std::string_view part) {
  return notes.size() == 1 && notes[0].find(part) != std::string::npos;
}

TEST(LoadNotes, AreNotMadeOfALoadThatFits) {
  const NoteNet net = net_of(2);
  EXPECT_TRUE(notes(net, tensors_for(net)).empty());
}

TEST(LoadNotes, TellOfAFilterThatTakesNothing) {
  const NoteNet net = net_of(1);
  EXPECT_TRUE(has(notes(net, tensors_for(net), {.filter = PathFilter().with_glob("layer.*")}),
                  "no parameter matches the filter; parameters look like 'layers.0.weight'"));
}

TEST(LoadNotes, TellOfTensorsForOptionalsThatAreEmpty) {
  const NoteNet net = net_of(1);
  Snapshots tensors = tensors_for(net);
  tensors.push_back(TensorSnapshot("layers.0.bias", f32({2}, 1)));
  EXPECT_TRUE(
      has(notes(net, tensors), "no parameter for 'layers.0.bias', though it has others beside it"));
}

TEST(LoadNotes, TellOfListsThatAreLongerInTheSource) {
  EXPECT_TRUE(has(notes(net_of(2), tensors_for(net_of(4))),
                  "lists are too short for 'layers.2.weight' and 1 other"));
}

TEST(LoadNotes, AreSilentAboutTensorsOfOtherModules) {
  const NoteNet net = net_of(1);
  Snapshots tensors = tensors_for(net);
  tensors.push_back(TensorSnapshot("layers.0.num_batches_tracked", f32({}, 1)));
  tensors.push_back(TensorSnapshot("decoder.bias", f32({2}, 1)));
  tensors.push_back(TensorSnapshot("step", f32({}, 1)));
  EXPECT_TRUE(notes(net, tensors).empty());
}

TEST(LoadNotes, TellOfDtypesThatChange) {
  const NoteNet net = net_of(3);
  Snapshots tensors = tensors_for(net);
  for (TensorSnapshot& tensor : tensors) tensor = tensor.cast(DType::f16).value();
  EXPECT_TRUE(has(notes(net, tensors), "'layers.0.weight' and 2 others"));
  EXPECT_TRUE(has(notes(net, tensors), "f32 to f16"));
  EXPECT_TRUE(notes(net, tensors, {.dtype_policy = DTypePolicy::cast_to_module}).empty());
}

TEST(LoadNotes, TellOfSquareMatricesThatPyTorchWroteTransposed) {
  const NoteNet net = net_of(1);
  Archive file;
  file.add(tensors_for(net)[0]).value();
  file.set_metadata({{"format", "pt"}});
  const auto notes_with = [&](AnyAdapter adapter) {
    return plan(net, file, {.adapter = std::move(adapter)}).value().result.notes;
  };
  EXPECT_TRUE(has(notes_with({}), "PyTorchToBurnAdapter"));
  EXPECT_TRUE(notes_with(PyTorchToBurnAdapter()).empty());
  EXPECT_TRUE(notes_with(IdentityAdapter()).empty());
}

}  // namespace
}  // namespace andiron
