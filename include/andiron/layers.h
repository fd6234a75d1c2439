// SPDX-License-Identifier: MIT OR Apache-2.0
// Changes the layout of a file without a typed model. A list of rules says which parts of the model
// are Linear, norms and so on:
//
//   Archive file = open("model.pt").value();
//   LayerRules rules = guess_layers(file, Layout::pytorch);     // read them before you trust them
//   Archive burn = change_layout(file, rules, Layout::burn).value();
//
// As text, a rule is a line: a glob for the path of a module, its kind, and a comment.
//
//   # andiron layers
//   encoder.layers.*.fc1   Linear      # weight [64, 16], bias [64]
//   encoder.layers.*.norm  LayerNorm
//   **.bn                  BatchNorm
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/text.h"

namespace andiron::inline v1 {

/// What kind of module some paths are.
struct LayerRule {
  /// Matches the path of the module, without its parameters: "encoder.*.fc1". A dot alone is the
  /// model itself, with parameters at the top.
  std::string glob;
  std::string kind;    ///< "Linear"; one of LayerRules::kinds(), or "other"
  std::string reason;  ///< shown as a comment; may be empty
};

/// An ordered list of rules. The first one that matches a path counts.
class LayerRules {
 public:
  /// The kinds whose layouts differ: Linear, BatchNorm, LayerNorm, GroupNorm, InstanceNorm, RmsNorm
  /// and PRelu. Everything else is "other" and stays as it is.
  static const std::vector<std::string>& kinds();

  /// Reads the text form. Fails with InvalidArgument, naming the line, if a line is not a rule or
  /// its kind is not known, with InvalidPattern if a glob does not parse, and with LimitExceeded
  /// for more than 1024 rules with wildcards.
  static Result<LayerRules> parse(std::string_view text);
  /// Adds a rule after the others. Fails as parse() does.
  Status add(LayerRule rule);

  const std::vector<LayerRule>& rules() const& noexcept { return rules_; }
  // Of a temporary, by value.
  std::vector<LayerRule> rules() && { return std::move(rules_); }
  /// The number of the rule that counts for the module at this path, if one matches.
  std::optional<std::size_t> rule_for(std::string_view path) const;
  /// The kind of the module at this path; empty if no rule matches.
  std::string_view kind_of(std::string_view path) const;
  /// The text form, which parse() reads.
  std::string to_string() const;

 private:
  std::vector<LayerRule> rules_;
  // Rules by number: those that name one path, and those with wildcards.
  std::map<std::string, std::size_t, std::less<>> by_path_;
  std::vector<std::pair<std::size_t, Pattern>> globs_;
};

/// Guesses from names and shapes which modules of a file have another layout elsewhere. Each rule
/// has the reason, and says where it is a guess. Modules that differ only in a number share a rule
/// if all are alike. A guess may be wrong, above all for a matrix without bias, because an
/// embedding looks like a Linear, and for a square one. Names with blanks, #, * or ? get no rule.
/// Recurrent layers and fused projections (in_proj_weight) are not among the kinds.
LayerRules guess_layers(const Archive& archive, Layout layout);

/// Returns the archive with names and layouts of the other kind; `to` is the layout that it shall
/// have. Reads nothing: tensors are transposed when they are read. Tied names become copies. The
/// metadata says format=pt for PyTorch's layout and no longer does for Burn's. Notes list modules
/// whose weight is a matrix and that no rule matches, and rules that match nothing. Fails with
/// NameCollision if two tensors get one name, and with ShapeMismatch if the weight of a Linear is
/// not a matrix.
Result<Archive> change_layout(const Archive& archive, const LayerRules& rules, Layout to);

}  // namespace andiron::inline v1
