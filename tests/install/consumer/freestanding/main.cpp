// SPDX-License-Identifier: MIT OR Apache-2.0
// A program that uses the freestanding part alone, on a file that is part of the program.
#include <andiron/fields.h>
#include <andiron/safetensors_view.h>

namespace {

constexpr char file[] =
    "\x40\0\0\0\0\0\0\0"
    R"({"weight":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}    )"
    "\x01\x02\x03\x04";

// Firmware lists its tensors as a module does.
struct Net {
  andiron::SafetensorsEntry weight;
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
  bool found = true;
  const auto find = [&](std::string_view name, andiron::SafetensorsEntry& field) {
    found = found && view.find(name, field).ok();
  };
  andiron::detail::FieldAccess::each(net, find);
  if (!found || net.weight.dims().size() != 2) return 5;
  return view.data(net.weight)[3] == std::byte{4} ? 0 : 6;
}
