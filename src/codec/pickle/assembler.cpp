// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/pickle_machine_test.cpp and tests/codec/pickle_hostile_test.cpp
#include "src/codec/pickle/assembler.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "src/codec/pickle/machine.h"
#include "src/core/check_limit.h"

namespace andiron::inline v1::detail {
namespace {

// No pickler gives an object more than one; whoever looks at states need not fear many.
constexpr std::uint32_t most_states = 16;

std::string kind_name(PickleKind kind) {
  switch (kind) {
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return "a boolean";
    case PickleKind::integer:
    case PickleKind::big_integer:
      return "an integer";
    case PickleKind::real:
      return "a float";
    case PickleKind::text:
      return "text";
    case PickleKind::old_text:
      return "a Python 2 str";
    case PickleKind::bytes:
      return "bytes";
    case PickleKind::tuple:
      return "a tuple";
    case PickleKind::list:
      return "a list";
    case PickleKind::dict:
      return "a dict";
    case PickleKind::set:
      return "a set";
    case PickleKind::frozen_set:
      return "a frozenset";
    case PickleKind::global:
      return "a global";
    case PickleKind::object:
      return "an object";
    case PickleKind::persistent:
      return "a persistent id";
  }
  return {};
}

}  // namespace

bool PickleAssembler::pop() {
  if (stack_.reach() == 0 && stack_.has_mark()) {
    stack_.take_mark();
    return true;
  }
  if (!need(1)) return false;
  stack_.drop(1);
  return true;
}

bool PickleAssembler::pop_mark() {
  if (!need_mark()) return false;
  stack_.drop(stack_.take_mark());
  return true;
}

bool PickleAssembler::put_out_of_order(std::uint64_t number) {
  if (!builder_.has_room(memo_.dense(), memo_.places_for(number))) return false;
  memo_.put(number, stack_.top());
  return true;
}

bool PickleAssembler::container_from_mark(PickleKind kind) {
  if (!need_mark()) return false;
  const std::size_t count = stack_.take_mark();
  const std::span<const PickleValue> values = stack_.tail(count);
  if (kind == PickleKind::dict && count % 2 != 0) return failure_.bad("a key has no value");
  PickleValue made;
  if (kind == PickleKind::frozen_set) {
    return builder_.fixed(kind, values, made) && replace(count, made);
  }
  return builder_.container(kind, made) && builder_.add_run(builder_.runs(made), values) &&
         replace(count, made);
}

bool PickleAssembler::extend(PickleKind kind, std::size_t count) {
  if (!need(count + 1)) return false;
  // As in Python, nothing can be added to anything.
  if (count == 0) return true;
  if (kind == PickleKind::dict && count % 2 != 0) return failure_.bad("a key has no value");
  const PickleValue target = stack_.top(count);
  PickleRuns* runs = nullptr;
  if (target.kind == kind) {
    runs = &builder_.runs(target);
  } else if (target.kind == PickleKind::object) {
    PickleAdditions* additions = builder_.additions(target);
    if (additions == nullptr) return false;
    runs = kind == PickleKind::dict ? &additions->pairs : &additions->items;
  } else {
    return failure_.bad("values are added to " + kind_name(target.kind),
                        kind_name(kind) + " or an object");
  }
  if (!builder_.add_run(*runs, stack_.tail(count))) return false;
  stack_.drop(count);
  return true;
}

bool PickleAssembler::extend_from_mark(PickleKind kind) {
  return need_mark() && extend(kind, stack_.take_mark());
}

bool PickleAssembler::stack_global() {
  if (!need(2) || !need_kind(stack_.top(1), PickleKind::text) ||
      !need_kind(stack_.top(), PickleKind::text)) {
    return false;
  }
  const PickleBlob& module = builder_.blob(stack_.top(1));
  const PickleBlob& name = builder_.blob(stack_.top());
  if (module.data == nullptr || name.data == nullptr) {
    return failure_.fail(over_limit(std::to_string(std::max(module.size, name.size)),
                                    kept_pickle_bytes,
                                    {"a module or class name is too long", nullptr, "bytes"}));
  }
  PickleValue made;
  return builder_.global({module.view(), name.view()}, made) && replace(2, made);
}

bool PickleAssembler::new_object() {
  return need(2) && need_kind(stack_.top(), PickleKind::tuple) &&
         call(stack_.top(1), stack_.top(), {}, 2);
}

bool PickleAssembler::new_object_with_keywords() {
  return need(3) && need_kind(stack_.top(1), PickleKind::tuple) &&
         need_kind(stack_.top(), PickleKind::dict) &&
         call(stack_.top(2), stack_.top(1), stack_.top(), 3);
}

bool PickleAssembler::object_from_mark(PickleValue named_class) {
  return tuple_from_mark() && call(named_class, stack_.top(), {}, 1);
}

bool PickleAssembler::object_from_mark() {
  if (!need_mark()) return false;
  const std::size_t count = stack_.take_mark();
  if (count == 0) return failure_.bad("the stack is too short", "a class above the mark");
  return (count == 1 ? empty_tuple() : tuple(count - 1)) && new_object();
}

bool PickleAssembler::build() {
  if (!need(2) || !need_kind(stack_.top(1), PickleKind::object)) return false;
  PickleAdditions* additions = builder_.additions(stack_.top(1));
  if (additions == nullptr) return false;
  if (additions->states.count >= most_states) {
    return failure_.bad("an object gets its state twice", "once");
  }
  if (!builder_.add_run(additions->states, stack_.tail(1))) return false;
  stack_.drop(1);
  return true;
}

bool PickleAssembler::need_kind(PickleValue value, PickleKind kind) {
  return value.kind == kind ||
         failure_.bad("an opcode got " + kind_name(value.kind), kind_name(kind));
}

bool PickleAssembler::too_short(std::size_t count) {
  return failure_.bad("the stack is too short", std::to_string(count) +
                                                    (count == 1 ? " value" : " values") +
                                                    (stack_.has_mark() ? " above the mark" : ""));
}

bool PickleAssembler::no_mark() { return failure_.bad("the stack has no mark"); }

bool PickleAssembler::no_such_number(std::uint64_t number) {
  return failure_.bad("the memo has no entry " + std::to_string(number));
}

bool PickleAssembler::not_callable(PickleKind kind) {
  return failure_.bad("a call to " + kind_name(kind), "a class or function");
}

}  // namespace andiron::inline v1::detail
