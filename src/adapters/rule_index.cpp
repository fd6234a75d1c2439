// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/adapters/rule_index_test.cpp
#include "src/adapters/rule_index.h"

#include <algorithm>

#include "src/core/path_segments.h"

namespace andiron::inline v1::detail {
namespace {

bool is_enum(std::string_view kind) { return kind.starts_with("Enum:"); }
bool is_struct(std::string_view kind) { return kind.starts_with("Struct:"); }
bool is_map(std::string_view kind) { return kind == "Map"; }

// Which kinds of module hold which segments of a path. Each holds one, but an enum holds none where
// variants are left out of paths, and a map several where its keys have dots.
class SegmentHolders {
 public:
  SegmentHolders(std::string_view path, const std::vector<std::string>& kinds)
      : kinds_(kinds),
        segments_(segment_count(path)),
        enums_(count(is_enum)),
        maps_(count(is_map)) {}

  // Calls visit(index) for each kind that may hold the segment `depth` places from the end.
  template <class Visit>
  void each_at(std::size_t depth, const Visit& visit) const {
    const bool lacks_segments = segments_ < kinds_.size();
    if (!lacks_segments) each_at(depth, false, visit);
    // The dots of keys hide whether segments are lacking.
    if (lacks_segments || (enums_ > 0 && maps_ > 0)) each_at(depth, true, visit);
  }

 private:
  std::size_t count(bool (*predicate)(std::string_view)) const {
    return static_cast<std::size_t>(std::count_if(kinds_.begin(), kinds_.end(), predicate));
  }

  template <class Visit>
  void each_at(std::size_t depth, bool skips_enums, const Visit& visit) const {
    if (depth == 1) return each_at_end(skips_enums, visit);
    const std::size_t holders = kinds_.size() - (skips_enums ? enums_ : 0);
    const std::size_t dots_in_keys = segments_ > holders ? segments_ - holders : 0;
    std::size_t held = 0;
    std::size_t maps = 0;
    for (std::size_t i = kinds_.size(); i-- > 0;) {
      if (skips_enums && is_enum(kinds_[i])) continue;
      ++held;
      if (is_map(kinds_[i])) ++maps;
      // The dots are in keys from here on, in those further out, or in both.
      const std::size_t least = held + (maps > 0 && maps == maps_ ? dots_in_keys : 0);
      const std::size_t most = held + (maps > 0 ? dots_in_keys : 0);
      if (least <= depth && depth <= most) visit(i);
    }
  }

  // The last segment is the innermost struct's or enum's, past lists, as in Burn.
  template <class Visit>
  void each_at_end(bool skips_enums, const Visit& visit) const {
    for (std::size_t i = kinds_.size(); i-- > 0;) {
      if (!is_struct(kinds_[i]) && !is_enum(kinds_[i])) continue;
      visit(i);
      if (!skips_enums || !is_enum(kinds_[i])) return;
    }
  }

  const std::vector<std::string>& kinds_;
  std::size_t segments_;
  std::size_t enums_;
  std::size_t maps_;
};

}  // namespace

void RuleIndex::add(std::string_view module_type, std::string_view name, std::size_t rule,
                    std::size_t position) {
  entries_[Key{Container::plain(module_type), name}].push_back(
      {rule, position, is_enum(module_type)});
  const std::size_t depth = segment_count(name);
  const auto at = std::lower_bound(depths_.begin(), depths_.end(), depth);
  if (at == depths_.end() || *at != depth) depths_.insert(at, depth);
}

std::vector<RuleMatch> RuleIndex::find(std::string_view path, const Container& container) const {
  std::vector<RuleMatch> matches;
  const SegmentHolders holders(path, container.kinds());
  for (const std::size_t depth : depths_) {
    const std::string_view name = last_segments(path, depth);
    if (name.empty()) continue;
    holders.each_at(depth, [&](std::size_t kind) {
      add_matches(path, name, container.kinds(), kind, matches);
    });
  }
  // Names of several lengths may match: in the order of rules, then the innermost module first.
  std::stable_sort(matches.begin(), matches.end(), [](const RuleMatch& a, const RuleMatch& b) {
    return a.rule != b.rule ? a.rule < b.rule : a.prefix.size() > b.prefix.size();
  });
  // A kind may have been met in two ways.
  const auto is_same = [](const RuleMatch& a, const RuleMatch& b) {
    return a.rule == b.rule && a.prefix.size() == b.prefix.size();
  };
  matches.erase(std::unique(matches.begin(), matches.end(), is_same), matches.end());
  return matches;
}

void RuleIndex::add_matches(std::string_view path, std::string_view name,
                            const std::vector<std::string>& kinds, std::size_t kind,
                            std::vector<RuleMatch>& matches) const {
  const auto found = entries_.find(Key{Container::plain(kinds[kind]), name});
  if (found == entries_.end()) return;
  for (const Entry& entry : found->second) {
    if (entry.enums_only && !is_enum(kinds[kind])) continue;
    matches.push_back(
        {entry.rule, entry.position, path.substr(0, path.size() - name.size()), kind});
  }
}

}  // namespace andiron::inline v1::detail
