// SPDX-License-Identifier: MIT OR Apache-2.0
// std::sort, in little code where size counts: in WebAssembly, each use of it takes 4 KB.
#pragma once

#include <algorithm>

namespace andiron::inline v1::detail {

// As std::sort, also in time: n log n. Ties may come in another order.
template <class Iterator, class Less>
void sort(Iterator first, Iterator last, Less less) {
#if defined(__wasi__)
  // Most of what files list is in order.
  if (std::is_sorted(first, last, less)) return;
  std::make_heap(first, last, less);
  std::sort_heap(first, last, less);
#else
  std::sort(first, last, less);
#endif
}

template <class Iterator>
void sort(Iterator first, Iterator last) {
  detail::sort(first, last, [](const auto& a, const auto& b) { return a < b; });
}

}  // namespace andiron::inline v1::detail
