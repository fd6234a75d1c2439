// SPDX-License-Identifier: MIT OR Apache-2.0
// error: Leaf<T> must have static functions
#include "andiron/apply.h"

struct Buffer {
  std::vector<float> values;
};
template <>
struct andiron::Leaf<Buffer> {
  static LeafInfo info(const Buffer& buffer) { return {DType::f32, {buffer.values.size()}}; }
  static Result<Tensor> get(const Buffer& buffer) {
    return Tensor::from_values<float>({buffer.values.size()}, buffer.values);
  }
};
struct Net {
  Buffer weight;
  ANDIRON_MODULE(Net, weight)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
