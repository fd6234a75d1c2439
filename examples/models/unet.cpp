// SPDX-License-Identifier: MIT OR Apache-2.0
// U-Net, "U-Net: Convolutional Networks for Biomedical Image Segmentation" (Ronneberger et al.,
// 2015), with group norms and the names of a popular PyTorch version: inc, down1, up1, outc.
// usage: unet FOLDER, for example data/unet. make_weights.py makes such folders.
#include <andiron/andiron.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "compare_with_torch.h"

using namespace andiron;
using namespace andiron::nn;

namespace {

struct UNetConfig {
  std::uint64_t channels = 3;
  std::uint64_t classes = 2;
  std::uint64_t width = 64;  // channels at the top
  std::uint64_t depth = 4;
  std::uint64_t groups = 8;
  ANDIRON_CONFIG(UNetConfig, channels, classes, width, depth, groups)
};

struct DoubleConv {
  std::tuple<Conv2d, GroupNorm, Relu, Conv2d, GroupNorm, Relu> double_conv;
  ANDIRON_MODULE(DoubleConv, double_conv)

  static DoubleConv init(std::uint64_t in, std::uint64_t out, std::uint64_t groups) {
    const auto conv = [&](std::uint64_t channels) {
      return Conv2dConfig({channels, out}, {3, 3})
          .with_padding(PaddingConfig2d::same())
          .with_bias(false)
          .init();
    };
    const GroupNormConfig norm(groups, out);
    return {{conv(in), norm.init(), Relu(), conv(out), norm.init(), Relu()}};
  }

  Result<Tensor> forward(const Result<Tensor>& x) const { return forward_through(double_conv, x); }
};

struct Down {
  DoubleConv conv;
  MaxPool2d pool = MaxPool2dConfig({2, 2}).init();
  ANDIRON_MODULE(Down, conv)

  Result<Tensor> forward(const Result<Tensor>& x) const { return conv.forward(pool.forward(x)); }
};

struct Up {
  ConvTranspose2d up;
  DoubleConv conv;
  ANDIRON_MODULE(Up, up, conv)

  static Up init(std::uint64_t in, std::uint64_t out, std::uint64_t groups) {
    return {.up = ConvTranspose2dConfig({in, out}, {2, 2}).with_stride({2, 2}).init(),
            .conv = DoubleConv::init(in, out, groups)};
  }

  // `skip` is what was there on the way down.
  Result<Tensor> forward(const Result<Tensor>& x, const Tensor& skip) const {
    Result<Tensor> larger = up.forward(x);
    for (const std::size_t dim : {2, 3}) {  // what was odd has become one less
      if (!larger) return larger;
      const std::uint64_t lost = skip.shape()[dim] - larger->shape()[dim];
      larger = pad(larger, static_cast<std::int64_t>(dim), lost / 2, lost - lost / 2);
    }
    return conv.forward(concat({skip, larger}, 1));
  }
};

struct UNet {
  using Config = UNetConfig;

  DoubleConv inc;
  std::vector<Down> down;
  std::vector<Up> up;
  Conv2d outc;
  ANDIRON_MODULE(UNet, inc, down, up, outc)

  static UNet init(const UNetConfig& config) {
    UNet model = {.inc = DoubleConv::init(config.channels, config.width, config.groups),
                  .down = {},
                  .up = {},
                  .outc = Conv2dConfig({config.width, config.classes}, {1, 1}).init()};
    std::uint64_t width = config.width;
    for (std::uint64_t i = 0; i < config.depth; ++i, width *= 2) {
      model.down.push_back({DoubleConv::init(width, 2 * width, config.groups)});
    }
    for (std::uint64_t i = 0; i < config.depth; ++i, width /= 2) {
      model.up.push_back(Up::init(width, width / 2, config.groups));
    }
    return model;
  }

  /// Takes images, [batch, channels, height, width], and returns scores for each pixel, [batch,
  /// classes, height, width].
  Result<Tensor> forward(const Result<Tensor>& images) const {
    Result<Tensor> x = inc.forward(images);
    std::vector<Tensor> skips;
    for (const Down& level : down) {
      if (!x) return x;
      skips.push_back(*x);
      x = level.forward(x);
    }
    for (const Up& level : up) {
      x = level.forward(x, skips.back());
      skips.pop_back();
    }
    return outc.forward(x);
  }
};

}  // namespace

int main(int argc, char** argv) {
  return compare_with_torch<UNet>("unet", argc, argv, [](PytorchStore& weights) {
    weights
        .with_key_remapping(R"(^(down|up)(\d)\.)", "$1.$2.")  // down1 is down.1, and then down.0
        .with_key_remapping(R"(\.maxpool_conv\.1\.)", ".conv.")
        .with_key_remapping(R"(^outc\.conv\.)", "outc.")
        .map_indices_contiguous_except("double_conv");  // its tuple has the activations too
  });
}
