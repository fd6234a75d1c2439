// SPDX-License-Identifier: MIT OR Apache-2.0
// What PyTorch stores otherwise than Burn and we do: the one table behind both of its adapters.
// Tested by tests/adapters/pytorch_rules_test.cpp
#include <utility>

#include "andiron/adapter.h"

namespace andiron::inline v1 {

std::vector<AdapterRule> pytorch_rules() {
  std::vector<AdapterRule> rules;
  rules.push_back({.module_type = "Linear",
                   .from = {"weight"},
                   .to = {"weight"},
                   .steps = {PermuteStep{{1, 0}}}});
  for (const char* norm : {"BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm", "RmsNorm"}) {
    rules.push_back({.module_type = norm, .from = {"weight"}, .to = {"gamma"}});
    rules.push_back({.module_type = norm, .from = {"bias"}, .to = {"beta"}});
  }
  rules.push_back({.module_type = "PRelu", .from = {"weight"}, .to = {"alpha"}});
  return rules;
}

PyTorchToBurnAdapter PyTorchToBurnAdapter::with_rule(AdapterRule rule) const {
  PyTorchToBurnAdapter changed = *this;
  changed.add_rule(std::move(rule));
  return changed;
}

BurnToPyTorchAdapter BurnToPyTorchAdapter::with_rule(AdapterRule rule) const {
  BurnToPyTorchAdapter changed = *this;
  changed.add_rule(std::move(rule));
  return changed;
}

}  // namespace andiron::inline v1
