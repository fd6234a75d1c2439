// SPDX-License-Identifier: MIT OR Apache-2.0
// A shared library with a file in it.
#include "embedded/model.h"

std::byte first_byte_of_other_model() { return embedded::model().front(); }
