// SPDX-License-Identifier: MIT OR Apache-2.0
// What opcodes do with the stack: they build containers and objects from the values on it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/codec/pickle/builder.h"
#include "src/codec/pickle/failure.h"
#include "src/codec/pickle/graph.h"
#include "src/codec/pickle/memo.h"
#include "src/codec/pickle/operands.h"
#include "src/codec/pickle/stack.h"

namespace andiron::inline v1::detail {

// One function per opcode or group of opcodes. Each returns false after a failure, which is
// recorded.
class PickleAssembler {
 public:
  PickleAssembler(PickleBuilder& builder, PickleFailure& failure) noexcept
      : builder_(builder), failure_(failure) {}

  const PickleStack& stack() const noexcept { return stack_; }
  bool need(std::size_t count) { return stack_.reach() >= count || too_short(count); }

  bool push(PickleValue value) {
    if (!builder_.has_room(stack_.values())) return false;
    stack_.push(value);
    return true;
  }
  bool push_integer(std::int64_t number) {
    PickleValue made;
    return builder_.integer(number, made) && push(made);
  }
  bool mark() {
    if (!builder_.has_room(stack_.marks())) return false;
    stack_.mark();
    return true;
  }
  // Takes a value, or a mark where that is on top.
  bool pop();
  bool pop_mark();
  bool dup() { return need(1) && push(stack_.top()); }

  bool put(std::uint64_t number) {
    return need(1) && (memo_.put_next(number, stack_.top()) || put_out_of_order(number));
  }
  bool memoize() { return put(memo_.size()); }
  bool get(std::uint64_t number) {
    const PickleValue* value = memo_.find(number);
    return value != nullptr ? push(*value) : no_such_number(number);
  }

  bool tuple(std::size_t count) {
    PickleValue made;
    if (!need(count) || !builder_.fixed(PickleKind::tuple, stack_.tail(count), made)) return false;
    stack_.drop(count);
    return push(made);
  }
  bool tuple_from_mark() {
    if (!need_mark()) return false;
    const std::size_t count = stack_.take_mark();
    return count == 0 ? empty_tuple() : tuple(count);
  }
  bool empty_tuple() {
    PickleValue made;
    return builder_.empty_tuple(made) && push(made);
  }
  // A list, dict or set.
  bool empty_container(PickleKind kind) {
    PickleValue made;
    return builder_.container(kind, made) && push(made);
  }
  // A list, dict or frozen_set.
  bool container_from_mark(PickleKind kind);
  // Adds the topmost values to the list, dict or set below them.
  bool extend(PickleKind kind, std::size_t count);
  bool extend_from_mark(PickleKind kind);

  bool stack_global();
  bool persistent() {
    PickleValue made;
    return need(1) && builder_.persistent(stack_.top(), made) && replace(1, made);
  }
  bool reduce() { return need(2) && call(stack_.top(1), stack_.top(), {}, 2); }
  bool new_object();
  bool new_object_with_keywords();
  // Of INST, which names its class.
  bool object_from_mark(PickleValue named_class);
  // Of OBJ, whose class lies on the mark.
  bool object_from_mark();
  bool build();

 private:
  bool need_mark() { return stack_.has_mark() || no_mark(); }
  // Puts `made` in the place of what it was made of.
  bool replace(std::size_t count, PickleValue made) {
    stack_.drop(count);
    return push(made);
  }
  bool call(PickleValue callable, PickleValue args, PickleValue kwargs, std::size_t consumed) {
    if (!can_be_called(callable.kind)) return not_callable(callable.kind);
    PickleValue made;
    return builder_.object(callable, args, kwargs, made) && replace(consumed, made);
  }
  static bool can_be_called(PickleKind kind) noexcept {
    return kind == PickleKind::global || kind == PickleKind::object ||
           kind == PickleKind::persistent;
  }
  bool put_out_of_order(std::uint64_t number);
  bool need_kind(PickleValue value, PickleKind kind);

  bool too_short(std::size_t count);
  bool no_mark();
  bool no_such_number(std::uint64_t number);
  bool not_callable(PickleKind kind);

  PickleBuilder& builder_;
  PickleFailure& failure_;
  PickleStack stack_;
  PickleMemo memo_;
};

}  // namespace andiron::inline v1::detail
