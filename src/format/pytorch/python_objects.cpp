// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_pickle_walk_test.cpp and pytorch_modules_test.cpp
#include "src/format/pytorch/python_objects.h"

#include <algorithm>
#include <iterator>

#include "src/core/sort.h"

namespace andiron::inline v1::detail {
namespace {

constexpr unsigned most_wrappers = 16;
// Parts of a state, or arguments, that are looked through for a module's.
constexpr std::size_t most_parts = 8;
constexpr std::string_view module_tables[] = {"_parameters", "_buffers", "_modules"};

bool has_module_tables(const PickleDocument& content, PickleValue state) {
  if (state.kind != PickleKind::dict) return false;
  return std::all_of(std::begin(module_tables), std::end(module_tables),
                     [&](std::string_view table) {
                       const auto found = content.entry(state, table);
                       return found && content.is_dict(*found);
                     });
}

}  // namespace

PickleValue without_type_tag(const PickleDocument& content, PickleValue value) {
  for (unsigned i = 0; i < most_wrappers; ++i) {
    const Callable callable = content.callable_of(value);
    const bool is_tag = callable == Callable::script_list || callable == Callable::script_type_tag;
    if (!is_tag || content.args(value).empty()) break;
    value = content.args(value)[0];
  }
  return value;
}

PickleValue without_config_nodes(const PickleDocument& content, PickleValue value) {
  for (unsigned i = 0; i < most_wrappers; ++i) {
    if (content.callable_of(value) != Callable::config_node) break;
    const auto state = content.state(value);
    if (!state) break;
    auto held = attribute(content, *state, "_content");
    if (!held) held = attribute(content, *state, "_val");
    if (!held) break;
    value = *held;
  }
  return value;
}

bool is_plain_call(const PickleDocument& content, PickleValue object) {
  const Callable callable = content.callable_of(object);
  if (callable == Callable::numpy_scalar || callable == Callable::encode ||
      callable == Callable::bytes_class || callable == Callable::numpy_dtype) {
    return true;
  }
  if (!content.graph().is_as_made(object)) return false;
  const auto args = content.args(object);
  return std::none_of(args.begin(), args.end(), [&](PickleValue arg) {
    const bool is_bytes = content.callable_of(arg) == Callable::encode;
    return is_container(arg) || (arg.kind == PickleKind::object && !is_bytes) ||
           arg.kind == PickleKind::persistent;
  });
}

std::optional<PickleValue> module_state(const PickleDocument& content, PickleValue object) {
  const auto state = content.state(object);
  if (state && has_module_tables(content, *state)) return state;
  // With slots, or with code of its own for it, a module's state is a tuple; traced ones have it as
  // an argument.
  const auto parts = state ? content.tuple(*state) : content.args(object);
  if (!parts || parts->size() > most_parts) return std::nullopt;
  const auto found = std::find_if(parts->begin(), parts->end(), [&](PickleValue part) {
    return has_module_tables(content, part);
  });
  return found == parts->end() ? std::nullopt : std::optional(*found);
}

bool is_module_table(const PickleDocument& content, PickleValue key) {
  const auto text = content.text(key);
  return text && std::find(std::begin(module_tables), std::end(module_tables), *text) !=
                     std::end(module_tables);
}

std::optional<PickleValue> attribute(const PickleDocument& content, PickleValue state,
                                     std::string_view name) {
  if (state.kind == PickleKind::dict) return content.entry(state, name);
  const auto parts = content.tuple(state);
  if (!parts) return std::nullopt;
  for (const PickleValue part : *parts) {
    const auto found = content.entry(part, name);
    if (found) return found;
  }
  return std::nullopt;
}

bool is_state_with_slots(const PickleDocument& content, PickleValue state) {
  if (state.kind != PickleKind::tuple) return false;
  const auto parts = content.graph().tuple(state);
  return parts.size() == 2 && parts[1].kind == PickleKind::dict &&
         (parts[0].kind == PickleKind::none || parts[0].kind == PickleKind::dict);
}

PickleValue items_of_set(const PickleDocument& content, PickleValue set) {
  const bool is_made = set.kind == PickleKind::object && !content.args(set).empty();
  return is_made ? content.args(set)[0] : set;
}

std::vector<std::string_view> texts_in(const PickleDocument& content, PickleValue container) {
  std::vector<std::string_view> texts;
  if (!is_container(container) || container.kind == PickleKind::dict) return texts;
  for (const PickleValue item : content.graph().items(container)) {
    if (const auto text = content.text(item)) texts.push_back(*text);
  }
  detail::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace andiron::inline v1::detail
