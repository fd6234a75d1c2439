// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack files as the writer makes them for each release of Burn.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "andiron/write.h"
#include "tests/support/archive_writing.h"
#include "tests/support/test_source.h"

namespace andiron::test {

inline constexpr BurnpackGeneration generations[] = {
    BurnpackGeneration::burn_0_19, BurnpackGeneration::burn_0_20, BurnpackGeneration::burn_0_21,
    BurnpackGeneration::burn_0_22_pre, BurnpackGeneration::burn_0_22};

inline WriteOptions for_release(BurnpackGeneration generation = BurnpackGeneration::burn_0_22) {
  return {.format = Format::burnpack, .settings = BurnpackSettings{generation}};
}

inline std::string written(const Archive& archive) { return written(archive, for_release()); }

inline Error refusal(const Archive& archive, const WriteOptions& options = for_release()) {
  Result<Bytes> bytes = write_to_memory(archive, options);
  EXPECT_FALSE(bytes);
  return bytes ? Error{} : std::move(bytes).error();
}

/// An archive whose tensors lie in sources that count what is read.
struct Watched {
  std::vector<std::shared_ptr<TestSource>> sources;
  Archive archive;

  explicit Watched(int count, std::size_t size = 1000) {
    for (int i = 0; i < count; ++i) {
      sources.push_back(std::make_shared<TestSource>(
          std::vector<std::byte>(size, static_cast<std::byte>(i + 1))));
      archive
          .add(TensorSnapshot::from_source("t" + std::to_string(i), sources.back(), 0, size,
                                           DType::u8, {size})
                   .value())
          .value();
    }
  }
};

}  // namespace andiron::test
