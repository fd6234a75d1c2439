// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/namings_test.cpp
#include "src/proposals/namings.h"

#include <algorithm>
#include <initializer_list>
#include <unordered_set>

#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

// Endings of names that tell a naming: all of them must be there. Of several that match, the one
// with the most counts. The source is where the names are written down.
struct Naming {
  std::string_view name;
  std::string_view source;
  std::initializer_list<std::string_view> endings;
};

const Naming namings[] = {
    {"LLaMA as Meta names it",
     "meta-llama/llama, model.py",
     {"tok_embeddings.weight", "layers.0.attention.wq.weight", "layers.0.feed_forward.w1.weight",
      "layers.0.ffn_norm.weight"}},
    {"LLaMA as Hugging Face names it",
     "transformers, modeling_llama.py",
     {"embed_tokens.weight", "layers.0.self_attn.q_proj.weight", "layers.0.mlp.gate_proj.weight",
      "layers.0.input_layernorm.weight"}},
    {"Mixtral as Hugging Face names it",
     "transformers, modeling_mixtral.py",
     {"embed_tokens.weight", "layers.0.block_sparse_moe.gate.weight",
      "layers.0.block_sparse_moe.experts.0.w1.weight"}},
    {"a GGUF file's names",
     "ggml-org/llama.cpp, gguf-py",
     {"token_embd.weight", "blk.0.attn_norm.weight", "blk.0.ffn_down.weight"}},
    {"GPT-2 as Hugging Face and nanoGPT name it",
     "transformers, modeling_gpt2.py",
     {"wte.weight", "h.0.attn.c_attn.weight", "h.0.mlp.c_fc.weight", "ln_f.weight"}},
    {"GPT-NeoX as Hugging Face names it",
     "transformers, modeling_gpt_neox.py",
     {"embed_in.weight", "layers.0.attention.query_key_value.weight",
      "layers.0.mlp.dense_h_to_4h.weight"}},
    {"BERT as Hugging Face names it",
     "transformers, modeling_bert.py",
     {"embeddings.word_embeddings.weight", "encoder.layer.0.attention.self.query.weight",
      "encoder.layer.0.intermediate.dense.weight"}},
    {"DistilBERT as Hugging Face names it",
     "transformers, modeling_distilbert.py",
     {"embeddings.word_embeddings.weight", "transformer.layer.0.attention.q_lin.weight"}},
    {"T5 as Hugging Face names it",
     "transformers, modeling_t5.py",
     {"encoder.block.0.layer.0.SelfAttention.q.weight", "encoder.final_layer_norm.weight"}},
    {"CLIP as OpenAI names it",
     "openai/CLIP, model.py",
     {"visual.conv1.weight", "visual.transformer.resblocks.0.attn.in_proj_weight",
      "token_embedding.weight"}},
    {"CLIP as Hugging Face names it",
     "transformers, modeling_clip.py",
     {"vision_model.embeddings.patch_embedding.weight",
      "text_model.encoder.layers.0.self_attn.q_proj.weight"}},
    {"ViT as timm names it",
     "timm, vision_transformer.py",
     {"patch_embed.proj.weight", "blocks.0.attn.qkv.weight", "blocks.0.mlp.fc1.weight"}},
    {"ViT as torchvision names it",
     "torchvision, vision_transformer.py",
     {"conv_proj.weight", "encoder.layers.encoder_layer_0.self_attention.in_proj_weight"}},
    {"ViT as Hugging Face names it",
     "transformers, modeling_vit.py",
     {"embeddings.patch_embeddings.projection.weight",
      "encoder.layer.0.attention.attention.query.weight"}},
    {"Whisper as OpenAI names it",
     "openai/whisper, model.py",
     {"encoder.blocks.0.attn.query.weight", "decoder.blocks.0.cross_attn.query.weight",
      "decoder.token_embedding.weight"}},
    {"Whisper as Hugging Face names it",
     "transformers, modeling_whisper.py",
     {"encoder.conv1.weight", "encoder.layers.0.self_attn.q_proj.weight",
      "decoder.layers.0.encoder_attn.q_proj.weight"}},
    {"wav2vec 2.0 as Hugging Face names it",
     "transformers, modeling_wav2vec2.py",
     {"feature_extractor.conv_layers.0.conv.weight", "feature_projection.projection.weight",
      "encoder.layers.0.attention.q_proj.weight"}},
    {"wav2vec 2.0 as fairseq names it",
     "facebookresearch/fairseq, wav2vec2.py",
     {"feature_extractor.conv_layers.0.0.weight", "post_extract_proj.weight",
      "encoder.layers.0.self_attn.q_proj.weight"}},
    {"Stable Diffusion's U-Net as diffusers names it",
     "diffusers, unet_2d_condition.py",
     {"conv_in.weight", "down_blocks.0.resnets.0.conv1.weight", "time_embedding.linear_1.weight"}},
    {"Stable Diffusion's U-Net as CompVis names it",
     "CompVis/latent-diffusion, openaimodel.py",
     {"input_blocks.0.0.weight", "middle_block.0.in_layers.0.weight", "time_embed.0.weight"}},
    {"Stable Diffusion's VAE as diffusers names it",
     "diffusers, autoencoder_kl.py",
     {"encoder.conv_in.weight", "encoder.down_blocks.0.resnets.0.conv1.weight",
      "quant_conv.weight"}},
    {"Stable Diffusion's VAE as CompVis names it",
     "CompVis/latent-diffusion, autoencoder.py",
     {"encoder.conv_in.weight", "encoder.down.0.block.0.conv1.weight", "quant_conv.weight"}},
    {"ResNet as torchvision and timm name it",
     "torchvision, resnet.py",
     {"conv1.weight", "layer1.0.conv1.weight", "layer1.0.bn1.weight", "fc.weight"}},
    {"ResNet as Hugging Face names it",
     "transformers, modeling_resnet.py",
     {"embedder.embedder.convolution.weight",
      "encoder.stages.0.layers.0.layer.0.convolution.weight"}},
    {"ConvNeXt as timm names it",
     "timm, convnext.py",
     {"stem.0.weight", "stages.0.blocks.0.conv_dw.weight"}},
    {"YOLO as Ultralytics names it",
     "ultralytics, nn/tasks.py",
     {"model.0.conv.weight", "model.1.conv.weight", "model.2.cv1.conv.weight"}},
};

}  // namespace

std::string_view naming_of(std::span<const TreeTensor> tensors) {
  const std::vector<std::string_view> all = namings_of(tensors);
  return all.empty() ? std::string_view() : all.front();
}

std::vector<std::string_view> namings_of(std::span<const TreeTensor> tensors) {
  std::unordered_set<std::string_view> endings;
  for (const TreeTensor& tensor : tensors) {
    const std::string_view name = tensor.name;
    endings.insert(name);
    // What is left after one to four wrappers.
    std::size_t begin = 0;
    for (int wrappers = 0; wrappers < 4; ++wrappers) {
      const std::size_t dot = name.find('.', begin);
      if (dot == std::string_view::npos) break;
      begin = dot + 1;
      endings.insert(name.substr(begin));
    }
  }
  std::vector<const Naming*> found;
  for (const Naming& naming : namings) {
    const bool is_there = std::all_of(naming.endings.begin(), naming.endings.end(),
                                      [&](std::string_view one) { return endings.contains(one); });
    if (is_there) found.push_back(&naming);
  }
  std::stable_sort(found.begin(), found.end(), [](const Naming* a, const Naming* b) {
    return a->endings.size() > b->endings.size();
  });
  std::vector<std::string_view> names;
  for (const Naming* naming : found) names.push_back(naming->name);
  return names;
}

std::string_view caveat_between(std::string_view naming, std::string_view other) {
  constexpr std::string_view meta = "LLaMA as Meta names it";
  constexpr std::string_view hugging_face = "LLaMA as Hugging Face names it";
  const bool is_llama =
      (naming == meta && other == hugging_face) || (naming == hugging_face && other == meta);
  // transformers, convert_llama_weights_to_hf.py: permute().
  return is_llama ? "Meta and Hugging Face keep the rows of the query and key weights in different "
                    "orders, for their rotary embeddings; no setting changes that: use a file of "
                    "the other side, or permute these rows"
                  : "";
}

}  // namespace andiron::inline v1::detail
