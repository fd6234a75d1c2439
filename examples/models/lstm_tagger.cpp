// SPDX-License-Identifier: MIT OR Apache-2.0
// A tagger of words: an embedding, LSTMs in both directions on top of each other, and a linear
// layer. PyTorch keeps an LSTM in tensors such as weight_ih_l1_reverse, which have four gates each.
// usage: lstm_tagger FOLDER, for example data/lstm_tagger. make_weights.py makes such folders.
#include <andiron/andiron.h>

#include <cstdint>

#include "compare_with_torch.h"

using namespace andiron;
using namespace andiron::nn;

namespace {

struct TaggerConfig {
  std::uint64_t words;
  std::uint64_t tags;
  std::uint64_t d_embedding;
  std::uint64_t d_hidden;
  std::uint64_t layers = 2;
  ANDIRON_CONFIG(TaggerConfig, words, tags, d_embedding, d_hidden, layers)
};

struct Tagger {
  using Config = TaggerConfig;

  Embedding embedding;
  BiLstmStack lstm;
  Linear tag;
  ANDIRON_MODULE(Tagger, embedding, lstm, tag)

  static Tagger init(const TaggerConfig& config) {
    return {.embedding = EmbeddingConfig(config.words, config.d_embedding).init(),
            .lstm = BiLstmConfig(config.d_embedding, config.d_hidden).init_stack(config.layers),
            .tag = LinearConfig(2 * config.d_hidden, config.tags).init()};
  }

  /// Takes words, [batch, length], and returns logarithms of probabilities, [batch, length, tags].
  Result<Tensor> forward(const Result<Tensor>& words) const {
    return log_softmax(tag.forward(lstm.forward(embedding.forward(words))));
  }
};

}  // namespace

int main(int argc, char** argv) { return compare_with_torch<Tagger>("lstm_tagger", argc, argv); }
