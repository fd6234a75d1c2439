// SPDX-License-Identifier: MIT OR Apache-2.0
// Errors and notes of the header readers, with names and values for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/error_code.h"

namespace andiron::inline v1::detail {

// A note for OpenOptions::verify.
inline constexpr std::string_view no_checksums = "the file has no checksums; nothing was verified";

// An oddity: its first occurrence, and how many there are.
struct Oddity {
  std::string name;
  std::size_t count = 0;

  void add(std::string_view where) {
    if (count++ == 0) name = where;
  }
  // Appends "KIND 'NAME': WHAT (and N more like it)"; nothing where there is none.
  void note(std::vector<Message>& notes, std::string_view kind, std::string_view what) const;
};

// The tensor at which a parser stopped.
struct HeaderTensor {
  std::string name;
  DType dtype;
  std::span<const std::uint64_t> shape;
  std::uint64_t begin;
  std::uint64_t end;
};

// Returns the parser's code and offset, with the names and values that people need.
Error header_error(const ViewStatus& status, const std::string& file, const HeaderTensor& tensor);

}  // namespace andiron::inline v1::detail
