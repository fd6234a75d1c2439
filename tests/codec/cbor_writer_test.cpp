// SPDX-License-Identifier: MIT OR Apache-2.0
// CBOR as Burn writes it, byte for byte.
#include "src/codec/cbor_writer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "andiron/dtype.h"
#include "src/freestanding/cbor_reader.h"
#include "tests/support/burnpack_file.h"
#include "tests/support/written_by.h"

namespace andiron::detail {
namespace {

using test::from_hex;
using test::written_by;

std::string number(std::uint64_t value) {
  return written_by<CborWriter>([&](CborWriter& out) { out.unsigned_integer(value); });
}
std::string integer(std::int64_t value) {
  return written_by<CborWriter>([&](CborWriter& out) { out.integer(value); });
}
std::string floating(double value) {
  return written_by<CborWriter>([&](CborWriter& out) { out.floating(value); });
}

TEST(CborWriter, WritesNumbersInTheirShortestForm) {
  EXPECT_EQ(number(0), from_hex("00"));
  EXPECT_EQ(number(23), from_hex("17"));
  EXPECT_EQ(number(24), from_hex("1818"));
  EXPECT_EQ(number(255), from_hex("18ff"));
  EXPECT_EQ(number(256), from_hex("190100"));
  EXPECT_EQ(number(65535), from_hex("19ffff"));
  EXPECT_EQ(number(65536), from_hex("1a00010000"));
  EXPECT_EQ(number(0xffffffff), from_hex("1affffffff"));
  EXPECT_EQ(number(0x100000000), from_hex("1b0000000100000000"));
  EXPECT_EQ(number(~std::uint64_t{0}), from_hex("1bffffffffffffffff"));
}

TEST(CborWriter, WritesNegativeNumbers) {
  EXPECT_EQ(integer(7), from_hex("07"));
  EXPECT_EQ(integer(-1), from_hex("20"));
  EXPECT_EQ(integer(-24), from_hex("37"));
  EXPECT_EQ(integer(-25), from_hex("3818"));
  EXPECT_EQ(integer(-256), from_hex("38ff"));
  EXPECT_EQ(integer(-257), from_hex("390100"));
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::min()), from_hex("3b7fffffffffffffff"));
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::max()), from_hex("1b7fffffffffffffff"));
}

TEST(CborWriter, WritesTextListsMapsAndSimpleValues) {
  EXPECT_EQ(written_by<CborWriter>([](CborWriter& out) { out.text(""); }), from_hex("60"));
  EXPECT_EQ(written_by<CborWriter>([](CborWriter& out) { out.text("F32"); }), from_hex("63463332"));
  const std::string long_text(300, 'x');
  EXPECT_EQ(written_by<CborWriter>([&](CborWriter& out) { out.text(long_text); }),
            from_hex("79012c") + long_text);
  EXPECT_EQ(written_by<CborWriter>([](CborWriter& out) { out.list(0), out.list(5), out.list(24); }),
            from_hex("80 85 9818"));
  EXPECT_EQ(
      written_by<CborWriter>([](CborWriter& out) { out.map(0), out.map(3), out.map(100000); }),
      from_hex("a0 a3 ba000186a0"));
  EXPECT_EQ(written_by<CborWriter>(
                [](CborWriter& out) { out.boolean(false), out.boolean(true), out.null(); }),
            from_hex("f4 f5 f6"));
}

TEST(CborWriter, WritesTheShortestFloatThatKeepsEveryBit) {
  EXPECT_EQ(floating(1.0), from_hex("f93c00"));
  EXPECT_EQ(floating(0.0), from_hex("f90000"));
  EXPECT_EQ(floating(-0.0), from_hex("f98000"));
  EXPECT_EQ(floating(0.001), from_hex("fb3f50624dd2f1a9fc"));
  EXPECT_EQ(floating(std::bit_cast<double>(0x7ff8000000000000u)), from_hex("f97e00"));
  EXPECT_EQ(floating(std::numeric_limits<double>::infinity()), from_hex("f97c00"));
  EXPECT_EQ(floating(-std::numeric_limits<double>::infinity()), from_hex("f9fc00"));
  EXPECT_EQ(floating(0x1p-24), from_hex("f90001"));
  EXPECT_EQ(floating(0x1p-25), from_hex("fa33000000"));
  EXPECT_EQ(floating(0x1.8p-24), from_hex("fa33c00000"));
  EXPECT_EQ(floating(65504), from_hex("f97bff"));
  EXPECT_EQ(floating(65520), from_hex("fa477ff000"));
  EXPECT_EQ(floating(100000), from_hex("fa47c35000"));
  EXPECT_EQ(floating(0x1p-149), from_hex("fa00000001"));
  EXPECT_EQ(floating(0x1p-150), from_hex("fb3690000000000000"));
  EXPECT_EQ(floating(std::numeric_limits<float>::max()), from_hex("fa7f7fffff"));
  EXPECT_EQ(floating(0x1p128), from_hex("fb47f0000000000000"));
  EXPECT_EQ(floating(std::numeric_limits<double>::max()), from_hex("fb7fefffffffffffff"));
  EXPECT_EQ(floating(std::numeric_limits<double>::denorm_min()), from_hex("fb0000000000000001"));
  // Signalling NaNs, which a conversion would change, and payloads that only wider forms can hold.
  EXPECT_EQ(floating(std::bit_cast<double>(0x7ff4000000000000u)), from_hex("fb7ff4000000000000"));
  EXPECT_EQ(floating(std::bit_cast<double>(0x7ff8000020000000u)), from_hex("fa7fc00001"));
  EXPECT_EQ(floating(std::bit_cast<double>(0xfff8000000000001u)), from_hex("fbfff8000000000001"));
}

TEST(CborWriter, EveryHalfButSignallingNansIsWrittenAsItself) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    std::string item = {'\xf9', static_cast<char>(bits >> 8), static_cast<char>(bits & 0xff)};
    CborReader reader(std::as_bytes(std::span(item)));
    double value = 0;
    ASSERT_TRUE(reader.floating(value));
    const Float16 half = std::bit_cast<Float16>(static_cast<std::uint16_t>(bits));
    if (value == value) {
      ASSERT_EQ(value, static_cast<double>(to_float(half))) << bits;
    } else {
      ASSERT_NE(to_float(half), to_float(half)) << bits;
    }
    const bool is_signalling = (bits & 0x7e00) == 0x7c00 && (bits & 0x1ff) != 0;
    if (is_signalling) {
      ASSERT_EQ(floating(value).front(), '\xfb') << bits;
    } else {
      ASSERT_EQ(floating(value), item) << bits;
    }
  }
}

TEST(CborWriter, FloatsComeBackBitByBit) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    // Doubles, doubles that are floats, and doubles with few digits, of every exponent.
    std::uint64_t bits = random();
    if (i % 3 == 1) {
      const double wide = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      bits = std::bit_cast<std::uint64_t>(wide);
    } else if (i % 3 == 2) {
      bits &= 0xfffffc0000000000u;
    }
    const std::string item = floating(std::bit_cast<double>(bits));
    CborReader reader(std::as_bytes(std::span(item)));
    double back = 0;
    ASSERT_TRUE(reader.floating(back));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back), bits) << item.size();
    ASSERT_EQ(reader.offset(), item.size());
  }
}

}  // namespace
}  // namespace andiron::detail
