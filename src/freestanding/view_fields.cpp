// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/freestanding/bind_test.cpp
#include "andiron/detail/view_fields.h"

#include "src/freestanding/decimal.h"

namespace andiron::inline v1::detail {

void FieldWalk::append(std::string_view text) noexcept {
  for (const char c : text) {
    if (size_ < max_path_bytes) path_[size_] = c;
    ++size_;
  }
}

bool FieldWalk::enter(std::string_view name) noexcept {
  if (!is_seeking_) {
    if (size_ != 0) append(".");
    append(name);
    return true;
  }
  const std::size_t start = size_ == 0 ? 0 : size_ + 1;  // after the dot
  if (start > wanted_.size() || name.size() > wanted_.size() - start) return false;
  if (start != 0 && wanted_[size_] != '.') return false;
  const std::size_t end = start + name.size();
  if (end != wanted_.size() && wanted_[end] != '.') return false;
  if (__builtin_memcmp(wanted_.data() + start, name.data(), name.size()) != 0) return false;
  size_ = end;
  return true;
}

bool FieldWalk::enter(std::size_t index) noexcept { return enter(Decimal(index).text()); }

}  // namespace andiron::inline v1::detail
