// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/pickle_machine_test.cpp and tests/codec/pickle_hostile_test.cpp
#include "src/codec/pickle/machine.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <string>
#include <utility>

#include "src/codec/pickle/assembler.h"
#include "src/codec/pickle/builder.h"
#include "src/codec/pickle/failure.h"
#include "src/codec/pickle/input.h"
#include "src/codec/pickle/opcode.h"
#include "src/codec/pickle/operands.h"
#include "src/core/check_limit.h"
#include "src/core/try.h"
#include "src/core/with_file.h"

namespace andiron::inline v1::detail {
namespace {

constexpr unsigned newest_protocol = 5;

// Each array of the graph gets at most one item of an opcode, and one more for the empty tuple: so
// many opcodes keep all indices below the one that means none.
constexpr std::uint64_t most_opcodes_ever = PickleValue::largest_index - 1;

// Functions that return bool return false after a failure, which is recorded, or where the input is
// hungry.
class PickleMachine {
 public:
  PickleMachine(PickleInput& input, std::uint64_t most_opcodes, MemoryBudget* budget)
      : input_(input),
        most_opcodes_(most_opcodes),
        opcodes_left_(most_opcodes),
        builder_(input_, failure_, budget),
        operands_(input_, builder_, failure_),
        assembler_(builder_, failure_) {}

  // To STOP. Goes on where it stood when the input was hungry. Inlined, it needs more registers
  // than there are.
  [[gnu::noinline]] bool run();
  // REQUIRES: run() failed.
  Error take_error() { return failure_.take_error(); }
  // REQUIRES: run() came to STOP.
  PickleGraph finish() && {
    const PickleStack& stack = assembler_.stack();
    const bool has_leftovers = stack.size() != 1 || stack.has_mark();
    return std::move(builder_).finish(stack.top(), has_leftovers, input_);
  }

 private:
  // All opcodes that run() does not know.
  bool execute(Opcode opcode);
  // Makes the value of an opcode that has it written out.
  bool literal(Opcode opcode, PickleValue& out);
  template <class Number>
  Number number() noexcept {
    return input_.take<Number>();
  }
  bool protocol();
  bool refuse(const char* message);
  bool too_many();

  PickleInput& input_;
  const std::uint64_t most_opcodes_;
  std::uint64_t opcodes_left_;
  PickleFailure failure_;
  PickleBuilder builder_;
  PickleOperands operands_;
  PickleAssembler assembler_;
};

// The opcodes that checkpoints are made of run here, with the place in the input in a register;
// input_ has it for all others.
bool PickleMachine::run() {
  const char* at = input_.at();
  const char* end = input_.ready_end();
  const auto position = [&](const char* place) {
    input_.move_to(place);
    return input_.position() - input_.begin();
  };
  for (std::uint64_t left = opcodes_left_; left != 0; --left) {
    // Less than nothing is left where an operand began right behind its frame.
    if (end - at <= static_cast<std::ptrdiff_t>(longest_fixed_operand)) {
      input_.move_to(at);
      if (!operands_.fill()) {
        opcodes_left_ = left;
        return false;
      }
      at = input_.at();
      end = input_.ready_end();
    }
    const char* const opcode_at = at;
    const auto opcode = static_cast<Opcode>(*at++);
    bool ran = false;
    PickleValue made;
    // Half of all opcodes are these two, so that they do without the switch, whose jump is most of
    // what the others cost.
    if (opcode == Opcode::long_bin_put) {
      ran = assembler_.put(load_number<std::uint32_t>(at));
      at += 4;
    } else if (opcode == Opcode::bin_get) {
      ran = assembler_.get(load_number<std::uint8_t>(at));
      at += 1;
    } else
      switch (opcode) {
        case Opcode::mark:
          ran = assembler_.mark();
          break;
        case Opcode::bin_put:
          ran = assembler_.put(load_number<std::uint8_t>(at));
          at += 1;
          break;
        case Opcode::memoize:
          ran = assembler_.memoize();
          break;
        case Opcode::long_bin_get:
          ran = assembler_.get(load_number<std::uint32_t>(at));
          at += 4;
          break;
        case Opcode::bin_int1:
          ran = assembler_.push(PickleValue::of_integer(load_number<std::uint8_t>(at)));
          at += 1;
          break;
        case Opcode::bin_int2:
          ran = assembler_.push(PickleValue::of_integer(load_number<std::uint16_t>(at)));
          at += 2;
          break;
        case Opcode::bin_int:
          ran = assembler_.push_integer(load_number<std::int32_t>(at));
          at += 4;
          break;
        case Opcode::none:
          ran = assembler_.push({});
          break;
        case Opcode::new_true:
          ran = assembler_.push(PickleValue::of(PickleKind::boolean, 1));
          break;
        case Opcode::new_false:
          ran = assembler_.push(PickleValue::of(PickleKind::boolean, 0));
          break;
        case Opcode::empty_tuple:
          ran = assembler_.empty_tuple();
          break;
        case Opcode::tuple1:
          ran = assembler_.tuple(1);
          break;
        case Opcode::tuple2:
          ran = assembler_.tuple(2);
          break;
        case Opcode::tuple3:
          ran = assembler_.tuple(3);
          break;
        case Opcode::tuple:
          ran = assembler_.tuple_from_mark();
          break;
        case Opcode::bin_persid:
          ran = assembler_.persistent();
          break;
        case Opcode::reduce:
          ran = assembler_.reduce();
          break;
        case Opcode::stop:
          input_.move_to(at);
          return assembler_.need(1) || failure_.add_place(opcode, position(opcode_at));
        case Opcode::bin_unicode: {
          // Arrays that grow are told here how far the pickle has come.
          input_.move_to(at);
          const auto size = load_number<std::uint32_t>(at);
          if (size <= kept_pickle_bytes && static_cast<std::ptrdiff_t>(size) <= end - at - 4) {
            ran = operands_.text_at(at + 4, size, made) && assembler_.push(made);
            at += 4 + size;
            break;
          }
          [[fallthrough]];
        }
        default: {
          const std::uint64_t opcode_position = position(opcode_at);
          input_.move_to(at);
          if (!execute(opcode)) {
            input_.move_to(opcode_at);
            opcodes_left_ = left;
            return failure_.add_place(opcode, opcode_position);
          }
          at = input_.at();
          end = input_.ready_end();
          continue;
        }
      }
    if (!ran) return failure_.add_place(opcode, position(opcode_at));
  }
  return too_many();
}

bool PickleMachine::execute(Opcode opcode) {
  PickleValue made;
  std::uint64_t memo_number = 0;
  switch (opcode) {
    case Opcode::pop:
      return assembler_.pop();
    case Opcode::pop_mark:
      return assembler_.pop_mark();
    case Opcode::dup:
      return assembler_.dup();
    case Opcode::put_line:
      return operands_.memo_number_line(memo_number) && assembler_.put(memo_number);
    case Opcode::get_line:
      return operands_.memo_number_line(memo_number) && assembler_.get(memo_number);

    case Opcode::empty_list:
      return assembler_.empty_container(PickleKind::list);
    case Opcode::empty_dict:
      return assembler_.empty_container(PickleKind::dict);
    case Opcode::empty_set:
      return assembler_.empty_container(PickleKind::set);
    case Opcode::list:
      return assembler_.container_from_mark(PickleKind::list);
    case Opcode::dict:
      return assembler_.container_from_mark(PickleKind::dict);
    case Opcode::frozen_set:
      return assembler_.container_from_mark(PickleKind::frozen_set);
    case Opcode::append:
      return assembler_.extend(PickleKind::list, 1);
    case Opcode::set_item:
      return assembler_.extend(PickleKind::dict, 2);
    case Opcode::appends:
      return assembler_.extend_from_mark(PickleKind::list);
    case Opcode::set_items:
      return assembler_.extend_from_mark(PickleKind::dict);
    case Opcode::add_items:
      return assembler_.extend_from_mark(PickleKind::set);

    case Opcode::stack_global:
      return assembler_.stack_global();
    case Opcode::new_obj:
      return assembler_.new_object();
    case Opcode::new_obj_ex:
      return assembler_.new_object_with_keywords();
    case Opcode::obj:
      return assembler_.object_from_mark();
    case Opcode::inst_line:
      return operands_.global_lines(made) && assembler_.object_from_mark(made);
    case Opcode::build:
      return assembler_.build();

    case Opcode::proto:
      return protocol();
    case Opcode::frame:
      return operands_.frame(number<std::uint64_t>());
    case Opcode::ext1:
    case Opcode::ext2:
    case Opcode::ext4:
      return refuse("the pickle uses an extension registry that only its writer has");
    case Opcode::next_buffer:
    case Opcode::readonly_buffer:
      return refuse("the pickle refers to a buffer outside the file");
    default:
      return literal(opcode, made) && assembler_.push(made);
  }
}

bool PickleMachine::literal(Opcode opcode, PickleValue& out) {
  switch (opcode) {
    case Opcode::bin_unicode:
      return operands_.text(number<std::uint32_t>(), out);
    case Opcode::short_bin_unicode:
      return operands_.text(number<std::uint8_t>(), out);
    case Opcode::bin_unicode8:
      return operands_.text(number<std::uint64_t>(), out);
    case Opcode::bin_string:
      return operands_.old_text(number<std::int32_t>(), out);
    case Opcode::short_bin_string:
      return operands_.bytes(PickleKind::old_text, number<std::uint8_t>(), out);
    case Opcode::bin_bytes:
      return operands_.bytes(PickleKind::bytes, number<std::uint32_t>(), out);
    case Opcode::short_bin_bytes:
      return operands_.bytes(PickleKind::bytes, number<std::uint8_t>(), out);
    case Opcode::bin_bytes8:
    case Opcode::byte_array8:
      return operands_.bytes(PickleKind::bytes, number<std::uint64_t>(), out);
    case Opcode::long1:
      return operands_.integer(number<std::uint8_t>(), out);
    case Opcode::long4:
      return operands_.integer(number<std::int32_t>(), out);
    case Opcode::bin_float:
      // The one number of pickles that is big-endian.
      return builder_.real(std::bit_cast<double>(__builtin_bswap64(number<std::uint64_t>())), out);
    case Opcode::int_line:
      return operands_.int_line(out);
    case Opcode::long_line:
      return operands_.long_line(out);
    case Opcode::float_line:
      return operands_.float_line(out);
    case Opcode::string_line:
      return operands_.string_line(out);
    case Opcode::unicode_line:
      return operands_.unicode_line(out);
    case Opcode::persid_line:
      return operands_.persistent_id_line(out);
    case Opcode::global_line:
      return operands_.global_lines(out);
    default:
      return failure_.bad("a byte is not an opcode");
  }
}

bool PickleMachine::protocol() {
  const unsigned version = number<std::uint8_t>();
  return version <= newest_protocol ||
         failure_.bad("the pickle has protocol " + std::to_string(version),
                      "at most " + std::to_string(newest_protocol));
}

bool PickleMachine::refuse(const char* message) {
  return failure_.fail({.code = ErrorCode::unsupported, .message = message});
}

bool PickleMachine::too_many() {
  return failure_.fail_as_is(over_limit(
      "", most_opcodes_, {"the pickle has more values than allowed", &Limits::pickle_values}));
}

}  // namespace

Result<PickleGraph> read_pickle(const ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                const Limits& limits, MemoryBudget* budget) {
  assert(begin <= end);
  PickleInput input(source, begin, end);
  PickleMachine machine(input, std::min(limits.pickle_values, most_opcodes_ever), budget);
  while (!machine.run()) {
    if (!input.is_hungry()) return with_file(machine.take_error(), source.name());
    ANDIRON_ASSIGN(const PickleInput::Unread unread, input.next_window());
    ANDIRON_TRY(source.read_at(unread.offset, unread.bytes));
  }
  return std::move(machine).finish();
}

}  // namespace andiron::inline v1::detail
