// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules in PyTorch files.
#pragma once

#include "andiron/store.h"

namespace andiron::inline v1 {

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
class PytorchStore : public StoreBuilder<PytorchStore> {
 public:
  /// An empty store in memory.
  PytorchStore() : PytorchStore(from_bytes()) {}

  /// NumPy's arrays beside PyTorch's tensors are tensors as well (PytorchSettings).
  PytorchStore& numpy_arrays(bool take = true) {
    auto& settings = detail::settings_of<PytorchSettings>(change_content().open.settings);
    return settings.numpy_arrays = take, *this;
  }

 private:
  friend class StoreBuilder<PytorchStore>;
  using StoreBuilder::StoreBuilder;
  static constexpr Format format = Format::pytorch;
  static detail::StoreSettings defaults();
};

}  // namespace andiron::inline v1
