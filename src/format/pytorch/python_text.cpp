// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_python_text_test.cpp
#include "src/format/pytorch/python_text.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "src/core/print_double.h"
#include "src/core/text/utf8.h"

namespace andiron::inline v1::detail {
namespace {

constexpr unsigned deepest_shown = 8;
// What a value may grow to before the rest is left out: a few bytes of a pickle can refer to a long
// tuple again and again.
constexpr std::size_t longest = 4096;

void append_escaped(std::string& out, unsigned byte) {
  constexpr char digits[] = "0123456789abcdef";
  out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

// The text between quotes that repr() gives: single quotes unless only double ones avoid escapes.
void append_quoted(std::string& out, std::string_view text, bool is_bytes) {
  const bool doubles =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = doubles ? '"' : '\'';
  if (is_bytes) out += 'b';
  out += quote;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f || (is_bytes && byte >= 0x80)) {
      append_escaped(out, byte);
    } else {
      out += c;
    }
  }
  out += quote;
}

class Printer {
 public:
  Printer(std::string& out, const PickleGraph& graph)
      : out_(out), graph_(graph), begin_(out.size()) {}

  bool tells_all() const { return tells_all_; }

  void print(PickleValue value, unsigned depth, bool quoted) {
    if (depth > deepest_shown || is_too_long()) return leave_out("...");
    switch (value.kind) {
      case PickleKind::none:
        out_ += "None";
        return;
      case PickleKind::boolean:
        out_ += PickleGraph::boolean(value) ? "True" : "False";
        return;
      case PickleKind::integer:
        out_ += std::to_string(graph_.integer(value));
        return;
      case PickleKind::big_integer:
        out_ += decimal(graph_.blob(value).view());
        return;
      case PickleKind::real:
        append_python_float(out_, graph_.real(value));
        return;
      case PickleKind::text:
      case PickleKind::old_text:
        if (!is_in_memory(value) || (quoted && is_long(value))) return leave_out("...");
        return print_text(graph_.blob(value).view(), quoted);
      case PickleKind::bytes:
        if (!is_in_memory(value) || is_long(value)) return leave_out("...");
        return append_quoted(out_, graph_.blob(value).view(), true);
      case PickleKind::tuple:
        print_sequence(value, "(", graph_.items(value).size() == 1 ? ",)" : ")", depth);
        return;
      case PickleKind::list:
        return print_sequence(value, "[", "]", depth);
      case PickleKind::set:
        if (graph_.items(value).empty()) return print_text("set()", false);
        return print_sequence(value, "{", "}", depth);
      case PickleKind::frozen_set:
        if (graph_.items(value).empty()) return print_text("frozenset()", false);
        return print_sequence(value, "frozenset({", "})", depth);
      case PickleKind::dict:
        return leave_out("{...}");
      case PickleKind::global:
        if (graph_.global(value).module.size() > longest ||
            graph_.global(value).name.size() > longest) {
          return leave_out("...");
        }
        print_global(graph_.global(value));
        return;
      case PickleKind::object: {
        const PickleObject& object = graph_.object(value);
        if (print_encoded(object) || print_set(object, depth)) return;
        print(object.callable, depth + 1, true);
        tells_all_ = tells_all_ && graph_.items(value).empty() && graph_.pairs(value).empty() &&
                     graph_.states(value).empty() && object.kwargs.kind == PickleKind::none;
        if (object.args.kind != PickleKind::tuple) return leave_out("(...)");
        return print_sequence(object.args, "(", ")", depth);
      }
      case PickleKind::persistent:
        return leave_out("<persistent>");
    }
  }

 private:
  bool is_too_long() const { return out_.size() - begin_ > longest; }
  bool is_long(PickleValue value) const { return graph_.blob(value).size > longest; }
  bool is_in_memory(PickleValue value) const {
    const PickleBlob& blob = graph_.blob(value);
    return blob.data != nullptr || blob.size == 0;
  }

  void leave_out(const char* sign) {
    out_ += sign;
    tells_all_ = false;
  }

  void print_text(std::string_view text, bool quoted) {
    // A str of Python 2 may be in any encoding; Latin-1 takes every byte.
    std::string converted;
    if (!is_utf8(text)) {
      for (const char c : text) {
        char bytes[4];
        converted.append(bytes, encode_utf8(static_cast<unsigned char>(c), bytes));
      }
      text = converted;
    }
    if (quoted) {
      append_quoted(out_, text, false);
    } else {
      out_ += text;
    }
  }

  // Bytes, as protocols up to 2 spell them: text to be encoded as Latin-1.
  bool print_encoded(const PickleObject& object) {
    if (object.callable.kind != PickleKind::global ||
        !graph_.global(object.callable).is("_codecs", "encode") ||
        object.args.kind != PickleKind::tuple || graph_.tuple(object.args).empty()) {
      return false;
    }
    const PickleValue content = graph_.tuple(object.args).front();
    if (content.kind != PickleKind::text || !is_in_memory(content)) return false;
    if (is_long(content)) {
      leave_out("...");
      return true;
    }
    const std::string_view text = graph_.blob(content).view();
    std::string bytes;
    for (const char* at = text.data(); at != text.data() + text.size();) {
      const CodePoint point = decode_utf8(at, text.data() + text.size());
      if (point.length == 0 || point.value > 0xff) return false;
      bytes += static_cast<char>(point.value);
      at += point.length;
    }
    append_quoted(out_, bytes, true);
    return true;
  }

  // A set, as protocols up to 3 spell it: a call with a list.
  bool print_set(const PickleObject& object, unsigned depth) {
    if (object.callable.kind != PickleKind::global || object.args.kind != PickleKind::tuple) {
      return false;
    }
    const PickleGlobal& global = graph_.global(object.callable);
    const bool is_frozen = global.name == "frozenset";
    const auto args = graph_.tuple(object.args);
    if ((global.module != "builtins" && global.module != "__builtin__") ||
        (!is_frozen && global.name != "set") || args.size() != 1 ||
        args[0].kind != PickleKind::list || graph_.items(args[0]).empty()) {
      return false;
    }
    print_sequence(args[0], is_frozen ? "frozenset({" : "{", is_frozen ? "})" : "}", depth);
    return true;
  }

  void print_global(const PickleGlobal& global) {
    out_ += global.module;
    out_ += '.';
    out_ += global.name;
  }

  void print_sequence(PickleValue value, const char* open, const char* close, unsigned depth) {
    out_ += open;
    bool first = true;
    for (const PickleValue item : graph_.items(value)) {
      if (!first) out_ += ", ";
      first = false;
      if (is_too_long()) {
        leave_out("...");
        break;
      }
      print(item, depth + 1, true);
    }
    out_ += close;
  }

  std::string& out_;
  const PickleGraph& graph_;
  std::size_t begin_;
  bool tells_all_ = true;
};

}  // namespace

bool append_python_str(std::string& out, const PickleGraph& graph, PickleValue value) {
  // Most keys.
  if (value.kind == PickleKind::text) {
    out += graph.blob(value).view();
    return graph.blob(value).data != nullptr || graph.blob(value).size == 0;
  }
  Printer printer(out, graph);
  printer.print(value, 0, false);
  return printer.tells_all();
}

std::string decimal(std::string_view little_endian) {
  // Limbs of nine digits, least significant first; each byte from the top multiplies by 256.
  constexpr std::uint64_t limb_size = 1'000'000'000;
  const bool negative =
      !little_endian.empty() && (static_cast<unsigned char>(little_endian.back()) & 0x80) != 0;
  std::vector<std::uint32_t> limbs = {0};
  for (std::size_t i = little_endian.size(); i-- > 0;) {
    const auto byte = static_cast<unsigned char>(little_endian[i]);
    // Of a negative number, the magnitude less one; the one is added below.
    std::uint64_t carry = negative ? 255U - byte : byte;
    for (std::uint32_t& limb : limbs) {
      carry += std::uint64_t{limb} * 256;
      limb = static_cast<std::uint32_t>(carry % limb_size);
      carry /= limb_size;
    }
    if (carry != 0) limbs.push_back(static_cast<std::uint32_t>(carry));
  }
  for (std::size_t i = 0; negative; ++i) {
    if (i == limbs.size()) limbs.push_back(0);
    if (++limbs[i] < limb_size) break;
    limbs[i] = 0;
  }
  std::string text = negative ? "-" : "";
  text += std::to_string(limbs.back());
  for (std::size_t i = limbs.size() - 1; i-- > 0;) {
    const std::string digits = std::to_string(limbs[i]);
    text.append(9 - digits.size(), '0').append(digits);
  }
  return text;
}

void append_python_float(std::string& out, double number) {
  if (std::isnan(number)) {
    out += "nan";
    return;
  }
  if (std::isinf(number)) {
    out += number < 0 ? "-inf" : "inf";
    return;
  }
  // Python switches to an exponent from 1e16 on, and below 1e-4.
  const double magnitude = std::fabs(number);
  const bool plain = number == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const std::string text = print_double(number, plain ? Notation::fixed : Notation::scientific);
  out += text;
  if (plain && text.find('.') == std::string::npos) out += ".0";
}

}  // namespace andiron::inline v1::detail
