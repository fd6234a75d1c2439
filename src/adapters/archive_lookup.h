// SPDX-License-Identifier: MIT OR Apache-2.0
// Looks up the tensors of an archive for adapters.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "andiron/adapter.h"
#include "andiron/archive.h"

namespace andiron::inline v1::detail {

class ArchiveLookup final : public TensorLookup {
 public:
  explicit ArchiveLookup(const Archive& archive) : archive_(archive) {}
  Result<std::optional<TensorSnapshot>> find(std::string_view name) override {
    const std::optional<std::size_t> index = archive_.find(name);
    return index ? std::make_optional(archive_.snapshot(*index)) : std::nullopt;
  }

 private:
  const Archive& archive_;
};

}  // namespace andiron::inline v1::detail
