// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the tests of a program, and says which were skipped and which took long, each with its
// reason: scripts/env.sh gathers these lines.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/support/long_tests.h"

namespace {

class Reasons : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.skipped()) reason_ = part.message();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    const testing::TestResult& result = *test.result();
    if (result.Skipped()) std::printf("skipped: %s: %s\n", name.c_str(), reason_.c_str());
    if (result.elapsed_time() <= 5000 || andiron::test::is_sanitized) return;
    std::string why = "it does not say why";
    for (int i = 0; i < result.test_property_count(); ++i) {
      const testing::TestProperty& property = result.GetTestProperty(i);
      if (property.key() == std::string("slow")) why = property.value();
    }
    std::printf("slow: %s takes %.0f s: %s\n", name.c_str(),
                static_cast<double>(result.elapsed_time()) / 1000, why.c_str());
  }

  std::string reason_;
};

}  // namespace

// What LeakSanitizer asks for: clang's OpenMP keeps memory for each thread that used it, and oneDNN
// loses some when an allocation in it fails.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp\nleak:libdnnl\n"; }

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  testing::UnitTest::GetInstance()->listeners().Append(new Reasons);
  return RUN_ALL_TESTS();
}
