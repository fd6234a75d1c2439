// SPDX-License-Identifier: MIT OR Apache-2.0
// Settings under which a load would match, as data. Reports contain them (apply.h) in programs that
// link andiron::proposals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "andiron/message.h"
#include "andiron/names.h"

namespace andiron::inline v1 {

// Settings that a proposal may change. Each is a builder of the stores.

struct TakeKey {  ///< with_top_level_key(key)
  std::string key;
  friend bool operator==(const TakeKey&, const TakeKey&) = default;
};
struct FoldWeightNorm {  ///< fold_weight_norm(true)
  friend bool operator==(const FoldWeightNorm&, const FoldWeightNorm&) = default;
};
struct RenameKeys {  ///< with_key_remapping(pattern, replacement)
  std::string pattern;
  std::string replacement;
  friend bool operator==(const RenameKeys&, const RenameKeys&) = default;
};
struct CloseGaps {  ///< map_indices_contiguous(is_set)
  bool is_set = true;
  friend bool operator==(const CloseGaps&, const CloseGaps&) = default;
};
struct ExcludePaths {  ///< exclude_regex(pattern)
  std::string pattern;
  friend bool operator==(const ExcludePaths&, const ExcludePaths&) = default;
};
struct UseAdapter {  ///< with_from_adapter(...)
  enum class Kind : std::uint8_t { identity, pytorch_to_burn, burn_to_pytorch };
  Kind kind = Kind::identity;
  friend bool operator==(const UseAdapter&, const UseAdapter&) = default;
};
struct SkipVariants {  ///< skip_enum_variants(is_set)
  bool is_set = true;
  friend bool operator==(const SkipVariants&, const SkipVariants&) = default;
};
struct AllowUnused {  ///< allow_unused(true)
  friend bool operator==(const AllowUnused&, const AllowUnused&) = default;
};

/// One of these, or an edit: split_tensors(), join_tensors() or transpose_tensors().
using ProposedSetting = std::variant<TakeKey, FoldWeightNorm, RenameKeys, TensorEdit, CloseGaps,
                                     ExcludePaths, UseAdapter, SkipVariants, AllowUnused>;

/// One setting of a proposal.
struct ProposedStep {
  ProposedSetting setting;
  std::string why = {};  ///< "words that mean the same"
  /// Nothing but order or a shape speaks for it, or the module is shorter than the file: check it.
  bool is_guess = false;

  /// The call of a builder: `.with_key_remapping(R"(^module\.)", "")`; or a flag, or an option;
  /// empty where there is none.
  std::string to_string(Wording wording = Wording::cpp) const;
  template <class Setting>
  bool sets() const noexcept {
    return std::holds_alternative<Setting>(setting);
  }
};

/// A change of settings that would make more of a source fit a module. It was tried on all names
/// and shapes.
struct Proposal {
  std::string text;  ///< for people: "taking the tensors under 'module': matches 16 of 16 ..."
  /// Builder calls to paste after a store, one per line. Guesses have a comment.
  std::string code;
  std::size_t matched = 0;   ///< parameters that would then get a tensor
  std::size_t wanted = 0;    ///< all parameters
  bool is_averaged = false;  ///< the tensors are averages that a training kept beside the model
  /// The same calls one by one. StoreBuilder::apply() makes them.
  std::vector<ProposedStep> steps = {};

  /// True if some step is a guess.
  bool is_guess() const noexcept {
    for (const ProposedStep& step : steps) {
      if (step.is_guess) return true;
    }
    return false;
  }
};

}  // namespace andiron::inline v1
