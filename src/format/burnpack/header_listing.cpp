// SPDX-License-Identifier: MIT OR Apache-2.0
// What every byte of a Burnpack header means. Tested by
// tests/format/burnpack_header_listing_test.cpp
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/burnpack/header_listing.h"
#include "src/freestanding/cbor_reader.h"

namespace andiron::inline v1::detail {
namespace {

using Kind = CborReader::Kind;

class Labeller {
 public:
  explicit Labeller(const BurnpackHead& head)
      : head_(head),
        reader_(head.bytes.span().subspan(burnpack_header_bytes, head.metadata_bytes)) {}

  Result<std::vector<BurnpackField>> label() {
    add(0, 4, 0, "magic 'NRUB'");
    add(4, 2, 0, "version " + std::to_string(head_.version));
    add(6, 4, 0, "metadata of " + std::to_string(head_.metadata_bytes) + " bytes");
    const bool is_whole = metadata();
    const std::uint64_t end = burnpack_header_bytes + head_.metadata_bytes;
    const std::uint64_t labelled = fields_.back().offset + fields_.back().size;
    if (labelled < end) {
      add(labelled, end - labelled, 0,
          is_whole ? std::string("ignored") : "not understood: " + head_.damage);
    }
    if (head_.padding_bytes != 0) {
      add(end, head_.padding_bytes, 0,
          "padding up to " + std::to_string(end + head_.padding_bytes) + ", where the data starts");
    }
    return std::move(fields_);
  }

 private:
  // A list or map that is open.
  struct Level {
    CborOpen open;
    bool is_map;
    bool holds_names;  // its keys are names given by the user, not words of the format
  };

  std::uint64_t here() const { return burnpack_header_bytes + reader_.offset(); }

  void add(std::uint64_t offset, std::uint64_t size, unsigned depth, std::string meaning) {
    fields_.push_back({offset, size, depth, std::move(meaning)});
  }

  bool metadata() {
    std::vector<Level> levels;
    do {
      if (!levels.empty()) {
        if (!reader_.next(levels.back().open)) {
          if (reader_.failed()) return false;
          if (levels.back().open.indefinite) add(here() - 1, 1, depth_of(levels), "end");
          levels.pop_back();
          continue;
        }
        bool is_known = true;
        if (levels.back().is_map && !take_key(levels.back(), depth_of(levels), is_known)) {
          return false;
        }
        if (!is_known) {
          if (!take_ignored(depth_of(levels))) return false;
          continue;
        }
      }
      if (!take_value(levels)) return false;
    } while (!levels.empty());
    return true;
  }

  static unsigned depth_of(const std::vector<Level>& levels) {
    return static_cast<unsigned>(levels.size());
  }

  // `is_known` becomes false for a key of the top that the format does not have.
  bool take_key(const Level& level, unsigned depth, bool& is_known) {
    const std::uint64_t start = here();
    std::string meaning = "key";
    std::string text;
    if (reader_.peek() == Kind::text) {
      if (!take_text(text)) return false;
      meaning = (level.holds_names ? "name " : "key ") + detail::in_quotes(text);
    } else if (!reader_.skip_value(depth)) {
      return false;
    }
    add(start, here() - start, depth, std::move(meaning));
    is_known = depth > 1 || text == "tensors" || text == "metadata" || text == "scalars";
    return true;
  }

  // One field, whatever it holds.
  bool take_ignored(unsigned depth) {
    const std::uint64_t start = here();
    if (!reader_.skip_value(depth)) return false;
    add(start, here() - start, depth + 1, "ignored");
    return true;
  }

  bool take_text(std::string& out) {
    CborText text;
    if (!reader_.text(text)) return false;
    out.clear();
    CborTextPieces pieces(text);
    for (std::string_view piece; pieces.next(piece);) out += piece;
    return true;
  }

  bool take_number(unsigned depth, std::string& meaning) {
    std::uint64_t number = 0;
    std::int64_t negative = 0;
    CborReader attempt = reader_;
    if (attempt.unsigned_integer(number)) {
      meaning = "number " + std::to_string(number);
    } else if (attempt = reader_; attempt.integer(negative)) {
      meaning = "number " + std::to_string(negative);
    } else {
      // The format has no use for it, but it may stand where things are ignored.
      meaning = "number beyond 64 bits";
      return reader_.skip_value(depth);
    }
    reader_ = attempt;
    return true;
  }

  bool take_value(std::vector<Level>& levels) {
    const unsigned depth = depth_of(levels) + 1;
    const std::uint64_t start = here();
    std::string meaning;
    switch (reader_.peek()) {
      case Kind::map:
      case Kind::list: {
        if (levels.size() >= max_cbor_depth) {
          return reader_.fail(ErrorCode::limit_exceeded, "nested too deeply");
        }
        const bool is_map = reader_.peek() == Kind::map;
        CborOpen open;
        if (!(is_map ? reader_.open_map(open) : reader_.open_list(open))) return false;
        meaning = is_map ? "map of " : "list of ";
        meaning += open.indefinite ? "any length" : std::to_string(open.left);
        const bool holds_names = levels.size() == 1 && is_map;
        levels.push_back({open, is_map, holds_names});
        break;
      }
      case Kind::text: {
        std::string text;
        if (!take_text(text)) return false;
        meaning = "text " + detail::in_quotes(text);
        break;
      }
      case Kind::unsigned_integer:
      case Kind::negative_integer:
        if (!take_number(depth, meaning)) return false;
        break;
      case Kind::floating: {
        double number = 0;
        if (!reader_.floating(number)) return false;
        std::array<char, 32> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        meaning = "float " + std::string(digits.data(), end);
        break;
      }
      case Kind::boolean: {
        bool truth = false;
        if (!reader_.boolean(truth)) return false;
        meaning = truth ? "true" : "false";
        break;
      }
      case Kind::null:
        meaning = "null";
        if (!reader_.skip_value(depth)) return false;
        break;
      default:
        meaning = "ignored";
        if (!reader_.skip_value(depth)) return false;
    }
    add(start, here() - start, depth, std::move(meaning));
    return true;
  }

  const BurnpackHead& head_;
  CborReader reader_;
  std::vector<BurnpackField> fields_;
};

}  // namespace

Result<std::vector<BurnpackField>> burnpack_fields(const BurnpackHead& head) {
  return Labeller(head).label();
}

}  // namespace andiron::inline v1::detail
