// SPDX-License-Identifier: MIT OR Apache-2.0
// error: of maps, std::map<std::string, T> of modules can be listed
#include "andiron/nn/linear.h"
#include "andiron/transfer.h"

struct Net {
  std::map<int, andiron::nn::Linear> heads;
  ANDIRON_MODULE(Net, heads)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
