// SPDX-License-Identifier: MIT OR Apache-2.0
// Layers with weights, norms, pooling and what else works on images.
#include <array>
#include <cstdint>

#include "layers_probe.h"

namespace andiron::layers_probe {
namespace {

using Size2 = std::array<std::uint64_t, 2>;
using Size3 = std::array<std::uint64_t, 3>;

// "valid", "same", or the sizes.
nn::PaddingConfig1d padding_1d(const Json& padding) {
  if (padding == "valid") return nn::PaddingConfig1d::valid();
  if (padding == "same") return nn::PaddingConfig1d::same();
  return nn::PaddingConfig1d::explicit_(padding.at(0), padding.at(1));
}
nn::PaddingConfig2d padding_2d(const Json& padding) {
  if (padding == "valid") return nn::PaddingConfig2d::valid();
  if (padding == "same") return nn::PaddingConfig2d::same();
  if (padding.size() == 2) return nn::PaddingConfig2d::explicit_(padding.at(0), padding.at(1));
  return nn::PaddingConfig2d::explicit_(padding.at(0), padding.at(1), padding.at(2), padding.at(3));
}
nn::PaddingConfig3d padding_3d(const Json& padding) {
  if (padding == "valid") return nn::PaddingConfig3d::valid();
  if (padding == "same") return nn::PaddingConfig3d::same();
  return nn::PaddingConfig3d::explicit_(padding.at(0), padding.at(1), padding.at(2));
}

template <class Size, class Config>
Config configured(const Case& it, Config config) {
  return config.with_stride(it.get<Size>("stride"))
      .with_dilation(it.get<Size>("dilation"))
      .with_groups(it.size("groups"))
      .with_bias(it.get<bool>("bias"));
}

template <class Size, class Config>
Result<Outputs> transposed(const Case& it) {
  const Config config(it.get<Size2>("channels"), it.get<Size>("kernel"));
  return forward(it, configured<Size>(it, config)
                         .with_padding(it.get<Size>("padding"))
                         .with_padding_out(it.get<Size>("padding_out"))
                         .init());
}

template <class Size, class Config, class Padding>
Config pool(const Case& it, const Padding& padding) {
  Config config(it.get<Size>("kernel"));
  if (it.config.contains("stride")) config.with_stride(it.get<Size>("stride"));
  return config.with_padding(padding).with_ceil_mode(it.get<bool>("ceil_mode"));
}

template <class Config>
Result<Outputs> interpolate(const Case& it) {
  Config config;
  const std::string mode = it.get<std::string>("mode");
  config.with_mode(mode == "nearest"  ? nn::InterpolateMode::nearest
                   : mode == "linear" ? nn::InterpolateMode::linear
                                      : nn::InterpolateMode::cubic);
  config.with_align_corners(it.get<bool>("align_corners"));
  using Layer = decltype(config.init());
  if (it.config.contains("size")) {
    config.with_output_size(it.get<typename decltype(Layer::output_size)::value_type>("size"));
  }
  if (it.config.contains("scale")) {
    config.with_scale_factor(it.get<typename decltype(Layer::scale_factor)::value_type>("scale"));
  }
  return forward(it, config.init());
}

void add_weights(Kinds& kinds) {
  kinds["Linear"] = [](const Case& it) {
    const nn::LinearConfig config(it.size("in"), it.size("out"));
    return forward(it, nn::LinearConfig(config).with_bias(it.get<bool>("bias")).init());
  };
  kinds["Conv1D"] = [](const Case& it) {
    const nn::LinearConfig config(it.size("in"), it.size("out"));
    return forward(it, nn::LinearConfig(config).with_bias(it.get<bool>("bias")).init_conv1d());
  };
  kinds["Embedding"] = [](const Case& it) {
    return forward(it, nn::EmbeddingConfig(it.size("count"), it.size("size")).init());
  };
  kinds["Conv1d"] = [](const Case& it) {
    const Size2 channels = it.get<Size2>("channels");
    const nn::Conv1dConfig config(channels[0], channels[1], it.size("kernel"));
    return forward(it, configured<std::uint64_t>(it, config)
                           .with_padding(padding_1d(it.config.at("padding")))
                           .init());
  };
  kinds["Conv2d"] = [](const Case& it) {
    const nn::Conv2dConfig config(it.get<Size2>("channels"), it.get<Size2>("kernel"));
    return forward(
        it, configured<Size2>(it, config).with_padding(padding_2d(it.config.at("padding"))).init());
  };
  kinds["Conv3d"] = [](const Case& it) {
    const nn::Conv3dConfig config(it.get<Size2>("channels"), it.get<Size3>("kernel"));
    return forward(
        it, configured<Size3>(it, config).with_padding(padding_3d(it.config.at("padding"))).init());
  };
  kinds["ConvTranspose1d"] = transposed<std::uint64_t, nn::ConvTranspose1dConfig>;
  kinds["ConvTranspose2d"] = transposed<Size2, nn::ConvTranspose2dConfig>;
  kinds["ConvTranspose3d"] = transposed<Size3, nn::ConvTranspose3dConfig>;
  kinds["PRelu"] = [](const Case& it) {
    return forward(it, nn::PReluConfig().with_num_parameters(it.size("count")).init());
  };
  kinds["SwiGlu"] = [](const Case& it) {
    return forward(
        it, nn::SwiGluConfig(it.size("in"), it.size("out")).with_bias(it.get<bool>("bias")).init());
  };
}

void add_norms(Kinds& kinds) {
  kinds["BatchNorm"] = [](const Case& it) {
    return forward(
        it, nn::BatchNormConfig(it.size("channels")).with_epsilon(it.get<double>("eps")).init());
  };
  kinds["LayerNorm"] = [](const Case& it) {
    const auto dims = it.get<std::vector<std::uint64_t>>("shape");
    const nn::LayerNormConfig config =
        dims.size() == 1 ? nn::LayerNormConfig(dims[0]) : nn::LayerNormConfig(Shape(dims));
    return forward(it, nn::LayerNormConfig(config)
                           .with_bias(it.get<bool>("bias"))
                           .with_epsilon(it.get<double>("eps"))
                           .init());
  };
  kinds["GroupNorm"] = [](const Case& it) {
    return forward(it, nn::GroupNormConfig(it.size("groups"), it.size("channels"))
                           .with_affine(it.get<bool>("affine"))
                           .with_epsilon(it.get<double>("eps"))
                           .init());
  };
  kinds["InstanceNorm"] = [](const Case& it) {
    return forward(it, nn::InstanceNormConfig(it.size("channels"))
                           .with_affine(it.get<bool>("affine"))
                           .with_epsilon(it.get<double>("eps"))
                           .init());
  };
  kinds["RmsNorm"] = [](const Case& it) {
    return forward(it,
                   nn::RmsNormConfig(it.size("size")).with_epsilon(it.get<double>("eps")).init());
  };
}

void add_pooling(Kinds& kinds) {
  kinds["MaxPool1d"] = [](const Case& it) {
    return forward(it,
                   pool<std::uint64_t, nn::MaxPool1dConfig>(it, padding_1d(it.config.at("padding")))
                       .with_dilation(it.size("dilation"))
                       .init());
  };
  kinds["MaxPool2d"] = [](const Case& it) {
    return forward(it, pool<Size2, nn::MaxPool2dConfig>(it, padding_2d(it.config.at("padding")))
                           .with_dilation(it.get<Size2>("dilation"))
                           .init());
  };
  kinds["AvgPool1d"] = [](const Case& it) {
    return forward(it,
                   pool<std::uint64_t, nn::AvgPool1dConfig>(it, padding_1d(it.config.at("padding")))
                       .with_count_include_pad(it.get<bool>("count_include_pad"))
                       .init());
  };
  kinds["AvgPool2d"] = [](const Case& it) {
    return forward(it, pool<Size2, nn::AvgPool2dConfig>(it, padding_2d(it.config.at("padding")))
                           .with_count_include_pad(it.get<bool>("count_include_pad"))
                           .init());
  };
  kinds["AdaptiveAvgPool1d"] = [](const Case& it) {
    return forward(it, nn::AdaptiveAvgPool1dConfig(it.size("size")).init());
  };
  kinds["AdaptiveAvgPool2d"] = [](const Case& it) {
    return forward(it, nn::AdaptiveAvgPool2dConfig(it.get<Size2>("size")).init());
  };
  kinds["AdaptiveMaxPool1d"] = [](const Case& it) {
    return forward(it, nn::AdaptiveMaxPool1d{it.size("size")});
  };
  kinds["AdaptiveMaxPool2d"] = [](const Case& it) {
    return forward(it, nn::AdaptiveMaxPool2d{it.get<Size2>("size")});
  };
}

}  // namespace

void add_layers(Kinds& kinds) {
  add_weights(kinds);
  add_norms(kinds);
  add_pooling(kinds);
  kinds["Unfold4d"] = [](const Case& it) {
    return forward(it, nn::Unfold4dConfig(it.get<Size2>("kernel"))
                           .with_stride(it.get<Size2>("stride"))
                           .with_dilation(it.get<Size2>("dilation"))
                           .with_padding(it.get<Size2>("padding"))
                           .init());
  };
  kinds["Interpolate1d"] = interpolate<nn::Interpolate1dConfig>;
  kinds["Interpolate2d"] = interpolate<nn::Interpolate2dConfig>;
}

}  // namespace andiron::layers_probe
