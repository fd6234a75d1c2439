// SPDX-License-Identifier: MIT OR Apache-2.0
// Values of a pickle as Python would print them: keys of dicts become names this way.
#pragma once

#include <string>

#include "src/codec/pickle/graph.h"

namespace andiron::inline v1::detail {

// str(value). What Python prints by code of its own (an enum, a class's __str__) is shown as the
// call that would make it; beyond a few levels of nesting, and for long text, "...". Returns
// whether that tells all there is, so that values with the same text are the same.
bool append_python_str(std::string& out, const PickleGraph& graph, PickleValue value);

// Decimal digits of a large integer's two's complement.
std::string decimal(std::string_view little_endian);

// A float as repr() gives it: the shortest digits that read back the same.
void append_python_float(std::string& out, double number);

}  // namespace andiron::inline v1::detail
