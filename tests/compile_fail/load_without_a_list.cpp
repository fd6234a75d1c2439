// SPDX-License-Identifier: MIT OR Apache-2.0
// error: this is not a module. Give the struct an ANDIRON_MODULE line
#include "andiron/stores.h"

struct Net {
  andiron::Param weight;
};

void use(Net& net) {
  auto store = andiron::SafetensorsStore::from_file("model.safetensors");
  static_cast<void>(andiron::load_from(net, store));
}
