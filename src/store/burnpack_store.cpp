// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/burnpack_store_test.cpp
#include "andiron/stores.h"

#include "andiron/version.h"

namespace andiron::inline v1 {

detail::StoreSettings BurnpackStore::defaults() {
  detail::StoreSettings settings;
  settings.auto_extension = true;
  settings.write.metadata = {
      {"format", "burnpack"}, {"producer", "andiron"}, {"version", ANDIRON_VERSION}};
  return settings;
}

BurnpackStore& BurnpackStore::for_burn(BurnpackGeneration release) & {
  WriteOptions& options = change().write;
  detail::settings_of<BurnpackSettings>(options.settings).release = release;
  options.metadata.erase("burn");
  if (release != BurnpackGeneration::burn_0_22) options.metadata.emplace("burn", name_of(release));
  return *this;
}

}  // namespace andiron::inline v1
