// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/param_id.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace andiron {
namespace {

TEST(ParamId, HasBurnsTextForm) {
  EXPECT_EQ(ParamId{7307477237661669944U}.to_text(), "72d17eukbtkma");
  EXPECT_EQ(ParamId{0}.to_text(), "0000000000000");
  EXPECT_EQ(ParamId{std::numeric_limits<std::uint64_t>::max()}.to_text(), "vvvvvvvvvvvvu");
}

TEST(ParamId, IsReadFromBurnsTextForm) {
  EXPECT_EQ(ParamId::from_text("72d17eukbtkma").value().value, 7307477237661669944U);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{42},
                                    std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(ParamId::from_text(ParamId{value}.to_text()).value().value, value);
  }
}

TEST(ParamId, OfSixBytesAsOlderReleasesWroteItIsZeroExtended) {
  const ParamId id = ParamId::from_text(ParamId{0x060504030201U}.to_text().substr(0, 10)).value();
  EXPECT_EQ(id.value, 0x060504030201U);
}

TEST(ParamId, RefusesOtherText) {
  for (const char* text : {"", "72d17eukbtkm", "72d17eukbtkmaa", "72D17EUKBTKMA", "72d17eukbtkmb",
                           "72d17eukbtkm!", "550e8400-e29b-41d4-a716-446655440000"}) {
    const Result<ParamId> id = ParamId::from_text(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(id.error().code, ErrorCode::invalid_argument);
  }
}

TEST(ParamId, IsGeneratedWithoutRepeats) {
  std::set<ParamId> seen;
  for (int i = 0; i < 100'000; ++i) EXPECT_TRUE(seen.insert(ParamId::generate()).second);
}

}  // namespace
}  // namespace andiron
