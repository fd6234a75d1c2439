// SPDX-License-Identifier: MIT OR Apache-2.0
// A program that has a weight file in it, and reads it where it lies.
#include <andiron/safetensors_view.h>

#include "embedded/tiny.h"

int main() {
  andiron::SafetensorsView view;
  if (!andiron::SafetensorsView::open(embedded::tiny(), view).ok()) return 1;
  andiron::SafetensorsEntry entry;
  if (!view.find("head.weight", entry).ok()) return 2;
  const std::byte* data = view.data(entry).data();
  return embedded::tiny().data() < data && data < &embedded::tiny().back() ? 0 : 3;
}
