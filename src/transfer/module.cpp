// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/transfer/module_test.cpp
#include "andiron/module.h"

#include <algorithm>
#include <charconv>

namespace andiron {
inline namespace v1 {

// A tensor without anything in it is taken for one that is not set.
LeafInfo Leaf<Tensor>::info(const Tensor& tensor) {
  const bool is_set =
      tensor.dtype() != DType::f32 || tensor.shape() != Shape{0} || tensor.byte_size() != 0;
  return {.dtype = tensor.dtype(),
          .shape = tensor.shape(),
          .accepts_any_shape = !is_set,
          .accepts_any_dtype = true};
}

namespace detail {

std::span<std::byte> writable_bytes(Tensor& tensor, DType dtype, const Shape& shape) {
  if (tensor.dtype() != dtype || tensor.shape() != shape) return {};
  return tensor.writable();
}

std::string_view FieldNames::next() {
  const std::size_t comma = std::min(rest_.find(','), rest_.size());
  std::string_view name = rest_.substr(0, comma);
  rest_.remove_prefix(std::min(comma + 1, rest_.size()));
  while (name.starts_with(' ')) name.remove_prefix(1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  return name;
}

std::string_view index_name(std::size_t index, std::array<char, 20>& digits) {
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), index).ptr;
  return {digits.data(), static_cast<std::size_t>(end - digits.data())};
}

void SlotList::enter(std::string_view name, Kind kind) {
  path_ends_.push_back(path_.size());
  if (!(skip_enum_variants_ && kind.prefix == "Enum:")) {
    if (!path_.empty()) path_ += '.';
    path_ += name;
  }
  std::string& text = kinds_.emplace_back(kind.prefix);
  text += kind.name;
}

void SlotList::leave() {
  path_.resize(path_ends_.back());
  path_ends_.pop_back();
  kinds_.pop_back();
}

void SlotList::add(const void* leaf, const LeafOps& ops) {
  // The leaves of one module follow each other and share one container.
  if (container_.kinds() != kinds_) container_ = Container(kinds_);
  // Loads walk over modules that may be changed, and only they write to leaves.
  slots_.push_back({path_, container_, const_cast<void*>(leaf), &ops});
}

SlotList SlotList::from_here() const {
  SlotList list = *this;
  list.slots_.clear();
  return list;
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
