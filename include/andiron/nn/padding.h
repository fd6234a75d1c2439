// SPDX-License-Identifier: MIT OR Apache-2.0
// What a convolution adds around its input.
#pragma once

#include <cstdint>

namespace andiron::inline v1 {
namespace nn {

// NOLINTBEGIN(readability-identifier-naming): Burn's name for given padding is a keyword here

enum class PaddingKind : std::uint8_t {
  valid,  ///< none
  same,   ///< as much as makes the output as long as the input; of an odd number, more behind
  given,  ///< the numbers beside it
};

/// Padding in one dimension.
struct PaddingConfig1d {
  PaddingKind kind = PaddingKind::valid;
  /// Only of given padding.
  std::uint64_t left = 0;
  std::uint64_t right = 0;

  static PaddingConfig1d valid() { return {}; }
  static PaddingConfig1d same() { return {.kind = PaddingKind::same}; }
  static PaddingConfig1d explicit_(std::uint64_t left, std::uint64_t right) {
    return {PaddingKind::given, left, right};
  }
  friend bool operator==(const PaddingConfig1d&, const PaddingConfig1d&) = default;
};

/// Padding in two dimensions.
struct PaddingConfig2d {
  PaddingKind kind = PaddingKind::valid;
  /// Only of given padding.
  std::uint64_t top = 0;
  std::uint64_t left = 0;
  std::uint64_t bottom = 0;
  std::uint64_t right = 0;

  static PaddingConfig2d valid() { return {}; }
  static PaddingConfig2d same() { return {.kind = PaddingKind::same}; }
  static PaddingConfig2d explicit_(std::uint64_t top, std::uint64_t left, std::uint64_t bottom,
                                   std::uint64_t right) {
    return {PaddingKind::given, top, left, bottom, right};
  }
  /// The same above and below, and the same left and right.
  static PaddingConfig2d explicit_(std::uint64_t height, std::uint64_t width) {
    return explicit_(height, width, height, width);
  }
  friend bool operator==(const PaddingConfig2d&, const PaddingConfig2d&) = default;
};

// NOLINTEND(readability-identifier-naming)

}  // namespace nn
}  // namespace andiron::inline v1
