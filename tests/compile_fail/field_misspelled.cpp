// SPDX-License-Identifier: MIT OR Apache-2.0
// error: did you mean 'weight'
#include "andiron/apply.h"

struct Net {
  andiron::Param weight;
  ANDIRON_MODULE(Net, wieght)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
