// SPDX-License-Identifier: MIT OR Apache-2.0
// Huffman codes for data that is to be written.
#pragma once

#include <cstdint>
#include <span>

namespace andiron::inline v1::detail {

// The lengths of the codes for symbols that occur so and so often, 0 for those that do not occur.
// Changes the counts where a code would be longer than `longest`.
// REQUIRES: as many lengths as counts, 288 at most, and their sum fits 32 bits.
void set_huffman_lengths(std::span<std::uint32_t> counts, unsigned longest,
                         std::span<std::uint8_t> lengths) noexcept;

// The codes of these lengths, their first bits lowest. REQUIRES: as many codes as lengths.
void set_huffman_codes(std::span<const std::uint8_t> lengths,
                       std::span<std::uint16_t> codes) noexcept;

}  // namespace andiron::inline v1::detail
