// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that a layer of the module has no place for: which of them it computes something else
// without.
#pragma once

#include <string>
#include <string_view>

namespace andiron::inline v1::detail {

// Whether the last segment of a name is that of a buffer which the layers that have it compute
// themselves, or do not need: a counter, position_ids, inv_freq.
bool is_harmless_buffer(std::string_view last);

// Whether it is what layers call what they have learned. A module without parameters computes
// something else than the one whose weight it lacks.
bool is_parameter_name(std::string_view last);

// The same for a module of this kind that has parameters, but not this one: a second direction of
// an Lstm, bias_k of attention, the bias of a norm that is an RmsNorm here.
bool is_lacked_by(std::string_view kind, std::string_view last);

// Which layer has a place for it: "nn::BiLstm reads both directions", or that none has. Empty if
// that is not known.
std::string layer_with(std::string_view kind, std::string_view last);

}  // namespace andiron::inline v1::detail
