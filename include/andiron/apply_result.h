// SPDX-License-Identifier: MIT OR Apache-2.0
// What a load did, or would do.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "andiron/container.h"
#include "andiron/error.h"
#include "andiron/value.h"

namespace andiron::inline v1 {

/// A parameter that the source has no tensor for.
struct MissingTensor {
  std::string path;
  Container container;
  /// The unused tensor that is probably meant; told for the first few, where there is one.
  std::string did_you_mean = {};
};

/// A change of settings that would make more of a source fit a module.
struct Proposal {
  std::string text;  ///< for people: "names start with 'module.': strip it"
  std::string code;  ///< calls to paste behind a store: .with_key_remapping(R"(^module\.)", "")
  std::size_t matched = 0;  ///< parameters that would then be fed
  std::size_t wanted = 0;   ///< parameters there are
};

/// What became of every parameter of the module and of every tensor of the source.
struct ApplyResult {
  /// Names of each kind that the text shows.
  static constexpr std::size_t shown = 10;

  std::vector<std::string> applied;    ///< parameters that got their tensor, in module order
  std::vector<std::string> skipped;    ///< parameters that the filter left out, sorted
  std::vector<MissingTensor> missing;  ///< parameters without a tensor, sorted by path
  std::vector<std::string> unused;     ///< tensors that no parameter asked for, sorted
  std::vector<Error> errors;        ///< tensors that do not fit or cannot be read, in module order
  std::vector<std::string> notes;   ///< what a reader should know
  std::vector<Proposal> proposals;  ///< what would make it match, best first

  /// No errors. Missing tensors do not count.
  bool is_success() const noexcept { return errors.empty(); }
  /// A summary of several lines: counts, the first names of each kind, "did you mean", proposals.
  /// Names are safe to print.
  std::string to_string() const;
  /// The same for programs; `to_json(result.to_value())` is its JSON:
  /// {"applied":[...],"skipped":[...],"missing":[{"path","container","did_you_mean"}],
  ///  "unused":[...],
  ///  "errors":[{"code","path","message","found","expected","hint"}],"notes":[...],
  ///  "proposals":[{"text","code","matched","wanted"}]}
  Value to_value() const;
};

std::ostream& operator<<(std::ostream& out, const ApplyResult& result);

}  // namespace andiron::inline v1
