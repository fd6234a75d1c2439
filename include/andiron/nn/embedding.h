// SPDX-License-Identifier: MIT OR Apache-2.0
// The embedding layer.
//
//   nn::Embedding tokens = nn::EmbeddingConfig(32000, 512).init();
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/module.h"
#include "andiron/nn/initializer.h"
#include "andiron/param.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// A table of vectors, looked up by index.
struct Embedding {
  Param weight = {};  ///< [n_embedding, d_model]

  /// Takes indices of any shape and any integer dtype, and returns [shape ..., d_model]. Fails with
  /// DTypeMismatch for other dtypes, and InvalidArgument for an index outside the table. Link
  /// andiron::nn.
  Result<Tensor> forward(const Result<Tensor>& indices) const;
  ANDIRON_MODULE(Embedding, weight)
};

/// Config of Embedding. Builders return a named config by reference, a temporary by value.
class EmbeddingConfig {
 public:
  EmbeddingConfig(std::uint64_t n_embedding, std::uint64_t d_model)
      : n_embedding_(n_embedding), d_model_(d_model) {}

  /// Default: normal with mean 0 and standard deviation 1. Kaiming and Xavier do not work, because
  /// a table has no fans.
  ANDIRON_BUILDER(EmbeddingConfig, with_initializer, (Initializer initializer),
                  initializer_ = initializer)

  /// Never fails. For sizes that cannot be addressed, the parameter's val() fails with
  /// InvalidArgument.
  Embedding init() const { return {.weight = initializer_.init({n_embedding_, d_model_})}; }

 private:
  std::uint64_t n_embedding_;
  std::uint64_t d_model_;
  Initializer initializer_ = Initializer::normal(0, 1);
};

}  // namespace nn
}  // namespace andiron::inline v1
