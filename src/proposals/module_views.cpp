// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/module_views.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// Has one tensor, or nothing, and notes the names that are asked for.
class OfferingLookup final : public TensorLookup {
 public:
  OfferingLookup() = default;
  OfferingLookup(std::string_view name, TensorSnapshot tensor)
      : name_(name), tensor_(std::move(tensor)) {}
  Result<std::optional<TensorSnapshot>> find(std::string_view name) override {
    asked.emplace_back(name);
    return tensor_ && name == name_ ? tensor_ : std::nullopt;
  }
  std::vector<std::string> asked;

 private:
  std::string_view name_;
  std::optional<TensorSnapshot> tensor_;
};

// A tensor of any size that takes no memory.
std::optional<TensorSnapshot> tensor_of(DType dtype, const Shape& shape) {
  Result<Bytes> one = pass_on_out_of_memory(Bytes::allocate(64));
  if (!one || is_opaque(dtype)) return std::nullopt;
  const Result<std::uint64_t> bytes = Shape{}.byte_count(dtype);
  if (!bytes || *bytes > 64) return std::nullopt;
  Result<TensorSnapshot> scalar = pass_on_out_of_memory(
      TensorSnapshot::from_source("", memory_source(*std::move(one)), 0, *bytes, dtype, Shape{}));
  if (!scalar) return std::nullopt;
  Result<TensorSnapshot> expanded = pass_on_out_of_memory(scalar->expand(shape));
  if (!expanded) return std::nullopt;
  return *std::move(expanded);
}

// What a place asks for.
struct Asked {
  bool takes_last = false;  // of the names that the adapter looks for, otherwise the first
  bool is_turned = false;   // as a transposed matrix
};

class ViewFinder {
 public:
  ViewFinder(const ProposalInput& input, std::span<const std::size_t> places)
      : input_(input), places_(places) {}

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
      for (const AdapterChoice choice : {AdapterChoice::present, AdapterChoice::pytorch_to_burn,
                                         AdapterChoice::burn_to_pytorch, AdapterChoice::identity}) {
        ModuleView view = {choice, flips_variants, asked_with(choice, flips_variants)};
        const bool is_new = std::none_of(views.begin(), views.end(), [&](const ModuleView& other) {
          return other.asked == view.asked;
        });
        // Square matrices are asked for in the same shape, and read transposed.
        const bool turns_squares =
            choice == AdapterChoice::pytorch_to_burn && !input_.options.adapter.is_set() &&
            std::any_of(input_.wanted.begin(), input_.wanted.end(), [](const WantedTensor& one) {
              return one.place.container.is("Linear") && one.leaf.shape.rank() == 2;
            });
        if (is_new || turns_squares) views.push_back(std::move(view));
      }
    }
    return views;
  }

 private:
  std::vector<TreeTensor> asked_with(AdapterChoice choice, bool flips_variants) const {
    const AnyAdapter adapter = chosen_adapter(choice, input_.options.adapter);
    const std::span<const WantedTensor> wanted =
        flips_variants ? input_.wanted_other : input_.wanted;
    std::unordered_map<std::string, Asked> known;
    std::vector<TreeTensor> all;
    for (const std::size_t place : places_) {
      const WantedTensor& one = wanted[place];
      OfferingLookup nothing;
      // Errors of the adapter are none of ours: the names that it asked for are.
      static_cast<void>(pass_on_out_of_memory(adapter->load(one.place, nothing)));
      const std::string kind = one.place.container.path() + '\n' + std::string(one.place.name()) +
                               '\n' + one.leaf.shape.to_string();
      const auto [asked, is_new] = known.try_emplace(kind);
      if (is_new) asked->second = ask(*adapter, one);
      TreeTensor tensor;
      tensor.name = nothing.asked.empty()      ? one.place.path
                    : asked->second.takes_last ? nothing.asked.back()
                                               : nothing.asked.front();
      const std::span<const std::uint64_t> dims = one.leaf.shape.dims();
      tensor.shape.assign(dims.begin(), dims.end());
      if (asked->second.is_turned) std::swap(tensor.shape[0], tensor.shape[1]);
      tensor.kind = kind_number(one.leaf.dtype);
      all.push_back(std::move(tensor));
    }
    return all;
  }

  // A matrix is asked for as it is or transposed, under the last of its names: a norm's gamma is
  // asked for as PyTorch's weight, and attention's projections one by one.
  static Asked ask(const Adapter& adapter, const WantedTensor& wanted) {
    OfferingLookup nothing;
    static_cast<void>(pass_on_out_of_memory(adapter.load(wanted.place, nothing)));
    if (nothing.asked.empty()) return {};
    const std::string& last = nothing.asked.back();
    const Shape& shape = wanted.leaf.shape;
    for (const bool is_turned : {false, true}) {
      if (is_turned && shape.rank() != 2) break;
      const Shape there = is_turned ? Shape{shape[1], shape[0]} : shape;
      std::optional<TensorSnapshot> tensor = tensor_of(wanted.leaf.dtype, there);
      if (!tensor) continue;
      OfferingLookup lookup(last, *std::move(tensor));
      const Result<std::optional<TensorSnapshot>> got =
          pass_on_out_of_memory(adapter.load(wanted.place, lookup));
      if (!got || !*got) continue;
      if (wanted.leaf.accepts_any_shape || (*got)->shape() == shape) {
        return {true, is_turned};
      }
    }
    return {};
  }

  const ProposalInput& input_;
  std::span<const std::size_t> places_;
};

}  // namespace

std::uint8_t kind_number(DType dtype) {
  if (is_float(dtype) || dtype == DType::qfloat) return 1;
  if (is_integer(dtype)) return 2;
  if (is_complex(dtype)) return 3;
  return dtype == DType::boolean ? 4 : 5;
}

std::vector<ModuleView> views_of(const ProposalInput& input, std::span<const std::size_t> places) {
  return ViewFinder(input, places).find();
}

}  // namespace andiron::inline v1::detail
