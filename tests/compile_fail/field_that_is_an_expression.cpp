// SPDX-License-Identifier: MIT OR Apache-2.0
// error: ANDIRON_MODULE takes names of members
#include "andiron/apply.h"

struct Net {
  andiron::Param weights[2];
  ANDIRON_MODULE(Net, weights[0])
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
