// SPDX-License-Identifier: MIT OR Apache-2.0
// A program that uses the freestanding part alone, on a file that is part of the program.
#include <andiron/bind.h>
#include <andiron/safetensors_view.h>
#include <andiron/view_writer.h>

namespace {

constexpr char file[] =
    "\x40\0\0\0\0\0\0\0"
    R"({"weight":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}    )"
    "\x01\x02\x03\x04";

// Firmware lists its tensors as a module does.
struct Net {
  andiron::TensorView<std::uint8_t, 2, 2> weight;
  ANDIRON_MODULE(Net, weight)
};

}  // namespace

int main() {
  andiron::SafetensorsView view;
  std::span bytes(file, sizeof(file) - 1);
  if (!andiron::SafetensorsView::open(std::as_bytes(bytes), view).ok()) return 1;
  andiron::SafetensorsScratch scratch[1];
  if (view.tensor_count() != 1 || !view.check_layout(scratch).ok()) return 2;
  andiron::SafetensorsEntry entry;
  if (!view.find("weight", entry).ok() || view.find("bias", entry).ok()) return 3;
  if (!view.find("weight", entry).ok() || entry.dims().size() != 2) return 4;
  Net net;
  if (!andiron::bind(net, view).ok() || net.weight(1, 1) != 4) return 5;
  std::byte saved[sizeof(file)];
  const andiron::SaveResult result = andiron::save_safetensors(net, saved);
  if (!result.ok() || result.bytes != bytes.size()) return 6;
  return __builtin_memcmp(saved, file, bytes.size()) == 0 ? 0 : 7;
}
