// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/sink_test.cpp
#include "andiron/sink.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "src/core/try.h"

namespace andiron::inline v1 {

Status MemorySink::reserve(std::uint64_t total) ANDIRON_NO_THROW {
  if (total <= data_.size()) return {};
  ANDIRON_ASSIGN(Bytes grown, Bytes::allocate(total));
  if (used_ != 0) std::memcpy(grown.writable().data(), data_.data(), used_);
  data_ = std::move(grown);
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

Status MemorySink::write(std::span<const std::byte> data) ANDIRON_NO_THROW {
  if (data.empty()) return {};
  if (data.size() > data_.size() - used_) {
    // Doubling keeps a long run of small writes linear when nobody announced the total.
    ANDIRON_TRY(reserve(std::max<std::uint64_t>(used_ + data.size(), 2 * data_.size())));
  }
  std::memcpy(data_.writable().data() + used_, data.data(), data.size());
  used_ += data.size();
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

Bytes MemorySink::take() {
  Bytes whole = *data_.slice(0, used_);
  data_ = Bytes();
  used_ = 0;
  return whole;
}

}  // namespace andiron::inline v1
