// SPDX-License-Identifier: MIT OR Apache-2.0
// How messages name the tensors of a source: with the numbers that the file has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"

namespace andiron::inline v1::detail {

// Undoes the closing of index gaps for messages. Rules for names see these names, too.
class ToldNames {
 public:
  explicit ToldNames(const Archive& source);

  // The name of a tensor before index gaps were closed. A name that is not in the source stays.
  std::string_view own(std::string_view name) const;
  // "'layers.4.weight' (layers.1.weight after closing index gaps)"; "'fc.weight'" if that is all.
  std::string quoted(std::string_view name) const;
  // The same for the first of several, "and 3 others".
  std::string quoted_and_others(const std::vector<std::string_view>& names) const;
  // The own names of those that have another now, each once: "'layers.4.weight' and 1 other"; empty
  // if there are none.
  std::string renumbered(const std::vector<std::string_view>& names) const;

 private:
  const Archive& source_;
  bool closes_gaps_;
};

}  // namespace andiron::inline v1::detail
