// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/layout_notes_test.cpp
#include "src/load/layout_notes.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

enum class MatrixWay : std::uint8_t { as_stored, converted, transposed, other };

// How a matrix of a module lies, compared with the one of the source that it is made from.
MatrixWay way_of(const TensorSnapshot& tensor, const TensorSnapshot& stored) {
  if (tensor.is_same_data(stored)) return MatrixWay::as_stored;
  const auto is_converted = [&](Result<TensorSnapshot> from) {
    if (from && from->dtype() != tensor.dtype()) from = from->cast(tensor.dtype());
    throw_if_out_of_memory(from);
    return from && tensor.is_same_data(*from);
  };
  if (is_converted(stored)) return MatrixWay::converted;
  return is_converted(stored.permute({1, 0})) ? MatrixWay::transposed : MatrixWay::other;
}

// The weights of Linear layers, by the way they lie.
class LinearWeights {
 public:
  LinearWeights(const std::vector<Slot>& slots, const Archive& source, const LoadPlan& plan,
                bool squares_alone) {
    for (const Assignment& assignment : plan.assignments) {
      const Slot& slot = slots[assignment.slot];
      const Shape& shape = assignment.tensor.shape();
      const bool is_matrix = slot.container.is("Linear") && shape.rank() == 2;
      if (!is_matrix || assignment.source_count != 1 || shape == Shape{1, 1}) continue;
      const bool is_square = shape[0] == shape[1];
      if (!is_square && (squares_alone || slot.ops->info(slot.leaf).accepts_any_shape)) continue;
      const std::uint32_t stored = plan.sources[assignment.first_source];
      (is_square ? square_ : oblong_)
          .push_back({way_of(assignment.tensor, source.snapshot(stored)), slot.path});
    }
  }

  std::vector<std::string_view> square(std::initializer_list<MatrixWay> ways) const {
    std::vector<std::string_view> paths;
    for (const Weight& weight : square_) {
      if (std::find(ways.begin(), ways.end(), weight.way) != ways.end()) {
        paths.push_back(weight.path);
      }
    }
    return paths;
  }
  // Whether one that fits only one way lies so.
  bool has_oblong(std::initializer_list<MatrixWay> ways) const {
    return std::any_of(oblong_.begin(), oblong_.end(), [&](const Weight& weight) {
      return std::find(ways.begin(), ways.end(), weight.way) != ways.end();
    });
  }

 private:
  struct Weight {
    MatrixWay way;
    std::string_view path;
  };
  std::vector<Weight> square_;
  std::vector<Weight> oblong_;
};

// The weights of Linear layers that do not fit, and would as they are stored.
std::vector<std::string_view> spoiled_weights(const std::vector<Slot>& slots, const Archive& source,
                                              const LoadPlan& plan) {
  std::unordered_set<std::string_view> misshapen;
  for (const Error& error : plan.result.errors) {
    if (error.code == ErrorCode::shape_mismatch) misshapen.insert(error.tensor);
  }
  std::vector<std::string_view> paths;
  for (const NotTaken& refused : plan.not_taken) {
    const Slot& slot = slots[refused.slot];
    if (!slot.container.is("Linear") || !misshapen.contains(slot.path)) continue;
    const Shape stored(source.info(plan.sources[refused.first_source]).shape);
    const bool would_fit = refused.source_count == 1 && stored.rank() == 2 &&
                           stored == slot.ops->info(slot.leaf).shape;
    if (would_fit) paths.push_back(slot.path);
  }
  return paths;
}

}  // namespace

void note_layout(const std::vector<Slot>& slots, const Archive& source, const ApplyOptions& options,
                 LoadPlan& plan) {
  const std::optional<KnownLayout> known = layout_of(source);
  const bool is_adapted = options.adapter.is_set();
  // What says nothing of itself is left to the adapter, and so is what no file holds.
  const bool is_of_pytorch = known && known->layout == Layout::pytorch;
  const bool is_settled =
      known ? !is_of_pytorch && !is_adapted : is_adapted || source.format().empty();
  if (is_settled) return;
  const LinearWeights weights(slots, source, plan, is_of_pytorch);
  std::vector<Message>& notes = plan.result.notes;
  if (is_of_pytorch) {
    // An adapter that changes nothing is there on purpose. One that converts says nothing of the
    // layout.
    const bool is_cast = options.dtype_policy == DTypePolicy::cast_to_module;
    std::vector<std::string_view> kept;
    if (!is_adapted) kept = weights.square({MatrixWay::as_stored, MatrixWay::converted});
    if (is_adapted && !is_cast) kept = weights.square({MatrixWay::converted});
    if (kept.empty()) return;
    notes.push_back(known->reason + ", which stores " + in_quotes_and_others(kept) +
                    " transposed; use " + Message(Advice::adapt_from_pytorch));
  } else if (known) {
    // The other adapter is for modules that have PyTorch's layout.
    if (!options.adapter->format_mark().empty()) return;
    std::vector<std::string_view> turned = weights.square({MatrixWay::transposed});
    for (const std::string_view path : spoiled_weights(slots, source, plan)) turned.push_back(path);
    if (turned.empty() || weights.has_oblong({MatrixWay::transposed})) return;
    notes.push_back(known->reason + " in Burn's layout, but the adapter transposes " +
                    in_quotes_and_others(turned) + "; load it " + Message(Advice::without_adapter) +
                    ", unless it was saved through an adapter");
  } else {
    const auto unturned = {MatrixWay::as_stored, MatrixWay::converted};
    const std::vector<std::string_view> square = weights.square(unturned);
    if (square.empty() || weights.has_oblong(unturned)) return;
    notes.push_back(
        "nothing tells the layout of " + in_quotes_and_others(square) +
        ": a square matrix fits either way, and was taken as [in, out]; if PyTorch wrote the "
        "file, use " +
        Message(Advice::adapt_from_pytorch) + ", and if not, IdentityAdapter()");
  }
}

}  // namespace andiron::inline v1::detail
