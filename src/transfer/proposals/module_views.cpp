// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/transfer/proposals_test.cpp
#include "src/transfer/proposals/module_views.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace andiron {
inline namespace v1 {
namespace detail {
namespace {

constexpr std::size_t many_shapes = 64;

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

class ViewFinder {
 public:
  ViewFinder(const ProposalInput& input, std::span<const std::size_t> places,
             const KnownShapes& shapes, WorkBudget& budget)
      : input_(input), places_(places), shapes_(shapes), budget_(budget) {}

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
                           chosen_adapter(choice, input_.adapter),
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
                                                  other.shapes == view.shapes;
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
      static_cast<void>(view.adapter->load(wanted.place, lookup));
      const std::string kind = wanted.place.container.path() + '\n' +
                               std::string(wanted.place.name()) + '\n' +
                               (wanted.shape ? wanted.shape->to_string() : "");
      for (std::string& asked : lookup.asked) {
        const std::size_t dot = asked.rfind('.');
        const auto [shapes, is_new] =
            known.try_emplace(kind + '\n' + asked.substr(dot == std::string::npos ? 0 : dot));
        if (is_new) shapes->second = fitting_shapes(view, wanted, asked);
        view.shapes.push_back(shapes->second);
        view.asked.push_back(std::move(asked));
        view.asking.push_back(p);
      }
    }
  }

  // The shapes of tensors that would fit, were they there under the name asked for.
  std::vector<std::size_t> fitting_shapes(const ModuleView& view, const WantedTensor& wanted,
                                          std::string_view asked) {
    std::vector<std::size_t> fitting;
    for (const std::size_t shape : shapes_.likely(wanted.shape)) {
      if (!budget_.spend(1)) break;
      OneLookup lookup(asked, shapes_.example(shape));
      const Result<std::optional<TensorSnapshot>> got = view.adapter->load(wanted.place, lookup);
      // An error says that it needs others beside it.
      const bool fits = !got || (*got && (!wanted.shape || (*got)->shape() == *wanted.shape));
      if (fits) fitting.push_back(shape);
    }
    return fitting;
  }

  const ProposalInput& input_;
  std::span<const std::size_t> places_;
  const KnownShapes& shapes_;
  WorkBudget& budget_;
};

}  // namespace

std::size_t KnownShapes::add(const TensorSnapshot& tensor) {
  const std::span<const std::uint64_t> dims = tensor.shape().dims();
  const auto [known, is_new] = numbers_.try_emplace({dims.begin(), dims.end()}, examples_.size());
  if (is_new) {
    examples_.push_back(tensor);
    const Result<std::uint64_t> count = tensor.shape().element_count();
    if (count) by_element_count_.emplace(*count, known->second);
  }
  return known->second;
}

std::vector<std::size_t> KnownShapes::likely(const std::optional<Shape>& wanted) const {
  std::vector<std::size_t> likely;
  if (size() <= many_shapes || !wanted) {
    likely.resize(size());
    std::iota(likely.begin(), likely.end(), std::size_t{0});
  } else if (const Result<std::uint64_t> count = wanted->element_count()) {
    const auto [first, last] = by_element_count_.equal_range(*count);
    for (auto shape = first; shape != last; ++shape) likely.push_back(shape->second);
  }
  return likely;
}

std::vector<ModuleView> views_of(const ProposalInput& input, std::span<const std::size_t> places,
                                 const KnownShapes& shapes, WorkBudget& budget) {
  return ViewFinder(input, places, shapes, budget).find();
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
