// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON strings and the entries of a SafeTensors header, appended to any text with +=: one place for
// the hosted writer and the heapless one. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/freestanding/decimal.h"

namespace andiron::inline v1::detail {

// What JSON requires to be escaped, given as a code point below 0x10000.
template <class Out>
void append_json_escape(Out& out, std::uint32_t c) {
  constexpr std::string_view named = "\"\\\b\t\n\f\r";
  constexpr std::string_view letters = "\"\\btnfr";
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (c != static_cast<unsigned char>(named[i])) continue;
    out += '\\';
    out += letters[i];
    return;
  }
  out += std::string_view("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out += "0123456789abcdef"[c >> shift & 0xf];
}

// REQUIRES: `text` is UTF-8.
template <class Out>
void append_json_text(Out& out, std::string_view text) {
  out += '"';
  const char* plain = text.data();  // start of what need not change
  const char* const end = text.data() + text.size();
  for (const char* at = plain; at != end; ++at) {
    const auto c = static_cast<unsigned char>(*at);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out += std::string_view(plain, static_cast<std::size_t>(at - plain));
    append_json_escape(out, c);
    plain = at + 1;
  }
  out += std::string_view(plain, static_cast<std::size_t>(end - plain));
  out += '"';
}

// `dim(i)` is the size of dimension i.
template <class Out, class Dim>
void append_safetensors_entry(Out& out, std::string_view name, std::string_view dtype,
                              std::size_t rank, const Dim& dim, std::uint64_t begin,
                              std::uint64_t end) {
  append_json_text(out, name);
  out += std::string_view(":{\"dtype\":\"");
  out += dtype;
  out += std::string_view("\",\"shape\":[");
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != 0) out += ',';
    out += Decimal(dim(i)).text();
  }
  out += std::string_view("],\"data_offsets\":[");
  out += Decimal(begin).text();
  out += ',';
  out += Decimal(end).text();
  out += std::string_view("]}");
}

}  // namespace andiron::inline v1::detail
