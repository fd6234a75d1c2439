// SPDX-License-Identifier: MIT OR Apache-2.0
// GPT-2, "Language Models are Unsupervised Multitask Learners" (Radford et al., 2019), with the
// names of Hugging Face, whose files it loads.
// usage: gpt2 FOLDER, for example data/gpt2. make_weights.py makes such folders.
#include <andiron/andiron.h>

#include <cstdint>
#include <vector>

#include "compare_with_torch.h"

using namespace andiron;
using namespace andiron::nn;

namespace {

struct GptConfig {
  std::uint64_t vocab_size = 50257;
  std::uint64_t n_positions = 1024;
  std::uint64_t n_embd = 768;
  std::uint64_t n_layer = 12;
  std::uint64_t n_head = 12;
  double layer_norm_epsilon = 1e-5;
  ANDIRON_CONFIG(GptConfig, vocab_size, n_positions, n_embd, n_layer, n_head, layer_norm_epsilon)
};

struct Attention {
  Conv1D c_attn;  // query, key and value in one
  Conv1D c_proj;
  std::uint64_t heads = 1;
  ANDIRON_MODULE(Attention, c_attn, c_proj)

  static Attention init(const GptConfig& config) {
    const std::uint64_t size = config.n_embd;
    return {.c_attn = LinearConfig(size, 3 * size).init_conv1d(),
            .c_proj = LinearConfig(size, size).init_conv1d(),
            .heads = config.n_head};
  }

  Result<Tensor> forward(const Result<Tensor>& x) const {
    const Result<Tensor> all = split_heads(c_attn.forward(x), 3 * heads);
    const auto n = static_cast<std::int64_t>(heads);
    return c_proj.forward(join_heads(
        scaled_dot_product_attention(slice(all, 1, 0, n), slice(all, 1, n, 2 * n),
                                     slice(all, 1, 2 * n), {.masks = {.causal = true}})));
  }
};

struct Mlp {
  Conv1D c_fc;
  Conv1D c_proj;
  ANDIRON_MODULE(Mlp, c_fc, c_proj)

  static Mlp init(const GptConfig& config) {
    return {.c_fc = LinearConfig(config.n_embd, 4 * config.n_embd).init_conv1d(),
            .c_proj = LinearConfig(4 * config.n_embd, config.n_embd).init_conv1d()};
  }

  Result<Tensor> forward(const Result<Tensor>& x) const {
    return c_proj.forward(gelu_tanh(c_fc.forward(x)));
  }
};

LayerNorm norm(const GptConfig& config) {
  return LayerNormConfig(config.n_embd).with_epsilon(config.layer_norm_epsilon).init();
}

struct Block {
  LayerNorm ln_1;
  Attention attn;
  LayerNorm ln_2;
  Mlp mlp;
  ANDIRON_MODULE(Block, ln_1, attn, ln_2, mlp)

  static Block init(const GptConfig& config) {
    return {.ln_1 = norm(config),
            .attn = Attention::init(config),
            .ln_2 = norm(config),
            .mlp = Mlp::init(config)};
  }

  Result<Tensor> forward(const Result<Tensor>& x) const {
    const Result<Tensor> y = add(x, attn.forward(ln_1.forward(x)));
    return add(y, mlp.forward(ln_2.forward(y)));
  }
};

struct Gpt2 {
  using Config = GptConfig;

  Embedding wte;  // of tokens
  Embedding wpe;  // of positions
  std::vector<Block> h;
  LayerNorm ln_f;
  Linear lm_head;
  ANDIRON_MODULE(Gpt2, wte, wpe, h, ln_f, lm_head)

  static Gpt2 init(const GptConfig& config) {
    Gpt2 model = {
        .wte = EmbeddingConfig(config.vocab_size, config.n_embd).init(),
        .wpe = EmbeddingConfig(config.n_positions, config.n_embd).init(),
        .h = {},
        .ln_f = norm(config),
        .lm_head = LinearConfig(config.n_embd, config.vocab_size).with_bias(false).init()};
    for (std::uint64_t i = 0; i < config.n_layer; ++i) model.h.push_back(Block::init(config));
    // The file has this matrix once, as that of the embedding.
    tie_transposed(model.wte.weight, model.lm_head.weight).value();
    return model;
  }

  /// Takes tokens, [batch, length], and returns a score for each next token, [batch, length,
  /// vocab_size].
  Result<Tensor> forward(const Result<Tensor>& tokens) const {
    const Result<Tensor> words = wte.forward(tokens);
    if (!words) return words.error();
    const auto length = static_cast<std::int64_t>(words->shape()[1]);
    const Result<Tensor> positions = slice(wpe.weight.val(), 0, 0, length);
    return lm_head.forward(ln_f.forward(forward_through(h, add(words, positions))));
  }
};

}  // namespace

int main(int argc, char** argv) {
  return compare_with_torch<Gpt2>("gpt2", argc, argv, [](PytorchStore& weights) {
    weights.with_key_remapping(R"(^transformer\.)", "");
  });
}
