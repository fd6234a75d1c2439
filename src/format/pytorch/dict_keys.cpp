// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_pickle_walk_test.cpp
#include "src/format/pytorch/dict_keys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "src/core/name_table.h"
#include "src/core/try.h"
#include "src/format/pytorch/python_text.h"

namespace andiron::inline v1::detail {
namespace {

// Keys with the same text: of text itself, the others are set apart by a byte that no text has.
// Keys whose text does not tell all are the same where they are one value.
class KeyTexts {
 public:
  KeyTexts(const PickleDocument& content, std::uint64_t& text_left)
      : content_(content), text_left_(text_left) {}

  std::string_view of(PickleValue key) {
    const auto text = content_.text(key);
    if (text && text->size() <= longest) return *text;
    if (!text && append_short(key)) return scratch_;
    scratch_ = '\xfe' + std::to_string(static_cast<int>(key.kind)) + '.';
    scratch_ += std::to_string(key.index);
    return scratch_;
  }

 private:
  // Names are shorter; longer text would be looked at for each time that it is a key.
  static constexpr std::size_t longest = 1024;

  // Whether the text tells all. A few bytes of pickle can be a key of some kilobytes, again and
  // again: when that comes to too much, keys are told by what they refer to.
  bool append_short(PickleValue key) {
    if (text_left_ == 0) return false;
    const bool tells_all = append(key);
    text_left_ -= std::min<std::uint64_t>(text_left_, scratch_.size());
    return tells_all;
  }
  bool append(PickleValue key) {
    scratch_ = '\xff';
    // In Python, True and 1.0 are the key 1.
    const double real = key.kind == PickleKind::real ? content_.graph().real(key) : std::nan("");
    if (key.kind == PickleKind::boolean || (std::trunc(real) == real && std::fabs(real) < 1e15)) {
      scratch_ += std::to_string(key.kind == PickleKind::real ? static_cast<std::int64_t>(real)
                                                              : *content_.integer(key));
      return true;
    }
    return append_python_str(scratch_, content_.graph(), key);
  }

  const PickleDocument& content_;
  std::uint64_t& text_left_;
  std::string scratch_;
};

}  // namespace

Result<std::vector<bool>> superseded_pairs(const PickleDocument& content, PickleItems pairs,
                                           std::uint64_t& text_left) {
  std::vector<bool> superseded;
  const std::uint32_t count = pairs.size() / 2;
  if (count < 2) return superseded;
  std::vector<PickleValue> keys;
  keys.reserve(count);
  for (auto at = pairs.begin(); at != pairs.end(); ++at) keys.push_back(*at++);
  KeyTexts texts(content, text_left);
  KeyTexts stored(content, text_left);
  NameTable table;
  ANDIRON_TRY(table.reset(count));
  const auto text_at = [&](std::uint32_t at) { return stored.of(keys[at]); };
  // From the last one on; the memory that keys need is asked for ahead.
  constexpr std::uint32_t ahead = 16;
  std::array<std::uint64_t, ahead> hashes;
  for (std::uint32_t end = count; end > 0;) {
    const std::uint32_t begin = end - std::min(end, ahead);
    for (std::uint32_t i = end; i-- > begin;) {
      hashes[i - begin] = hash_name(texts.of(keys[i]));
      table.prefetch(hashes[i - begin]);
    }
    for (std::uint32_t i = end; i-- > begin;) {
      if (!table.insert(texts.of(keys[i]), hashes[i - begin], i, text_at)) continue;
      superseded.resize(count, false);
      superseded[i] = true;
    }
    end = begin;
  }
  return superseded;
}

}  // namespace andiron::inline v1::detail
