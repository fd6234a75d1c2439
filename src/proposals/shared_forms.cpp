// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/tree_alignment_test.cpp
#include "src/proposals/shared_forms.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

// The bias of a module whose weight has no counterpart has none either.
void drop_without_weight(std::span<const TreeTensor> tensors, std::vector<std::uint32_t>& forms) {
  std::map<std::string_view, bool> has_counterpart;  // for the modules that have a weight
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string_view last = last_segment(tensors[i].name);
    if (tensors[i].shape.size() < 2 || role_of(last) != TensorRole::weight) continue;
    bool& has = has_counterpart[module_path(tensors[i].name)];
    has = has || forms[i] != 0;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string_view last = last_segment(tensors[i].name);
    if (last != "bias" && last != "weight") continue;
    const auto found = has_counterpart.find(module_path(tensors[i].name));
    if (found == has_counterpart.end() || found->second) continue;
    forms[i] = 0;
  }
}

}  // namespace

SharedForms::SharedForms(std::span<const TreeTensor> in_source,
                         std::span<const TreeTensor> in_wanted) {
  std::map<std::pair<std::vector<std::uint64_t>, std::uint8_t>, std::uint32_t> numbers;
  const auto number = [&](const TreeTensor& tensor) {
    return numbers.try_emplace({tensor.shape, tensor.kind}, numbers.size() + 1).first->second;
  };
  for (const TreeTensor& tensor : in_source) source.push_back(number(tensor));
  for (const TreeTensor& tensor : in_wanted) wanted.push_back(number(tensor));
  const std::set<std::uint32_t> of_source(source.begin(), source.end());
  const std::set<std::uint32_t> of_wanted(wanted.begin(), wanted.end());
  for (std::uint32_t& form : source) form = of_wanted.contains(form) ? form : 0;
  for (std::uint32_t& form : wanted) form = of_source.contains(form) ? form : 0;
  drop_without_weight(in_source, source);
  drop_without_weight(in_wanted, wanted);
}

}  // namespace andiron::inline v1::detail
