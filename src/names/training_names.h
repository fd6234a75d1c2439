// SPDX-License-Identifier: MIT OR Apache-2.0
// Recognizes names in PyTorch checkpoints whose tensors have the shape of a weight but are not one.
#pragma once

#include <string>
#include <string_view>

namespace andiron::inline v1::detail {

// State that an optimizer keeps per parameter: "optimizer.state.3.exp_avg".
bool is_optimizer_state(std::string_view name);

// A part that a weight is computed from, by weight norm and other parametrizations: "fc.weight_v",
// "fc.parametrizations.weight.original1".
bool is_weight_part(std::string_view name);

// The name of the other part, for a part of weight norm: "fc.weight_v" for "fc.weight_g"; empty for
// other names.
std::string partner_in_weight_norm(std::string_view name);

// A matrix of a LoRA adapter, which is to be added to a weight: "q_proj.lora_A.default.weight".
bool is_lora_matrix(std::string_view name);

// Parameters that FSDP has put into one vector: "layers.0._flat_param".
bool is_flattened(std::string_view name);

}  // namespace andiron::inline v1::detail
