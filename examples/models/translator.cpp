// SPDX-License-Identifier: MIT OR Apache-2.0
// The Transformer, "Attention Is All You Need" (Vaswani et al., 2017), with the names of PyTorch's
// own nn.Transformer. Its files have queries, keys and values in one tensor.
// usage: translator FOLDER, for example data/translator. make_weights.py makes such folders.
#include <andiron/andiron.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compare_with_torch.h"

using namespace andiron;
using namespace andiron::nn;

namespace {

struct TranslatorConfig {
  std::uint64_t source_words;
  std::uint64_t target_words;
  std::uint64_t d_model = 512;
  std::uint64_t nhead = 8;
  std::uint64_t encoder_layers = 6;
  std::uint64_t decoder_layers = 6;
  std::uint64_t dim_feedforward = 2048;
  ANDIRON_CONFIG(TranslatorConfig, source_words, target_words, d_model, nhead, encoder_layers,
                 decoder_layers, dim_feedforward)
};

struct Transformer {
  TransformerEncoder encoder;
  TransformerDecoder decoder;
  ANDIRON_MODULE(Transformer, encoder, decoder)

  static Transformer init(const TranslatorConfig& config) {
    return {.encoder = TransformerEncoderConfig(config.d_model, config.dim_feedforward,
                                                config.nhead, config.encoder_layers)
                           .with_activation(Activation::relu)
                           .with_final_norm(true)
                           .init(),
            .decoder = TransformerDecoderConfig(config.d_model, config.dim_feedforward,
                                                config.nhead, config.decoder_layers)
                           .with_activation(Activation::relu)
                           .with_final_norm(true)
                           .init()};
  }
};

// True where a sentence has ended: word 0 stands for nothing.
Result<Tensor> padding(const Tensor& words) {
  const Result<std::span<const std::int64_t>> numbers = words.as<std::int64_t>();
  if (!numbers) return numbers.error();
  Result<Tensor> mask = Tensor::zeros(DType::boolean, words.shape());
  if (!mask) return mask;
  const Result<std::span<bool>> hidden = mask->as_mutable<bool>();
  if (!hidden) return hidden.error();
  for (std::size_t i = 0; i < hidden->size(); ++i) (*hidden)[i] = (*numbers)[i] == 0;
  return mask;
}

struct Translator {
  using Config = TranslatorConfig;

  Embedding source_embedding;
  Embedding target_embedding;
  PositionalEncoding position;
  Transformer transformer;
  Linear generator;
  ANDIRON_MODULE(Translator, source_embedding, target_embedding, transformer, generator)

  static Translator init(const TranslatorConfig& config) {
    return {.source_embedding = EmbeddingConfig(config.source_words, config.d_model).init(),
            .target_embedding = EmbeddingConfig(config.target_words, config.d_model).init(),
            .position = PositionalEncodingConfig(config.d_model).init(),
            .transformer = Transformer::init(config),
            .generator = LinearConfig(config.d_model, config.target_words).init()};
  }

  Result<Tensor> embed(const Embedding& words, const Tensor& sentence) const {
    const double scale = std::sqrt(static_cast<double>(position.d_model));
    return position.forward(multiply(words.forward(sentence), scale));
  }

  /// Takes sentences in both languages, [batch, length], filled up with zeros, and returns a score
  /// for each next word of the target, [batch, length, target_words].
  Result<Tensor> forward(const Tensor& source, const Tensor& target) const {
    const Result<Tensor> source_end = padding(source);
    const Result<Tensor> target_end = padding(target);
    if (!source_end) return source_end.error();
    if (!target_end) return target_end.error();
    const Result<Tensor> memory =
        transformer.encoder.forward(embed(source_embedding, source), {.pad = *source_end});
    return generator.forward(transformer.decoder.forward(embed(target_embedding, target), memory,
                                                         {.pad = *target_end, .causal = true},
                                                         {.pad = *source_end}));
  }
};

}  // namespace

int main(int argc, char** argv) { return compare_with_torch<Translator>("translator", argc, argv); }
