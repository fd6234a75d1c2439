// SPDX-License-Identifier: MIT OR Apache-2.0
// The order in which people list names.
#pragma once

#include <string_view>

namespace andiron::inline v1 {

/// Compares text bytewise but runs of digits by value: layers.2 before layers.10. Names that differ
/// only in leading zeros fall back to bytewise order, so it is a strict total order.
bool natural_less(std::string_view a, std::string_view b) noexcept;

/// The same order for std::set and std::map.
struct NaturalLess {
  bool operator()(std::string_view a, std::string_view b) const noexcept {
    return natural_less(a, b);
  }
};

}  // namespace andiron::inline v1
