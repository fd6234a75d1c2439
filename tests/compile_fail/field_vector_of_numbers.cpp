// SPDX-License-Identifier: MIT OR Apache-2.0
// error: numbers in a container are not saved. Use a Tensor
#include "andiron/apply.h"

struct Net {
  std::vector<float> weights;
  ANDIRON_MODULE(Net, weights)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
