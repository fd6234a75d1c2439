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

TEST(ParamId, OfAUuidAsEarlyReleasesWroteItIsTheHashThatBurnMakesOfIt) {
  const auto id_of = [](const char* text) { return ParamId::from_text(text).value().value; };
  EXPECT_EQ(id_of("30b82c23-788d-4d63-a743-ada258d5f13c"), 3660534592299406267U);
  EXPECT_EQ(id_of("30B82C23-788D-4D63-A743-ADA258D5F13C"), 3660534592299406267U);
  EXPECT_EQ(id_of("00000000-0000-0000-0000-000000000000"), 9963963603434378466U);
  EXPECT_EQ(id_of("ffffffff-ffff-ffff-ffff-ffffffffffff"), 2905257854522272510U);
}

TEST(ParamId, RefusesOtherText) {
  for (const char* text :
       {"", "72d17eukbtkm", "72d17eukbtkmaa", "72D17EUKBTKMA", "72d17eukbtkmb", "72d17eukbtkm!",
        "550e8400-e29b-41d4-a716-44665544000g", "550e8400+e29b-41d4-a716-446655440000",
        "550e8400e-29b-41d4-a716-446655440000"}) {
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
