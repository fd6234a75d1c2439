// SPDX-License-Identifier: MIT OR Apache-2.0
// The model whose weights are embedded in the program.
#pragma once

#include <andiron/andiron.h>

struct Net {
  andiron::nn::Linear hidden = andiron::nn::LinearConfig(784, 64).init();
  andiron::nn::Linear output = andiron::nn::LinearConfig(64, 10).init();
  ANDIRON_MODULE(Net, hidden, output)
};
