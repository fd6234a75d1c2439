// SPDX-License-Identifier: MIT OR Apache-2.0
// error: this type cannot be listed. Give its struct an ANDIRON_MODULE line
#include "andiron/apply.h"

struct Layer {
  andiron::Param weight;
};
struct Block {
  std::vector<std::optional<Layer>> layers;
  ANDIRON_MODULE(Block, layers)
};
struct Net {
  std::vector<Block> blocks;
  ANDIRON_MODULE(Net, blocks)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
