// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads a model from the program's own data, and shows that its parameters are in that data.
#include <cstdint>
#include <iostream>

#include "embedded/model.h"
#include "net.h"

namespace {

// Whether the data of a parameter is in the program, with Burnpack's alignment.
bool lies_in_the_program(const char* name, const andiron::Param& param) {
  const andiron::Result<andiron::Tensor> tensor = param.val();
  if (!tensor) {
    std::cerr << tensor.error().to_string() << '\n';
    return false;
  }
  const auto file = reinterpret_cast<std::uintptr_t>(embedded::model().data());
  const auto data = reinterpret_cast<std::uintptr_t>(tensor->bytes().data());
  const bool inside = data >= file && data + tensor->byte_size() <= file + embedded::model().size();
  const bool aligned = data % 256 == 0;
  std::cout << "  " << name << ' ' << tensor->shape().to_string() << ": "
            << static_cast<const void*>(tensor->bytes().data())
            << (inside ? ", in the embedded file" : ", a copy")
            << (aligned ? ", aligned to 256\n" : ", not aligned to 256\n");
  return inside && aligned;
}

}  // namespace

int main() {
  // Static memory needs no owner, so parameters borrow from it.
  Net net;
  const auto store = andiron::BurnpackStore::from_static(embedded::model());
  const andiron::Result<andiron::ApplyResult> result = load_from(net, store);
  if (!result) {
    std::cerr << result.error().to_string() << '\n';
    return 1;
  }

  std::cout << "embedded: " << embedded::model().size() << " bytes at "
            << static_cast<const void*>(embedded::model().data()) << '\n';
  bool all = lies_in_the_program("hidden.weight", net.hidden.weight);
  all = lies_in_the_program("hidden.bias", *net.hidden.bias) && all;
  all = lies_in_the_program("output.weight", net.output.weight) && all;
  all = lies_in_the_program("output.bias", *net.output.bias) && all;
  return all ? 0 : 1;
}
