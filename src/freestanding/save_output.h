// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts the bytes of a file, or hands them to a target. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "andiron/view_writer.h"
#include "src/freestanding/tensor_list.h"

namespace andiron::inline v1::detail {

class SaveOutput {
 public:
  // Only counts.
  SaveOutput() noexcept = default;
  // REQUIRES: memory has room for all that is added.
  explicit SaveOutput(const SaveTarget& target) noexcept : target_(&target) {}

  SaveOutput& operator+=(char c) noexcept { return *this += std::string_view(&c, 1); }
  SaveOutput& operator+=(std::string_view text) noexcept {
    add(std::as_bytes(std::span(text.data(), text.size())));
    return *this;
  }
  void fill(char c, std::uint64_t count) noexcept {
    for (; count != 0; --count) *this += c;
  }
  void add(std::span<const std::byte> bytes) noexcept;
  // The data of a tensor in the order of the file.
  void add_data(const ListedTensor& tensor) noexcept;
  // What a function has not yet got.
  void flush() noexcept;

  std::uint64_t size() const noexcept { return size_; }
  bool has_failed() const noexcept { return has_failed_; }

 private:
  void hand_over(std::span<const std::byte> bytes) noexcept;

  const SaveTarget* target_ = nullptr;
  std::uint64_t size_ = 0;
  bool has_failed_ = false;
  // Headers are made of words of a few bytes, which a function gets together.
  std::size_t staged_ = 0;
  std::byte stage_[64];
};

}  // namespace andiron::inline v1::detail
