// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/transfer/path_filter_test.cpp
#include "andiron/path_filter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "andiron/display_text.h"
#include "src/core/try.h"
#include "src/transfer/new_names.h"

namespace andiron {
inline namespace v1 {

PathFilter& PathFilter::with_regex(std::string_view pattern) & {
  add(patterns_, Pattern::regex(pattern));
  return *this;
}

PathFilter& PathFilter::with_regexes(const std::vector<std::string>& patterns) & {
  for (const std::string& pattern : patterns) with_regex(pattern);
  return *this;
}

PathFilter& PathFilter::with_glob(std::string_view pattern) & {
  add(patterns_, Pattern::glob(pattern));
  return *this;
}

PathFilter& PathFilter::with_full_path(std::string path) & {
  paths_.insert(std::move(path));
  return *this;
}

PathFilter& PathFilter::with_full_paths(std::vector<std::string> paths) & {
  for (std::string& path : paths) paths_.insert(std::move(path));
  return *this;
}

PathFilter& PathFilter::with_predicate(Predicate predicate) & {
  if (predicate) {
    predicates_.push_back(std::move(predicate));
  } else if (!first_error_) {
    first_error_.emplace();
    first_error_->code = ErrorCode::invalid_argument;
    first_error_->message = "the filter's predicate holds no function";
  }
  return *this;
}

PathFilter& PathFilter::match_all() & {
  match_all_ = true;
  return *this;
}

PathFilter& PathFilter::exclude_regex(std::string_view pattern) & {
  add(excluded_, Pattern::regex(pattern));
  return *this;
}

PathFilter& PathFilter::exclude_glob(std::string_view pattern) & {
  add(excluded_, Pattern::glob(pattern));
  return *this;
}

PathFilter&& PathFilter::with_regex(std::string_view pattern) && {
  return std::move(with_regex(pattern));
}

PathFilter&& PathFilter::with_regexes(const std::vector<std::string>& patterns) && {
  return std::move(with_regexes(patterns));
}

PathFilter&& PathFilter::with_glob(std::string_view pattern) && {
  return std::move(with_glob(pattern));
}

PathFilter&& PathFilter::with_full_path(std::string path) && {
  return std::move(with_full_path(std::move(path)));
}

PathFilter&& PathFilter::with_full_paths(std::vector<std::string> paths) && {
  return std::move(with_full_paths(std::move(paths)));
}

PathFilter&& PathFilter::with_predicate(Predicate predicate) && {
  return std::move(with_predicate(std::move(predicate)));
}

PathFilter&& PathFilter::match_all() && { return std::move(match_all()); }

PathFilter&& PathFilter::exclude_regex(std::string_view pattern) && {
  return std::move(exclude_regex(pattern));
}

PathFilter&& PathFilter::exclude_glob(std::string_view pattern) && {
  return std::move(exclude_glob(pattern));
}

// A bad pattern counts as a criterion: a caller that skips empty filters must not skip its error.
bool PathFilter::is_empty() const noexcept {
  return !match_all_ && patterns_.empty() && paths_.empty() && predicates_.empty() &&
         excluded_.empty() && !first_error_;
}

Status PathFilter::status() const {
  if (first_error_) return *first_error_;
  return {};
}

bool PathFilter::matches(std::string_view path, const Container& container) const {
  const auto matches_path = [&](const Pattern& pattern) { return pattern.matches(path); };
  if (std::any_of(excluded_.begin(), excluded_.end(), matches_path)) return false;
  const bool takes_all = match_all_ || (patterns_.empty() && paths_.empty() && predicates_.empty());
  return takes_all || paths_.contains(path) ||
         std::any_of(patterns_.begin(), patterns_.end(), matches_path) ||
         std::any_of(predicates_.begin(), predicates_.end(),
                     [&](const Predicate& predicate) { return predicate(path, container); });
}

void PathFilter::add(std::vector<Pattern>& list, Result<Pattern> pattern) {
  if (pattern) {
    list.push_back(*std::move(pattern));
  } else if (!first_error_) {
    first_error_ = std::move(pattern).error();
  }
}

Result<Archive> filter(const Archive& archive, const PathFilter& filter) {
  ANDIRON_TRY(filter.status());
  // Only predicates look at the container, and only snapshots know it.
  const bool needs_container = !filter.predicates_.empty();
  const std::vector<std::string_view> names = names_and_aliases(archive);
  std::vector<std::optional<std::string>> taken(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    Container container;
    if (needs_container) {
      if (const auto at = archive.find(names[i])) container = archive.snapshot(*at).container();
    }
    if (filter.matches(names[i], container)) taken[i] = names[i];
  }
  ANDIRON_ASSIGN(Archive filtered, with_new_names(archive, std::move(taken)));
  if (filtered.empty() && !archive.empty()) {
    filtered.add_note("no name passes the filter; they look like '" +
                      display_text(archive.info(0).name) + "'");
  }
  return filtered;
}

}  // namespace v1
}  // namespace andiron
