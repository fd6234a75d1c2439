// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/name_table_test.cpp
#include "src/core/name_table.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <random>
#include <utility>

namespace andiron::inline v1::detail {
namespace {

// Both halves of a product: the multiplication spreads every input bit over them.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
#if defined(__SIZEOF_INT128__)
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
  const std::uint64_t mixed = (a ^ std::rotr(b, 29)) * 0x9e3779b97f4a7c15u;
  return mixed ^ mixed >> 32;
#endif
}

std::uint64_t load(const char* at, std::size_t count) noexcept {
  std::uint64_t word = 0;
  // An empty name may have no address.
  if (count != 0) std::memcpy(&word, at, count);
  return word;
}

// Secrets of this process. The second takes the place of a constant that names could cancel out.
struct Seeds {
  std::uint64_t first;
  std::uint64_t second;
};

const Seeds& process_seeds() noexcept {
  static const Seeds seeds = [] {
#if defined(__wasi__)
    // Addresses are the same each time there, and browsers let clocks tick slowly.
    std::random_device device;
    const auto draw = [&] { return std::uint64_t{device()} << 32 | device(); };
    return Seeds{draw(), draw() | 1};
#else
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const int here = 0;  // its address moves with every start of the process
    const std::uint64_t first = fold(static_cast<std::uint64_t>(now) | 1,
                                     reinterpret_cast<std::uintptr_t>(&here) ^ 0x6a09e667f3bcc909u);
    return Seeds{first, fold(first, 0x9e3779b97f4a7c15u) | 1};
#endif
  }();
  return seeds;
}

}  // namespace

std::uint64_t hash_name(std::string_view name) noexcept {
  const auto& [seed, odd] = process_seeds();
  std::uint64_t state = seed ^ name.size() * odd;
  const char* at = name.data();
  std::size_t left = name.size();
  for (; left > 16; at += 16, left -= 16) {
    state = fold(load(at, 8) ^ odd, load(at + 8, 8) ^ state);
  }
  const std::size_t first = left < 8 ? left : 8;
  const std::uint64_t low = load(at, first);
  const std::uint64_t high = load(at + first, left - first);
  return fold(fold(low ^ odd, high ^ state), odd);
}

Status NameTable::reset(std::size_t count) {
  // Beside the old one, which stays if there is no memory.
  SharedArray<Slot> fresh;
  ANDIRON_TRY(fresh.assign(std::bit_ceil(2 * count + 2), Slot{0, none}));
  slots_ = std::move(fresh);
  return {};
}

}  // namespace andiron::inline v1::detail
