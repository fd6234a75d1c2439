// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a tensor is in a module: its path, and the kinds of module around it.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace andiron::inline v1 {

/// The kinds of module around a tensor, outermost first: {"Struct:Net", "Vec", "Struct:Linear"}.
/// Empty for tensors from a file. Burn's spelling "Struct:Linear" and plain "Linear" mean the same
/// to every function here. Copies are cheap and share the list.
class Container {
 public:
  Container() = default;
  explicit Container(std::vector<std::string> kinds)
      : kinds_(std::make_shared<const std::vector<std::string>>(std::move(kinds))) {}

  const std::vector<std::string>& kinds() const noexcept {
    static const std::vector<std::string> none;
    return kinds_ ? *kinds_ : none;
  }
  bool empty() const noexcept { return kinds().empty(); }
  /// The innermost kind without its prefix; empty if there is none.
  std::string_view last() const noexcept {
    return empty() ? std::string_view() : plain(kinds().back());
  }
  /// True if the innermost kind is `kind`, in either spelling.
  bool is(std::string_view kind) const noexcept { return !empty() && last() == plain(kind); }
  /// The innermost struct or enum, skipping lists and tuples, with its prefix: "Struct:Linear".
  /// Empty if there is none.
  std::string_view module_type() const noexcept {
    for (auto kind = kinds().rbegin(); kind != kinds().rend(); ++kind) {
      if (kind->starts_with("Struct:") || kind->starts_with("Enum:")) return *kind;
    }
    return {};
  }
  /// The kinds joined with dots.
  std::string path() const {
    std::string joined;
    for (const std::string& kind : kinds()) joined += (joined.empty() ? "" : ".") + kind;
    return joined;
  }

  /// Returns a kind without its prefix: "Linear" for "Struct:Linear".
  static std::string_view plain(std::string_view kind) noexcept {
    const std::size_t colon = kind.find(':');
    return colon == std::string_view::npos ? kind : kind.substr(colon + 1);
  }

  friend bool operator==(const Container& a, const Container& b) { return a.kinds() == b.kinds(); }

 private:
  std::shared_ptr<const std::vector<std::string>> kinds_;
};

/// Where a tensor is in a module.
struct Place {
  std::string path;     ///< "encoder.layers.0.weight"
  Container container;  ///< Struct:Model, Struct:Encoder, Vec, Struct:Linear

  /// The last segment of the path: "weight".
  std::string_view name() const noexcept;
  /// The path without its last segment: "encoder.layers.0". Empty at the root.
  std::string_view parent() const noexcept;
  /// Returns the path with another last segment.
  std::string with_name(std::string_view name) const;
};

}  // namespace andiron::inline v1
