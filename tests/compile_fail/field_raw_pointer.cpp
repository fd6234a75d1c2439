// SPDX-License-Identifier: MIT OR Apache-2.0
// error: a raw pointer cannot be listed. Use std::unique_ptr
#include "andiron/apply.h"
#include "andiron/nn/linear.h"

struct Net {
  andiron::nn::Linear* layer;
  ANDIRON_MODULE(Net, layer)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
