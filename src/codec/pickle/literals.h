// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers and text as pickles spell them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace andiron::inline v1::detail {

// The longest integer that is taken, in bytes.
inline constexpr std::size_t largest_pickle_integer = 1024;

enum class IntegerText : std::uint8_t { small, big, malformed, too_long };

// A decimal number with an optional sign. Leading zeros are malformed: Python reads them as octal
// in one opcode and refuses them in another. A small one fits `small`; `big` is two's complement,
// little-endian.
IntegerText parse_integer(std::string_view text, std::int64_t& small, std::string& big);

// As Python's float() reads it; nothing where it would fail, and for numbers too close to 0.
std::optional<double> parse_float(std::string_view text);

bool is_ascii(std::string_view text) noexcept;

// UTF-8 in which surrogates may stand alone; each becomes U+FFFD, which is as long. `out` has room
// for the text. False where it is not even that.
bool replace_surrogates(std::string_view text, char* out) noexcept;

// What is between the quotes of a str of Python 2. `out` has room for the text; returns how many
// bytes were written, nothing for a broken escape.
std::optional<std::size_t> unescape_string(std::string_view text, char* out) noexcept;

// Latin-1 with \uXXXX and \UXXXXXXXX, to UTF-8. `out` has room for twice the text.
std::optional<std::size_t> decode_raw_unicode(std::string_view text, char* out) noexcept;

}  // namespace andiron::inline v1::detail
