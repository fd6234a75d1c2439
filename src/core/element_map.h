// SPDX-License-Identifier: MIT OR Apache-2.0
// What happens to each element when it is read: byte order, casts, signs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "andiron/dtype.h"

namespace andiron::inline v1::detail {

struct ElementStep {
  enum class Kind : std::uint8_t { cast, negate, conjugate };
  Kind kind;
  DType to;  // dtype after the step

  friend bool operator==(const ElementStep&, const ElementStep&) = default;
};

// A chain of element-wise steps. Casts round one after the other, as written.
class ElementMap {
 public:
  // Elements handled by one call of run().
  static constexpr std::size_t tile = 256;
  static constexpr std::size_t max_element_bytes = 16;
  using Buffer = std::array<std::byte, tile * max_element_bytes>;

  ElementMap(DType stored, bool big_endian) : stored_(stored), swaps_(big_endian) {}

  DType stored() const noexcept { return stored_; }
  DType result() const noexcept { return steps_.empty() ? stored_ : steps_.back().to; }
  bool is_identity() const noexcept { return steps_.empty() && !swaps_; }
  // Whether it is one cast and nothing else.
  bool is_cast() const noexcept {
    return steps_.size() == 1 && steps_[0].kind == ElementStep::Kind::cast && !swaps_;
  }
  std::size_t step_count() const noexcept { return steps_.size(); }
  ElementMap then(ElementStep step) const;

  // Maps `count` <= tile contiguous elements from `source`, which is overwritten, to `out`.
  void run(Buffer& source, std::byte* out, std::size_t count) const noexcept;

  friend bool operator==(const ElementMap&, const ElementMap&) = default;

 private:
  DType stored_;
  bool swaps_;
  std::vector<ElementStep> steps_;
};

}  // namespace andiron::inline v1::detail
