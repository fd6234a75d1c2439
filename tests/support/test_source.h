// SPDX-License-Identifier: MIT OR Apache-2.0
// A byte source that lends nothing, counts what is read and can be made to fail.
#pragma once

#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/byte_source.h"

namespace andiron::test {

class TestSource : public ByteSource {
 public:
  explicit TestSource(std::vector<std::byte> data) : data_(std::move(data)) {}
  explicit TestSource(std::string_view text) : data_(text.size()) {
    if (!text.empty()) std::memcpy(data_.data(), text.data(), text.size());
  }

  std::uint64_t size() const noexcept override { return data_.size(); }
  const std::string& name() const noexcept override { return name_; }

  void fail_reads_past(std::uint64_t offset) { fail_past_ = offset; }
  std::uint64_t bytes_read() const { return bytes_read_; }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t failed_reads() const { return failed_reads_; }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset + out.size() > fail_past_) {
      ++failed_reads_;
      return Error{.code = ErrorCode::io, .message = "the test said so", .file = name_};
    }
    bytes_read_ += out.size();
    ++reads_;
    if (!out.empty()) std::memcpy(out.data(), data_.data() + offset, out.size());
    return {};
  }

  std::vector<std::byte> data_;
  std::string name_ = "test source";
  std::uint64_t fail_past_ = std::numeric_limits<std::uint64_t>::max();
  mutable std::atomic<std::uint64_t> bytes_read_ = 0;
  mutable std::atomic<std::uint64_t> reads_ = 0;
  mutable std::atomic<std::uint64_t> failed_reads_ = 0;
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace andiron::test
