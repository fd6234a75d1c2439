// SPDX-License-Identifier: MIT OR Apache-2.0
// LLaMA, "LLaMA: Open and Efficient Foundation Language Models" (Touvron et al., 2023), with
// grouped heads and the names of Hugging Face, whose files it loads. The weights are bf16; layers
// widen them. usage: llama FOLDER, for example data/llama. make_weights.py makes such folders.
#include <andiron/andiron.h>

#include <cstdint>
#include <vector>

#include "compare_with_torch.h"

using namespace andiron;
using namespace andiron::nn;

namespace {

struct LlamaConfig {
  std::uint64_t vocab_size;
  std::uint64_t max_position_embeddings;
  std::uint64_t hidden_size;
  std::uint64_t intermediate_size;
  std::uint64_t num_hidden_layers;
  std::uint64_t num_attention_heads;
  std::uint64_t num_key_value_heads;
  double rms_norm_eps = 1e-5;
  double rope_theta = 10000;
  ANDIRON_CONFIG(LlamaConfig, vocab_size, max_position_embeddings, hidden_size, intermediate_size,
                 num_hidden_layers, num_attention_heads, num_key_value_heads, rms_norm_eps,
                 rope_theta)
};

Linear linear(std::uint64_t in, std::uint64_t out) {
  return LinearConfig(in, out).with_bias(false).init();
}

RmsNorm norm(const LlamaConfig& config) {
  return RmsNormConfig(config.hidden_size).with_epsilon(config.rms_norm_eps).init();
}

struct Attention {
  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear o_proj;
  RotaryEncoding rotary;
  std::uint64_t heads = 1;
  std::uint64_t key_heads = 1;
  ANDIRON_MODULE(Attention, q_proj, k_proj, v_proj, o_proj)

  static Attention init(const LlamaConfig& config) {
    const std::uint64_t size = config.hidden_size;
    const std::uint64_t d_head = size / config.num_attention_heads;
    const std::uint64_t key_size = config.num_key_value_heads * d_head;
    return {.q_proj = linear(size, size),
            .k_proj = linear(size, key_size),
            .v_proj = linear(size, key_size),
            .o_proj = linear(size, size),
            .rotary = RotaryEncodingConfig(config.max_position_embeddings, d_head)
                          .with_theta(config.rope_theta)
                          .with_pairs(RotaryPairs::halves)  // as in Hugging Face's files
                          .init(),
            .heads = config.num_attention_heads,
            .key_heads = config.num_key_value_heads};
  }

  Result<Tensor> forward(const Result<Tensor>& x) const {
    const Result<Tensor> query = rotary.forward(split_heads(q_proj.forward(x), heads));
    const Result<Tensor> key = rotary.forward(split_heads(k_proj.forward(x), key_heads));
    const Result<Tensor> value = split_heads(v_proj.forward(x), key_heads);
    return o_proj.forward(
        join_heads(scaled_dot_product_attention(query, key, value, {.masks = {.causal = true}})));
  }
};

struct Mlp {
  SwiGlu gate_up;
  Linear down_proj;
  ANDIRON_MODULE(Mlp, gate_up, down_proj)

  Result<Tensor> forward(const Result<Tensor>& x) const {
    return down_proj.forward(gate_up.forward(x));
  }
};

struct Layer {
  RmsNorm input_layernorm;
  Attention self_attn;
  RmsNorm post_attention_layernorm;
  Mlp mlp;
  ANDIRON_MODULE(Layer, input_layernorm, self_attn, post_attention_layernorm, mlp)

  static Layer init(const LlamaConfig& config) {
    const std::uint64_t inner = config.intermediate_size;
    return {.input_layernorm = norm(config),
            .self_attn = Attention::init(config),
            .post_attention_layernorm = norm(config),
            .mlp = {.gate_up = SwiGluConfig(config.hidden_size, inner).init(),
                    .down_proj = linear(inner, config.hidden_size)}};
  }

  Result<Tensor> forward(const Result<Tensor>& x) const {
    const Result<Tensor> y = add(x, self_attn.forward(input_layernorm.forward(x)));
    return add(y, mlp.forward(post_attention_layernorm.forward(y)));
  }
};

struct Llama {
  using Config = LlamaConfig;

  Embedding embed_tokens;
  std::vector<Layer> layers;
  RmsNorm norm;
  Linear lm_head;
  ANDIRON_MODULE(Llama, embed_tokens, layers, norm, lm_head)

  static Llama init(const LlamaConfig& config) {
    Llama model = {.embed_tokens = EmbeddingConfig(config.vocab_size, config.hidden_size).init(),
                   .layers = {},
                   .norm = ::norm(config),
                   .lm_head = linear(config.hidden_size, config.vocab_size)};
    for (std::uint64_t i = 0; i < config.num_hidden_layers; ++i) {
      model.layers.push_back(Layer::init(config));
    }
    // The file has this matrix once, as that of the embedding.
    tie_transposed(model.embed_tokens.weight, model.lm_head.weight).value();
    return model;
  }

  /// Takes tokens, [batch, length], and returns a score for each next token, [batch, length,
  /// vocab_size].
  Result<Tensor> forward(const Result<Tensor>& tokens) const {
    return lm_head.forward(norm.forward(forward_through(layers, embed_tokens.forward(tokens))));
  }
};

}  // namespace

int main(int argc, char** argv) {
  return compare_with_torch<Llama>("llama", argc, argv, [](PytorchStore& weights) {
    weights.with_key_remapping(R"(^model\.)", "")
        .with_key_remapping(R"(\.gate_proj\.)", ".gate_up.linear_inner.")
        .with_key_remapping(R"(\.up_proj\.)", ".gate_up.linear_outer.");
  });
}
