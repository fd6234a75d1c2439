// SPDX-License-Identifier: MIT OR Apache-2.0
// An array, and the part of Python that its header is written in:
//
//   93 'NUMPY' | u8 major | u8 minor 0 | header length | header | data
//   the length is a u16 in version 1.0, a u32 in 2.0 and 3.0; all numbers are little-endian
//
//   header:  '{' KEY ':' VALUE ',' ... '}', with each key once, in any order, a comma at the end or
//            not; space anywhere between, and after
//   descr:   '<f4' in either kind of quotes, or a list or tuple, which we pass over
//   fortran_order:  True or False
//   shape:   (), (3,), (2, 3); numbers of Python 2 end in L
//
// Tested by tests/format/numpy_reader_test.cpp and numpy_hostile_test.cpp
#include "src/format/numpy/npy_header.h"

#include <algorithm>

#include "src/core/check_limit.h"
#include "src/core/little_endian.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t version_bytes = npy_magic.size() + 2;
constexpr std::size_t most_nesting = 32;

class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<NpyHeader> parse() {
    ANDIRON_TRY(take('{', "a Python dict"));
    while (!is_next('}')) {
      ANDIRON_TRY(parse_entry());
      if (is_next('}')) break;
      ANDIRON_TRY(take(',', "',' or '}'"));
    }
    ++at_;
    skip_space();
    if (at_ != text_.size()) return bad("text after the header's dict", "nothing but space");
    for (const Key& key : keys_) {
      if (key.seen) continue;
      Error error = bad("the header lacks a key", "'descr', 'fortran_order' and 'shape'");
      error.found = "no " + in_quotes(key.name);
      return error;
    }
    return header_;
  }

 private:
  struct Key {
    std::string_view name;
    Status (HeaderParser::*parse)();
    bool seen = false;
  };

  Error bad(std::string message, std::string expected) const {
    constexpr std::size_t shown = 24;
    const std::string_view rest = text_.substr(at_);
    return Error{.code = ErrorCode::bad_header,
                 .message = std::move(message),
                 .found = rest.empty() ? "the end of the header"
                                       : in_quotes(std::string(rest.substr(0, shown)) +
                                                   (rest.size() > shown ? "..." : "")) +
                                             " at byte " + std::to_string(at_) + " of the header",
                 .expected = std::move(expected)};
  }
  Error bad_form(std::string expected) const {
    return bad("not the header of a NumPy array", std::move(expected));
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n\f").find(text_[at_]) != text_.npos) {
      ++at_;
    }
  }
  bool is_next(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  Status take(char c, const char* what) {
    if (!is_next(c)) return bad_form(what);
    ++at_;
    return {};
  }

  Status parse_entry() {
    skip_space();
    const std::size_t begin = at_;
    ANDIRON_ASSIGN(const std::string_view name, parse_text("a key in quotes, or '}'"));
    const auto key = std::find_if(std::begin(keys_), std::end(keys_),
                                  [&](const Key& known) { return known.name == name; });
    if (key == std::end(keys_) || key->seen) {
      at_ = begin;
      return bad(key == std::end(keys_) ? "unknown key in the header" : "duplicate key",
                 "'descr', 'fortran_order' and 'shape'");
    }
    key->seen = true;
    ANDIRON_TRY(take(':', "':'"));
    return (this->*key->parse)();
  }

  Result<std::string_view> parse_text(const char* what) {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return bad_form(what);
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) return bad_form("closed quotes");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    // Neither keys nor plain types have any use for these.
    if (inside.find_first_of("\\\n") != inside.npos) return bad_form("plain text in quotes");
    at_ = end + 1;
    return inside;
  }

  Status parse_descr() {
    if (is_next('[') || is_next('(')) return pass_structure();
    ANDIRON_ASSIGN(header_.descr, parse_text("a type in quotes, or a list of fields"));
    return {};
  }

  // Brackets and quotes must fit; what else is in there is of no use to us.
  Status pass_structure() {
    const std::size_t begin = at_;
    std::array<char, most_nesting> closing;
    std::size_t depth = 0;
    do {
      if (at_ == text_.size()) return bad_form("closed brackets");
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        ANDIRON_TRY(pass_quotes(c));
        continue;
      }
      if (c == '(' || c == '[' || c == '{') {
        if (depth == most_nesting) return too_deep();
        closing[depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
      } else if (c == ')' || c == ']' || c == '}') {
        if (c != closing[depth - 1]) return bad_form("matching brackets");
        --depth;
      }
      ++at_;
    } while (depth != 0);
    header_.descr = text_.substr(begin, at_ - begin);
    header_.is_structured = true;
    return {};
  }

  Status pass_quotes(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_, text_.size());
    if (at_ == text_.size()) return bad_form("closed quotes");
    ++at_;
    return {};
  }

  Status parse_order() {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    header_.fortran_order = rest.starts_with("True");
    if (!header_.fortran_order && !rest.starts_with("False")) return bad_form("True or False");
    at_ += header_.fortran_order ? 4 : 5;
    return {};
  }

  Status parse_shape() {
    ANDIRON_TRY(take('(', "a tuple of sizes"));
    bool has_comma = true;
    while (!is_next(')')) {
      if (!has_comma) return bad_form("',' or ')'");
      ANDIRON_TRY(parse_size());
      has_comma = is_next(',');
      if (has_comma) ++at_;
    }
    // In Python, (3) is a number.
    if (header_.rank == 1 && !has_comma) return bad_form("',' after a single size");
    ++at_;
    return {};
  }

  Status parse_size() {
    ANDIRON_TRY(check_limit(header_.rank + 1, max_rank, {"too many dimensions", nullptr}));
    const std::size_t begin = at_;
    std::uint64_t size = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (__builtin_mul_overflow(size, std::uint64_t{10}, &size) ||
          __builtin_add_overflow(size, digit, &size)) {
        at_ = begin;
        Error error = bad("a dimension does not fit in 64 bits", "a size");
        error.code = ErrorCode::overflow;
        return error;
      }
    }
    const bool is_padded = at_ - begin > 1 && text_[begin] == '0';
    if (at_ == begin || is_padded) {
      at_ = begin;
      return bad_form("a size of 0 or more, or ')'");
    }
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    header_.dims[header_.rank++] = size;
    return {};
  }

  Error too_deep() const {
    return over_limit("", most_nesting,
                      {"the dtype of a NumPy array is nested too deeply", nullptr});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  NpyHeader header_;
  std::array<Key, 3> keys_ = {{{"descr", &HeaderParser::parse_descr},
                               {"fortran_order", &HeaderParser::parse_order},
                               {"shape", &HeaderParser::parse_shape}}};
};

Error cut_off(std::size_t there) {
  return Error{.code = ErrorCode::truncated,
               .message = "the array ends within its header",
               .found = std::to_string(there) + " bytes",
               .hint = "the download or the save may be incomplete"};
}

}  // namespace

Result<NpyFrame> read_npy_frame(std::string_view head, const Limits& limits) {
  if (!head.starts_with(npy_magic)) {
    if (npy_magic.starts_with(head)) return cut_off(head.size());
    return Error{.code = ErrorCode::bad_header,
                 .message = "not a NumPy array",
                 .found = in_quotes(head.substr(0, npy_magic.size())) + " at its start",
                 .expected = "\\x93NUMPY"};
  }
  if (head.size() < version_bytes) return cut_off(head.size());
  const auto* const bytes = reinterpret_cast<const std::byte*>(head.data());
  const auto major = std::to_integer<unsigned>(bytes[npy_magic.size()]);
  const auto minor = std::to_integer<unsigned>(bytes[npy_magic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    return Error{.code = ErrorCode::unsupported,
                 .message = "unknown version of the NumPy format",
                 .found = std::to_string(major) + "." + std::to_string(minor),
                 .expected = "1.0, 2.0 or 3.0"};
  }
  NpyFrame frame;
  frame.is_utf8 = major == 3;
  frame.text_offset = version_bytes + (major == 1 ? 2 : 4);
  if (head.size() < frame.text_offset) return cut_off(head.size());
  const std::uint64_t length =
      major == 1 ? load_u16(bytes + version_bytes) : load_u32(bytes + version_bytes);
  ANDIRON_TRY(check_limit(
      length, limits.npy_header_bytes,
      {"the header of an array is larger than allowed", &Limits::npy_header_bytes, "bytes"}));
  frame.data_offset = frame.text_offset + length;
  return frame;
}

Result<NpyHeader> parse_npy_header(std::string_view text) { return HeaderParser(text).parse(); }

std::string npy_head(std::string_view descr, std::span<const std::uint64_t> shape) {
  std::string text = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d != 0) text += ", ";
    text += std::to_string(shape[d]);
  }
  text += shape.size() == 1 ? ",), }" : "), }";
  // NumPy leaves room for the first dimension to grow to as many digits.
  constexpr std::size_t room = 21;
  if (!shape.empty()) text.append(room - std::to_string(shape[0]).size(), ' ');
  // Where nothing is missing, NumPy adds a whole line of spaces.
  constexpr std::size_t alignment = 64;
  const std::size_t frame = version_bytes + 2;
  text.append(alignment - (frame + text.size() + 1) % alignment, ' ');
  text += '\n';
  std::string head(npy_magic);
  head += '\1';
  head += '\0';
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

}  // namespace andiron::inline v1::detail
