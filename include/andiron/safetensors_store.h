// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules in SafeTensors files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "andiron/bytes.h"
#include "andiron/store.h"

namespace andiron {
inline namespace v1 {

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
  /// A file, a shard index or a folder to read (see open()); a file to write.
  static SafetensorsStore from_file(std::string path);
  /// A file in memory; nothing to be saved into.
  static SafetensorsStore from_bytes(std::optional<Bytes> bytes = std::nullopt);
  /// A file that lies in memory for as long as the program runs, such as an array compiled into it.
  /// Parameters borrow from it.
  static SafetensorsStore from_static(std::span<const std::byte> bytes);
  static SafetensorsStore from_static(std::span<const std::uint8_t> bytes);

  /// An empty store in memory.
  SafetensorsStore() : SafetensorsStore(from_bytes()) {}

 private:
  using StoreBuilder::StoreBuilder;
};

}  // namespace v1
}  // namespace andiron
