// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the names of a file and of a module that mean the same.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "src/proposals/name_alignment.h"
#include "src/proposals/work_budget.h"

namespace andiron::inline v1::detail {

// A tensor of the file that no parameter uses yet.
struct LooseName {
  std::string_view name;    // as rules see it
  std::string_view closed;  // after index gaps are closed, where they are
  std::size_t form;         // equal for equal dtypes and shapes
};

// A name that an adapter asks for but does not find.
struct WantedName {
  std::string_view name;
  std::size_t place;               // of the parameter that it would feed
  std::vector<std::size_t> forms;  // of tensors that would fit, sorted
};

struct NamesToMatch {
  std::vector<LooseName> loose;
  std::vector<WantedName> wanted;
  std::vector<std::string_view> settled;  // names that feed something and are best left alone
  bool closes_gaps = false;
};

// The names in tokens. A loose one has its words as they are once gaps are closed, at the bytes
// where rules see them.
struct TokenizedNames {
  std::vector<NameTokens> loose;
  std::vector<NameTokens> wanted;
};
TokenizedNames tokens_of(const NamesToMatch& names, NameAligner& aligner);

struct NamePair {
  std::size_t loose;
  std::size_t wanted;
};

// Pairs names by form, words, numbers, neighbours and order. No name and no place is in two pairs.
std::vector<NamePair> pair_names(const NamesToMatch& names, const TokenizedNames& tokens,
                                 NameAligner& aligner, WorkBudget& budget);

}  // namespace andiron::inline v1::detail
