// SPDX-License-Identifier: MIT OR Apache-2.0
// What the readers of headers say about what they find: errors with names and numbers, and notes on
// oddities.
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

// Something odd: the first thing that has it and how many there are.
struct Oddity {
  std::string name;
  std::size_t count = 0;

  void add(std::string_view where) {
    if (count++ == 0) name = where;
  }
  // Appends "KIND 'NAME': WHAT (and N more like it)"; nothing where there is none.
  void note(std::vector<std::string>& notes, std::string_view kind, std::string_view what) const;
};

// The tensor at which a parser stopped.
struct HeaderTensor {
  std::string name;
  DType dtype;
  std::span<const std::uint64_t> shape;
  std::uint64_t begin;
  std::uint64_t end;
};

// The parser's code and place, with the names and numbers that people need.
Error header_error(const ViewStatus& status, const std::string& file, const HeaderTensor& tensor);

}  // namespace andiron::inline v1::detail
