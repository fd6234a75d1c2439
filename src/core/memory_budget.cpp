// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/memory_budget_test.cpp
#include "src/core/memory_budget.h"

#include <algorithm>
#include <utility>

#include "src/core/check_limit.h"

namespace andiron::inline v1::detail {
namespace {

// What any file may take, what a larger one may take for each of its bytes, and more than any index
// needs. Real files take less than ten times the size of their header.
constexpr std::uint64_t least_memory = std::uint64_t{16} << 20;
constexpr std::uint64_t memory_per_byte = 48;
constexpr std::uint64_t most_memory = std::uint64_t{4} << 30;

// Tensors that share storages, or repeat theirs through strides of zero.
constexpr std::uint64_t data_per_byte = 16;

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? ~std::uint64_t{0} : result;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? ~std::uint64_t{0} : result;
}

std::uint64_t allowed_memory(std::uint64_t file_bytes, const Limits& limits) {
  if (limits.memory_bytes != Limits::in_proportion) return limits.memory_bytes;
  return std::min(most_memory, sum(least_memory, product(memory_per_byte, file_bytes)));
}

}  // namespace

MemoryBudget::MemoryBudget(std::uint64_t file_bytes, const Limits& limits, std::string file)
    : limits_(limits), file_(std::move(file)) {
  add_file(file_bytes);
}

void MemoryBudget::add_file(std::uint64_t file_bytes) {
  file_bytes_ = sum(file_bytes_, file_bytes);
  const std::uint64_t allowed = allowed_memory(file_bytes_, limits_);
  left_ += allowed - most_;
  most_ = allowed;
  add_data(file_bytes);
}

void MemoryBudget::add_data(std::uint64_t bytes) {
  data_bytes_ = sum(data_bytes_, bytes);
  const std::uint64_t allowed =
      std::max(limits_.expanded_bytes_in_all, product(data_per_byte, data_bytes_));
  data_left_ += allowed - most_data_;
  most_data_ = allowed;
}

Error MemoryBudget::over_memory(std::uint64_t bytes, std::string_view what) const {
  return over_limit(
      std::to_string(sum(most_ - left_, bytes)) + " bytes, with " + std::string(what), most_,
      {"the file asks for more memory than its size allows", &Limits::memory_bytes, "", file_});
}

Error MemoryBudget::over_data(std::uint64_t bytes, std::string_view tensor) const {
  return over_limit(std::to_string(sum(most_data_ - data_left_, bytes)) + " bytes so far",
                    most_data_,
                    {"all tensors together repeat the file's data too often",
                     &Limits::expanded_bytes_in_all, "", file_, tensor});
}

}  // namespace andiron::inline v1::detail
