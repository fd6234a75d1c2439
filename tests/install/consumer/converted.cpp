// SPDX-License-Identifier: MIT OR Apache-2.0
// A program that has a weight file in it, converted when the program was built.
#include <andiron/burnpack_view.h>

#include "embedded/tiny.h"

int main() {
  andiron::BurnpackView view;
  if (!andiron::BurnpackView::open(embedded::tiny(), view).ok()) return 1;
  andiron::BurnpackEntry entry;
  if (!view.find("classifier.weight", entry).ok()) return 2;
  return view.tensor_count() == 2 ? 0 : 3;
}
