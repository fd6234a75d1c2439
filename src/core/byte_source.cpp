// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/byte_source_test.cpp
#include "andiron/byte_source.h"

#include <cstring>

#include "src/core/try.h"
#include "src/core/with_file.h"

namespace andiron::inline v1 {
namespace {

class MemorySource final : public ByteSource {
 public:
  MemorySource(Bytes bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {}
  std::uint64_t size() const noexcept override { return bytes_.size(); }
  const std::string& name() const noexcept override { return name_; }
  bool can_view() const noexcept override { return true; }
  bool in_memory() const noexcept override { return true; }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return {};
  }
  Result<Bytes> do_view(std::uint64_t offset, std::uint64_t count) const override {
    return bytes_.slice(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
  }

  Bytes bytes_;
  std::string name_;
};

}  // namespace

Status ByteSource::check_range(std::uint64_t offset, std::uint64_t count) const {
  if (offset <= size() && count <= size() - offset) return {};
  return Error{.code = ErrorCode::truncated,
               .message = "a read goes past the end",
               .file = name(),
               .found = std::to_string(count) + " bytes from " + std::to_string(offset),
               .expected = "a range within " + std::to_string(size()) + " bytes"};
}

Status ByteSource::read_at(std::uint64_t offset, std::span<std::byte> out) const ANDIRON_NO_THROW {
  ANDIRON_TRY(check_range(offset, out.size()));
  Status status = do_read_at(offset, out);
  if (!status) return with_file(std::move(status).error(), name());
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Bytes> ByteSource::view(std::uint64_t offset, std::uint64_t count) const ANDIRON_NO_THROW {
  ANDIRON_TRY(check_range(offset, count));
  Result<Bytes> bytes = do_view(offset, count);
  if (!bytes) return with_file(std::move(bytes).error(), name());
  return bytes;
}
ANDIRON_OR_OUT_OF_MEMORY

ByteSourcePtr memory_source(Bytes bytes, std::string name) {
  return std::make_shared<MemorySource>(std::move(bytes), std::move(name));
}

}  // namespace andiron::inline v1
