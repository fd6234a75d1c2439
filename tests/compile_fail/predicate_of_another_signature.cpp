// SPDX-License-Identifier: MIT OR Apache-2.0
// error: Predicate
#include "andiron/stores.h"

void use(andiron::SafetensorsStore& store) {
  store.with_predicate([](int index) { return index > 0; });
}
