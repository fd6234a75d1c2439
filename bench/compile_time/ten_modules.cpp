// SPDX-License-Identifier: MIT OR Apache-2.0
// What a program with ten modules costs to compile: the umbrella header, nested modules with every
// kind of container, and each of the calls that walk them.
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "andiron/andiron.h"

namespace {

using namespace andiron;

struct Attention {
  nn::Linear query, key, value, output;
  int heads = 8;
  ANDIRON_MODULE(Attention, query, key, value, output, heads)
};

struct Gelu {
  ANDIRON_MODULE(Gelu)
};

struct SwiGlu {
  nn::Linear gate, up;
  ANDIRON_MODULE(SwiGlu, gate, up)
};

struct Activation : std::variant<Gelu, Case<"Swish", SwiGlu>> {
  using variant::variant;
};

struct FeedForward {
  nn::Linear inner, outer;
  Activation activation;
  ANDIRON_MODULE(FeedForward, inner, outer, activation)
};

struct EncoderLayer {
  Attention attention;
  FeedForward feed_forward;
  std::variant<nn::LayerNorm, nn::RmsNorm> norm1, norm2;
  ANDIRON_MODULE(EncoderLayer, attention, feed_forward, norm1, norm2)
};

struct DecoderLayer {
  Attention self_attention;
  std::optional<Attention> cross_attention;
  FeedForward feed_forward;
  std::array<nn::LayerNorm, 3> norms;
  ANDIRON_MODULE(DecoderLayer, self_attention, cross_attention, feed_forward, norms)
};

struct Stem {
  std::vector<nn::Conv2d> convolutions;
  std::optional<nn::BatchNorm> norm;
  Constant<std::array<int, 2>> stride;
  ANDIRON_MODULE(Stem, convolutions, norm, stride)
};

struct Encoder {
  std::vector<EncoderLayer> layers;
  std::unique_ptr<Stem> stem;
  ANDIRON_MODULE(Encoder, layers, stem)
};

struct Decoder {
  nn::Embedding tokens;
  Param positions;
  std::vector<DecoderLayer> layers;
  ANDIRON_MODULE(Decoder, tokens, positions, layers)
};

struct Net {
  Encoder encoder;
  Decoder decoder;
  std::map<std::string, nn::Linear> heads;
  Tensor mean;
  ANDIRON_MODULE(Net, encoder, decoder, heads, mean)
};

Result<ApplyResult> fine_tune(const std::string& from, const std::string& to) {
  Net net;
  net.encoder.layers.resize(12);
  net.decoder.layers.resize(12);
  auto store = SafetensorsStore::from_file(from)
                   .with_key_remapping(R"(^model\.)", "")
                   .with_from_adapter(PyTorchToBurnAdapter())
                   .with_predicate([](std::string_view path, const Container& container) {
                     return container.is("Linear") || path.starts_with("encoder");
                   })
                   .allow_partial(true);
  Result<ApplyResult> result = load_from(net, store);
  if (!result) return result;
  Result<Snapshots> encoder = collect(net.encoder);
  if (!encoder) return std::move(encoder).error();
  Encoder copy;
  if (auto applied = apply(copy, *encoder); !applied) return applied;
  auto saved = save_into(net, SafetensorsStore::from_file(to).overwrite(true));
  if (!saved) return std::move(saved).error();
  return result;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 4;
  const Result<ApplyResult> result = fine_tune(arguments[1], arguments[2]);
  if (!result) std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
  return result ? 0 : 2;
}
