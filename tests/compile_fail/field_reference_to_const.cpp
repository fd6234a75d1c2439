// SPDX-License-Identifier: MIT OR Apache-2.0
// error: a const member cannot be listed
#include "andiron/apply.h"
#include "andiron/nn/linear.h"

struct Net {
  const andiron::nn::Linear& layer;
  ANDIRON_MODULE(Net, layer)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
