// SPDX-License-Identifier: MIT OR Apache-2.0
// error: the only map that can be listed is std::map<std::string, T> of modules
#include "andiron/apply.h"
#include "andiron/nn/linear.h"

struct Net {
  std::map<int, andiron::nn::Linear> heads;
  ANDIRON_MODULE(Net, heads)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
