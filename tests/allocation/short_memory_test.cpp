// SPDX-License-Identifier: MIT OR Apache-2.0
// Forward passes by oneDNN when no block of more than so many bytes can be had. Unlike those that
// replace operator new, this reaches what is allocated inside that library.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "andiron/andiron.h"
#include "tests/nn/numbers.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ANDIRON_OTHER_MALLOC
#endif
#endif
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ANDIRON_OTHER_MALLOC
#endif

namespace andiron::test {
namespace {

std::atomic<std::size_t> largest_block = SIZE_MAX;

#ifndef ANDIRON_OTHER_MALLOC
bool is_refused(std::size_t size) {
  if (size <= largest_block) return false;
  errno = ENOMEM;
  return true;
}
#endif

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
    largest_block = size;
    const Result<Tensor> found = layer.forward(x);
    largest_block = SIZE_MAX;
    if (found) {
      expect_near(found, layer.forward(x), 1e-4);
    } else {
      EXPECT_EQ(found.error().code, ErrorCode::out_of_memory);
    }
  }
}

TEST(ShortMemory, LeavesLayersRightOrRefused) {
#ifdef ANDIRON_OTHER_MALLOC
  GTEST_SKIP() << "malloc is not glibc's";
#endif
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

#ifndef ANDIRON_OTHER_MALLOC
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

using andiron::test::is_refused;

void* malloc(std::size_t size) noexcept { return is_refused(size) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) noexcept {
  return is_refused(count * size) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  return is_refused(size) ? nullptr : __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return is_refused(size) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  if ((*memory = memalign(alignment, size)) == nullptr) return ENOMEM;
  return 0;
}
}
#endif
