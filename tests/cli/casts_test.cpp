// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron convert --cast: which tensors change, and what is reported of elements that are lost.
#include "andiron/open.h"
#include "andiron/tensor.h"
#include "andiron/write.h"
#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Casts : public ToolTest {
 protected:
  std::string floats() const {
    Archive archive;
    const auto add = [&](const char* name, Tensor tensor) {
      archive.add(TensorSnapshot(name, tensor)).value();
    };
    add("net.weight", Tensor::from_values<float>({4}, {1, 1e6f, -1e6f, 1e-12f}).value());
    add("net.bias", Tensor::from_values<float>({2}, {0.5f, 2}).value());
    add("net.steps", Tensor::from_values<std::int64_t>({1}, {3}).value());
    andiron::write(archive, path("floats.safetensors"), {.overwrite = true}).value();
    return path("floats.safetensors");
  }

  Outcome convert(const std::vector<std::string>& casts, const std::string& output,
                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"convert", "-f", floats(), "-o", path(output)};
    for (const std::string& cast : casts) arguments.insert(arguments.end(), {"--cast", cast});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool(arguments);
  }

  DType dtype_of(const std::string& output, const std::string& name) const {
    return open(path(output)).value().get(name).value().dtype();
  }
};

TEST_F(Casts, AGlobCastsFloatsAndLeavesIntegersAlone) {
  const Outcome run = convert({"**=f16"}, "half.safetensors");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(dtype_of("half.safetensors", "net.weight"), DType::f16);
  EXPECT_EQ(dtype_of("half.safetensors", "net.bias"), DType::f16);
  EXPECT_EQ(dtype_of("half.safetensors", "net.steps"), DType::i64);
}

TEST_F(Casts, OverflowAndUnderflowAreCounted) {
  const Outcome run = convert({"**=f16"}, "half.safetensors");
  EXPECT_TRUE(contains(run.out, "3 tensors, ") && contains(run.out, ", 2 cast")) << run.out;
  EXPECT_TRUE(contains(run.err,
                       "tensor 'net.weight': 2 elements overflowed and 1 element became 0 "
                       "in the cast from f32 to f16"))
      << run.err;
  EXPECT_FALSE(contains(run.err, "net.bias")) << run.err;
}

TEST_F(Casts, AreListedInTheJson) {
  const Outcome run = convert({"**=f16"}, "half.safetensors", {"--json"});
  const nlohmann::json casts = objects_of(run).at(0).at("casts");
  ASSERT_EQ(casts.size(), 2u);
  const nlohmann::json& weight = casts[0]["name"] == "net.weight" ? casts[0] : casts[1];
  EXPECT_EQ(weight, (nlohmann::json{{"name", "net.weight"},
                                    {"from", "f32"},
                                    {"to", "f16"},
                                    {"overflowed", 2},
                                    {"underflowed", 1}}));
}

TEST_F(Casts, ADryRunCountsNothing) {
  const Outcome run = convert({"**=f16"}, "half.safetensors", {"--json", "--dry-run"});
  EXPECT_FALSE(objects_of(run).at(0).at("casts").at(0).contains("overflowed"));
  EXPECT_FALSE(objects_of(convert({}, "same.safetensors", {"--json"})).at(0).contains("casts"));
}

TEST_F(Casts, TheLastMatchCounts) {
  ASSERT_EQ(convert({"**=f16", "net.bias=f64"}, "mixed.safetensors").exit_code, 0);
  EXPECT_EQ(dtype_of("mixed.safetensors", "net.weight"), DType::f16);
  EXPECT_EQ(dtype_of("mixed.safetensors", "net.bias"), DType::f64);
}

TEST_F(Casts, AWholeNameCastsAnyKind) {
  ASSERT_EQ(convert({"net.steps=float32"}, "steps.safetensors").exit_code, 0);
  EXPECT_EQ(dtype_of("steps.safetensors", "net.steps"), DType::f32);
}

TEST_F(Casts, SeeTheNamesOfTheOutput) {
  const Outcome run = convert({"model.*=bf16"}, "renamed.safetensors", {"--sub", "^net", "model"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(dtype_of("renamed.safetensors", "model.bias"), DType::bf16);
}

TEST_F(Casts, MakeFilesThatNumPyCanHold) {
  ASSERT_EQ(convert({"**=bf16"}, "brain.safetensors").exit_code, 0);
  const Outcome refused = tool({"convert", path("brain.safetensors"), "-o", path("brain.npz")});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_TRUE(contains(refused.err, "--cast")) << refused.err;
  const Outcome run =
      tool({"convert", path("brain.safetensors"), "-o", path("brain.npz"), "--cast", "**=f32"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST_F(Casts, ARuleThatMatchesNothingIsAMistake) {
  const Outcome run = convert({"nett.*=f16"}, "none.safetensors");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "no tensor matches the cast 'nett.*=f16'")) << run.err;
}

TEST_F(Casts, ARuleThatChangesNothingIsNoted) {
  const Outcome run = convert({"**.weight=i8"}, "none.safetensors");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(contains(run.err,
                       "the cast '**.weight=i8' changed nothing: 1 matching tensor of "
                       "another kind"))
      << run.err;
}

TEST_F(Casts, RecordsHaveAPrecisionInstead) {
  const Outcome run = convert({"**=f16"}, "model.mpk");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_TRUE(contains(run.err, "use --precision")) << run.err;
}

TEST_F(Casts, AreWrittenToShardsBurnpackAndNumPy) {
  ASSERT_EQ(convert({"**=f16"}, "shards.safetensors", {"--max-shard-size", "8"}).exit_code, 0);
  EXPECT_EQ(dtype_of("shards.safetensors", "net.weight"), DType::f16);
  for (const char* output : {"model.bpk", "model.npz"}) {
    const Outcome run = convert({"**=f16"}, output, {"--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(dtype_of(output, "net.weight"), DType::f16);
    EXPECT_EQ(objects_of(run).at(0).at("casts").size(), 2u);
  }
}

TEST_F(Casts, WhatIsNotGlobEqualsDtypeIsRefused) {
  for (const char* text : {"f16", "=f16", "**=", "**=float17", "**=qfloat", "**=f6e2m3"}) {
    const Outcome run = convert({text}, "none.safetensors");
    EXPECT_EQ(run.exit_code, 4) << text;
    EXPECT_TRUE(contains(run.err, "--cast")) << run.err;
  }
  EXPECT_TRUE(contains(convert({"**=float17"}, "x.safetensors").err, "one of bool u8 i8"));
}

}  // namespace
}  // namespace andiron::test
