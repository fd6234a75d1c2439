// SPDX-License-Identifier: MIT OR Apache-2.0
// Which tensors take part.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"
#include "andiron/container.h"
#include "andiron/error.h"
#include "andiron/pattern.h"

namespace andiron {
inline namespace v1 {

/// Criteria joined by OR, less what is excluded. A filter without criteria takes everything that is
/// not excluded. The first bad pattern is kept: status() tells it, and every operation that takes
/// the filter returns it. Builders work on lvalues and temporaries.
class PathFilter {
 public:
  /// Sees the dotted path and, for tensors of a module, what they sit in.
  using Predicate = std::function<bool(std::string_view path, const Container& container)>;

  /// A regular expression found anywhere in the path.
  PathFilter& with_regex(std::string_view pattern) &;
  PathFilter& with_regexes(const std::vector<std::string>& patterns) &;
  /// A glob that matches the whole path (see Pattern::glob).
  PathFilter& with_glob(std::string_view pattern) &;
  PathFilter& with_full_path(std::string path) &;
  PathFilter& with_full_paths(std::vector<std::string> paths) &;
  PathFilter& with_predicate(Predicate predicate) &;
  /// Takes everything, whatever the other criteria say, less what is excluded.
  PathFilter& match_all() &;
  PathFilter& exclude_regex(std::string_view pattern) &;
  PathFilter& exclude_glob(std::string_view pattern) &;

  PathFilter&& with_regex(std::string_view pattern) &&;
  PathFilter&& with_regexes(const std::vector<std::string>& patterns) &&;
  PathFilter&& with_glob(std::string_view pattern) &&;
  PathFilter&& with_full_path(std::string path) &&;
  PathFilter&& with_full_paths(std::vector<std::string> paths) &&;
  PathFilter&& with_predicate(Predicate predicate) &&;
  PathFilter&& match_all() &&;
  PathFilter&& exclude_regex(std::string_view pattern) &&;
  PathFilter&& exclude_glob(std::string_view pattern) &&;

  /// No criteria and no exclusions.
  bool is_empty() const noexcept;
  /// InvalidPattern for the first pattern that did not parse.
  Status status() const;
  /// REQUIRES: status() is ok.
  bool matches(std::string_view path, const Container& container = {}) const;

 private:
  friend Result<Archive> filter(const Archive& archive, const PathFilter& filter);
  void add(std::vector<Pattern>& list, Result<Pattern> pattern);

  bool match_all_ = false;
  std::vector<Pattern> patterns_;
  std::set<std::string, std::less<>> paths_;
  std::vector<Predicate> predicates_;
  std::vector<Pattern> excluded_;
  std::optional<Error> first_error_;
};

/// The tensors of `archive` that `filter` takes.
Result<Archive> filter(const Archive& archive, const PathFilter& filter);

}  // namespace v1
}  // namespace andiron
