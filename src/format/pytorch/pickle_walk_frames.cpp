// SPDX-License-Identifier: MIT OR Apache-2.0
// What containers and objects have below them. Frames are worked off from the last one on: what is
// to be shown first is added last.
// Tested by tests/format/pytorch_pickle_walk_test.cpp
#include <algorithm>
#include <span>

#include "src/core/try.h"
#include "src/format/pytorch/dict_keys.h"
#include "src/format/pytorch/pickle_walk.h"
#include "src/format/pytorch/python_objects.h"

namespace andiron::inline v1::detail {

Status PickleWalk::open_object(PickleValue value, const char* skip) {
  const PickleObject& object = graph_.object(value);
  const std::span<const PickleValue> args = content_.args(value);
  if (!may_look_into(value, skip)) {
    leave_out(skip);
    return {};
  }
  if (const auto state = module_state(content_, value)) {
    // A part of the state, or of the arguments, others may have as well.
    const bool is_part = content_.state(value) != state;
    if (is_part && !may_share(*state, skip)) {
      leave_out(skip);
      return {};
    }
    return begin(value, false, skip) ? add_module(*state, skip) : Status();
  }
  const Callable callable = content_.callable_of(value);
  switch (callable) {
    case Callable::sequence_class:
      if (!begin(value, true, skip)) return {};
      add_items(graph_.items(value), skip);
      if (!args.empty() && is_container(args[0]) && may_share(args[0], skip)) {
        add_items(graph_.items(args[0]), skip);
      }
      return {};
    case Callable::dict_class:
      if (!begin(value, false, skip)) return {};
      ANDIRON_TRY(add_states(value, skip != nullptr ? skip : "an attribute of a dict"));
      ANDIRON_TRY(add_pairs(graph_.pairs(value), skip));
      return args.empty() ? Status() : add_dict_argument(args[0], skip);
    case Callable::reconstructor:
      if (!begin(value, false, skip)) return {};
      ANDIRON_TRY(add_states(value, skip));
      ANDIRON_TRY(add_pairs(graph_.pairs(value), skip));
      add_items(graph_.items(value), skip);
      if (args.size() < 3 || !may_share(args[2], skip)) return {};
      return add_content(args[2], skip);
    default:
      break;
  }
  if (is_plain_call(content_, value)) {
    set_leaf(value, skip);
    return {};
  }
  if (!begin(value, false, skip)) return {};
  if (const ScriptClass* script = script_class(value); script != nullptr && script->is_module) {
    if (const auto state = content_.state(value); state && state->kind == PickleKind::dict) {
      ANDIRON_TRY(add_pairs(graph_.pairs(*state), skip));
      if (!graph_.pairs(*state).empty()) frames_.back().script = script;
      return {};
    }
  }
  ANDIRON_TRY(add_states(value, skip));
  ANDIRON_TRY(add_pairs(graph_.pairs(value), skip));
  add_items(graph_.items(value), skip);
  if (object.kwargs.kind == PickleKind::dict && may_share(object.kwargs, skip)) {
    ANDIRON_TRY(add_pairs(graph_.pairs(object.kwargs), skip));
  }
  if (object.args.kind != PickleKind::tuple) return {};
  add_items(graph_.items(object.args), skip, callable == Callable::new_object);
  return {};
}

Status PickleWalk::open_state(PickleValue value, PickleValue state, const char* skip) {
  return begin(value, false, skip) ? add_state(state, skip) : Status();
}

// The arguments and states of an object, which others may have as well.
bool PickleWalk::may_look_into(PickleValue object, const char* skip) {
  if (on_path_[graph_.container_number(object)]) return false;
  if (!content_.args(object).empty() && !may_share(graph_.object(object).args, skip)) {
    return false;
  }
  const PickleItems states = graph_.states(object);
  return std::all_of(states.begin(), states.end(),
                     [&](PickleValue state) { return may_share(state, skip); });
}

PickleWalk::Frame& PickleWalk::add_frame(PickleItems items, const char* skip) {
  Frame& frame = frames_.emplace_back();
  frame.at = items.begin();
  frame.path = path_.size();
  frame.skip = skip;
  return frame;
}

void PickleWalk::add_items(PickleItems items, const char* skip, bool leave_out_first) {
  if (items.empty()) return;
  Frame& frame = add_frame(items, skip);
  if (leave_out_first) ++frame.at;
}

Status PickleWalk::add_pairs(PickleItems pairs, const char* skip) {
  if (pairs.empty()) return {};
  Frame& frame = add_frame(pairs, skip);
  frame.kind = Frame::Kind::pairs;
  frame.pairs = pairs;
  if (check_all_keys_) {
    ANDIRON_ASSIGN(frame.superseded, superseded_pairs(content_, pairs, key_text_left_));
  }
  return {};
}

// What a container was made of: a dict's pairs, or a list's items.
Status PickleWalk::add_content(PickleValue value, const char* skip) {
  if (value.kind == PickleKind::dict) return add_pairs(graph_.pairs(value), skip);
  if (is_container(value)) add_items(graph_.items(value), skip);
  return {};
}

// What a dict is made of: another one, or, in Python 2, a list of pairs.
Status PickleWalk::add_dict_argument(PickleValue value, const char* skip) {
  if (!may_share(value, skip)) return {};
  if (value.kind == PickleKind::dict) return add_pairs(graph_.pairs(value), skip);
  if (!is_container(value)) return {};
  const PickleItems items = graph_.items(value);
  const bool are_pairs = std::all_of(items.begin(), items.end(), [&](PickleValue item) {
    return is_container(item) && item.kind != PickleKind::dict && graph_.items(item).size() == 2;
  });
  if (are_pairs && !items.empty()) add_frame(items, skip).kind = Frame::Kind::pair_items;
  return {};
}

Status PickleWalk::add_states(PickleValue object, const char* skip) {
  for (const PickleValue state : graph_.states(object)) ANDIRON_TRY(add_state(state, skip));
  return {};
}

// Attributes: a dict, or (dict or None, dict of slots); anything else by index.
Status PickleWalk::add_state(PickleValue state, const char* skip) {
  if (!is_state_with_slots(content_, state)) return add_content(state, skip);
  const auto parts = graph_.tuple(state);
  if (may_share(parts[1], skip)) ANDIRON_TRY(add_content(parts[1], skip));
  return may_share(parts[0], skip) ? add_content(parts[0], skip) : Status();
}

// Sorted once, as many modules may have one set.
const std::vector<std::string_view>& PickleWalk::unsaved_names(PickleValue set) {
  static const std::vector<std::string_view> none;
  if (!is_container(set)) return none;
  const auto [known, is_new] = unsaved_sets_.try_emplace(graph_.container_number(set));
  if (is_new) known->second = texts_in(content_, set);
  return known->second;
}

Status PickleWalk::add_module(PickleValue state, const char* skip) {
  ANDIRON_TRY(add_pairs(graph_.pairs(state), skip != nullptr ? skip : not_in_state_dict));
  frames_.back().is_module_rest = true;
  const auto add_table = [&](std::string_view name) -> Status {
    const PickleValue table = *content_.entry(state, name);
    if (!may_share(table, skip)) return {};
    if (table.kind == PickleKind::object && !content_.args(table).empty()) {
      ANDIRON_TRY(add_dict_argument(content_.args(table)[0], skip));
    }
    return add_pairs(graph_.pairs(table), skip);
  };
  ANDIRON_TRY(add_table("_modules"));
  const std::size_t before = frames_.size();
  ANDIRON_TRY(add_table("_buffers"));
  const auto unsaved = content_.entry(state, "_non_persistent_buffers_set");
  if (unsaved) {
    const std::vector<std::string_view>& names = unsaved_names(items_of_set(content_, *unsaved));
    for (std::size_t i = before; i < frames_.size(); ++i) frames_[i].unsaved = &names;
  }
  return add_table("_parameters");
}

}  // namespace andiron::inline v1::detail
