// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules in SafeTensors files.
#pragma once

#include "andiron/store.h"

namespace andiron::inline v1 {

/// Loads and saves modules in SafeTensors files, single or sharded (store.h has the builders).
///
/// Defaults: variant names are part of paths, index gaps stay, no adapter, existing files are not
/// replaced. For files that PyTorch wrote or will read:
///
///   SafetensorsStore::from_file("model.safetensors")
///       .with_from_adapter(PyTorchToBurnAdapter())     // transposes Linear weights, renames norms
///       .with_to_adapter(BurnToPyTorchAdapter())
///       .skip_enum_variants(true)
///       .map_indices_contiguous(true)
///
/// The format has no place for parameter ids: a load leaves the module's as they are, unless the
/// file was saved with write_param_ids(). Metadata
/// written: format, producer, version, and what metadata() adds.
class SafetensorsStore : public StoreBuilder<SafetensorsStore> {
 public:
  /// An empty store in memory.
  SafetensorsStore() : SafetensorsStore(from_bytes()) {}

  /// Keeps the ids of parameters in the metadata (SafetensorsSettings::param_ids). A load then
  /// gives them back.
  SafetensorsStore& write_param_ids(bool write = true) {
    auto& settings = detail::settings_of<SafetensorsSettings>(change().write.settings);
    return settings.param_ids = write, *this;
  }

 private:
  friend class StoreBuilder<SafetensorsStore>;
  using StoreBuilder::StoreBuilder;
  static constexpr Format format = Format::safetensors;
  static detail::StoreSettings defaults();
};

}  // namespace andiron::inline v1
