// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/grow_to_fit_test.cpp
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "andiron/apply.h"
#include "src/core/check_limit.h"
#include "src/core/parse_index.h"
#include "src/core/text/in_quotes.h"

namespace andiron::inline v1::detail {
namespace {

// Calls `take` with each different segment that follows `path` in the names, which are in order.
template <class Take>
void for_each_segment(const std::vector<std::string_view>& names, const std::string& path,
                      Take take) {
  const std::string prefix = path.empty() ? path : path + ".";
  std::string_view last;
  bool is_first = true;
  for (auto name = std::lower_bound(names.begin(), names.end(), prefix);
       name != names.end() && name->starts_with(prefix); ++name) {
    const std::string_view rest = name->substr(prefix.size());
    const std::string_view segment = rest.substr(0, rest.find('.'));
    if (!is_first && segment == last) continue;
    is_first = false;
    last = segment;
    take(segment);
  }
}

constexpr std::uint64_t most_levels = 128;

Error has_gaps(const Archive& source, const std::string& path, std::uint64_t missing,
               std::uint64_t largest) {
  return Error{
      .code = ErrorCode::missing_tensor,
      .message = "the numbers in a list have gaps",
      .file = source.origin(),
      .tensor = path,
      .found = "numbers up to " + std::to_string(largest) + ", but not " + std::to_string(missing),
      .hint = "close the gaps with " + Message(Advice::close_gaps) +
              ", or make the list as long as it shall be"};
}

}  // namespace

ContainerGrower::ContainerGrower(const Archive& source, const ChooseOptions& options)
    : chooser_(source, options), source_(source) {
  names_.reserve(source_.size());
  for (std::size_t i = 0; i < source_.size(); ++i) names_.push_back(source_.info(i).name);
  for (const auto& [alias, kept] : source_.aliases()) names_.push_back(alias);
  std::sort(names_.begin(), names_.end());
}

void ContainerGrower::enter(std::string_view name, Kind kind) {
  // A type may contain itself, and a name may be long.
  Status depth =
      check_limit(++depth_, most_levels, {"a name is too deep for a module", nullptr, "levels"});
  if (!depth && status_) status_ = std::move(depth);
  chooser_.place().enter(name, kind);
}

void ContainerGrower::leave() {
  --depth_;
  chooser_.place().leave();
}

bool ContainerGrower::has_names() const {
  const std::string prefix = chooser_.path().empty() ? std::string() : chooser_.path() + ".";
  const auto first = std::lower_bound(names_.begin(), names_.end(), prefix);
  return first != names_.end() && first->starts_with(prefix);
}

std::vector<std::string> ContainerGrower::keys() const {
  std::vector<std::string> keys;
  for_each_segment(names_, chooser_.path(),
                   [&](std::string_view segment) { keys.emplace_back(segment); });
  return keys;
}

std::size_t ContainerGrower::wanted_size(std::size_t present) {
  std::vector<std::uint64_t> numbers;
  for_each_segment(names_, chooser_.path(), [&](std::string_view segment) {
    if (const auto number = parse_printed_index(segment)) numbers.push_back(*number);
  });
  std::sort(numbers.begin(), numbers.end());
  std::uint64_t wanted = present;
  for (const std::uint64_t number : numbers) {
    if (number < wanted) continue;
    if (number > wanted) {
      status_ = has_gaps(source_, chooser_.path(), wanted, numbers.back());
      return present;
    }
    ++wanted;
  }
  return static_cast<std::size_t>(wanted);
}

void ContainerGrower::undo_from(Mark mark) {
  while (undo_.size() > mark.changes) {
    undo_.back()();
    undo_.pop_back();
  }
  grown_.resize(mark.told);
}

void ContainerGrower::tell(std::size_t before, std::size_t after) {
  grown_.push_back({chooser_.path(), before, after});
}

Result<std::vector<GrownPart>> ContainerGrower::finish() {
  if (!status_) return std::move(status_).error();
  undo_.clear();
  // Outer parts first: an optional is told of after what is in it.
  const auto depth = [](const GrownPart& part) {
    return part.path.empty() ? 0 : 1 + std::count(part.path.begin(), part.path.end(), '.');
  };
  std::stable_sort(grown_.begin(), grown_.end(),
                   [&](const GrownPart& a, const GrownPart& b) { return depth(a) < depth(b); });
  return std::move(grown_);
}

}  // namespace andiron::inline v1::detail
