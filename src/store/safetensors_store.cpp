// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/safetensors_store_test.cpp
#include "andiron/safetensors_store.h"

#include "andiron/version.h"

namespace andiron {
inline namespace v1 {

detail::StoreSettings SafetensorsStore::defaults() {
  return {.metadata = {
              {"format", "safetensors"}, {"producer", "andiron"}, {"version", ANDIRON_VERSION}}};
}

}  // namespace v1
}  // namespace andiron
