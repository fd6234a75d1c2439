// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules in NumPy's files.
#pragma once

#include "andiron/store.h"

namespace andiron::inline v1 {

/// Loads and saves modules in NumPy's archives (.npz), which np.load reads, and single arrays in
/// .npy (store.h has the builders). A lone .npy holds a tensor with the empty name.
///
/// Defaults: a path without an extension gets `.npz`, variant names are part of paths, index gaps
/// stay, no adapter, existing files are not replaced. The format has no place for metadata and
/// parameter ids: a save leaves them out and says so, a load leaves the module's ids alone. Types
/// that NumPy lacks (bf16, f8) are an error: with_to_adapter(FloatCastAdapter::to(DType::f32))
/// converts them. Load a lone .npy with a rule that names it: with_key_remapping("^$", "weight").
/// Arrays that no tensor holds are skipped (Archive::skipped); stored arrays are read without
/// comparing checksums.
class NumpyStore : public StoreBuilder<NumpyStore> {
 public:
  /// An empty store in memory.
  NumpyStore() : NumpyStore(from_bytes()) {}

 private:
  friend class StoreBuilder<NumpyStore>;
  using StoreBuilder::StoreBuilder;
  static constexpr Format format = Format::numpy;
  static detail::StoreSettings defaults();
};

}  // namespace andiron::inline v1
