// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/digests.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "andiron/byte_source.h"

namespace andiron::cli {
namespace {

class ThrowingSource final : public ByteSource {
 public:
  std::uint64_t size() const noexcept override { return 4; }
  const std::string& name() const noexcept override { return name_; }

 private:
  Status do_read_at(std::uint64_t, std::span<std::byte>) const override {
    throw std::runtime_error("the source of a caller");
  }
  std::string name_ = "source";
};

TEST(Digests, WhatASourceThrowsOnAThreadComesOutOfTheCall) {
  Archive archive;
  for (const char* name : {"a", "b", "c", "d"}) {
    // Each has its own: tensors of the same bytes are hashed once.
    const auto source = std::make_shared<ThrowingSource>();
    archive.add(TensorSnapshot::from_source(name, source, 0, 4, DType::u8, {4}).value()).value();
  }
  for (const unsigned threads : {1u, 3u}) {
    const auto digests = [&] {
      static_cast<void>(digests_of(archive, {threads, 64}, [](std::uint64_t) {}));
    };
    EXPECT_THROW(digests(), std::runtime_error);
  }
}

}  // namespace
}  // namespace andiron::cli
