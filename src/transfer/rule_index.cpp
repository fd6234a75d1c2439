// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/transfer/rule_adapter_test.cpp
#include "src/transfer/rule_index.h"

#include <algorithm>

#include "src/transfer/place.h"

namespace andiron {
inline namespace v1 {
namespace detail {

void RuleIndex::add(std::string_view module_type, std::string_view name, std::size_t rule,
                    std::size_t position) {
  entries_[Key{Container::plain(module_type), name}].push_back(
      {rule, position, module_type.starts_with("Enum:")});
  const std::size_t depth = segment_count(name);
  const auto at = std::lower_bound(depths_.begin(), depths_.end(), depth);
  if (at == depths_.end() || *at != depth) depths_.insert(at, depth);
}

std::vector<RuleMatch> RuleIndex::find(std::string_view path, const Container& container) const {
  std::vector<RuleMatch> matches;
  for (const std::size_t depth : depths_) {
    const std::string_view name = last_segments(path, depth);
    const std::string_view kind = kind_around(path, container, depth);
    if (name.empty() || kind.empty()) continue;
    const auto found = entries_.find(Key{Container::plain(kind), name});
    if (found == entries_.end()) continue;
    for (const Entry& entry : found->second) {
      if (entry.enums_only && !kind.starts_with("Enum:")) continue;
      matches.push_back({entry.rule, entry.position, path.substr(0, path.size() - name.size())});
    }
  }
  // Names of several lengths may match: in the order of rules, then the innermost module first.
  std::sort(matches.begin(), matches.end(), [](const RuleMatch& a, const RuleMatch& b) {
    return a.rule != b.rule ? a.rule < b.rule : a.prefix.size() > b.prefix.size();
  });
  return matches;
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
