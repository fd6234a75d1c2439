// SPDX-License-Identifier: MIT OR Apache-2.0
// A convolutional network that reads handwritten digits. The weights in data/mnist_cnn are f16;
// layers widen them.
// usage: mnist_cnn FOLDER, for example data/mnist_cnn. make_weights.py makes such folders.
#include <andiron/andiron.h>

#include <cstdint>

#include "compare_with_torch.h"

using namespace andiron;
using namespace andiron::nn;

namespace {

struct MnistConfig {
  std::uint64_t classes = 10;
  ANDIRON_CONFIG(MnistConfig, classes)
};

struct MnistCnn {
  using Config = MnistConfig;

  Conv2d conv1;
  Conv2d conv2;
  Conv2d conv3;
  BatchNorm norm1;
  Linear fc1;
  Linear fc2;
  BatchNorm norm2;
  ANDIRON_MODULE(MnistCnn, conv1, conv2, conv3, norm1, fc1, fc2, norm2)

  static MnistCnn init(const MnistConfig& config) {
    return {.conv1 = Conv2dConfig({1, 8}, {3, 3}).init(),
            .conv2 = Conv2dConfig({8, 16}, {3, 3}).init(),
            .conv3 = Conv2dConfig({16, 24}, {3, 3}).init(),
            .norm1 = BatchNormConfig(24).init(),
            .fc1 = LinearConfig(24 * 22 * 22, 32).init(),
            .fc2 = LinearConfig(32, config.classes).init(),
            .norm2 = BatchNormConfig(config.classes).init()};
  }

  /// Takes images, [batch, 1, 28, 28], and returns logarithms of probabilities, [batch, classes].
  Result<Tensor> forward(const Result<Tensor>& images) const {
    Result<Tensor> x = relu(conv1.forward(images));
    x = relu(conv2.forward(x));
    x = relu(conv3.forward(x));
    x = flatten(norm1.forward(x));
    x = relu(fc1.forward(x));
    x = norm2.forward(fc2.forward(x));
    return log_softmax(x);
  }
};

}  // namespace

int main(int argc, char** argv) { return compare_with_torch<MnistCnn>("mnist_cnn", argc, argv); }
