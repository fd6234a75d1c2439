// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/wrapped_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/text.h"
#include "tests/proposals/listing_report.h"

namespace andiron {
namespace {

using test::add_layer;
using test::code_for_model;
using test::report_of;
using test::Side;

constexpr const char* fsdp_rule =
    R"--(.with_key_remapping(R"((^|\.)_fsdp_wrapped_module\.)", "$1"))--";

Side small_net() {
  Side side;
  for (const char* number : {"0", "1", "2"}) {
    add_layer(side, "layers." + std::string(number) + ".attn.proj", 4, 4);
    add_layer(side, "layers." + std::string(number) + ".fc", 4, 4);
  }
  add_layer(side, "head", 2, 4);
  return side;
}

Side with(Side side, const char* pattern, const char* replacement) {
  const Pattern compiled = Pattern::regex(pattern).value();
  for (detail::TreeTensor& tensor : side) {
    tensor.name = compiled.replace_all(tensor.name, replacement);
  }
  return side;
}

TEST(WrappedNames, LoseWrappersAtAnyDepth) {
  Side file = with(small_net(), R"(^layers\.(0|2)\.)", "layers.$1._fsdp_wrapped_module.");
  file = with(file, R"(attn\.)", "attn._fsdp_wrapped_module.");
  file = with(file, "^", "_fsdp_wrapped_module.");
  EXPECT_EQ(code_for_model(file, small_net()), fsdp_rule);
  const ApplyResult result = report_of(file, small_net());
  ASSERT_FALSE(result.missing.empty());
  EXPECT_EQ(result.missing[0].path, "head.bias");
  EXPECT_EQ(result.missing[0].did_you_mean, "_fsdp_wrapped_module.head.bias");
}

TEST(WrappedNames, AreRenamedAfterThat) {
  const Side file = with(small_net(), R"(^layers\.(\d+)\.)", "blocks.$1._fsdp_wrapped_module.");
  EXPECT_EQ(code_for_model(file, small_net()),
            std::string(fsdp_rule) + "\n.with_key_remapping(R\"(^blocks\\.)\", \"layers.\")");
}

TEST(WrappedNames, KeepAWrapperThatIsAroundAllOfThem) {
  EXPECT_EQ(code_for_model(test::below_prefix("_orig_mod.", small_net()), small_net()),
            R"(.with_top_level_key("_orig_mod"))");
}

TEST(WrappedNames, LoseWhatHoldsTheTensors) {
  const Side other = with(small_net(), R"(^layers\.)", "blocks.");
  EXPECT_EQ(code_for_model(with(small_net(), "$", ".value"), other),
            ".with_key_remapping(R\"(\\.value$)\", \"\")\n"
            ".with_key_remapping(R\"(^layers\\.)\", \"blocks.\")");
}

TEST(WrappedNames, TakeTheTensorAndNotItsState) {
  Side file = with(small_net(), "$", ".param");
  for (const detail::TreeTensor& tensor : with(small_net(), "$", ".momentum"))
    file.push_back(tensor);
  EXPECT_EQ(code_for_model(file, small_net()), R"--(.with_key_remapping(R"(\.param$)", ""))--");
}

}  // namespace
}  // namespace andiron
