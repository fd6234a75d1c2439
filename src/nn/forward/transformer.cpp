// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/transformer_test.cpp
#include "andiron/nn/transformer.h"

#include "andiron/nn/functions.h"

namespace andiron::inline v1 {
namespace nn {

Result<Tensor> PositionWiseFeedForward::forward(const Result<Tensor>& input) const
    ANDIRON_NO_THROW {
  return linear_outer.forward(activate(activation, linear_inner.forward(input)));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> TransformerEncoderLayer::forward(const Result<Tensor>& input,
                                                const AttentionMasks& masks) const
    ANDIRON_NO_THROW {
  if (norm_first) {
    const Result<Tensor> x = add(input, mha.forward(norm_2.forward(input), masks));
    return add(x, pwff.forward(norm_1.forward(x)));
  }
  const Result<Tensor> x = norm_1.forward(add(input, mha.forward(input, masks)));
  return norm_2.forward(add(x, pwff.forward(x)));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> TransformerEncoder::forward(const Result<Tensor>& input,
                                           const AttentionMasks& masks) const ANDIRON_NO_THROW {
  if (!input) return input.error();
  Result<Tensor> x = *input;
  for (const TransformerEncoderLayer& layer : layers) x = layer.forward(x, masks);
  return norm ? norm->forward(x) : std::move(x);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> TransformerDecoderLayer::forward(const Result<Tensor>& target,
                                                const Result<Tensor>& memory,
                                                const AttentionMasks& target_masks,
                                                const AttentionMasks& memory_masks) const
    ANDIRON_NO_THROW {
  const auto attend_to_memory = [&](const Result<Tensor>& x) {
    return cross_attn.forward(x, memory, memory, memory_masks);
  };
  if (norm_first) {
    const Result<Tensor> own = add(target, self_attn.forward(norm_3.forward(target), target_masks));
    const Result<Tensor> x = add(own, attend_to_memory(norm_1.forward(own)));
    return add(x, pwff.forward(norm_2.forward(x)));
  }
  const Result<Tensor> own = norm_1.forward(add(target, self_attn.forward(target, target_masks)));
  const Result<Tensor> x = norm_2.forward(add(own, attend_to_memory(own)));
  return norm_3.forward(add(x, pwff.forward(x)));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> TransformerDecoder::forward(const Result<Tensor>& target,
                                           const Result<Tensor>& memory,
                                           const AttentionMasks& target_masks,
                                           const AttentionMasks& memory_masks) const
    ANDIRON_NO_THROW {
  if (!target) return target.error();
  Result<Tensor> x = *target;
  for (const TransformerDecoderLayer& layer : layers) {
    x = layer.forward(x, memory, target_masks, memory_masks);
  }
  return norm ? norm->forward(x) : std::move(x);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
