// SPDX-License-Identifier: MIT OR Apache-2.0
// Models of layers: burn_forward_interop.py compares what they compute with Burn, where layers.rs
// has the same models with the same settings. Files are Burnpack files.
//
//   models                               the names of all models, in JSON. Those that end in "as in
//                                        Burn" have other settings, with which we compute the same
//   create NAME MODEL                    writes a model with random parameters
//   forward NAME MODEL INPUTS OUTPUTS    loads parameters and inputs, and computes
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "andiron/andiron.h"

namespace andiron {
namespace {

using Outputs = std::vector<Tensor>;

struct Inputs {
  Archive archive;

  Tensor get(std::string_view name) const { return archive.get(name).value().read().value(); }
};

// ---- Models with several layers ----

struct CnnBlock {
  nn::Conv2d depthwise = nn::Conv2dConfig({6, 6}, {3, 3})
                             .with_groups(6)
                             .with_padding(nn::PaddingConfig2d::same())
                             .init();
  nn::GroupNorm norm = nn::GroupNormConfig(3, 6).init();
  nn::Conv2d pointwise = nn::Conv2dConfig({6, 6}, {1, 1}).with_bias(false).init();
  ANDIRON_MODULE(CnnBlock, depthwise, norm, pointwise)
};

struct Cnn {
  nn::Conv2d stem = nn::Conv2dConfig({3, 6}, {3, 3})
                        .with_stride({2, 2})
                        .with_padding(nn::PaddingConfig2d::explicit_(1, 1))
                        .init();
  nn::BatchNorm norm = nn::BatchNormConfig(6).init();
  nn::PRelu act = nn::PReluConfig().with_num_parameters(6).init();
  nn::MaxPool2d pool = nn::MaxPool2dConfig({2, 2}).init();
  std::vector<CnnBlock> blocks = std::vector<CnnBlock>(2);
  nn::AdaptiveAvgPool2d mean = nn::AdaptiveAvgPool2dConfig({2, 2}).init();
  nn::Linear head = nn::LinearConfig(24, 5).init();

  Result<Tensor> forward(const Tensor& image) const {
    Result<Tensor> x = pool.forward(act.forward(norm.forward(stem.forward(image))));
    for (const CnnBlock& block : blocks) {
      const Result<Tensor> y = nn::gelu(block.norm.forward(block.depthwise.forward(x)));
      x = nn::add(x, block.pointwise.forward(y));
    }
    return head.forward(nn::flatten(mean.forward(x)));
  }
  ANDIRON_MODULE(Cnn, stem, norm, act, pool, blocks, mean, head)
};

struct Text {
  nn::Embedding embedding = nn::EmbeddingConfig(10, 8).init();
  nn::PositionalEncoding positions = nn::PositionalEncodingConfig(8).init();
  nn::TransformerEncoder encoder = nn::TransformerEncoderConfig(8, 16, 2, 2).init();
  nn::Linear head = nn::LinearConfig(8, 3).init();

  Outputs forward(std::optional<std::uint64_t> most) const {
    const std::vector<std::vector<std::int64_t>> tokens = {{1, 2, 3}, {4, 5, 6, 7, 8}, {9, 0, 3}};
    const nn::PaddedTokens padded = nn::generate_padding_mask(0, tokens, most).value();
    const Result<Tensor> x = positions.forward(embedding.forward(padded.tensor));
    return {nn::cast(padded.tensor, DType::f32).value(), nn::cast(padded.mask, DType::f32).value(),
            head.forward(encoder.forward(x, {.pad = padded.mask})).value()};
  }
  ANDIRON_MODULE(Text, embedding, positions, encoder, head)
};

// ---- What is done with a model ----

struct Task {
  std::span<const std::string> files;  // of the command

  template <class M>
  Status create(M& model) const {
    std::minstd_rand random(20);
    std::uniform_real_distribution<float> noise(-0.4F, 0.4F);
    // So that norms are not ones and zeros.
    Archive shaken;
    for (const TensorSnapshot& snapshot : collect(model).value()) {
      Tensor tensor = snapshot.read().value();
      for (float& element : tensor.as_mutable<float>().value()) element += noise(random);
      shaken.add(TensorSnapshot(snapshot.full_path(), tensor)).value();
    }
    if (const auto applied = apply(model, shaken); !applied) return applied.error();
    auto store = BurnpackStore::from_file(files[0]).overwrite(true).sync(false);
    if (const auto saved = save_into(model, store); !saved) return saved.error();
    return {};
  }

  template <class M, class Forward>
  Status run(M model, const Forward& forward) const {
    if (files.size() == 1) return create(model);
    if (const auto loaded = load_from(model, BurnpackStore::from_file(files[0])); !loaded) {
      return loaded.error();
    }
    Archive archive;
    const Inputs inputs = {open(files[1]).value()};
    for (const Tensor& tensor : forward(model, inputs)) {
      archive.add(TensorSnapshot(std::to_string(archive.size()), tensor)).value();
    }
    const auto written = write(archive, files[2], {.overwrite = true, .sync = false});
    if (!written) return written.error();
    return {};
  }
};

// By name.
using Models = std::map<std::string, std::function<Status(const Task&)>, std::less<>>;

template <class M, class Forward>
void add(Models& models, std::string name, M model, Forward forward) {
  models.emplace(std::move(name),
                 [model, forward](const Task& task) { return task.run(model, forward); });
}

// A layer that takes and returns one tensor.
template <class L>
void add(Models& models, std::string name, L layer) {
  add(models, std::move(name), std::move(layer), [](const L& model, const Inputs& inputs) {
    return Outputs{model.forward(inputs.get("x")).value()};
  });
}

// ---- Recurrent layers ----

template <class L>
void add_lstm(Models& models, std::string name, L layer) {
  add(models, std::move(name), std::move(layer), [](const L& model, const Inputs& inputs) {
    const Tensor x = inputs.get("x");
    const nn::LstmState state = {.cell = inputs.get("c0"), .hidden = inputs.get("h0")};
    const auto result = model.forward_with_state(x, state).value();
    Outputs outputs = {result.output, result.state.hidden, result.state.cell};
    if constexpr (std::is_same_v<L, nn::Lstm>) outputs.push_back(model.forward(x).value());
    return outputs;
  });
}

void add_gru(Models& models, std::string name, nn::Gru layer) {
  add(models, std::move(name), std::move(layer), [](const nn::Gru& model, const Inputs& inputs) {
    const Tensor x = inputs.get("x");
    return Outputs{model.forward_with_state(x, inputs.get("h0")).value().output,
                   model.forward(x).value()};
  });
}

void add_bigru(Models& models, std::string name, nn::BiGru layer) {
  add(models, std::move(name), std::move(layer), [](const nn::BiGru& model, const Inputs& inputs) {
    const auto result = model.forward_with_state(inputs.get("x"), inputs.get("h0")).value();
    return Outputs{result.output, result.state};
  });
}

void add_recurrent(Models& models) {
  const nn::LstmConfig lstm(3, 4);
  const auto changed = [](auto config) { return config; };
  add_lstm(models, "Lstm", lstm.init());
  add_lstm(models, "Lstm without bias", nn::LstmConfig(3, 4, false).init());
  add_lstm(models, "Lstm reverse", changed(lstm).with_reverse(true).init());
  add_lstm(models, "Lstm clip", changed(lstm).with_clip(0.3).init());
  add_lstm(models, "Lstm input_forget", changed(lstm).with_input_forget(true).init());
  add_lstm(models, "Lstm steps first",
           changed(lstm).with_batch_first(false).with_reverse(true).init());
  // Gates without a bound multiply every rounding: small parameters.
  add_lstm(models, "Lstm activations",
           changed(lstm)
               .with_initializer(nn::Initializer::zeros())
               .with_gate_activation(nn::Activation::hard_swish)
               .with_cell_activation(nn::Activation::gelu)
               .with_hidden_activation(nn::Activation::relu)
               .init());
  add_lstm(models, "Lstm large", nn::LstmConfig(48, 80).init());
  const nn::BiLstmConfig bilstm(3, 4);
  add_lstm(models, "BiLstm", bilstm.init());
  add_lstm(models, "BiLstm clip", changed(bilstm).with_clip(0.3).with_input_forget(true).init());
  add_lstm(models, "BiLstm steps first", changed(bilstm).with_batch_first(false).init());
  const nn::GruConfig gru(3, 4);
  add_gru(models, "Gru", gru.init());
  add_gru(models, "Gru reset before", changed(gru).with_reset_after(false).init());
  add_gru(models, "Gru without bias", nn::GruConfig(3, 4, false).with_reset_after(false).init());
  add_gru(models, "Gru large", nn::GruConfig(48, 80).with_reset_after(false).init());
  add_gru(models, "Gru clip", changed(gru).with_clip(0.3).init());
  add_gru(models, "Gru activations",
          changed(gru)
              .with_gate_activation(nn::Activation::tanh)
              .with_hidden_activation(nn::Activation::softplus)
              .init());
  const nn::BiGruConfig bigru(3, 4);
  add_bigru(models, "BiGru", bigru.init());
  add_bigru(models, "BiGru reset before", changed(bigru).with_reset_after(false).init());
  add_bigru(models, "BiGru steps first", changed(bigru).with_batch_first(false).init());
}

// ---- Attention ----

void add_heads(Models& models, std::string name, nn::MultiHeadAttention layer,
               std::string_view masks) {
  add(models, std::move(name), std::move(layer),
      [masks](const nn::MultiHeadAttention& model, const Inputs& inputs) {
        nn::MhaInput input = {inputs.get("query"), inputs.get("key"), inputs.get("value")};
        if (masks == "causal") input = nn::MhaInput::self_attn(input.query);
        input.masks.causal = masks == "causal";
        if (masks.find("pad") != masks.npos) input.masks.pad = inputs.get("mask_pad");
        if (masks.find("attn") != masks.npos) input.masks.attn = inputs.get("mask_attn");
        const nn::MhaOutput output = model.forward(input).value();
        return Outputs{output.context, output.weights};
      });
}

void add_cross(Models& models, std::string name, nn::CrossAttention layer, bool masked) {
  add(models, std::move(name), std::move(layer),
      [masked](const nn::CrossAttention& model, const Inputs& inputs) {
        nn::AttentionMasks masks;
        if (masked) masks.pad = inputs.get("mask_pad");
        return Outputs{model.forward(inputs.get("query"), inputs.get("context"), masks).value()};
      });
}

void add_encoder(Models& models, std::string name, nn::TransformerEncoder layer) {
  add(models, std::move(name), std::move(layer),
      [](const nn::TransformerEncoder& model, const Inputs& inputs) {
        const Tensor x = inputs.get("x");
        return Outputs{
            model.forward(x).value(),
            model.forward(x, {.pad = inputs.get("mask_pad"), .attn = inputs.get("mask_attn")})
                .value()};
      });
}

void add_decoder(Models& models, std::string name, nn::TransformerDecoder layer) {
  add(models, std::move(name), std::move(layer),
      [](const nn::TransformerDecoder& model, const Inputs& inputs) {
        const Tensor x = inputs.get("x");
        const Tensor memory = inputs.get("memory");
        return Outputs{model.forward(x, memory).value(),
                       model
                           .forward(x, memory, {.pad = inputs.get("mask_pad"), .causal = true},
                                    {.pad = inputs.get("mask_memory_pad"),
                                     .attn = inputs.get("mask_memory_attn")})
                           .value()};
      });
}

void add_attention(Models& models) {
  const nn::MultiHeadAttentionConfig heads(8, 2);
  const auto changed = [](auto config) { return config; };
  add_heads(models, "MultiHeadAttention", heads.init(), "");
  add_heads(models, "MultiHeadAttention pad", heads.init(), "pad");
  add_heads(models, "MultiHeadAttention attn", heads.init(), "attn");
  add_heads(models, "MultiHeadAttention both masks", heads.init(), "pad attn");
  add_heads(models, "MultiHeadAttention causal", heads.init(), "causal");
  add_heads(models, "MultiHeadAttention quiet", changed(heads).with_quiet_softmax(true).init(),
            "pad attn");
  add_heads(models, "MultiHeadAttention min_float", changed(heads).with_min_float(-2).init(),
            "pad attn");
  const nn::CrossAttentionConfig cross(8, 6, 4, 2, 3);
  add_cross(models, "CrossAttention", cross.init(), false);
  add_cross(models, "CrossAttention pad", cross.init(), true);
  add_cross(models, "CrossAttention quiet", changed(cross).with_quiet_softmax(true).init(), true);
  const nn::TransformerEncoderConfig encoder(8, 16, 2, 2);
  add_encoder(models, "TransformerEncoder", encoder.init());
  add_encoder(models, "TransformerEncoder norm_first",
              changed(encoder).with_norm_first(true).init());
  add_encoder(models, "TransformerEncoder settings",
              changed(encoder)
                  .with_quiet_softmax(true)
                  .with_activation(nn::Activation::relu)
                  .with_layer_norm_eps(0.1)
                  .init());
  add_encoder(models, "TransformerEncoder large",
              nn::TransformerEncoderConfig(64, 256, 4, 3).with_norm_first(true).init());
  const nn::TransformerDecoderConfig decoder(8, 16, 2, 2);
  add_decoder(models, "TransformerDecoder", decoder.init());
  add_decoder(models, "TransformerDecoder norm_first",
              changed(decoder).with_norm_first(true).init());
  add_decoder(models, "TransformerDecoder settings",
              changed(decoder)
                  .with_quiet_softmax(true)
                  .with_activation(nn::Activation::gelu_tanh)
                  .with_layer_norm_eps(0.1)
                  .init());
  add(models, "PositionWiseFeedForward", nn::PositionWiseFeedForwardConfig(8, 16).init());
  add(models, "PositionalEncoding", nn::PositionalEncodingConfig(8).init());
  add(models, "PositionalEncoding sizes",
      nn::PositionalEncodingConfig(6).with_max_sequence_size(20).with_max_timescale(100).init());
  add(models, "RotaryEncoding", nn::RotaryEncodingConfig(32, 8).init(),
      [](const nn::RotaryEncoding& model, const Inputs& inputs) {
        return Outputs{model.forward(inputs.get("x")).value(),
                       model.apply(inputs.get("x"), 7).value()};
      });
  add(models, "RotaryEncoding theta", nn::RotaryEncodingConfig(32, 8).with_theta(500).init());
  add(models, "Text", Text(), [](const Text& model, const Inputs&) { return model.forward({}); });
  add(models, "Text cut", Text(),
      [](const Text& model, const Inputs&) { return model.forward(4); });
}

// ---- Layers that take and return one tensor ----

void add_activations(Models& models) {
  add(models, "HardSigmoid", nn::HardSigmoid());
  add(models, "HardSwish", nn::HardSwish());
  add(models, "LeakyRelu", nn::LeakyRelu());
  add(models, "Softplus", nn::Softplus{.beta = 2});
  add(models, "Elu", nn::Elu{.alpha = 0.7});
  add(models, "Gelu", nn::Gelu());
  add(models, "Gelu tanh", nn::Gelu{.approximate = true});
  add(models, "Glu", nn::Glu{.dim = 1});
  add(models, "PRelu", nn::PReluConfig().init());
  add(models, "PRelu channels", nn::PReluConfig().with_num_parameters(3).init());
  add(models, "SwiGlu", nn::SwiGluConfig(6, 5).init());
  add(models, "SwiGlu bias", nn::SwiGluConfig(6, 5).with_bias(true).init());
  add(models, "BatchNorm", nn::BatchNormConfig(3).init());
  add(models, "LayerNorm", nn::LayerNormConfig(6).init());
  add(models, "GroupNorm", nn::GroupNormConfig(2, 6).init());
  add(models, "InstanceNorm", nn::InstanceNormConfig(3).init());
  add(models, "InstanceNorm plain",
      nn::InstanceNormConfig(3).with_affine(false).with_epsilon(0.1).init());
  add(models, "RmsNorm", nn::RmsNormConfig(6).init());
  add(models, "RmsNorm epsilon", nn::RmsNormConfig(6).with_epsilon(0.5).init());
}

void add_convolutions(Models& models) {
  const auto odd = [] {
    return nn::Conv2dConfig({3, 4}, {3, 5}).with_padding(nn::PaddingConfig2d::same());
  };
  const auto even = [] {
    return nn::Conv2dConfig({3, 4}, {4, 2}).with_padding(nn::PaddingConfig2d::same());
  };
  add(models, "Conv1d",
      nn::Conv1dConfig(3, 4, 3)
          .with_padding(nn::PaddingConfig1d::explicit_(2, 1))
          .with_dilation(2)
          .init());
  add(models, "Conv1d same",
      nn::Conv1dConfig(3, 4, 4).with_padding(nn::PaddingConfig1d::same()).with_stride(2).init());
  add(models, "Conv2d",
      nn::Conv2dConfig({4, 6}, {3, 2})
          .with_padding(nn::PaddingConfig2d::explicit_(1, 2, 0, 3))
          .with_stride({1, 2})
          .with_dilation({2, 1})
          .with_groups(2)
          .init());
  add(models, "Conv2d same", odd().init());
  add(models, "Conv2d same stride 2", odd().with_stride({2, 2}).init());
  add(models, "Conv2d same even", even().init());
  add(models, "Conv2d same even stride 2", even().with_stride({2, 2}).init());
  add(models, "Conv2d same stride 3", even().with_stride({3, 3}).init());
  add(models, "Conv2d same dilated", odd().with_dilation({2, 2}).init());
  add(models, "Conv2d same dilated as in Burn",
      odd().with_dilation({2, 2}).with_padding(nn::PaddingConfig2d::explicit_(1, 2)).init());
  add(models, "Conv2d large",
      nn::Conv2dConfig({32, 48}, {3, 3}).with_padding(nn::PaddingConfig2d::same()).init());
  add(models, "Conv3d",
      nn::Conv3dConfig({4, 6}, {3, 2, 3})
          .with_padding(nn::PaddingConfig3d::explicit_(1, 0, 2))
          .with_stride({2, 1, 2})
          .with_dilation({1, 2, 1})
          .with_groups(2)
          .init());
  add(models, "Conv3d same",
      nn::Conv3dConfig({2, 3}, {3, 1, 5}).with_padding(nn::PaddingConfig3d::same()).init());
  add(models, "ConvTranspose1d",
      nn::ConvTranspose1dConfig({3, 4}, 3)
          .with_stride(2)
          .with_padding(1)
          .with_padding_out(1)
          .init());
  add(models, "ConvTranspose2d", nn::ConvTranspose2dConfig({4, 6}, {3, 2}).init());
  add(models, "ConvTranspose2d settings",
      nn::ConvTranspose2dConfig({4, 6}, {3, 2})
          .with_stride({2, 3})
          .with_dilation({1, 2})
          .with_groups(2)
          .with_padding({1, 1})
          .with_padding_out({1, 2})
          .init());
  add(models, "ConvTranspose3d",
      nn::ConvTranspose3dConfig({2, 3}, {2, 3, 2})
          .with_stride({2, 1, 2})
          .with_padding({0, 1, 1})
          .init());
}

void add_pooling(Models& models) {
  const auto average = [](nn::PaddingConfig2d padding) {
    return nn::AvgPool2dConfig({3, 2}).with_stride({2, 2}).with_padding(padding);
  };
  const auto largest = [] { return nn::MaxPool2dConfig({3, 2}).with_stride({2, 2}); };
  const nn::PaddingConfig2d ones = nn::PaddingConfig2d::explicit_(1, 1);
  const nn::PaddingConfig2d same = nn::PaddingConfig2d::same();
  add(models, "AvgPool1d",
      nn::AvgPool1dConfig(3)
          .with_stride(2)
          .with_padding(nn::PaddingConfig1d::explicit_(1, 1))
          .init());
  add(models, "AvgPool2d", average(ones).init());
  add(models, "AvgPool2d without padding", average(ones).with_count_include_pad(false).init());
  const auto square = [&] {
    return nn::AvgPool2dConfig({3, 3}).with_stride({2, 2}).with_padding(ones).with_ceil_mode(true);
  };
  add(models, "AvgPool2d ceil", square().init());
  add(models, "AvgPool2d ceil without padding", square().with_count_include_pad(false).init());
  add(models, "AvgPool2d ceil outside", average(ones).with_ceil_mode(true).init());
  add(models, "AvgPool2d same", average(same).init());
  add(models, "AvgPool2d same without padding", average(same).with_count_include_pad(false).init());
  add(models, "AvgPool2d same without padding as in Burn", average(same).init());
  const nn::PaddingConfig2d uneven = nn::PaddingConfig2d::explicit_(0, 1, 1, 0);
  add(models, "AvgPool2d uneven without padding",
      average(uneven).with_count_include_pad(false).init());
  add(models, "AvgPool2d uneven without padding as in Burn", average(uneven).init());
  add(models, "MaxPool2d", largest().with_padding(ones).init());
  add(models, "MaxPool2d same", largest().with_padding(same).init());
  add(models, "MaxPool2d ceil", largest().with_dilation({1, 2}).with_ceil_mode(true).init());
  add(models, "MaxPool2d ceil outside", largest().with_padding(ones).with_ceil_mode(true).init());
  add(models, "AdaptiveAvgPool2d", nn::AdaptiveAvgPool2dConfig({4, 3}).init());
}

void add_images(Models& models) {
  using nn::InterpolateMode;
  add(models, "Unfold4d", nn::Unfold4dConfig({3, 2}).init());
  add(models, "Unfold4d settings",
      nn::Unfold4dConfig({2, 3})
          .with_stride({2, 1})
          .with_dilation({1, 2})
          .with_padding({1, 2})
          .init());
  const auto to_size = [](InterpolateMode mode) {
    return nn::Interpolate2dConfig().with_output_size({{9, 4}}).with_mode(mode);
  };
  const auto by_scale = [](InterpolateMode mode) {
    return nn::Interpolate2dConfig().with_scale_factor({{1.7, 2.5}}).with_mode(mode);
  };
  add(models, "Interpolate2d", to_size(InterpolateMode::nearest).init());
  add(models, "Interpolate2d linear", to_size(InterpolateMode::linear).init());
  add(models, "Interpolate2d cubic", to_size(InterpolateMode::cubic).init());
  add(models, "Interpolate2d linear not aligned",
      to_size(InterpolateMode::linear).with_align_corners(false).init());
  add(models, "Interpolate2d cubic not aligned",
      to_size(InterpolateMode::cubic).with_align_corners(false).init());
  add(models, "Interpolate2d scale", by_scale(InterpolateMode::nearest).init());
  add(models, "Interpolate2d scale linear", by_scale(InterpolateMode::linear).init());
  add(models, "Interpolate2d scale linear not aligned",
      by_scale(InterpolateMode::linear).with_align_corners(false).init());
  // The size that the scale leads to.
  const auto scaled = [](InterpolateMode mode) {
    return nn::Interpolate2dConfig().with_output_size({{10, 17}}).with_mode(mode);
  };
  add(models, "Interpolate2d scale as in Burn", scaled(InterpolateMode::nearest).init());
  add(models, "Interpolate2d scale linear not aligned as in Burn",
      scaled(InterpolateMode::linear).with_align_corners(false).init());
  add(models, "Interpolate2d scale cubic", by_scale(InterpolateMode::cubic).init());
  add(models, "Interpolate1d linear",
      nn::Interpolate1dConfig().with_output_size(12).with_mode(InterpolateMode::linear).init());
  add(models, "Interpolate1d nearest", nn::Interpolate1dConfig().with_scale_factor(1.5).init());
  add(models, "Interpolate1d cubic",
      nn::Interpolate1dConfig().with_output_size(12).with_mode(InterpolateMode::cubic).init());
  add(models, "Cnn", Cnn());
}

int answer(std::span<const std::string> arguments) {
  Models models;
  add_recurrent(models);
  add_attention(models);
  add_activations(models);
  add_convolutions(models);
  add_pooling(models);
  add_images(models);
  if (arguments.size() == 1 && arguments[0] == "models") {
    ValueList names;
    for (const auto& [name, run] : models) names.emplace_back(name);
    std::puts(to_json(names).c_str());
    return 0;
  }
  const bool created = arguments.size() == 3 && arguments[0] == "create";
  if (!created && !(arguments.size() == 5 && arguments[0] == "forward")) return 64;
  const auto found = models.find(arguments[1]);
  if (found == models.end()) return 64;
  const Status status = found->second({.files = arguments.subspan(2)});
  if (status) return 0;
  std::fprintf(stderr, "%s\n", status.error().to_string().c_str());
  return 1;
}

}  // namespace
}  // namespace andiron

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  andiron::nn::seed(20);
  return andiron::answer(words);
}
