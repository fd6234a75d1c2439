// SPDX-License-Identifier: MIT OR Apache-2.0
// error: this is not a module. Give the struct an ANDIRON_MODULE line
#include "andiron/apply.h"

struct Net {
  andiron::Param weight;
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
