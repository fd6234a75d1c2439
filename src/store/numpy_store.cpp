// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/numpy_store_test.cpp
#include "andiron/stores.h"

namespace andiron::inline v1 {

detail::StoreSettings NumpyStore::defaults() {
  detail::StoreSettings settings;
  settings.auto_extension = true;
  return settings;
}

}  // namespace andiron::inline v1
