// SPDX-License-Identifier: MIT OR Apache-2.0
// Which tensors take part.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"
#include "andiron/container.h"
#include "andiron/error.h"
#include "andiron/pattern.h"

namespace andiron::inline v1 {

/// Criteria joined by OR, less what is excluded. A filter without criteria takes everything that is
/// not excluded. The first bad pattern is kept: status() tells it, and every operation that takes
/// the filter returns it. Builders work on lvalues and temporaries; keep what they return by value.
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
  PathFilter& with_regex(std::string_view pattern);
  PathFilter& with_regexes(const std::vector<std::string>& patterns);
  /// A glob that matches the whole path (see Pattern::glob).
  PathFilter& with_glob(std::string_view pattern);
  PathFilter& with_full_path(std::string path);
  PathFilter& with_full_paths(std::vector<std::string> paths);
  PathFilter& with_predicate(Predicate predicate);
  PathFilter& with_predicates(std::vector<Predicate> predicates);
  /// Takes everything, whatever the other criteria say, less what is excluded.
  PathFilter& match_all();

  PathFilter& exclude_regex(std::string_view pattern);
  PathFilter& exclude_glob(std::string_view pattern);
  PathFilter& exclude_full_path(std::string path);
  PathFilter& exclude_predicate(Predicate predicate);

  /// Adds the criteria and exclusions of another filter, as if they had been given to this one.
  PathFilter& or_with(PathFilter other);

  /// Drop criteria of one kind. Where none remain, the filter takes everything again.
  PathFilter& clear_regex();
  PathFilter& clear_globs();
  PathFilter& clear_paths();
  PathFilter& clear_predicates();
  PathFilter& clear_exclusions();
  /// Back to PathFilter(), errors included.
  PathFilter& clear();

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

}  // namespace andiron::inline v1
