// SPDX-License-Identifier: MIT OR Apache-2.0
// error: of maps, std::map<std::string, T> of modules can be listed
#include "andiron/apply.h"
#include "andiron/nn/linear.h"

struct Net {
  std::map<int, andiron::nn::Linear> heads;
  ANDIRON_MODULE(Net, heads)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
