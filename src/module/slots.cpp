// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/module/slots_test.cpp
#include "andiron/module.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "src/core/name_table.h"
#include "src/core/parse_index.h"
#include "src/core/path_segments.h"
#include "src/core/try.h"

namespace andiron::inline v1 {

// A tensor without anything in it is taken for one that is not set.
LeafInfo Leaf<Tensor>::info(const Tensor& tensor) {
  const bool is_set =
      tensor.dtype() != DType::f32 || tensor.shape() != Shape{0} || tensor.byte_size() != 0;
  return {.dtype = tensor.dtype(),
          .shape = tensor.shape(),
          .accepts_any_shape = !is_set,
          .accepts_any_dtype = true,
          .raw_name = tensor.raw_name()};
}

std::span<std::byte> Leaf<Tensor>::buffer(Tensor& tensor, DType dtype, const Shape& shape) {
  if (tensor.dtype() != dtype || tensor.shape() != shape) return {};
  return tensor.writable();
}

namespace detail {

std::string_view index_name(std::size_t index, std::array<char, 20>& digits) {
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), index).ptr;
  return {digits.data(), static_cast<std::size_t>(end - digits.data())};
}

void SlotList::Path::enter(std::string_view name) {
  ends_.push_back(text_.size());
  if (segments_++ != 0) text_ += '.';
  text_ += name;
}

void SlotList::Path::leave() {
  if (ends_.back() != stays) {
    text_.resize(ends_.back());
    --segments_;
  }
  ends_.pop_back();
}

Status check_paths(const std::vector<Slot>& slots) {
  NameTable seen;
  ANDIRON_TRY(seen.reset(slots.size()));
  const auto path_at = [&](std::uint32_t i) { return std::string_view(slots[i].path); };
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    if (!seen.insert(slot.path, i, path_at)) continue;
    return Error{.code = ErrorCode::name_collision,
                 .message = "two parameters of the module have this path",
                 .tensor = slot.path,
                 .hint = "check for duplicate field names and for map keys with dots"};
  }
  return {};
}

void SlotList::enter(std::string_view name, Kind kind) {
  with_variants_.enter(name);
  if (kind.prefix == "Enum:") {
    without_variants_.stay();
  } else {
    without_variants_.enter(name);
  }
  std::string& text = kinds_.emplace_back(kind.prefix);
  text += kind.name;
}

void SlotList::leave() {
  const std::string_view part = path();
  if (parse_index(last_segments(part, 1))) {
    std::string_view last;
    if (!found_.slots.empty()) last = found_.slots.back().path;
    const bool has_leaf =
        last.starts_with(part) && (last.size() == part.size() || last[part.size()] == '.');
    if (!has_leaf) add_vacancy(Vacancy::Kind::element);
  }
  with_variants_.leave();
  without_variants_.leave();
  kinds_.pop_back();
}

void SlotList::add(void* leaf, const LeafOps& ops) {
  // The leaves of one module follow each other and share one container.
  if (container_.kinds() != kinds_) container_ = Container(kinds_);
  std::string other;
  if (with_variants_.text().size() != without_variants_.text().size()) {
    other = (skip_enum_variants_ ? with_variants_ : without_variants_).text();
  }
  found_.slots.push_back({{path(), container_}, std::move(other), leaf, &ops});
}

void SlotList::add_vacancy(Vacancy::Kind kind) { found_.vacancies.push_back({path(), kind}); }

void SlotList::end_module(Mark begin, std::string_view kind) {
  if (found_.slots.size() != begin.slots || path().empty()) return;
  std::vector<Vacancy>& vacancies = found_.vacancies;
  const auto first = vacancies.begin() + static_cast<std::ptrdiff_t>(begin.vacancies);
  const bool is_bare = std::all_of(first, vacancies.end(), [](const Vacancy& vacancy) {
    return vacancy.kind == Vacancy::Kind::element || vacancy.kind == Vacancy::Kind::bare;
  });
  if (!is_bare) return;
  vacancies.erase(first, vacancies.end());
  vacancies.push_back({path(), Vacancy::Kind::bare, kind});
}

std::size_t SlotList::begin_variant(void* variant, std::size_t present, const VariantOps& ops) {
  found_.variants.push_back({path(), variant, present, &ops, found_.slots.size(), 0, 0,
                             std::make_shared<const SlotList>(from_here())});
  return found_.variants.size() - 1;
}

void SlotList::end_variant(std::size_t index) {
  VariantPlace& place = found_.variants[index];
  place.slot_count = found_.slots.size() - place.first_slot;
  place.next_variant = found_.variants.size();
}

SlotList SlotList::from_here() const {
  SlotList list(skip_enum_variants_);
  list.with_variants_ = with_variants_;
  list.without_variants_ = without_variants_;
  list.kinds_ = kinds_;
  return list;
}

}  // namespace detail
}  // namespace andiron::inline v1
