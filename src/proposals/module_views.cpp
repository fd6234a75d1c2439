// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/module_views.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t many_forms = 64;

class NothingLookup final : public TensorLookup {
 public:
  Result<std::optional<TensorSnapshot>> find(std::string_view name) override {
    asked.emplace_back(name);
    return std::optional<TensorSnapshot>();
  }
  std::vector<std::string> asked;
};

class OneLookup final : public TensorLookup {
 public:
  OneLookup(std::string_view name, const TensorSnapshot& tensor) : name_(name), tensor_(tensor) {}
  Result<std::optional<TensorSnapshot>> find(std::string_view name) override {
    if (name != name_) return std::optional<TensorSnapshot>();
    return std::make_optional(tensor_);
  }

 private:
  std::string_view name_;
  const TensorSnapshot& tensor_;
};

// Equal for leaves that take the same tensors.
std::string text_of(const LeafInfo& leaf) {
  return std::string(dtype_name(leaf.dtype)) + (leaf.accepts_any_dtype ? "?" : "") +
         (leaf.accepts_any_shape ? "?" : leaf.shape.to_string());
}

class ViewFinder {
 public:
  ViewFinder(const ProposalInput& input, std::span<const std::size_t> places,
             const KnownForms& forms, WorkBudget& budget)
      : input_(input), places_(places), forms_(forms), budget_(budget) {}

  std::vector<ModuleView> find() {
    std::vector<ModuleView> views;
    const bool has_variants =
        input_.wanted_other.size() == input_.wanted.size() &&
        !std::equal(input_.wanted.begin(), input_.wanted.end(), input_.wanted_other.begin(),
                    [](const WantedTensor& a, const WantedTensor& b) {
                      return a.place.path == b.place.path;
                    });
    for (const bool flips_variants : {false, true}) {
      if (flips_variants && !has_variants) break;
      const std::size_t first = views.size();
      for (const AdapterChoice choice : {AdapterChoice::present, AdapterChoice::pytorch_to_burn,
                                         AdapterChoice::burn_to_pytorch, AdapterChoice::identity}) {
        ModuleView view = {choice,
                           flips_variants,
                           chosen_adapter(choice, input_.options.adapter),
                           flips_variants ? input_.wanted_other : input_.wanted,
                           {},
                           {},
                           {}};
        ask(view);
        // An adapter that asks for and takes the same as another is no other view.
        const bool is_new = std::none_of(views.begin() + static_cast<std::ptrdiff_t>(first),
                                         views.end(), [&](const ModuleView& other) {
                                           return other.asked == view.asked &&
                                                  other.asking == view.asking &&
                                                  other.forms == view.forms;
                                         });
        if (is_new) views.push_back(std::move(view));
      }
    }
    return views;
  }

 private:
  void ask(ModuleView& view) {
    std::unordered_map<std::string, std::vector<std::size_t>> known;
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const WantedTensor& wanted = view.wanted[places_[p]];
      NothingLookup lookup;
      // Errors of the adapter are none of ours: the names that it asked for are.
      static_cast<void>(pass_on_out_of_memory(view.adapter->load(wanted.place, lookup)));
      const std::string kind = wanted.place.container.path() + '\n' +
                               std::string(wanted.place.name()) + '\n' + text_of(wanted.leaf);
      for (std::string& asked : lookup.asked) {
        const std::size_t dot = asked.rfind('.');
        const auto [forms, is_new] =
            known.try_emplace(kind + '\n' + asked.substr(dot == std::string::npos ? 0 : dot));
        if (is_new) forms->second = fitting_forms(view, wanted, asked);
        view.forms.push_back(forms->second);
        view.asked.push_back(std::move(asked));
        view.asking.push_back(p);
      }
    }
  }

  // The forms of tensors that would fit, were they there under the name asked for.
  std::vector<std::size_t> fitting_forms(const ModuleView& view, const WantedTensor& wanted,
                                         std::string_view asked) {
    std::vector<std::size_t> fitting;
    for (const std::size_t form : forms_.likely(wanted.leaf)) {
      if (!budget_.spend(1)) break;
      OneLookup lookup(asked, forms_.example(form));
      const Result<std::optional<TensorSnapshot>> got =
          pass_on_out_of_memory(view.adapter->load(wanted.place, lookup));
      // An error says that it needs others beside it.
      if (!got || (*got && fits(**got, wanted.leaf, input_.options.dtype_policy)))
        fitting.push_back(form);
    }
    return fitting;
  }

  const ProposalInput& input_;
  std::span<const std::size_t> places_;
  const KnownForms& forms_;
  WorkBudget& budget_;
};

}  // namespace

std::size_t KnownForms::add(const TensorSnapshot& tensor) {
  const std::span<const std::uint64_t> dims = tensor.shape().dims();
  const auto [known, is_new] =
      numbers_.try_emplace({tensor.dtype(), {dims.begin(), dims.end()}}, examples_.size());
  if (is_new) {
    examples_.push_back(tensor);
    const Result<std::uint64_t> count = tensor.shape().element_count();
    if (count) by_element_count_.emplace(*count, known->second);
  }
  return known->second;
}

std::vector<std::size_t> KnownForms::likely(const LeafInfo& leaf) const {
  std::vector<std::size_t> likely;
  if (size() <= many_forms || leaf.accepts_any_shape) {
    likely.resize(size());
    std::iota(likely.begin(), likely.end(), std::size_t{0});
  } else if (const Result<std::uint64_t> count = leaf.shape.element_count()) {
    const auto [first, last] = by_element_count_.equal_range(*count);
    for (auto form = first; form != last; ++form) likely.push_back(form->second);
  }
  return likely;
}

std::vector<ModuleView> views_of(const ProposalInput& input, std::span<const std::size_t> places,
                                 const KnownForms& forms, WorkBudget& budget) {
  return ViewFinder(input, places, forms, budget).find();
}

}  // namespace andiron::inline v1::detail
