// SPDX-License-Identifier: MIT OR Apache-2.0
// error: a const member cannot be listed
#include "andiron/apply.h"

struct Net {
  std::shared_ptr<const andiron::Param> weight;
  ANDIRON_MODULE(Net, weight)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
