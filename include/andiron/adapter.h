// SPDX-License-Identifier: MIT OR Apache-2.0
// How a file that another framework wrote, or will read, stores a module's tensors.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/place.h"
#include "andiron/shape.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1 {

/// Where an adapter looks for tensors on a load: in the file, after its names were remapped, or in
/// what the adapter before it in a chain gives.
class TensorLookup {
 public:
  virtual ~TensorLookup() = default;
  /// The tensor of that name, nothing when there is none. A tensor that was found counts as used.
  virtual Result<std::optional<TensorSnapshot>> find(std::string_view name) = 0;
};

/// Which way tensors move.
enum class Direction : std::uint8_t { load, save };

/// Translates between a module and a file, lazily: adapters build expressions and read nothing.
/// Immutable and safe from several threads.
///
/// Most adapters change one tensor at a time and override adapt(). Those that make one tensor of
/// several, or several of one, override load() and save().
///
///   // The file has the query, key and value of attention in one tensor, "qkv".
///   class CutsQkv final : public Chainable<CutsQkv> {
///    public:
///     Result<std::optional<TensorSnapshot>> load(const Place& place,
///                                                TensorLookup& file) const override {
///       const std::string_view name = place.name();
///       const int part = name == "query" ? 0 : name == "key" ? 1 : name == "value" ? 2 : -1;
///       if (part < 0) return Adapter::load(place, file);
///       Result<std::optional<TensorSnapshot>> fused = file.find(place.with_name("qkv"));
///       if (!fused || !*fused) return fused;
///       const auto rows = static_cast<std::int64_t>((*fused)->shape()[0] / 3);
///       Result<TensorSnapshot> cut = (*fused)->slice(0, part * rows, (part + 1) * rows);
///       if (!cut) return std::move(cut).error();
///       return *std::move(cut);
///     }
///   };
class Adapter {
 public:
  virtual ~Adapter() = default;

  /// The tensor that feeds `place`; nothing when the file has none. Unless overridden: the file's
  /// tensor under the place's path, through adapt().
  virtual Result<std::optional<TensorSnapshot>> load(const Place& place, TensorLookup& file) const;
  /// The file's tensors for those of a module, which carry their path and container. Unless
  /// overridden: each through adapt().
  virtual Result<Snapshots> save(Snapshots tensors) const;
  /// The first bad argument that the adapter was built with. Every operation that takes the adapter
  /// returns it.
  virtual Status status() const { return {}; }

 protected:
  /// One tensor, changed. Unless overridden: as it is. On a save it may be renamed
  /// (set_full_path); on a load its name is the place's.
  virtual Result<TensorSnapshot> adapt(Direction direction, const Place& place,
                                       TensorSnapshot tensor) const;
};

class ChainAdapter;

/// Any adapter as a value; made from each of them, and from a shared pointer. Empty, it is the
/// identity.
class AnyAdapter {
 public:
  AnyAdapter();
  template <std::derived_from<Adapter> A>
  AnyAdapter(A adapter)  // NOLINT(google-explicit-constructor): adapters are given by value
      : adapter_(std::make_shared<const A>(std::move(adapter))) {}
  /// nullptr is the identity.
  AnyAdapter(std::shared_ptr<const Adapter> adapter);  // NOLINT(google-explicit-constructor)

  /// Whether it was given an adapter.
  bool is_set() const noexcept;
  const Adapter& operator*() const noexcept { return *adapter_; }
  const Adapter* operator->() const noexcept { return adapter_.get(); }

 private:
  std::shared_ptr<const Adapter> adapter_;
};

/// Gives an adapter class `.chain(next)`: tensors pass through it first, then through `next`, on
/// loads and saves alike.
template <class Self>
class Chainable : public Adapter {
 public:
  ChainAdapter chain(AnyAdapter next) const;

 private:
  Chainable() = default;
  friend Self;
};

/// Changes nothing.
class IdentityAdapter final : public Chainable<IdentityAdapter> {};

/// Two adapters, one after the other.
class ChainAdapter final : public Chainable<ChainAdapter> {
 public:
  ChainAdapter(AnyAdapter first, AnyAdapter second)
      : first_(std::move(first)), second_(std::move(second)) {}

  Result<std::optional<TensorSnapshot>> load(const Place& place, TensorLookup& file) const override;
  Result<Snapshots> save(Snapshots tensors) const override;
  Status status() const override;

 private:
  AnyAdapter first_;
  AnyAdapter second_;
};

template <class Self>
ChainAdapter Chainable<Self>::chain(AnyAdapter next) const {
  return ChainAdapter(static_cast<const Self&>(*this), std::move(next));
}

// ---- Rules ----

/// Reorders dimensions: dimension i of the result is dimension dims[i]. A tensor of another rank
/// passes unchanged.
struct PermuteStep {
  std::vector<std::size_t> dims;
};
/// Gives another shape. A tensor of another shape than `from` is an error.
struct ReshapeStep {
  Shape from;
  Shape to;
};
/// Cuts one tensor along a dimension, into equal parts or in proportion to `shares`.
struct SplitStep {
  std::size_t dim = 0;
  std::vector<std::uint64_t> shares = {};
};
/// Joins tensors along a dimension; backwards it is a SplitStep.
struct ConcatStep {
  std::size_t dim = 0;
  std::vector<std::uint64_t> shares = {};
};
/// Joins tensors along a new dimension.
struct StackStep {
  std::size_t dim = 0;
};
/// Takes a dimension apart; backwards it is a StackStep.
struct UnstackStep {
  std::size_t dim = 0;
};
using AdapterStep =
    std::variant<PermuteStep, ReshapeStep, SplitStep, ConcatStep, StackStep, UnstackStep>;

/// How the tensors `from` of one kind of module become the tensors `to`. Names are relative to the
/// module and may go down ("query.weight"). Every step can be undone, so a rule serves both ways.
///
///   // PyTorch keeps the three projections of attention in one tensor.
///   AdapterRule{.module_type = "MultiHeadAttention",
///               .from = {"in_proj_weight"},
///               .to = {"query.weight", "key.weight", "value.weight"},
///               .steps = {SplitStep{0}, PermuteStep{{1, 0}}}}
struct AdapterRule {
  std::string module_type;  ///< "Linear"; "Struct:Linear" means the same
  std::vector<std::string> from;
  std::vector<std::string> to;
  std::vector<AdapterStep> steps = {};
};

/// Translates by a table of rules. For a place, the rules that name it are tried in order; the
/// first whose tensors are there feeds it, and without one the tensor of its own name does. A rule
/// from one tensor to one takes the tensor under the place's own name first, then the one under the
/// rule's other name. Its own name does not count where another rule takes its tensors from that
/// name: so rules may exchange names. A tensor that is to be made of several, of which some are
/// missing or were filtered out, is AdapterFailed and names both. Quantized tensors pass rules of
/// one tensor unchanged.
///
/// A subclass may add rules, but no behaviour: a chain copies the rules alone.
class RuleAdapter : public Chainable<RuleAdapter> {
 public:
  /// `forward`: the source has the `from` side. Otherwise it has the `to` side and the steps are
  /// undone.
  RuleAdapter(std::vector<AdapterRule> rules, bool forward);

  Result<std::optional<TensorSnapshot>> load(const Place& place, TensorLookup& file) const final;
  Result<Snapshots> save(Snapshots tensors) const final;
  /// InvalidArgument for a rule whose steps do not lead from its `from` to its `to`.
  Status status() const final;

 protected:
  /// Puts a rule before the others.
  void add_rule(AdapterRule rule);

 private:
  struct Table;
  std::shared_ptr<const Table> table_;
};

/// The PyTorch table: Linear weights are transposed; weight and bias of BatchNorm, LayerNorm,
/// GroupNorm, InstanceNorm and RmsNorm become gamma and beta, weight of PRelu alpha.
std::vector<AdapterRule> pytorch_rules();

/// From PyTorch's names and layouts to Burn's, which are ours: for loading files that PyTorch
/// wrote.
class PyTorchToBurnAdapter final : public RuleAdapter {
 public:
  PyTorchToBurnAdapter() : RuleAdapter(pytorch_rules(), true) {}
  /// Adds a rule for modules of your own; `from` is PyTorch's side.
  PyTorchToBurnAdapter with_rule(AdapterRule rule) const;
};

/// From Burn's names and layouts to PyTorch's: for saving files that PyTorch will read.
class BurnToPyTorchAdapter final : public RuleAdapter {
 public:
  BurnToPyTorchAdapter() : RuleAdapter(pytorch_rules(), false) {}
  /// Adds a rule for modules of your own; `from` is PyTorch's side, as in PyTorchToBurnAdapter.
  BurnToPyTorchAdapter with_rule(AdapterRule rule) const;
};

// ---- Precision ----

/// Saves f32 as f16 and loads f16 as f32, in modules where that is safe: Linear, Embedding,
/// Conv1d/2d/3d, ConvTranspose1d/2d/3d, DeformConv2d, LayerNorm, GroupNorm, InstanceNorm, RmsNorm
/// and PRelu. Not in BatchNorm, whose running variance would underflow. Other dtypes pass.
class HalfPrecisionAdapter final : public Chainable<HalfPrecisionAdapter> {
 public:
  HalfPrecisionAdapter();
  /// Adds a kind of module: "Attention"; for an enum "Enum:Attention".
  HalfPrecisionAdapter with_module(std::string_view module_type) const;
  /// Takes one out; InvalidArgument in status() when it is not in.
  HalfPrecisionAdapter without_module(std::string_view module_type) const;
  /// The kinds of module, with their prefix.
  const std::set<std::string, std::less<>>& modules() const noexcept { return modules_; }
  Status status() const override;

 protected:
  Result<TensorSnapshot> adapt(Direction direction, const Place& place,
                               TensorSnapshot tensor) const override;

 private:
  std::set<std::string, std::less<>> modules_;
  std::optional<Error> first_error_;
};

/// Converts every float tensor to one dtype, both ways. Others pass.
class FloatCastAdapter final : public Chainable<FloatCastAdapter> {
 public:
  /// f64, f32, f16 or bf16; anything else is InvalidArgument in status().
  static FloatCastAdapter to(DType dtype) { return FloatCastAdapter(dtype); }
  Status status() const override;

 protected:
  Result<TensorSnapshot> adapt(Direction direction, const Place& place,
                               TensorSnapshot tensor) const override;

 private:
  explicit FloatCastAdapter(DType dtype) : dtype_(dtype) {}
  DType dtype_;
};

}  // namespace andiron::inline v1
