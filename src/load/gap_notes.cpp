// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/gap_notes_test.cpp
#include "src/load/gap_notes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/core/parse_index.h"
#include "src/core/text/in_quotes.h"
#include "src/load/module_lists.h"
#include "src/load/told_names.h"

namespace andiron::inline v1::detail {
namespace {

Message keep_numbers() {
  return "; " + Message(Advice::keep_numbers) + " keeps the source's numbers";
}

// A list of the module, as the source has it.
struct SourceList {
  std::size_t length = 0;                         // in the module
  std::map<std::uint64_t, std::string> own = {};  // the file's number of each
  bool is_renumbered = false;
};

// By their paths, those that are longer in the module and have other numbers in the source.
std::map<std::string_view, SourceList> longer_lists(const std::vector<Slot>& slots,
                                                    const Archive& source) {
  std::map<std::string_view, SourceList> lists;
  std::size_t longest = 0;
  for (const auto& [path, numbers] : numbers_in_lists(slots)) {
    lists[path].length = numbers.size();
    longest = std::max(longest, path.size() + 1);
  }
  const ToldNames told(source);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string_view name = source.info(i).name;
    std::string_view own = told.own(name);
    for (std::size_t begin = 0; begin < name.size() && begin <= longest;) {
      // Closing changes numbers, so that segments stay in their places.
      const std::size_t end = std::min(name.find('.', begin), name.size());
      const std::string_view own_segment = own.substr(0, own.find('.'));
      own.remove_prefix(std::min(own_segment.size() + 1, own.size()));
      if (const auto number = parse_index(name.substr(begin, end - begin))) {
        const auto list = lists.find(name.substr(0, begin == 0 ? 0 : begin - 1));
        if (list != lists.end()) {
          const auto own_number = parse_index(own_segment);
          list->second.own.try_emplace(*number, own_segment);
          if (own_number && own_number != number) list->second.is_renumbered = true;
        }
      }
      begin = end + 1;
    }
  }
  std::erase_if(lists, [](const auto& one) {
    return !one.second.is_renumbered || one.second.own.size() >= one.second.length;
  });
  return lists;
}

// "1 is 4 in the file, 2 is 7"
std::string numbers_in_words(const SourceList& list) {
  std::string text;
  std::size_t told = 0;
  std::size_t others = 0;
  for (const auto& [number, own] : list.own) {
    if (parse_index(own) == number) continue;
    if (told == ApplyResult::shown) {
      ++others;
      continue;
    }
    text += (told == 0 ? "" : ", ") + std::to_string(number) + " is " + own;
    if (told++ == 0) text += " in the file";
  }
  if (others != 0) text += " and " + std::to_string(others) + " more";
  return text;
}

void note_longer_lists(const std::map<std::string_view, SourceList>& lists,
                       std::vector<Message>& notes) {
  std::size_t told = 0;
  for (const auto& [path, list] : lists) {
    if (told++ == ApplyResult::shown) {
      notes.push_back("so it is in " + count_of(lists.size() - ApplyResult::shown, "other list"));
      return;
    }
    notes.push_back(
        (path.empty() ? "the module" : "the module's list " + in_quotes(path)) + " has " +
        count_of(list.length, "element") + ", the source " + std::to_string(list.own.size()) +
        "; closing index gaps gave them other numbers: " + numbers_in_words(list) + keep_numbers());
  }
}

bool is_in_any(std::string_view path, const std::map<std::string_view, SourceList>& lists) {
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos;
       dot = path.find('.', dot + 1)) {
    if (lists.contains(path.substr(0, dot))) return true;
  }
  return lists.contains(std::string_view());
}

// A parameter that finds nothing although the source has its name: closing index gaps has moved
// tensors to lower numbers, and others may have got the wrong ones.
void note_moved_numbers(const Archive& before_closing,
                        const std::map<std::string_view, SourceList>& told, ApplyResult& result) {
  std::vector<std::string_view> moved;
  for (const MissingTensor& missing : result.missing) {
    const bool is_there = before_closing.find(missing.path).has_value();
    if (is_there && !is_in_any(missing.path, told)) moved.push_back(missing.path);
  }
  if (moved.empty()) return;
  result.notes.push_back("the source has " + in_quotes_and_others(moved) +
                         ", but closing index gaps moved tensors to lower numbers" +
                         keep_numbers());
}

// Rules and the report see the numbers of the file, a load those of the module.
void note_renumbered(const Archive& source, LoadPlan& plan) {
  const ToldNames told(source);
  std::vector<std::string_view> renumbered;
  for (const std::size_t index : plan.unused) {
    const std::string_view name = source.info(index).name;
    if (told.own(name) != name) renumbered.push_back(name);
  }
  if (renumbered.empty()) return;
  const std::string_view first = renumbered.front();
  plan.result.notes.push_back(
      "closing index gaps renumbered " + in_quotes(told.own(first)) + " to " + in_quotes(first) +
      (renumbered.size() > 1 ? " (and " + count_of(renumbered.size() - 1, "other") + ")" : "") +
      "; rules for names see the file's numbers");
}

}  // namespace

void note_closed_gaps(const std::vector<Slot>& slots, const Archive& source, LoadPlan& plan) {
  const std::optional<Archive> before_closing = source.before(NameStage::index_gaps);
  // A list is longer only if something in it finds no tensor, or is left out.
  if (!before_closing || (plan.result.missing.empty() && plan.result.skipped.empty())) return;
  const std::map<std::string_view, SourceList> longer = longer_lists(slots, source);
  note_longer_lists(longer, plan.result.notes);
  if (plan.result.missing.empty()) return;
  note_moved_numbers(*before_closing, longer, plan.result);
  note_renumbered(source, plan);
}

}  // namespace andiron::inline v1::detail
