// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron info: a weight file on one page.
#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Info : public ToolTest {};

TEST_F(Info, SumsUpAFile) {
  const std::vector<Sample> samples = {{"a", "F32", {4, 256}, 4096}, {"b", "F16", {2}, 4}};
  const std::map<std::string, std::string> metadata = {{"format", "pt"}, {"text", "two\nlines"}};
  const Outcome run = tool({"info", write("m", samples, metadata)});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  // The path is as long as the temporary folder's name.
  const std::string page = run.out.substr(run.out.find("format "));
  const std::size_t bytes = safetensors(samples, metadata).size();
  ASSERT_GT(bytes, 4096u);
  ASSERT_LT(bytes, 4500u);
  EXPECT_EQ(page,
            "format      safetensors, single\n"
            "file size   4.2 KiB (4," +
                std::to_string(bytes - 4000) +
                " bytes)\n"
                "tensors     2\n"
                "parameters  1,026 (1.0K)\n"
                "data        4.0 KiB (4,100 bytes)\n"
                "\n"
                "DTYPE  TENSORS  PARAMETERS     SIZE\n"
                "f32          1       1,024  4.0 KiB\n"
                "f16          1           2      4 B\n"
                "\n"
                "METADATA  VALUE\n"
                "format    pt\n"
                "text      two\\nlines\n");
}

TEST_F(Info, ShortensLongMetadataUnlessWide) {
  const std::string value(500, 'v');
  const std::string file = write("m", {{"a"}}, {{std::string(90, 'k'), value}, {"short", value}});
  const Outcome run = tool({"info", file});
  for (const std::string& line : lines_of(run.out)) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_TRUE(contains(run.out, "vvv...vvv"));
  EXPECT_TRUE(contains(tool({"info", "--wide", file}).out, value));
}

TEST_F(Info, NamesTheLargestTensorsOfMany) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < 9; ++i) {
    samples.push_back({"t" + std::to_string(i), "U8", {i + 1}, i + 1});
  }
  const std::string out = tool({"info", write("m", samples)}).out;
  const std::size_t start = out.find("LARGEST TENSORS");
  ASSERT_NE(start, std::string::npos) << out;
  const auto lines = lines_of(out.substr(start));
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[1].rfind("t8 ", 0), 0u);
  EXPECT_EQ(lines[5].rfind("t4 ", 0), 0u);
}

TEST_F(Info, ListsShards) {
  write("model-1.safetensors", {{"a"}, {"b"}});
  write("model-2.safetensors", {{"c", "F32", {2}, 8}});
  const std::string index = write_text(
      "model.safetensors.index.json",
      std::string(R"({"metadata":{"total_size":16},"weight_map":{"a":"model-1.safetensors",)"
                  R"("b":"model-1.safetensors","c":"model-2.safetensors"}})"));
  const std::string out = tool({"info", index}).out;
  EXPECT_TRUE(contains(out, "model-1.safetensors        2           2   8 B\n")) << out;
  const auto object = objects_of(tool({"info", "--json", index})).at(0);
  EXPECT_EQ(object.at("shards").size(), 2u);
  EXPECT_EQ(object.at("shards").at(1).at("file"), "model-2.safetensors");
  EXPECT_EQ(object.at("shards").at(1).at("bytes"), 8);
}

TEST_F(Info, JsonAddsTotalsToSchema1) {
  const auto object =
      objects_of(tool({"info", "--json", write("m", {{"a", "F32", {2}, 8}, {"b", "F16", {1}, 2}})}))
          .at(0);
  EXPECT_EQ(object.at("schema"), 1);
  EXPECT_EQ(object.at("parameters"), 3);
  EXPECT_EQ(object.at("data_bytes"), 10);
  EXPECT_EQ(object.at("dtypes").at(0),
            (nlohmann::json{{"dtype", "f32"}, {"tensors", 1}, {"parameters", 2}, {"bytes", 8}}));
  EXPECT_EQ(object.at("aliases"), nlohmann::json::object());
  EXPECT_EQ(object.at("tensors").size(), 2u);
}

TEST_F(Info, ListsEveryTensorWithItsPlaceWhenAsked) {
  const std::string file = write("m", {{"b", "F32", {2}, 8}, {"a", "F16", {1}, 2}});
  EXPECT_FALSE(contains(tool({"info", file}).out, "OFFSET"));
  const auto lines = lines_of(tool({"info", "--all", file}).out);
  ASSERT_GT(lines.size(), 3u);
  EXPECT_EQ(lines.end()[-3].rfind("TENSORS IN FILE ORDER  DTYPE  SHAPE  SIZE  OFFSET", 0), 0u);
  EXPECT_EQ(lines.end()[-2].rfind("b  ", 0), 0u);
  EXPECT_EQ(lines.end()[-1].rfind("a  ", 0), 0u);
}

TEST_F(Info, ShowsNotesOnThePage) {
  const Outcome run =
      tool({"info", "--lenient", write_text("m", safetensors({{"a"}}) + "trailing")});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(contains(run.out, "\nNOTES\n")) << run.out;
  EXPECT_EQ(run.err, "");
}

}  // namespace
}  // namespace andiron::test
