// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the adapter rules that name a tensor.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "andiron/place.h"

namespace andiron::inline v1::detail {

// A tensor that is name number `position` of a rule.
struct RuleMatch {
  std::size_t rule;
  std::size_t position;
  std::string_view prefix;  // the path of the module that the rule is about, with its last dot
  std::size_t kind;         // the module's, in the container
};

// The tensor names that rules mention, by kind of module. A tensor that no rule names costs one
// hash lookup per number of segments that rules have, a few more among maps and variants, and no
// allocation.
class RuleIndex {
 public:
  // Adds rules in their order. The strings must outlive the index.
  void add(std::string_view module_type, std::string_view name, std::size_t rule,
           std::size_t position);

  // Returns matches in the order of rules. The prefixes are parts of `path`.
  std::vector<RuleMatch> find(std::string_view path, const Container& container) const;

 private:
  struct Key {
    std::string_view module_type;  // without its prefix
    std::string_view name;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      const std::hash<std::string_view> hash;
      return hash(key.module_type) * 31 + hash(key.name);
    }
  };
  struct Entry {
    std::size_t rule;
    std::size_t position;
    bool enums_only;
  };

  void add_matches(std::string_view path, std::string_view name,
                   const std::vector<std::string>& kinds, std::size_t kind,
                   std::vector<RuleMatch>& matches) const;

  std::unordered_map<Key, std::vector<Entry>, KeyHash> entries_;
  std::vector<std::size_t> depths_;  // numbers of segments, ascending
};

}  // namespace andiron::inline v1::detail
