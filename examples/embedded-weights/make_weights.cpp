// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes the place of training: writes random weights.
// usage: make_weights FILE
#include <iostream>

#include "net.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_weights FILE\n";
    return 2;
  }
  const auto result = save_into(Net(), andiron::BurnpackStore::from_file(argv[1]).overwrite(true));
  if (!result) std::cerr << result.error().to_string() << '\n';
  return result ? 0 : 1;
}
