// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron stat: tables, histograms, JSON and the gate for NaN.
#include <cmath>
#include <limits>

#include "tests/cli/number_files.h"

namespace andiron::test {
namespace {

class Stat : public NumberFileTest {
 protected:
  std::string clean() const {
    return write_tensors("clean.safetensors",
                         {floats("t.10", {1, 2, 3, 4}, {2, 2}), floats("t.2", {0, 0, 0, 1.5f}),
                          floats("empty", {})});
  }
  std::string broken() const {
    return write_tensors("broken.safetensors",
                         {floats("good", {1, 2}), floats("nan", {NAN, 2, NAN}),
                          floats("inf", {1, -INFINITY, 3}), floats("both", {NAN, INFINITY})});
  }
};

TEST_F(Stat, PrintsATableAndTotals) {
  const Outcome run = tool({"stat", clean()});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out,
            "NAME   DTYPE  SHAPE   MIN  MAX   MEAN   STD  ZEROS\n"
            "empty  f32    [0]       -    -      -     -      -\n"
            "t.2    f32    [4]       0  1.5  0.375  0.65  75.0%\n"
            "t.10   f32    [2, 2]    1    4    2.5  1.12     0%\n"
            "3 tensors, 8 parameters, 32 B, no NaN or infinity\n");
}

TEST_F(Stat, ShowsNanAndInfinityWhereThereAreAny) {
  const Outcome run = tool({"stat", broken()});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out,
            "NAME  DTYPE  SHAPE  MIN  MAX  MEAN  STD  ZEROS  NAN  INF\n"
            "both  f32    [2]      -    -     -    -     0%    1    1\n"
            "good  f32    [2]      1    2   1.5  0.5     0%    -    -\n"
            "inf   f32    [3]      1    3     2    1     0%    -    1\n"
            "nan   f32    [3]      2    2     2    0     0%    2    -\n"
            "4 tensors, 10 parameters, 40 B, NaN in 2 tensors, infinity in 2 tensors\n");
}

TEST_F(Stat, CheckNamesTheTensorsThatAreNotFiniteAndExitsWith1) {
  const std::string bad = broken();
  const std::string good = clean();
  const Outcome run = tool({"stat", "--check", good, bad});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, good + ": no NaN or infinity in 3 tensors\n" + bad +
                         ": tensor 'both': 1 NaN and 1 infinity among 2 elements\n" + bad +
                         ": tensor 'inf': 1 infinity among 3 elements\n" + bad +
                         ": tensor 'nan': 2 NaN among 3 elements\n");
  EXPECT_EQ(tool({"stat", "--check", good}).exit_code, 0);
  EXPECT_EQ(tool({"stat", "--check", "--include", "good", bad}).exit_code, 0);
  EXPECT_EQ(tool({"stat", "--check", "--json", bad}).exit_code, 1);
  // What cannot be read is graver than what was found.
  EXPECT_EQ(tool({"stat", "--check", bad, path("missing")}).exit_code, 2);
}

TEST_F(Stat, JsonHasAllNumbers) {
  const auto object = objects_of(tool({"stat", "--json", "--bins", "2", clean()})).at(0);
  EXPECT_EQ(names_of(object), (Names{"empty", "t.2", "t.10"}));
  const auto& last = object.at("tensors").at(2).at("statistics");
  EXPECT_EQ(last.at("count"), 4);
  EXPECT_EQ(last.at("zeros"), 0);
  EXPECT_EQ(last.at("nan"), 0);
  EXPECT_EQ(last.at("min"), 1);
  EXPECT_EQ(last.at("max"), 4);
  EXPECT_EQ(last.at("abs_max"), 4);
  EXPECT_EQ(last.at("mean"), 2.5);
  EXPECT_EQ(last.at("std"), std::sqrt(1.25));
  EXPECT_EQ(last.at("l2"), std::sqrt(30.0));
  EXPECT_EQ(last.at("histogram"),
            nlohmann::json::parse(R"({"low": 1.0, "high": 4.0, "counts": [2, 2]})"));
}

TEST_F(Stat, JsonIsValidWithoutNumbers) {
  const auto object = objects_of(tool({"stat", "--json", broken()})).at(0);
  const auto& both = object.at("tensors").at(0).at("statistics");
  EXPECT_EQ(both.at("nan"), 1);
  EXPECT_EQ(both.at("positive_infinity"), 1);
  EXPECT_EQ(both.at("negative_infinity"), 0);
  for (const char* field : {"min", "max", "abs_max", "mean", "std"}) {
    EXPECT_TRUE(both.at(field).is_null()) << field;
  }
  EXPECT_EQ(both.at("l2"), 0);
  EXPECT_FALSE(both.contains("histogram"));
  const Tensor huge = Tensor::from_values<double>({2}, {std::numeric_limits<double>::max(),
                                                        std::numeric_limits<double>::max()})
                          .value();
  const std::string file = write_tensors("huge.safetensors", {{"h", huge}});
  EXPECT_EQ(objects_of(tool({"stat", "--json", file}))[0]["tensors"][0]["statistics"]["l2"],
            "Infinity");
}

TEST_F(Stat, WideIntegersKeepTheirDigits) {
  const Tensor wide =
      Tensor::from_values<std::int64_t>({2}, {-9007199254740993, 9223372036854775807}).value();
  const std::string file = write_tensors("wide.safetensors", {{"i", wide}});
  const Outcome run = tool({"stat", "--json", file});
  EXPECT_TRUE(contains(run.out, "\"min\":-9007199254740993,\"max\":9223372036854775807"))
      << run.out;
  EXPECT_TRUE(contains(tool({"stat", "--wide", file}).out, "-9007199254740993")) << run.out;
  EXPECT_TRUE(contains(tool({"stat", file}).out, "-9.01e+15"));
}

TEST_F(Stat, HistogramsAreBarsWithinTheWidth) {
  const Outcome run = tool({"stat", "--bins", "3", "--include", "t.*", clean()});
  EXPECT_EQ(run.exit_code, 0);
  const auto lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 16u) << run.out;
  EXPECT_EQ(lines[5], "t.2  f32 [4]");
  EXPECT_EQ(lines[6], "        0  3  " + std::string(66, '#'));
  EXPECT_EQ(lines[7], "      0.5  0");
  EXPECT_EQ(lines[8], "        1  1  " + std::string(22, '#'));
  EXPECT_EQ(lines[9], "      1.5");
  // 16 bins, and the end of the last.
  EXPECT_EQ(lines_of(tool({"stat", "--histogram", "--include", "t.2", clean()}).out).size(), 22u);
  const std::string equal = write_tensors("equal.safetensors", {floats("e", {7, 7})});
  EXPECT_EQ(lines_of(tool({"stat", "--histogram", equal}).out).size(), 6u);
}

TEST_F(Stat, TheResultDoesNotDependOnThreadsMemoryOrIo) {
  const std::string file = write("m.safetensors", {{"t.1", "F32", {500, 1000}, 2000000},
                                                   {"t.2", "BF16", {700, 700}, 980000},
                                                   {"t.3", "U8", {1000}, 1000}});
  const std::string expected = tool({"stat", "--json", "--bins", "4", "--threads", "1", file}).out;
  for (const std::vector<std::string>& way : {std::vector<std::string>{"--threads", "7"},
                                              {"--threads", "1024"},
                                              {"--max-memory", "64K"},
                                              {"--max-memory", "100KB", "--threads", "3"},
                                              {"--io", "mmap"},
                                              {"--io", "direct"}}) {
    std::vector<std::string> arguments = {"stat", "--json", "--bins", "4", file};
    arguments.insert(arguments.end(), way.begin(), way.end());
    const Outcome run = tool(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, expected);
  }
}

TEST_F(Stat, TensorsThatAreNotNumbersAreListedWithAReason) {
  const std::string file = write("raw.safetensors", {{"known"}, {"r\x1b", "F128", {1}, 16}});
  const Outcome run = tool({"stat", file});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(lines_of(run.out).size(), 4u);
  EXPECT_TRUE(contains(run.err, "tensor 'r\\x1b' has no statistics: ")) << run.err;
  EXPECT_EQ(tool({"stat", "--check", file}).out,
            file + ": no NaN or infinity in 1 tensor, 1 not checked\n");
  const auto object = objects_of(tool({"stat", "--json", file})).at(0);
  const auto& statistics = object.at("tensors").at(1).at("statistics");
  EXPECT_EQ(statistics.at("count"), 1);
  EXPECT_FALSE(statistics.at("reason").get<std::string>().empty());
  EXPECT_FALSE(statistics.contains("min"));
}

TEST_F(Stat, ReadsEveryFormatAndAppliesNames) {
  const std::vector<TensorSnapshot> tensors = {floats("net.w", {1, 2, 3}), floats("net.b", {-1})};
  std::string expected;
  for (const char* name : {"m.safetensors", "m.bpk", "m.npz", "m.mpk"}) {
    const Outcome run = tool({"stat", "--sub", "^net\\.", "", write_tensors(name, tensors)});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    if (expected.empty()) expected = run.out;
    EXPECT_EQ(run.out, expected);
  }
  EXPECT_TRUE(contains(expected, "\nw "));
}

TEST_F(Stat, WrongUsageIsExitCode4) {
  for (const char* bins : {"0", "-1", "x", "10001"}) {
    EXPECT_EQ(tool({"stat", "--bins", bins, clean()}).exit_code, 4) << bins;
  }
  EXPECT_EQ(tool({"stat"}).exit_code, 4);
}

}  // namespace
}  // namespace andiron::test
