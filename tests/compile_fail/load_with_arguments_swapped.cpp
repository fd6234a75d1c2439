// SPDX-License-Identifier: MIT OR Apache-2.0
// error: no matching function for call to
#include "andiron/nn/linear.h"
#include "andiron/stores.h"

void use(andiron::nn::Linear& layer) {
  auto store = andiron::SafetensorsStore::from_file("model.safetensors");
  static_cast<void>(andiron::load_from(store, layer));
}
