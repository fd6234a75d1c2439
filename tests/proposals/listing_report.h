// SPDX-License-Identifier: MIT OR Apache-2.0
// What a load reports of a file for a model, both as lists of tensors.
#pragma once

#include "andiron/apply.h"
#include "andiron/tensor.h"
#include "tests/proposals/sides.h"

namespace andiron::test {

inline ApplyResult report_of(const Side& file, const Side& model) {
  Archive archive;
  for (const detail::TreeTensor& tensor : file) {
    archive.add(TensorSnapshot(tensor.name, Tensor::zeros(DType::f32, Shape(tensor.shape)).value()))
        .value();
  }
  std::vector<ListedParameter> listing;
  for (const detail::TreeTensor& tensor : model) {
    listing.push_back({.path = tensor.name, .shape = Shape(tensor.shape)});
  }
  return plan_listing(listing, archive).value().result;
}

// The calls of the first proposal.
inline std::string code_for_model(const Side& file, const Side& model) {
  const ApplyResult result = report_of(file, model);
  return result.proposals.empty() ? "nothing" : result.proposals.front().code;
}

}  // namespace andiron::test
