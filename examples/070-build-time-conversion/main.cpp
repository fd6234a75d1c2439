// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads the model from both files that the build converted and embedded, and compares them. Prints
// where in the embedded file each parameter has its data.
#include <cstddef>
#include <exception>
#include <functional>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>

#include "embedded/converted.h"
#include "embedded/imported.h"
#include "net.h"

using namespace andiron;

namespace {

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("this does not hold: ") + what);
  std::cout << "ok: " << what << '\n';
}

// Prints where the data of each parameter is. Returns how many are copies.
int count_copies(const Net& model, std::span<const std::byte> file) {
  const std::less<> before;  // < is not defined for pointers into different objects
  int copies = 0;
  for (const TensorSnapshot& tensor : collect(model).value()) {
    const Tensor values = tensor.borrow().value();
    const std::byte* data = values.bytes().data();
    const bool is_inside = !before(data, file.data()) && before(data, file.data() + file.size());
    if (!is_inside) ++copies;
    std::cout << "  " << tensor.full_path() << ' ' << tensor.shape() << ": "
              << (is_inside ? "at byte " + std::to_string(data - file.data()) : "a copy") << '\n';
  }
  return copies;
}

void run() {
  // By the tool. The store adapts PyTorch's layouts, so some tensors are copied.
  Net converted;
  const auto store =
      BurnpackStore::from_static(embedded::converted()).with_from_adapter(PyTorchToBurnAdapter());
  load_from(converted, store).value();
  std::cout << "converted.bpk, " << embedded::converted().size() << " bytes\n";
  expect(count_copies(converted, embedded::converted()) == 2,
         "the weights of Linear are transposed, the others borrowed");

  // By the program. The file has the model's layouts and names, so nothing is copied.
  Net imported;
  load_from(imported, BurnpackStore::from_static(embedded::imported())).value();
  std::cout << "imported.bpk, " << embedded::imported().size() << " bytes\n";
  expect(count_copies(imported, embedded::imported()) == 0, "every parameter is borrowed");

  const Snapshots left = collect(converted).value();
  const Snapshots right = collect(imported).value();
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (sha256(left[i]).value() != sha256(right[i]).value()) {
      throw std::runtime_error("'" + left[i].full_path() + "' differs");
    }
  }
  expect(left.size() == 14 && right.size() == 14, "both are the same model");
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
