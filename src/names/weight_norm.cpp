// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/names/weight_norm_test.cpp
#include "src/core/weight_norm_source.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/names.h"
#include "src/core/path_segments.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/names/training_names.h"

namespace andiron::inline v1 {
namespace {

// The names of a weight and of the part that gives its direction.
struct PartNames {
  std::string direction;
  std::string weight;
};

// For the name of a magnitude: "fc.weight_g" or "fc.parametrizations.weight.original0". Nothing for
// other names.
std::optional<PartNames> parts_named_by(std::string_view name) {
  constexpr std::string_view folder = "parametrizations.";
  const std::string_view parent = detail::parent_path(name);
  const std::string_view last = name.substr(parent.empty() ? 0 : parent.size() + 1);
  if (last == "original0") {
    const std::size_t at = parent.rfind(folder);
    if (at == std::string_view::npos || (at != 0 && parent[at - 1] != '.')) return std::nullopt;
    const std::string_view weight = parent.substr(at + folder.size());
    if (weight.find('.') != std::string_view::npos) return std::nullopt;
    return PartNames{std::string(parent) + ".original1",
                     std::string(parent.substr(0, at)) + std::string(weight)};
  }
  if (!last.starts_with("weight") || !last.ends_with("_g")) return std::nullopt;
  const std::string weight(name.substr(0, name.size() - 2));
  return PartNames{weight + "_v", weight};
}

bool fit(const TensorInfo& magnitude, const TensorInfo& direction) {
  return is_float(magnitude.dtype) && is_float(direction.dtype) &&
         detail::are_parts_of_weight_norm(Shape(magnitude.shape), Shape(direction.shape));
}

}  // namespace

Result<Archive> fold_weight_norm(const Archive& file) ANDIRON_NO_THROW {
  // A part may be tied to another weight's, of which nothing is left under its own name.
  const auto& aliases = file.aliases();
  const bool has_tied_parts = std::any_of(aliases.begin(), aliases.end(), [](const auto& alias) {
    return detail::is_weight_part(alias.first);
  });
  Archive archive = file;
  if (has_tied_parts) {
    ANDIRON_ASSIGN(archive, file.with_ties_as_copies());
  }
  std::set<std::string> claimed;
  std::vector<bool> is_part(archive.size());
  std::vector<TensorSnapshot> weights;
  std::vector<std::string_view> left;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const std::optional<PartNames> parts = parts_named_by(archive.info(i).name);
    if (!parts) continue;
    const std::optional<std::size_t> direction = archive.find(parts->direction);
    if (!direction) continue;
    const bool is_taken = archive.find(parts->weight) || claimed.contains(parts->weight);
    if (is_taken || !fit(archive.info(i), archive.info(*direction))) {
      left.push_back(archive.info(i).name);
      continue;
    }
    ANDIRON_ASSIGN(TensorSnapshot weight, detail::weight_of_weight_norm(
                                              archive.snapshot(i), archive.snapshot(*direction)));
    weights.push_back(std::move(weight).with_path(parts->weight));
    claimed.insert(parts->weight);
    is_part[i] = true;
    is_part[*direction] = true;
  }
  Archive folded = archive;
  if (!weights.empty()) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < archive.size(); ++i) {
      if (!is_part[i]) kept.push_back(i);
    }
    ANDIRON_ASSIGN(folded, archive.select(kept));
    for (TensorSnapshot& weight : weights) ANDIRON_TRY(folded.add(std::move(weight)));
    folded.add_note("weight norm was folded into " + detail::count_of(weights.size(), "weight"));
  }
  if (!left.empty()) {
    folded.add_note("not folded, because the weight is there too or shapes do not fit: " +
                    detail::list_in_quotes(left));
  }
  return folded;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
