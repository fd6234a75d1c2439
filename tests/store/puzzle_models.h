// SPDX-License-Identifier: MIT OR Apache-2.0
// Small models of the kinds that checkpoints hold, for tests that only care for names and numbers.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/module.h"

namespace andiron::puzzle {

// Every parameter has numbers of its own, so that none can be taken for another.
inline Param param(Shape shape) {
  static float next = 0;
  std::vector<float> values(static_cast<std::size_t>(shape.element_count().value()));
  for (float& value : values) value = ++next;
  return Tensor::from_values<float>(shape, values).value();
}

struct Linear {
  Param weight, bias;
  ANDIRON_MODULE(Linear, weight, bias)
};
inline Linear linear(std::uint64_t in, std::uint64_t out) {
  return {param({in, out}), param({out})};
}

namespace without_bias {
struct Linear {
  Param weight;
  ANDIRON_MODULE(Linear, weight)
};
}  // namespace without_bias
using Projection = without_bias::Linear;
inline Projection projection(std::uint64_t in, std::uint64_t out) { return {param({in, out})}; }

struct Embedding {
  Param weight;
  ANDIRON_MODULE(Embedding, weight)
};

struct LayerNorm {
  Param gamma, beta;
  ANDIRON_MODULE(LayerNorm, gamma, beta)
};
inline LayerNorm layer_norm(std::uint64_t width) { return {param({width}), param({width})}; }

struct RmsNorm {
  Param gamma;
  ANDIRON_MODULE(RmsNorm, gamma)
};

struct Conv2d {
  Param weight;
  ANDIRON_MODULE(Conv2d, weight)
};
inline Conv2d conv(std::uint64_t in, std::uint64_t out) { return {param({out, in, 3, 3})}; }

struct BatchNorm {
  Param gamma, beta, running_mean, running_var;
  ANDIRON_MODULE(BatchNorm, gamma, beta, running_mean, running_var)
};
inline BatchNorm batch_norm(std::uint64_t width) {
  return {param({width}), param({width}), param({width}), param({width})};
}

struct Mlp {
  Linear fc1, fc2;
  ANDIRON_MODULE(Mlp, fc1, fc2)
};
inline Mlp mlp() { return {linear(5, 3), linear(3, 2)}; }

struct Stack {
  std::vector<Linear> layers;
  ANDIRON_MODULE(Stack, layers)
};
inline Stack stack() { return {{linear(5, 4), linear(4, 3), linear(3, 2)}}; }
inline Stack equal_stack() { return {{linear(4, 4), linear(4, 4), linear(4, 4)}}; }

struct Classifier {
  Stack backbone;
  Linear head;
  ANDIRON_MODULE(Classifier, backbone, head)
};
inline Classifier classifier(std::uint64_t classes) { return {stack(), linear(2, classes)}; }

struct Attention {
  Linear query, key, value, out;
  ANDIRON_MODULE(Attention, query, key, value, out)
};
inline Attention attention() { return {linear(4, 4), linear(4, 4), linear(4, 4), linear(4, 4)}; }

struct FeedForward {
  Linear up, down;
  ANDIRON_MODULE(FeedForward, up, down)
};

struct Block {
  LayerNorm norm1;
  Attention attention;
  LayerNorm norm2;
  FeedForward mlp;
  ANDIRON_MODULE(Block, norm1, attention, norm2, mlp)
};
inline Block block() {
  return {layer_norm(4), attention(), layer_norm(4), {linear(4, 16), linear(16, 4)}};
}

struct Gpt {
  Embedding token_embedding, position_embedding;
  std::vector<Block> layers;
  LayerNorm norm;
  Linear head;
  ANDIRON_MODULE(Gpt, token_embedding, position_embedding, layers, norm, head)
};
inline Gpt gpt() {
  return {
      {param({10, 4})}, {param({7, 4})}, {block(), block(), block()}, layer_norm(4), linear(4, 10)};
}

struct BertLayer {
  Linear query, key, value, out;
  LayerNorm norm1;
  Linear up, down;
  LayerNorm norm2;
  ANDIRON_MODULE(BertLayer, query, key, value, out, norm1, up, down, norm2)
};
struct Bert {
  Embedding embedding;
  std::vector<BertLayer> layers;
  ANDIRON_MODULE(Bert, embedding, layers)
};
inline Bert bert() {
  const auto layer = [] {
    return BertLayer{linear(4, 4),  linear(4, 4),  linear(4, 4),  linear(4, 4),
                     layer_norm(4), linear(4, 16), linear(16, 4), layer_norm(4)};
  };
  return {{param({10, 4})}, {layer(), layer()}};
}

struct LlamaAttention {
  Projection wq, wk, wv, wo;
  ANDIRON_MODULE(LlamaAttention, wq, wk, wv, wo)
};
struct LlamaFeedForward {
  Projection w1, w2, w3;
  ANDIRON_MODULE(LlamaFeedForward, w1, w2, w3)
};
struct LlamaLayer {
  LlamaAttention attention;
  LlamaFeedForward feed_forward;
  RmsNorm attention_norm, ffn_norm;
  ANDIRON_MODULE(LlamaLayer, attention, feed_forward, attention_norm, ffn_norm)
};
struct Llama {
  Embedding tok_embeddings;
  std::vector<LlamaLayer> layers;
  RmsNorm norm;
  Projection output;
  ANDIRON_MODULE(Llama, tok_embeddings, layers, norm, output)
};
inline Llama llama() {
  const auto layer = [] {
    return LlamaLayer{{projection(4, 4), projection(4, 4), projection(4, 4), projection(4, 4)},
                      {projection(4, 9), projection(9, 4), projection(4, 9)},
                      {param({4})},
                      {param({4})}};
  };
  return {{param({11, 4})}, {layer(), layer()}, {param({4})}, projection(4, 11)};
}

struct BasicBlock {
  Conv2d conv1;
  BatchNorm bn1;
  Conv2d conv2;
  BatchNorm bn2;
  ANDIRON_MODULE(BasicBlock, conv1, bn1, conv2, bn2)
};
struct ResNet {
  Conv2d conv1;
  BatchNorm bn1;
  std::vector<std::vector<BasicBlock>> layers;
  Linear fc;
  ANDIRON_MODULE(ResNet, conv1, bn1, layers, fc)
};
inline ResNet resnet() {
  const auto stage = [](std::uint64_t in, std::uint64_t out) {
    return std::vector<BasicBlock>{
        {conv(in, out), batch_norm(out), conv(out, out), batch_norm(out)},
        {conv(out, out), batch_norm(out), conv(out, out), batch_norm(out)}};
  };
  return {conv(3, 4), batch_norm(4), {stage(4, 4), stage(4, 6), stage(6, 8)}, linear(8, 5)};
}

struct Experts {
  Projection router;
  std::vector<FeedForward> experts;
  ANDIRON_MODULE(Experts, router, experts)
};
struct Mixture {
  Embedding embedding;
  std::vector<Experts> layers;
  ANDIRON_MODULE(Mixture, embedding, layers)
};
inline Mixture mixture() {
  const auto expert = [] { return FeedForward{linear(4, 8), linear(8, 4)}; };
  const auto layer = [&] { return Experts{projection(4, 3), {expert(), expert(), expert()}}; };
  return {{param({10, 4})}, {layer(), layer()}};
}

struct Translator {
  std::vector<Block> encoder, decoder;
  Linear generator;
  ANDIRON_MODULE(Translator, encoder, decoder, generator)
};
inline Translator translator() { return {{block(), block()}, {block(), block()}, linear(4, 9)}; }

struct ConvBlock {
  Conv2d conv;
  BatchNorm norm;
  ANDIRON_MODULE(ConvBlock, conv, norm)
};
struct UNet {
  std::vector<ConvBlock> down;
  ConvBlock bottleneck;
  std::vector<ConvBlock> up;
  ANDIRON_MODULE(UNet, down, bottleneck, up)
};
inline UNet unet() {
  const auto part = [](std::uint64_t in, std::uint64_t out) {
    return ConvBlock{conv(in, out), batch_norm(out)};
  };
  return {{part(1, 2), part(2, 4)}, part(4, 4), {part(4, 2), part(2, 1)}};
}

struct Vgg {
  std::vector<Conv2d> features;
  std::vector<Linear> classifier;
  ANDIRON_MODULE(Vgg, features, classifier)
};
inline Vgg vgg() {
  return {{conv(3, 4), conv(4, 4), conv(4, 8)}, {linear(8, 6), linear(6, 6), linear(6, 2)}};
}

struct Vit {
  Conv2d patch_embed;
  Param cls_token, pos_embed;
  std::vector<Block> blocks;
  LayerNorm norm;
  Linear head;
  ANDIRON_MODULE(Vit, patch_embed, cls_token, pos_embed, blocks, norm, head)
};
inline Vit vit() {
  return {conv(3, 4),         param({1, 1, 4}), param({1, 5, 4}),
          {block(), block()}, layer_norm(4),    linear(4, 3)};
}

struct Choice {
  std::variant<Linear, Conv2d> body;
  Linear head;
  ANDIRON_MODULE(Choice, body, head)
};
inline Choice choice() { return {linear(4, 3), linear(3, 2)}; }

struct Named {
  Conv2d conv;
  Linear hidden, output;
  ANDIRON_MODULE(Named, conv, hidden, output)
};
inline Named named() { return {conv(3, 4), linear(6, 5), linear(5, 2)}; }

// A module that keeps what PyTorch does.
namespace as_in_pytorch {
struct LayerNorm {
  Param weight, bias;
  ANDIRON_MODULE(LayerNorm, weight, bias)
};
}  // namespace as_in_pytorch
struct TorchNet {
  Linear fc;
  as_in_pytorch::LayerNorm norm;
  ANDIRON_MODULE(TorchNet, fc, norm)
};
inline TorchNet torch_net() { return {linear(4, 3), {param({3}), param({3})}}; }

}  // namespace andiron::puzzle
