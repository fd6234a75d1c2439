// SPDX-License-Identifier: MIT OR Apache-2.0
// The names and shapes that a module asks for, under each adapter and with or without the names of
// variants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/proposals/proposals.h"
#include "src/proposals/recipe.h"
#include "src/proposals/work_budget.h"

namespace andiron::inline v1::detail {

// The forms (dtype and shape) of a file's tensors, numbered, each with an example tensor.
class KnownForms {
 public:
  // Returns the number of the tensor's form.
  std::size_t add(const TensorSnapshot& tensor);

  std::size_t size() const noexcept { return examples_.size(); }
  const TensorSnapshot& example(std::size_t form) const { return examples_[form]; }
  // The forms worth trying for a leaf. If there are many, only those with as many elements.
  std::vector<std::size_t> likely(const LeafInfo& leaf) const;

 private:
  std::map<std::pair<DType, std::vector<std::uint64_t>>, std::size_t> numbers_;
  std::vector<TensorSnapshot> examples_;
  std::multimap<std::uint64_t, std::size_t> by_element_count_;
};

struct ModuleView {
  AdapterChoice choice;
  bool flips_variants;
  AnyAdapter adapter;
  std::span<const WantedTensor> wanted;
  std::vector<std::string> asked;               // names that the adapter looks for
  std::vector<std::size_t> asking;              // for each the place it is for, of those looked at
  std::vector<std::vector<std::size_t>> forms;  // for each those that fit
};

// Returns one view per adapter that asks for other names or accepts other forms than those before.
// `places`: the wanted tensors to look at.
std::vector<ModuleView> views_of(const ProposalInput& input, std::span<const std::size_t> places,
                                 const KnownForms& forms, WorkBudget& budget);

}  // namespace andiron::inline v1::detail
