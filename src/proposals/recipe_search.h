// SPDX-License-Identifier: MIT OR Apache-2.0
// Searches for settings under which a source fits a module.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/proposals/proposals.h"
#include "src/proposals/recipe.h"

namespace andiron::inline v1::detail {

struct FoundRecipe {
  Recipe recipe;
  std::string root;  // what names of the file begin with, for all tensors that are taken
};

struct SearchResult {
  std::vector<FoundRecipe> recipes = {};
  std::string_view naming;         // of the source, if it is a known one
  std::string_view wanted_naming;  // of the module
  std::string difference;          // between both, if one stands out
  std::string other_family = {};   // why the source is another model, if it is
  // For parameters the tensor of the source that was meant, if that is sure.
  std::map<std::string, std::string> meant = {};
  std::map<std::string, std::string> guessed = {};  // the same, where it is a guess
};

// Returns the recipes of the alignments that feed the most parameters; after one with guesses the
// same without them. Large models are judged by some of their names: the first of
// each numbered list, and every kind of name.
SearchResult search_recipes(const ProposalInput& input);
// The same for names that are taken as they are (wrapped_names.h).
SearchResult search_plain_names(const ProposalInput& input);

}  // namespace andiron::inline v1::detail
