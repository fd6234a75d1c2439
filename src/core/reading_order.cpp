// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/reading_order_test.cpp
#include "src/core/reading_order.h"

#include <numeric>
#include <tuple>
#include <unordered_map>

#include "src/core/expression.h"
#include "src/core/sort.h"

namespace andiron::inline v1::detail {

CompressedData compressed_data_of(const TensorSnapshot& tensor) noexcept {
  return expression_of(tensor).compressed_data();
}

CompressedData compressed_data_of(const Archive& archive, std::size_t index) {
  // What lies in a file as it is read is not compressed.
  if (archive.info(index).offset) return {};
  return compressed_data_of(archive.snapshot(index));
}

std::vector<std::size_t> reading_order(std::span<const CompressedInputs> work) {
  struct Turn {
    std::size_t first;  // the earliest piece that reads the same data
    std::size_t second;
    std::size_t index;
  };
  std::unordered_map<const ByteSource*, std::size_t> known;
  const auto earliest = [&](const ByteSource* source, std::size_t index) {
    return source == nullptr ? index : known.try_emplace(source, index).first->second;
  };
  std::vector<Turn> turns;
  turns.reserve(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto& [a, b] = work[i];
    const std::size_t second = earliest(b.source, i);
    turns.push_back({a.source == nullptr ? second : earliest(a.source, i), second, i});
  }
  std::vector<std::size_t> order(work.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (known.empty()) return order;
  detail::sort(turns.begin(), turns.end(), [](const Turn& x, const Turn& y) {
    return std::tuple(x.first, x.second, x.index) < std::tuple(y.first, y.second, y.index);
  });
  for (std::size_t i = 0; i < turns.size(); ++i) order[i] = turns[i].index;
  return order;
}

}  // namespace andiron::inline v1::detail
