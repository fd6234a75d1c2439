// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs during the build: loads a PyTorch checkpoint into the typed model, and saves it in Burn's
// layout. If the checkpoint does not fit the model, the build fails and says why.
// usage: import_checkpoint INPUT OUTPUT
#include <iostream>

#include "net.h"

using namespace andiron;

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: import_checkpoint INPUT OUTPUT\n";
    return 4;
  }
  Net model;
  const auto checkpoint = PytorchStore::from_file(argv[1]).with_top_level_key("state_dict.module");
  if (const Result<ApplyResult> loaded = load_from(model, checkpoint); !loaded) {
    std::cerr << loaded.error().to_string() << '\n';
    return 1;
  }
  if (const Result<WriteReport> saved = save_into(model, BurnpackStore::from_file(argv[2]));
      !saved) {
    std::cerr << saved.error().to_string() << '\n';
    return 1;
  }
  return 0;
}
