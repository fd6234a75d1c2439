// SPDX-License-Identifier: MIT OR Apache-2.0
// The stores, one for each format. store_builder.h has the settings they share.
//
//   load_from(model, SafetensorsStore::from_file("model.safetensors")).value();
#pragma once

#include "andiron/detail/builder.h"
#include "andiron/store_builder.h"

namespace andiron::inline v1 {

/// Loads and saves SafeTensors files, single or sharded.
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
/// A save writes the metadata format, producer, version and the entries of metadata(). The format
/// has no parameter ids: a load keeps the module's, unless the file was saved with
/// write_param_ids().
class SafetensorsStore : public StoreBuilder<SafetensorsStore> {
 public:
  /// An empty store in memory.
  SafetensorsStore() : SafetensorsStore(from_bytes()) {}

  /// Saves the ids of parameters in the metadata. A load then restores them.
  ANDIRON_BUILDER(
      SafetensorsStore, write_param_ids, (bool write = true),
      auto& settings = detail::settings_of<SafetensorsSettings>(change().write.settings);
      settings.param_ids = write)

 private:
  friend class StoreBuilder<SafetensorsStore>;
  using StoreBuilder::StoreBuilder;
  static constexpr Format format = Format::safetensors;
  static detail::StoreSettings defaults();
};

/// Loads PyTorch files: .pt, .pth, .bin and .ckpt of every release, TorchScript archives, shards
/// with an index, folders of torch.distributed.checkpoint, and the weights of torch.export. Nothing
/// in a file is executed. Pickled models and checkpoints with custom classes work too.
///
///   auto store = PytorchStore::from_file("checkpoint.pt").with_top_level_key("state_dict");
///   Result<ApplyResult> result = load_from(model, store);
///
/// Defaults: PyTorchToBurnAdapter (transposes Linear weights; the weight and bias of norms become
/// gamma and beta), variant names are not part of paths, index gaps are closed. If the model is
/// under a key such as "state_dict", call with_top_level_key(). Without it, a note names the key.
///
/// A save fails with Unsupported. Write SafeTensors with BurnToPyTorchAdapter instead; PyTorch
/// reads it.
class PytorchStore : public StoreBuilder<PytorchStore> {
 public:
  /// An empty store in memory.
  PytorchStore() : PytorchStore(from_bytes()) {}

  /// Takes NumPy arrays next to PyTorch's tensors too (PytorchSettings).
  ANDIRON_BUILDER(
      PytorchStore, numpy_arrays, (bool take = true),
      auto& settings = detail::settings_of<PytorchSettings>(change_source().open.settings);
      settings.numpy_arrays = take)

 private:
  friend class StoreBuilder<PytorchStore>;
  using StoreBuilder::StoreBuilder;
  static constexpr Format format = Format::pytorch;
  static detail::StoreSettings defaults();
};

/// Loads and saves Burnpack files, Burn's native format. Loads the files of every release. Also
/// loads the .mpk records of older releases, and .bin records, whose tensors have no names: they
/// are taken in the order of the module's fields.
///
/// Defaults: a path without an extension gets `.bpk`, variant names are part of paths, index gaps
/// stay, no adapter, existing files are not replaced. Parameter ids are saved and restored. A save
/// writes the metadata format, producer, version and the entries of metadata().
class BurnpackStore : public StoreBuilder<BurnpackStore> {
 public:
  /// The release of Burn that will read the file. Default: the newest. For an older one, the
  /// metadata entry "burn" names it.
  BurnpackStore& for_burn(BurnpackGeneration release) &;
  BurnpackStore for_burn(BurnpackGeneration release) && { return std::move(for_burn(release)); }

  /// An empty store in memory.
  BurnpackStore() : BurnpackStore(from_bytes()) {}

 private:
  friend class StoreBuilder<BurnpackStore>;
  using StoreBuilder::StoreBuilder;
  static constexpr Format format = Format::burnpack;
  static detail::StoreSettings defaults();
};

/// Loads and saves named records, the files of Burn's recorders up to 0.21. Reads .mpk, .mpk.gz,
/// .json and .json.gz. Writes .mpk, or .mpk.gz if the path ends so. Burn 0.21 loads the result into
/// the same module with NamedMpkFileRecorder or NamedMpkGzFileRecorder of the same precision.
///
/// Defaults: a path without an extension gets `.mpk`, full precision, variant names are part of
/// paths, index gaps stay, no adapter, existing files are not replaced. Parameter ids are saved and
/// restored.
///
/// A save leaves out fields that contain no tensor; Burn reads those as None or as constants. One
/// case is lost: an empty list looks the same as no field.
class MpkStore : public StoreBuilder<MpkStore> {
 public:
  /// An empty store in memory.
  MpkStore() : MpkStore(from_bytes()) {}

  /// The dtypes that a save converts floats and integers to. An integer that does not fit is an
  /// error.
  ANDIRON_BUILDER(MpkStore, precision, (RecordPrecision precision),
                  detail::settings_of<MpkSettings>(change().write.settings).precision = precision)

 private:
  friend class StoreBuilder<MpkStore>;
  using StoreBuilder::StoreBuilder;
  static constexpr Format format = Format::mpk;
  static detail::StoreSettings defaults();
};

/// Loads and saves NumPy archives (.npz), which np.load reads, and single arrays (.npy).
///
/// Defaults: a path without an extension gets `.npz`, variant names are part of paths, index gaps
/// stay, no adapter, existing files are not replaced.
///
/// The tensor of an .npy file has an empty name. Name it to load it: with_key_remapping("^$",
/// "weight"). Dtypes that NumPy lacks (bf16, f8) fail with UnsupportedDType;
/// with_to_adapter(FloatCastAdapter::to(DType::f32)) converts them. The format has no metadata and
/// no parameter ids: a save leaves them out, with a note, and a load keeps the module's ids. Arrays
/// that cannot be tensors are skipped (Archive::skipped). Checksums of uncompressed arrays are not
/// checked.
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
