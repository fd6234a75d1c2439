// SPDX-License-Identifier: MIT OR Apache-2.0
// ResNet-18, "Deep Residual Learning for Image Recognition" (He et al., 2015), with the names of
// torchvision, whose files it loads.
// usage: resnet18 FOLDER, for example data/resnet18. make_weights.py makes such folders.
#include <andiron/andiron.h>

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>

#include "compare_with_torch.h"

using namespace andiron;
using namespace andiron::nn;

namespace {

struct ResNetConfig {
  std::uint64_t classes = 1000;
  std::uint64_t width = 64;  // channels of the first layers
  ANDIRON_CONFIG(ResNetConfig, classes, width)
};

Conv2d conv(std::uint64_t in, std::uint64_t out, std::uint64_t kernel, std::uint64_t stride) {
  return Conv2dConfig({in, out}, {kernel, kernel})
      .with_stride({stride, stride})
      .with_padding(PaddingConfig2d::explicit_(kernel / 2, kernel / 2))
      .with_bias(false)
      .init();
}

// Two convolutions, and a shortcut around them.
struct BasicBlock {
  Conv2d conv1;
  BatchNorm bn1;
  Conv2d conv2;
  BatchNorm bn2;
  std::optional<std::tuple<Conv2d, BatchNorm>> downsample;  // where the shape changes
  ANDIRON_MODULE(BasicBlock, conv1, bn1, conv2, bn2, downsample)

  static BasicBlock init(std::uint64_t in, std::uint64_t out, std::uint64_t stride) {
    BasicBlock block = {.conv1 = conv(in, out, 3, stride),
                        .bn1 = BatchNormConfig(out).init(),
                        .conv2 = conv(out, out, 3, 1),
                        .bn2 = BatchNormConfig(out).init(),
                        .downsample = {}};
    if (in != out) block.downsample = {conv(in, out, 1, stride), BatchNormConfig(out).init()};
    return block;
  }

  Result<Tensor> forward(const Result<Tensor>& x) const {
    const Result<Tensor> inner = relu(bn1.forward(conv1.forward(x)));
    const Result<Tensor> y = bn2.forward(conv2.forward(inner));
    if (!downsample) return relu(add(y, x));
    return relu(add(y, forward_through(*downsample, x)));
  }
};

using Stage = std::array<BasicBlock, 2>;

Stage stage(std::uint64_t in, std::uint64_t out, std::uint64_t stride) {
  return {BasicBlock::init(in, out, stride), BasicBlock::init(out, out, 1)};
}

struct ResNet18 {
  using Config = ResNetConfig;

  Conv2d conv1;
  BatchNorm bn1;
  MaxPool2d maxpool;
  Stage layer1;
  Stage layer2;
  Stage layer3;
  Stage layer4;
  AdaptiveAvgPool2d avgpool;
  Linear fc;
  ANDIRON_MODULE(ResNet18, conv1, bn1, maxpool, layer1, layer2, layer3, layer4, avgpool, fc)

  static ResNet18 init(const ResNetConfig& config) {
    const std::uint64_t width = config.width;
    return {.conv1 = conv(3, width, 7, 2),
            .bn1 = BatchNormConfig(width).init(),
            .maxpool = MaxPool2dConfig({3, 3})
                           .with_stride({2, 2})
                           .with_padding(PaddingConfig2d::explicit_(1, 1))
                           .init(),
            .layer1 = stage(width, width, 1),
            .layer2 = stage(width, 2 * width, 2),
            .layer3 = stage(2 * width, 4 * width, 2),
            .layer4 = stage(4 * width, 8 * width, 2),
            .avgpool = AdaptiveAvgPool2dConfig({1, 1}).init(),
            .fc = LinearConfig(8 * width, config.classes).init()};
  }

  /// Takes images, [batch, 3, height, width], and returns scores, [batch, classes].
  Result<Tensor> forward(const Result<Tensor>& images) const {
    Result<Tensor> x = maxpool.forward(relu(bn1.forward(conv1.forward(images))));
    for (const Stage* layer : {&layer1, &layer2, &layer3, &layer4}) x = forward_through(*layer, x);
    return fc.forward(flatten(avgpool.forward(x)));
  }
};

}  // namespace

int main(int argc, char** argv) { return compare_with_torch<ResNet18>("resnet18", argc, argv); }
