// SPDX-License-Identifier: MIT OR Apache-2.0
// Statistics of a file and comparison of two, from the page cache. The raw programs read as much,
// in parts that stay in the cache of a core, and compute the least: a sum, or whether bytes are
// equal.
#include <fcntl.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "andiron/compare.h"
#include "andiron/open.h"
#include "andiron/statistics.h"
#include "andiron/write.h"
#include "bench/cases.h"
#include "bench/files.h"

namespace andiron::bench {
namespace {

constexpr std::size_t part_bytes = 256 * 1024;

// A file of one tensor with numbers between -1 and 1: 512 MiB, or 64 MiB where it has to be quick.
class NumbersFile {
 public:
  NumbersFile(const Harness& harness, DType dtype, const std::string& name, bool changed = false)
      : path_(folder_.file(name)) {
    const std::uint64_t bytes = std::uint64_t{harness.settings().quick ? 64u : 512u} << 20;
    const std::uint64_t count = bytes * 8 / bit_width(dtype);
    Result<Tensor> numbers = Tensor::zeros(DType::f32, {count});
    std::uint32_t state = 1;
    for (float& number : numbers->as_mutable<float>().value()) {
      state = state * 1664525 + 1013904223;
      number = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
      if (changed) number += 0x1p-10f;
    }
    Archive archive;
    archive.add(TensorSnapshot("t", *numbers).cast(dtype).value()).value();
    write(archive, path_, {.sync = false}).value();
    archive_ = open(path_).value();
  }

  const std::string& path() const { return path_; }
  const Archive& archive() const { return archive_; }
  std::uint64_t bytes() const { return archive_.info(0).byte_size; }
  std::uint64_t data_begin() const { return *archive_.info(0).offset; }

 private:
  TempFolder folder_;
  std::string path_;
  Archive archive_;
};

// Calls take(offset, part) with all of the tensor's data.
template <class Take>
void for_each_part(const NumbersFile& file, Take take) {
  const Descriptor descriptor(file.path(), O_RDONLY);
  std::vector<std::byte> part(part_bytes);
  for (std::uint64_t at = 0; at < file.bytes(); at += part.size()) {
    read_all(descriptor, file.data_begin() + at, part);
    take(at, part);
  }
}

// In 32 sums, which compilers turn into vectors.
template <class T, class Widen>
double sum_raw(const NumbersFile& file, Widen widen) {
  double sums[32] = {};
  for_each_part(file, [&](std::uint64_t, std::span<const std::byte> part) {
    const T* const elements = reinterpret_cast<const T*>(part.data());
    for (std::size_t i = 0; i < part.size() / sizeof(T); i += 32) {
      for (std::size_t l = 0; l < 32; ++l) sums[l] += widen(elements[i + l]);
    }
  });
  double sum = 0;
  for (const double one : sums) sum += one;
  return sum;
}

template <class Raw>
void measure_statistics(Harness& harness, const std::string& name, const NumbersFile& file,
                        Raw raw) {
  const auto ours = [&](unsigned threads) {
    return statistics(file.archive(), {.threads = threads}).value()[0];
  };
  const Statistics result = ours(1);
  const double mean = raw() / static_cast<double>(result.count);
  if (std::abs(mean - result.mean) > 1e-9) throw std::runtime_error("the programs disagree");
  harness.measure({.name = name,
                   .amount = file.bytes(),
                   .programs = {{.name = "raw", .run = [&] { keep(raw()); }},
                                {.name = "andiron", .run = [&] { keep(ours(1)); }},
                                {.name = "andiron, 2 threads", .run = [&] { keep(ours(2)); }}}});
}

void statistics_f32(Harness& harness) {
  const NumbersFile file(harness, DType::f32, "f32.safetensors");
  const auto widen = [](float element) { return static_cast<double>(element); };
  measure_statistics(harness, "statistics_f32", file, [&] { return sum_raw<float>(file, widen); });
}

void statistics_bf16(Harness& harness) {
  const NumbersFile file(harness, DType::bf16, "bf16.safetensors");
  const auto widen = [](std::uint16_t bits) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
  };
  measure_statistics(harness, "statistics_bf16", file,
                     [&] { return sum_raw<std::uint16_t>(file, widen); });
}

// Calls take(a, b) with parts of both.
template <class Take>
void for_each_pair(const NumbersFile& a, const NumbersFile& b, Take take) {
  const Descriptor other(b.path(), O_RDONLY);
  std::vector<std::byte> part_b(part_bytes);
  for_each_part(a, [&](std::uint64_t at, std::span<const std::byte> part_a) {
    read_all(other, b.data_begin() + at, part_b);
    take(part_a, std::span<const std::byte>(part_b));
  });
}

bool equal_raw(const NumbersFile& a, const NumbersFile& b) {
  bool is_equal = true;
  for_each_pair(a, b, [&](std::span<const std::byte> part_a, std::span<const std::byte> part_b) {
    is_equal &= std::memcmp(part_a.data(), part_b.data(), part_a.size()) == 0;
  });
  return is_equal;
}

// The L2 norm of the difference.
double distance_raw(const NumbersFile& a, const NumbersFile& b) {
  double sums[32] = {};
  for_each_pair(a, b, [&](std::span<const std::byte> part_a, std::span<const std::byte> part_b) {
    const auto* const left = reinterpret_cast<const float*>(part_a.data());
    const auto* const right = reinterpret_cast<const float*>(part_b.data());
    for (std::size_t i = 0; i < part_a.size() / sizeof(float); i += 32) {
      for (std::size_t l = 0; l < 32; ++l) {
        const double difference = static_cast<double>(left[i + l]) - right[i + l];
        sums[l] += difference * difference;
      }
    }
  });
  double sum = 0;
  for (const double one : sums) sum += one;
  return std::sqrt(sum);
}

template <class Raw, class Ours>
void measure_compare(Harness& harness, const std::string& name, const NumbersFile& a, Raw raw,
                     Ours ours) {
  harness.measure({.name = name,
                   .amount = 2 * a.bytes(),
                   .programs = {{.name = "raw", .run = [&] { keep(raw()); }},
                                {.name = "andiron", .run = [&] { keep(ours(1)); }},
                                {.name = "andiron, 2 threads", .run = [&] { keep(ours(2)); }}}});
}

void compare_equal(Harness& harness) {
  const NumbersFile a(harness, DType::f32, "a.safetensors");
  const NumbersFile b(harness, DType::f32, "b.safetensors");
  const auto ours = [&](unsigned threads) {
    return compare(a.archive(), b.archive(), {.threads = threads}).value().is_equal();
  };
  if (!equal_raw(a, b) || !ours(1)) throw std::runtime_error("the programs disagree");
  measure_compare(harness, "compare_equal", a, [&] { return equal_raw(a, b); }, ours);
}

void compare_changed(Harness& harness) {
  const NumbersFile a(harness, DType::f32, "a.safetensors");
  const NumbersFile b(harness, DType::f32, "b.safetensors", true);
  const auto ours = [&](unsigned threads) {
    return compare(a.archive(), b.archive(), {.threads = threads}).value().differences.at(0);
  };
  const double norm = statistics(a.archive()).value()[0].l2;
  const double relative = distance_raw(a, b) / norm;
  if (std::abs(relative / ours(1).distance->relative_l2 - 1) > 1e-9) {
    throw std::runtime_error("the programs disagree");
  }
  measure_compare(harness, "compare_changed", a, [&] { return distance_raw(a, b); }, ours);
}

}  // namespace

std::vector<Case> analysis_cases() {
  return {
      {"statistics_f32", "statistics of a file of f32; raw reads and adds up", statistics_f32},
      {"statistics_bf16", "the same of bf16", statistics_bf16},
      {"compare_equal", "two equal files; raw reads both, memcmp", compare_equal},
      {"compare_changed", "two files that differ in every number; raw as above", compare_changed}};
}

}  // namespace andiron::bench
