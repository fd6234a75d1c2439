// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/safetensors_store_test.cpp
#include "andiron/safetensors_store.h"

#include <utility>

#include "andiron/version.h"

namespace andiron {
inline namespace v1 {
namespace {

detail::StoreSettings defaults() {
  return {.metadata = {
              {"format", "safetensors"}, {"producer", "andiron"}, {"version", ANDIRON_VERSION}}};
}

}  // namespace

SafetensorsStore SafetensorsStore::from_file(std::string path) {
  return {Format::safetensors, std::move(path), defaults()};
}

SafetensorsStore SafetensorsStore::from_bytes(std::optional<Bytes> bytes) {
  return {Format::safetensors, std::move(bytes), defaults()};
}

SafetensorsStore SafetensorsStore::from_static(std::span<const std::byte> bytes) {
  SafetensorsStore store = from_bytes(Bytes::borrow(bytes));
  store.zero_copy(true);
  return store;
}

SafetensorsStore SafetensorsStore::from_static(std::span<const std::uint8_t> bytes) {
  return from_static(std::as_bytes(bytes));
}

}  // namespace v1
}  // namespace andiron
