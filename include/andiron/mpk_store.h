// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules in the records of Burn's older releases.
#pragma once

#include "andiron/store.h"

namespace andiron::inline v1 {

/// Loads and saves modules in named records, as Burn's file recorders wrote up to 0.21 (store.h has
/// the builders). Reads .mpk, .mpk.gz, .json and .json.gz; writes .mpk, and .mpk.gz to a path that
/// ends so. Burn 0.21 loads what is saved here into the same module with NamedMpkFileRecorder or
/// NamedMpkGzFileRecorder of the same precision.
///
/// Defaults: a path without an extension gets `.mpk`, full precision, variant names are part of
/// paths, index gaps stay, no adapter, existing files are not replaced. Parameter ids are written,
/// and taken over by a load.
///
/// A record tells everything by its structure: fields of a module that hold no tensor are left out,
/// which Burn takes for none or for constants. Only an empty list that Burn's module has cannot be
/// told from nothing.
class MpkStore : public StoreBuilder<MpkStore> {
 public:
  /// An empty store in memory.
  MpkStore() : MpkStore(from_bytes()) {}

  /// The number types that a save converts floats and integers to. An integer that does not fit is
  /// an error.
  MpkStore& precision(RecordPrecision precision) {
    return detail::settings_of<MpkSettings>(change().write.settings).precision = precision, *this;
  }

 private:
  friend class StoreBuilder<MpkStore>;
  using StoreBuilder::StoreBuilder;
  static constexpr Format format = Format::mpk;
  static detail::StoreSettings defaults();
};

}  // namespace andiron::inline v1
