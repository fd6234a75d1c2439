// SPDX-License-Identifier: MIT OR Apache-2.0
// What names of PyTorch's checkpoints tell of tensors that have the shape of a weight and are none.
#pragma once

#include <string_view>

namespace andiron::inline v1::detail {

// What an optimizer keeps for each parameter: "optimizer.state.3.exp_avg".
bool is_optimizer_state(std::string_view name);

// What a weight is computed from, by weight norm and other parametrizations: "fc.weight_v",
// "fc.parametrizations.weight.original1".
bool is_weight_part(std::string_view name);

}  // namespace andiron::inline v1::detail
