// SPDX-License-Identifier: MIT OR Apache-2.0
// error: structs with ANDIRON_MODULE
#include "andiron/bind.h"

struct Net {
  andiron::TensorView<float, 4> bias;
};

bool use(Net& net, const andiron::BurnpackView& file) { return andiron::bind(net, file).ok(); }
