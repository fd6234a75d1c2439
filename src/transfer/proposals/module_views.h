// SPDX-License-Identifier: MIT OR Apache-2.0
// What a module asks of a file, under each adapter and with or without the names of variants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/transfer/proposals/proposals.h"
#include "src/transfer/proposals/recipe.h"
#include "src/transfer/proposals/work_budget.h"

namespace andiron {
inline namespace v1 {
namespace detail {

// The shapes of a file's tensors, numbered, each with a tensor that has it.
class KnownShapes {
 public:
  // The number of the tensor's shape.
  std::size_t add(const TensorSnapshot& tensor);

  std::size_t size() const noexcept { return examples_.size(); }
  const TensorSnapshot& example(std::size_t shape) const { return examples_[shape]; }
  // Those worth a try for a wanted shape: of many only those with as many elements.
  std::vector<std::size_t> likely(const std::optional<Shape>& wanted) const;

 private:
  std::map<std::vector<std::uint64_t>, std::size_t> numbers_;
  std::vector<TensorSnapshot> examples_;
  std::multimap<std::uint64_t, std::size_t> by_element_count_;
};

struct ModuleView {
  AdapterChoice choice;
  bool flips_variants;
  AnyAdapter adapter;
  std::span<const WantedTensor> wanted;
  std::vector<std::string> asked;                // names that the adapter looks for
  std::vector<std::size_t> asking;               // for each the place it is for, of those looked at
  std::vector<std::vector<std::size_t>> shapes;  // for each those that fit
};

// One for each adapter that asks for other names or takes other shapes than those before. `places`:
// the wanted tensors that are looked at.
std::vector<ModuleView> views_of(const ProposalInput& input, std::span<const std::size_t> places,
                                 const KnownShapes& shapes, WorkBudget& budget);

}  // namespace detail
}  // namespace v1
}  // namespace andiron
