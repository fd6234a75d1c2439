// SPDX-License-Identifier: MIT OR Apache-2.0
// error: this module is const. Nothing can be loaded into it
#include "andiron/nn/linear.h"
#include "andiron/stores.h"

void use(const andiron::nn::Linear& layer) {
  auto store = andiron::SafetensorsStore::from_file("model.safetensors");
  static_cast<void>(andiron::load_from(layer, store));
}
