// SPDX-License-Identifier: MIT OR Apache-2.0
// A place in a module.
#pragma once

#include <string>
#include <string_view>

#include "andiron/container.h"

namespace andiron::inline v1 {

/// Where a tensor sits in a module.
struct Place {
  std::string path;     ///< "encoder.layers.0.weight"
  Container container;  ///< Struct:Model, Struct:Encoder, Vec, Struct:Linear

  /// The last segment of the path: "weight".
  std::string_view name() const noexcept;
  /// The path without its last segment: "encoder.layers.0". Empty at the root.
  std::string_view parent() const noexcept;
  /// The path with another last segment.
  std::string with_name(std::string_view name) const;
};

}  // namespace andiron::inline v1
