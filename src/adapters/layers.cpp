// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/adapters/layers_test.cpp
#include "andiron/layers.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "andiron/adapter.h"
#include "andiron/text.h"
#include "src/core/check_limit.h"
#include "src/core/parse_index.h"
#include "src/core/path_segments.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

using detail::in_quotes;
using detail::parent_path;

constexpr std::string_view other_kind = "other";
// Each takes some kilobytes.
constexpr std::uint64_t most_globs = 1024;
constexpr std::string_view root_glob = ".";  // the model itself, whose path is empty

std::string_view last_segment(std::string_view path) {
  const std::string_view parent = parent_path(path);
  return path.substr(parent.empty() ? 0 : parent.size() + 1);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// ---- Guesses ----

// The parameters of a module, by their last segments.
using Parameters = std::map<std::string_view, TensorInfo>;

struct Guess {
  std::string kind;
  std::string reason;
};

std::string shapes_of(const Parameters& parameters) {
  constexpr std::size_t most = 6;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, tensor] : parameters) {
    if (shown++ == most) return text + " ...";
    if (shown > 1) text += ", ";
    text += display_text(name) + " " + Shape(tensor.shape).to_string();
  }
  return text;
}

// Words of the names of modules, in small letters, with a space around each.
std::string words_of(std::string_view path) {
  std::string words = " ";
  for (const char c : path) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    words += is_letter ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : ' ';
  }
  return words + " ";
}

bool has_any(std::string_view words, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return words.find(part) != std::string_view::npos;
  });
}

// How the matrices of a file lie, as far as their biases tell.
struct Evidence {
  std::size_t as_expected = 0;
  std::size_t other_way = 0;
};

// The length of a bias beside a matrix, if it is one that tells the layout.
std::optional<std::uint64_t> bias_length(const Parameters& parameters) {
  const auto bias = parameters.find("bias");
  if (bias == parameters.end() || bias->second.shape.size() != 1) return std::nullopt;
  return bias->second.shape[0];
}

Guess guess_matrix(std::string_view path, const Parameters& parameters, Layout layout,
                   const Evidence& evidence) {
  const std::span<const std::uint64_t> shape = parameters.at("weight").shape;
  const std::string shapes = shapes_of(parameters);
  const auto bias = parameters.find("bias");
  if (bias != parameters.end() && Shape(bias->second.shape) == Shape(shape)) {
    return {"LayerNorm", shapes + ": over several dimensions"};
  }
  if (const auto length = bias_length(parameters)) {
    const std::uint64_t outputs = shape[layout == Layout::pytorch ? 0 : 1];
    if (*length != outputs) {
      return {std::string(other_kind), shapes + ": the bias does not fit a Linear in this layout"};
    }
    if (shape[0] != shape[1]) return {"Linear", shapes};
    if (evidence.other_way > evidence.as_expected) {
      return {std::string(other_kind),
              shapes + ": square, and others in this file lie the other way (guess)"};
    }
    return {"Linear", shapes + ": square, so it may lie either way (guess)"};
  }
  if (has_any(words_of(last_segment(path)),
              {"embed", " emb ", " wte ", " wpe ", "vocab", "lookup"})) {
    return {std::string(other_kind), shapes + ": an embedding, by its name (guess)"};
  }
  return {"Linear", shapes + ": no bias; it may be an embedding (guess)"};
}

Guess guess_vector(std::string_view path, const Parameters& parameters) {
  const std::string words = words_of(path);
  const std::string last = words_of(last_segment(path));
  const bool has_bias = parameters.contains("bias") || parameters.contains("beta");
  const std::string shapes = shapes_of(parameters);
  if (parameters.contains("running_mean")) return {"BatchNorm", shapes};
  if (has_any(last, {"prelu"})) return {"PRelu", shapes + ": by its name"};
  if (has_any(words, {"rms"})) return {"RmsNorm", shapes + ": by its name"};
  if (has_any(last, {"instance"})) return {"InstanceNorm", shapes + ": by its name"};
  if (has_any(last, {"group", " gn "})) return {"GroupNorm", shapes + ": by its name"};
  if (has_any(last, {"batch", " bn "})) return {"BatchNorm", shapes + ": by its name"};
  const bool is_called_norm = has_any(last, {"norm", " ln "});
  if (has_bias) {
    return {"LayerNorm",
            shapes + (is_called_norm ? "" : ": a weight and a bias of one size (guess)")};
  }
  if (is_called_norm) return {"RmsNorm", shapes + ": a norm without bias"};
  if (has_any(last, {"act", "relu"})) return {"PRelu", shapes + ": by its name (guess)"};
  return {std::string(other_kind), shapes + ": one vector alone says little (guess)"};
}

// Nothing for modules whose layouts are the same everywhere.
std::optional<Guess> guess(std::string_view path, const Parameters& parameters, Layout layout,
                           const Evidence& evidence) {
  if (layout == Layout::burn) {
    if (parameters.contains("alpha")) return Guess{"PRelu", shapes_of(parameters)};
    if (parameters.contains("gamma")) return guess_vector(path, parameters);
  }
  const auto weight = parameters.find("weight");
  if (weight == parameters.end()) return std::nullopt;
  const std::size_t rank = weight->second.shape.size();
  if (rank == 2) return guess_matrix(path, parameters, layout, evidence);
  if (rank == 1 && layout == Layout::pytorch) return guess_vector(path, parameters);
  return std::nullopt;
}

// Whether a path can stand in a rule as it is: a line or a glob reads the others otherwise.
bool can_be_written(std::string_view path) {
  return std::none_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '*' || c == '?' || c == '#';
  });
}

std::string glob_of(std::string_view path) { return std::string(path.empty() ? root_glob : path); }

// "layers.*.fc" for "layers.3.fc": modules that differ only in numbers are usually alike.
std::string without_numbers(std::string_view path) {
  if (path.empty()) return std::string(root_glob);
  std::string glob;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view segment = path.substr(begin, end - begin);
    if (begin != 0) glob += '.';
    glob += parse_index(segment) ? std::string("*") : std::string(segment);
    begin = end + 1;
  }
  return glob;
}

Error bad_line(std::size_t line, std::string message, std::string_view found,
               std::string expected) {
  return Error{.code = ErrorCode::invalid_argument,
               .message = "line " + std::to_string(line) + ": " + std::move(message),
               .found = in_quotes(found),
               .expected = std::move(expected)};
}

std::string list_of_kinds() {
  std::string list;
  for (const std::string& kind : LayerRules::kinds()) list += kind + ", ";
  return list + std::string(other_kind);
}

}  // namespace

const std::vector<std::string>& LayerRules::kinds() {
  static const std::vector<std::string> all = {
      "Linear", "BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm", "RmsNorm", "PRelu"};
  return all;
}

Status LayerRules::add(LayerRule rule) ANDIRON_NO_THROW {
  if (rule.kind != other_kind &&
      std::find(kinds().begin(), kinds().end(), rule.kind) == kinds().end()) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "this kind of module is not known",
                 .found = in_quotes(rule.kind),
                 .expected = list_of_kinds()};
  }
  if (rule.glob.empty() || rule.glob.find_first_of(" \t\r\n#") != std::string::npos) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "this is not the glob of a rule",
                 .found = in_quotes(rule.glob),
                 .expected = "a path without blanks and #; ? stands for any character"};
  }
  // The reason is a comment, which ends with its line.
  std::replace_if(
      rule.reason.begin(), rule.reason.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  if (rule.glob == root_glob) {
    by_path_.try_emplace("", rules_.size());
  } else if (rule.glob.find_first_of("*?") == std::string::npos) {
    by_path_.try_emplace(rule.glob, rules_.size());
  } else {
    ANDIRON_TRY(detail::check_limit(globs_.size() + 1, most_globs,
                                    {"too many rules with wildcards", nullptr, "rules"}));
    ANDIRON_ASSIGN(Pattern glob, Pattern::glob(rule.glob));
    globs_.emplace_back(rules_.size(), std::move(glob));
  }
  rules_.push_back(std::move(rule));
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

Result<LayerRules> LayerRules::parse(std::string_view text) ANDIRON_NO_THROW {
  LayerRules rules;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t comment = line.find('#');
    const std::string_view reason =
        comment == std::string_view::npos ? "" : trimmed(line.substr(comment + 1));
    line = trimmed(line.substr(0, comment));
    if (line.empty()) continue;
    const std::size_t space = line.find_first_of(" \t");
    const std::string_view kind =
        space == std::string_view::npos ? "" : trimmed(line.substr(space));
    if (kind.empty() || kind.find_first_of(" \t") != std::string_view::npos) {
      return bad_line(number, "this is not a rule", line, "a glob and a kind: encoder.*.fc Linear");
    }
    Status added =
        rules.add({std::string(line.substr(0, space)), std::string(kind), std::string(reason)});
    if (!added) {
      Error error = std::move(added).error();
      error.message = "line " + std::to_string(number) + ": " + error.message;
      return error;
    }
  }
  return rules;
}
ANDIRON_OR_OUT_OF_MEMORY

std::optional<std::size_t> LayerRules::rule_for(std::string_view path) const {
  const auto named = by_path_.find(path);
  std::size_t first = named == by_path_.end() ? rules_.size() : named->second;
  for (const auto& [number, glob] : globs_) {
    if (number > first) break;
    if (glob.matches(path)) {
      first = number;
      break;
    }
  }
  return first == rules_.size() ? std::nullopt : std::optional(first);
}

std::string_view LayerRules::kind_of(std::string_view path) const {
  const std::optional<std::size_t> rule = rule_for(path);
  return rule ? std::string_view(rules_[*rule].kind) : std::string_view();
}

std::string LayerRules::to_string() const {
  std::size_t glob_width = 0;
  std::size_t kind_width = 0;
  for (const LayerRule& rule : rules_) {
    glob_width = std::max(glob_width, rule.glob.size());
    kind_width = std::max(kind_width, rule.kind.size());
  }
  std::string text = "# andiron layers\n";
  for (const LayerRule& rule : rules_) {
    text += rule.glob + std::string(glob_width - rule.glob.size() + 2, ' ') + rule.kind;
    if (!rule.reason.empty()) {
      text += std::string(kind_width - rule.kind.size() + 2, ' ') + "# " + rule.reason;
    }
    text += '\n';
  }
  return text;
}

LayerRules guess_layers(const Archive& file, Layout layout) {
  // A tied name may be of another kind than the tensor it is tied to.
  const Result<Archive> copies = file.with_ties_as_copies();
  const Archive& archive = copies ? *copies : file;
  std::map<std::string_view, Parameters> modules;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo tensor = archive.info(i);
    modules[parent_path(tensor.name)].emplace(last_segment(tensor.name), tensor);
  }
  Evidence evidence;
  for (const auto& [path, parameters] : modules) {
    const auto weight = parameters.find("weight");
    const auto length = bias_length(parameters);
    if (!length || weight == parameters.end() || weight->second.shape.size() != 2) continue;
    const std::span<const std::uint64_t> shape = weight->second.shape;
    if (shape[0] == shape[1]) continue;
    const std::size_t outputs = layout == Layout::pytorch ? 0 : 1;
    evidence.as_expected += *length == shape[outputs];
    evidence.other_way += *length == shape[1 - outputs];
  }
  // Modules that differ only in numbers share a rule if all of them are of one kind, those without
  // a guess included.
  struct Alike {
    std::set<std::string, std::less<>> kinds;
    std::vector<std::pair<std::string_view, Guess>> guessed;
  };
  std::map<std::string, Alike> by_glob;
  std::vector<std::string> order;
  for (const auto& [path, parameters] : modules) {
    // A wildcard in place of what cannot be written would match other modules, too.
    if (!can_be_written(path)) continue;
    const std::string glob = without_numbers(path);
    const auto [alike, is_new] = by_glob.try_emplace(glob);
    if (is_new) order.push_back(glob);
    std::optional<Guess> kind = guess(path, parameters, layout, evidence);
    alike->second.kinds.insert(kind ? kind->kind : std::string());
    if (kind) alike->second.guessed.emplace_back(path, *std::move(kind));
  }
  LayerRules rules;
  for (const std::string& glob : order) {
    const Alike& alike = by_glob.at(glob);
    const bool is_one = alike.kinds.size() == 1;
    if (alike.guessed.empty()) continue;
    const auto& [first, kind] = alike.guessed.front();
    const std::size_t count = alike.guessed.size();
    const std::string others = count > 1 ? "; " + std::to_string(count) + " modules" : "";
    if (is_one && rules.add({glob, kind.kind, kind.reason + others})) continue;
    for (const auto& [path, one] : alike.guessed) {
      // A path without wildcards is always taken.
      static_cast<void>(rules.add({glob_of(path), one.kind, one.reason}));
    }
  }
  return rules;
}

Result<Archive> change_layout(const Archive& archive, const LayerRules& rules, Layout to)
    ANDIRON_NO_THROW {
  const bool to_burn = to == Layout::burn;
  ANDIRON_ASSIGN(Archive changed, archive.with_ties_as_copies());
  Snapshots tensors;
  std::set<std::string_view> unmatched;
  std::map<std::string_view, std::string_view> kinds;  // of modules, by path
  std::vector<bool> is_used(rules.rules().size());
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const TensorInfo tensor = changed.info(i);
    const std::string_view parent = parent_path(tensor.name);
    const auto [known, is_new] = kinds.try_emplace(parent);
    if (const auto rule = is_new ? rules.rule_for(parent) : std::nullopt) {
      known->second = rules.rules()[*rule].kind;
      is_used[*rule] = true;
    }
    const std::string_view kind = known->second;
    const bool is_weight = last_segment(tensor.name) == "weight";
    if (kind.empty() && is_weight && tensor.shape.size() == 2) unmatched.insert(parent);
    if (kind == "Linear" && is_weight && tensor.shape.size() != 2) {
      return Error{.code = ErrorCode::shape_mismatch,
                   .message = "a rule says Linear, but the weight is not a matrix",
                   .file = archive.origin(),
                   .tensor = std::string(tensor.name),
                   .found = Shape(tensor.shape).to_string(),
                   .expected = "two dimensions"};
    }
    const bool has_layout = !kind.empty() && kind != other_kind;
    tensors.push_back(changed.snapshot(i).with_container(
        has_layout ? Container({"Struct:" + std::string(kind)}) : Container()));
  }
  const AnyAdapter adapter =
      to_burn ? AnyAdapter(PyTorchToBurnAdapter()) : AnyAdapter(BurnToPyTorchAdapter());
  ANDIRON_ASSIGN(tensors, adapter->save(std::move(tensors)));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    names.push_back(tensors[i].full_path());
    ANDIRON_TRY(changed.replace(i, std::move(tensors[i]).with_container({})));
  }
  ANDIRON_ASSIGN(changed, changed.rename(names));
  mark_layout(changed, to);
  std::vector<std::string_view> idle;
  for (std::size_t i = 0; i < is_used.size(); ++i) {
    if (!is_used[i]) idle.push_back(rules.rules()[i].glob);
  }
  if (!idle.empty()) {
    changed.add_note("rules that are of no use here: " + detail::list_in_quotes(idle));
  }
  if (!unmatched.empty()) {
    changed.add_note("no rule says what these are, so their matrices stay as they are: " +
                     detail::list_in_quotes({unmatched.begin(), unmatched.end()}));
  }
  return changed;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
