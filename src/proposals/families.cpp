// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/families_test.cpp
#include "src/proposals/families.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_set>
#include <vector>

#include "src/proposals/name_parts.h"
#include "src/proposals/namings.h"
#include "src/proposals/trade_words.h"
#include "src/proposals/word_similarity.h"

namespace andiron::inline v1::detail {
namespace {

// "ViT" of "ViT as timm names it"; empty for a naming of any model, such as a GGUF file's.
std::string_view family_of(std::string_view naming) {
  const std::size_t end = naming.find(" as ");
  return end == std::string_view::npos ? std::string_view() : naming.substr(0, end);
}

// Families of which one is made from the other, or a part of it.
bool are_related(std::string_view a, std::string_view b) {
  constexpr std::string_view related[][2] = {
      {"BERT", "DistilBERT"}, {"LLaMA", "Mixtral"}, {"ViT", "CLIP"}};
  return a.empty() || b.empty() || a == b ||
         std::any_of(std::begin(related), std::end(related), [&](const auto& pair) {
           return (a == pair[0] && b == pair[1]) || (a == pair[1] && b == pair[0]);
         });
}

using NameSet = std::unordered_set<std::string>;

// What a tensor takes in by its form: words by a table, much longer than wide and without a bias;
// images by a kernel for three colors.
std::string_view input_of_form(const TreeTensor& tensor, const NameSet& all) {
  constexpr std::uint64_t least_width = 64;
  const std::vector<std::uint64_t>& shape = tensor.shape;
  if (shape.size() == 4) return shape[1] == 3 ? "images" : "";
  const bool is_table = shape.size() == 2 && shape[1] >= least_width && shape[0] / 8 >= shape[1] &&
                        !all.contains(std::string(module_path(tensor.name)) + ".bias");
  return is_table ? "text" : "";
}

// What a model takes in, if it is one thing, and no tensor whose name tells so has a counterpart.
std::string_view input_of(std::span<const TreeTensor> tensors, const NameSet& paired) {
  NameSet names;
  for (const TreeTensor& tensor : tensors) names.insert(tensor.name);
  std::string_view all;
  for (const TreeTensor& tensor : tensors) {
    const bool is_paired = paired.contains(tensor.name);
    std::string_view one = input_told_by(plain_segments(tensor.name), tensor.shape.size());
    if (!one.empty() && is_paired) return {};
    if (one.empty() && !is_paired) one = input_of_form(tensor, names);
    if (one.empty()) continue;
    if (!all.empty() && all != one) return {};
    all = one;
  }
  return all;
}

}  // namespace

std::string difference_of_families(std::span<const TreeTensor> source,
                                   std::span<const TreeTensor> wanted, const RenamingPlan& plan,
                                   std::string_view root) {
  if (plan.matched >= wanted.size()) return {};
  constexpr std::string_view not_matched = "; these are different models, so nothing is matched";
  const std::vector<std::string_view> namings = namings_of(source);
  const std::vector<std::string_view> wanted_namings = namings_of(wanted);
  const bool has_related = std::any_of(namings.begin(), namings.end(), [&](std::string_view one) {
    return std::any_of(wanted_namings.begin(), wanted_namings.end(), [&](std::string_view other) {
      return are_related(family_of(one), family_of(other));
    });
  });
  if (has_related) return {};
  if (!namings.empty() && !wanted_namings.empty()) {
    return "the source looks like " + std::string(namings.front()) + ", the module like " +
           std::string(wanted_namings.front()) + std::string(not_matched);
  }
  NameSet from;
  NameSet to;
  for (const Renaming& renaming : plan.renamings) {
    from.insert(std::string(root) + renaming.from);
    to.insert(renaming.to);
  }
  const std::string_view taken = input_of(source, from);
  const std::string_view wanted_taken = input_of(wanted, to);
  if (taken.empty() || wanted_taken.empty() || taken == wanted_taken) return {};
  return "the source is a model for " + std::string(taken) + ", the module one for " +
         std::string(wanted_taken) + std::string(not_matched);
}

}  // namespace andiron::inline v1::detail
