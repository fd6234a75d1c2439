// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/safetensors_store_test.cpp
#include "andiron/stores.h"

#include "andiron/version.h"

namespace andiron::inline v1 {

detail::StoreSettings SafetensorsStore::defaults() {
  detail::StoreSettings settings;
  settings.write.metadata = {
      {"format", "safetensors"}, {"producer", "andiron"}, {"version", ANDIRON_VERSION}};
  return settings;
}

}  // namespace andiron::inline v1
