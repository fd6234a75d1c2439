// SPDX-License-Identifier: MIT OR Apache-2.0
// compiles
// What the other files do wrong, done right. Each stands alone, as a program of a user does, so
// that the same types are in several.
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "andiron/nn/linear.h"
#include "andiron/stores.h"

struct Buffer {
  std::vector<float> values;
};
template <>
struct andiron::Leaf<Buffer> {
  static LeafInfo info(const Buffer& buffer) { return {DType::f32, {buffer.values.size()}}; }
  static Result<Tensor> get(const Buffer& buffer) {
    return Tensor::from_values<float>({buffer.values.size()}, buffer.values);
  }
  static Result<Buffer> make(const Buffer&, const Tensor& tensor) {
    Result<std::vector<float>> values = tensor.to_vector<float>();
    if (!values) return std::move(values).error();
    return Buffer{*std::move(values)};
  }
};

struct Relu {
  ANDIRON_MODULE(Relu)
};
struct Tree;
struct Branch {
  std::unique_ptr<Tree> left, right;
  std::vector<Branch> others;
  ANDIRON_MODULE(Branch, left, right, others)
};
struct Tree {
  std::vector<Branch> branches;
  ANDIRON_MODULE(Tree, branches)
};
struct Net {
  std::variant<andiron::nn::Linear, Relu, andiron::Case<"Scale", andiron::Param>> layer;
  std::map<std::string, andiron::nn::Linear> heads;
  std::unique_ptr<andiron::nn::Linear> owned;
  andiron::nn::Linear& shared;
  andiron::Constant<std::array<int, 2>> stride;
  const int groups = 1;
  Buffer table;
  Tree tree;
  andiron::Param weight;
  ANDIRON_MODULE(Net, layer, heads, owned, shared, stride, groups, table, tree, weight)
};
struct Wrapped : Net {
  andiron::Param extra;
  ANDIRON_MODULE(Wrapped, weight, extra)
};

bool use(Net& net, Wrapped& wrapped) {
  auto store = andiron::SafetensorsStore::from_file("model.safetensors")
                   .with_predicate([](std::string_view path, const andiron::Container&) {
                     return path.starts_with("heads");
                   });
  return andiron::choose_variants(net, store).ok() && andiron::load_from(net, store).ok() &&
         andiron::load_from(wrapped, store).ok() && andiron::save_into(net, store).ok() &&
         andiron::plan(net, store).ok() && andiron::collect(net).ok() &&
         net.weight.as<float>().ok();
}
