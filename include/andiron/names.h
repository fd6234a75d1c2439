// SPDX-License-Identifier: MIT OR Apache-2.0
// What tensors are called: selecting and renaming them, between a file and a module.
//
//   Archive named = apply_names(file, {.top_level_key = "state_dict", .close_gaps = true}).value();
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/place.h"
#include "andiron/text.h"

namespace andiron::inline v1 {

/// Criteria joined by OR, less what is excluded. A filter without criteria takes everything that is
/// not excluded. The first bad pattern is kept: status() tells it, and every operation that takes
/// the filter returns it. Builders return a
/// named filter by reference, a temporary by value.
///
///   PathFilter().with_regex(R"(^encoder\.)").with_full_path("head.bias").exclude_glob("**.bias")
class PathFilter {
 public:
  /// Sees the dotted path and, for tensors of a module, what they sit in.
  using Predicate = std::function<bool(std::string_view path, const Container& container)>;

  /// Takes everything.
  static PathFilter all();
  /// Takes nothing until it gets criteria.
  static PathFilter none();

  /// A regular expression found anywhere in the path.
  PathFilter& with_regex(std::string_view pattern) &;
  PathFilter& with_regexes(const std::vector<std::string>& patterns) &;
  /// A glob that matches the whole path (see Pattern::glob).
  PathFilter& with_glob(std::string_view pattern) &;
  PathFilter& with_full_path(std::string path) &;
  PathFilter& with_full_paths(std::vector<std::string> paths) &;
  PathFilter& with_predicate(Predicate predicate) &;
  PathFilter& with_predicates(std::vector<Predicate> predicates) &;
  /// Takes everything, whatever the other criteria say, less what is excluded.
  PathFilter& match_all() &;

  PathFilter& exclude_regex(std::string_view pattern) &;
  PathFilter& exclude_glob(std::string_view pattern) &;
  PathFilter& exclude_full_path(std::string path) &;
  PathFilter& exclude_predicate(Predicate predicate) &;

  /// Adds the criteria and exclusions of another filter, as if they had been given to this one.
  PathFilter& or_with(PathFilter other) &;

  // The same for a temporary, which they return by value.
  PathFilter with_regex(std::string_view pattern) && { return std::move(with_regex(pattern)); }
  PathFilter with_regexes(const std::vector<std::string>& all) && {
    return std::move(with_regexes(all));
  }
  PathFilter with_glob(std::string_view pattern) && { return std::move(with_glob(pattern)); }
  PathFilter with_full_path(std::string path) && {
    return std::move(with_full_path(std::move(path)));
  }
  PathFilter with_full_paths(std::vector<std::string> all) && {
    return std::move(with_full_paths(std::move(all)));
  }
  PathFilter with_predicate(Predicate one) && { return std::move(with_predicate(std::move(one))); }
  PathFilter with_predicates(std::vector<Predicate> all) && {
    return std::move(with_predicates(std::move(all)));
  }
  PathFilter match_all() && { return std::move(match_all()); }
  PathFilter exclude_regex(std::string_view text) && { return std::move(exclude_regex(text)); }
  PathFilter exclude_glob(std::string_view pattern) && { return std::move(exclude_glob(pattern)); }
  PathFilter exclude_full_path(std::string path) && {
    return std::move(exclude_full_path(std::move(path)));
  }
  PathFilter exclude_predicate(Predicate one) && {
    return std::move(exclude_predicate(std::move(one)));
  }
  PathFilter or_with(PathFilter other) && { return std::move(or_with(std::move(other))); }

  /// Drop criteria of one kind. Where none remain, the filter takes everything again.
  PathFilter& clear_regex() &;
  PathFilter& clear_globs() &;
  PathFilter& clear_paths() &;
  PathFilter& clear_predicates() &;
  PathFilter& clear_exclusions() &;
  /// Back to PathFilter(), errors included.
  PathFilter& clear() &;

  /// Nothing was asked of it, so it takes everything.
  bool is_empty() const noexcept;
  /// How many criteria there are, without exclusions. match_all counts as the only one.
  std::size_t criteria_count() const noexcept;
  /// InvalidPattern for the first pattern that did not parse.
  Status status() const;
  /// REQUIRES: status() is ok.
  bool matches(std::string_view path, const Container& container = {}) const;
  /// "PathFilter[regex: '^encoder', 'norm'; predicates: 1] except [glob: '**.bias']", or
  /// "PathFilter::all()", or "PathFilter::none()". Safe to print.
  std::string to_string() const;

 private:
  struct Criteria {
    std::vector<Pattern> regexes = {};
    std::vector<Pattern> globs = {};
    std::set<std::string, std::less<>> paths = {};
    std::vector<Predicate> predicates = {};

    std::size_t count() const noexcept;
    bool match(std::string_view path, const Container& container) const;
    void add(Criteria other);
    std::string to_string() const;
  };

  friend Result<Archive> filter(const Archive& archive, const PathFilter& filter);
  bool takes_all() const noexcept;
  PathFilter& add(std::vector<Pattern>& list, Result<Pattern> pattern);
  PathFilter& add(std::vector<Predicate>& list, Predicate predicate);

  bool match_all_ = false;
  bool none_without_criteria_ = false;
  Criteria criteria_;
  Criteria excluded_;
  std::optional<Error> first_error_;
};

std::ostream& operator<<(std::ostream& out, const PathFilter& filter);

/// The tensors of `archive` that `filter` takes.
Result<Archive> filter(const Archive& archive, const PathFilter& filter);

/// Regular expressions with replacements, applied in order, each to the result of the one before
/// and to every match (see Pattern::replace_all). The first bad pattern is kept, as in PathFilter.
///
///   KeyRemapper().add_pattern(R"(^model\.)", "").add_pattern(R"(norm(\d+))", "norm_$1")
class KeyRemapper {
 public:
  using Rule = std::pair<Pattern, std::string>;

  /// KeyRemapper::from_patterns({{R"(^model\.)", ""}, {R"(norm(\d+))", "norm_$1"}})
  static KeyRemapper from_patterns(const std::vector<std::pair<std::string, std::string>>& rules);
  KeyRemapper& add_pattern(std::string_view from, std::string to) &;
  // For a temporary, by value.
  KeyRemapper add_pattern(std::string_view from, std::string to) && {
    return std::move(add_pattern(from, std::move(to)));
  }

  const std::vector<Rule>& rules() const noexcept { return rules_; }
  bool is_empty() const noexcept { return rules_.empty() && !first_error_; }
  /// InvalidPattern for the first pattern that did not parse.
  Status status() const;
  /// REQUIRES: status() is ok.
  std::string remap(std::string name) const;
  /// Warnings about replacements that name groups their pattern lacks.
  std::vector<std::string> warnings() const;
  /// "KeyRemapper['^model\.' -> '', 'norm(\d+)' -> 'norm_$1']". Safe to print.
  std::string to_string() const;

 private:
  std::vector<Rule> rules_;
  std::optional<Error> first_error_;
};

std::ostream& operator<<(std::ostream& out, const KeyRemapper& remapper);

/// The tensors of `archive` under their new names, with the remapper's warnings as notes.
/// NameCollision when two become one.
Result<Archive> remap(const Archive& archive, const KeyRemapper& remapper);

/// A tensor's name before and after.
struct Rename {
  std::string from;
  std::string to;

  friend bool operator==(const Rename&, const Rename&) = default;
};

/// The tensors that have other names than in the file, whatever stages gave them.
std::vector<Rename> renames(const Archive& archive);

/// The tensors below `key`, named from there. A dotted key goes down several levels. MissingTensor,
/// with the top-level keys there are, when nothing lies below it.
Result<Archive> at_top_level_key(const Archive& archive, std::string_view key);

/// The key below which the model seems to lie, of those that checkpoints use: "state_dict", or
/// "state_dict.module" where one wraps the other. Nothing unless all tensors lie below it but for
/// what training keeps beside a model: optimizer state, averaged copies.
std::optional<std::string> suggest_top_level_key(const Archive& archive);

struct IndexGapOptions {
  /// Regular expressions for the lists to leave alone. Each is looked for in the path before the
  /// number, with the numbers that the file has: "flows.2.layers" for flows.2.layers.4.weight. For
  /// a number at the start of a name that is the empty string.
  std::vector<std::string> except = {};
};

/// Closes gaps in numbered names, as PyTorch's Sequential leaves them: fc.0 fc.2 fc.4 become fc.0
/// fc.1 fc.2. Every dotted segment that is a number is replaced by its rank among the numbers under
/// the same parent. NameCollision when two names become one (007 and 7).
Result<Archive> close_index_gaps(const Archive& archive, const IndexGapOptions& options = {});

/// How the names of a file become those of a module. A save uses the remapper alone.
struct NameOptions {
  /// Take what lies below this key, named from there; everything where it is empty
  /// (top_level_key.h).
  std::string top_level_key = {};
  KeyRemapper remapper = {};
  /// fc.0 fc.2 fc.4 become fc.0 fc.1 fc.2 (index_gaps.h).
  bool close_gaps = false;
  /// Regular expressions for the lists whose numbers stay (IndexGapOptions).
  std::vector<std::string> except = {};

  /// InvalidPattern for the first pattern that does not parse. apply_names() returns it, too.
  Status status() const;
};

/// The archive under its new names: first the top-level key, then the remapper, then index gaps. No
/// data is copied or read, and the result can tell what each tensor was called before
/// (Archive::name_history). Notes tell of replacements that name no group, and of a key that a
/// PyTorch model seems to lie below. MissingTensor when nothing lies below the key, NameCollision
/// when two tensors would share a name.
Result<Archive> apply_names(const Archive& archive, const NameOptions& options);

}  // namespace andiron::inline v1
