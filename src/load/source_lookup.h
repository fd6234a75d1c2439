// SPDX-License-Identifier: MIT OR Apache-2.0
// The tensors of a source by name; remembers which were asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/archive.h"
#include "andiron/detail/no_throw.h"

namespace andiron::inline v1::detail {

class SourceLookup final : public TensorLookup {
 public:
  explicit SourceLookup(const Archive& source) : source_(source), used_(source.size(), false) {}

  Result<std::optional<TensorSnapshot>> find(std::string_view name) override ANDIRON_NO_THROW {
    const std::optional<std::size_t> index = source_.find(name);
    if (!index) return std::optional<TensorSnapshot>();
    used_[*index] = true;
    found_.push_back(static_cast<std::uint32_t>(*index));
    return std::make_optional(source_.snapshot(*index));
  }
  ANDIRON_OR_OUT_OF_MEMORY

  // All that was found, in order, as often as it was.
  std::vector<std::uint32_t>& found() noexcept { return found_; }
  // Indices of tensors that were never found, in the order of their names.
  std::vector<std::size_t> unused() const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) indices.push_back(i);
    }
    std::sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
      return source_.info(a).name < source_.info(b).name;
    });
    return indices;
  }

 private:
  const Archive& source_;
  std::vector<bool> used_;
  std::vector<std::uint32_t> found_;
};

}  // namespace andiron::inline v1::detail
