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
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Calls visit(begin, end) for each number in a name that is written without leading zeros.
template <class Visit>
void each_number(std::string_view name, const Visit& visit) {
  for (std::size_t begin = 0; begin < name.size();) {
    if (!is_digit(name[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (name[begin] != '0' || end == begin + 1) visit(begin, end);
    begin = end;
  }
}

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

std::string path_of(const RuleMatch& match, std::string_view name) {
  const std::size_t mark = name.find(number_mark);
  std::string path(match.prefix);
  if (mark == std::string_view::npos) return path.append(name);
  return path.append(name.substr(0, mark)).append(match.number).append(name.substr(mark + 1));
}

void RuleIndex::add(std::string_view module_type, std::string_view name, std::size_t rule,
                    std::size_t position) {
  const std::size_t mark = name.find(number_mark);
  const bool has_number = mark != std::string_view::npos;
  Module& module = modules_[Container::plain(module_type)];
  module.has_numbers |= has_number;
  const Name key =
      has_number ? Name{name.substr(0, mark), name.substr(mark + 1), true} : Name{name};
  module.names[key].push_back({rule, position, is_enum(module_type)});
  module.depth = std::max(module.depth, segment_count(name));
}

std::vector<RuleMatch> RuleIndex::find(std::string_view path, const Container& container) const {
  std::vector<RuleMatch> matches;
  std::size_t deepest = 0;
  for (const std::string& kind : container.kinds()) {
    const auto module = modules_.find(Container::plain(kind));
    if (module != modules_.end()) deepest = std::max(deepest, module->second.depth);
  }
  if (deepest == 0) return matches;
  const SegmentHolders holders(path, container.kinds());
  for (std::size_t depth = 1; depth <= deepest; ++depth) {
    const std::string_view name = last_segments(path, depth);
    if (name.empty()) continue;
    holders.each_at(depth, [&](std::size_t kind) {
      add_matches(path, name, container.kinds(), kind, matches);
    });
  }
  if (matches.size() < 2) return matches;
  // Names of several lengths may match: in the order of rules, then the innermost module first.
  std::stable_sort(matches.begin(), matches.end(), [](const RuleMatch& a, const RuleMatch& b) {
    return a.rule != b.rule ? a.rule < b.rule : a.prefix.size() > b.prefix.size();
  });
  // A kind may have been met in two ways.
  const auto is_same = [](const RuleMatch& a, const RuleMatch& b) {
    return a.rule == b.rule && a.position == b.position && a.prefix.size() == b.prefix.size();
  };
  matches.erase(std::unique(matches.begin(), matches.end(), is_same), matches.end());
  return matches;
}

void RuleIndex::add_matches(std::string_view path, std::string_view name,
                            const std::vector<std::string>& kinds, std::size_t kind,
                            std::vector<RuleMatch>& matches) const {
  const auto module = modules_.find(Container::plain(kinds[kind]));
  if (module == modules_.end()) return;
  const std::string_view prefix = path.substr(0, path.size() - name.size());
  const auto add_all = [&](const Name& key, std::string_view number) {
    const auto found = module->second.names.find(key);
    if (found == module->second.names.end()) return;
    for (const Entry& entry : found->second) {
      if (entry.enums_only && !is_enum(kinds[kind])) continue;
      matches.push_back({entry.rule, entry.position, prefix, kind, number});
    }
  };
  add_all({name}, {});
  if (!module->second.has_numbers) return;
  each_number(name, [&](std::size_t begin, std::size_t end) {
    add_all({name.substr(0, begin), name.substr(end), true}, name.substr(begin, end - begin));
  });
}

}  // namespace andiron::inline v1::detail
