// SPDX-License-Identifier: MIT OR Apache-2.0
// The stores, one for each format. store.h has the settings that they share.
#pragma once

#include "andiron/detail/store_temporaries.h"
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
class SafetensorsStore : public detail::StoreTemporaries<SafetensorsStore> {
 public:
  /// An empty store in memory.
  SafetensorsStore() : SafetensorsStore(from_bytes()) {}

  /// Keeps the ids of parameters in the metadata (SafetensorsSettings::param_ids). A load then
  /// gives them back.
  SafetensorsStore& write_param_ids(bool write = true) & {
    auto& settings = detail::settings_of<SafetensorsSettings>(change().write.settings);
    return settings.param_ids = write, *this;
  }
  // For a temporary, by value.
  SafetensorsStore write_param_ids(bool write = true) && {
    return std::move(write_param_ids(write));
  }

 private:
  friend class StoreBuilder<SafetensorsStore>;
  using StoreTemporaries::StoreTemporaries;
  static constexpr Format format = Format::safetensors;
  static detail::StoreSettings defaults();
};

/// Loads modules from PyTorch files (store.h has the builders): .pt, .pth, .bin and .ckpt of every
/// release, TorchScript archives, shards with an index, folders of torch.distributed.checkpoint and
/// the weights of torch.export. Nothing in a file is run; whole pickled models and checkpoints with
/// classes of their own give up their tensors all the same.
///
///   auto store = PytorchStore::from_file("checkpoint.pt").with_top_level_key("state_dict");
///   Result<ApplyResult> result = load_from(model, store);
///
/// Defaults: PyTorchToBurnAdapter (Linear weights are transposed, a norm's weight and bias become
/// gamma and beta), variant names are no part of paths, index gaps are closed. A model that lies
/// below a key, as "state_dict", needs with_top_level_key(); without one a note names the key.
///
/// Saving is Unsupported: write SafeTensors with BurnToPyTorchAdapter, which PyTorch reads.
class PytorchStore : public detail::StoreTemporaries<PytorchStore> {
 public:
  /// An empty store in memory.
  PytorchStore() : PytorchStore(from_bytes()) {}

  /// NumPy's arrays beside PyTorch's tensors are tensors as well (PytorchSettings).
  PytorchStore& numpy_arrays(bool take = true) & {
    auto& settings = detail::settings_of<PytorchSettings>(change_source().open.settings);
    return settings.numpy_arrays = take, *this;
  }
  // For a temporary, by value.
  PytorchStore numpy_arrays(bool take = true) && { return std::move(numpy_arrays(take)); }

 private:
  friend class StoreBuilder<PytorchStore>;
  using StoreTemporaries::StoreTemporaries;
  static constexpr Format format = Format::pytorch;
  static detail::StoreSettings defaults();
};

/// Loads and saves modules in Burnpack files, the native format of Burn (store.h has the builders).
/// Reads the files of every release; also .mpk records of older ones, and .bin records, whose
/// tensors have no names, in the order of the module's fields.
///
/// Defaults: a path without an extension gets `.bpk`, variant names are part of paths, index gaps
/// stay, no adapter, existing files are not replaced. Parameter ids are written, and taken over by
/// a load where the file has them. Metadata written: format, producer, version, and what metadata()
/// adds.
class BurnpackStore : public detail::StoreTemporaries<BurnpackStore> {
 public:
  /// The release of Burn that is to read what is saved; the newest unless set. For another one the
  /// metadata says so, under "burn".
  BurnpackStore& for_burn(BurnpackGeneration release) &;
  // For a temporary, by value.
  BurnpackStore for_burn(BurnpackGeneration release) && { return std::move(for_burn(release)); }

  /// An empty store in memory.
  BurnpackStore() : BurnpackStore(from_bytes()) {}

 private:
  friend class StoreBuilder<BurnpackStore>;
  using StoreTemporaries::StoreTemporaries;
  static constexpr Format format = Format::burnpack;
  static detail::StoreSettings defaults();
};

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
class MpkStore : public detail::StoreTemporaries<MpkStore> {
 public:
  /// An empty store in memory.
  MpkStore() : MpkStore(from_bytes()) {}

  /// The number types that a save converts floats and integers to. An integer that does not fit is
  /// an error.
  MpkStore& precision(RecordPrecision precision) & {
    return detail::settings_of<MpkSettings>(change().write.settings).precision = precision, *this;
  }
  // For a temporary, by value.
  MpkStore precision(RecordPrecision value) && { return std::move(precision(value)); }

 private:
  friend class StoreBuilder<MpkStore>;
  using StoreTemporaries::StoreTemporaries;
  static constexpr Format format = Format::mpk;
  static detail::StoreSettings defaults();
};

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
class NumpyStore : public detail::StoreTemporaries<NumpyStore> {
 public:
  /// An empty store in memory.
  NumpyStore() : NumpyStore(from_bytes()) {}

 private:
  friend class StoreBuilder<NumpyStore>;
  using StoreTemporaries::StoreTemporaries;
  static constexpr Format format = Format::numpy;
  static detail::StoreSettings defaults();
};

}  // namespace andiron::inline v1
