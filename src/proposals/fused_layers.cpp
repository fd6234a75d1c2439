// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/fused_layers_test.cpp
#include "src/proposals/fused_layers.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t most_roots = 8;

// The tensors of an archive below a prefix. Notes the names that are asked for.
class LookupBelow final : public TensorLookup {
 public:
  LookupBelow(const Archive& archive, FusedRoot root) : archive_(archive), root_(std::move(root)) {}
  Result<std::optional<TensorSnapshot>> find(std::string_view name) override {
    asked.emplace_back(name);
    if (!name.starts_with(root_.of_module)) return std::optional<TensorSnapshot>();
    name.remove_prefix(root_.of_module.size());
    const std::optional<std::size_t> index = archive_.find(root_.of_file + std::string(name));
    return index ? std::make_optional(archive_.snapshot(*index)) : std::nullopt;
  }
  std::vector<std::string> asked;

 private:
  const Archive& archive_;
  FusedRoot root_;
};

// The kinds of module whose parameters PyTorch joins.
const std::set<std::string, std::less<>>& fused_kinds() {
  static const std::set<std::string, std::less<>> kinds = [] {
    std::set<std::string, std::less<>> found;
    for (const AdapterRule& rule : pytorch_rules()) {
      if (rule.to.size() > 1) found.insert(rule.module_type);
    }
    return found;
  }();
  return kinds;
}

// What names of the archive begin with, where the rest is a name that a fused parameter is asked
// for by.
std::vector<FusedRoot> possible_roots(const Archive& archive, const Adapter& adapter,
                                      const WantedTensor& fused) {
  const Archive nothing;
  LookupBelow lookup(nothing, {});
  static_cast<void>(pass_on_out_of_memory(adapter.load(fused.place, lookup)));
  std::vector<FusedRoot> roots;
  const auto prefix = [](std::string_view name,
                         std::string_view rest) -> std::optional<std::string> {
    if (!name.ends_with(rest)) return std::nullopt;
    const std::string_view found = name.substr(0, name.size() - rest.size());
    if (!found.empty() && !found.ends_with('.')) return std::nullopt;
    return std::string(found);
  };
  for (std::size_t i = 0; i < archive.size() && roots.size() < most_roots; ++i) {
    const std::string_view name = archive.info(i).name;
    for (const std::string& asked : lookup.asked) {
      if (asked == fused.place.path) continue;
      if (const auto of_file = prefix(name, asked)) {
        roots.push_back({.of_file = *of_file});
      } else if (const auto of_module = prefix(asked, name)) {
        roots.push_back({.of_module = *of_module});
      }
    }
  }
  return roots;
}

bool feeds_all(const Archive& archive, const FusedRoot& root, const Adapter& adapter,
               std::span<const WantedTensor> wanted) {
  LookupBelow lookup(archive, root);
  return std::all_of(wanted.begin(), wanted.end(), [&](const WantedTensor& one) {
    lookup.asked.clear();
    const Result<std::optional<TensorSnapshot>> found =
        pass_on_out_of_memory(adapter.load(one.place, lookup));
    return found && *found && (one.leaf.accepts_any_shape || (*found)->shape() == one.leaf.shape);
  });
}

}  // namespace

bool is_fused(const WantedTensor& wanted) {
  const std::vector<std::string>& kinds = wanted.place.container.kinds();
  return std::any_of(kinds.begin(), kinds.end(), [](const std::string& kind) {
    return fused_kinds().contains(Container::plain(kind));
  });
}

std::optional<FusedRoot> root_of_fused_layers(const Archive& archive, const Adapter& adapter,
                                              std::span<const WantedTensor> wanted) {
  const auto fused = std::find_if(wanted.begin(), wanted.end(), is_fused);
  if (fused == wanted.end()) return std::nullopt;
  for (const FusedRoot& root : possible_roots(archive, adapter, *fused)) {
    if (feeds_all(archive, root, adapter, wanted)) return root;
  }
  return std::nullopt;
}

}  // namespace andiron::inline v1::detail
