// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/load/load_notes.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/names.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/recurrent.h"
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

std::vector<Message> notes(const NoteNet& net, const Snapshots& tensors,
                           const ApplyOptions& options = {}) {
  return plan(net, tensors, options).value().result.notes;
}

bool has(const std::vector<Message>& notes, std::string_view part) {
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
  EXPECT_EQ(notes(net, tensors),
            std::vector<Message>{
                "the source has 1 tensor for 'layers.0.bias', which is an empty optional in the "
                "module; loading does not grow containers or fill optionals and pointers"});
}

TEST(LoadNotes, TellOfTensorsForContainersThatAreEmpty) {
  struct Holders {
    Param scale = Param(f32({1}, 1));
    std::vector<nn::Linear> blocks;
    std::map<std::string, nn::Linear> heads;
    std::optional<nn::Linear> extra;
    std::unique_ptr<nn::Linear> pointer;
    std::vector<std::vector<nn::Linear>> grid = std::vector<std::vector<nn::Linear>>(2);
    ANDIRON_MODULE(Holders, scale, blocks, heads, extra, pointer, grid)
  };
  Snapshots tensors;
  for (const char* name :
       {"scale", "blocks.0.weight", "blocks.0.bias", "blocks.1.weight", "heads.a.weight",
        "extra.weight", "pointer.weight", "pointer.bias", "grid.0.0.weight", "grid.1.3.weight"}) {
    tensors.push_back(TensorSnapshot(name, f32({1}, 1)));
  }
  const std::string end = "; loading does not grow containers";
  const std::string or_fill = end + " or fill optionals and pointers";
  EXPECT_EQ(
      plan(Holders(), tensors).value().result.notes,
      (std::vector<Message>{
          "the source has 5 tensors for 'blocks' and 2 others, which are empty lists in the "
          "module" +
              end,
          "the source has 1 tensor for 'heads', which is an empty map in the module" + end,
          "the source has 1 tensor for 'extra', which is an empty optional in the module" + or_fill,
          "the source has 2 tensors for 'pointer', which is an empty pointer in the module" +
              or_fill}));
}

TEST(LoadNotes, AListTakesNumbersOnly) {
  struct Listed {
    Param scale = Param(f32({1}, 1));
    std::vector<nn::Linear> blocks;
    ANDIRON_MODULE(Listed, scale, blocks)
  };
  Snapshots tensors;
  tensors.push_back(TensorSnapshot("scale", f32({1}, 1)));
  tensors.push_back(TensorSnapshot("blocks.norm.weight", f32({1}, 1)));
  EXPECT_TRUE(plan(Listed(), tensors).value().result.notes.empty());
}

TEST(LoadNotes, TellOfAModuleThatIsAnEmptyListItself) {
  Snapshots tensors;
  tensors.push_back(TensorSnapshot("0.weight", f32({1}, 1)));
  const std::vector<nn::Linear> none;
  EXPECT_TRUE(has(plan(none, tensors).value().result.notes,
                  "1 tensor for the module, which is an empty list; loading does not grow"));
}

TEST(LoadNotes, SayNothingOfOptionalsWhereNoneIsEmpty) {
  NoteNet net = net_of(1);
  net.layers[0].bias = Param(f32({2}, 1));
  Snapshots tensors = tensors_for(net);
  tensors.push_back(TensorSnapshot("layers.0.scale", f32({2}, 1)));
  EXPECT_EQ(notes(net, tensors),
            std::vector<Message>{
                "the module has no parameter for 'layers.0.scale', though it has others beside "
                "it"});
  // An adapter might feed the empty one from it.
  net.layers[0].bias.reset();
  tensors = tensors_for(net);
  tensors.push_back(TensorSnapshot("layers.0.scale", f32({2}, 1)));
  EXPECT_TRUE(has(notes(net, tensors), "loading does not fill empty optionals"));
}

TEST(LoadNotes, TellOfListsThatAreLongerInTheSource) {
  EXPECT_TRUE(has(notes(net_of(2), tensors_for(net_of(4))),
                  "lists are too short for 'layers.2.weight' and 1 other"));
}

struct StackNet {
  nn::LstmStack rnn;
  Param scale = Param(f32({1}, 1));
  ANDIRON_MODULE(StackNet, rnn, scale)
};

Snapshots tensors_of_stack(std::size_t layers) {
  StackNet net{nn::LstmConfig(3, 2, true).init_stack(layers)};
  return collect(net, {.adapter = BurnToPyTorchAdapter()}).value();
}

TEST(LoadNotes, TellOfRecurrentLayersBeyondTheEndOfAStack) {
  const StackNet net{nn::LstmConfig(3, 2, true).init_stack(1)};
  const auto result =
      plan(net, tensors_of_stack(2), {.adapter = PyTorchToBurnAdapter()}).value().result;
  EXPECT_EQ(result.unused.size(), 4u);
  EXPECT_TRUE(has(result.notes, "the module's lists are too short for 'rnn.bias_hh_l1' and 3 "))
      << result;
}

TEST(LoadNotes, TellOfRecurrentLayersForAnEmptyStack) {
  const auto result =
      plan(StackNet(), tensors_of_stack(2), {.adapter = PyTorchToBurnAdapter()}).value().result;
  EXPECT_TRUE(has(result.notes, "the source has 8 tensors for 'rnn.layers', which is an empty "))
      << result;
}

TEST(LoadNotes, TellTheNumbersThatRulesSeeWhereGapsWereClosed) {
  struct Net {
    Param weight = Param(f32({2, 2}, 1));
    ANDIRON_MODULE(Net, weight)
  };
  Archive file;
  file.add(TensorSnapshot("head.2.weight", f32({2, 2}, 1))).value();
  const Archive named = apply_names(file, {.close_gaps = true}).value();
  EXPECT_TRUE(has(plan(Net(), named, {.propose = false}).value().result.notes,
                  "renumbered 'head.2.weight' to 'head.0.weight'; rules for names see the file's"));
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
