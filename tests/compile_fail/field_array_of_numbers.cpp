// SPDX-License-Identifier: MIT OR Apache-2.0
// error: wrap it in andiron::Constant
#include "andiron/apply.h"

struct Net {
  andiron::Param weight;
  std::array<int, 2> stride;
  ANDIRON_MODULE(Net, weight, stride)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
