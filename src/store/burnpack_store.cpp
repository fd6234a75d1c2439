// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/burnpack_store_test.cpp
#include "andiron/burnpack_store.h"

#include "andiron/version.h"

namespace andiron::inline v1 {

detail::StoreSettings BurnpackStore::defaults() {
  return {
      .auto_extension = true,
      .metadata = {{"format", "burnpack"}, {"producer", "andiron"}, {"version", ANDIRON_VERSION}}};
}

BurnpackStore& BurnpackStore::for_burn(BurnpackGeneration release) {
  detail::StoreSettings& settings = change();
  settings.burnpack = release;
  settings.metadata.erase("burn");
  if (release != BurnpackGeneration::burn_0_22) settings.metadata.emplace("burn", name_of(release));
  return *this;
}

}  // namespace andiron::inline v1
