// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/renaming_plan_test.cpp
#include "src/proposals/edit_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "andiron/text.h"
#include "src/core/try.h"
#include "src/proposals/name_parts.h"
#include "src/proposals/name_rules.h"

namespace andiron::inline v1::detail {
namespace {

// The layers that an edit is for, with dots at their ends (empty at the top), and what is edited in
// them.
struct Places {
  std::map<std::string, std::set<std::string>> parents_of;  // by leaf: weight or bias
  std::set<std::string> parents;
  std::set<std::string> names;
};

class EditWriter {
 public:
  explicit EditWriter(std::span<const NameAtEdits> names) : names_(names) {
    for (const NameAtEdits& name : names) now_.emplace(name.in_file, name.now);
  }

  std::vector<ProposedEdit> write(std::span<const NeededEdit> needed) {
    std::vector<NeededEdit> merged;
    for (const NeededEdit& edit : needed) {
      const auto same = std::find_if(merged.begin(), merged.end(), [&](const NeededEdit& other) {
        return is_same_change(edit, other);
      });
      if (same == merged.end()) {
        merged.push_back(edit);
        continue;
      }
      same->tensors.insert(same->tensors.end(), edit.tensors.begin(), edit.tensors.end());
      same->is_guess = same->is_guess && edit.is_guess;
    }
    for (const NeededEdit& edit : merged) {
      if (edit.kind == TensorEdit::Kind::transpose) {
        write_transpose(edit);
      } else {
        write_regrouping(edit);
      }
    }
    return std::move(edits_);
  }

 private:
  static bool is_same_change(const NeededEdit& a, const NeededEdit& b) {
    return a.kind == b.kind && a.segment == b.segment && a.is_joined == b.is_joined &&
           a.parts == b.parts && a.shares == b.shares && a.whole == b.whole;
  }

  static std::string separator(const NeededEdit& edit) { return edit.is_joined ? "_" : "."; }

  Places places_of(const NeededEdit& edit) const {
    Places places;
    for (const std::string& tensor : edit.tensors) {
      const auto found = now_.find(tensor);
      if (found == now_.end()) continue;
      const std::string& name = found->second;
      for (const std::string leaf : {"weight", "bias"}) {
        const std::string end = edit.segment + separator(edit) + leaf;
        if (!name.ends_with(end)) continue;
        std::string parent = name.substr(0, name.size() - end.size());
        if (!parent.empty() && !parent.ends_with('.')) continue;
        places.parents_of[leaf].insert(parent);
        places.parents.insert(std::move(parent));
        places.names.insert(name);
      }
    }
    return places;
  }

  // For all names with this ending; if that is too much, below the parents of the kinds that are
  // meant; if others there are taken as they are, for the tensors that are meant.
  void write_regrouping(const NeededEdit& edit) {
    const Places places = places_of(edit);
    if (places.names.empty()) return;
    const std::string end = escaped_for_regex(edit.segment + separator(edit));
    constexpr const char* any_leaf = "(weight|bias)$";
    const bool is_at_top = places.parents.contains("");
    const bool is_everywhere = is_at_top && places.parents.size() > 1;
    const std::string wide = (is_everywhere ? "(^|\\.)" : is_at_top ? "^" : "\\.") + end + any_leaf;
    if (!matches_others(wide, places.names, false)) {
      const std::string before = is_everywhere ? "${1}" : is_at_top ? "" : ".";
      return add(edit, wide, before, is_everywhere ? "$2" : "$1");
    }
    if (!is_at_top) {
      std::set<std::string> kinds;
      for (const std::string& parent : places.parents) {
        kinds.insert(pattern_for_kind(name_kind(parent.substr(0, parent.size() - 1))));
      }
      const std::string scoped = "^(" + alternatives(kinds) + ")\\." + end + any_leaf;
      if (!matches_others(scoped, places.names, true)) return add(edit, scoped, "$1.", "$2");
    } else if (!matches_others(wide, places.names, true)) {
      return add(edit, wide, is_everywhere ? "${1}" : "", is_everywhere ? "$2" : "$1");
    }
    for (const auto& [leaf, parents] : places.parents_of) {
      std::set<std::string> exact;
      for (const std::string& parent : parents) {
        if (!parent.empty()) exact.insert(escaped_for_regex(parent));
      }
      std::string scope = exact.empty() ? "" : "(" + alternatives(exact) + ")";
      if (!exact.empty() && parents.contains("")) scope += '?';
      add(edit, "^" + scope + end + leaf + "$", exact.empty() ? "" : "${1}", leaf);
    }
  }

  // `before` and `leaf`: replacements for what comes before the segment and after it.
  void add(const NeededEdit& edit, const std::string& pattern, const std::string& before,
           const std::string& leaf) {
    std::vector<std::string> names;
    for (const std::string& part : edit.parts) {
      names.push_back(before + escaped_for_replacement(part) + "." + leaf);
    }
    const bool is_split = edit.kind == TensorEdit::Kind::split;
    TensorEdit written =
        is_split ? TensorEdit::split(pattern, std::move(names), 0, edit.shares)
                 : TensorEdit::join(pattern, std::move(names),
                                    before + escaped_for_replacement(edit.whole) + leaf);
    edits_.push_back(
        {std::move(written),
         is_split ? "the file has them in one tensor" : "the module has them in one tensor",
         edit.is_guess});
  }

  static std::string alternatives(const std::set<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : "|") + text;
    return all;
  }

  // Whether a pattern matches a name that an edit is not for.
  bool matches_others(const std::string& pattern, const std::set<std::string>& meant,
                      bool only_taken) const {
    return matches(pattern, [&](const NameAtEdits& name) {
      return !meant.contains(name.now) && (!only_taken || name.is_taken);
    });
  }
  template <class Condition>
  bool matches(const std::string& pattern, Condition condition) const {
    const Result<Pattern> compiled = pass_on_out_of_memory(Pattern::regex(pattern));
    if (!compiled) return false;
    return std::any_of(names_.begin(), names_.end(), [&](const NameAtEdits& name) {
      return condition(name) && compiled->matches(name.now);
    });
  }

  // The ends of the names of transposed matrices, as long as it takes to tell them from others.
  void write_transpose(const NeededEdit& edit) {
    const std::set<std::string_view> turned(edit.tensors.begin(), edit.tensors.end());
    std::set<std::string_view> plain;
    for (const NameAtEdits& name : names_) {
      if (name.is_taken && !turned.contains(name.in_file)) plain.insert(name.now);
    }
    std::set<std::string> endings;
    for (const std::string& tensor : edit.tensors) {
      const auto name = now_.find(tensor);
      if (name != now_.end()) endings.insert(ending_of(name->second, plain));
    }
    if (endings.empty()) return;
    const std::string pattern = alternatives(endings);
    edits_.push_back(
        {TensorEdit::transpose(endings.size() == 1 ? pattern + "$" : "(" + pattern + ")$"),
         "their biases, shapes or neighbors tell", edit.is_guess});
  }

  static std::string ending_of(std::string_view name, const std::set<std::string_view>& others) {
    std::string_view ending = last_segment(name);
    for (std::string_view rest = module_path(name);; rest = module_path(rest)) {
      if (rest.empty()) return "^" + escaped_for_regex(name);
      ending = name.substr(module_path(rest).empty() ? 0 : module_path(rest).size() + 1);
      const bool is_own = std::none_of(others.begin(), others.end(), [&](std::string_view other) {
        return other.ends_with(ending) &&
               (other.size() == ending.size() || other[other.size() - ending.size() - 1] == '.');
      });
      if (is_own) break;
    }
    return (ending.size() == name.size() ? "^" : "\\.") + escaped_for_regex(ending);
  }

  std::span<const NameAtEdits> names_;
  std::unordered_map<std::string, std::string> now_;
  std::vector<ProposedEdit> edits_;
};

}  // namespace

std::vector<ProposedEdit> write_edits(std::span<const NeededEdit> needed,
                                      std::span<const NameAtEdits> names) {
  return EditWriter(names).write(needed);
}

}  // namespace andiron::inline v1::detail
