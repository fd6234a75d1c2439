// SPDX-License-Identifier: MIT OR Apache-2.0
// The smallest firmware with one use of the library, which a macro chooses.
#include <andiron/bind.h>
#include <andiron/view_writer.h>

#include "semihosting.h"

namespace {

using namespace andiron;

struct Layer {
  TensorView<float, 4, 4> weight;
  TensorView<float, 4> bias;
  ANDIRON_MODULE(Layer, weight, bias)
};
struct Net {
  Layer first, second;
  ANDIRON_MODULE(Net, first, second)
};

// Out of the optimizer's sight.
std::span<std::byte> volatile_memory() {
  static std::byte memory[1024];
  std::byte* volatile begin = memory;
  return {begin, sizeof memory};
}

template <class View>
[[maybe_unused]] bool read(Net& net) {
  View view;
  return View::open(volatile_memory(), view).ok() && bind(net, view).ok();
}

}  // namespace

int main() {
  static Net net;
#if defined(READ_SAFETENSORS)
  return read<SafetensorsView>(net) ? 0 : 1;
#elif defined(READ_BURNPACK)
  return read<BurnpackView>(net) ? 0 : 1;
#elif defined(READ_BOTH)
  return read<SafetensorsView>(net) || read<BurnpackView>(net) ? 0 : 1;
#elif defined(SAVE_SAFETENSORS)
  return save_safetensors(net, volatile_memory()).ok() ? 0 : 1;
#elif defined(SAVE_BURNPACK)
  return save_burnpack(net, volatile_memory()).ok() ? 0 : 1;
#else
  return volatile_memory()[0] == std::byte{} ? 0 : 1;
#endif
}
