// SPDX-License-Identifier: MIT OR Apache-2.0
// A file larger than memory, of which all but a few pieces is zeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "andiron/byte_source.h"

namespace andiron::test {

class SparseSource final : public ByteSource {
 public:
  using Piece = std::pair<std::uint64_t, std::string>;  ///< its offset, its bytes

  SparseSource(std::vector<Piece> pieces, std::uint64_t size)
      : pieces_(std::move(pieces)), size_(size) {}
  std::uint64_t size() const noexcept override { return size_; }
  const std::string& name() const noexcept override { return name_; }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    std::fill(out.begin(), out.end(), std::byte{0});
    for (const auto& [at, text] : pieces_) {
      const std::uint64_t begin = std::max(at, offset);
      const std::uint64_t end = std::min(at + text.size(), offset + out.size());
      if (begin >= end) continue;
      std::memcpy(out.data() + (begin - offset), text.data() + (begin - at),
                  static_cast<std::size_t>(end - begin));
    }
    return {};
  }
  std::vector<Piece> pieces_;
  std::uint64_t size_;
  std::string name_ = "sparse";
};

}  // namespace andiron::test
