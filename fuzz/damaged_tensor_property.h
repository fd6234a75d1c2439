// SPDX-License-Identifier: MIT OR Apache-2.0
// What must hold for formats whose tensors may turn out to be damaged only when they are read.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "andiron/open.h"
#include "fuzz/archive_property.h"

namespace andiron::fuzz {

// The same file from a source that lends nothing: refused as it was from memory, or listed alike.
template <class Open>
Result<Archive> open_copied(const Result<Archive>& lent, std::span<const std::byte> file,
                            Open open) {
  Result<Archive> copied = open(std::make_shared<CopyingSource>(file), Strictness::lenient);
  check_error(copied);
  ANDIRON_HOLDS(lent.ok() == copied.ok());
  if (!copied) return copied;
  ANDIRON_HOLDS(lent->size() == copied->size() && lent->packaging() == copied->packaging());
  ANDIRON_HOLDS(lent->notes() == copied->notes());
  ANDIRON_HOLDS(lent->skipped().size() == copied->skipped().size());
  for (std::size_t i = 0; i < lent->size(); ++i) {
    check_info(*lent, i);
    ANDIRON_HOLDS(copied->find(lent->info(i).name) == i);
  }
  return copied;
}

// The tensor, the same from memory and from copies; nothing where both say that it is damaged.
inline std::optional<Tensor> read_if_intact(const TensorSnapshot& lent,
                                            const TensorSnapshot& copied, const TensorInfo& info,
                                            std::span<const std::byte> file) {
  Result<Tensor> a = lent.read();
  const Result<Tensor> b = copied.read();
  ANDIRON_HOLDS(a.ok() == b.ok());
  if (!a) {
    ANDIRON_HOLDS(a.error().tensor == info.name);
    return std::nullopt;
  }
  ANDIRON_HOLDS(same(a->bytes().span(), b->bytes().span()));
  check_place(*a, info, file);
  return *std::move(a);
}

}  // namespace andiron::fuzz
