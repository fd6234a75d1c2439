// SPDX-License-Identifier: MIT OR Apache-2.0
// error: a model without a heap consists of TensorView
#include <vector>

#include "andiron/bind.h"

struct Net {
  std::vector<andiron::TensorView<float, 4>> layers;
  ANDIRON_MODULE(Net, layers)
};

bool use(Net& net, const andiron::BurnpackView& file) { return andiron::bind(net, file).ok(); }
