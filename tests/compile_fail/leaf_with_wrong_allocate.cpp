// SPDX-License-Identifier: MIT OR Apache-2.0
// error: Leaf<T>::allocate must be
#include "andiron/apply.h"

struct Buffer {
  andiron::Tensor data;
};
template <>
struct andiron::Leaf<Buffer> {
  static LeafInfo info(const Buffer& buffer) { return {DType::f32, buffer.data.shape()}; }
  static Result<Tensor> get(const Buffer& buffer) { return buffer.data; }
  static Result<Buffer> make(const Buffer&, const Tensor& tensor) { return Buffer{tensor}; }
  static Bytes allocate(const Buffer&, DType, const Shape&) { return {}; }
};
struct Net {
  Buffer weight;
  ANDIRON_MODULE(Net, weight)
};

void use(const Net& net) { static_cast<void>(andiron::collect(net)); }
