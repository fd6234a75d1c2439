// SPDX-License-Identifier: MIT OR Apache-2.0
// Selects and renames tensors, between the names of a file and those of a module.
//
//   Archive named = apply_names(file, {.top_level_key = "state_dict", .close_gaps = true}).value();
//   PathFilter encoder = PathFilter().with_regex(R"(^encoder\.)").exclude_glob("**.bias");
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/archive.h"
#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/place.h"
#include "andiron/text.h"

namespace andiron::inline v1 {

/// Selects tensors by path. A path is selected if any criterion matches it and no exclusion does. A
/// filter without criteria selects everything that is not excluded.
///
/// A bad pattern does not fail at once: status() returns the first one, and every operation that
/// takes the filter fails with it. Builders return a named filter by reference, a temporary by
/// value.
///
///   PathFilter().with_regex(R"(^encoder\.)").with_full_path("head.bias").exclude_glob("**.bias")
class PathFilter {
 public:
  /// Gets the dotted path and, for tensors of a module, the kinds of module around them. Exceptions
  /// pass through and leave everything as it was.
  using Predicate = std::function<bool(std::string_view path, const Container& container)>;

  /// Selects everything.
  static PathFilter all();
  /// Selects nothing until criteria are added.
  static PathFilter none();

  /// A regular expression that matches anywhere in the path.
  ANDIRON_BUILDER(PathFilter, with_regex, (std::string_view pattern),
                  add(criteria_.regexes, Pattern::regex(pattern)))
  ANDIRON_BUILDER(PathFilter, with_regexes, (const std::vector<std::string>& patterns),
                  for (const std::string& pattern : patterns) with_regex(pattern))
  /// A glob that matches the whole path (Pattern::glob).
  ANDIRON_BUILDER(PathFilter, with_glob, (std::string_view pattern),
                  add(criteria_.globs, Pattern::glob(pattern)))
  /// Exactly this path.
  ANDIRON_BUILDER(PathFilter, with_full_path, (std::string path),
                  criteria_.paths.insert(std::move(path)))
  ANDIRON_BUILDER(PathFilter, with_full_paths, (std::vector<std::string> paths),
                  for (std::string& path : paths) with_full_path(std::move(path)))
  ANDIRON_BUILDER(PathFilter, with_predicate, (Predicate predicate),
                  add(criteria_.predicates, std::move(predicate)))
  ANDIRON_BUILDER(PathFilter, with_predicates, (std::vector<Predicate> predicates),
                  for (Predicate& predicate : predicates) with_predicate(std::move(predicate)))
  /// Selects everything except exclusions, whatever the other criteria say.
  ANDIRON_BUILDER(PathFilter, match_all, (), match_all_ = true)

  /// Exclusions. They win over criteria.
  ANDIRON_BUILDER(PathFilter, exclude_regex, (std::string_view pattern),
                  add(excluded_.regexes, Pattern::regex(pattern)))
  ANDIRON_BUILDER(PathFilter, exclude_glob, (std::string_view pattern),
                  add(excluded_.globs, Pattern::glob(pattern)))
  ANDIRON_BUILDER(PathFilter, exclude_full_path, (std::string path),
                  excluded_.paths.insert(std::move(path)))
  ANDIRON_BUILDER(PathFilter, exclude_predicate, (Predicate predicate),
                  add(excluded_.predicates, std::move(predicate)))

  /// Adds the criteria and exclusions of another filter.
  ANDIRON_BUILDER(PathFilter, or_with, (PathFilter other), add(std::move(other)))

  /// Drops criteria of one kind. A filter without criteria selects everything again.
  PathFilter& clear_regex() &;
  PathFilter& clear_globs() &;
  PathFilter& clear_paths() &;
  PathFilter& clear_predicates() &;
  PathFilter& clear_exclusions() &;
  /// Resets to PathFilter(), including status().
  PathFilter& clear() &;

  /// True if nothing was set, so that it selects everything.
  bool is_empty() const noexcept;
  /// Number of criteria, without exclusions. match_all counts as the only one.
  std::size_t criteria_count() const noexcept;
  /// Fails with InvalidPattern for the first pattern that did not parse.
  Status status() const;
  /// True if the filter selects this path. REQUIRES: status() is ok.
  bool matches(std::string_view path, const Container& container = {}) const;
  /// "PathFilter[regex: '^encoder', 'norm'; predicates: 1] except [glob: '**.bias']",
  /// "PathFilter::all()" or "PathFilter::none()". Safe to print.
  std::string to_string() const;

 private:
  struct Criteria {
    std::vector<Pattern> regexes = {};
    std::vector<Pattern> globs = {};
    std::set<std::string, std::less<>> paths = {};
    std::vector<Predicate> predicates = {};

    std::size_t count() const noexcept;
    bool match(std::string_view path, const Container& container) const;
    void add(Criteria other);
    std::string to_string() const;
  };

  friend Result<Archive> filter(const Archive& archive, const PathFilter& filter);
  bool takes_all() const noexcept;
  void add(std::vector<Pattern>& list, Result<Pattern> pattern);
  void add(std::vector<Predicate>& list, Predicate predicate);
  void add(PathFilter other);

  bool match_all_ = false;
  bool none_without_criteria_ = false;
  Criteria criteria_;
  Criteria excluded_;
  std::optional<Error> first_error_;
};

/// Writes PathFilter::to_string().
std::ostream& operator<<(std::ostream& out, const PathFilter& filter);

/// Returns the tensors that `filter` selects. Predicates see the containers of tensors that were
/// collected from a module; for tensors from a file, the container is empty.
Result<Archive> filter(const Archive& archive, const PathFilter& filter);

/// Renames with regular expressions. Rules run in order, each on the result of the one before, and
/// replace every match (Pattern::replace_all). A bad pattern is kept in status(), as in PathFilter.
///
///   KeyRemapper().add_pattern(R"(^model\.)", "").add_pattern(R"(norm(\d+))", "norm_$1")
class KeyRemapper {
 public:
  using Rule = std::pair<Pattern, std::string>;

  /// KeyRemapper::from_patterns({{R"(^model\.)", ""}, {R"(norm(\d+))", "norm_$1"}})
  static KeyRemapper from_patterns(const std::vector<std::pair<std::string, std::string>>& rules);
  /// Adds a rule after the others.
  ANDIRON_BUILDER(KeyRemapper, add_pattern, (std::string_view from, std::string to),
                  add(from, std::move(to)))

  const std::vector<Rule>& rules() const noexcept { return rules_; }
  bool is_empty() const noexcept { return rules_.empty() && !first_error_; }
  /// Fails with InvalidPattern for the first pattern that did not parse.
  Status status() const;
  /// Returns the new name. REQUIRES: status() is ok.
  std::string remap(std::string name) const;
  /// Warnings about replacements that name a group their pattern does not have.
  std::vector<std::string> warnings() const;
  /// "KeyRemapper['^model\.' -> '', 'norm(\d+)' -> 'norm_$1']". Safe to print.
  std::string to_string() const;

 private:
  void add(std::string_view from, std::string to);

  std::vector<Rule> rules_;
  std::optional<Error> first_error_;
};

std::ostream& operator<<(std::ostream& out, const KeyRemapper& remapper);

/// Returns the tensors under their new names, with the remapper's warnings as notes. Fails with
/// NameCollision if two tensors get one name.
Result<Archive> remap(const Archive& archive, const KeyRemapper& remapper);

/// A tensor's name before and after.
struct Rename {
  std::string from;
  std::string to;

  friend bool operator==(const Rename&, const Rename&) = default;
};

/// Returns the tensors whose names differ from those in the file.
std::vector<Rename> renames(const Archive& archive);

/// Returns the tensors under `key`, with the key dropped from their names. A dotted key goes down
/// several levels. Fails with MissingTensor if nothing is under it; the error lists the top-level
/// keys.
Result<Archive> at_top_level_key(const Archive& archive, std::string_view key);

/// Returns the key that the model seems to be under, if it is one that checkpoints commonly use:
/// "state_dict", or "state_dict.module" if one wraps the other. Returns nothing unless all tensors
/// are under it, except training state: optimizer state, averaged copies.
std::optional<std::string> suggest_top_level_key(const Archive& archive);

/// Which numbers close_index_gaps() keeps.
struct IndexGapOptions {
  /// Regular expressions for the lists to keep. Each is searched in the path before the number,
  /// with the file's own numbers: "flows.2.layers" for flows.2.layers.4.weight. For a number at the
  /// start of a name, that path is empty.
  std::vector<std::string> except = {};
  /// More lists to keep, by the paths that they have afterwards: "flows.1.layers".
  std::vector<std::string> kept_lists = {};
};

/// Closes gaps in numbered names, as PyTorch's Sequential leaves them: fc.0 fc.2 fc.4 become fc.0
/// fc.1 fc.2. Replaces each segment that is a number with its rank among the numbers under the same
/// parent. Fails with NameCollision if two names become one (007 and 7).
Result<Archive> close_index_gaps(const Archive& archive, const IndexGapOptions& options = {});

/// Replaces the two parts that PyTorch's weight norm keeps of a weight with the weight itself:
/// fc.weight_g and fc.weight_v, or fc.parametrizations.weight.original0 and original1, become
/// fc.weight = g * v / |v|. Computes when the weight is read, in blocks; the first read goes
/// through v twice. Notes tell how many were folded, and what was left because it does not fit.
Result<Archive> fold_weight_norm(const Archive& archive);

/// A change of tensors by name, where two programs keep the same numbers in different tensors.
///
///   TensorEdit::split(R"(\.qkv\.(weight|bias)$)", {".q.$1", ".k.$1", ".v.$1"})
///   TensorEdit::join(R"(\.q\.(weight|bias)$)", {".k.$1", ".v.$1"}, ".qkv.$1")
///   TensorEdit::transpose(R"(\.c_fc\.weight$)")
///
/// The pattern is a regular expression. A replacement makes a name from a name that it matches, as
/// in KeyRemapper.
struct TensorEdit {
  enum class Kind : std::uint8_t { split, join, transpose };

  /// Cuts the tensors that match into parts along a dimension: equal parts, or in proportion to
  /// `shares`. `parts` makes the name of each.
  static TensorEdit split(std::string pattern, std::vector<std::string> parts, std::size_t dim = 0,
                          std::vector<std::uint64_t> shares = {});
  /// Joins each tensor that matches with others, in this order. `others` makes their names, `whole`
  /// the name of the result. A tensor that lacks one of the others stays as it is.
  static TensorEdit join(std::string pattern, std::vector<std::string> others, std::string whole,
                         std::size_t dim = 0);
  /// Swaps the dimensions of the matrices that match. Other tensors stay as they are.
  static TensorEdit transpose(std::string pattern);

  Kind kind = Kind::transpose;
  std::string pattern = {};
  std::vector<std::string> names = {};  ///< split: of the parts; join: of the others, and the whole
  std::size_t dim = 0;
  std::vector<std::uint64_t> shares = {};

  /// Fails with InvalidPattern, or with InvalidArgument if there are fewer than two names or not as
  /// many shares.
  Status status() const;

  friend bool operator==(const TensorEdit&, const TensorEdit&) = default;
};

/// Returns the archive with edits made in order. Copies and reads nothing. Tied names become
/// copies. Notes tell of edits that match nothing, and of joins that lack a tensor. Fails with the
/// errors of TensorEdit::status(), with NameCollision if two tensors get one name, and, naming the
/// tensor, with ShapeMismatch if it cannot be cut or joined so, or with the errors of
/// TensorSnapshot::slice() and concat().
Result<Archive> edit_tensors(const Archive& archive, const std::vector<TensorEdit>& edits);

/// How the names of a file become those of a module. A save uses only the remapper.
struct NameOptions {
  /// Take only the tensors under this key (at_top_level_key). Empty: take all.
  std::string top_level_key = {};
  /// Replace the parts of weight norm with their weights (fold_weight_norm).
  bool fold_weight_norm = false;
  KeyRemapper remapper = {};
  /// Split, join and transpose tensors (edit_tensors).
  std::vector<TensorEdit> edits = {};
  /// fc.0 fc.2 fc.4 become fc.0 fc.1 fc.2 (close_index_gaps).
  bool close_gaps = false;
  /// Regular expressions for the lists that keep their numbers (IndexGapOptions).
  std::vector<std::string> except = {};
  /// The same by their paths in the module. A load from a store adds the module's lists whose own
  /// numbers have gaps, such as a std::tuple that has the layers without parameters too.
  std::vector<std::string> kept_lists = {};

  /// Fails with InvalidPattern for the first pattern that does not parse.
  Status status() const;
};

/// Renames an archive: first the top-level key, then weight norm, then the remapper, then edits of
/// tensors, then index gaps. Copies and reads no data. Archive::name_history() returns the earlier
/// names. Notes report replacements that name no group, and a key that a PyTorch model seems to be
/// under. Fails with InvalidPattern, with MissingTensor if nothing is under the key, and with
/// NameCollision if two tensors get one name.
Result<Archive> apply_names(const Archive& archive, const NameOptions& options);

/// How put_back() treats tensors.
struct PutBackOptions {
  /// Cast the tensors to the dtypes that the file has, instead of changing those.
  bool keep_dtypes = false;
};

/// The way back: returns the file that `named` came from (Archive::in_file), with `tensors` in
/// place of those that have their names in `named`. Names, ids, order, the other tensors, values
/// and metadata are the file's. What the file ties, by metadata or by sharing bytes, stays tied: a
/// tied tensor without a new one gets that of the other. Reads nothing but tied tensors. Notes tell
/// of dtypes that change and of tensors of the file that could not be read. Fails with
/// MissingTensor, listing them, if some of `tensors` have no place in the file, for example
/// those that were split, joined or transposed, and with
/// InvalidArgument if two that the file ties are no longer equal.
Result<Archive> put_back(const Archive& tensors, const Archive& named,
                         const PutBackOptions& options = {});

}  // namespace andiron::inline v1
