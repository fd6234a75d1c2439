// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/pickle_machine_test.cpp and tests/codec/pickle_hostile_test.cpp
#include "src/codec/pickle/operands.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "src/codec/pickle/literals.h"
#include "src/codec/pickle/machine.h"
#include "src/core/check_limit.h"
#include "src/core/parse_index.h"
#include "src/core/text/utf8.h"

namespace andiron::inline v1::detail {
namespace {

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\v\f";
  const std::size_t begin = std::min(text.find_first_not_of(spaces), text.size());
  return text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
}

}  // namespace

bool PickleOperands::cut_short() { return failure_.cut_short("the pickle ends within an operand"); }

bool PickleOperands::past_frame() {
  return failure_.bad("an operand goes past the end of its frame");
}

bool PickleOperands::can_take(std::uint64_t size) {
  if (size > input_.left()) return cut_short();
  return !input_.leaves_frame(size) || past_frame();
}

bool PickleOperands::negative_size() { return failure_.bad("a length is negative"); }

bool PickleOperands::too_long_integer() {
  return failure_.fail(over_limit("", largest_pickle_integer,
                                  {"an integer is longer than allowed", nullptr, "bytes"}));
}

bool PickleOperands::fill() {
  const std::uint64_t position = input_.position() - input_.begin();
  const std::uint64_t left = input_.left();
  if (left == 0) {
    return failure_.fail_as_is({.code = ErrorCode::bad_pickle,
                                .message = "the pickle ends without STOP",
                                .found = std::to_string(position) + " bytes"});
  }
  if (!input_.has(std::min<std::uint64_t>(left, longest_fixed_operand + 1))) return false;
  const auto opcode = static_cast<std::uint8_t>(*input_.at());
  const std::uint8_t fixed = opcode_infos[opcode].fixed_bytes;
  const bool fits = fixed < left ? !input_.leaves_frame(fixed, 1) || past_frame() : cut_short();
  return fits || failure_.add_place(static_cast<Opcode>(opcode), position);
}

bool PickleOperands::text(std::uint64_t size, PickleValue& out) {
  if (size > kept_pickle_bytes) return bytes(PickleKind::text, size, out);
  if (!can_take(size) || !input_.has(size)) return false;
  const char* const begin = input_.at();
  input_.advance(static_cast<std::size_t>(size));
  return text_at(begin, static_cast<std::size_t>(size), out);
}

bool PickleOperands::text_at(const char* begin, std::size_t size, PickleValue& out) {
  const PickleBlob blob = {begin, size, input_.position_of(begin)};
  if (is_ascii(blob.view()) || is_utf8(blob.view())) {
    return builder_.blob(PickleKind::text, blob, out);
  }
  char* decoded = nullptr;
  if (!builder_.decoded_text(blob.view().size(), decoded)) return false;
  if (!replace_surrogates(blob.view(), decoded)) return failure_.bad("text is not UTF-8");
  return decoded_blob(PickleKind::text, decoded, blob.view().size(), out);
}

bool PickleOperands::bytes(PickleKind kind, std::uint64_t size, PickleValue& out) {
  if (!can_take(size)) return false;
  PickleBlob blob = {nullptr, size, input_.position()};
  if (size > kept_pickle_bytes) {
    input_.skip(size);
    return builder_.blob(kind, blob, out);
  }
  if (!input_.has(size)) return false;
  blob.data = input_.at();
  input_.advance(static_cast<std::size_t>(size));
  return builder_.blob(kind, blob, out);
}

bool PickleOperands::old_text(std::int64_t size, PickleValue& out) {
  if (size < 0) return negative_size();
  return bytes(PickleKind::old_text, static_cast<std::uint64_t>(size), out);
}

bool PickleOperands::integer(std::int64_t signed_size, PickleValue& out) {
  if (signed_size < 0) return negative_size();
  const auto size = static_cast<std::uint64_t>(signed_size);
  if (!can_take(size)) return false;
  if (size > largest_pickle_integer) return too_long_integer();
  if (!input_.has(size)) return false;
  const char* digits = input_.at();
  // Digits that only repeat the sign do not count.
  auto used = static_cast<std::size_t>(size);
  const char sign = used != 0 && (digits[used - 1] & 0x80) != 0 ? '\xff' : '\0';
  while (used > 1 && digits[used - 1] == sign && ((digits[used - 2] ^ sign) & 0x80) == 0) --used;
  if (used > sizeof(std::int64_t)) return bytes(PickleKind::big_integer, size, out);
  auto number = static_cast<std::uint64_t>(sign == '\0' ? 0 : -1);
  for (std::size_t i = used; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(digits[i]);
  }
  input_.advance(static_cast<std::size_t>(size));
  return builder_.integer(static_cast<std::int64_t>(number), out);
}

bool PickleOperands::line(PickleBlob& out) {
  const std::size_t ready = input_.ready();
  const void* newline = ready == 0 ? nullptr : std::memchr(input_.at(), '\n', ready);
  if (newline == nullptr) {
    if (ready == input_.left()) return failure_.cut_short("the pickle ends within a line");
    // Twice as many each time: the search through a long line stays linear.
    return input_.has(std::min<std::uint64_t>(input_.left(), 2 * ready + 1));
  }
  const auto size = static_cast<std::size_t>(static_cast<const char*>(newline) - input_.at());
  if (input_.leaves_frame(size + 1)) return past_frame();
  out = {input_.at(), size, input_.position()};
  input_.advance(size + 1);
  return true;
}

bool PickleOperands::decimal(std::string_view text, PickleValue& out) {
  std::int64_t small = 0;
  std::string big;
  switch (parse_integer(without_spaces(text), small, big)) {
    case IntegerText::small:
      return builder_.integer(small, out);
    case IntegerText::big: {
      char* digits = nullptr;
      if (!builder_.decoded_text(big.size(), digits)) return false;
      std::copy(big.begin(), big.end(), digits);
      return decoded_blob(PickleKind::big_integer, digits, big.size(), out);
    }
    case IntegerText::too_long:
      return too_long_integer();
    case IntegerText::malformed:
      break;
  }
  return failure_.bad("a line is not a whole number", "decimal digits");
}

bool PickleOperands::decoded_blob(PickleKind kind, const char* data, std::size_t size,
                                  PickleValue& out) {
  return builder_.blob(kind, {data, size, PickleBlob::decoded}, out);
}

bool PickleOperands::int_line(PickleValue& out) {
  PickleBlob text;
  if (!line(text)) return false;
  // How protocols before 2 write truth.
  if (text.view() == "00" || text.view() == "01") {
    out = PickleValue::of(PickleKind::boolean, text.view() == "01");
    return true;
  }
  return decimal(text.view(), out);
}

bool PickleOperands::long_line(PickleValue& out) {
  PickleBlob text;
  if (!line(text)) return false;
  std::string_view digits = text.view();
  if (digits.ends_with('L')) digits.remove_suffix(1);
  return decimal(digits, out);
}

bool PickleOperands::float_line(PickleValue& out) {
  PickleBlob text;
  if (!line(text)) return false;
  const std::optional<double> number = parse_float(text.view());
  return number ? builder_.real(*number, out) : failure_.bad("a line is not a number");
}

bool PickleOperands::string_line(PickleValue& out) {
  PickleBlob text;
  if (!line(text)) return false;
  std::string_view quoted = text.view();
  const bool has_quotes = quoted.size() >= 2 && quoted.front() == quoted.back() &&
                          (quoted.front() == '\'' || quoted.front() == '"');
  if (!has_quotes) return failure_.bad("a string has no quotes around it");
  const std::string_view inner = quoted.substr(1, quoted.size() - 2);
  if (inner.find('\\') == std::string_view::npos) {
    return builder_.blob(PickleKind::old_text, {inner.data(), inner.size(), text.offset + 1}, out);
  }
  char* decoded = nullptr;
  if (!builder_.decoded_text(inner.size(), decoded)) return false;
  const std::optional<std::size_t> size = unescape_string(inner, decoded);
  if (!size) return failure_.bad("a string has a broken escape");
  return decoded_blob(PickleKind::old_text, decoded, *size, out);
}

bool PickleOperands::unicode_line(PickleValue& out) {
  PickleBlob text;
  if (!line(text)) return false;
  const std::string_view raw = text.view();
  if (raw.find('\\') == std::string_view::npos && is_ascii(raw)) {
    return builder_.blob(PickleKind::text, text, out);
  }
  char* decoded = nullptr;
  if (!builder_.decoded_text(2 * raw.size(), decoded)) return false;
  const std::optional<std::size_t> size = decode_raw_unicode(raw, decoded);
  if (!size) return failure_.bad("text has a broken escape");
  return decoded_blob(PickleKind::text, decoded, *size, out);
}

bool PickleOperands::persistent_id_line(PickleValue& out) {
  PickleBlob text;
  if (!line(text)) return false;
  if (!is_ascii(text.view())) return failure_.bad("a persistent id is not ASCII");
  PickleValue id;
  return builder_.blob(PickleKind::text, text, id) && builder_.persistent(id, out);
}

bool PickleOperands::memo_number_line(std::uint64_t& out) {
  PickleBlob text;
  if (!line(text)) return false;
  const std::optional<std::uint64_t> number = parse_index(without_spaces(text.view()));
  if (!number) return failure_.bad("a line is not a memo number", "decimal digits");
  out = *number;
  return true;
}

bool PickleOperands::name_line(std::string_view& out) {
  PickleBlob text;
  if (!line(text)) return false;
  out = text.view();
  if (out.empty()) return failure_.bad("a module or name is empty");
  return is_ascii(out) || is_utf8(out) || failure_.bad("a module or name is not UTF-8");
}

bool PickleOperands::global_lines(PickleValue& out) {
  PickleGlobal global;
  return name_line(global.module) && name_line(global.name) && builder_.global(global, out);
}

bool PickleOperands::frame(std::uint64_t size) {
  if (input_.is_in_frame()) return failure_.bad("a frame begins within another");
  if (size > input_.left()) {
    return failure_.cut_short("a frame extends past the end of the pickle");
  }
  input_.begin_frame(size);
  return true;
}

}  // namespace andiron::inline v1::detail
