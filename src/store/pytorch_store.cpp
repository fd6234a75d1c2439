// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/pytorch_store_test.cpp
#include "andiron/pytorch_store.h"

namespace andiron::inline v1 {

detail::StoreSettings PytorchStore::defaults() {
  detail::StoreSettings settings;
  settings.from_adapter = PyTorchToBurnAdapter();
  settings.to_adapter = BurnToPyTorchAdapter();
  settings.skip_enum_variants = true;
  settings.map_indices_contiguous = true;
  return settings;
}

}  // namespace andiron::inline v1
