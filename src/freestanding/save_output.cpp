// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/freestanding/view_writer_test.cpp
#include "src/freestanding/save_output.h"

namespace andiron::inline v1::detail {

void SaveOutput::add(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  if (target_ == nullptr) {
    size_ += bytes.size();
    return;
  }
  if (!target_->is_function()) {
    __builtin_memcpy(target_->memory().data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
    return;
  }
  if (bytes.size() > sizeof stage_ - staged_) flush();
  if (bytes.size() > sizeof stage_) return hand_over(bytes);
  __builtin_memcpy(stage_ + staged_, bytes.data(), bytes.size());
  staged_ += bytes.size();
}

void SaveOutput::add_data(const ListedTensor& tensor) noexcept {
  const std::span<const std::byte> data = tensor.tensor.data;
  if (!tensor.is_transposed || target_ == nullptr) return add(data);
  const std::size_t width = bit_width(tensor.tensor.dtype) / 8;
  const auto rows = static_cast<std::size_t>(tensor.tensor.shape[0]);
  const auto columns = static_cast<std::size_t>(tensor.tensor.shape[1]);
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      add(data.subspan((row * columns + column) * width, width));
    }
  }
}

void SaveOutput::flush() noexcept {
  if (staged_ != 0) hand_over({stage_, staged_});
  staged_ = 0;
}

void SaveOutput::hand_over(std::span<const std::byte> bytes) noexcept {
  if (has_failed_) return;
  has_failed_ = !target_->write(bytes);
  if (!has_failed_) size_ += bytes.size();
}

}  // namespace andiron::inline v1::detail
