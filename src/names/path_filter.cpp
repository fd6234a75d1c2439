// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/names/path_filter_test.cpp
#include "andiron/names.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "andiron/text.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/pattern_syntax.h"
#include "src/core/try.h"
#include "src/names/rename.h"

namespace andiron::inline v1 {

std::size_t PathFilter::Criteria::count() const noexcept {
  return regexes.size() + globs.size() + paths.size() + predicates.size();
}

bool PathFilter::Criteria::match(std::string_view path, const Container& container) const {
  const auto matches_path = [&](const Pattern& pattern) { return pattern.matches(path); };
  return paths.contains(path) || std::any_of(regexes.begin(), regexes.end(), matches_path) ||
         std::any_of(globs.begin(), globs.end(), matches_path) ||
         std::any_of(predicates.begin(), predicates.end(),
                     [&](const Predicate& predicate) { return predicate(path, container); });
}

void PathFilter::Criteria::add(Criteria other) {
  regexes.insert(regexes.end(), other.regexes.begin(), other.regexes.end());
  globs.insert(globs.end(), other.globs.begin(), other.globs.end());
  paths.merge(other.paths);
  predicates.insert(predicates.end(), other.predicates.begin(), other.predicates.end());
}

std::string PathFilter::Criteria::to_string() const {
  std::vector<std::string> parts;
  const auto add_patterns = [&](const char* kind, const std::vector<Pattern>& patterns) {
    std::vector<std::string> texts;
    texts.reserve(patterns.size());
    for (const Pattern& pattern : patterns) texts.push_back(shown_pattern(pattern.text()));
    if (!texts.empty())
      parts.push_back(kind + detail::list_in_quotes({texts.begin(), texts.end()}));
  };
  add_patterns("regex: ", regexes);
  add_patterns("glob: ", globs);
  if (!paths.empty())
    parts.push_back("paths: " + detail::list_in_quotes({paths.begin(), paths.end()}));
  if (!predicates.empty()) parts.push_back("predicates: " + std::to_string(predicates.size()));

  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return display_line(text);
}

PathFilter PathFilter::all() { return PathFilter().match_all(); }

PathFilter PathFilter::none() {
  PathFilter filter;
  filter.none_without_criteria_ = true;
  return filter;
}

PathFilter& PathFilter::clear_regex() & { return criteria_.regexes.clear(), *this; }
PathFilter& PathFilter::clear_globs() & { return criteria_.globs.clear(), *this; }
PathFilter& PathFilter::clear_paths() & { return criteria_.paths.clear(), *this; }
PathFilter& PathFilter::clear_predicates() & { return criteria_.predicates.clear(), *this; }
PathFilter& PathFilter::clear_exclusions() & { return excluded_ = {}, *this; }
PathFilter& PathFilter::clear() & { return *this = PathFilter(); }

// A bad pattern counts as a criterion: a caller that skips empty filters must not skip its error.
bool PathFilter::is_empty() const noexcept {
  return !match_all_ && takes_all() && excluded_.count() == 0 && !first_error_;
}

std::size_t PathFilter::criteria_count() const noexcept {
  return match_all_ ? 1 : criteria_.count();
}

Status PathFilter::status() const ANDIRON_NO_THROW {
  if (first_error_) return *first_error_;
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

bool PathFilter::matches(std::string_view path, const Container& container) const {
  return (takes_all() || criteria_.match(path, container)) && !excluded_.match(path, container);
}

std::string PathFilter::to_string() const {
  std::string text = "PathFilter";
  if (takes_all()) {
    text += "::all()";
  } else if (criteria_.count() == 0) {
    text += "::none()";
  } else {
    text += "[" + criteria_.to_string() + "]";
  }
  if (excluded_.count() > 0) text += " except [" + excluded_.to_string() + "]";
  return text;
}

bool PathFilter::takes_all() const noexcept {
  return match_all_ || (criteria_.count() == 0 && !none_without_criteria_);
}

void PathFilter::add(std::vector<Pattern>& list, Result<Pattern> given) {
  Result<Pattern> pattern = detail::pass_on_out_of_memory(std::move(given));
  if (pattern) {
    list.push_back(*std::move(pattern));
  } else if (!first_error_) {
    first_error_ = std::move(pattern).error();
  }
}

void PathFilter::add(std::vector<Predicate>& list, Predicate predicate) {
  if (predicate) {
    list.push_back(std::move(predicate));
  } else if (!first_error_) {
    first_error_ =
        Error{.code = ErrorCode::invalid_argument, .message = "the filter's predicate is empty"};
  }
}

void PathFilter::add(PathFilter other) {
  match_all_ = match_all_ || other.match_all_;
  none_without_criteria_ = none_without_criteria_ || other.none_without_criteria_;
  criteria_.add(std::move(other.criteria_));
  excluded_.add(std::move(other.excluded_));
  if (!first_error_) first_error_ = std::move(other.first_error_);
}

std::ostream& operator<<(std::ostream& out, const PathFilter& filter) {
  return out << filter.to_string();
}

Result<Archive> filter(const Archive& archive, const PathFilter& filter) ANDIRON_NO_THROW {
  ANDIRON_TRY(filter.status());
  // Only predicates look at the container, and only snapshots know it.
  const bool needs_container =
      !filter.criteria_.predicates.empty() || !filter.excluded_.predicates.empty();
  const std::vector<std::string_view> names = detail::names_and_aliases(archive);
  std::vector<std::optional<std::string>> taken(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    Container container;
    if (needs_container) {
      if (const auto at = archive.find(names[i])) container = archive.snapshot(*at).container();
    }
    if (filter.matches(names[i], container)) taken[i] = names[i];
  }
  ANDIRON_ASSIGN(Archive filtered, detail::rename_tensors(archive, std::move(taken)));
  if (!needs_container) {
    detail::rename_skipped(filtered, [&](std::string_view name) {
      return filter.matches(name) ? std::optional(std::string(name)) : std::nullopt;
    });
  }
  if (filtered.empty() && !archive.empty()) {
    filtered.add_note("no name matches the filter; names look like " +
                      detail::in_quotes(archive.info(0).name));
  }
  return filtered;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
