// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/burnpack_store_test.cpp
#include "andiron/burnpack_store.h"

#include <utility>

#include "andiron/version.h"

namespace andiron {
inline namespace v1 {
namespace {

detail::StoreSettings defaults() {
  return {
      .auto_extension = true,
      .metadata = {{"format", "burnpack"}, {"producer", "andiron"}, {"version", ANDIRON_VERSION}}};
}

}  // namespace

BurnpackStore BurnpackStore::from_file(std::string path) {
  return {Format::burnpack, std::move(path), defaults()};
}

BurnpackStore BurnpackStore::from_bytes(std::optional<Bytes> bytes) {
  return {Format::burnpack, std::move(bytes), defaults()};
}

BurnpackStore BurnpackStore::from_static(std::span<const std::byte> bytes) {
  BurnpackStore store = from_bytes(Bytes::borrow(bytes));
  store.zero_copy(true);
  return store;
}

BurnpackStore BurnpackStore::from_static(std::span<const std::uint8_t> bytes) {
  return from_static(std::as_bytes(bytes));
}

BurnpackStore& BurnpackStore::for_burn(BurnpackGeneration release) {
  detail::StoreSettings& settings = change();
  settings.burnpack = release;
  settings.metadata.erase("burn");
  if (release != BurnpackGeneration::burn_0_22) settings.metadata.emplace("burn", name_of(release));
  return *this;
}

}  // namespace v1
}  // namespace andiron
