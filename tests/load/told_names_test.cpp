// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/load/told_names.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "andiron/apply.h"
#include "andiron/names.h"
#include "andiron/nn/linear.h"
#include "tests/support/sample_net.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using detail::ToldNames;
using test::f32;

Archive closed_names(const std::vector<const char*>& names, const KeyRemapper& remapper = {}) {
  Archive file;
  for (const char* name : names) file.add(TensorSnapshot(name, f32({2, 2}, 1))).value();
  return apply_names(file, {.remapper = remapper, .close_gaps = true}).value();
}

TEST(ToldNames, AreThoseBeforeIndexGapsWereClosed) {
  const Archive source = closed_names({"layers.0.w", "layers.4.w", "head"});
  const ToldNames told(source);
  EXPECT_EQ(told.own("layers.1.w"), "layers.4.w");
  EXPECT_EQ(told.own("head"), "head");
  EXPECT_EQ(told.own("elsewhere"), "elsewhere");
  EXPECT_EQ(told.quoted("layers.1.w"), "'layers.4.w' (layers.1.w after closing index gaps)");
  EXPECT_EQ(told.quoted("layers.0.w"), "'layers.0.w'");
  EXPECT_EQ(told.quoted_and_others({"head", "layers.1.w"}), "'head' and 1 other");
  EXPECT_EQ(told.renumbered({"head", "layers.1.w", "layers.1.w"}), "'layers.4.w'");
  EXPECT_EQ(told.renumbered({"head"}), "");
}

TEST(ToldNames, AreAsRulesLeaveThem) {
  const Archive source =
      closed_names({"h.0.w", "h.4.w"}, KeyRemapper::from_patterns({{"^h", "layers"}}));
  EXPECT_EQ(ToldNames(source).own("layers.1.w"), "layers.4.w");
}

struct ToldNet {
  std::vector<nn::Linear> layers;
  ANDIRON_MODULE(ToldNet, layers)
};

ToldNet told_net(std::size_t count) {
  ToldNet net;
  net.layers.assign(count, nn::Linear{Param(f32({2, 2}, 1)), std::nullopt});
  return net;
}

TEST(ToldNames, AreInTheReport) {
  const Archive source =
      closed_names({"layers.0.weight", "layers.4.weight", "layers.4.scale", "layers.7.weight"});
  ToldNet two = told_net(2);
  const Error error = apply(two, source).error();
  EXPECT_EQ(error.tensor, "layers.7.weight");
  EXPECT_EQ(error.message,
            "the module's list 'layers' is too short for it, which is 'layers.2.weight' after "
            "closing index gaps");
  const ApplyResult result = apply(two, source, {.allow_unused = true}).value();
  EXPECT_EQ(result.unused, (std::vector<std::string>{"layers.4.scale", "layers.7.weight"}));
  EXPECT_EQ(result.notes[0],
            "the module has no parameter for 'layers.4.scale' (layers.1.scale after closing index "
            "gaps), though it has others beside it; loading does not fill empty optionals");
  EXPECT_EQ(result.notes[1],
            "the module's lists are too short for 'layers.7.weight' (layers.2.weight after closing "
            "index gaps); loading does not extend lists");
  EXPECT_EQ(apply(two, source, {.allow_unused = false}).error().tensor, "layers.4.scale");
}

TEST(ToldNames, AreInErrorsOfShape) {
  ToldNet two = told_net(2);
  two.layers[1].weight = Param(f32({2, 3}, 1));
  const Error error =
      apply(two, closed_names({"layers.0.weight", "layers.4.weight"}), {.propose = false}).error();
  EXPECT_EQ(error.tensor, "layers.1.weight");
  EXPECT_EQ(error.found, "[2, 2], of 'layers.4.weight'");
}

TEST(ToldNames, AreInErrorsOfReads) {
  ToldNet two = told_net(2);
  const auto data = std::make_shared<test::TestSource>(std::vector<std::byte>(32));
  data->fail_reads_past(16);
  Archive file;
  for (const auto& [name, offset] : {std::pair("layers.0.weight", 0u), {"layers.4.weight", 16u}}) {
    file.add(TensorSnapshot::from_source(name, data, offset, 16, DType::f32, {2, 2}).value())
        .value();
  }
  const Error error = apply(two, apply_names(file, {.close_gaps = true}).value()).error();
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_EQ(error.tensor, "layers.1.weight");
  EXPECT_EQ(error.hint, "the file calls it 'layers.4.weight'");
}

TEST(ToldNames, AreSuggestedForWhatIsMissing) {
  ToldNet two = told_net(2);
  const ApplyResult report =
      *apply(two, closed_names({"layers.0.weight", "layers.4.wieght"}), {.propose = false})
           .error()
           .report;
  EXPECT_EQ(report.missing[0].did_you_mean, "layers.4.wieght");
}

}  // namespace
}  // namespace andiron
