// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron hash: digests known from elsewhere, whatever the threads and the memory.
#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Hash : public ToolTest {
 protected:
  // SHA-256 of nothing, of the bytes 0 1 2 3, and of a million bytes that count up modulo 256.
  const std::string of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const std::string of_four = "054edec1d0211f624fed0cbca9d4f9400b0e491c43742af2c5b0abebf0c990d8";
  const std::string of_million = "67870dfc9c64e7aa270a3f7e8051ae65d207f93fc3df04d7572e6365af69cd0d";

  std::string sample() const {
    return write(
        "m.safetensors",
        {{"t.10", "F32", {0, 7}, 0}, {"t.2", "F32", {1}, 4}, {"t.3", "U8", {1000, 1000}, 1000000}});
  }
};

TEST_F(Hash, PrintsShortDigestsInATable) {
  const Outcome run = tool({"hash", sample()});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out,
            "NAME  SHA-256 (START)\n"
            "t.2   " +
                of_four.substr(0, 16) +
                "\n"
                "t.3   " +
                of_million.substr(0, 16) +
                "\n"
                "t.10  " +
                of_nothing.substr(0, 16) + "\n");
}

TEST_F(Hash, FullDigestsLookLikeThoseOfSha256sum) {
  const Outcome run = tool({"hash", "--full", sample()});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, of_four + "  t.2\n" + of_million + "  t.3\n" + of_nothing + "  t.10\n");
}

TEST_F(Hash, JsonAddsTheDigestToEveryTensor) {
  const auto object = objects_of(tool({"hash", "--json", sample()})).at(0);
  EXPECT_EQ(names_of(object), (Names{"t.2", "t.3", "t.10"}));
  EXPECT_EQ(object.at("tensors").at(0).at("sha256"), of_four);
  EXPECT_EQ(object.at("tensors").at(1).at("sha256"), of_million);
  EXPECT_EQ(object.at("tensors").at(2).at("sha256"), of_nothing);
}

TEST_F(Hash, TheResultDoesNotDependOnThreadsMemoryOrIo) {
  const std::string file = sample();
  const std::string expected = tool({"hash", "--full", "--threads", "1", file}).out;
  EXPECT_EQ(lines_of(expected).size(), 3u);
  for (const std::vector<std::string>& way : {std::vector<std::string>{"--threads", "7"},
                                              {"--threads", "1024"},
                                              {"--max-memory", "64K"},
                                              {"--max-memory", "100KB", "--threads", "3"},
                                              {"--io", "mmap"},
                                              {"--io", "pread"},
                                              {"--io", "direct"},
                                              {"--io", "auto"}}) {
    std::vector<std::string> arguments = {"hash", "--full", file};
    arguments.insert(arguments.end(), way.begin(), way.end());
    const Outcome run = tool(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, expected);
  }
}

TEST_F(Hash, ManyTensorsKeepTheirOrder) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < 300; ++i) {
    samples.push_back({"t." + std::to_string(i), "U8", {i % 7}, i % 7});
  }
  const std::string file = write("m", samples);
  const Outcome run = tool({"hash", "--json", "--threads", "8", file});
  EXPECT_EQ(run.out, tool({"hash", "--json", "--threads", "1", file}).out);
  const auto tensors = objects_of(run).at(0).at("tensors");
  ASSERT_EQ(tensors.size(), 300u);
  for (std::size_t i = 7; i < 300; ++i) {
    EXPECT_EQ(tensors.at(i).at("name"), "t." + std::to_string(i));
    EXPECT_EQ(tensors.at(i).at("sha256"), tensors.at(i % 7).at("sha256"));
  }
}

TEST_F(Hash, OnlySelectedTensorsAreHashed) {
  const Outcome run = tool({"hash", "--full", "--exclude", "t.3", "--sort", "size", sample()});
  EXPECT_EQ(run.out, of_four + "  t.2\n" + of_nothing + "  t.10\n");
}

TEST_F(Hash, NamesInFullLinesStayOnOneLine) {
  const Outcome run = tool({"hash", "--full", write("m", {{"a\nb"}})});
  EXPECT_EQ(run.out, of_four + "  a\\nb\n");
}

}  // namespace
}  // namespace andiron::test
