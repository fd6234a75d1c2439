// SPDX-License-Identifier: MIT OR Apache-2.0
// Looks up the tensors of an archive for adapters.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "andiron/adapter.h"
#include "andiron/archive.h"
#include "andiron/detail/no_throw.h"

namespace andiron::inline v1::detail {

class ArchiveLookup final : public TensorLookup {
 public:
  explicit ArchiveLookup(const Archive& archive) : archive_(archive) {}
  Result<std::optional<TensorSnapshot>> find(std::string_view name) override ANDIRON_NO_THROW {
    const std::optional<std::size_t> index = archive_.find(name);
    return index ? std::make_optional(archive_.snapshot(*index)) : std::nullopt;
  }
  ANDIRON_OR_OUT_OF_MEMORY

 private:
  const Archive& archive_;
};

}  // namespace andiron::inline v1::detail
