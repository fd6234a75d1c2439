// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/extended_names_test.cpp
#include "src/proposals/extended_names.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

// More than a tensor has of these: it is a module by that name.
constexpr std::size_t most_extensions = 4;

// What a name goes on from, if that is another tensor.
std::string_view extended_by(std::string_view name,
                             const std::unordered_set<std::string_view>& all) {
  for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
    if (all.contains(name.substr(0, dot))) return name.substr(0, dot);
  }
  return {};
}

// How many segments each module of one side holds.
class Members {
 public:
  explicit Members(std::span<const TreeTensor> tensors) {
    for (const TreeTensor& tensor : tensors) {
      for (std::string_view path = tensor.name; !path.empty(); path = module_path(path)) {
        if (!known_.insert(path).second) break;
        ++counts_[module_path(path)];
      }
    }
  }
  bool is_alone(std::string_view path) const { return counts_.at(module_path(path)) == 1; }

 private:
  std::unordered_set<std::string_view> known_;
  std::unordered_map<std::string_view, std::size_t> counts_;
};

// A shorter name that means the same.
struct Shorter {
  std::string name;
  bool is_numbered;  // it lacks a 0
};

std::vector<Shorter> shorter_names(std::string_view name, const Members& members) {
  std::vector<Shorter> all;
  const std::string_view module = module_path(name);
  if (module.empty()) return all;
  if (last_segment(name) == "weight" || members.is_alone(name)) {
    all.push_back({std::string(module), false});
  }
  for (std::string_view path = module; !path.empty(); path = module_path(path)) {
    if (last_segment(path) != "0" || !members.is_alone(path)) continue;
    const std::string_view before = module_path(path);
    const std::string_view after = name.substr(path.size() + 1);
    all.push_back(
        {before.empty() ? std::string(after) : std::string(before) + "." + std::string(after),
         true});
  }
  return all;
}

struct ExtendedPair {
  std::size_t source;
  std::size_t rest;
  bool is_numbered;
};

}  // namespace

void leave_out_extensions(std::vector<std::string_view>& names,
                          std::span<const WantedTensor> wanted) {
  const std::unordered_set<std::string_view> all(names.begin(), names.end());
  std::unordered_set<std::string_view> paths;
  std::unordered_set<std::string_view> roles;
  for (const WantedTensor& one : wanted) {
    paths.insert(one.place.path);
    roles.insert(last_segment(one.place.path));
  }
  std::unordered_map<std::string_view, std::size_t> counts;
  for (const std::string_view name : names) {
    if (const auto whole = extended_by(name, all); !whole.empty()) ++counts[whole];
  }
  if (counts.empty()) return;
  std::erase_if(names, [&](std::string_view name) {
    const std::string_view whole = extended_by(name, all);
    if (whole.empty() || paths.contains(name)) return false;
    return roles.contains(last_segment(whole)) ||
           (!roles.contains(last_segment(name)) && counts[whole] <= most_extensions);
  });
}

void settle_extended(std::span<const TreeTensor> source, std::span<const TreeTensor> wanted,
                     std::vector<bool>& is_settled, std::vector<TreeTensor>& rest,
                     std::vector<Renaming>& settled) {
  if (rest.empty()) return;
  const Members of_source(source);
  const Members of_wanted(wanted);
  std::unordered_map<std::string, std::size_t> by_name;
  std::unordered_multimap<std::string, std::pair<std::size_t, bool>> by_shorter_name;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (is_settled[i]) continue;
    by_name.emplace(source[i].name, i);
    for (Shorter& one : shorter_names(source[i].name, of_source)) {
      by_shorter_name.emplace(std::move(one.name), std::pair(i, one.is_numbered));
    }
  }
  std::vector<ExtendedPair> pairs;
  std::map<std::size_t, std::size_t> uses;  // of tensors of the source
  for (std::size_t i = 0; i < rest.size(); ++i) {
    std::vector<ExtendedPair> found;
    const auto take = [&](std::size_t from, bool is_numbered) {
      const bool fits = source[from].shape == rest[i].shape && source[from].kind == rest[i].kind;
      if (fits) found.push_back({from, i, is_numbered});
    };
    for (const Shorter& one : shorter_names(rest[i].name, of_wanted)) {
      const auto at = by_name.find(one.name);
      if (at != by_name.end()) take(at->second, one.is_numbered);
    }
    const auto [begin, end] = by_shorter_name.equal_range(rest[i].name);
    for (auto at = begin; at != end; ++at) take(at->second.first, at->second.second);
    if (found.size() != 1) continue;
    pairs.push_back(found.front());
    ++uses[found.front().source];
  }
  std::erase_if(pairs, [&](const ExtendedPair& pair) { return uses[pair.source] > 1; });
  // Where only some numbers go on, lists may count in another way.
  if (pairs.size() < rest.size()) {
    std::erase_if(pairs, [](const ExtendedPair& pair) { return pair.is_numbered; });
  }
  std::vector<bool> is_done(rest.size());
  for (const ExtendedPair& pair : pairs) {
    is_settled[pair.source] = true;
    is_done[pair.rest] = true;
    settled.push_back({source[pair.source].name, rest[pair.rest].name,
                       pair.is_numbered ? Evidence::numbers : Evidence::name, false});
  }
  std::size_t i = 0;
  std::erase_if(rest, [&](const TreeTensor&) { return is_done[i++]; });
}

}  // namespace andiron::inline v1::detail
