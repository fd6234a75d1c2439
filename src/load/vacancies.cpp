// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/vacancies_test.cpp
#include "src/load/vacancies.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/core/parse_index.h"
#include "src/core/path_segments.h"
#include "src/core/sort.h"
#include "src/core/text/digit.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/load/layers_without.h"
#include "src/load/module_lists.h"
#include "src/load/source_lookup.h"
#include "src/load/told_names.h"

namespace andiron::inline v1::detail {
namespace {

bool is_for_one(const Vacancy& vacancy) {
  return vacancy.kind == Vacancy::Kind::optional || vacancy.kind == Vacancy::Kind::pointer;
}

std::string_view noun_of(Vacancy::Kind kind) {
  constexpr std::string_view nouns[] = {"list", "map", "optional", "pointer", "element", "layer"};
  return nouns[static_cast<unsigned>(kind)];
}

// "the module's list 'blocks'", "the module"
std::string part_in_words(std::string_view noun, std::string_view path) {
  if (path.empty()) return "the module";
  return "the module's " + std::string(noun) + " " + in_quotes(path);
}

std::string count_of_others(std::size_t all) { return " and " + count_of(all - 1, "other"); }

// The parts of a module that are empty, and the tensors that the source has for them.
class Vacancies {
 public:
  explicit Vacancies(const ModuleSlots& module) {
    std::vector<std::string_view> paths;
    for (const Vacancy& vacancy : module.vacancies) {
      if (vacancy.kind == Vacancy::Kind::element) continue;
      if (vacancy.kind == Vacancy::Kind::bare) {
        // Another alternative of a variant may have been chosen in its place.
        if (paths.empty()) paths = sorted_paths(module.slots);
        const std::string inner = vacancy.path + ".";
        const auto next = std::lower_bound(paths.begin(), paths.end(), inner);
        if (next != paths.end() && next->starts_with(inner)) continue;
      }
      found_.try_emplace(vacancy.path, Found{&vacancy});
      longest_ = std::max(longest_, vacancy.path.size());
      if (is_for_one(vacancy)) parents_.insert(parent_path(vacancy.path));
      if (vacancy.kind == Vacancy::Kind::list && !parent_path(vacancy.path).empty()) {
        lists_.try_emplace(parent_path(vacancy.path), vacancy.path);
      }
    }
  }

  // The outermost vacancy that a tensor is in, or nullptr.
  const Vacancy* around(std::string_view name) const {
    if (found_.empty()) return nullptr;
    if (const Vacancy* whole = at("", name)) return whole;
    for (std::size_t dot = name.find('.'); dot <= longest_; dot = name.find('.', dot + 1)) {
      if (const Vacancy* part = at(name.substr(0, dot), name.substr(dot + 1))) return part;
    }
    const auto exact = found_.find(name);  // an optional parameter
    const bool is_there = exact != found_.end() && is_for_one(*exact->second.vacancy);
    return is_there ? exact->second.vacancy : nullptr;
  }

  // A list beside a tensor, whose elements an adapter numbers within a name: the layers of an LSTM,
  // weight_ih_l0.
  const Vacancy* list_beside(std::string_view name) const {
    const auto list = lists_.find(parent_path(name));
    const std::string_view last = last_segments(name, 1);
    if (list == lists_.end() || std::none_of(last.begin(), last.end(), is_digit)) return nullptr;
    return found_.at(list->second).vacancy;
  }

  // Counts a tensor that is for it.
  void count(const Vacancy& vacancy) { ++found_.at(vacancy.path).tensors; }

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
        if (vacancy.kind != kind) continue;
        const Found& found = found_.at(vacancy.path);
        if (found.vacancy != &vacancy || found.tensors == 0) continue;
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

  static std::vector<std::string_view> sorted_paths(const std::vector<Slot>& slots) {
    std::vector<std::string_view> paths;
    paths.reserve(slots.size());
    for (const Slot& slot : slots) paths.push_back(slot.path);
    detail::sort(paths.begin(), paths.end());
    return paths;
  }

  const Vacancy* at(std::string_view path, std::string_view rest) const {
    const auto found = found_.find(path);
    if (found == found_.end()) return nullptr;
    const Vacancy* vacancy = found->second.vacancy;
    const bool is_list = vacancy->kind == Vacancy::Kind::list;
    return is_list && !parse_index(rest.substr(0, rest.find('.'))) ? nullptr : vacancy;
  }

  static std::string note(Vacancy::Kind kind, const std::vector<std::string_view>& paths,
                          std::size_t tensors) {
    const std::string noun(noun_of(kind));
    const bool is_container = kind == Vacancy::Kind::list || kind == Vacancy::Kind::map;
    std::string text = "the source has " + count_of(tensors, "tensor") + " for ";
    if (paths.front().empty()) {
      text += "the module, which is an empty " + noun;
    } else if (paths.size() == 1) {
      text += in_quotes(paths.front()) + ", which is an empty " + noun + " in the module";
    } else {
      text += in_quotes_and_others(paths) + ", which are empty " + noun + "s in the module";
    }
    text += "; loading does not grow containers";
    return is_container ? text : text + " or fill optionals and pointers";
  }

  std::unordered_map<std::string_view, Found> found_;             // by path
  std::unordered_set<std::string_view> parents_;                  // of optionals and pointers
  std::unordered_map<std::string_view, std::string_view> lists_;  // by their parents
  std::size_t longest_ = 0;                                       // of the paths
};

// The maps of a module that are not empty, and what they have.
class FilledMaps {
 public:
  FilledMaps(const std::vector<Slot>& slots, bool skip_enum_variants) {
    for (const Slot& slot : slots) {
      const std::string_view path = slot.path;
      std::size_t begin = 0;
      for (const std::string& kind : slot.container.kinds()) {
        if (begin > path.size()) break;  // the kinds are not known
        if (skip_enum_variants && kind.starts_with("Enum:")) continue;
        const std::size_t end = std::min(path.find('.', begin), path.size());
        if (kind == "Map") {
          longest_ = std::max(longest_, begin);
          maps_.insert(path.substr(0, begin == 0 ? 0 : begin - 1));
          entries_.insert(path.substr(0, end));
        }
        begin = end + 1;
      }
    }
  }

  // The map that lacks the key of a tensor.
  std::optional<std::string_view> map_around(std::string_view name) const {
    if (maps_.empty()) return std::nullopt;
    for (std::size_t begin = 0; begin < name.size() && begin <= longest_;) {
      const std::size_t end = std::min(name.find('.', begin), name.size());
      const std::string_view parent = name.substr(0, begin == 0 ? 0 : begin - 1);
      if (maps_.contains(parent) && !entries_.contains(name.substr(0, end))) return parent;
      begin = end + 1;
    }
    return std::nullopt;
  }

 private:
  std::unordered_set<std::string_view> maps_;
  std::unordered_set<std::string_view> entries_;
  std::size_t longest_ = 0;  // of the paths of maps, with a dot
};

class Finder {
 public:
  Finder(const ModuleSlots& module, const Archive& source, const ApplyOptions& options,
         LoadPlan& plan)
      : module_(module),
        source_(source),
        options_(options),
        plan_(plan),
        lookup_(source),
        told_(source),
        vacancies_(module),
        maps_(module.slots, options.skip_enum_variants),
        lists_(numbers_in_lists(module.slots)) {
    for (const Slot& slot : module.slots) {
      parents_.try_emplace(slot.parent(), &slot.container);
    }
    for (const auto& [list, numbers] : lists_) longest_ = std::max(longest_, list.size() + 1);
    for (const Vacancy& vacancy : module.vacancies) {
      if (vacancy.kind != Vacancy::Kind::element) continue;
      const auto list = lists_.find(parent_path(vacancy.path));
      const auto number = parse_index(last_segments(vacancy.path, 1));
      if (list == lists_.end() || !number) continue;
      list->second.back() = std::max(list->second.back(), *number);
    }
  }

  void run() {
    for (const std::size_t index : plan_.unused) classify(source_.info(index).name);
    vacancies_.add_notes(module_.vacancies, plan_.result);
    add_notes();
    if (count_ == 0) return;
    Error& error = plan_.too_short.emplace();
    error.code = ErrorCode::unused_tensor;
    error.tensor = told_.own(first_);
    error.message = std::move(why_);
    if (error.tensor != first_) {
      error.message += ", which is " + in_quotes(first_) + " after closing index gaps";
    }
    if (count_ > 1) {
      error.message += " (and " + count_of(count_ - 1, "other") + (count_ == 2 ? " has" : " have") +
                       " no place)";
    }
    error.hint = "pass " + Message(Advice::allow_unused) + " to load without it" + otherwise_;
  }

 private:
  void classify(std::string_view name) {
    if (const Vacancy* vacancy = vacancies_.around(name)) {
      if (vacancy->kind == Vacancy::Kind::bare) return note_in_bare(name, *vacancy);
      return note_empty(name, *vacancy);
    }
    if (const auto map = maps_.map_around(name)) {
      if (goes_on(name, part_in_words("map", *map) + " does not have its key")) {
        beyond_maps_.push_back(name);
      }
      return;
    }
    if (const auto list = list_that_ends_before(name)) {
      return note_beyond(name, list_too_short(*list));
    }
    if (is_harmless_buffer(last_segments(name, 1))) return;
    if (options_.adapter.is_set()) {
      ask_adapter();
      const auto asked = asked_.find(name);
      if (asked != asked_.end()) {
        const Wanted& wanted = asked->second;
        if (wanted.vacancy != nullptr) return note_empty(name, *wanted.vacancy, &wanted.place);
        return note_beyond(name, list_too_short(wanted.list), &wanted.place);
      }
      if (const auto first = first_layer_of(name)) {
        const Slot& slot = module_.slots[renamed_.at(*first)];
        const std::string layer =
            layer_with(kind_at(slot, parent_path(name)), last_segments(name, 1));
        return note_beyond(name, "the module ends with " + in_quotes(*first), &slot,
                           layer.empty() ? std::string(with_more_parts) : "; " + layer);
      }
      const bool is_beside = parents_.contains(parent_path(name));
      const Vacancy* list = is_beside ? nullptr : vacancies_.list_beside(name);
      if (list != nullptr) return note_empty(name, *list);
    }
    if (note_in_layer(name)) return;
    const bool is_beside =
        parents_.contains(parent_path(name)) || used_parents_.contains(parent_path(name));
    if (name.find('.') != std::string_view::npos && is_beside) {
      beside_.push_back(name);
      may_be_optional_ = may_be_optional_ || vacancies_.has_beside(name);
    }
  }

  // A tensor of a layer that has parameters, but not this one. Returns false if it is none that the
  // layer computes something else without.
  bool note_in_layer(std::string_view name) {
    const std::string_view path = parent_path(name);
    const Place* place = nullptr;
    std::string_view kind;
    if (const auto used = used_parents_.find(path); used != used_parents_.end()) {
      place = &module_.slots[used->second];
      kind = kind_at(module_.slots[used->second], path);
    }
    if (const auto beside = parents_.find(path); kind.empty() && beside != parents_.end()) {
      kind = beside->second->last();
    }
    if (!is_lacked_by(kind, last_segments(name, 1))) return false;
    note_lacked(name, path, kind, place);
    return true;
  }

  // A tensor of a module without parameters.
  void note_in_bare(std::string_view name, const Vacancy& vacancy) {
    const std::string_view last = last_segments(name, 1);
    if (is_harmless_buffer(last) || last == "pe") return;
    if (is_parameter_name(last)) {
      note_lacked(name, vacancy.path, vacancy.module_kind, nullptr);
    } else if (options_.filter.matches(name)) {
      if (in_bare_.empty()) bare_ = &vacancy;
      in_bare_.push_back(name);
    }
  }

  void note_lacked(std::string_view name, std::string_view path, std::string_view kind,
                   const Place* place) {
    const std::string layer = layer_with(kind, last_segments(name, 1));
    const std::string owner = part_in_words(without_room(kind), path);
    if (!goes_on(name, owner + " has no place for it", place,
                 layer.empty() ? std::string(with_other_layer) : "; " + layer)) {
      return;
    }
    const auto [known, is_new] = lacking_at_.try_emplace(path, lacking_.size());
    if (is_new) lacking_.push_back({owner, layer, name, 0});
    ++lacking_[known->second].tensors;
  }

  static std::string_view without_room(std::string_view kind) {
    return kind.starts_with("nn.") ? kind.substr(3) : kind;
  }

  // The kind of the module at a path above a slot, as far as that can be counted.
  std::string_view kind_at(const Slot& slot, std::string_view path) const {
    auto depth = path.empty() ? 0 : 1 + std::count(path.begin(), path.end(), '.');
    for (const std::string& kind : slot.container.kinds()) {
      if (options_.skip_enum_variants && kind.starts_with("Enum:")) continue;
      if (depth-- == 0) return Container::plain(kind);
    }
    return {};
  }

  std::optional<std::string_view> list_that_ends_before(std::string_view name) const {
    for (std::size_t begin = 0; begin < name.size() && begin <= longest_;) {
      const std::size_t end = std::min(name.find('.', begin), name.size());
      if (const auto index = parse_index(name.substr(begin, end - begin))) {
        const auto list = lists_.find(name.substr(0, begin == 0 ? 0 : begin - 1));
        if (list != lists_.end() && *index > list->second.back()) return list->first;
      }
      begin = end + 1;
    }
    return std::nullopt;
  }

  // The used tensor with a 0 in place of a number of this one, as weight_ih_l0 is for weight_ih_l1,
  // if an adapter has another name for it.
  std::optional<std::string> first_layer_of(std::string_view name) const {
    if (name.size() > longest_renamed_ + std::numeric_limits<std::uint64_t>::digits10) {
      return std::nullopt;
    }
    const std::size_t last = name.size() - last_segments(name, 1).size();
    for (std::size_t begin = last; begin < name.size();) {
      if (!is_digit(name[begin])) {
        ++begin;
        continue;
      }
      std::size_t end = begin;
      while (end < name.size() && is_digit(name[end])) ++end;
      std::string first(name);
      first.replace(begin, end - begin, "0");
      if (renamed_.contains(first)) return first;
      begin = end;
    }
    return std::nullopt;
  }

  // What the adapter would take for the next element of each list, and for what is empty. It may
  // have other names in the source, such as weight_ih_l1 for a second layer.
  void ask_adapter() {
    if (std::exchange(has_asked_, true)) return;
    for (const Assignment& assignment : plan_.assignments) {
      for (std::uint32_t i = 0; i < assignment.source_count; ++i) {
        const std::uint32_t used = plan_.sources[assignment.first_source + i];
        renamed_.try_emplace(source_.info(used).name, assignment.slot);
      }
    }
    for (const Slot& slot : module_.slots) renamed_.erase(slot.path);
    for (const auto& [name, slot] : renamed_) {
      longest_renamed_ = std::max(longest_renamed_, name.size());
      used_parents_.try_emplace(parent_path(name), slot);
    }
    for (const Vacancy& vacancy : module_.vacancies) {
      const auto beside = parents_.find(parent_path(vacancy.path));
      if (is_for_one(vacancy) && beside != parents_.end()) {
        ask({{vacancy.path, *beside->second}, &vacancy, {}});
      }
    }
    for (const Slot& slot : module_.slots) {
      const std::string_view path = slot.path;
      for (std::size_t begin = 0; begin < path.size() && begin <= longest_;) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        const auto number = parse_index(path.substr(begin, end - begin));
        const auto list = lists_.find(path.substr(0, begin == 0 ? 0 : begin - 1));
        if (number && list != lists_.end() && list->second.back() == *number) {
          std::string next(path.substr(0, begin));
          next.append(std::to_string(*number + 1)).append(path.substr(end));
          ask({{std::move(next), slot.container}, nullptr, list->first});
        }
        begin = end + 1;
      }
    }
  }

  // What an unused tensor is wanted for.
  struct Wanted {
    Place place;
    const Vacancy* vacancy;
    std::string_view list;  // if there is no vacancy
  };

  void ask(const Wanted& wanted) {
    lookup_.found().clear();
    const Result<std::optional<TensorSnapshot>> tensor =
        options_.adapter->load(wanted.place, lookup_);
    throw_if_out_of_memory(tensor);
    if (!tensor || !*tensor) return;
    for (const std::uint32_t index : lookup_.found()) {
      asked_.try_emplace(source_.info(index).name, wanted);
    }
  }

  static std::string list_too_short(std::string_view list) {
    return part_in_words("list", list) + " is too short for it";
  }

  void note_empty(std::string_view name, const Vacancy& vacancy, const Place* place = nullptr) {
    const std::string noun(noun_of(vacancy.kind));
    const bool is_module = vacancy.path.empty();
    const bool counts = goes_on(name,
                                is_module ? "the module is an empty " + noun
                                          : part_in_words(noun, vacancy.path) + " is empty",
                                place);
    if (counts) vacancies_.count(vacancy);
  }

  void note_beyond(std::string_view name, std::string why, const Place* place = nullptr,
                   std::string_view otherwise = with_more_parts) {
    if (goes_on(name, std::move(why), place, otherwise)) beyond_lists_.push_back(name);
  }

  // Counts a tensor that goes on where the module ends, unless the filter leaves it out. The filter
  // sees paths of the module: that of `place`, if an adapter knows the tensor by another name.
  // `otherwise`: what else a user can do, for the hint.
  bool goes_on(std::string_view name, std::string why, const Place* place = nullptr,
               std::string_view otherwise = with_more_parts) {
    const bool takes_part = place != nullptr
                                ? options_.filter.matches(place->path, place->container)
                                : options_.filter.matches(name);
    if (!takes_part) return false;
    if (count_++ == 0) {
      first_ = name;
      why_ = std::move(why);
      otherwise_ = otherwise;
    }
    return true;
  }

  void add_notes() {
    std::vector<Message>& notes = plan_.result.notes;
    if (!beside_.empty()) {
      notes.push_back("the module has no parameter for " + told_.quoted_and_others(beside_) +
                      ", though it has others beside it" +
                      (may_be_optional_ ? "; loading does not fill empty optionals" : ""));
    }
    if (!beyond_lists_.empty()) {
      notes.push_back("the module's lists are too short for " +
                      told_.quoted_and_others(beyond_lists_) + "; loading does not extend lists");
    }
    if (!beyond_maps_.empty()) {
      notes.push_back("the module's maps do not have the keys of " +
                      told_.quoted_and_others(beyond_maps_) + "; loading does not add to maps");
    }
    for (std::size_t i = 0; i < std::min(lacking_.size(), ApplyResult::shown); ++i) {
      const Lacking& layer = lacking_[i];
      notes.push_back(layer.owner + " has no place for " + told_.quoted(layer.first) +
                      (layer.tensors > 1 ? count_of_others(layer.tensors) : "") +
                      " and computes without" + (layer.remedy.empty() ? "" : "; " + layer.remedy));
    }
    if (lacking_.size() > ApplyResult::shown) {
      notes.push_back("so do " + count_of(lacking_.size() - ApplyResult::shown, "other layer"));
    }
    if (!in_bare_.empty()) {
      notes.push_back(part_in_words(without_room(bare_->module_kind), bare_->path) +
                      " has no parameters, and the source has " +
                      told_.quoted_and_others(in_bare_) +
                      " there; if they are learned, give the module a layer that has them");
    }
  }

  // A layer, and the tensors that it has no place for.
  struct Lacking {
    std::string owner;
    std::string remedy;
    std::string_view first;
    std::size_t tensors;
  };

  static constexpr std::string_view with_more_parts =
      ", or give the module its parts first, as grow_to_fit() does";
  static constexpr std::string_view with_other_layer =
      ", or give the module a layer that has a place for it";

  const ModuleSlots& module_;
  const Archive& source_;
  const ApplyOptions& options_;
  LoadPlan& plan_;
  SourceLookup lookup_;
  ToldNames told_;
  Vacancies vacancies_;
  FilledMaps maps_;
  std::unordered_map<std::string_view, std::vector<std::uint64_t>> lists_;
  std::unordered_map<std::string_view, const Container*> parents_;  // of slots
  std::unordered_map<std::string_view, Wanted> asked_;              // by the names of tensors
  std::unordered_map<std::string_view, std::size_t> renamed_;       // used names, with their slots
  std::unordered_map<std::string_view, std::size_t> used_parents_;  // of these, with one slot
  std::size_t longest_ = 0;                                         // list's path, with a dot
  std::size_t longest_renamed_ = 0;
  bool has_asked_ = false;
  std::vector<std::string_view> beside_;
  std::vector<std::string_view> beyond_lists_;
  std::vector<std::string_view> beyond_maps_;
  std::vector<std::string_view> in_bare_;
  const Vacancy* bare_ = nullptr;  // that the first of these is in
  std::vector<Lacking> lacking_;
  std::unordered_map<std::string_view, std::size_t> lacking_at_;  // by the path of the layer
  bool may_be_optional_ = false;
  std::size_t count_ = 0;  // of tensors that go on
  std::string_view first_;
  std::string why_;
  std::string otherwise_;
};

}  // namespace

void find_vacancies(const ModuleSlots& module, const Archive& source, const ApplyOptions& options,
                    LoadPlan& plan) {
  Finder(module, source, options, plan).run();
}

}  // namespace andiron::inline v1::detail
