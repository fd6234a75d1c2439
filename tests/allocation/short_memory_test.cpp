// SPDX-License-Identifier: MIT OR Apache-2.0
// Forward passes by oneDNN when no large block can be had.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "andiron/andiron.h"
#include "tests/allocation/failing_memory.h"
#include "tests/nn/numbers.h"

namespace andiron::test {
namespace {

// One pass after the other, with larger blocks each time. Each has a layer of another size, as
// oneDNN makes what it needs for a size once; all are small, or their output would be refused.
template <class MakeLayer>
void expect_right_or_refused(const std::string& name, const MakeLayer& layer_of, const Tensor& x) {
  SCOPED_TRACE(name);
  std::uint64_t width = 8;
  for (std::size_t size = 16; size <= std::size_t{16} << 20; size *= 2, width += 8) {
    SCOPED_TRACE(size);
    const auto layer = layer_of(width);
    ASSERT_TRUE(layer.weight.val().ok() && layer.bias->val().ok());
    const Result<Tensor> found = [&] {
      const LargestBlock largest(size);
      return layer.forward(x);
    }();
    if (found) {
      expect_near(found, layer.forward(x), 1e-4);
    } else {
      EXPECT_EQ(found.error().code, ErrorCode::out_of_memory);
    }
  }
}

TEST(ShortMemory, LeavesLayersRightOrRefused) {
  if (!has_own_malloc) GTEST_SKIP() << "malloc is not this program's";
  // A thread that starts may end the process.
  nn::set_threads(1);
  const Tensor image = random_tensor({1, 16, 4, 4}, 1);
  expect_right_or_refused(
      "Linear", [](std::uint64_t width) { return nn::LinearConfig(8, width).init(); },
      random_tensor({2, 8}, 2));
  expect_right_or_refused(
      "Conv2d", [](std::uint64_t width) { return nn::Conv2dConfig({16, width}, {3, 3}).init(); },
      image);
  expect_right_or_refused(
      "in groups",
      [](std::uint64_t width) {
        return nn::Conv2dConfig({16, 2 * width}, {3, 3}).with_groups(16).init();
      },
      image);
  expect_right_or_refused(
      "transposed",
      [](std::uint64_t width) { return nn::ConvTranspose2dConfig({16, width}, {2, 2}).init(); },
      image);
  nn::set_threads(0);
}

}  // namespace
}  // namespace andiron::test
