// SPDX-License-Identifier: MIT OR Apache-2.0
// Recurrent layers, attention, transformers and encodings of positions.
#include <cstdint>
#include <string>
#include <type_traits>

#include "layers_probe.h"

namespace andiron::layers_probe {
namespace {

// ---- Recurrent layers ----

// "h0" and "c0" of a layer, "h0.1" and "c0.1" of the second layer of a stack.
std::optional<nn::LstmState> state_of(const Case& it, const std::string& suffix,
                                      const nn::LstmState*) {
  const std::optional<Tensor> hidden = it.maybe("h0" + suffix);
  const std::optional<Tensor> cell = it.maybe("c0" + suffix);
  if (!hidden || !cell) return {};
  return nn::LstmState{.cell = *cell, .hidden = *hidden};
}
std::optional<Tensor> state_of(const Case& it, const std::string& suffix, const Tensor*) {
  return it.maybe("h0" + suffix);
}
template <class State>
std::optional<std::vector<State>> state_of(const Case& it, const std::string&,
                                           const std::vector<State>*) {
  if (!it.has("h0.0")) return {};
  std::vector<State> states;
  for (int i = 0; it.has("h0." + std::to_string(i)); ++i) {
    const State* kind = nullptr;
    states.push_back(*state_of(it, "." + std::to_string(i), kind));
  }
  return states;
}

void add_state(Outputs& outputs, const nn::LstmState& state) {
  outputs.push_back(state.hidden);
  outputs.push_back(state.cell);
}
void add_state(Outputs& outputs, const Tensor& state) { outputs.push_back(state); }
template <class State>
void add_state(Outputs& outputs, const std::vector<State>& states) {
  for (const State& state : states) add_state(outputs, state);
}

template <class L>
Result<Outputs> recurrent_forward(const Case& it, L layer) {
  if (Status status = it.load(layer); !status) return status.error();
  if (!it.get<bool>("with_state")) return one(layer.forward(it.input("x")));
  using State = typename L::State;
  const State* kind = nullptr;
  const auto result = layer.forward_with_state(it.input("x"), state_of(it, "", kind));
  if (!result) return result.error();
  Outputs outputs = {result->output};
  add_state(outputs, result->state);
  return outputs;
}

template <class Config>
Result<Outputs> recurrent(const Case& it) {
  Config config(it.size("in"), it.size("hidden"), it.get<bool>("bias"));
  config.with_batch_first(it.get<bool>("batch_first"));
  if (it.config.contains("clip")) config.with_clip(it.get<double>("clip"));
  if (it.config.contains("gate_activation")) {
    config.with_gate_activation(activation_of(it.get<std::string>("gate_activation")));
  }
  if (it.config.contains("hidden_activation")) {
    config.with_hidden_activation(activation_of(it.get<std::string>("hidden_activation")));
  }
  if constexpr (requires { config.with_cell_activation({}); }) {
    config.with_input_forget(it.get<bool>("input_forget", false));
    if (it.config.contains("cell_activation")) {
      config.with_cell_activation(activation_of(it.get<std::string>("cell_activation")));
    }
  }
  if constexpr (requires { config.with_reset_after(true); }) {
    config.with_reset_after(it.get<bool>("reset_after", true));
  }
  if (it.config.contains("layers")) {
    return recurrent_forward(it, config.init_stack(it.size("layers")));
  }
  auto layer = config.init();
  if constexpr (requires { layer.reverse; }) layer.reverse = it.get<bool>("reverse", false);
  return recurrent_forward(it, std::move(layer));
}

// ---- Attention ----

// Masks whose names start with `prefix`.
nn::AttentionMasks masks_of(const Case& it, const std::string& prefix = "") {
  return {.pad = it.maybe(prefix + "pad"),
          .attn = it.maybe(prefix + "attn"),
          .causal = it.get<bool>((prefix + "causal").c_str(), false)};
}

Result<Outputs> multi_head(const Case& it) {
  nn::MultiHeadAttention layer = nn::MultiHeadAttentionConfig(it.size("size"), it.size("heads"))
                                     .with_bias(it.get<bool>("bias"))
                                     .with_quiet_softmax(it.get<bool>("quiet_softmax", false))
                                     .init();
  if (Status status = it.load(layer); !status) return status.error();
  if (it.get<bool>("weights")) {
    const Result<nn::MhaOutput> output =
        layer.forward(nn::MhaInput{.query = it.input("x").value(),
                                   .key = it.input("key").value(),
                                   .value = it.input("value").value(),
                                   .masks = masks_of(it)});
    if (!output) return output.error();
    return Outputs{output->context, output->weights};
  }
  if (!it.has("key")) return one(layer.forward(it.input("x"), masks_of(it)));
  return one(layer.forward(it.input("x"), it.input("key"), it.input("value"), masks_of(it)));
}

Result<Outputs> cross_attention(const Case& it) {
  nn::CrossAttention layer =
      nn::CrossAttentionConfig(it.size("size"), it.size("context"), it.size("heads"),
                               it.size("kv_heads"), it.size("head_size"))
          .with_bias(it.get<bool>("bias"))
          .with_quiet_softmax(it.get<bool>("quiet_softmax", false))
          .init();
  if (Status status = it.load(layer); !status) return status.error();
  return one(layer.forward(it.input("x"), it.input("context"), masks_of(it)));
}

Result<Outputs> dot_product(const Case& it) {
  nn::AttentionOptions options = {.masks = masks_of(it)};
  if (it.config.contains("scale")) options.scale = it.get<double>("scale");
  options.quiet_softmax = it.get<bool>("quiet_softmax", false);
  return one(
      nn::scaled_dot_product_attention(it.input("x"), it.input("key"), it.input("value"), options));
}

Result<Outputs> padding_mask(const Case& it) {
  const auto tokens = it.get<std::vector<std::vector<std::int64_t>>>("tokens");
  std::optional<std::uint64_t> most;
  if (it.config.contains("max_length")) most = it.size("max_length");
  const auto padded = nn::generate_padding_mask(it.get<std::int64_t>("pad_token"), tokens, most);
  if (!padded) return padded.error();
  return Outputs{padded->tensor, padded->mask};
}

// ---- Transformers ----

template <class Config>
auto transformer(const Case& it) {
  return Config(it.size("size"), it.size("inner"), it.size("heads"), it.size("layers"))
      .with_norm_first(it.get<bool>("norm_first"))
      .with_final_norm(it.get<bool>("final_norm"))
      .with_activation(activation_of(it.get<std::string>("activation")))
      .with_layer_norm_eps(it.get<double>("eps"))
      .init();
}
template <class L>
Result<Outputs> encode(const Case& it, L layer) {
  if (Status status = it.load(layer); !status) return status.error();
  return one(layer.forward(it.input("x"), masks_of(it)));
}
template <class L>
Result<Outputs> decode(const Case& it, L layer) {
  if (Status status = it.load(layer); !status) return status.error();
  return one(
      layer.forward(it.input("x"), it.input("memory"), masks_of(it), masks_of(it, "memory_")));
}

}  // namespace

void add_sequences(Kinds& kinds) {
  kinds["Lstm"] = recurrent<nn::LstmConfig>;
  kinds["BiLstm"] = recurrent<nn::BiLstmConfig>;
  kinds["Gru"] = recurrent<nn::GruConfig>;
  kinds["BiGru"] = recurrent<nn::BiGruConfig>;
  kinds["MultiHeadAttention"] = multi_head;
  kinds["CrossAttention"] = cross_attention;
  kinds["scaled_dot_product_attention"] = dot_product;
  kinds["split_heads"] = [](const Case& it) {
    return one(nn::split_heads(it.input("x"), it.size("heads")));
  };
  kinds["join_heads"] = [](const Case& it) { return one(nn::join_heads(it.input("x"))); };
  kinds["generate_autoregressive_mask"] = [](const Case& it) {
    return one(nn::generate_autoregressive_mask(it.size("batch"), it.size("length")));
  };
  kinds["generate_padding_mask"] = padding_mask;
  kinds["TransformerEncoder"] = [](const Case& it) {
    return encode(it, transformer<nn::TransformerEncoderConfig>(it));
  };
  kinds["TransformerEncoderLayer"] = [](const Case& it) {
    return encode(it, std::move(transformer<nn::TransformerEncoderConfig>(it).layers.at(0)));
  };
  kinds["TransformerDecoder"] = [](const Case& it) {
    return decode(it, transformer<nn::TransformerDecoderConfig>(it));
  };
  kinds["TransformerDecoderLayer"] = [](const Case& it) {
    return decode(it, std::move(transformer<nn::TransformerDecoderConfig>(it).layers.at(0)));
  };
  kinds["PositionWiseFeedForward"] = [](const Case& it) {
    return forward(it, nn::PositionWiseFeedForwardConfig(it.size("size"), it.size("inner"))
                           .with_activation(activation_of(it.get<std::string>("activation")))
                           .init());
  };
  kinds["PositionalEncoding"] = [](const Case& it) {
    return forward(it, nn::PositionalEncodingConfig(it.size("size"))
                           .with_max_sequence_size(it.size("longest"))
                           .with_max_timescale(it.size("timescale"))
                           .init());
  };
  kinds["RotaryEncoding"] = [](const Case& it) {
    const nn::RotaryEncoding layer =
        nn::RotaryEncodingConfig(it.size("longest"), it.size("size"))
            .with_theta(it.get<double>("theta"))
            .with_pairs(it.get<bool>("halves") ? nn::RotaryPairs::halves
                                               : nn::RotaryPairs::neighbors)
            .init();
    if (!it.config.contains("start")) return one(layer.forward(it.input("x")));
    return one(layer.apply(it.input("x"), it.size("start")));
  };
}

}  // namespace andiron::layers_probe
