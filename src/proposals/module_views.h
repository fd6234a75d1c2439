// SPDX-License-Identifier: MIT OR Apache-2.0
// What a module asks of a file, under each adapter and with or without the names of variants.
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

// The forms (dtypes and shapes) of a file's tensors, numbered, each with a tensor that has it.
class KnownForms {
 public:
  // The number of the tensor's form.
  std::size_t add(const TensorSnapshot& tensor);

  std::size_t size() const noexcept { return examples_.size(); }
  const TensorSnapshot& example(std::size_t form) const { return examples_[form]; }
  // Those worth a try for a leaf: of many only those with as many elements.
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

// One for each adapter that asks for other names or takes other forms than those before. `places`:
// the wanted tensors that are looked at.
std::vector<ModuleView> views_of(const ProposalInput& input, std::span<const std::size_t> places,
                                 const KnownForms& forms, WorkBudget& budget);

}  // namespace andiron::inline v1::detail
