// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/renaming_plan_test.cpp
#include "src/proposals/renaming_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

std::string below(std::string_view parent, std::string_view name) {
  return parent.empty() ? std::string(name) : std::string(parent) + "." + std::string(name);
}

// A tensor of a layer: "attn.q_proj" and "weight", or "attn" and "in_proj_weight".
struct LayerName {
  std::string_view parent;   // of the layer
  std::string_view segment;  // of the layer
  std::string_view leaf;     // weight or bias
  bool is_joined;            // segment_leaf instead of segment.leaf
};

std::optional<LayerName> layer_name(std::string_view name, bool is_joined) {
  const std::string_view last = last_segment(name);
  if (!is_joined) {
    const std::string_view module = module_path(name);
    if (module.empty()) return std::nullopt;
    return LayerName{module_path(module), last_segment(module), last, false};
  }
  const std::size_t cut = last.rfind('_');
  if (cut == std::string_view::npos) return std::nullopt;
  return LayerName{module_path(name), last.substr(0, cut), last.substr(cut + 1), true};
}

std::string text_of(const LayerName& name, std::string_view segment, std::string_view leaf) {
  return std::string(segment) + (name.is_joined ? "_" : ".") + std::string(leaf);
}

// The parts of one tensor with the tensors of the other side.
struct Fusion {
  std::vector<std::optional<std::size_t>> partners;  // for each part
  std::vector<std::uint64_t> sizes;
  std::string segment;
  bool is_guess = false;
};

class Planner {
 public:
  Planner(std::span<const TreeTensor> source, std::span<const TreeTensor> wanted,
          const Regrouping& regrouping, std::span<const AlignedTensor> alignment)
      : source_(source), wanted_(wanted), regrouping_(regrouping), alignment_(alignment) {}

  RenamingPlan plan() {
    for (const AlignedTensor& one : alignment_) take(one);
    for (std::size_t i = 0; i < regrouping_.source.origins.size(); ++i) {
      const TornPart& part = regrouping_.source.origins[i];
      const auto split = splits_.find(part.whole);
      if (split == splits_.end()) continue;
      split->second.sizes[part.number] = regrouping_.source.tensors[i].shape[0];
    }
    for (const auto& [whole, fusion] : splits_) {
      if (is_complete(fusion)) add_split(whole, fusion);
    }
    // The module may lack the bias of one part.
    for (const auto& [whole, fusion] : splits_) {
      if (!is_complete(fusion)) add_split(whole, fusion);
    }
    for (const auto& [whole, fusion] : joins_) add_join(whole, fusion);
    std::set<std::string_view> renamed;
    for (const Renaming& one : plan_.renamings) renamed.insert(one.from);
    for (const TreeTensor& tensor : source_) {
      if (!renamed.contains(tensor.name)) plan_.others.push_back(tensor.name);
    }
    add_transposed();  // before tensors are cut
    for (auto& [key, edit] : edits_) plan_.edits.push_back(std::move(edit));
    return std::move(plan_);
  }

 private:
  void take(const AlignedTensor& one) {
    const TornPart& from = regrouping_.source.origins[one.source];
    const TornPart& to = regrouping_.wanted.origins[one.wanted];
    const std::size_t from_parts = regrouping_.source.part_counts[from.whole];
    const std::size_t to_parts = regrouping_.wanted.part_counts[to.whole];
    if (from_parts == 1 && to_parts == 1) {
      const bool is_open = !one.is_guess && !regrouping_.transposed[from.whole] &&
                           may_be_turned(source_[from.whole], wanted_[to.whole].name);
      rename(from.whole, wanted_[to.whole].name, is_open ? Evidence::square : one.evidence,
             one.is_guess || is_open);
      plan_.renamings.back().is_doubtful = one.is_doubtful;
      ++plan_.matched;
    } else if (to_parts == 1) {
      note(splits_[from.whole], from, from_parts, to.whole, one);
    } else if (from_parts == 1) {
      note(joins_[to.whole], to, to_parts, from.whole, one);
    }
  }

  // A layer's square weight, which is a parameter without a layer on the other side: models
  // multiply by such parameters from either side.
  static bool may_be_turned(const TreeTensor& from, std::string_view to) {
    const bool is_square = from.shape.size() == 2 && from.shape[0] == from.shape[1];
    return is_square && is_of_layer(from.name) != is_of_layer(to) && !is_embedding(from.name) &&
           !is_embedding(to);
  }
  static bool is_of_layer(std::string_view name) {
    const std::string_view last = last_segment(name);
    return last == "weight" || last == "kernel";
  }

  static void note(Fusion& fusion, const TornPart& part, std::size_t count, std::size_t partner,
                   const AlignedTensor& one) {
    fusion.partners.resize(count);
    fusion.sizes.resize(count);
    fusion.partners[part.number] = partner;
    fusion.segment = part.segment;
    fusion.is_guess = fusion.is_guess || one.is_guess;
  }

  void rename(std::size_t source, std::string to, Evidence evidence, bool is_guess) {
    plan_.renamings.push_back({source_[source].name, std::move(to), evidence, is_guess});
    renamed_.push_back(source);
  }

  static bool is_complete(const Fusion& fusion) {
    return std::all_of(fusion.partners.begin(), fusion.partners.end(),
                       [](const auto& one) { return one.has_value(); });
  }

  static bool is_usual(std::string_view leaf) { return leaf == "weight" || leaf == "bias"; }

  void add_split(std::size_t whole, const Fusion& fusion) {
    const std::string& name = source_[whole].name;
    const bool is_joined = fusion.segment == last_segment(name);
    const std::optional<LayerName> from = layer_name(name, is_joined);
    if (!from || !is_usual(from->leaf)) return;
    const std::string module = below(from->parent, from->segment);
    std::vector<std::string> parts;
    std::optional<std::string_view> parent;
    for (std::size_t i = 0; i < fusion.partners.size(); ++i) {
      if (!fusion.partners[i]) {
        const auto known = part_names_.find(module);
        if (known == part_names_.end() || known->second.size() != fusion.partners.size()) return;
        parts.push_back(known->second[i]);
        continue;
      }
      const std::optional<LayerName> to = layer_name(wanted_[*fusion.partners[i]].name, false);
      if (!to || to->leaf != from->leaf) return;
      if (parent && to->parent != *parent) return;
      parent = to->parent;
      parts.emplace_back(to->segment);
    }
    if (!parent) return;
    part_names_.try_emplace(module, parts);
    // Two fused tensors of one module keep different names until they are cut.
    std::string segment(from->segment);
    const auto name_now = [&] { return below(*parent, text_of(*from, segment, from->leaf)); };
    if (!fused_names_.insert(name_now()).second) {
      segment += "_" + parts.front();
      fused_names_.insert(name_now());
    }
    const bool is_guess = fusion.is_guess || is_order_doubtful(name);
    rename(whole, name_now(), Evidence::words, is_guess);
    plan_.matched += static_cast<std::size_t>(
        std::count_if(fusion.partners.begin(), fusion.partners.end(),
                      [](const auto& partner) { return partner.has_value(); }));
    std::vector<std::uint64_t> shares = fusion.sizes;
    const std::uint64_t unit =
        std::accumulate(shares.begin(), shares.end(), std::uint64_t{0},
                        [](std::uint64_t a, std::uint64_t b) { return std::gcd(a, b); });
    for (std::uint64_t& share : shares) share /= std::max<std::uint64_t>(unit, 1);
    if (std::all_of(shares.begin(), shares.end(), [](std::uint64_t one) { return one == 1; })) {
      shares.clear();
    }
    add_edit({.kind = TensorEdit::Kind::split,
              .tensors = {name},
              .segment = segment,
              .is_joined = from->is_joined,
              .parts = std::move(parts),
              .shares = std::move(shares),
              .is_guess = is_guess});
  }

  void add_join(std::size_t whole, const Fusion& fusion) {
    if (!is_complete(fusion)) return;
    const std::string& name = wanted_[whole].name;
    const bool is_joined = fusion.segment == last_segment(name);
    const std::optional<LayerName> to = layer_name(name, is_joined);
    if (!to || !is_usual(to->leaf)) return;
    std::vector<LayerName> parts;
    for (const auto& partner : fusion.partners) {
      const std::optional<LayerName> from = layer_name(source_[*partner].name, false);
      if (!from || from->leaf != to->leaf) return;
      parts.push_back(*from);
    }
    const bool is_guess = fusion.is_guess || is_order_doubtful(name);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      rename(*fusion.partners[i], below(to->parent, text_of(parts[i], parts[i].segment, to->leaf)),
             Evidence::words, is_guess);
    }
    ++plan_.matched;
    NeededEdit edit = {.kind = TensorEdit::Kind::join,
                       .tensors = {source_[*fusion.partners[0]].name},
                       .segment = std::string(parts[0].segment),
                       .whole = std::string(to->segment) + (to->is_joined ? "_" : "."),
                       .is_guess = is_guess};
    for (std::size_t i = 1; i < parts.size(); ++i) edit.parts.emplace_back(parts[i].segment);
    add_edit(std::move(edit));
  }

  // One split or join is for all modules that need it.
  void add_edit(NeededEdit edit) {
    std::string key = edit.segment + '\n' + edit.whole + (edit.is_guess ? "\n?" : "\n");
    for (const std::string& part : edit.parts) key += '\n' + part;
    for (const std::uint64_t share : edit.shares) key += '\n' + std::to_string(share);
    const auto [known, is_new] = edits_.try_emplace(std::move(key), edit);
    if (!is_new) known->second.tensors.push_back(std::move(edit.tensors.front()));
  }

  void add_transposed() {
    NeededEdit edit = {.kind = TensorEdit::Kind::transpose};
    for (const std::size_t source : renamed_) {
      if (regrouping_.transposed[source]) edit.tensors.push_back(source_[source].name);
    }
    if (!edit.tensors.empty()) plan_.edits.push_back(std::move(edit));
  }

  std::span<const TreeTensor> source_;
  std::span<const TreeTensor> wanted_;
  const Regrouping& regrouping_;
  std::span<const AlignedTensor> alignment_;
  std::map<std::size_t, Fusion> splits_;                        // by the tensor of the file
  std::map<std::size_t, Fusion> joins_;                         // by the wanted tensor
  std::vector<std::size_t> renamed_;                            // tensors of the file
  std::map<std::string, std::vector<std::string>> part_names_;  // of modules that are cut
  std::set<std::string> fused_names_;  // that tensors have before they are cut
  std::map<std::string, NeededEdit> edits_;
  RenamingPlan plan_;
};

}  // namespace

RenamingPlan plan_renaming(std::span<const TreeTensor> source, std::span<const TreeTensor> wanted,
                           const Regrouping& regrouping, std::span<const AlignedTensor> alignment) {
  return Planner(source, wanted, regrouping, alignment).plan();
}

}  // namespace andiron::inline v1::detail
