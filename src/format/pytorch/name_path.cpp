// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_pickle_walk_test.cpp
#include "src/format/pytorch/name_path.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "src/core/check_limit.h"
#include "src/core/try.h"
#include "src/format/pytorch/pickled_numpy.h"
#include "src/format/pytorch/python_text.h"

namespace andiron::inline v1::detail {

std::size_t NamePath::append_index(std::uint32_t index, bool is_first) {
  const std::size_t step = begin_step(is_first);
  char digits[10];
  text_.append(digits, std::to_chars(digits, digits + sizeof digits, index).ptr);
  return step;
}

Result<std::size_t> NamePath::append_key(PickleValue key, std::uint32_t number, bool is_first) {
  const std::size_t end = text_.size();
  const std::size_t step = begin_step(is_first);
  const bool is_text = key.kind == PickleKind::text || key.kind == PickleKind::old_text;
  if (is_text && !content_.text(key)) {
    ANDIRON_TRY(append_long_text(content_.graph().blob(key)));
  } else {
    const bool is_scalar = content_.callable_of(key) == Callable::numpy_scalar;
    const bool tells_all =
        is_scalar ? append_numpy_scalar(key) : append_python_str(text_, content_.graph(), key);
    if (!tells_all) {
      key_bytes_ += text_.size() - step;
      text_.resize(end);
      return append_index(number, is_first);
    }
  }
  key_bytes_ += text_.size() - step;
  ANDIRON_TRY(check_limit(key_bytes_, most_key_bytes_, [&] {
    return LimitCheck{"all names together are too long", &Limits::memory_bytes, "bytes",
                      content_.source()->name()};
  }));
  return step;
}

// As Python prints the number; false for what is none.
bool NamePath::append_numpy_scalar(PickleValue key) {
  const Result<Value> number = numpy_scalar(content_, key, limits_);
  if (!number) return false;
  if (const auto* flag = number->get<bool>()) {
    text_ += *flag ? "True" : "False";
  } else if (const auto* whole = number->get<std::int64_t>()) {
    text_ += std::to_string(*whole);
  } else if (const auto* large = number->get<std::uint64_t>()) {
    text_ += std::to_string(*large);
  } else if (const auto* real = number->get<double>()) {
    append_python_float(text_, *real);
  } else {
    return false;
  }
  return true;
}

// Of text that is not kept in memory, as much as shows that a name is too long.
Status NamePath::append_long_text(const PickleBlob& blob) {
  const std::size_t begin = text_.size();
  text_.resize(begin + static_cast<std::size_t>(std::min(blob.size, limits_.name_bytes + 1)));
  return content_.source()->read_at(blob.offset,
                                    std::as_writable_bytes(std::span(text_).subspan(begin)));
}

}  // namespace andiron::inline v1::detail
