// SPDX-License-Identifier: MIT OR Apache-2.0
// Exit codes, error lines, the tool's own words, and a standard output that does not take what it
// is given.
#include "cli/report.h"

#include <regex>

#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Report : public ToolTest {};

TEST_F(Report, AMissingFileIsOneLineAndExitCode2) {
  const std::string file = path("missing.safetensors");
  for (const char* verb : {"ls", "info", "hash"}) {
    const Outcome run = tool({verb, file});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
    EXPECT_EQ(run.err.rfind("andiron: " + file + ": ", 0), 0u) << run.err;
  }
}

TEST_F(Report, SomethingThatIsNoWeightFileIsExitCode3) {
  EXPECT_EQ(tool({"ls", write_text("empty", "")}).exit_code, 3);
  EXPECT_EQ(tool({"ls", write_text("text", "hello, this is text")}).exit_code, 3);
}

TEST_F(Report, AMalformedFileIsExitCode2) {
  std::string file = safetensors({{"a", "F32", {2}, 8}});
  file.pop_back();
  const Outcome run = tool({"ls", write_text("cut.safetensors", file)});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
}

TEST_F(Report, JsonErrorsGoToBothOutputs) {
  const std::string file = path("missing");
  const Outcome run = tool({"info", "--json", file});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(lines_of(run.err).size(), 1u);
  const auto object = objects_of(run).at(0);
  EXPECT_EQ(object.at("schema"), 1);
  EXPECT_EQ(object.at("path"), file);
  EXPECT_EQ(object.at("error").at("code"), "NotFound");
  EXPECT_FALSE(object.at("error").at("message").get<std::string>().empty());
  EXPECT_EQ(object.size(), 3u);
}

TEST_F(Report, ErrorLinesCannotSpeakToTheTerminal) {
  const Outcome run = tool({"ls", path("a\nb\x1b[31m\u202e\xff")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(lines_of(run.err).size(), 1u);
  EXPECT_TRUE(contains(run.err, "a\\nb\\x1b[31m\\u202e\\xff")) << run.err;
}

// Every setting that advice of the library names where the tool can hear it. New advice of that
// kind gets a row here and in cli/report.cpp.
struct Advice {
  const char* in_library;
  const char* in_tool;
};
constexpr Advice advice[] = {
    {"the model seems to be under the key 'model'; use .with_top_level_key(\"model\")",
     "the model seems to be under the key 'model'; use --top-level-key 'model'"},
    {"that is a tensor itself; omit the top-level key",
     "that is a tensor itself; omit --top-level-key"},
    {"; .fold_weight_norm(true) computes the weights", "; --fold-weight-norm computes the weights"},
    {"; use DTypePolicy::cast_to_module to keep the module's",
     "; use 'convert --cast' to keep the module's"},
    {"rename one of them first, or leave one out", "use --sub to give them different names"},
    {"rename one of them", "rename one of them with --sub"},
    {"rename one of the tensors", "rename one of the tensors with --sub"},
    {"rename the tensor", "rename the tensor with --sub"},
    {"only Strictness::strict refuses it", "only --strict refuses it"},
    {"the download may be incomplete; Strictness::lenient reads what is there",
     "the download may be incomplete; --lenient reads what is there"},
    {"read it without OpenOptions::verify", "read it without --verify"},
    {"read a copy, or open the file with IoMode::automatic",
     "read a copy, or open the file with --io auto"},
    {"open it with IoMode::pread", "open it with --io pread"},
    {"a NumPy array; set PytorchSettings::numpy_arrays to read it",
     "a NumPy array; use --numpy-arrays to read it"},
    {"raise Limits::tensors if you trust the file", "only the library can raise this limit"},
    {"raise Limits::header_bytes if you trust the file; it may not be a SafeTensors file",
     "only the library can raise this limit; it may not be a SafeTensors file"},
    {"shared by too many names; raise Limits::pickle_repeats if you trust the file",
     "shared by too many names; only the library can raise this limit"},
    {"read it in parts, or borrow it from a mapped file", "free some memory and try again"},
    {"load it with load_from(model, BurnpackStore::from_file(...))",
     "only the library can read it, into a module"},
    {"pass .overwrite(true) to replace it, or choose another name",
     "use --force to replace it, or choose another name"},
    {"or set WriteOptions::format", "or use --to"},
    {"split it with WriteOptions::max_shard_bytes", "split it with --max-shard-size"},
    {"raise WriteOptions::limits to write a file that Burn's reader refuses",
     "use --beyond-burn to write a file that Burn's reader refuses"},
    {"1 parameter id was left out; set SafetensorsSettings::param_ids to keep it",
     "1 parameter id was left out; use --param-ids to keep it"},
    {"leave it out, or set another BurnpackSettings::release",
     "drop it with --exclude, or use another --burn-release"},
    {"use a higher precision, or leave the tensor out",
     "use a higher --precision, or drop it with --exclude"},
    {"write SafeTensors, which PyTorch can read; for a module, add "
     ".with_to_adapter(BurnToPyTorchAdapter())",
     "write SafeTensors, which PyTorch can read"},
    {"cast it to f32, or leave it out", "convert it to f32 with --cast, or drop it with --exclude"},
    {"leave the tensor out, or leave it uncast", "drop it with --exclude, or do not cast it"},
    {"set LayoutChange::is_forced if burn is its layout",
     "say --from-layout burn if that is its layout"},
    {"load them with PyTorchToBurnAdapter, or set ConvertOptions::layout",
     "load them with PyTorchToBurnAdapter, or see --to-layout"},
    {"leave it out", "drop it with --exclude"},
};

TEST_F(Report, AdviceOfTheLibraryIsInTheWordsOfTheTool) {
  const std::regex in_cpp(R"(::|\.with_|\(true\)|Options|Settings|Limits)");
  const std::regex flag("--[a-z-]+");
  const std::string page = read_file(tool_page());
  for (const auto& [in_library, in_tool] : advice) {
    const std::string said = cli::in_flags(std::string(in_library));
    EXPECT_EQ(said, in_tool);
    EXPECT_FALSE(std::regex_search(said, in_cpp)) << said;
    for (std::sregex_iterator at(said.begin(), said.end(), flag), end; at != end; ++at) {
      EXPECT_TRUE(contains(page, "`" + at->str() + "`") || contains(page, "`" + at->str() + " "))
          << said << " names an option that docs/tool.md does not";
    }
  }
}

TEST_F(Report, AdviceWithoutASpellingOfTheToolStaysAsItIs) {
  for (const char* text : {"", "try again", "use Unknown::setting", ".with_top_level_key(",
                           "raise Limits::tensors, or filter", "cast it to f32"}) {
    EXPECT_EQ(cli::in_flags(std::string(text)), text);
  }
}

TEST_F(Report, AdviceAboutMemoryNamesTheOptionThatLoweredTheLimit) {
  const std::string large(70'000, 'x');
  const std::string file = write("m", {{large.substr(0, 40'000)}, {large.substr(0, 40'001)}});
  const Outcome lowered = tool({"ls", "--max-memory", "64K", file});
  EXPECT_EQ(lowered.exit_code, 2);
  EXPECT_TRUE(contains(lowered.err, "expected at most 65536; raise --max-memory\n")) << lowered.err;
}

TEST_F(Report, AFullDiskIsAnError) {
  const std::string file = write("m", {{"a"}});
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"ls", file}, {"--help"}, {"hash", "--json", file}}) {
    const Outcome run = tool(arguments, {}, "/dev/full");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
  }
}

TEST_F(Report, AReaderThatLeavesEndsTheToolQuietly) {
  std::vector<Sample> samples;
  for (int i = 0; i < 5000; ++i) samples.push_back({"tensor.number." + std::to_string(i)});
  const std::string file = write("m", samples);
  const Outcome run = andiron::test::run(
      {"sh", "-c", "{ \"$1\" ls \"$2\" \"$2\"; echo \"code $?\" >&2; } | head -n 1 >/dev/null",
       "sh", tool_path(), file});
  EXPECT_EQ(run.err, "code 0\n");
}

}  // namespace
}  // namespace andiron::test
