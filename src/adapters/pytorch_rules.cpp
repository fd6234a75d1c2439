// SPDX-License-Identifier: MIT OR Apache-2.0
// What PyTorch stores otherwise than Burn and we do: the one table behind both of its adapters.
// Tested by tests/adapters/pytorch_rules_test.cpp and tests/adapters/pytorch_layers_test.cpp
#include <string>
#include <utility>
#include <vector>

#include "andiron/adapter.h"

namespace andiron::inline v1 {

namespace {

using Names = std::vector<std::string>;
using Rules = std::vector<AdapterRule>;

PermuteStep transpose() { return {{1, 0}}; }

// A rule from one tensor to one. Weights of Linear layers lie the other way in PyTorch.
AdapterRule moved(const std::string& kind, std::string from, std::string to) {
  return {.module_type = kind, .from = {std::move(from)}, .to = {std::move(to)}};
}
AdapterRule turned(const std::string& kind, std::string from, std::string to) {
  return {kind, {std::move(from)}, {std::move(to)}, {transpose()}};
}

// PyTorch's `from` is the rows of several Linear layers.
void add_joined_linear(Rules& rules, const std::string& kind, const std::string& from_weight,
                       const std::string& from_bias, const Names& layers) {
  Names weights;
  Names biases;
  for (const std::string& layer : layers) {
    weights.push_back(layer + ".weight");
    biases.push_back(layer + ".bias");
  }
  rules.push_back({kind, {from_weight}, std::move(weights), {SplitStep{0}, transpose()}});
  rules.push_back({kind, {from_bias}, std::move(biases), {SplitStep{0}}});
}

void add_linear(Rules& rules, const std::string& kind, const std::string& from,
                const std::string& to) {
  rules.push_back(turned(kind, from + ".weight", to + ".weight"));
  rules.push_back(moved(kind, from + ".bias", to + ".bias"));
}

void add_norm(Rules& rules, const std::string& kind, const std::string& from,
              const std::string& to) {
  rules.push_back(moved(kind, from + "weight", to + "gamma"));
  rules.push_back(moved(kind, from + "bias", to + "beta"));
}

// One direction of recurrent layers: what PyTorch's names end in is our prefix `layer`.
void add_gates(Rules& rules, const std::string& kind, const Names& gates, const std::string& ending,
               const std::string& layer) {
  for (const auto& [theirs, ours] : {std::pair("ih", "input"), std::pair("hh", "hidden")}) {
    Names transforms;
    for (const std::string& gate : gates) {
      transforms.push_back(layer + gate + "_gate." + ours + "_transform");
    }
    const std::string name = std::string("_") + theirs + ending;
    add_joined_linear(rules, kind, "weight" + name, "bias" + name, transforms);
  }
}

void add_recurrent(Rules& rules, const std::string& kind, const Names& gates) {
  add_gates(rules, "nn.Bi" + kind + "Stack", gates, "_l*", "layers.*.forward.");
  add_gates(rules, "nn.Bi" + kind + "Stack", gates, "_l*_reverse", "layers.*.reverse.");
  add_gates(rules, "nn." + kind + "Stack", gates, "_l*", "layers.*.");
  add_gates(rules, "nn.Bi" + kind, gates, "_l0", "forward.");
  add_gates(rules, "nn.Bi" + kind, gates, "_l0_reverse", "reverse.");
  add_gates(rules, "nn." + kind, gates, "_l0", "");
  // LSTMCell and GRUCell have no number.
  add_gates(rules, "nn." + kind, gates, "", "");
}

void add_attention(Rules& rules, const std::string& kind, const std::string& from,
                   const std::string& to) {
  add_joined_linear(rules, kind, from + "in_proj_weight", from + "in_proj_bias",
                    {to + "query", to + "key", to + "value"});
  // Apart where keys or values have a width of their own.
  for (const std::string part : {"query", "key", "value"}) {
    rules.push_back(turned(kind, from + part[0] + "_proj_weight", to + part + ".weight"));
  }
  add_linear(rules, kind, from + "out_proj", to + "output");
}

// `norms`: ours, in PyTorch's order.
void add_transformer_layer(Rules& rules, const std::string& kind, const Names& norms) {
  add_linear(rules, kind, "linear1", "pwff.linear_inner");
  add_linear(rules, kind, "linear2", "pwff.linear_outer");
  for (std::size_t i = 0; i < norms.size(); ++i) {
    add_norm(rules, kind, "norm" + std::to_string(i + 1) + ".", norms[i] + ".");
  }
}

}  // namespace

// On a save, the first rule that names a tensor takes it: those of outer modules come first. What
// PyTorch joins is joined only for layers of ours, whose kinds begin with "nn.": a struct of a user
// may have the same name and another content.
std::vector<AdapterRule> pytorch_rules() {
  Rules rules;
  // Norms that come first are numbered otherwise in Burn.
  add_transformer_layer(rules, "nn.TransformerEncoderLayer", {"norm_1", "norm_2"});
  add_transformer_layer(rules, "nn.PreNormTransformerEncoderLayer", {"norm_2", "norm_1"});
  add_transformer_layer(rules, "nn.TransformerDecoderLayer", {"norm_1", "norm_2", "norm_3"});
  add_transformer_layer(rules, "nn.PreNormTransformerDecoderLayer", {"norm_3", "norm_1", "norm_2"});
  for (const std::string pre : {"nn.", "nn.PreNorm"}) {
    add_attention(rules, pre + "TransformerEncoderLayer", "self_attn.", "mha.");
    add_attention(rules, pre + "TransformerDecoderLayer", "multihead_attn.", "cross_attn.");
  }
  add_attention(rules, "nn.MultiHeadAttention", "", "");
  add_recurrent(rules, "Lstm", {"input", "forget", "cell", "output"});
  add_recurrent(rules, "Gru", {"reset", "update", "new"});
  rules.push_back(turned("Linear", "weight", "weight"));
  for (const char* norm : {"BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm", "RmsNorm"}) {
    add_norm(rules, norm, "", "");
  }
  rules.push_back(moved("PRelu", "weight", "alpha"));
  return rules;
}

namespace {

// Each store makes both adapters, so they share their tables.
struct ToBurn : RuleAdapter {
  ToBurn() : RuleAdapter(pytorch_rules(), true) {}
};
struct ToPyTorch : RuleAdapter {
  ToPyTorch() : RuleAdapter(pytorch_rules(), false, "pt") {}
};

template <class A>
const RuleAdapter& shared() {
  static const A adapter;
  return adapter;
}

}  // namespace

PyTorchToBurnAdapter::PyTorchToBurnAdapter() : RuleAdapter(shared<ToBurn>()) {}
BurnToPyTorchAdapter::BurnToPyTorchAdapter() : RuleAdapter(shared<ToPyTorch>()) {}

PyTorchToBurnAdapter PyTorchToBurnAdapter::with_rule(AdapterRule rule) const {
  PyTorchToBurnAdapter changed = *this;
  changed.add_rule(std::move(rule));
  return changed;
}

BurnToPyTorchAdapter BurnToPyTorchAdapter::with_rule(AdapterRule rule) const {
  BurnToPyTorchAdapter changed = *this;
  changed.add_rule(std::move(rule));
  return changed;
}

}  // namespace andiron::inline v1
