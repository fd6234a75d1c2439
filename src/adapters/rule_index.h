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

// Stands for a number in the names of a rule.
inline constexpr char number_mark = '*';

// A tensor that is name number `position` of a rule.
struct RuleMatch {
  std::size_t rule;
  std::size_t position;
  std::string_view prefix;  // the path of the module that the rule is about, with its last dot
  std::size_t kind;         // the module's, in the container
  std::string_view number;  // what the rule's '*' stands for; empty if it has none
};

// The path of another tensor of the rule.
std::string path_of(const RuleMatch& match, std::string_view name);

// The tensor names that rules mention, by kind of module. A tensor that no rule names
// costs a hash lookup for each kind around it and no allocation. In modules that have rules, its
// name costs a few more, and so does each number in it if some of the rules have a '*'.
class RuleIndex {
 public:
  // Adds rules in their order. The strings must outlive the index.
  void add(std::string_view module_type, std::string_view name, std::size_t rule,
           std::size_t position);

  // Returns matches in the order of rules. Prefixes and numbers are parts of `path`.
  std::vector<RuleMatch> find(std::string_view path, const Container& container) const;

 private:
  // "weight_l*" is {"weight_l", "", true}.
  struct Name {
    std::string_view before;
    std::string_view after = {};
    bool has_number = false;
    friend bool operator==(const Name&, const Name&) = default;
  };
  struct NameHash {
    std::size_t operator()(const Name& name) const noexcept {
      const std::hash<std::string_view> hash;
      return name.has_number ? hash(name.before) * 31 + hash(name.after) : hash(name.before);
    }
  };
  struct Entry {
    std::size_t rule;
    std::size_t position;
    bool enums_only;
  };

  struct Module {
    std::unordered_map<Name, std::vector<Entry>, NameHash> names = {};
    bool has_numbers = false;
    std::size_t depth = 0;  // the most segments of a name
  };

  void add_matches(std::string_view path, std::string_view name,
                   const std::vector<std::string>& kinds, std::size_t kind,
                   std::vector<RuleMatch>& matches) const;

  std::unordered_map<std::string_view, Module> modules_;  // by kind, without its prefix
};

}  // namespace andiron::inline v1::detail
