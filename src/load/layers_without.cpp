// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/layers_without_test.cpp
#include "src/load/layers_without.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "src/core/text/digit.h"
#include "src/names/training_names.h"

namespace andiron::inline v1::detail {
namespace {

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Layers whose parameters PyTorch joins in tensors of other names: weight_ih_l0, in_proj_weight.
constexpr std::string_view joined_layers = "nn.";

// "Lstm" for "nn.BiLstmStack"; empty for a layer that is not recurrent.
std::string_view cell_of(std::string_view kind) {
  for (const std::string_view cell : {"Lstm", "Gru"}) {
    if (kind.starts_with(joined_layers) && kind.find(cell) != std::string_view::npos) return cell;
  }
  return {};
}

bool is_norm_over_its_input(std::string_view kind) {
  constexpr std::string_view norms[] = {"LayerNorm", "GroupNorm", "InstanceNorm", "RmsNorm"};
  return is_one_of(norms, kind);
}

bool is_running_statistic(std::string_view last) {
  return last == "running_mean" || last == "running_var";
}

// Of weight_ih_l1, not of weight_ih_l0.
bool is_of_further_layer(std::string_view last) {
  const std::size_t number = last.rfind("_l");
  return number != std::string_view::npos && number + 2 < last.size() &&
         is_digit(last[number + 2]) && last[number + 2] != '0';
}

bool is_activation(std::string_view kind) {
  constexpr std::string_view activations[] = {"Relu",    "LeakyRelu", "Gelu",        "Silu",
                                              "Sigmoid", "Tanh",      "HardSigmoid", "HardSwish",
                                              "Mish",    "Softplus",  "Elu",         "Softmax"};
  return is_one_of(activations, kind);
}

}  // namespace

bool is_harmless_buffer(std::string_view last) {
  constexpr std::string_view buffers[] = {
      "num_batches_tracked", "position_ids", "token_type_ids", "inv_freq",
      "masked_bias",         "cos_cached",   "sin_cached",     "relative_position_index"};
  return is_one_of(buffers, last);
}

bool is_parameter_name(std::string_view last) {
  constexpr std::string_view names[] = {"weight", "bias", "gamma", "beta", "alpha"};
  return is_one_of(names, last) || is_running_statistic(last);
}

bool is_lacked_by(std::string_view kind, std::string_view last) {
  if (kind.starts_with(joined_layers)) {
    // Not what weight norm computes a weight from: that weight is missing.
    return (last.starts_with("weight_") || last.starts_with("bias_")) && !is_weight_part(last);
  }
  if (kind == "RmsNorm" && (last == "bias" || last == "beta")) return true;
  return is_norm_over_its_input(kind) && is_running_statistic(last);
}

std::string layer_with(std::string_view kind, std::string_view last) {
  const std::string cell(cell_of(kind));
  if (!cell.empty()) {
    if (last.starts_with("weight_hr")) return "no layer has a projection (proj_size)";
    const bool is_bidirectional = kind.find("Bi") != std::string_view::npos;
    const bool is_reverse = last.ends_with("_reverse");
    const bool is_stack = kind.ends_with("Stack") || is_of_further_layer(last);
    const std::string layer = std::string("nn::") + (is_bidirectional || is_reverse ? "Bi" : "") +
                              cell + (is_stack ? "Stack" : "");
    if (is_reverse && !is_bidirectional) return layer + " reads both directions";
    return is_stack ? layer + " has several layers" : std::string();
  }
  if (last == "bias_k" || last == "bias_v") return "no layer has add_bias_kv";
  if (kind == "InstanceNorm") return "nn::InstanceNorm takes its statistics from its input";
  if (is_norm_over_its_input(kind) && is_running_statistic(last)) {
    return "nn::BatchNorm has running statistics";
  }
  if (kind == "RmsNorm") return "nn::LayerNorm has a bias";
  if (is_activation(kind) && (last == "weight" || last == "alpha")) {
    return "nn::PRelu has a slope that is learned";
  }
  return {};
}

}  // namespace andiron::inline v1::detail
