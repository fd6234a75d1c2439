// SPDX-License-Identifier: MIT OR Apache-2.0
// error: 'input'
#include "andiron/apply.h"

struct Net {
  andiron::Param input, output;
  ANDIRON_MODULE(input, output)
};
