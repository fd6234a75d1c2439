// SPDX-License-Identifier: MIT OR Apache-2.0
// A program that computes with layers of an installed andiron.
#include <andiron/nn/conv.h>
#include <andiron/nn/functions.h>
#include <andiron/nn/linear.h>

#include <cstdio>

using namespace andiron;

int main() {
  const nn::Conv2d conv =
      nn::Conv2dConfig({1, 2}, {3, 3}).with_initializer(nn::Initializer::ones()).init();
  const nn::Linear linear = nn::LinearConfig(8, 1).with_initializer(nn::Initializer::ones()).init();
  const Tensor image = Tensor::from_values<float>({1, 1, 4, 4}, {1, 1, 1, 1, 1, 1, 1, 1,  //
                                                                 1, 1, 1, 1, 1, 1, 1, 1})
                           .value();
  const Tensor sum = linear.forward(nn::flatten(conv.forward(image))).value();
  std::printf("%g\n", static_cast<double>(sum.at<float>({0, 0}).value()));
  return sum.at<float>({0, 0}).value() == 81.0F ? 0 : 1;  // 8 elements of 9 + 1, and 1
}
