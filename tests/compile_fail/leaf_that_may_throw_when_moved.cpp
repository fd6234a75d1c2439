// SPDX-License-Identifier: MIT OR Apache-2.0
// error: a type with a Leaf must be nothrow move assignable
#include "andiron/apply.h"

struct Buffer {
  Buffer() = default;
  Buffer(const Buffer&) = default;
  Buffer& operator=(const Buffer&) = default;
  std::vector<float> values;
};
template <>
struct andiron::Leaf<Buffer> {
  static LeafInfo info(const Buffer& buffer) { return {DType::f32, {buffer.values.size()}}; }
  static Result<Tensor> get(const Buffer& buffer) {
    return Tensor::from_values<float>({buffer.values.size()}, buffer.values);
  }
  static Result<Buffer> make(const Buffer& buffer, const Tensor&) { return buffer; }
};
struct Net {
  Buffer weight;
  ANDIRON_MODULE(Net, weight)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
