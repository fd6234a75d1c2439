// SPDX-License-Identifier: MIT OR Apache-2.0
// error: nodiscard
// flags: -Werror=unused-result
#include "andiron/nn/linear.h"
#include "andiron/stores.h"

void use(andiron::nn::Linear& layer) {
  auto store = andiron::SafetensorsStore::from_file("model.safetensors");
  andiron::load_from(layer, store);
}
