// SPDX-License-Identifier: MIT OR Apache-2.0
// error: this is not a module. Give the struct an ANDIRON_MODULE line
#include "andiron/apply.h"

struct Net {
  andiron::Param weight;
};

void use(Net& net, const andiron::Archive& archive) {
  static_cast<void>(andiron::choose_variants(net, archive));
}
