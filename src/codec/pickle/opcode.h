// SPDX-License-Identifier: MIT OR Apache-2.0
// The opcodes of pickle protocols 0 to 5. Names follow Python's; those that end in `line` have
// operands of text that end with a newline.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace andiron::inline v1::detail {

enum class Opcode : std::uint8_t {
  mark = '(',
  empty_tuple = ')',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  bin_bytes = 'B',
  short_bin_bytes = 'C',
  float_line = 'F',
  bin_float = 'G',
  int_line = 'I',
  bin_int = 'J',
  bin_int1 = 'K',
  long_line = 'L',
  bin_int2 = 'M',
  none = 'N',
  persid_line = 'P',
  bin_persid = 'Q',
  reduce = 'R',
  string_line = 'S',
  bin_string = 'T',
  short_bin_string = 'U',
  unicode_line = 'V',
  bin_unicode = 'X',
  empty_list = ']',
  append = 'a',
  build = 'b',
  global_line = 'c',
  dict = 'd',
  appends = 'e',
  get_line = 'g',
  bin_get = 'h',
  inst_line = 'i',
  long_bin_get = 'j',
  list = 'l',
  obj = 'o',
  put_line = 'p',
  bin_put = 'q',
  long_bin_put = 'r',
  set_item = 's',
  tuple = 't',
  set_items = 'u',
  empty_dict = '}',
  proto = 0x80,
  new_obj = 0x81,
  ext1 = 0x82,
  ext2 = 0x83,
  ext4 = 0x84,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  new_true = 0x88,
  new_false = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  short_bin_unicode = 0x8c,
  bin_unicode8 = 0x8d,
  bin_bytes8 = 0x8e,
  empty_set = 0x8f,
  add_items = 0x90,
  frozen_set = 0x91,
  new_obj_ex = 0x92,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
  byte_array8 = 0x96,
  next_buffer = 0x97,
  readonly_buffer = 0x98,
};

struct OpcodeInfo {
  std::string_view name = {};    // empty for a byte that is no opcode
  std::uint8_t fixed_bytes = 0;  // of the operand: a number, or the length of what follows
};

inline constexpr std::size_t longest_fixed_operand = 8;

inline constexpr std::array<OpcodeInfo, 256> opcode_infos = [] {
  std::array<OpcodeInfo, 256> infos;
  const auto set = [&](Opcode opcode, std::string_view name, std::uint8_t fixed_bytes = 0) {
    infos[static_cast<std::uint8_t>(opcode)] = {name, fixed_bytes};
  };
  set(Opcode::mark, "MARK");
  set(Opcode::empty_tuple, "EMPTY_TUPLE");
  set(Opcode::stop, "STOP");
  set(Opcode::pop, "POP");
  set(Opcode::pop_mark, "POP_MARK");
  set(Opcode::dup, "DUP");
  set(Opcode::bin_bytes, "BINBYTES", 4);
  set(Opcode::short_bin_bytes, "SHORT_BINBYTES", 1);
  set(Opcode::float_line, "FLOAT");
  set(Opcode::bin_float, "BINFLOAT", 8);
  set(Opcode::int_line, "INT");
  set(Opcode::bin_int, "BININT", 4);
  set(Opcode::bin_int1, "BININT1", 1);
  set(Opcode::long_line, "LONG");
  set(Opcode::bin_int2, "BININT2", 2);
  set(Opcode::none, "NONE");
  set(Opcode::persid_line, "PERSID");
  set(Opcode::bin_persid, "BINPERSID");
  set(Opcode::reduce, "REDUCE");
  set(Opcode::string_line, "STRING");
  set(Opcode::bin_string, "BINSTRING", 4);
  set(Opcode::short_bin_string, "SHORT_BINSTRING", 1);
  set(Opcode::unicode_line, "UNICODE");
  set(Opcode::bin_unicode, "BINUNICODE", 4);
  set(Opcode::empty_list, "EMPTY_LIST");
  set(Opcode::append, "APPEND");
  set(Opcode::build, "BUILD");
  set(Opcode::global_line, "GLOBAL");
  set(Opcode::dict, "DICT");
  set(Opcode::appends, "APPENDS");
  set(Opcode::get_line, "GET");
  set(Opcode::bin_get, "BINGET", 1);
  set(Opcode::inst_line, "INST");
  set(Opcode::long_bin_get, "LONG_BINGET", 4);
  set(Opcode::list, "LIST");
  set(Opcode::obj, "OBJ");
  set(Opcode::put_line, "PUT");
  set(Opcode::bin_put, "BINPUT", 1);
  set(Opcode::long_bin_put, "LONG_BINPUT", 4);
  set(Opcode::set_item, "SETITEM");
  set(Opcode::tuple, "TUPLE");
  set(Opcode::set_items, "SETITEMS");
  set(Opcode::empty_dict, "EMPTY_DICT");
  set(Opcode::proto, "PROTO", 1);
  set(Opcode::new_obj, "NEWOBJ");
  set(Opcode::ext1, "EXT1", 1);
  set(Opcode::ext2, "EXT2", 2);
  set(Opcode::ext4, "EXT4", 4);
  set(Opcode::tuple1, "TUPLE1");
  set(Opcode::tuple2, "TUPLE2");
  set(Opcode::tuple3, "TUPLE3");
  set(Opcode::new_true, "NEWTRUE");
  set(Opcode::new_false, "NEWFALSE");
  set(Opcode::long1, "LONG1", 1);
  set(Opcode::long4, "LONG4", 4);
  set(Opcode::short_bin_unicode, "SHORT_BINUNICODE", 1);
  set(Opcode::bin_unicode8, "BINUNICODE8", 8);
  set(Opcode::bin_bytes8, "BINBYTES8", 8);
  set(Opcode::empty_set, "EMPTY_SET");
  set(Opcode::add_items, "ADDITEMS");
  set(Opcode::frozen_set, "FROZENSET");
  set(Opcode::new_obj_ex, "NEWOBJ_EX");
  set(Opcode::stack_global, "STACK_GLOBAL");
  set(Opcode::memoize, "MEMOIZE");
  set(Opcode::frame, "FRAME", 8);
  set(Opcode::byte_array8, "BYTEARRAY8", 8);
  set(Opcode::next_buffer, "NEXT_BUFFER");
  set(Opcode::readonly_buffer, "READONLY_BUFFER");
  return infos;
}();

}  // namespace andiron::inline v1::detail
