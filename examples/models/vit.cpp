// SPDX-License-Identifier: MIT OR Apache-2.0
// The Vision Transformer, "An Image is Worth 16x16 Words" (Dosovitskiy et al., 2020), with the
// names of timm, whose files it loads. usage: vit FOLDER, for example data/vit. make_weights.py
// makes such folders.
#include <andiron/andiron.h>

#include <cstdint>
#include <vector>

#include "compare_with_torch.h"

using namespace andiron;
using namespace andiron::nn;

namespace {

struct ViTConfig {
  std::uint64_t img_size = 224;
  std::uint64_t patch_size = 16;
  std::uint64_t num_classes = 1000;
  std::uint64_t embed_dim = 768;
  std::uint64_t depth = 12;
  std::uint64_t num_heads = 12;
  std::uint64_t mlp_ratio = 4;
  ANDIRON_CONFIG(ViTConfig, img_size, patch_size, num_classes, embed_dim, depth, num_heads,
                 mlp_ratio)
};

LayerNorm norm(std::uint64_t size) { return LayerNormConfig(size).with_epsilon(1e-6).init(); }

struct Attention {
  Linear qkv;  // query, key and value in one
  Linear proj;
  std::uint64_t heads = 1;
  ANDIRON_MODULE(Attention, qkv, proj)

  Result<Tensor> forward(const Result<Tensor>& x) const {
    const Result<Tensor> all = split_heads(qkv.forward(x), 3 * heads);
    const auto n = static_cast<std::int64_t>(heads);
    return proj.forward(join_heads(scaled_dot_product_attention(
        slice(all, 1, 0, n), slice(all, 1, n, 2 * n), slice(all, 1, 2 * n))));
  }
};

struct Mlp {
  Linear fc1;
  Linear fc2;
  ANDIRON_MODULE(Mlp, fc1, fc2)

  Result<Tensor> forward(const Result<Tensor>& x) const {
    return fc2.forward(gelu(fc1.forward(x)));
  }
};

struct Block {
  LayerNorm norm1;
  Attention attn;
  LayerNorm norm2;
  Mlp mlp;
  ANDIRON_MODULE(Block, norm1, attn, norm2, mlp)

  static Block init(const ViTConfig& config) {
    const std::uint64_t size = config.embed_dim;
    const std::uint64_t inner = config.mlp_ratio * size;
    return {
        .norm1 = norm(size),
        .attn = {.qkv = LinearConfig(size, 3 * size).init(),
                 .proj = LinearConfig(size, size).init(),
                 .heads = config.num_heads},
        .norm2 = norm(size),
        .mlp = {.fc1 = LinearConfig(size, inner).init(), .fc2 = LinearConfig(inner, size).init()}};
  }

  Result<Tensor> forward(const Result<Tensor>& x) const {
    const Result<Tensor> y = add(x, attn.forward(norm1.forward(x)));
    return add(y, mlp.forward(norm2.forward(y)));
  }
};

struct PatchEmbed {
  Conv2d proj;
  ANDIRON_MODULE(PatchEmbed, proj)

  // From [batch, 3, height, width] to [batch, patches, embed_dim].
  Result<Tensor> forward(const Result<Tensor>& images) const {
    return swap_dims(flatten(proj.forward(images), 2), 1, 2);
  }
};

struct ViT {
  using Config = ViTConfig;

  Param cls_token;  // what is seen as a patch before the first
  Param pos_embed;
  PatchEmbed patch_embed;
  std::vector<Block> blocks;
  LayerNorm norm;
  Linear head;
  ANDIRON_MODULE(ViT, cls_token, pos_embed, patch_embed, blocks, norm, head)

  static ViT init(const ViTConfig& config) {
    const std::uint64_t size = config.embed_dim;
    const std::uint64_t patch = config.patch_size;
    const std::uint64_t side = config.img_size / patch;
    ViT model = {
        .cls_token = Initializer::zeros().init({1, 1, size}),
        .pos_embed = Initializer::normal(0, 0.02).init({1, side * side + 1, size}),
        .patch_embed = {Conv2dConfig({3, size}, {patch, patch}).with_stride({patch, patch}).init()},
        .blocks = {},
        .norm = ::norm(size),
        .head = LinearConfig(size, config.num_classes).init()};
    for (std::uint64_t i = 0; i < config.depth; ++i) model.blocks.push_back(Block::init(config));
    return model;
  }

  /// Takes images, [batch, 3, img_size, img_size], and returns scores, [batch, num_classes].
  Result<Tensor> forward(const Result<Tensor>& images) const {
    const Result<Tensor> patches = patch_embed.forward(images);
    if (!patches) return patches.error();
    const Shape one_each = {patches->shape()[0], 1, patches->shape()[2]};
    const Result<Tensor> token = add(Tensor::zeros(DType::f32, one_each), cls_token.val());
    const Result<Tensor> x = add(concat({token, patches}, 1), pos_embed.val());
    const Result<Tensor> y = norm.forward(forward_through(blocks, x));
    return head.forward(flatten(slice(y, 1, 0, 1)));
  }
};

}  // namespace

int main(int argc, char** argv) { return compare_with_torch<ViT>("vit", argc, argv); }
