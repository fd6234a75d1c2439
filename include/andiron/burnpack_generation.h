// SPDX-License-Identifier: MIT OR Apache-2.0
// The dialects of Burnpack. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace andiron::inline v1 {

/// Releases of Burn that write Burnpack alike. The version number in the file is 1 in all of them.
enum class BurnpackGeneration : std::uint8_t {
  burn_0_19,      ///< data right after the metadata, without gaps; also 0.20.0-pre.1 to pre.4
  burn_0_20,      ///< every tensor on a multiple of 256 bytes; booleans are "Bool"
  burn_0_21,      ///< booleans are {"Bool": "Native"}
  burn_0_22_pre,  ///< 0.22.0-pre.1 and pre.2: scalars; quantization of two levels
  burn_0_22,      ///< 0.22.0 and later: another schema of quantization
};

/// "0.19" and so on; "0.22-pre" for the previews.
constexpr std::string_view name_of(BurnpackGeneration generation) noexcept {
  constexpr std::string_view names[] = {"0.19", "0.20", "0.21", "0.22-pre", "0.22"};
  return names[static_cast<unsigned>(generation)];
}

/// The generation of a release of Burn, by its number ("0.21.0"). False for other texts.
constexpr bool burnpack_generation_of(std::string_view release,
                                      BurnpackGeneration& generation) noexcept {
  // Not starts_with: it may throw, which firmware cannot link.
  const auto begins_with = [&](std::string_view prefix) {
    std::size_t same = 0;
    while (same < prefix.size() && same < release.size() && prefix[same] == release[same]) ++same;
    return same == prefix.size();
  };
  constexpr std::string_view preview = "0.20.0-pre.";
  const bool is_early = release.size() == preview.size() + 1 && release[release.size() - 1] <= '4';
  if (begins_with("0.19.") || (begins_with(preview) && is_early)) {
    generation = BurnpackGeneration::burn_0_19;
  } else if (begins_with("0.20.")) {
    generation = BurnpackGeneration::burn_0_20;
  } else if (begins_with("0.21.")) {
    generation = BurnpackGeneration::burn_0_21;
  } else if (release == "0.22.0-pre.1" || release == "0.22.0-pre.2") {
    generation = BurnpackGeneration::burn_0_22_pre;
  } else if (begins_with("0.22.") || begins_with("0.23.")) {
    generation = BurnpackGeneration::burn_0_22;
  } else {
    return false;
  }
  return true;
}

}  // namespace andiron::inline v1
