// SPDX-License-Identifier: MIT OR Apache-2.0
// error: this type cannot be listed. Give its struct an ANDIRON_MODULE line
#include "andiron/apply.h"
#include "andiron/nn/linear.h"

struct Relu {};
struct Net {
  std::variant<andiron::nn::Linear, Relu> layer;
  ANDIRON_MODULE(Net, layer)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
