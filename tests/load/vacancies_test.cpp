// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that go on where the module ends.
#include "src/load/vacancies.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/nn/activation.h"
#include "andiron/nn/attention.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/nn/recurrent.h"
#include "andiron/nn/transformer.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;
using test::fingerprint;

struct BlockNet {
  std::vector<nn::Linear> blocks;
  ANDIRON_MODULE(BlockNet, blocks)
};

BlockNet blocks(std::size_t count, float first = 1) {
  BlockNet net;
  for (std::size_t i = 0; i < count; ++i) {
    net.blocks.emplace_back();
    net.blocks.back().weight = Param(f32({2, 2}, first));
  }
  return net;
}

Snapshots zeros_named(const std::vector<const char*>& names) {
  Snapshots tensors;
  for (const char* name : names) tensors.push_back(TensorSnapshot(name, f32({2}, 0)));
  return tensors;
}

template <class M>
Error refusal_of(M& module, const Snapshots& source, const ApplyOptions& options = {}) {
  const std::string before = fingerprint(module);
  Result<ApplyResult> refused = apply(module, source, options);
  if (refused) return Error{.message = "not refused"};
  EXPECT_EQ(fingerprint(module), before);
  EXPECT_EQ(refused.error().code, ErrorCode::unused_tensor) << refused.error();
  EXPECT_NE(refused.error().hint.find(".allow_unused(true)"), std::string::npos);
  EXPECT_NE(refused.error().report, nullptr);
  return std::move(refused).error();
}

TEST(Vacancies, AModelThatLacksABlockIsRefused) {
  const Snapshots four = collect(blocks(4, 5)).value();
  BlockNet two = blocks(2);
  const Error error = refusal_of(two, four);
  EXPECT_EQ(error.tensor, "blocks.2.weight");
  EXPECT_EQ(error.message,
            "the module's list 'blocks' is too short for it (and 1 other has no place)");
  BlockNet three = blocks(3);
  EXPECT_EQ(refusal_of(three, four).message, "the module's list 'blocks' is too short for it");
}

TEST(Vacancies, AllowUnusedOrAllowPartialLoadsTheRestWithANote) {
  const Snapshots four = collect(blocks(4, 5)).value();
  for (const ApplyOptions& options :
       {ApplyOptions{.allow_unused = true}, ApplyOptions{.allow_partial = true}}) {
    BlockNet net = blocks(2);
    const ApplyResult result = apply(net, four, options).value();
    EXPECT_EQ(result.applied.size(), 2u);
    EXPECT_EQ(result.notes,
              std::vector<Message>{"the module's lists are too short for 'blocks.2.weight' and "
                                   "1 other; loading does not extend lists"});
  }
}

TEST(Vacancies, APlanTellsOfThemInItsNotesAndWhetherTheLoadIsRefused) {
  const Snapshots two = collect(blocks(2)).value();
  const ApplyResult refused = plan(blocks(1), two).value().result;
  EXPECT_EQ(refused.notes.size(), 1u);
  ASSERT_FALSE(refused.is_success());
  EXPECT_EQ(refused.errors[0].message, "the module's list 'blocks' is too short for it");
  EXPECT_EQ(refused.errors[0].tensor, "blocks.1.weight");
  const ApplyResult allowed = plan(blocks(1), two, {.allow_unused = true}).value().result;
  EXPECT_EQ(allowed.notes.size(), 1u);
  EXPECT_TRUE(allowed.is_success());
}

TEST(Vacancies, TensorsThatContinueNothingAreOnlyReported) {
  BlockNet net = blocks(1);
  Snapshots tensors = collect(net).value();
  for (const char* name : {"blocks.0.num_batches_tracked", "blocks.0.scale", "blocks.extra",
                           "decoder.0.weight", "decoder.1.weight", "step", "7.weight"}) {
    tensors.push_back(TensorSnapshot(name, f32({1}, 0)));
  }
  EXPECT_EQ(apply(net, tensors).value().unused.size(), 7u);
}

struct Empties {
  Param scale = Param(f32({2}, 1));
  std::vector<nn::Linear> blocks;
  std::map<std::string, nn::Linear> heads;
  std::optional<nn::Linear> extra;
  std::unique_ptr<nn::Linear> pointer;
  nn::Linear fc = {Param(f32({2, 2}, 1)), std::nullopt};
  ANDIRON_MODULE(Empties, scale, blocks, heads, extra, pointer, fc)
};

TEST(Vacancies, WhatIsForAnEmptyPartIsRefused) {
  for (const auto& [name, message] :
       {std::pair("blocks.0.weight", "the module's list 'blocks' is empty"),
        {"heads.a.weight", "the module's map 'heads' is empty"},
        {"extra.weight", "the module's optional 'extra' is empty"},
        {"pointer.bias", "the module's pointer 'pointer' is empty"},
        {"fc.bias", "the module's optional 'fc.bias' is empty"}}) {
    Empties module;
    Snapshots tensors = collect(module).value();
    tensors.push_back(TensorSnapshot(name, f32({2}, 0)));
    const Error error = refusal_of(module, tensors);
    EXPECT_EQ(error.tensor, name);
    EXPECT_EQ(error.message, message);
  }
}

TEST(Vacancies, AnotherKeyOfAMapIsRefused) {
  struct Heads {
    std::map<std::string, nn::Linear> heads;
    ANDIRON_MODULE(Heads, heads)
  } module;
  module.heads["a"].weight = Param(f32({2, 2}, 1));
  Snapshots tensors = collect(module).value();
  tensors.push_back(TensorSnapshot("heads.a.scale", f32({2}, 0)));
  EXPECT_TRUE(apply(module, tensors));
  tensors.push_back(TensorSnapshot("heads.b.weight", f32({2, 2}, 0)));
  EXPECT_EQ(refusal_of(module, tensors).message, "the module's map 'heads' does not have its key");
  EXPECT_EQ(apply(module, tensors, {.allow_unused = true}).value().notes.back(),
            "the module's maps do not have the keys of 'heads.b.weight'; loading does not add to "
            "maps");
}

TEST(Vacancies, AModuleThatIsAListItselfMayBeTooShort) {
  std::vector<nn::Linear> list = blocks(1).blocks;
  Snapshots tensors = collect(list).value();
  tensors.push_back(TensorSnapshot("1.weight", f32({2, 2}, 0)));
  EXPECT_EQ(refusal_of(list, tensors).message, "the module is too short for it");
}

TEST(Vacancies, WhatTheFilterLeavesOutIsNotMissed) {
  struct Two {
    BlockNet encoder = blocks(1);
    BlockNet decoder = blocks(1);
    ANDIRON_MODULE(Two, encoder, decoder)
  } module;
  Snapshots tensors = collect(module).value();
  tensors.push_back(TensorSnapshot("decoder.blocks.1.weight", f32({2, 2}, 0)));
  const ApplyResult result =
      apply(module, tensors, {.filter = PathFilter().with_regex("^encoder")}).value();
  EXPECT_TRUE(result.notes.empty());
  EXPECT_EQ(refusal_of(module, tensors).tensor, "decoder.blocks.1.weight");
}

// A tuple with a layer without a bias: its list is long enough.
TEST(Vacancies, AnElementThatLacksOneParameterDoesNotMakeItsListTooShort) {
  struct Norm {
    Param weight = Param(f32({2}, 1));
    ANDIRON_MODULE(Norm, weight)
  };
  struct Stem {
    std::tuple<nn::Linear, Norm> stem = {{Param(f32({2, 2}, 1)), Param(f32({2}, 1))}, {}};
    ANDIRON_MODULE(Stem, stem)
  } module;
  Snapshots tensors = collect(module).value();
  tensors.push_back(TensorSnapshot("stem.1.bias", f32({2}, 0)));
  EXPECT_EQ(apply(module, tensors).value().notes,
            std::vector<Message>{"the module has no parameter for 'stem.1.bias', though it has "
                                 "others beside it"});
}

// A file of one with a buffer in it.
TEST(Vacancies, AnElementWithoutParametersIsPartOfItsList) {
  struct Stack {
    std::tuple<nn::Linear, nn::Relu> layers = {{Param(f32({2, 2}, 1)), std::nullopt}, {}};
    ANDIRON_MODULE(Stack, layers)
  } module;
  Snapshots tensors = collect(module).value();
  tensors.push_back(TensorSnapshot("layers.1.pe", f32({1}, 0)));
  const ApplyResult result = apply(module, tensors).value();
  EXPECT_EQ(result.unused, std::vector<std::string>{"layers.1.pe"});
  EXPECT_TRUE(result.notes.empty());
  tensors.push_back(TensorSnapshot("layers.2.weight", f32({1}, 0)));
  EXPECT_EQ(refusal_of(module, tensors).tensor, "layers.2.weight");
  std::tuple<nn::Linear, nn::Relu> root = module.layers;
  Snapshots of_root = collect(root).value();
  of_root.push_back(TensorSnapshot("1.pe", f32({1}, 0)));
  EXPECT_TRUE(apply(root, of_root));
}

// ---- Layers that have no place for a tensor ----

struct Activated {
  nn::Linear fc = {Param(f32({2, 2}, 1)), std::nullopt};
  nn::Relu act;
  ANDIRON_MODULE(Activated, fc, act)
};

TEST(Vacancies, AWeightForALayerWithoutParametersIsRefused) {
  Activated module;
  Snapshots tensors = collect(module).value();
  tensors.push_back(TensorSnapshot("act.weight", f32({1}, 0)));
  const Error error = refusal_of(module, tensors);
  EXPECT_EQ(error.tensor, "act.weight");
  EXPECT_EQ(error.message, "the module's Relu 'act' has no place for it");
  EXPECT_EQ(error.hint,
            "pass .allow_unused(true) to load without it; nn::PRelu has a slope that is learned");
  for (const ApplyOptions& options :
       {ApplyOptions{.allow_unused = true}, ApplyOptions{.allow_partial = true}}) {
    EXPECT_EQ(apply(module, tensors, options).value().notes,
              std::vector<Message>{
                  "the module's Relu 'act' has no place for 'act.weight' and computes without; "
                  "nn::PRelu has a slope that is learned"});
  }
  EXPECT_TRUE(apply(module, tensors, {.filter = PathFilter().with_regex("^fc")}));
}

TEST(Vacancies, WhatIsWithinAPartWithoutParametersIsOfIt) {
  struct Silent {
    nn::Relu first;
    std::vector<nn::Relu> others = std::vector<nn::Relu>(2);
    ANDIRON_MODULE(Silent, first, others)
  };
  struct Net {
    nn::Linear fc = {Param(f32({2, 2}, 1)), std::nullopt};
    Silent skip;
    ANDIRON_MODULE(Net, fc, skip)
  } module;
  for (const char* name : {"skip.0.conv.weight", "skip.first.weight", "skip.bias"}) {
    Snapshots tensors = collect(module).value();
    tensors.push_back(TensorSnapshot(name, f32({1}, 0)));
    const Error error = refusal_of(module, tensors);
    EXPECT_EQ(error.message, "the module's Silent 'skip' has no place for it");
    EXPECT_EQ(error.hint,
              "pass .allow_unused(true) to load without it, or give the module a layer that has a "
              "place for it");
  }
}

TEST(Vacancies, BuffersOfALayerWithoutParametersAreLeftToIt) {
  Activated module;
  Snapshots tensors = collect(module).value();
  for (const char* name : {"act.pe", "act.inv_freq", "act.position_ids", "act.masked_bias"}) {
    tensors.push_back(TensorSnapshot(name, f32({1}, 0)));
  }
  EXPECT_TRUE(apply(module, tensors).value().notes.empty());
  tensors.push_back(TensorSnapshot("act.kernel", f32({1}, 0)));
  EXPECT_EQ(apply(module, tensors).value().notes,
            std::vector<Message>{
                "the module's Relu 'act' has no parameters, and the source has 'act.kernel' there; "
                "if they are learned, give the module a layer that has them"});
  EXPECT_TRUE(
      apply(module, tensors, {.filter = PathFilter().with_regex("^fc")}).value().notes.empty());
}

// The alternative without parameters gives way, and is in the way of nothing.
TEST(Vacancies, AnAlternativeThatWasReplacedLacksNothing) {
  struct Chosen {
    Param scale = Param(f32({1}, 1));
    std::variant<nn::Relu, nn::PRelu> act;
    ANDIRON_MODULE(Chosen, scale, act)
  } module;
  Snapshots tensors = zeros_named({"scale", "act.alpha", "act.bias"});
  for (TensorSnapshot& tensor : tensors) tensor = tensor.slice(0, 0, 1).value();
  EXPECT_TRUE(apply(module, tensors, {.skip_enum_variants = true}));
  EXPECT_EQ(module.act.index(), 1u);
}

TEST(Vacancies, WhatANormLacksIsRefused) {
  struct Normed {
    nn::RmsNorm rms = {.gamma = Param(f32({2}, 1))};
    nn::LayerNorm layer = {.gamma = Param(f32({2}, 1)), .beta = {}};
    ANDIRON_MODULE(Normed, rms, layer)
  } module;
  const auto refusal = [&](const char* name) {
    return refusal_of(module, zeros_named({"rms.gamma", "layer.gamma", name}));
  };
  EXPECT_EQ(refusal("rms.bias").message, "the module's RmsNorm 'rms' has no place for it");
  EXPECT_EQ(refusal("layer.running_mean").message,
            "the module's LayerNorm 'layer' has no place for it");
  Snapshots both = zeros_named({"rms.gamma", "layer.gamma", "layer.weight", "rms.inv_freq"});
  EXPECT_TRUE(apply(module, both));
}

TEST(Vacancies, EachLayerThatLacksSomethingHasANote) {
  std::vector<Activated> module(12);
  Snapshots tensors = collect(module).value();
  for (int i = 0; i < 12; ++i) {
    for (const char* last : {".act.bias", ".act.weight"}) {
      tensors.push_back(TensorSnapshot(std::to_string(i) + last, f32({1}, 0)));
    }
  }
  const std::vector<Message> notes = apply(module, tensors, {.allow_unused = true}).value().notes;
  ASSERT_EQ(notes.size(), 11u);
  EXPECT_EQ(notes[0],
            "the module's Relu '0.act' has no place for '0.act.bias' and 1 other and computes "
            "without");
  EXPECT_EQ(notes[10], "so do 2 other layers");
}

TEST(Vacancies, NamesOfManySegmentsAndNumbersAreLookedThroughOnce) {
  std::string dots = "blocks";
  std::string digits = "rnn.a";
  for (int i = 0; i < 200'000; ++i) {
    dots += ".1";
    digits += "1_";
  }
  BlockNet net = blocks(2);
  Snapshots tensors = collect(net).value();
  for (const std::string& name : {dots, digits}) {
    tensors.push_back(TensorSnapshot(name, f32({1}, 0)));
  }
  EXPECT_EQ(apply(net, tensors, {.adapter = PyTorchToBurnAdapter()}).value().unused.size(), 2u);
}

// ---- Through adapters, which have other names for them ----

TEST(Vacancies, AnAdapterTellsWhichTensorAnEmptyOptionalWants) {
  struct Normed {
    nn::LayerNorm norm = {.gamma = Param(f32({2}, 1)), .beta = {}};
    ANDIRON_MODULE(Normed, norm)
  } module;
  const Snapshots tensors = zeros_named({"norm.weight", "norm.bias"});
  EXPECT_EQ(refusal_of(module, tensors, {.adapter = PyTorchToBurnAdapter()}).message,
            "the module's optional 'norm.beta' is empty");
}

struct Recurrent {
  nn::LstmStack rnn;
  ANDIRON_MODULE(Recurrent, rnn)
};

Snapshots tensors_of_layers(std::size_t layers) {
  const Recurrent net{nn::LstmConfig(3, 2, true).init_stack(layers)};
  return collect(net, {.adapter = BurnToPyTorchAdapter()}).value();
}

TEST(Vacancies, RecurrentLayersBeyondTheLastAreRefused) {
  Recurrent stack{nn::LstmConfig(3, 2, true).init_stack(1)};
  EXPECT_EQ(refusal_of(stack, tensors_of_layers(3), {.adapter = PyTorchToBurnAdapter()}).tensor,
            "rnn.bias_hh_l1");
  struct Single {
    nn::Lstm rnn = nn::LstmConfig(3, 2, true).init();
    ANDIRON_MODULE(Single, rnn)
  } single;
  const Error error = refusal_of(single, tensors_of_layers(2), {.adapter = PyTorchToBurnAdapter()});
  EXPECT_EQ(error.message, "the module ends with 'rnn.bias_hh_l0' (and 3 others have no place)");
  EXPECT_TRUE(apply(single, tensors_of_layers(1), {.adapter = PyTorchToBurnAdapter()}));
}

struct SingleLstm {
  nn::Lstm rnn = nn::LstmConfig(3, 2, true).init();
  ANDIRON_MODULE(SingleLstm, rnn)
};

TEST(Vacancies, ASecondDirectionThatTheLayerLacksIsRefused) {
  struct Both {
    nn::BiLstm rnn = nn::BiLstmConfig(3, 2, true).init();
    ANDIRON_MODULE(Both, rnn)
  };
  const ApplyOptions adapted = {.adapter = PyTorchToBurnAdapter()};
  const Snapshots both = collect(Both(), {.adapter = BurnToPyTorchAdapter()}).value();
  SingleLstm single;
  const Error error = refusal_of(single, both, adapted);
  EXPECT_EQ(error.tensor, "rnn.bias_hh_l0_reverse");
  EXPECT_EQ(error.message,
            "the module's Lstm 'rnn' has no place for it (and 3 others have no place)");
  EXPECT_EQ(error.hint,
            "pass .allow_unused(true) to load without it; nn::BiLstm reads both directions");
  EXPECT_EQ(
      apply(single, both, {.adapter = PyTorchToBurnAdapter(), .allow_unused = true}).value().notes,
      std::vector<Message>{"the module's Lstm 'rnn' has no place for "
                           "'rnn.bias_hh_l0_reverse' and 3 others and computes without; "
                           "nn::BiLstm reads both directions"});
  Recurrent stack{nn::LstmConfig(3, 2, true).init_stack(1)};
  EXPECT_NE(refusal_of(stack, both, adapted).hint.find("nn::BiLstmStack"), std::string::npos);
  // A file of the layer alone.
  Snapshots alone;
  for (const TensorSnapshot& tensor : both) {
    alone.push_back(tensor);
    alone[alone.size() - 1].set_full_path(tensor.full_path().substr(4));
  }
  EXPECT_EQ(refusal_of(single.rnn, alone, adapted).tensor, "bias_hh_l0_reverse");
}

TEST(Vacancies, TheHintForFurtherLayersNamesTheStack) {
  SingleLstm single;
  EXPECT_EQ(refusal_of(single, tensors_of_layers(2), {.adapter = PyTorchToBurnAdapter()}).hint,
            "pass .allow_unused(true) to load without it; nn::LstmStack has several layers");
}

TEST(Vacancies, AProjectionThatTheLayerLacksIsRefused) {
  SingleLstm single;
  Snapshots tensors = tensors_of_layers(1);
  tensors.push_back(TensorSnapshot("rnn.weight_hr_l0", f32({2, 2}, 0)));
  const Error error = refusal_of(single, tensors, {.adapter = PyTorchToBurnAdapter()});
  EXPECT_EQ(error.tensor, "rnn.weight_hr_l0");
  EXPECT_NE(error.hint.find("proj_size"), std::string::npos);
  EXPECT_TRUE(
      apply(single, tensors,
            {.filter = PathFilter().exclude_regex("^rnn"), .adapter = PyTorchToBurnAdapter()}));
}

TEST(Vacancies, BiasesOfKeysThatAttentionLacksAreRefused) {
  struct Attending {
    std::vector<nn::TransformerEncoderLayer> layers = {
        nn::TransformerEncoderConfig(4, 8, 2, 1).init().layers};
    nn::MultiHeadAttention attention = nn::MultiHeadAttentionConfig(4, 2).init();
    ANDIRON_MODULE(Attending, layers, attention)
  } module;
  for (const auto& [name, owner] : {std::pair("attention.bias_k", "attention"),
                                    {"layers.0.self_attn.bias_v", "layers.0.self_attn"}}) {
    Snapshots tensors = collect(module, {.adapter = BurnToPyTorchAdapter()}).value();
    EXPECT_TRUE(apply(module, tensors, {.adapter = PyTorchToBurnAdapter()}));
    tensors.push_back(TensorSnapshot(name, f32({1, 1, 4}, 0)));
    const Error error = refusal_of(module, tensors, {.adapter = PyTorchToBurnAdapter()});
    EXPECT_EQ(error.tensor, name);
    EXPECT_EQ(error.message,
              "the module's MultiHeadAttention '" + std::string(owner) + "' has no place for it");
    EXPECT_NE(error.hint.find("add_bias_kv"), std::string::npos);
  }
}

TEST(Vacancies, AFilterSeesThePathsThatAnAdapterWasAskedFor) {
  Recurrent stack{nn::LstmConfig(3, 2, true).init_stack(2)};
  const auto adapted = [](const char* filter) {
    return ApplyOptions{.filter = PathFilter().with_regex(filter),
                        .adapter = PyTorchToBurnAdapter()};
  };
  const Snapshots three = tensors_of_layers(3);
  for (const char* filter : {"^rnn", R"(^rnn\.layers\.)"}) {
    EXPECT_EQ(refusal_of(stack, three, adapted(filter)).tensor, "rnn.bias_hh_l2");
  }
  EXPECT_TRUE(apply(stack, three, adapted(R"(^rnn\.layers\.0\.)")));
}

TEST(Vacancies, BiasesOfARecurrentLayerWithoutAnyAreRefused) {
  Recurrent net{nn::LstmConfig(3, 2, false).init_stack(1)};
  EXPECT_EQ(refusal_of(net, tensors_of_layers(1), {.adapter = PyTorchToBurnAdapter()}).tensor,
            "rnn.bias_hh_l0");
}

TEST(Vacancies, AnAdapterTellsWhichTensorsAreOfTheNextElement) {
  const RuleAdapter adapter(
      {{.module_type = "BlockNet", .from = {"h.*.kernel"}, .to = {"blocks.*.weight"}}}, true);
  Snapshots tensors;
  tensors.push_back(TensorSnapshot("h.0.kernel", f32({2, 2}, 0)));
  tensors.push_back(TensorSnapshot("h.1.kernel", f32({2, 2}, 0)));
  BlockNet net = blocks(1);
  const Error error = refusal_of(net, tensors, {.adapter = adapter});
  EXPECT_EQ(error.tensor, "h.1.kernel");
  EXPECT_EQ(error.message, "the module's list 'blocks' is too short for it");
}

}  // namespace
}  // namespace andiron
