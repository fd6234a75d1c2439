// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/load_notes_test.cpp
#include "src/load/load_notes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "src/core/parse_index.h"
#include "src/core/path_segments.h"
#include "src/core/text/digit.h"
#include "src/core/text/in_quotes.h"
#include "src/names/training_names.h"

namespace andiron::inline v1::detail {
namespace {

// What PyTorch keeps beside a norm and nobody else has: no part of the model is passed over.
bool is_counter(std::string_view path) { return path.ends_with(".num_batches_tracked"); }

// "'a' and 3 others"
std::string some(const std::vector<std::string_view>& names) {
  std::string text = in_quotes(names.front());
  if (names.size() == 2) text += " and 1 other";
  if (names.size() > 2) text += " and " + std::to_string(names.size() - 1) + " others";
  return text;
}

void note_empty_filter(const std::vector<Slot>& slots, ApplyResult& result) {
  if (slots.empty() || result.skipped.size() != slots.size()) return;
  result.notes.push_back("no parameter matches the filter; parameters look like " +
                         in_quotes(slots.front().path));
}

void note_changed_dtypes(const std::vector<Slot>& slots, const std::vector<Assignment>& assignments,
                         ApplyResult& result) {
  std::vector<std::string_view> changed;
  std::string example;
  for (const Assignment& assignment : assignments) {
    if (!assignment.changes_dtype) continue;
    const Slot& slot = slots[assignment.slot];
    if (changed.empty()) {
      example = std::string(dtype_name(slot.ops->info(slot.leaf).dtype)) + " to " +
                assignment.tensor.dtype_text();
    }
    changed.push_back(slot.path);
  }
  if (changed.empty()) return;
  result.notes.push_back("the source changes the dtype of " + some(changed) + " (" + example +
                         "); use DTypePolicy::cast_to_module to keep the module's");
}

// The parts of a module that are empty, and the tensors that the source has for them.
class Vacancies {
 public:
  explicit Vacancies(const std::vector<Vacancy>& all) {
    for (const Vacancy& vacancy : all) {
      found_.try_emplace(vacancy.path, Found{&vacancy});
      if (is_holder(vacancy)) parents_.insert(parent_path(vacancy.path));
      if (vacancy.kind == Vacancy::Kind::list && !parent_path(vacancy.path).empty()) {
        lists_.try_emplace(parent_path(vacancy.path), vacancy.path);
      }
    }
  }

  // Counts a tensor for the outermost vacancy that it is in; returns whether there is one.
  bool take(std::string_view name) {
    if (found_.empty()) return false;
    if (count_in("", name)) return true;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
         dot = name.find('.', dot + 1)) {
      if (count_in(name.substr(0, dot), name.substr(dot + 1))) return true;
    }
    const auto exact = found_.find(name);  // an optional parameter
    if (exact == found_.end() || !is_holder(*exact->second.vacancy)) return false;
    return ++exact->second.tensors, true;
  }

  // The same for a list beside it, in which an adapter may number tensors in another way: the
  // layers of an LSTM, weight_ih_l0.
  bool take_for_list_beside(std::string_view name) {
    const auto list = lists_.find(parent_path(name));
    if (list == lists_.end()) return false;
    return ++found_.at(list->second).tensors, true;
  }

  // Whether an optional or a pointer beside a tensor is empty. An adapter may feed it from a tensor
  // of another name.
  bool has_beside(std::string_view name) const { return parents_.contains(parent_path(name)); }

  // One note for each kind.
  void add_notes(const std::vector<Vacancy>& in_order, ApplyResult& result) {
    using Kind = Vacancy::Kind;
    for (const Kind kind : {Kind::list, Kind::map, Kind::optional, Kind::pointer}) {
      std::vector<std::string_view> paths;
      std::size_t tensors = 0;
      for (const Vacancy& vacancy : in_order) {
        const Found& found = found_.at(vacancy.path);
        if (found.vacancy != &vacancy || vacancy.kind != kind || found.tensors == 0) continue;
        paths.push_back(vacancy.path);
        tensors += found.tensors;
      }
      if (!paths.empty()) result.notes.push_back(note(kind, paths, tensors));
    }
  }

 private:
  struct Found {
    const Vacancy* vacancy;
    std::size_t tensors = 0;
  };

  static bool is_holder(const Vacancy& vacancy) {
    return vacancy.kind == Vacancy::Kind::optional || vacancy.kind == Vacancy::Kind::pointer;
  }

  bool count_in(std::string_view path, std::string_view rest) {
    const auto found = found_.find(path);
    if (found == found_.end()) return false;
    const bool is_list = found->second.vacancy->kind == Vacancy::Kind::list;
    if (is_list && !parse_index(rest.substr(0, rest.find('.')))) return false;
    return ++found->second.tensors, true;
  }

  static std::string note(Vacancy::Kind kind, const std::vector<std::string_view>& paths,
                          std::size_t tensors) {
    constexpr std::string_view kinds[] = {"list", "map", "optional", "pointer"};
    const std::string noun(kinds[static_cast<unsigned>(kind)]);
    const bool is_container = kind == Vacancy::Kind::list || kind == Vacancy::Kind::map;
    std::string text = "the source has " + count_of(tensors, "tensor") + " for ";
    if (paths.front().empty()) {
      text += "the module, which is an empty " + noun;
    } else if (paths.size() == 1) {
      text += in_quotes(paths.front()) + ", which is an empty " + noun + " in the module";
    } else {
      text += some(paths) + ", which are empty " + noun + "s in the module";
    }
    text += "; loading does not grow containers";
    return is_container ? text : text + " or fill optionals and pointers";
  }

  std::unordered_map<std::string_view, Found> found_;             // by path
  std::unordered_set<std::string_view> parents_;                  // of optionals and pointers
  std::unordered_map<std::string_view, std::string_view> lists_;  // by their parents
};

// Whether a tensor is used that has a 0 for one of the numbers of this one: both belong to a list
// that is shorter in the module.
bool is_beyond_used(std::string_view name, const std::unordered_set<std::string_view>& used) {
  for (std::size_t begin = 0; begin < name.size();) {
    if (!is_digit(name[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < name.size() && is_digit(name[end])) ++end;
    std::string first(name);
    first.replace(begin, end - begin, "0");
    if (used.contains(first)) return true;
    begin = end;
  }
  return false;
}

// Tensors that the module seems to have a place for, but has not: containers and optionals that are
// empty, lists that are shorter. Loads do not fill them.
void note_vacancies(const ModuleSlots& module, const Archive& source, LoadPlan& plan) {
  ApplyResult& result = plan.result;
  std::unordered_set<std::string_view> parents;
  std::unordered_map<std::string_view, std::uint64_t> list_ends;  // path of a list to its size
  for (const Slot& slot : module.slots) {
    const std::string_view path = slot.path;
    parents.insert(slot.parent());
    for (std::size_t begin = 0; begin < path.size();) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      if (const auto index = parse_index(path.substr(begin, end - begin)); index && begin > 0) {
        std::uint64_t& size = list_ends[path.substr(0, begin - 1)];
        size = std::max(size, *index + 1);
      }
      begin = end + 1;
    }
  }
  std::unordered_set<std::string_view> used;
  for (const std::uint32_t index : plan.sources) used.insert(source.info(index).name);
  Vacancies vacancies(module.vacancies);
  std::vector<std::string_view> beside;
  std::vector<std::string_view> beyond;
  bool may_be_optional = false;
  for (const std::string& name : result.unused) {
    const std::string_view path = name;
    if (vacancies.take(path)) continue;
    bool is_beyond = false;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos && !is_beyond;
         dot = path.find('.', dot + 1)) {
      const auto list = list_ends.find(path.substr(0, dot));
      const std::size_t end = std::min(path.find('.', dot + 1), path.size());
      const auto index = parse_index(path.substr(dot + 1, end - dot - 1));
      is_beyond = list != list_ends.end() && index && *index >= list->second;
    }
    if (is_beyond || is_beyond_used(path, used)) {
      beyond.push_back(path);
    } else if (!parents.contains(parent_path(path)) && vacancies.take_for_list_beside(path)) {
      continue;
    } else if (path.find('.') != std::string_view::npos && !is_counter(path) &&
               parents.contains(parent_path(path))) {
      beside.push_back(path);
      may_be_optional = may_be_optional || vacancies.has_beside(path);
    }
  }
  vacancies.add_notes(module.vacancies, result);
  if (!beside.empty()) {
    result.notes.push_back("the module has no parameter for " + some(beside) +
                           ", though it has others beside it" +
                           (may_be_optional ? "; loading does not fill empty optionals" : ""));
  }
  if (!beyond.empty()) {
    result.notes.push_back("the module's lists are too short for " + some(beyond) +
                           "; loading does not extend lists");
  }
}

// What is missing, and is in the file.
void note_not_taken(const Archive& source, ApplyResult& result) {
  if (result.missing.empty() || source.skipped().empty()) return;
  std::unordered_map<std::string_view, std::string_view> reasons;
  for (const Skipped& skipped : source.skipped()) reasons.emplace(skipped.name, skipped.reason);
  std::vector<std::string_view> names;
  for (const MissingTensor& missing : result.missing) {
    if (reasons.contains(missing.path)) names.push_back(missing.path);
  }
  if (names.empty()) return;
  result.notes.push_back("skipped in the file: " + some(names) + ": " +
                         std::string(reasons[names.front()]));
}

// A weight that is missing, while the source has what it is computed from.
void note_parts_of_weights(ApplyResult& result) {
  if (result.missing.empty()) return;
  std::vector<std::string_view> parts;
  for (const std::string& name : result.unused) {
    if (is_weight_part(name)) parts.push_back(name);
  }
  if (parts.empty()) return;
  result.notes.push_back(
      "PyTorch computes a weight from " + some(parts) +
      "; .fold_weight_norm(true) computes the weights of weight norm; for others, remove "
      "the parametrization in PyTorch and save again");
}

// A parameter that finds nothing although the source has its name: closing index gaps has moved
// tensors to lower numbers, and others may have got the wrong ones.
void note_moved_numbers(const Archive& source, ApplyResult& result) {
  const std::optional<Archive> before_closing = source.before(NameStage::index_gaps);
  if (result.missing.empty() || !before_closing) return;
  std::vector<std::string_view> moved;
  for (const MissingTensor& missing : result.missing) {
    if (before_closing->find(missing.path)) moved.push_back(missing.path);
  }
  if (moved.empty()) return;
  result.notes.push_back("the source has " + some(moved) +
                         ", but closing index gaps moved tensors to lower numbers; "
                         ".map_indices_contiguous(false) keeps the source's numbers");
}

// Rules see the numbers of the file, the report those of the module.
void note_renumbered(const Archive& source, ApplyResult& result) {
  const std::optional<Archive> before_closing = source.before(NameStage::index_gaps);
  if (result.missing.empty() || !before_closing) return;
  std::vector<std::string_view> renumbered;
  std::string before;
  for (const std::string& name : result.unused) {
    const std::optional<std::size_t> index = source.find(name);
    if (!index || before_closing->info(*index).name == name) continue;
    if (renumbered.empty()) before = before_closing->info(*index).name;
    renumbered.push_back(name);
  }
  if (renumbered.empty()) return;
  result.notes.push_back("closing index gaps renumbered " + some(renumbered) +
                         ": rules for names see " + in_quotes(before));
}

// Shapes tell a transposed matrix from another, unless it is square.
void note_square_matrices(const std::vector<Slot>& slots,
                          const std::vector<Assignment>& assignments, const Archive& source,
                          const ApplyOptions& options, ApplyResult& result) {
  const auto format = source.metadata().find("format");
  const bool says_so = format != source.metadata().end() && format->second == "pt";
  if (options.adapter.is_set() || (!source.is_pickled() && !says_so)) return;
  std::vector<std::string_view> square;
  for (const Assignment& assignment : assignments) {
    const Slot& slot = slots[assignment.slot];
    const Shape& shape = assignment.tensor.shape();
    if (slot.container.is("Linear") && shape.rank() == 2 && shape[0] == shape[1]) {
      square.push_back(slot.path);
    }
  }
  if (square.empty()) return;
  result.notes.push_back(
      (source.is_pickled() ? "this is a PyTorch file, which stores "
                           : "the metadata says that PyTorch wrote this file, which stores ") +
      some(square) + " transposed; use .with_from_adapter(PyTorchToBurnAdapter())");
}

void note_guesses(const ApplyOptions& options, ApplyResult& result) {
  if (options.guesses.empty()) return;
  std::string text = options.guesses.size() == 1
                         ? "a setting was guessed; check what it loads: "
                         : "some settings were guessed; check what they load: ";
  for (std::size_t i = 0; i < options.guesses.size(); ++i) {
    text += (i == 0 ? "" : ", ") + options.guesses[i];
  }
  result.notes.push_back(std::move(text));
}

}  // namespace

void add_load_notes(const ModuleSlots& module, const Archive& source, const ApplyOptions& options,
                    LoadPlan& plan) {
  ApplyResult& result = plan.result;
  note_guesses(options, result);
  note_empty_filter(module.slots, result);
  note_changed_dtypes(module.slots, plan.assignments, result);
  if (!result.unused.empty()) note_vacancies(module, source, plan);
  note_not_taken(source, result);
  note_parts_of_weights(result);
  note_moved_numbers(source, result);
  note_renumbered(source, result);
  note_square_matrices(module.slots, plan.assignments, source, options, result);
}

}  // namespace andiron::inline v1::detail
