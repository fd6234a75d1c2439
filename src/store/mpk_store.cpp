// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/mpk_store_test.cpp
#include "andiron/mpk_store.h"

#include <utility>

namespace andiron {
inline namespace v1 {
namespace {

detail::StoreSettings defaults() { return {.auto_extension = true}; }

}  // namespace

MpkStore MpkStore::from_file(std::string path) {
  return {Format::mpk, std::move(path), defaults()};
}

MpkStore MpkStore::from_bytes(std::optional<Bytes> bytes) {
  return {Format::mpk, std::move(bytes), defaults()};
}

MpkStore MpkStore::from_static(std::span<const std::byte> bytes) {
  MpkStore store = from_bytes(Bytes::borrow(bytes));
  store.zero_copy(true);
  return store;
}

MpkStore MpkStore::from_static(std::span<const std::uint8_t> bytes) {
  return from_static(std::as_bytes(bytes));
}

}  // namespace v1
}  // namespace andiron
