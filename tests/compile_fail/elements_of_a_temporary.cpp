// SPDX-License-Identifier: MIT OR Apache-2.0
// error: the span would outlive the parameter
#include "andiron/param.h"

andiron::Param make();

void use() { static_cast<void>(make().as<float>()); }
