// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "andiron/apply.h"
#include "tests/support/sample_net.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using test::f32;
using test::fingerprint;
using test::sample_net;
using test::SampleNet;

using Names = std::vector<std::string>;

struct LayerNorm {
  Param gamma;
  ANDIRON_MODULE(LayerNorm, gamma)
};

TEST(Plan, TellsWhatALoadWouldDoWithoutReadingOrChangingAnything) {
  SampleNet net = sample_net(1000);
  const std::string before = fingerprint(net);
  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(32));
  Snapshots tensors;
  tensors.push_back(
      TensorSnapshot::from_source("head.weight", source, 0, 16, DType::f16, {4, 2}).value());
  tensors.push_back(TensorSnapshot::from_source("extra", source, 16, 16, DType::f32, {4}).value());
  const Plan planned = plan(net, tensors).value();
  ASSERT_EQ(planned.tensors.size(), 1U);
  EXPECT_EQ(planned.tensors[0].path, "head.weight");
  EXPECT_EQ(planned.tensors[0].sources, Names{"head.weight"});
  EXPECT_EQ(planned.tensors[0].dtype, DType::f16);
  EXPECT_EQ(planned.tensors[0].byte_size, 16U);
  EXPECT_EQ(planned.byte_size, 16U);
  EXPECT_EQ(planned.result.applied, Names{"head.weight"});
  EXPECT_EQ(planned.result.missing.size(), 10U);
  EXPECT_EQ(planned.result.unused, Names{"extra"});
  EXPECT_EQ(source->reads(), 0U);
  EXPECT_EQ(fingerprint(net), before);
}

TEST(Plan, NamesTensorsAsTheFileDoes) {
  const LayerNorm norm{Param(f32({3}, 1))};
  Archive file;
  file.add(TensorSnapshot("net.norm.gamma", f32({3}, 5))).value();
  const Archive named = apply_names(file, {.top_level_key = "net.norm"}).value();
  EXPECT_EQ(plan(norm, named).value().tensors.at(0).sources, Names{"net.norm.gamma"});
}

TEST(Plan, NamesTheTensorThatIsTakenUnderAnotherName) {
  const LayerNorm norm{Param(f32({3}, 1))};
  Snapshots tensors;
  tensors.push_back(TensorSnapshot("weight", f32({3}, 5)));
  const Plan planned = plan(norm, tensors, {.adapter = PyTorchToBurnAdapter()}).value();
  ASSERT_EQ(planned.tensors.size(), 1U);
  EXPECT_EQ(planned.tensors[0].path, "gamma");
  EXPECT_EQ(planned.tensors[0].sources, Names{"weight"});
  EXPECT_TRUE(planned.result.unused.empty());
  EXPECT_TRUE(planned.result.missing.empty());
}

TEST(Plan, ShowsTheDtypeAfterThePolicy) {
  const LayerNorm norm{Param(f32({3}, 1))};
  Snapshots tensors;
  tensors.push_back(TensorSnapshot("gamma", f32({3}, 5)).cast(DType::f64).value());
  EXPECT_EQ(plan(norm, tensors).value().tensors[0].byte_size, 24U);
  EXPECT_EQ(
      plan(norm, tensors, {.dtype_policy = DTypePolicy::cast_to_module}).value().tensors[0].dtype,
      DType::f32);
}

TEST(Plan, ReportsMismatchesInsteadOfFailing) {
  const LayerNorm norm{Param(f32({3}, 1))};
  Snapshots tensors;
  tensors.push_back(TensorSnapshot("gamma", f32({4}, 5)));
  const Plan planned = plan(norm, tensors).value();
  EXPECT_TRUE(planned.tensors.empty());
  ASSERT_EQ(planned.result.errors.size(), 1U);
  EXPECT_EQ(planned.result.errors[0].code, ErrorCode::shape_mismatch);
}

TEST(Plan, HintsAtATransposedShape) {
  struct Matrix {
    Param weight;
    ANDIRON_MODULE(Matrix, weight)
  };
  const Matrix matrix{Param(f32({2, 3}, 1))};
  Snapshots tensors;
  tensors.push_back(TensorSnapshot("weight", f32({3, 2}, 5)));
  EXPECT_NE(plan(matrix, tensors).value().result.errors[0].hint.find("transposed"),
            std::string::npos);
}

}  // namespace
}  // namespace andiron
