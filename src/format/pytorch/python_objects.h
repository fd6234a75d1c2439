// SPDX-License-Identifier: MIT OR Apache-2.0
// Tells kinds of Python objects apart by how they would be created and by their state.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/format/pytorch/pickle_document.h"

namespace andiron::inline v1::detail {

inline bool is_container(PickleValue value) {
  return value.kind >= PickleKind::tuple && value.kind <= PickleKind::frozen_set;
}

// TorchScript's lists and dicts are arguments of a call that tells their type: what is inside.
PickleValue without_type_tag(const PickleDocument& content, PickleValue value);

// What a node of an OmegaConf config holds: a value, or a dict or list of further nodes. Any other
// value is returned as it is.
PickleValue without_config_nodes(const PickleDocument& content, PickleValue value);

// A call with nothing but plain arguments: a device, a path, a date, a member of an enum. REQUIRES:
// the value is an object.
bool is_plain_call(const PickleDocument& content, PickleValue object);

// The state of a torch.nn.Module: a dict that has the tables _parameters, _buffers and _modules.
// REQUIRES: the value is an object.
std::optional<PickleValue> module_state(const PickleDocument& content, PickleValue object);
bool is_module_table(const PickleDocument& content, PickleValue key);

// An attribute in a state: a dict, or the pair of a dict and the dict of slots.
std::optional<PickleValue> attribute(const PickleDocument& content, PickleValue state,
                                     std::string_view name);
// Whether a state is such a pair: (dict or None, dict of slots).
bool is_state_with_slots(const PickleDocument& content, PickleValue state);

// What a set is made of: itself, or the list that it is made from.
PickleValue items_of_set(const PickleDocument& content, PickleValue set);
// The text in a container, sorted.
std::vector<std::string_view> texts_in(const PickleDocument& content, PickleValue container);

}  // namespace andiron::inline v1::detail
