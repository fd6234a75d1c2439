// SPDX-License-Identifier: MIT OR Apache-2.0
// error: a save changes the store
#include "andiron/nn/linear.h"
#include "andiron/stores.h"

void use(const andiron::nn::Linear& layer) {
  const auto store = andiron::SafetensorsStore::from_file("model.safetensors");
  static_cast<void>(andiron::save_into(layer, store));
}
