// SPDX-License-Identifier: MIT OR Apache-2.0
// The adapter that a table of rules makes.
// Tested by tests/adapters/rule_adapter_test.cpp
#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "andiron/adapter.h"
#include "src/adapters/rule_index.h"
#include "src/adapters/rule_steps.h"
#include "src/core/path_segments.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1 {

using detail::path_of;
using detail::RuleIndex;
using detail::RuleMatch;
using detail::RuleSteps;

namespace {

using Tensors = std::vector<TensorSnapshot>;

bool is_one_to_one(const AdapterRule& rule) { return rule.from.size() == 1 && rule.to.size() == 1; }

// "'attn.q', 'attn.k' and 'attn.v'", cut short when there are many.
std::string list_text(const RuleMatch& match, const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  const std::size_t shown = names.size() <= most ? names.size() : most - 1;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += detail::in_quotes(path_of(match, names[i]));
  }
  if (shown < names.size()) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

Error missing_part(std::string output, const AdapterRule& rule, const RuleMatch& match,
                   std::string_view missing, std::string hint) {
  return Error{.code = ErrorCode::adapter_failed,
               .message = "it is built from " + list_text(match, rule.from) + ", but " +
                          detail::in_quotes(path_of(match, missing)) + " is missing",
               .tensor = std::move(output),
               .hint = std::move(hint)};
}

// An error about a tensor that goes into `output` is about both.
Error error_for(std::string output, Error error) {
  if (!error.tensor.empty() && error.tensor != output) {
    error.message =
        "cannot build it from " + detail::in_quotes(error.tensor) + ": " + std::move(error.message);
  }
  error.tensor = std::move(output);
  return error;
}

Status check_names(const std::vector<std::string>& names) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty() || !seen.insert(name).second) {
      return Error{.code = ErrorCode::invalid_argument,
                   .message = "a rule has an empty or duplicate name",
                   .found = detail::in_quotes(name)};
    }
  }
  if (!names.empty()) return {};
  return Error{.code = ErrorCode::invalid_argument,
               .message = "one side of a rule has no names",
               .expected = "at least one"};
}

// All names of a rule have one '*', or none has.
Status check_numbers(const AdapterRule& rule) {
  const auto marks_in = [](std::string_view name) {
    return std::count(name.begin(), name.end(), detail::number_mark);
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto marks = marks_in(rule.from.front());
  for (const auto* names : {&rule.from, &rule.to}) {
    for (const std::string& name : *names) {
      if (marks_in(name) != marks || marks > 1) {
        return Error{.code = ErrorCode::invalid_argument,
                     .message = "a '*' stands for one number, the same in all names of a rule",
                     .found = detail::in_quotes(name),
                     .expected = "one '*' in each name, or none in any"};
      }
      const std::size_t mark = name.find(detail::number_mark);
      if (mark == std::string::npos) continue;
      if ((mark > 0 && is_digit(name[mark - 1])) ||
          (mark + 1 < name.size() && is_digit(name[mark + 1]))) {
        return Error{.code = ErrorCode::invalid_argument,
                     .message = "a '*' stands for a whole number, but has a digit beside it",
                     .found = detail::in_quotes(name)};
      }
    }
  }
  return {};
}

Result<RuleSteps> check(const AdapterRule& rule) {
  if (Container::plain(rule.module_type).empty()) {
    return Error{.code = ErrorCode::invalid_argument, .message = "a rule has no module type"};
  }
  ANDIRON_TRY(check_names(rule.from));
  ANDIRON_TRY(check_names(rule.to));
  ANDIRON_TRY(check_numbers(rule));
  return RuleSteps::make(rule);
}

// How a file has the tensor of a place.
struct Stored {
  std::optional<RuleMatch> match;  // the rule that makes it, if any
  bool has_own_name;               // the file has it under the name of the place
  Tensors tensors;                 // that it is made from
};

// How a tensor of a module is saved.
struct Choice {
  std::optional<RuleMatch> match = {};
  bool keeps_name = false;
};

// Tensors of a module that a rule makes into others, by their indices.
struct Group {
  const AdapterRule* rule;
  const RuleSteps* steps;
  std::size_t first;  // the member that came first
  RuleMatch match;    // its
  std::vector<std::size_t> members;
};

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

struct GroupKey {
  std::size_t rule;
  std::string_view prefix;
  std::string_view number;
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};
struct GroupKeyHash {
  std::size_t operator()(const GroupKey& key) const noexcept {
    const std::hash<std::string_view> hash;
    return (hash(key.prefix) * 31 + hash(key.number)) * 31 + key.rule;
  }
};

// Quantized data cannot be rearranged and keeps its layout under the new name.
Result<TensorSnapshot> change_one(const RuleSteps& steps, TensorSnapshot tensor,
                                  const Place& place) {
  if (!is_opaque(tensor.dtype())) {
    Tensors input;
    input.push_back(std::move(tensor));
    Result<TensorSnapshot> changed = steps.run_for(0, std::move(input));
    if (!changed) return error_for(place.path, std::move(changed).error());
    tensor = *std::move(changed);
  }
  return detail::at_place(std::move(tensor), place);
}

// The file's tensors for a rule: all, or none.
Result<Tensors> find_all(const AdapterRule& rule, const RuleMatch& match, std::string_view path,
                         TensorLookup& file) {
  Tensors parts;
  const std::string* missing = nullptr;
  for (const std::string& name : rule.from) {
    ANDIRON_ASSIGN(std::optional<TensorSnapshot> part, file.find(path_of(match, name)));
    if (part) {
      parts.push_back(*std::move(part));
    } else if (missing == nullptr) {
      missing = &name;
    }
  }
  if (missing == nullptr || parts.empty()) return parts;
  return missing_part(std::string(path), rule, match, *missing,
                      "compare its name with the names in the file");
}

// Where the tensor `position` that a rule makes goes: with as many kinds around it fewer as its
// name has fewer segments. What surrounds it further down is not known.
Place new_place(const AdapterRule& rule, std::size_t position, const RuleMatch& match,
                const Container& container) {
  const std::string& name = rule.to[position];
  const std::size_t depth = detail::segment_count(name);
  Place place{path_of(match, name), container};
  if (depth < detail::segment_count(rule.from[match.position])) {
    std::vector<std::string> kinds = container.kinds();
    kinds.resize(std::min(kinds.size(), match.kind + depth));
    place.container = Container(std::move(kinds));
  }
  return place;
}

Result<Tensors> save_group(const Group& group, const Snapshots& tensors) {
  const AdapterRule& rule = *group.rule;
  Tensors parts;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    if (group.members[i] == nowhere) {
      return missing_part(path_of(group.match, rule.to.front()), rule, group.match, rule.from[i],
                          "a filter may have left it out; include all of them or none");
    }
    parts.push_back(tensors[group.members[i]]);
  }
  Result<Tensors> made = group.steps->run(std::move(parts));
  if (!made) {
    return error_for(path_of(group.match, rule.to.front()), std::move(made).error());
  }
  const Container& container = tensors[group.first].container();
  for (std::size_t i = 0; i < made->size(); ++i) {
    // None of the parameters that went in is the one that came out.
    (*made)[i] = detail::at_place((*made)[i].with_param_id(std::nullopt),
                                  new_place(rule, i, group.match, container));
  }
  return made;
}

}  // namespace

// Rules in the direction of the adapter: tensors are moved from `from` to `to`.
struct RuleAdapter::Table {
  Table(std::vector<AdapterRule> oriented_rules, bool is_forward, std::string mark)
      : rules(std::move(oriented_rules)), forward(is_forward), format_mark(std::move(mark)) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
      Result<RuleSteps> checked = check(rules[i]);
      if (!checked) {
        first_error = std::move(checked).error();
        first_error->message =
            "rule for " + detail::in_quotes(rules[i].module_type) + ": " + first_error->message;
        return;
      }
      steps.push_back(*std::move(checked));
      add_names(by_from, i, rules[i].from);
      add_names(by_to, i, rules[i].to);
    }
  }

  void add_names(RuleIndex& index, std::size_t rule, const std::vector<std::string>& names) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      index.add(rules[rule].module_type, names[i], rule, i);
    }
  }

  // Finds what the tensor of a place is made from in a file, or nothing. `matches`: by_to's.
  Result<std::optional<Stored>> find(const std::vector<RuleMatch>& matches, std::string_view path,
                                     const Container& container, TensorLookup& file) const;
  // Saves each tensor as choose(path, container) says.
  template <class Choose>
  Result<Snapshots> save(Snapshots tensors, const Choose& choose) const;
  // The first rule that names a tensor takes it.
  Choice choose(std::string_view path, const Container& container) const {
    const std::vector<RuleMatch> matches = by_from.find(path, container);
    return matches.empty() ? Choice() : Choice{matches.front()};
  }

  std::vector<AdapterRule> rules;
  bool forward;
  std::string format_mark;
  std::vector<RuleSteps> steps;  // of each rule
  RuleIndex by_from;
  RuleIndex by_to;
  std::optional<Error> first_error;
};

RuleAdapter::RuleAdapter(std::vector<AdapterRule> rules, bool forward)
    : RuleAdapter(std::move(rules), forward, {}) {}

RuleAdapter::RuleAdapter(std::vector<AdapterRule> rules, bool forward, std::string format_mark) {
  if (!forward) {
    for (AdapterRule& rule : rules) rule = detail::inverse(std::move(rule));
  }
  table_ = std::make_shared<const Table>(std::move(rules), forward, std::move(format_mark));
}

void RuleAdapter::add_rule(AdapterRule rule) {
  std::vector<AdapterRule> rules = table_->rules;
  rules.insert(rules.begin(), table_->forward ? std::move(rule) : detail::inverse(std::move(rule)));
  table_ = std::make_shared<const Table>(std::move(rules), table_->forward, table_->format_mark);
}

Result<AnyAdapter> RuleAdapter::inverse() const ANDIRON_NO_THROW {
  return AnyAdapter(RuleAdapter(table_->rules, false));
}
ANDIRON_OR_OUT_OF_MEMORY

std::string_view RuleAdapter::format_mark() const noexcept { return table_->format_mark; }

Status RuleAdapter::status() const ANDIRON_NO_THROW {
  if (table_->first_error) return *table_->first_error;
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

Result<std::optional<Stored>> RuleAdapter::Table::find(const std::vector<RuleMatch>& matches,
                                                       std::string_view path,
                                                       const Container& container,
                                                       TensorLookup& file) const {
  // Rules may exchange names: the tensor of the place's own name is then another place's.
  std::optional<bool> taken;  // most rules need not know
  const auto is_taken = [&] {
    if (!taken) taken = !by_from.find(path, container).empty();
    return *taken;
  };
  bool own_name_is_missing = false;
  std::optional<TensorSnapshot> found;
  for (const RuleMatch& match : matches) {
    const AdapterRule& rule = rules[match.rule];
    if (!is_one_to_one(rule)) {
      ANDIRON_ASSIGN(Tensors parts, find_all(rule, match, path, file));
      if (!parts.empty()) return Stored{match, false, std::move(parts)};
      continue;
    }
    const bool keeps_name = rule.from == rule.to;
    if (!own_name_is_missing && (keeps_name || !is_taken())) {
      ANDIRON_ASSIGN(found, file.find(path));
      if (found) return Stored{match, true, {*std::move(found)}};
      own_name_is_missing = true;
    }
    if (keeps_name) continue;
    ANDIRON_ASSIGN(found, file.find(path_of(match, rule.from.front())));
    if (found) return Stored{match, false, {*std::move(found)}};
  }
  if (own_name_is_missing || is_taken()) return std::optional<Stored>();
  ANDIRON_ASSIGN(found, file.find(path));
  if (!found) return std::optional<Stored>();
  return Stored{std::nullopt, true, {*std::move(found)}};
}

Result<std::optional<TensorSnapshot>> RuleAdapter::load(const Place& place,
                                                        TensorLookup& file) const ANDIRON_NO_THROW {
  ANDIRON_TRY(status());
  const std::vector<RuleMatch> matches = table_->by_to.find(place.path, place.container);
  if (matches.empty()) return Adapter::load(place, file);
  ANDIRON_ASSIGN(std::optional<Stored> stored,
                 table_->find(matches, place.path, place.container, file));
  if (!stored) return std::optional<TensorSnapshot>();
  Tensors& tensors = stored->tensors;
  if (!stored->match) return detail::at_place(std::move(tensors.front()), place);
  const RuleMatch& match = *stored->match;
  const RuleSteps& steps = table_->steps[match.rule];
  if (is_one_to_one(table_->rules[match.rule])) {
    ANDIRON_ASSIGN(TensorSnapshot changed, change_one(steps, std::move(tensors.front()), place));
    return changed;
  }
  Result<TensorSnapshot> made = steps.run_for(match.position, std::move(tensors));
  if (!made) return error_for(place.path, std::move(made).error());
  return detail::at_place(made->with_param_id(std::nullopt), place);
}
ANDIRON_OR_OUT_OF_MEMORY

template <class Choose>
Result<Snapshots> RuleAdapter::Table::save(Snapshots tensors, const Choose& choose) const {
  std::vector<Choice> choices(tensors.size());
  std::vector<std::size_t> group_of(tensors.size(), nowhere);
  std::vector<Group> groups;
  std::unordered_map<GroupKey, std::size_t, GroupKeyHash> known;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    ANDIRON_ASSIGN(choices[i], choose(tensors[i].full_path(), tensors[i].container()));
    if (!choices[i].match) continue;
    const RuleMatch& match = *choices[i].match;
    const AdapterRule& rule = rules[match.rule];
    if (is_one_to_one(rule)) continue;
    const auto [at, is_new] =
        known.try_emplace({match.rule, match.prefix, match.number}, groups.size());
    if (is_new) {
      groups.push_back({&rule, &steps[match.rule], i, match,
                        std::vector<std::size_t>(rule.from.size(), nowhere)});
    }
    group_of[i] = at->second;
    groups[at->second].members[match.position] = i;
  }

  Snapshots saved;
  saved.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!choices[i].match) {
      saved.push_back(std::move(tensors[i]));
    } else if (group_of[i] == nowhere) {
      const RuleMatch& match = *choices[i].match;
      const Place place = choices[i].keeps_name
                              ? Place{tensors[i].full_path(), tensors[i].container()}
                              : new_place(rules[match.rule], 0, match, tensors[i].container());
      ANDIRON_ASSIGN(TensorSnapshot changed,
                     change_one(steps[match.rule], std::move(tensors[i]), place));
      saved.push_back(std::move(changed));
    } else if (const Group& group = groups[group_of[i]]; group.first == i) {
      ANDIRON_ASSIGN(Tensors made, save_group(group, tensors));
      saved.extend(Snapshots(std::move(made)));
    }
  }
  return saved;
}

Result<Snapshots> RuleAdapter::save(Snapshots tensors) const ANDIRON_NO_THROW {
  ANDIRON_TRY(status());
  return table_->save(std::move(tensors),
                      [&](std::string_view path, const Container& container) -> Result<Choice> {
                        return table_->choose(path, container);
                      });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Snapshots> RuleAdapter::save_back(Snapshots tensors, TensorLookup& file) const
    ANDIRON_NO_THROW {
  ANDIRON_TRY(status());
  // Each tensor goes where a load would find it. The rules have the same numbers both ways.
  std::vector<AdapterRule> rules = table_->rules;
  for (AdapterRule& rule : rules) rule = detail::inverse(std::move(rule));
  const Table loads(std::move(rules), !table_->forward, {});
  return table_->save(
      std::move(tensors), [&](std::string_view path, const Container& container) -> Result<Choice> {
        const std::vector<RuleMatch> matches = loads.by_to.find(path, container);
        if (matches.empty()) return Choice();
        ANDIRON_ASSIGN(std::optional<Stored> stored, loads.find(matches, path, container, file));
        if (stored) return Choice{stored->match, stored->has_own_name};
        return table_->choose(path, container);
      });
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
