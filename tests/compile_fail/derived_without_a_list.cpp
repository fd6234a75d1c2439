// SPDX-License-Identifier: MIT OR Apache-2.0
// error: A derived struct needs an ANDIRON_MODULE line of its own
#include "andiron/apply.h"
#include "andiron/nn/linear.h"

struct ScaledLinear : andiron::nn::Linear {
  andiron::Param scale;
};

void use(const ScaledLinear& layer) { static_cast<void>(andiron::collect(layer)); }
