// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/core/lazy_value.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace andiron::detail {
namespace {

TEST(LazyValue, IsAbsentUnlessGiven) {
  const LazyValue absent;
  EXPECT_TRUE(absent.is_absent());
  EXPECT_TRUE(absent.get()->is_null());
  EXPECT_FALSE(LazyValue(Value(5.0)).is_absent());
  EXPECT_EQ(*LazyValue(Value(5.0)).get()->get<double>(), 5.0);
}

TEST(LazyValue, IsMadeWhenFirstAskedForAndNotAgain) {
  int made = 0;
  const LazyValue lazy([&made] {
    ++made;
    return Value(5.0);
  });
  const LazyValue copy = lazy;
  EXPECT_FALSE(lazy.is_absent());
  EXPECT_EQ(made, 0);
  EXPECT_EQ(*lazy.get()->get<double>(), 5.0);
  EXPECT_EQ(*copy.get()->get<double>(), 5.0);
  EXPECT_EQ(made, 1);
}

TEST(LazyValue, IsMadeByOneOfManyThreads) {
  int made = 0;
  const LazyValue lazy([&made] {
    ++made;
    return Value(5.0);
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&lazy] { EXPECT_TRUE(lazy.get()); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(LazyValue, LetsGoOfWhatItWasMadeFrom) {
  const auto source = std::make_shared<int>(5);
  const LazyValue lazy([source] { return Value(static_cast<double>(*source)); });
  EXPECT_EQ(source.use_count(), 2);
  EXPECT_TRUE(lazy.get());
  EXPECT_EQ(source.use_count(), 1);
}

TEST(LazyValue, KeepsTheReasonWhyItCouldNotBeMade) {
  int tried = 0;
  const LazyValue lazy([&tried]() -> Result<Value> {
    ++tried;
    return Error{.code = ErrorCode::limit_exceeded, .message = "too much"};
  });
  EXPECT_EQ(lazy.get().error().message, "too much");
  EXPECT_EQ(LazyValue(lazy).get().error().code, ErrorCode::limit_exceeded);
  EXPECT_EQ(tried, 1);
}

}  // namespace
}  // namespace andiron::detail
