// SPDX-License-Identifier: MIT OR Apache-2.0
// A file bound to a model without a heap: all fields can be read or none is bound, and a bound
// model is saved and bound again with the same elements. The first byte chooses the size of the
// arena and whether the file is aligned.
#include <array>
#include <cstring>
#include <vector>

#include "andiron/bind.h"
#include "andiron/view_writer.h"
#include "fuzz/property.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

struct Layer {
  TensorView<float, 2, 2> weight;
  TensorView<float> bias;
  ANDIRON_MODULE(Layer, weight, bias)
};

struct Net {
  std::array<Layer, 2> layers;
  Transposed<std::int16_t, 2, 3> turned;
  TensorView<bool, 2> mask;
  ANDIRON_MODULE(Net, layers, turned, mask)
};

template <class View>
bool same_elements(const View& a, const View& b) {
  if (a.is_bound() != b.is_bound()) return false;
  if (!a.is_bound()) return true;
  const auto x = std::as_bytes(std::span(a.data(), a.size()));
  const auto y = std::as_bytes(std::span(b.data(), b.size()));
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0);
}

bool same_model(const Net& a, const Net& b) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (!same_elements(a.layers[i].weight, b.layers[i].weight) ||
        !same_elements(a.layers[i].bias, b.layers[i].bias)) {
      return false;
    }
  }
  return same_elements(a.turned, b.turned) && same_elements(a.mask, b.mask);
}

template <class View, class Save>
void check_saved(const Net& net, const Save& save) {
  const SaveResult measured = save(std::span<std::byte>());
  ANDIRON_HOLDS(measured.code == ErrorCode::out_of_memory);
  // Memory of words is aligned for every type.
  std::vector<std::uint64_t> words(static_cast<std::size_t>(measured.bytes) / 8 + 1);
  const auto memory =
      std::as_writable_bytes(std::span(words)).first(static_cast<std::size_t>(measured.bytes));
  ANDIRON_HOLDS(save(memory).ok());
  View view;
  ANDIRON_HOLDS(View::open(memory, view).ok());
  Net again;
  alignas(8) std::byte arena[16];
  ANDIRON_HOLDS(bind(again, view, {.arena = arena}).ok());
  ANDIRON_HOLDS(same_model(net, again));
}

template <class View>
void check(std::span<const std::byte> file, std::span<std::byte> arena) {
  View view;
  if (!View::open(file, view).ok()) return;
  Net net;
  const BindResult result = bind(net, view, {.arena = arena});
  char text[512];
  ANDIRON_HOLDS(result.describe(text).empty() == result.ok());
  if (!result.ok()) {
    ANDIRON_HOLDS(same_model(net, Net()) && result.bound == 0);
    return;
  }
  ANDIRON_HOLDS(result.bound == 6 && result.arena_bytes <= arena.size());
  ANDIRON_HOLDS(result.bound + result.unused == view.tensor_count());
  check_saved<SafetensorsView>(
      net, [&](std::span<std::byte> memory) { return save_safetensors(net, memory); });
  check_saved<BurnpackView>(
      net, [&](std::span<std::byte> memory) { return save_burnpack(net, memory); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t shift = data[0] & 1;
  alignas(8) std::byte arena[256];
  const auto given = std::span(arena).first(data[0] & 0xfe);
  std::vector<std::uint64_t> words((size + shift) / 8 + 1);
  const auto file = std::as_writable_bytes(std::span(words)).subspan(shift, size - 1);
  if (size > 1) std::memcpy(file.data(), data + 1, size - 1);
  check<SafetensorsView>(file, given);
  check<BurnpackView>(file, given);
  return 0;
}
