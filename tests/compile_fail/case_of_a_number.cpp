// SPDX-License-Identifier: MIT OR Apache-2.0
// error: a Case names a struct
#include "andiron/module.h"

andiron::Case<"Scale", float> scale;
