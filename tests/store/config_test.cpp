// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/config.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "andiron/stores.h"
#include "andiron/write.h"
#include "tests/support/fixtures.h"
#include "tests/support/places.h"
#include "tests/support/state_dict.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

// As tests/data/torch-2.15/config.pt has it.
struct Small {
  int layers;
  double rate;
  bool flag;
  std::vector<std::string> names;
  ANDIRON_CONFIG(Small, layers, rate, flag, names)
  friend bool operator==(const Small&, const Small&) = default;
};

const Small small{2, 0.5, true, {"a", "b"}};

std::string config_file() { return test_data() + "/torch-2.15/config.pt"; }

TEST(Config, IsFilledFromACheckpoint) {
  EXPECT_EQ(config_from_file<Small>(config_file(), "config").value(), small);
  EXPECT_EQ(config_from<Small>(open(config_file()).value(), "config").value(), small);
  EXPECT_EQ(config_from<Small>(PytorchStore::from_file(config_file()), "config").value(), small);
  EXPECT_EQ(config_from_file<double>(config_file(), "config.rate").value(), 0.5);
}

TEST(Config, NamesFilePlaceAndReason) {
  const Error missing = config_from_file<Small>(config_file()).error();
  EXPECT_EQ(missing.code, ErrorCode::missing_value);
  EXPECT_EQ(missing.file, config_file());
  EXPECT_EQ(missing.message, "there is no value at 'layers'");

  const Error nowhere = config_from_file<Small>(config_file(), "my_config").error();
  EXPECT_EQ(nowhere.code, ErrorCode::missing_value);
  EXPECT_EQ(nowhere.file, config_file());

  const Error other = config_from_file<std::vector<int>>(config_file(), "config.names").error();
  EXPECT_EQ(other.code, ErrorCode::value_mismatch);
  EXPECT_EQ(other.message, "the value at 'config.names.0' has another type");
  EXPECT_EQ(config_from_file<Small>("no_such_file.pt").error().code, ErrorCode::not_found);
}

struct Part {
  double rate = 0;
  int depth = 6;
  ANDIRON_CONFIG(Part, rate, depth)
};

TEST(Config, TellsWhatItDoesNotKnow) {
  std::vector<std::string> notes;
  const Part part = config_from_file<Part>(config_file(), "config", {.notes = &notes}).value();
  EXPECT_EQ(part.rate, 0.5);
  EXPECT_EQ(part.depth, 6);
  EXPECT_EQ(
      notes,
      (std::vector<std::string>{
          "the struct does not list 'config.layers'", "the struct does not list 'config.names'",
          "the struct does not list 'config.none'", "the struct does not list 'config.flag'",
          "the file has no 'config.depth': it keeps its default"}));
  const Error refused =
      config_from_file<Part>(config_file(), "config", {.allow_unknown = false}).error();
  EXPECT_EQ(refused.code, ErrorCode::value_mismatch);
  EXPECT_EQ(
      refused.message,
      "the struct does not list 'config.layers', 'config.names', 'config.none', 'config.flag'");
}

// The struct of the documents.
struct NetConfig {
  std::size_t n_head;
  std::size_t n_layer;
  std::size_t d_model;
  double some_float;
  std::int32_t some_int;
  bool some_bool;
  std::string some_str;
  std::vector<std::int32_t> some_list_int;
  std::vector<std::string> some_list_str;
  std::vector<double> some_list_float;
  std::map<std::string, std::string> some_dict;
  ANDIRON_CONFIG(NetConfig, n_head, n_layer, d_model, some_float, some_int, some_bool, some_str,
                 some_list_int, some_list_str, some_list_float, some_dict)
  friend bool operator==(const NetConfig&, const NetConfig&) = default;
};

TEST(Config, OfTheDocumentsIsReadFromACheckpointSavedAsJsonAndLoaded) {
  const NetConfig expected{2,
                           3,
                           512,
                           0.1,
                           1,
                           true,
                           "hello",
                           {1, 2, 3},
                           {"x", "y"},
                           {0.1, 0.2, 0.3},
                           {{"some_key", "some_value"}}};
  const TempDir dir;
  const py::Pairs my_config = {{"n_head", 2},
                               {"n_layer", 3},
                               {"d_model", 512},
                               {"some_float", 0.1},
                               {"some_int", 1},
                               {"some_bool", true},
                               {"some_str", "hello"},
                               {"some_list_int", py::list({1, 2, 3})},
                               {"some_list_str", py::list({"x", "y"})},
                               {"some_list_float", py::list({0.1, 0.2, 0.3})},
                               {"some_dict", py::dict({{"some_key", "some_value"}})}};
  write_file(dir.file("weights_with_config.pt"),
             StateDict()
                 .add("fc.weight", {2, 2})
                 .file({"my_model"}, {{"my_config", py::dict(my_config)}}));
  const auto config =
      config_from_file<NetConfig>(dir.file("weights_with_config.pt"), "my_config").value();
  EXPECT_EQ(config, expected);
  const std::string shown = to_json(config_to_value(config), 2);  // for people
  EXPECT_NE(shown.find("\n  \"some_str\": \"hello\""), std::string::npos) << shown;

  const std::string path = dir.file("my_config.json");
  ASSERT_TRUE(save_config(config, path));
  EXPECT_EQ(load_config<NetConfig>(path).value(), config);
  // Again, over the old one.
  ASSERT_TRUE(save_config(small, path));
  EXPECT_EQ(load_config<Small>(path).value(), small);
}

TEST(Config, OfTheDocumentsIsReadFromBurnsOwnFile) {
  if (!has_fixtures()) GTEST_SKIP() << "ANDIRON_FIXTURES is not set";
  const std::string path = fixtures_folder() + "/burn/pytorch-tests/config/weights_with_config.pt";
  const NetConfig config = config_from_file<NetConfig>(path, "my_config").value();
  EXPECT_EQ(config.some_str, "hello");
  EXPECT_EQ(config.some_list_int, (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(config.some_dict.at("some_key"), "some_value");
}

// As tests/data/omegaconf-2.3/lightning.pkl has it.
struct Optimizer {
  std::string name;
  double lr;
  int steps;
  bool nesterov = true;
  std::vector<double> betas;
  std::optional<std::string> schedule;
  ANDIRON_CONFIG(Optimizer, name, lr, steps, nesterov, betas, schedule)
};

TEST(Config, OfOmegaConfIsReadThroughItsNodes) {
  const std::string folder = test_data() + "/omegaconf-2.3/";
  const std::string path = folder + "lightning.pkl";
  const auto optimizer = config_from_file<Optimizer>(path, "hyper_parameters.optimizer").value();
  EXPECT_EQ(optimizer.name, "adamw");
  EXPECT_EQ(optimizer.lr, 0.001);
  EXPECT_EQ(optimizer.steps, 1000);
  EXPECT_FALSE(optimizer.nesterov);
  EXPECT_EQ(optimizer.betas, (std::vector<double>{0.9, 0.95}));
  EXPECT_FALSE(optimizer.schedule.has_value());

  const auto truth = nlohmann::json::parse(read_file(folder + "truth.json"))["lightning.pkl"];
  const auto all = config_from_file<Value>(path, "hyper_parameters").value();
  EXPECT_EQ(nlohmann::json::parse(to_json(all)), truth["hyper_parameters"]);
}

TEST(Config, InJsonThatIsBrokenNamesTheFile) {
  const TempDir dir;
  const std::string path = dir.file("config.json");
  test::write_file(path, R"({"layers": 1,})");
  EXPECT_EQ(load_config<Small>(path).error().code, ErrorCode::bad_header);
  EXPECT_EQ(load_config<Small>(path).error().file, path);
  test::write_file(path, R"({"layers": 1.5})");
  EXPECT_EQ(load_config<Small>(path).error().file, path);
  EXPECT_EQ(load_config<Small>(dir.file("none.json")).error().code, ErrorCode::not_found);
  EXPECT_EQ(config_from_file<Small>(path).error().hint,
            "load_config() reads configs from JSON files");
}

TEST(Config, WithNumbersThatJsonLacksIsNotSaved) {
  const TempDir dir;
  const std::string path = dir.file("config.json");
  ASSERT_TRUE(save_config(small, path));
  Small broken = small;
  broken.rate = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(save_config(broken, path).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(load_config<Small>(path).value(), small);
}

TEST(Config, ThatNestsDeeperThanJsonIsReadIsNotSaved) {
  const TempDir dir;
  const std::string path = dir.file("config.json");
  Value value = 1.5;
  for (unsigned i = 0; i < max_json_depth; ++i) value = ValueList{value};
  ASSERT_TRUE(save_config(value, path));
  EXPECT_TRUE(load_config<Value>(path).ok());
  const Status deeper = save_config(Value(ValueList{value}), path);
  ASSERT_FALSE(deeper);
  EXPECT_EQ(deeper.error().code, ErrorCode::limit_exceeded);
  EXPECT_TRUE(load_config<Value>(path).ok());
}

TEST(Config, InMetadataIsText) {
  Archive archive;
  archive.set_metadata({{"config", to_json(config_to_value(small))}, {"title", "x"}});
  const Bytes file = write_to_memory(archive, {.format = Format::safetensors}).value();
  const Archive opened = open(file).value();
  EXPECT_EQ(config_from<Small>(opened, "config").value(), small);
  EXPECT_EQ(config_from<double>(opened, "config.rate").value(), 0.5);
  EXPECT_EQ(config_from<std::string>(opened, "title").value(), "x");
  EXPECT_EQ(config_from<int>(opened, "none").error().code, ErrorCode::missing_value);
}

}  // namespace
}  // namespace andiron::test
