// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/pytorch_store_test.cpp
#include "andiron/stores.h"

namespace andiron::inline v1 {

detail::StoreSettings PytorchStore::defaults() {
  detail::StoreSettings settings;
  settings.names.close_gaps = true;
  settings.apply.adapter = PyTorchToBurnAdapter();
  settings.apply.skip_enum_variants = true;
  settings.collect.adapter = BurnToPyTorchAdapter();
  settings.collect.skip_enum_variants = true;
  return settings;
}

}  // namespace andiron::inline v1
