// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps of an adapter rule: checked, inverted, and run on unread tensors.
#pragma once

#include <cstddef>
#include <vector>

#include "andiron/adapter.h"

namespace andiron::inline v1::detail {

// Returns the rule in the other direction.
AdapterRule inverse(AdapterRule rule);

// Steps that were checked to lead from one number of tensors to another.
class RuleSteps {
 public:
  // Fails with InvalidArgument if the steps do not lead from rule.from to rule.to.
  static Result<RuleSteps> make(const AdapterRule& rule);

  // Returns all tensors that the steps make from `inputs`.
  Result<std::vector<TensorSnapshot>> run(std::vector<TensorSnapshot> inputs) const;
  // Returns one of them, without the work for the others.
  Result<TensorSnapshot> run_for(std::size_t output, std::vector<TensorSnapshot> inputs) const;

 private:
  struct CountedStep {
    AdapterStep step;     // shares are filled in and have no common divisor
    std::size_t outputs;  // tensors after it
  };
  struct Range {
    std::size_t first;
    std::size_t count;
  };
  Result<std::vector<TensorSnapshot>> run(std::vector<TensorSnapshot> tensors, Range wanted) const;

  std::vector<CountedStep> steps_;
  std::size_t outputs_ = 0;
  std::size_t tail_ = 0;  // from this step on, output i depends on tensor i alone
};

}  // namespace andiron::inline v1::detail
