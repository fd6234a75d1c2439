// SPDX-License-Identifier: MIT OR Apache-2.0
// Follows the first proposal for files and models of real implementations (tests/corpus), and
// compares every tensor that arrives with the truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "andiron/apply.h"
#include "src/adapters/archive_lookup.h"
#include "src/load/fit.h"
#include "src/proposals/proposals.h"
#include "tests/support/long_tests.h"
#include "tests/support/places.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

using nlohmann::json;

// A usual run takes one of so many cases, as a sanitized program takes a second for each.
constexpr std::size_t sample = is_sanitized ? 10 : 1;

// A file of any size, every four bytes of which are another number.
class NumberedSource final : public ByteSource {
 public:
  explicit NumberedSource(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const noexcept override { return size_; }
  const std::string& name() const noexcept override { return name_; }
  static std::uint32_t number_at(std::uint64_t offset) {
    return static_cast<std::uint32_t>((offset / 4) * 2654435761u) >> 1;
  }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::uint64_t at = offset + i;
      out[i] = static_cast<std::byte>(number_at(at) >> (8 * (at % 4)));
    }
    return {};
  }
  std::uint64_t size_;
  std::string name_ = "corpus";
};

// A piece of a tensor of the file.
struct Piece {
  std::size_t tensor;
  std::uint64_t part = 0;
  std::uint64_t of = 1;
  std::uint64_t dim = 0;
};
struct Truth {
  std::vector<Piece> pieces;  // joined; none: nothing feeds it
  std::uint64_t joined_dim = 0;
  bool is_transposed = false;
};

struct Case {
  std::string name;
  std::string kind;
  Archive file;
  std::vector<std::string> file_names;
  std::vector<std::size_t> first_of;  // for each tensor of the file the one it is tied to
  std::vector<detail::WantedTensor> model;
  std::vector<std::string> model_names;  // in PyTorch's layout
  std::vector<bool> is_burn_linear;
  std::vector<Truth> truths;
};

DType dtype_of(const std::string& name) {
  if (name == "i64") return DType::i64;
  if (name == "bool") return DType::boolean;
  if (name == "u8") return DType::u8;
  if (name == "i32") return DType::i32;
  return DType::f32;
}

std::string burn_kind(const std::string& owner) {
  for (const char* kind : {"BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm"}) {
    if (owner.starts_with(kind)) return kind;
  }
  if (owner.ends_with("RMSNorm")) return "RmsNorm";
  return owner == "Linear" ? "Linear" : "";
}

Case read_case(const json& family, const json& given) {
  Case one;
  one.name = family["family"].get<std::string>() + "/" + given["name"].get<std::string>();
  one.kind = given["kind"];
  const json& file = family["listings"][given["file"].get<std::string>()];
  const json& model = family["listings"][given["model"].get<std::string>()];

  std::vector<std::uint64_t> offsets;
  std::vector<Shape> shapes;
  std::uint64_t end = 0;
  std::map<std::string, std::size_t> by_name;
  for (const json& tensor : file["tensors"]) {
    shapes.emplace_back(tensor[2].get<std::vector<std::uint64_t>>());
    offsets.push_back(end);
    end += (shapes.back().byte_count(dtype_of(tensor[1])).value() + 15) / 16 * 16 + 16;
    by_name.emplace(tensor[0], one.file_names.size());
    one.file_names.push_back(tensor[0]);
    one.first_of.push_back(one.file_names.size() - 1);
  }
  if (file.contains("ties")) {
    for (const auto& [name, first] : file["ties"].items()) {
      if (by_name.contains(name) && by_name.contains(first)) {
        one.first_of[by_name[name]] = by_name[first];
      }
    }
  }
  const auto source = std::make_shared<NumberedSource>(end);
  std::vector<std::size_t> order(one.file_names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (given.value("sorted", true)) {
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return one.file_names[a] < one.file_names[b]; });
  }
  for (const std::size_t i : order) {
    const DType dtype = dtype_of(file["tensors"][i][1]);
    const std::uint64_t offset = offsets[one.first_of[i]];
    one.file
        .add(TensorSnapshot::from_source(one.file_names[i], source, offset,
                                         shapes[i].byte_count(dtype).value(), dtype, shapes[i])
                 .value())
        .value();
  }

  const bool is_burn = given.value("layout", "") == "burn";
  std::set<std::string> transposed;
  if (given.contains("transposed")) transposed = given["transposed"].get<std::set<std::string>>();
  for (std::size_t i = 0; i < model["tensors"].size(); ++i) {
    const json& tensor = model["tensors"][i];
    detail::WantedTensor wanted;
    wanted.place.path = tensor[0];
    std::vector<std::uint64_t> shape = tensor[2];
    const std::string kind = is_burn ? burn_kind(tensor[3]) : "";
    const bool is_linear = kind == "Linear" && wanted.place.name() == "weight" && shape.size() == 2;
    if (!kind.empty()) {
      wanted.place.container = Container({"Struct:Model", "Struct:" + kind});
      if (is_linear) std::swap(shape[0], shape[1]);
      if (kind != "Linear" && wanted.place.name() == "weight") {
        wanted.place.path = wanted.place.with_name("gamma");
      } else if (kind != "Linear" && wanted.place.name() == "bias") {
        wanted.place.path = wanted.place.with_name("beta");
      }
    }
    wanted.leaf.dtype = dtype_of(tensor[1]);
    wanted.leaf.shape = Shape(shape);
    one.model.push_back(std::move(wanted));
    one.model_names.push_back(tensor[0]);
    one.is_burn_linear.push_back(is_linear);

    const json& truth = given["truth"][i];
    Truth expected;
    if (truth.is_number()) {
      expected.pieces.push_back({truth.get<std::size_t>()});
    } else if (truth.is_array()) {
      const std::uint64_t dim = truth.size() > 3 ? truth[3].get<std::uint64_t>() : 0;
      expected.pieces.push_back({truth[0], truth[1], truth[2], dim});
    } else if (truth.is_object()) {
      for (const json& part : truth["join"]) expected.pieces.push_back({part.get<std::size_t>()});
      expected.joined_dim = truth.value("dim", 0);
    }
    expected.is_transposed = transposed.contains(tensor[0].get<std::string>()) != is_linear;
    one.truths.push_back(std::move(expected));
  }
  return one;
}

// What should arrive, as an expression over the file.
std::optional<TensorSnapshot> expected_tensor(const Case& one, const Truth& truth) {
  std::vector<TensorSnapshot> parts;
  for (const Piece& piece : truth.pieces) {
    TensorSnapshot tensor = one.file.get(one.file_names[piece.tensor]).value();
    if (piece.of > 1) {
      const auto size = static_cast<std::int64_t>(tensor.shape()[piece.dim] / piece.of);
      const auto part = static_cast<std::int64_t>(piece.part);
      tensor = tensor.slice(piece.dim, part * size, (part + 1) * size).value();
    }
    parts.push_back(std::move(tensor));
  }
  if (parts.empty()) return std::nullopt;
  TensorSnapshot whole =
      parts.size() == 1 ? parts[0] : TensorSnapshot::concat(parts, truth.joined_dim).value();
  return truth.is_transposed ? whole.permute({1, 0}).value() : whole;
}

// Compares the first, the middle and the last row.
bool are_equal(const TensorSnapshot& a, const TensorSnapshot& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  if (a.byte_size() == 0) return true;
  std::vector<std::uint64_t> rows = {0};
  if (a.shape().rank() > 0) rows = {0, a.shape()[0] / 2, a.shape()[0] - 1};
  for (const std::uint64_t row : rows) {
    const auto read = [&](const TensorSnapshot& tensor) {
      if (tensor.shape().rank() == 0) return tensor.read().value();
      const auto begin = static_cast<std::int64_t>(row);
      return tensor.slice(0, begin, begin + 1).value().read().value();
    };
    const Tensor in_a = read(a);
    const Tensor in_b = read(b);
    if (!std::ranges::equal(in_a.bytes().span(), in_b.bytes().span())) return false;
  }
  return true;
}

struct Verdict {
  std::size_t right = 0;
  std::size_t wrong = 0;
  std::size_t unfed = 0;    // although the file has it
  std::size_t refused = 0;  // parameters without a tensor that are not left out by the proposal
  std::string example;
  std::vector<std::string> details;  // of all that are not right
};

// Whether it is a bias without its weight.
bool is_alone(const Case& one, std::size_t i) {
  const std::string& name = one.model_names[i];
  if (!name.ends_with(".bias")) return false;
  const auto weight = std::find(one.model_names.begin(), one.model_names.end(),
                                name.substr(0, name.size() - 4) + "weight");
  return weight != one.model_names.end() &&
         one.truths[static_cast<std::size_t>(weight - one.model_names.begin())].pieces.empty();
}

Verdict judge(const Case& one, const NameOptions& names, const ApplyOptions& options) {
  Verdict verdict;
  const Result<Archive> named = apply_names(one.file, names);
  if (!named) {
    verdict.unfed = verdict.refused = one.model.size();
    verdict.example = named.error().to_string();
    return verdict;
  }
  detail::ArchiveLookup lookup(*named);
  for (std::size_t i = 0; i < one.model.size(); ++i) {
    const detail::WantedTensor& wanted = one.model[i];
    const std::optional<TensorSnapshot> expected = expected_tensor(one, one.truths[i]);
    std::optional<TensorSnapshot> got;
    const bool takes_part = options.filter.matches(wanted.place.path, wanted.place.container);
    if (takes_part) {
      const auto found = options.adapter->load(wanted.place, lookup);
      if (found && *found && detail::fit(**found, wanted.leaf, options.dtype_policy)) got = *found;
    }
    const auto note = [&](const std::string& what) {
      if (verdict.example.empty()) verdict.example = wanted.place.path + ": " + what;
      std::string& line = verdict.details.emplace_back(wanted.place.path + ": " + what);
      for (const Piece& piece : one.truths[i].pieces)
        line += ", not " + one.file_names[piece.tensor];
    };
    if (!got) {
      if (takes_part) ++verdict.refused;
      // The bias of a weight that nothing feeds is of no use.
      if (expected && !is_alone(one, i)) {
        ++verdict.unfed, note("got nothing");
      } else {
        ++verdict.right;
      }
    } else if (!expected) {
      // The same name and shape would be taken without any proposal.
      const bool is_same_name = std::find(one.file_names.begin(), one.file_names.end(),
                                          one.model_names[i]) != one.file_names.end();
      if (is_same_name) {
        ++verdict.right;
      } else {
        ++verdict.wrong, note("got something");
      }
    } else if (are_equal(*got, *expected)) {
      ++verdict.right;
    } else {
      ++verdict.wrong, note("got something else");
    }
  }
  return verdict;
}

struct Tally {
  std::size_t cases = 0;
  std::size_t right = 0;
  std::size_t right_and_sure = 0;
  std::size_t wrong_and_sure = 0;
  std::size_t wrong_and_loads = 0;
  std::size_t wrong_parts = 0;  // parts without guesses
  std::size_t silent = 0;
  std::size_t hints = 0;  // "did you mean"
  std::size_t wrong_hints = 0;
};

class Corpus : public testing::Test {
 protected:
  // Runs one of `every` cases of a folder and prints the table.
  Tally run(const std::string& part, std::size_t every) {
    takes_long("it searches proposals for hundreds of checkpoints");
    std::map<std::string, Tally> by_kind;
    const bool tells_all = std::getenv("ANDIRON_CORPUS_DETAILS") != nullptr;
    const char* only = std::getenv("ANDIRON_CORPUS_ONLY");
    std::size_t count = 0;
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(corpus_folder() + "/" + part)) {
      files.push_back(file.path());
    }
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& path : files) {
      const json family = json::parse(read_file(path.string()));
      for (const json& given : family["cases"]) {
        if (count++ % every != 0) continue;
        const Case one = read_case(family, given);
        if (only != nullptr && one.name.find(only) == std::string::npos) continue;
        const std::string told = take(one, by_kind[one.kind]);
        if (tells_all && !told.empty()) std::cout << one.name << " (" << one.kind << "): " << told;
      }
    }
    return print(part, by_kind);
  }

 private:
  // A hint is right if it names one of the tensors that feed the parameter, or one tied to it.
  static void count_hints(const Case& one, const detail::Guidance& guidance, Tally& tally) {
    for (std::size_t i = 0; i < one.model.size(); ++i) {
      const auto hint = guidance.meant.find(one.model[i].place.path);
      if (hint == guidance.meant.end() || hint->second == one.model_names[i]) continue;
      ++tally.hints;
      const auto& pieces = one.truths[i].pieces;
      const bool is_right = std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        const std::size_t first = one.first_of[piece.tensor];
        for (std::size_t t = 0; t < one.file_names.size(); ++t) {
          if (one.first_of[t] == first && one.file_names[t] == hint->second) return true;
        }
        return false;
      });
      if (!is_right) ++tally.wrong_hints;
    }
  }

  // Whether the part without guesses, which follows a proposal with guesses, feeds something wrong.
  static bool has_wrong_part(const Case& one, const std::vector<Proposal>& proposals) {
    const auto part = std::find_if(proposals.begin(), proposals.end(), [](const Proposal& other) {
      return !other.is_guess() && other.text.find("(averaged weights)") == std::string::npos;
    });
    if (part == proposals.end()) return false;
    NameOptions names;
    ApplyOptions options;
    apply_proposal(*part, names, options);
    return judge(one, names, options).wrong > 0;
  }

  static std::string take(const Case& one, Tally& tally) {
    ++tally.cases;
    const NameOptions no_names;
    const ApplyOptions no_options;
    const detail::LoadSource source = {one.file, no_names, one.file};
    const auto start = std::chrono::steady_clock::now();
    const detail::Guidance guidance = detail::guide({one.model, one.model, source, no_options});
    const std::vector<Proposal>& proposals = guidance.proposals;
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (std::getenv("ANDIRON_CORPUS_TIMES") != nullptr) {
      std::cout << one.name << ": " << time.count() << " s\n";
    }
    count_hints(one, guidance, tally);
    NameOptions names;
    ApplyOptions options;
    const bool is_silent = proposals.empty();
    if (!is_silent) apply_proposal(proposals.front(), names, options);
    const Verdict verdict = judge(one, names, options);
    const bool is_right = verdict.wrong == 0 && verdict.unfed == 0;
    const bool is_guess = !is_silent && proposals.front().is_guess();
    if (is_guess && has_wrong_part(one, proposals)) ++tally.wrong_parts;
    if (is_right) {
      ++tally.right;
      if (!is_guess) ++tally.right_and_sure;
      if (!is_guess || std::getenv("ANDIRON_CORPUS_CODE") == nullptr) return {};
      std::string told = "right, but\n";
      for (const ProposedStep& step : proposals.front().steps) {
        if (step.is_guess) told += "    " + step.to_string() + "\n";
      }
      return told;
    }
    if (is_silent) ++tally.silent;
    if (!is_silent && !is_guess && verdict.wrong > 0) ++tally.wrong_and_sure;
    if (!is_silent && verdict.wrong > 0 && verdict.refused == 0) ++tally.wrong_and_loads;
    std::string told = std::to_string(verdict.right) + " right, " + std::to_string(verdict.wrong) +
                       " wrong, " + std::to_string(verdict.unfed) + " not fed" +
                       (is_silent  ? ", silent"
                        : is_guess ? ", a guess"
                                   : ", SURE") +
                       "; " + verdict.example + "\n";
    if (!is_silent && std::getenv("ANDIRON_CORPUS_CODE") != nullptr) {
      told += proposals.front().text + "\n" + proposals.front().code + "\n";
    }
    if (std::getenv("ANDIRON_CORPUS_CODE") != nullptr) {
      for (const std::string& line : verdict.details) told += "    " + line + "\n";
    }
    return told;
  }

  static Tally print(const std::string& part, const std::map<std::string, Tally>& by_kind) {
    Tally all;
    std::cout << std::left << std::setw(12) << part << std::right << std::setw(8) << "cases"
              << std::setw(8) << "right" << std::setw(8) << "sure" << std::setw(12) << "wrong+sure"
              << std::setw(13) << "wrong+loads" << std::setw(8) << "silent" << std::setw(8)
              << "hints" << std::setw(13) << "wrong hints" << '\n';
    const auto line = [](const std::string& kind, const Tally& one) {
      std::cout << std::left << std::setw(12) << kind << std::right << std::setw(8) << one.cases
                << std::setw(8) << one.right << std::setw(8) << one.right_and_sure << std::setw(12)
                << one.wrong_and_sure << std::setw(13) << one.wrong_and_loads << std::setw(8)
                << one.silent << std::setw(8) << one.hints << std::setw(13) << one.wrong_hints
                << '\n';
    };
    for (const auto& [kind, one] : by_kind) {
      line(kind, one);
      all.cases += one.cases;
      all.right += one.right;
      all.right_and_sure += one.right_and_sure;
      all.wrong_and_sure += one.wrong_and_sure;
      all.wrong_and_loads += one.wrong_and_loads;
      all.wrong_parts += one.wrong_parts;
      all.silent += one.silent;
      all.hints += one.hints;
      all.wrong_hints += one.wrong_hints;
    }
    line("all", all);
    return all;
  }
};

TEST_F(Corpus, FirstProposalsForTheFamiliesThatWereLookedAtAreRight) {
  const Tally all = run("tuning", is_long_run() ? 1 : 16 * sample);
  // A sample has other shares than the whole.
  EXPECT_GE(all.right * 100, all.cases * 85);
  EXPECT_LE(all.wrong_and_sure, 1u);
  if (!is_long_run()) return;
  EXPECT_GE(all.right * 1000, all.cases * 915);
  EXPECT_GE(all.right_and_sure * 100, all.cases * 79);
  EXPECT_LE(all.wrong_and_loads * 1000, all.cases * 35);
  EXPECT_LE(all.wrong_hints * 100, all.hints * 3);
}

TEST_F(Corpus, FirstProposalsForFamiliesThatOthersChoseAreRight) {
  const Tally all = run("held_out", is_long_run() ? 1 : sample);
  EXPECT_EQ(all.wrong_and_sure, 0u);
  if (sample != 1 && !is_long_run()) return;
  EXPECT_GE(all.right * 1000, all.cases * 985);
  EXPECT_GE(all.right_and_sure * 100, all.cases * 88);
  EXPECT_EQ(all.wrong_and_loads, 0u);
  EXPECT_LE(all.wrong_hints * 100, all.hints * 3);
}

TEST_F(Corpus, FirstProposalsForModelsThatUsersWriteSayWhereTheyGuess) {
  const Tally all = run("ports", is_long_run() ? 1 : 4 * sample);
  EXPECT_EQ(all.wrong_and_sure, 0u);
  EXPECT_LE(all.wrong_parts, 1u);
  if (!is_long_run()) return;
  EXPECT_GE(all.right * 100, all.cases * 78);
  EXPECT_LE(all.wrong_hints * 100, all.hints * 3);
}

}  // namespace
}  // namespace andiron::test
