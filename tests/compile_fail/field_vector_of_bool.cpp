// SPDX-License-Identifier: MIT OR Apache-2.0
// error: numbers in a container are not saved
#include "andiron/apply.h"

struct Net {
  std::vector<bool> mask;
  ANDIRON_MODULE(Net, mask)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
