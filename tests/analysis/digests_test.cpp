// SPDX-License-Identifier: MIT OR Apache-2.0
// Hashes of all tensors of an archive.
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/sha256.h"
#include "tests/support/archive_writing.h"
#include "tests/support/noise.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

// Tensors of many sizes, one of them of nothing, one turned.
Archive many_tensors(const std::shared_ptr<TestSource>& source) {
  Archive archive;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::uint64_t size = i * 37 % 100 * 40;
    archive
        .add(TensorSnapshot::from_source("t" + std::to_string(i), source, i, size, DType::u8,
                                         {size / 4, 4})
                 .value())
        .value();
  }
  archive.add(archive.snapshot(55).transpose(0, 1).value().with_path("turned")).value();
  return archive;
}

TEST(Digests, AreThoseOfTheTensorsInTheOrderOfTheArchive) {
  const auto source = std::make_shared<TestSource>(noise(5000));
  const Archive archive = many_tensors(source);
  for (const unsigned threads : {0u, 1u, 5u, 200u}) {
    for (const std::uint64_t window : {std::uint64_t{0}, Limits().window_bytes}) {
      const std::vector<Sha256Digest> digests =
          sha256(archive, {.threads = threads, .window_bytes = window}).value();
      ASSERT_EQ(digests.size(), archive.size());
      for (std::size_t i = 0; i < digests.size(); ++i) {
        EXPECT_EQ(digests[i], sha256(archive.snapshot(i)).value()) << i;
      }
    }
  }
  EXPECT_TRUE(sha256(Archive()).value().empty());
}

TEST(Digests, OfTiedTensorsAreMadeOnce) {
  const auto source = std::make_shared<TestSource>(noise(4000));
  const TensorSnapshot tensor =
      TensorSnapshot::from_source("a", source, 0, 4000, DType::f32, {1000}).value();
  const Archive archive = archive_of({tensor, tensor.with_path("b")});
  const std::vector<Sha256Digest> digests = sha256(archive).value();
  EXPECT_EQ(source->bytes_read(), 4000U);
  EXPECT_EQ(digests[0], digests[1]);
}

TEST(Digests, TellTheirProgressOnTheCallingThread) {
  const Archive archive = many_tensors(std::make_shared<TestSource>(noise(5000)));
  const std::thread::id caller = std::this_thread::get_id();
  for (const unsigned threads : {1u, 3u}) {
    std::uint64_t last = 0;
    std::uint64_t whole = 0;
    const auto progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_GE(done, last);
      last = done;
      whole = total;
      return true;
    };
    ASSERT_TRUE(sha256(archive, {.threads = threads, .progress = progress}));
    EXPECT_GT(last, 0U);
    EXPECT_EQ(last, whole);
  }
}

TEST(Digests, CanBeCancelled) {
  const Archive archive = many_tensors(std::make_shared<TestSource>(noise(5000)));
  const auto digests = sha256(archive, {.progress = [](auto, auto) { return false; }});
  ASSERT_FALSE(digests);
  EXPECT_EQ(digests.error().code, ErrorCode::cancelled);
}

TEST(Digests, PassAFailedReadOn) {
  const auto source = std::make_shared<TestSource>(noise(5000));
  const Archive archive = many_tensors(source);
  source->fail_reads_past(3000);
  const auto digests = sha256(archive, {.threads = 3});
  ASSERT_FALSE(digests);
  EXPECT_EQ(digests.error().code, ErrorCode::io);
  EXPECT_NE(digests.error().tensor, "");
}

#if defined(__cpp_exceptions)

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

TEST(Digests, LetPassWhatASourceThrowsOnAThread) {
  Archive archive;
  for (const char* name : {"a", "b", "c", "d"}) {
    // Each has its own: tensors of the same bytes are hashed once.
    const auto source = std::make_shared<ThrowingSource>();
    archive.add(TensorSnapshot::from_source(name, source, 0, 4, DType::u8, {4}).value()).value();
  }
  for (const unsigned threads : {1u, 3u}) {
    EXPECT_THROW(static_cast<void>(sha256(archive, {.threads = threads})), std::runtime_error);
  }
}

#endif

}  // namespace
}  // namespace andiron::test
