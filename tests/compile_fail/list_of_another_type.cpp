// SPDX-License-Identifier: MIT OR Apache-2.0
// error: the first argument of ANDIRON_MODULE must be the struct that contains it
#include "andiron/apply.h"

struct Encoder {
  andiron::Param weight;
  ANDIRON_MODULE(Encoder, weight)
};
struct Decoder {
  andiron::Param weight;
  ANDIRON_MODULE(Encoder, weight)
};

void use(const Decoder& decoder) { static_cast<void>(andiron::collect(decoder)); }
