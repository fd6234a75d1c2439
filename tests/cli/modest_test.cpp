// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tool takes for hostile files: memory and time in proportion to their size.
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/sample_files.h"
#include "tests/support/modest.h"
#include "tests/support/npy_file.h"
#include "tests/support/pickle_writing.h"
#include "tests/support/records_in_turn.h"
#include "tests/support/zip_writing.h"

namespace andiron::test {
namespace {

class Modest : public ToolTest {
 protected:
  // All verbs that only read.
  std::vector<Outcome> show(const std::string& content) const {
    const std::string file = write_text("file.pt", content);
    std::vector<Outcome> outcomes;
    for (const std::vector<std::string>& verb : {std::vector<std::string>{"ls"},
                                                 {"ls", "--json"},
                                                 {"info"},
                                                 {"info", "--json"},
                                                 {"config"},
                                                 {"config", "--json"},
                                                 {"ls", "--renames", "--json"},
                                                 {"ls", "--json", "--lenient"}}) {
      std::vector<std::string> command = {tool_path()};
      command.insert(command.end(), verb.begin(), verb.end());
      command.push_back(file);
      outcomes.push_back(run_modestly(command, content.size()));
    }
    return outcomes;
  }

  static std::string zip_with(const Py& root) {
    return zip_file({torch_item("a/data.pkl", py::pickle(root)),
                     torch_item("a/data/0", std::string(4, '\0')), torch_item("a/version", "3\n")});
  }
  static Py tensor() {
    return py::rebuild_tensor_v2(py::storage("FloatStorage", "0", 1), 0, {1}, {1});
  }
  static Py list_of(const Py& value, std::size_t times) {
    py::Values values(times, py::get(99));
    values[0] = py::put(99, value);
    return py::list(values);
  }
};

TEST_F(Modest, NamesThatRepeatByReference) {
  std::string code = "\x80\2" + py::put(0, tensor()).code;
  for (std::uint32_t level = 0; level < 20; ++level) {
    code += "0" + py::put(level + 1, py::list(py::Values(10, py::get(level)))).code;
  }
  const std::string file =
      zip_file({torch_item("a/data.pkl", code + "."), torch_item("a/data/0", std::string(4, '\0')),
                torch_item("a/version", "3\n")});
  for (const Outcome& outcome : show(file)) {
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(contains(outcome.err, "raise it with --max-memory if you trust the file"))
        << outcome.err;
  }
}

// As many as the budget just allows, so that all of them are printed.
TEST_F(Modest, AllThatMayBeListed) {
  const std::string key(1000, '\x01');
  show(zip_with(py::dict({{key, list_of(tensor(), 600)}})));
  show(zip_with(list_of(tensor(), 10'000)));
}

TEST_F(Modest, ManyNamesTiedToALongOne) {
  py::Pairs entries = {{std::string(60'000, 'A'), py::put(7, tensor())}};
  for (int i = 0; i < 4000; ++i) entries.emplace_back(std::to_string(i), py::get(7));
  const std::vector<Outcome> outcomes = show(zip_with(py::dict(entries)));
  EXPECT_TRUE(contains(outcomes[1].out, "alias_of is left out for ")) << outcomes[1].err;
}

TEST_F(Modest, ATableWithOneLongName) {
  std::vector<Sample> tensors = {{std::string(60'000, 'a'), "U8", {1}, 1}};
  for (int i = 0; i < 5000; ++i) tensors.push_back({std::to_string(i), "U8", {1}, 1});
  const std::string file = write("names.safetensors", tensors);
  const std::size_t bytes = std::filesystem::file_size(file);
  const Outcome outcome = run_modestly({tool_path(), "ls", "--wide", file}, bytes);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_LT(outcome.out.size(), 4 * bytes);
}

TEST_F(Modest, ManyShapesOfManyDimensions) {
  std::vector<std::int64_t> shape(64, std::int64_t{1} << 62);
  shape[0] = 0;
  const Py huge = py::rebuild_tensor_v2(py::storage("FloatStorage", "0", 1), 0, shape,
                                        std::vector<std::int64_t>(64, 1));
  show(zip_with(list_of(huge, 12'000)));
}

TEST_F(Modest, ValuesThatCannotBeShown) {
  const std::string text(60'000, 'x');
  const std::vector<Outcome> outcomes =
      show(zip_with(py::dict({{"w", tensor()}, {"bomb", list_of(text, 5000)}})));
  // config shows nothing else, so there it is an error.
  for (const Outcome& outcome : outcomes) {
    const bool is_config = &outcome == &outcomes[4] || &outcome == &outcomes[5];
    EXPECT_EQ(outcome.exit_code, is_config ? 2 : 0) << outcome.err;
  }
  const std::string note = "the values beside the tensors are not shown: ";
  EXPECT_FALSE(contains(outcomes[0].out + outcomes[0].err, note));
  EXPECT_TRUE(contains(outcomes[1].out, note));
  EXPECT_TRUE(contains(outcomes[2].out, note));
  EXPECT_TRUE(contains(outcomes[3].out, "raise it with --max-memory if you trust the file"));
  EXPECT_EQ(objects_of(outcomes[1]).at(0)["tensors"].size(), 1u);
}

// Under a long key, each value once got that key in its name.
TEST_F(Modest, ValuesUnderALongKey) {
  py::Values values(19, Py(1));
  values.resize(50'000, Py(nullptr));
  const std::vector<Outcome> outcomes =
      show(py::pickle(py::dict({{std::string(60'000, 'k'), py::list(values)}})));
  EXPECT_EQ(outcomes[2].exit_code, 0) << outcomes[2].err;
}

TEST_F(Modest, MemoryIsWhatMaxMemorySays) {
  std::string file = write_text("file.pt", zip_with(list_of(tensor(), 500)));
  EXPECT_EQ(tool({"ls", file}).exit_code, 0);
  const Outcome lowered = tool({"ls", "--max-memory", "64K", file});
  EXPECT_EQ(lowered.exit_code, 2);
  EXPECT_TRUE(contains(lowered.err, "at most 65536")) << lowered.err;
  EXPECT_TRUE(contains(lowered.err, "--max-memory")) << lowered.err;
  file = write_text("file.pt", zip_with(list_of(tensor(), 100'000)));
  EXPECT_EQ(tool({"ls", file}).exit_code, 2);
  EXPECT_EQ(tool({"ls", "--max-memory", "1G", file}).exit_code, 0);
}

// Beyond what the program takes anyway.
TEST_F(Modest, MaxMemoryHoldsForHeadersThatInflate) {
  if (is_sanitized || is_emulated()) GTEST_SKIP() << "memory is not what it is";
  const std::string small = write_text("small.npz", npz_of_long_headers(1));
  const std::string large = write_text("large.npz", npz_of_long_headers(1500));
  for (const char* more : {"--verify", "--lenient"}) {
    const auto peak = [&](const std::string& file) {
      const MeasuredOutcome outcome =
          run_measured({tool_path(), "ls", "--max-memory", "16M", more, file});
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      return outcome.peak_bytes;
    };
    EXPECT_LE(peak(large), peak(small) + (std::uint64_t{16} << 20)) << more;
  }
}

// Tensors lie in records of many sizes in turn, and eight threads read them.
TEST_F(Modest, MaxMemoryHoldsForRecordsThatInflate) {
  if (is_sanitized || is_emulated()) GTEST_SKIP() << "memory is not what it is";
  const TurnsFile few = {.record_floats = {1000}};
  TurnsFile many = {.record_floats = {}, .tensors_of_each = 200};
  for (std::size_t i = 0; i < 6; ++i) many.record_floats.push_back((2'600'000 + i * 300'000));
  const std::string small = write_text("small.pt", few.zip());
  const std::string large = write_text("large.pt", many.zip());
  const std::vector<std::vector<std::string>> verbs = {
      {"hash"}, {"stat"}, {"diff", small}, {"diff", large}};
  for (std::vector<std::string> verb : verbs) {
    const auto peak = [&](const std::string& file) {
      std::vector<std::string> command = {tool_path()};
      command.insert(command.end(), verb.begin(), verb.end());
      for (const char* more : {"--threads", "8", "--max-memory", "64M"}) command.push_back(more);
      command.push_back(file);
      const MeasuredOutcome outcome = run_measured(command);
      EXPECT_LE(outcome.exit_code, 1) << outcome.err;
      return outcome.peak_bytes;
    };
    EXPECT_LE(peak(large), peak(small) + (std::uint64_t{64} << 20)) << verb[0];
  }
}

}  // namespace
}  // namespace andiron::test
