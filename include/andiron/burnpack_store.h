// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules in Burnpack files.
#pragma once

#include "andiron/store.h"

namespace andiron::inline v1 {

/// Loads and saves modules in Burnpack files, the native format of Burn (store.h has the builders).
/// Reads the files of every release; also .mpk records of older ones, and .bin records, whose
/// tensors have no names, in the order of the module's fields.
///
/// Defaults: a path without an extension gets `.bpk`, variant names are part of paths, index gaps
/// stay, no adapter, existing files are not replaced. Parameter ids are written, and taken over by
/// a load where the file has them. Metadata written: format, producer, version, and what metadata()
/// adds.
class BurnpackStore : public StoreBuilder<BurnpackStore> {
 public:
  /// The release of Burn that is to read what is saved; the newest unless set. For another one the
  /// metadata says so, under "burn".
  BurnpackStore& for_burn(BurnpackGeneration release);

  /// An empty store in memory.
  BurnpackStore() : BurnpackStore(from_bytes()) {}

 private:
  friend class StoreBuilder<BurnpackStore>;
  using StoreBuilder::StoreBuilder;
  static constexpr Format format = Format::burnpack;
  static detail::StoreSettings defaults();
};

}  // namespace andiron::inline v1
