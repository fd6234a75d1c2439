// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-256 of bytes and of tensors.
#include "andiron/sha256.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/sha256_portable.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string hash(std::span<const std::byte> data) {
  Sha256 sha;
  sha.update(data);
  return to_hex(sha.finish());
}

std::string portable_hash(std::span<const std::byte> data) {
  detail::Sha256Portable sha;
  sha.update(data);
  return to_hex(sha.finish());
}

std::vector<std::byte> random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> data(size);
  for (std::byte& b : data) b = static_cast<std::byte>(random());
  return data;
}

struct Vector {
  std::string text;
  const char* digest;
};

std::vector<Vector> nist_vectors() {
  return {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
       "lmnopqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(1'000'000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
}

TEST(Sha256, GivesThePublishedDigests) {
  for (const Vector& vector : nist_vectors()) {
    EXPECT_EQ(hash(bytes_of_text(vector.text)), vector.digest) << vector.text.size();
  }
}

TEST(Sha256Portable, GivesThePublishedDigests) {
  for (const Vector& vector : nist_vectors()) {
    EXPECT_EQ(portable_hash(bytes_of_text(vector.text)), vector.digest) << vector.text.size();
  }
}

TEST(Sha256Portable, AgreesWithTheDefaultOnEverySizeAroundABlock) {
  const std::vector<std::byte> data = random_bytes(300, 1);
  for (std::size_t size = 0; size <= data.size(); ++size) {
    const std::span<const std::byte> part(data.data(), size);
    ASSERT_EQ(portable_hash(part), hash(part)) << size;
  }
}

TEST(Sha256, DoesNotDependOnHowTheDataIsCut) {
  const std::vector<std::byte> data = random_bytes(2000, 2);
  const std::string whole = hash(data);
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Sha256 sha;
    detail::Sha256Portable portable;
    std::span<const std::byte> rest(data);
    while (!rest.empty()) {
      const std::size_t count = std::min<std::size_t>(random() % 200, rest.size());
      sha.update(rest.first(count));
      portable.update(rest.first(count));
      rest = rest.subspan(count);
    }
    ASSERT_EQ(to_hex(sha.finish()), whole);
    ASSERT_EQ(to_hex(portable.finish()), whole);
  }
}

TEST(Sha256, CanBeMovedWhileRunning) {
  Sha256 sha;
  sha.update(bytes_of_text("a"));
  Sha256 moved = std::move(sha);
  moved.update(bytes_of_text("bc"));
  EXPECT_EQ(to_hex(moved.finish()), nist_vectors()[1].digest);
}

TEST(Sha256, HexHasLeadingZeros) {
  Sha256Digest digest{};
  digest[0] = 0x0a;
  digest[31] = 0xf0;
  EXPECT_EQ(to_hex(digest), "0a" + std::string(60, '0') + "f0");
}

TensorSnapshot tensor_in_memory(const std::vector<std::byte>& data) {
  return TensorSnapshot(
      "t",
      Tensor::from_bytes(DType::u16, Shape({data.size() / 2}), Bytes::copy(data).value()).value());
}

TensorSnapshot tensor_in_file(const std::vector<std::byte>& data, DType dtype, Shape shape) {
  return TensorSnapshot::from_source("t", std::make_shared<test::TestSource>(data), 0, data.size(),
                                     dtype, std::move(shape))
      .value();
}

TEST(TensorSha256, DoesNotDependOnTheWindow) {
  const std::vector<std::byte> data = random_bytes(10'000, 4);
  const std::string whole = hash(data);
  const TensorSnapshot memory = tensor_in_memory(data);
  const TensorSnapshot file = tensor_in_file(data, DType::u16, Shape({50, 100}));
  EXPECT_EQ(to_hex(sha256(memory).value()), whole);
  EXPECT_EQ(to_hex(sha256(file).value()), whole);
  for (const std::uint64_t window : {0, 1, 15, 16, 17, 100, 4096, 9'999, 10'000, 1'000'000}) {
    EXPECT_EQ(to_hex(sha256(memory, window).value()), whole) << window;
    EXPECT_EQ(to_hex(sha256(file, window).value()), whole) << window;
  }
}

TEST(TensorSha256, WorksForPackedTypesInSmallWindows) {
  const std::vector<std::byte> data = random_bytes(96, 5);
  for (const DType dtype : {DType::f4e2m1, DType::f6e2m3}) {
    const std::uint64_t count = 8 * data.size() / bit_width(dtype);
    EXPECT_EQ(to_hex(sha256(tensor_in_file(data, dtype, Shape({count})), 16).value()), hash(data));
  }
}

TEST(TensorSha256, IsOverTheRowMajorData) {
  const std::vector<std::byte> data = random_bytes(6, 6);
  const TensorSnapshot turned =
      tensor_in_file(data, DType::u8, Shape({2, 3})).transpose(0, 1).value();
  const std::vector<std::byte> expected = {data[0], data[3], data[1], data[4], data[2], data[5]};
  EXPECT_EQ(to_hex(sha256(turned).value()), hash(expected));
}

TEST(TensorSha256, OfNoElementsIsThatOfNothing) {
  EXPECT_EQ(to_hex(sha256(TensorSnapshot()).value()), nist_vectors()[0].digest);
}

TEST(TensorSha256, TellsHowMuchWasRead) {
  const TensorSnapshot file = tensor_in_file(random_bytes(100, 7), DType::u8, Shape({100}));
  std::vector<std::uint64_t> parts;
  ASSERT_TRUE(sha256(file, 32, [&](std::uint64_t bytes) {
                parts.push_back(bytes);
                return true;
              }).ok());
  EXPECT_EQ(parts, (std::vector<std::uint64_t>{32, 32, 32, 4}));
}

TEST(TensorSha256, CanBeCancelled) {
  const TensorSnapshot file = tensor_in_file(random_bytes(100, 8), DType::u8, Shape({100}));
  int calls = 0;
  const Result<Sha256Digest> digest = sha256(file, 32, [&](std::uint64_t) { return ++calls < 2; });
  ASSERT_FALSE(digest.ok());
  EXPECT_EQ(digest.error().code, ErrorCode::cancelled);
  EXPECT_EQ(digest.error().tensor, "t");
  EXPECT_EQ(calls, 2);
}

TEST(TensorSha256, PassesAFailedReadOn) {
  const auto source = std::make_shared<test::TestSource>(random_bytes(100, 9));
  source->fail_reads_past(50);
  const TensorSnapshot file =
      TensorSnapshot::from_source("t", source, 0, 100, DType::u8, Shape({100})).value();
  EXPECT_EQ(sha256(file, 32).error().code, ErrorCode::io);
}

}  // namespace
}  // namespace andiron
