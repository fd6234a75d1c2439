// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/module_views.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "src/core/try.h"
#include "src/names/rename.h"
#include "src/proposals/name_parts.h"

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

// The name of a tensor, and what it is for a place that asks for it.
struct Asked {
  std::string name;
  bool is_turned = false;  // a transposed matrix
  std::size_t parts = 1;   // places that it feeds, this one among them
};

// A place, and the names that the adapter looks for, the first one first.
struct Asking {
  std::size_t place;
  std::vector<std::string> names;
};

class ViewFinder {
 public:
  ViewFinder(const ProposalInput& input, const Archive& file, std::span<const std::size_t> places)
      : input_(input), places_(places), is_from_pytorch_(is_from_pytorch(file)) {
    for (const std::string_view name : names_and_aliases(file)) endings_.insert(last_segment(name));
  }

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
      bool reads_pytorch = false;  // the adapter that is set
      for (const AdapterChoice& choice : {AdapterChoice(), AdapterChoice(from_pytorch),
                                          AdapterChoice(to_pytorch), AdapterChoice(no_adapter)}) {
        if (choice == to_pytorch && (reads_pytorch || !may_be_pytorchs())) {
          continue;
        }
        ModuleView view = view_with(choice, flips_variants);
        const bool is_new = std::none_of(views.begin(), views.end(), [&](const ModuleView& other) {
          return other.asked == view.asked;
        });
        if (choice == from_pytorch) {
          reads_pytorch = input_.options.adapter.is_set() && !is_new;
        }
        // Square matrices are asked for in the same shape, and read transposed.
        const bool turns_squares =
            choice == from_pytorch && !input_.options.adapter.is_set() &&
            std::any_of(input_.wanted.begin(), input_.wanted.end(), [](const WantedTensor& one) {
              return one.place.container.is("Linear") && one.leaf.shape.rank() == 2;
            });
        if (is_new || turns_squares) views.push_back(std::move(view));
      }
    }
    return views;
  }

 private:
  // Whether the module may have PyTorch's layouts, for a file that has Burn's: layers of ours have
  // Burn's.
  bool may_be_pytorchs() const {
    return !is_from_pytorch_ &&
           std::none_of(input_.wanted.begin(), input_.wanted.end(), [](const WantedTensor& one) {
             const std::vector<std::string>& kinds = one.place.container.kinds();
             return std::any_of(kinds.begin(), kinds.end(), [](const std::string& kind) {
               return Container::plain(kind).starts_with("nn.");
             });
           });
  }

  ModuleView view_with(const AdapterChoice& choice, bool flips_variants) {
    const AnyAdapter adapter = chosen_adapter(choice, input_.options.adapter);
    const std::span<const WantedTensor> wanted =
        flips_variants ? input_.wanted_other : input_.wanted;
    std::vector<Asking> all;
    askers_.clear();
    turns_.clear();
    for (const std::size_t place : places_) {
      OfferingLookup nothing;
      // Errors of the adapter are none of ours: the names that it asked for are.
      static_cast<void>(pass_on_out_of_memory(adapter->load(wanted[place].place, nothing)));
      all.push_back({place, std::move(nothing.asked)});
    }
    for (const Asking& one : all) {
      for (auto name = one.names.begin(); name != one.names.end(); ++name) {
        if (std::find(one.names.begin(), name, *name) == name) ++askers_[*name];
      }
    }
    ModuleView view = {choice, flips_variants, {}, {}};
    std::unordered_map<std::string, std::size_t> known;
    for (const Asking& one : all) {
      const WantedTensor& tensor = wanted[one.place];
      Asked asked = ask(*adapter, tensor, one.names);
      const auto [at, is_new] = known.try_emplace(asked.name, view.asked.size());
      if (!is_new && asked.parts > 1) {
        view.feeds[at->second].push_back(one.place);
        continue;
      }
      std::vector<std::uint64_t> dims = dims_of(tensor.leaf.shape, asked);
      view.asked.push_back(
          {std::move(asked.name), std::move(dims), kind_number(tensor.leaf.dtype)});
      view.feeds.push_back({one.place});
    }
    return view;
  }

  // The name under which the file is most likely to have what a place asks for: a tensor that the
  // adapter takes apart, if names of the file end so; then the last one that they end in, as a
  // norm's gamma is asked for as PyTorch's weight; then the last one.
  Asked ask(const Adapter& adapter, const WantedTensor& wanted,
            const std::vector<std::string>& names) {
    std::optional<Asked> best;
    int best_rank = 0;
    for (std::size_t i = names.size(); i-- > 0;) {
      const bool is_there = endings_.contains(last_segment(names[i]));
      const std::size_t askers = is_there ? askers_.at(names[i]) : 1;
      for (const std::size_t parts : std::set<std::size_t>{1, askers}) {
        const int rank = parts > 1 ? 3 : is_there ? 2 : 1;
        if (rank < best_rank || (rank == best_rank && parts == 1)) continue;
        Asked asked = {names[i], false, parts};
        if (!find_turn(adapter, wanted, i, asked)) continue;
        best = std::move(asked);
        best_rank = rank;
      }
    }
    if (best) return *std::move(best);
    return {names.empty() ? wanted.place.path : names.front(), false, 1};
  }

  static std::vector<std::uint64_t> dims_of(const Shape& shape, const Asked& asked) {
    std::vector<std::uint64_t> dims(shape.dims().begin(), shape.dims().end());
    if (asked.is_turned) std::swap(dims[0], dims[1]);
    if (asked.parts > 1) dims[0] *= asked.parts;
    return dims;
  }

  // Finds out whether a matrix of this name is read transposed. Returns false if what it gives does
  // not fit. `position`: of the name among those of the place, the same for all places of a kind.
  bool find_turn(const Adapter& adapter, const WantedTensor& wanted, std::size_t position,
                 Asked& asked) {
    const Shape& shape = wanted.leaf.shape;
    const std::string kind = wanted.place.container.path() + '\n' +
                             std::string(wanted.place.name()) + '\n' + shape.to_string() + '\n' +
                             std::string(last_segment(asked.name)) + '\n' +
                             std::to_string(position) + '/' + std::to_string(asked.parts);
    const auto [known, is_new] = turns_.try_emplace(kind);
    if (is_new) known->second = turn_of(adapter, wanted, asked);
    asked.is_turned = known->second.value_or(false);
    return known->second.has_value();
  }
  static std::optional<bool> turn_of(const Adapter& adapter, const WantedTensor& wanted,
                                     Asked asked) {
    const Shape& shape = wanted.leaf.shape;
    if (asked.parts > 1 && shape.rank() == 0) return std::nullopt;
    for (const bool is_turned : {false, true}) {
      if (is_turned && shape.rank() != 2) break;
      asked.is_turned = is_turned;
      std::optional<TensorSnapshot> tensor =
          tensor_of(wanted.leaf.dtype, Shape(dims_of(shape, asked)));
      if (!tensor) continue;
      OfferingLookup lookup(asked.name, *std::move(tensor));
      const Result<std::optional<TensorSnapshot>> got =
          pass_on_out_of_memory(adapter.load(wanted.place, lookup));
      if (!got || !*got) continue;
      if (wanted.leaf.accepts_any_shape || (*got)->shape() == shape) return is_turned;
    }
    return std::nullopt;
  }

  const ProposalInput& input_;
  std::span<const std::size_t> places_;
  bool is_from_pytorch_;
  std::unordered_set<std::string_view> endings_;                // of the file's names
  std::unordered_map<std::string, std::size_t> askers_;         // of each name under an adapter
  std::unordered_map<std::string, std::optional<bool>> turns_;  // by kinds of asked tensors
};

}  // namespace

std::uint8_t kind_number(DType dtype) {
  if (is_float(dtype) || dtype == DType::qfloat) return 1;
  if (is_integer(dtype)) return 2;
  if (is_complex(dtype)) return 3;
  return dtype == DType::boolean ? 4 : 5;
}

bool is_from_pytorch(const Archive& file) {
  const std::optional<KnownLayout> known = layout_of(file);
  return known && known->layout == Layout::pytorch;
}

std::vector<ModuleView> views_of(const ProposalInput& input, const Archive& file,
                                 std::span<const std::size_t> places) {
  return ViewFinder(input, file, places).find();
}

}  // namespace andiron::inline v1::detail
