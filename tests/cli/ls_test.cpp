// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron ls: its table and its JSON.
#include <filesystem>

#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Ls : public ToolTest {
 protected:
  // Out of natural order in the file, of three sizes and two dtypes.
  std::string layers() const {
    return write("layers.safetensors", {{"layers.10.weight", "F32", {2, 3}, 24},
                                        {"layers.2.weight", "F16", {8, 512}, 8192},
                                        {"head", "F32", {}, 4}});
  }
};

TEST_F(Ls, ListsTensorsInNaturalOrderWithAFooter) {
  const Outcome run = tool({"ls", layers()});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out,
            "NAME              DTYPE  SHAPE        SIZE\n"
            "head              f32    []            4 B\n"
            "layers.2.weight   f16    [8, 512]  8.0 KiB\n"
            "layers.10.weight  f32    [2, 3]       24 B\n"
            "3 tensors, 4,103 parameters, 8.0 KiB\n");
}

TEST_F(Ls, SortsAsAsked) {
  const std::string file = layers();
  const auto sorted = [&](const char* key) {
    return names_of(objects_of(tool({"ls", "--json", "--sort", key, file})).at(0));
  };
  EXPECT_EQ(sorted("name"), (Names{"head", "layers.2.weight", "layers.10.weight"}));
  EXPECT_EQ(sorted("size"), (Names{"layers.2.weight", "layers.10.weight", "head"}));
  EXPECT_EQ(sorted("offset"), (Names{"layers.10.weight", "layers.2.weight", "head"}));
  EXPECT_EQ(sorted("dtype"), (Names{"layers.2.weight", "head", "layers.10.weight"}));
}

TEST_F(Ls, SeveralInputsGetAHeadingEach) {
  const std::string a = write("a", {{"x"}});
  const std::string b = write("b", {{"y"}});
  const Outcome run = tool({"ls", a, b});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out.rfind(a + ":\nNAME", 0), 0u) << run.out;
  EXPECT_TRUE(contains(run.out, "\n\n" + b + ":\nNAME")) << run.out;
}

TEST_F(Ls, AFileWithoutTensorsIsFine) {
  const Outcome run = tool({"ls", write("empty", std::vector<Sample>{})});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "NAME  DTYPE  SHAPE  SIZE\n0 tensors, 0 parameters, 0 B\n");
}

TEST_F(Ls, ALongNameStandsOnItsOwnLine) {
  const std::string name = "model." + std::string(64, 'x') + ".weight";
  const auto lines = lines_of(tool({"ls", write("m", {{name}, {"short"}})}).out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[1], name);
  EXPECT_EQ(lines[2], "       f32    []      4 B");
  EXPECT_EQ(lines[3], "short  f32    []      4 B");
}

TEST_F(Ls, ANameLongerThanTheLineIsShortenedInTheMiddle) {
  const std::string name = "first." + std::string(200, 'x') + ".last";
  const std::string file = write("m", {{name}});
  const auto lines = lines_of(tool({"ls", file}).out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1].size(), 80u);
  EXPECT_EQ(lines[1].rfind("first.xxx", 0), 0u);
  EXPECT_TRUE(contains(lines[1], "xxx...xxx"));
  EXPECT_TRUE(contains(lines[1], "xxx.last"));
  EXPECT_TRUE(contains(tool({"ls", "--wide", file}).out, name + "  f32    []      4 B\n"));
}

TEST_F(Ls, NothingInAFilePushesALinePast80Columns) {
  const std::string file =
      write("m", {{"rank", "U8", std::vector<std::uint64_t>(60, 1), 1},
                  {std::string(43, 'a') + ".weight", "I64", {1, 1, 1, 1, 1, 1, 1, 1, 1}, 8},
                  {"plain"}});
  const std::string out = tool({"ls", file}).out;
  for (const std::string& line : lines_of(out)) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_TRUE(contains(out, "...")) << out;
}

TEST_F(Ls, WidthCountsColumnsNotBytes) {
  // Wide characters take two columns, combining marks none.
  const std::string wide = "\u5c42.\u91cd";
  const std::string accented = "e\u0301te";
  const auto lines = lines_of(tool({"ls", write("m", {{wide}, {accented}, {"abcdef"}})}).out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[1], "abcdef  f32    []      4 B");
  EXPECT_EQ(lines[2], accented + "     f32    []      4 B");
  EXPECT_EQ(lines[3], wide + "   f32    []      4 B");
}

TEST_F(Ls, NamesCannotSpeakToTheTerminal) {
  const std::string name = "a\x1b[31m\n\u202eb\u200b\x7f";
  const std::string file = write("m", {{name}});
  const Outcome run = tool({"ls", file});
  EXPECT_TRUE(contains(run.out, "a\\x1b[31m\\n\\u202eb\\u200b\\x7f")) << run.out;
  EXPECT_EQ(lines_of(run.out).size(), 3u);
  // JSON has the name itself.
  EXPECT_EQ(names_of(objects_of(tool({"ls", "--json", file})).at(0)), Names{name});
}

TEST_F(Ls, NamesCannotPretendToBeEmptyOrSpillOverOtherLines) {
  std::string stacked = "z";
  for (int i = 0; i < 30; ++i) stacked += "\u0301";
  const std::string file = write("m", {{"\u3164"}, {"a\u00a0"}, {" b "}, {stacked}});
  const std::string out = tool({"ls", file}).out;
  EXPECT_TRUE(contains(out, "\\u3164 ")) << out;
  EXPECT_TRUE(contains(out, "a\\u00a0 ")) << out;
  EXPECT_TRUE(contains(out, "\\x20b\\x20 ")) << out;
  EXPECT_TRUE(contains(out, "z\u0301\u0301\u0301\u0301\\u0301\\u0301")) << out;
}

TEST_F(Ls, NamesCannotSpeakToTheTerminalInJsonEither) {
  const std::string name = "a\x7f\xc2\x9b\u202e\U000e0001\u00e9\\";
  const std::string file = write("m", {{name}});
  const Outcome run = tool({"ls", "--json", file});
  EXPECT_TRUE(contains(run.out, "\"a\\u007f\\u009b\\u202e\\udb40\\udc01\u00e9\\\\\"")) << run.out;
  EXPECT_EQ(names_of(objects_of(run).at(0)), Names{name});
}

TEST_F(Ls, JsonHasTheFieldsOfSchema1AndNoOthers) {
  const std::string file =
      write("m.safetensors", {{"a.weight", "F32", {2, 3}, 24}}, {{"format", "pt"}});
  const std::size_t size =
      safetensors({{"a.weight", "F32", {2, 3}, 24}}, {{"format", "pt"}}).size();
  const Outcome run = tool({"ls", "--json", file});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(lines_of(run.out).size(), 1u);
  const nlohmann::json expected = {{"schema", 1},
                                   {"path", file},
                                   {"format", "safetensors"},
                                   {"container", "single"},
                                   {"bytes", size},
                                   {"metadata", {{"format", "pt"}}},
                                   {"tensors",
                                    {{{"name", "a.weight"},
                                      {"dtype", "f32"},
                                      {"shape", {2, 3}},
                                      {"bytes", 24},
                                      {"offset", size - 24},
                                      {"file_dtype", "F32"}}}},
                                   {"skipped", nlohmann::json::array()},
                                   {"notes", nlohmann::json::array()}};
  EXPECT_EQ(nlohmann::json::parse(run.out), expected);
}

TEST_F(Ls, UnknownDtypesAreRawUnlessStrict) {
  const std::string file = write("m", {{"a", "F3_WEIRD", {2}, 5}});
  const auto tensor = objects_of(tool({"ls", "--json", file})).at(0).at("tensors").at(0);
  EXPECT_EQ(tensor.at("dtype"), "raw:F3_WEIRD");
  EXPECT_EQ(tensor.at("bytes"), 5);
  EXPECT_TRUE(contains(tool({"ls", file}).out, "raw:F3_WEIRD"));
  EXPECT_EQ(tool({"ls", "--strict", file}).exit_code, 3);
}

TEST_F(Ls, NotesGoToStandardErrorAndToJson) {
  const std::string file = write_text("m", safetensors({{"a"}}) + "trailing");
  EXPECT_EQ(tool({"ls", file}).exit_code, 2);
  const Outcome lenient = tool({"ls", "--lenient", file});
  EXPECT_EQ(lenient.exit_code, 0);
  EXPECT_TRUE(contains(lenient.err, "andiron: " + file + ": note: ")) << lenient.err;
  EXPECT_FALSE(contains(lenient.out, "note"));
  const Outcome json = tool({"ls", "--lenient", "--json", file});
  EXPECT_EQ(json.err, "");
  EXPECT_FALSE(objects_of(json).at(0).at("notes").empty());
}

TEST_F(Ls, ShardsAreNamedWithTheirTensors) {
  write("model-1.safetensors", {{"a"}});
  write("model-2.safetensors", {{"b"}});
  write_text("model.safetensors.index.json",
             std::string(R"({"metadata":{"total_size":8},"weight_map":)"
                         R"({"a":"model-1.safetensors","b":"model-2.safetensors"}})"));
  const auto object = objects_of(tool({"ls", "--json", path("")})).at(0);
  EXPECT_EQ(object.at("container"), "sharded");
  EXPECT_EQ(object.at("tensors").at(0).at("file"), "model-1.safetensors");
  EXPECT_EQ(object.at("tensors").at(1).at("file"), "model-2.safetensors");
}

TEST_F(Ls, ShowsOffsetsWhenAsked) {
  const std::string file = layers();
  const std::size_t data = std::filesystem::file_size(file) - 24 - 8192 - 4;
  const auto lines = lines_of(tool({"ls", "--sort", "offset", "--offsets", file}).out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "NAME              DTYPE  SHAPE        SIZE  OFFSET");
  EXPECT_EQ(lines[1], "layers.10.weight  f32    [2, 3]       24 B     " + std::to_string(data));
  EXPECT_EQ(lines[2],
            "layers.2.weight   f16    [8, 512]  8.0 KiB     " + std::to_string(data + 24));
}

TEST_F(Ls, OffsetsInShardsComeWithTheirFile) {
  write("model-1.safetensors", {{"a"}});
  write_text("model.safetensors.index.json",
             std::string(R"({"weight_map":{"a":"model-1.safetensors"}})"));
  const auto lines = lines_of(tool({"ls", "--offsets", path("")}).out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(contains(lines[0], "OFFSET  FILE")) << lines[0];
  EXPECT_TRUE(contains(lines[1], "  model-1.safetensors")) << lines[1];
}

TEST_F(Ls, ShowsTheNameInTheFileAndAfterEachStepWhenAsked) {
  const std::string file = write("m", {{"opt.step"}, {"net.fc.3.w"}, {"net.fc.1.w"}, {"net.head"}});
  const Outcome run = tool({"ls", "--renames", "--top-level-key", "net", "--sub", "^fc", "layers",
                            "--contiguous-indices", file});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out,
            "NAME        STEP           DTYPE  SHAPE  SIZE\n"
            "net.head    file           f32    []      4 B\n"
            "head        top-level key\n"
            "net.fc.1.w  file           f32    []      4 B\n"
            "fc.1.w      top-level key\n"
            "layers.1.w  remap\n"
            "layers.0.w  index gaps\n"
            "net.fc.3.w  file           f32    []      4 B\n"
            "fc.3.w      top-level key\n"
            "layers.3.w  remap\n"
            "layers.1.w  index gaps\n"
            "opt.step    left out       f32    []      4 B\n"
            "3 tensors, 3 parameters, 12 B\n"
            "3 names change, 1 tensor left out (not under the top-level key)\n");
}

TEST_F(Ls, WithAFilterRenamesAreShownOfWhatItTakes) {
  const std::string file = write("m", {{"opt.step"}, {"net.a"}, {"net.b"}});
  const auto lines =
      lines_of(tool({"ls", "--renames", "--top-level-key", "net", "--include", "b", file}).out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[1], "net.b  file           f32    []      4 B");
  EXPECT_EQ(lines[2], "b      top-level key");
  EXPECT_EQ(lines[4], "1 name changes, 1 tensor left out (not under the top-level key)");
}

TEST_F(Ls, WithoutRenamingRenamesSaysSo) {
  const std::string file = layers();
  const auto lines = lines_of(tool({"ls", "--renames", "--offsets", file}).out);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "NAME              STEP  DTYPE  SHAPE        SIZE  OFFSET");
  EXPECT_EQ(lines[5], "no names change");
  // Nor does a rule that matches nothing.
  EXPECT_EQ(lines_of(tool({"ls", "--renames", "--sub", "^x", "y", file}).out).back(),
            "no names change");
}

TEST_F(Ls, RenamesAddFieldsToTheJson) {
  const std::string file = write("m", {{"opt.step"}, {"net.fc.3.w"}, {"net.x"}});
  const auto object = objects_of(tool({"ls", "--json", "--renames", "--top-level-key", "net",
                                       "--contiguous-indices", "--include", "fc.**", file}))
                          .at(0);
  EXPECT_EQ(object.at("renamed"), 1);
  ASSERT_EQ(object.at("left_out").size(), 1u);
  EXPECT_EQ(object.at("left_out").at(0).at("name"), "opt.step");
  EXPECT_EQ(object.at("left_out").at(0).at("dtype"), "f32");
  ASSERT_EQ(object.at("tensors").size(), 1u);
  const auto& tensor = object.at("tensors").at(0);
  EXPECT_EQ(tensor.at("name"), "fc.0.w");
  EXPECT_EQ(tensor.at("name_in_file"), "net.fc.3.w");
  EXPECT_EQ(tensor.at("renames"), nlohmann::json::parse(R"([
      {"step":"top-level key","name":"fc.3.w"},{"step":"index gaps","name":"fc.0.w"}])"));

  const auto plain = objects_of(tool({"ls", "--json", "--renames", file})).at(0);
  EXPECT_EQ(plain.at("renamed"), 0);
  EXPECT_TRUE(plain.at("left_out").empty());
  EXPECT_FALSE(plain.at("tensors").at(0).contains("renames"));
  EXPECT_FALSE(objects_of(tool({"ls", "--json", file})).at(0).contains("renamed"));
}

TEST_F(Ls, ListsManyTensors) {
  constexpr int count = 5000;
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i) samples.push_back({"t." + std::to_string(count - 1 - i)});
  const Outcome run = tool({"ls", "--json", write("m", samples)});
  const Names names = names_of(objects_of(run).at(0));
  ASSERT_EQ(names.size(), static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < names.size(); ++i) ASSERT_EQ(names[i], "t." + std::to_string(i));
}

}  // namespace
}  // namespace andiron::test
