// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/cli/arguments_test.cpp
#include "cli/option_list.h"

#include <algorithm>
#include <optional>

#include "cli/quantities.h"

namespace andiron::cli {
namespace {

Option::Take takes_first(OptionList::Take take) {
  return [take = std::move(take)](const std::string& value, const std::string&) { take(value); };
}

}  // namespace

Option& OptionList::add(Option option) {
  option.group = group_;
  return options_.emplace_back(std::move(option));
}

Option& OptionList::flag(std::string names, std::function<void()> set, std::string help) {
  const auto take = [set = std::move(set)](const auto&...) { set(); };
  return add({Option::Takes::nothing, std::move(names), "", std::move(help), take});
}

Option& OptionList::flag(std::string names, bool& target, std::string help) {
  return flag(std::move(names), [&target] { target = true; }, std::move(help));
}

Option& OptionList::value(std::string names, std::string shown, Take take, std::string help) {
  return add({Option::Takes::value, std::move(names), std::move(shown), std::move(help),
              takes_first(std::move(take))});
}

Option& OptionList::value(std::string names, std::string shown, std::string& target,
                          std::string help) {
  const auto set = [&target](const std::string& text) { target = text; };
  return value(std::move(names), std::move(shown), set, std::move(help));
}

Option& OptionList::values(std::string names, std::string shown, Take take, std::string help) {
  return add({Option::Takes::values, std::move(names), std::move(shown), std::move(help),
              takes_first(std::move(take))});
}

Option& OptionList::pairs(std::string names, std::string shown, Option::Take take,
                          std::string help) {
  return add(
      {Option::Takes::pairs, std::move(names), std::move(shown), std::move(help), std::move(take)});
}

std::string in_quotes(const std::string& text) { return "'" + text + "'"; }

std::string alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "|") + word;
  return text;
}

std::uint64_t size_argument(const std::string& text) {
  const std::optional<std::uint64_t> size = parse_size(text);
  if (!size) throw WrongValue{in_quotes(text) + " is not a size; sizes look like 512M or 1.5GiB"};
  return *size;
}

unsigned count_argument(const std::string& text, unsigned most) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const unsigned long count = digits && !text.empty() && text.size() < 10 ? std::stoul(text) : 0;
  if (count < 1 || count > most) {
    throw WrongValue{in_quotes(text) + " is not a number from 1 to " + std::to_string(most)};
  }
  return static_cast<unsigned>(count);
}

std::size_t index_argument(const std::string& text, const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) {
    throw WrongValue{in_quotes(text) + " is not one of " + alternatives(words)};
  }
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace andiron::cli
