// SPDX-License-Identifier: MIT OR Apache-2.0
// error: this type cannot be listed
#include <memory>

#include "andiron/apply.h"
#include "andiron/nn/linear.h"

struct Net {
  std::unique_ptr<andiron::nn::Linear[]> layers;
  ANDIRON_MODULE(Net, layers)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
