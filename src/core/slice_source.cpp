// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/byte_source_test.cpp
#include "src/core/slice_source.h"

#include <utility>

namespace andiron::inline v1::detail {
namespace {

class SliceSource final : public ByteSource {
 public:
  SliceSource(ByteSourcePtr whole, std::uint64_t offset, std::uint64_t size)
      : whole_(std::move(whole)), offset_(offset), size_(size) {}
  std::uint64_t size() const noexcept override { return size_; }
  const std::string& name() const noexcept override { return whole_->name(); }
  bool can_view() const noexcept override { return whole_->can_view(); }
  bool in_memory() const noexcept override { return whole_->in_memory(); }
  CompressedData compressed_data() const noexcept override { return whole_->compressed_data(); }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return whole_->read_at(offset_ + offset, out);
  }
  Result<Bytes> do_view(std::uint64_t offset, std::uint64_t count) const override {
    return whole_->view(offset_ + offset, count);
  }

  ByteSourcePtr whole_;
  std::uint64_t offset_;
  std::uint64_t size_;
};

}  // namespace

ByteSourcePtr slice_source(ByteSourcePtr whole, std::uint64_t offset, std::uint64_t size) {
  return std::make_shared<SliceSource>(std::move(whole), offset, size);
}

}  // namespace andiron::inline v1::detail
