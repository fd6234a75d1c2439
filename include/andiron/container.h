// SPDX-License-Identifier: MIT OR Apache-2.0
// What a tensor sits in, in a module's own words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace andiron {
inline namespace v1 {

/// The kinds of module around a tensor, outermost first: {"Net", "Vec", "Linear"}. Empty for
/// tensors that come from a file. Burn's spelling "Struct:Linear" and the plain "Linear" mean the
/// same.
class Container {
 public:
  Container() = default;
  explicit Container(std::vector<std::string> kinds) : kinds_(std::move(kinds)) {}

  const std::vector<std::string>& kinds() const noexcept { return kinds_; }
  bool empty() const noexcept { return kinds_.empty(); }
  /// The innermost kind without its prefix; empty when there is none.
  std::string_view last() const noexcept {
    return kinds_.empty() ? std::string_view() : plain(kinds_.back());
  }
  /// Whether the innermost kind is `kind`, in either spelling.
  bool is(std::string_view kind) const noexcept { return !empty() && last() == plain(kind); }
  /// Kinds joined with dots.
  std::string path() const {
    std::string joined;
    for (const std::string& kind : kinds_) joined += (joined.empty() ? "" : ".") + kind;
    return joined;
  }

 private:
  static std::string_view plain(std::string_view kind) noexcept {
    std::size_t colon = kind.find(':');
    return colon == std::string_view::npos ? kind : kind.substr(colon + 1);
  }
  std::vector<std::string> kinds_;
};

}  // namespace v1
}  // namespace andiron
