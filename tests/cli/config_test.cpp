// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron config: the values of a file that are not tensors.
#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Config : public ToolTest {
 protected:
  const std::string file_ = test_data() + "/torch-2.15/config.pt";
};

TEST_F(Config, ShowsWhatLiesBesideTheTensors) {
  const Outcome run = tool({"config", file_});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(nlohmann::json::parse(run.out),
            nlohmann::json::parse(R"({"config": {"layers": 2, "rate": 0.5, "names": ["a", "b"],
                                                 "none": null, "flag": true}})"));
  EXPECT_TRUE(contains(run.out, "\n    \"layers\": 2,\n"));
}

TEST_F(Config, ShowsThePartThatAKeyNames) {
  EXPECT_EQ(tool({"config", "--key", "config.rate", file_}).out, "0.5\n");
  EXPECT_EQ(tool({"config", "--key", "config.names.1", file_}).out, "\"b\"\n");
}

TEST_F(Config, SaysWhatIsThereInsteadOfAKey) {
  const Outcome run = tool({"config", "--key", "config.lr", file_});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(
      contains(run.err, "there is no value at 'config.lr': a dict with the keys 'layers', 'rate'"))
      << run.err;
}

TEST_F(Config, AsJsonIsOneLine) {
  const nlohmann::json object =
      objects_of(tool({"config", "--json", "--key", "config", file_})).at(0);
  EXPECT_EQ(object.at("schema"), 1);
  EXPECT_EQ(object.at("path"), file_);
  EXPECT_EQ(object.at("key"), "config");
  EXPECT_EQ(object.at("config").at("rate"), 0.5);
}

TEST_F(Config, OfTensorsAloneIsEmpty) {
  const Outcome run = tool({"config", test_data() + "/torch-2.15/net_state_dict.pt"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "{}\n");
  EXPECT_TRUE(contains(run.err, "there is nothing beside the tensors")) << run.err;
}

TEST_F(Config, OfSafetensorsIsTheMetadata) {
  const std::string file = write("m", {{"a"}}, {{"config", R"({"lr": 0.1})"}, {"title", "x"}});
  const Outcome run = tool({"config", file});
  EXPECT_EQ(nlohmann::json::parse(run.out),
            nlohmann::json::parse(R"({"config": {"lr": 0.1}, "title": "x"})"));
}

TEST_F(Config, IsInTheJsonOfInfo) {
  const nlohmann::json object = objects_of(tool({"info", "--json", file_})).at(0);
  EXPECT_EQ(object.at("values").at("config").at("layers"), 2);
}

}  // namespace
}  // namespace andiron::test
