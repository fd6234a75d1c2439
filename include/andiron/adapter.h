// SPDX-License-Identifier: MIT OR Apache-2.0
// Adapters convert between the layouts of a module and those of another framework's files.
//
//   SafetensorsStore::from_file("model.safetensors")
//       .with_from_adapter(PyTorchToBurnAdapter())                // load what PyTorch wrote
//       .with_to_adapter(BurnToPyTorchAdapter().chain(HalfPrecisionAdapter()))
//
// Ready to use: PyTorchToBurnAdapter, BurnToPyTorchAdapter, HalfPrecisionAdapter, FloatCastAdapter.
// Your own: a table of rules (RuleAdapter), or a class derived from Chainable. Exceptions that it
// throws pass through: a load then changed nothing, a save kept the old file.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
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

/// Where an adapter finds tensors on a load: in the file, after its names were remapped, or in the
/// result of the previous adapter of a chain.
class TensorLookup {
 public:
  virtual ~TensorLookup() = default;
  /// Returns the tensor with this name, or nothing. A tensor that was found counts as used.
  virtual Result<std::optional<TensorSnapshot>> find(std::string_view name) = 0;
};

class AnyAdapter;

/// The direction in which tensors move.
enum class Direction : std::uint8_t { load, save };

/// Converts between a module and a file. Adapters build snapshots and read nothing. They are
/// immutable and safe from several threads at once.
///
/// Most adapters change one tensor at a time and override adapt(). An adapter that makes one tensor
/// from several, or several from one, overrides load() and save(). Derive from Chainable, not from
/// Adapter, so that chain() works.
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

  /// Returns the tensor for `place`, or nothing if the file has none. By default, looks up the
  /// place's path and passes the tensor through adapt().
  virtual Result<std::optional<TensorSnapshot>> load(const Place& place, TensorLookup& file) const;
  /// Returns the file's tensors for the tensors of a module, which carry their path and container.
  /// By default, passes each through adapt().
  virtual Result<Snapshots> save(Snapshots tensors) const;
  /// The same for a save into the names of `file` (Store::based_on): a tensor that it could give
  /// several names gets the one that the file has. By default, save().
  virtual Result<Snapshots> save_back(Snapshots tensors, TensorLookup& file) const;
  /// The first bad argument that the adapter was built with. Every operation that takes the adapter
  /// fails with it.
  virtual Status status() const { return {}; }
  /// Returns the adapter whose save() undoes what this one's load() did, for Store::based_on().
  /// By default, fails with Unsupported.
  virtual Result<AnyAdapter> inverse() const;
  /// The "format" that a SafeTensors file gets in its metadata when a store saves through this
  /// adapter: "pt" for PyTorch's layouts, which Hugging Face's readers ask for. Empty: the
  /// store's own.
  virtual std::string_view format_mark() const noexcept { return {}; }

 protected:
  /// Returns one tensor, changed. By default, returns it unchanged. A save may rename it
  /// (set_full_path); on a load it gets the place's name.
  virtual Result<TensorSnapshot> adapt(Direction direction, const Place& place,
                                       TensorSnapshot tensor) const;
};

class ChainAdapter;

/// Any adapter as a value. Converts from every adapter and from a shared pointer. Without an
/// adapter it is the identity. Copies are cheap.
class AnyAdapter {
 public:
  AnyAdapter();
  template <std::derived_from<Adapter> A>
  AnyAdapter(A adapter)  // NOLINT(google-explicit-constructor): adapters are given by value
      : adapter_(std::make_shared<const A>(std::move(adapter))) {}
  /// nullptr is the identity.
  AnyAdapter(std::shared_ptr<const Adapter> adapter);  // NOLINT(google-explicit-constructor)

  /// True if it was given an adapter.
  bool is_set() const noexcept;
  const Adapter& operator*() const noexcept { return *adapter_; }
  const Adapter* operator->() const noexcept { return adapter_.get(); }

 private:
  std::shared_ptr<const Adapter> adapter_;
};

// Adapter::inverse() returns it. Where a table of virtual functions is made without knowing that
// type, the function's signature is wrong, and WebAssembly compares signatures.
static_assert(sizeof(Result<AnyAdapter>) != 0);

/// Base class of adapters; gives them `.chain(next)`. Tensors pass through this adapter first, then
/// through `next`, on loads and on saves.
template <class Self>
class Chainable : public Adapter {
 public:
  ChainAdapter chain(AnyAdapter next) const;

 private:
  Chainable() = default;
  friend Self;
};

/// Changes nothing.
class IdentityAdapter final : public Chainable<IdentityAdapter> {
 public:
  Result<std::optional<TensorSnapshot>> load(const Place& place, TensorLookup& file) const override;
  Result<Snapshots> save(Snapshots tensors) const override;
  Result<AnyAdapter> inverse() const override;
};

/// Two adapters, one after the other.
class ChainAdapter final : public Chainable<ChainAdapter> {
 public:
  ChainAdapter(AnyAdapter first, AnyAdapter second)
      : first_(std::move(first)), second_(std::move(second)) {}

  Result<std::optional<TensorSnapshot>> load(const Place& place, TensorLookup& file) const override;
  Result<Snapshots> save(Snapshots tensors) const override;
  Result<Snapshots> save_back(Snapshots tensors, TensorLookup& file) const override;
  Status status() const override;
  Result<AnyAdapter> inverse() const override;
  std::string_view format_mark() const noexcept override;

 private:
  AnyAdapter first_;
  AnyAdapter second_;
};

template <class Self>
ChainAdapter Chainable<Self>::chain(AnyAdapter next) const {
  return ChainAdapter(static_cast<const Self&>(*this), std::move(next));
}

// ---- Rules ----

/// Reorders dimensions: dimension i of the result is dimension dims[i]. Leaves tensors of another
/// rank unchanged.
struct PermuteStep {
  std::vector<std::size_t> dims;
};
/// Changes the shape from `from` to `to`. Fails for a tensor of another shape.
struct ReshapeStep {
  Shape from;
  Shape to;
};
/// Splits one tensor along a dimension, into equal parts or in proportion to `shares`. Its inverse
/// is ConcatStep.
struct SplitStep {
  std::size_t dim = 0;
  std::vector<std::uint64_t> shares = {};
};
/// Joins tensors along a dimension. Its inverse is SplitStep.
struct ConcatStep {
  std::size_t dim = 0;
  std::vector<std::uint64_t> shares = {};
};
/// Joins tensors along a new dimension. Its inverse is UnstackStep.
struct StackStep {
  std::size_t dim = 0;
};
/// Splits a tensor into its slices along a dimension, and drops that dimension. Its inverse is
/// StackStep.
struct UnstackStep {
  std::size_t dim = 0;
};
/// One step of a rule.
using AdapterStep =
    std::variant<PermuteStep, ReshapeStep, SplitStep, ConcatStep, StackStep, UnstackStep>;

/// How the tensors `from` of one kind of module become the tensors `to`. Names are relative to the
/// module and may contain dots ("query.weight"). Every step has an inverse, so one rule serves both
/// directions.
///
///   // PyTorch keeps the three projections of attention in one tensor.
///   AdapterRule{.module_type = "MultiHeadAttention",
///               .from = {"in_proj_weight"},
///               .to = {"query.weight", "key.weight", "value.weight"},
///               .steps = {SplitStep{0}, PermuteStep{{1, 0}}}}
///
/// A '*' stands for a number, as a segment or part of one: "bias_l*" becomes "layers.*.bias". Every
/// name of the rule must then have one, and the number is the same in all. Numbers with leading
/// zeros do not match.
struct AdapterRule {
  std::string module_type;  ///< "Linear"; "Struct:Linear" means the same
  std::vector<std::string> from;
  std::vector<std::string> to;
  std::vector<AdapterStep> steps = {};
};

/// Converts with a table of rules.
///
/// On a load, the rules that name a place are tried in order. The first one whose tensors exist
/// feeds it; if there is none, the tensor of the same name does. A rule from one tensor to one
/// first tries the place's own name, then the rule's other name. It does not try the own name if
/// another rule takes its tensors from that name, so rules may swap names.
///
/// Fails with AdapterFailed, naming both tensors, if a tensor is made from several and some are
/// missing or filtered out. Rules for one tensor leave quantized tensors unchanged.
///
/// A subclass may add rules but no behavior: chain() copies only the rules.
class RuleAdapter : public Chainable<RuleAdapter> {
 public:
  /// If `forward`, the source has the `from` side. Otherwise it has the `to` side, and the inverse
  /// steps run.
  RuleAdapter(std::vector<AdapterRule> rules, bool forward);

  Result<std::optional<TensorSnapshot>> load(const Place& place, TensorLookup& file) const final;
  Result<Snapshots> save(Snapshots tensors) const final;
  Result<Snapshots> save_back(Snapshots tensors, TensorLookup& file) const final;
  /// Fails with InvalidArgument if the steps of a rule do not lead from its `from` to its `to`, or
  /// if some of its names have a '*' and others do not.
  Status status() const final;
  Result<AnyAdapter> inverse() const final;
  std::string_view format_mark() const noexcept final;

 protected:
  RuleAdapter(std::vector<AdapterRule> rules, bool forward, std::string format_mark);
  /// Adds a rule before the others.
  void add_rule(AdapterRule rule);

 private:
  struct Table;
  std::shared_ptr<const Table> table_;
};

/// The rules for PyTorch. Linear weights are transposed. Weight and bias of BatchNorm, LayerNorm,
/// GroupNorm, InstanceNorm and RmsNorm become gamma and beta; the weight of PRelu becomes alpha.
/// The gates of Lstm and Gru (BiLstm, LstmStack ...) and the projections of MultiHeadAttention,
/// each one tensor in PyTorch, are taken apart. The parts of transformer layers get their names.
std::vector<AdapterRule> pytorch_rules();

/// Loads files that PyTorch wrote: from PyTorch's names and layouts to Burn's, which this library
/// uses.
class PyTorchToBurnAdapter final : public RuleAdapter {
 public:
  PyTorchToBurnAdapter();
  /// Returns a copy with a rule for your own modules; `from` is PyTorch's side.
  PyTorchToBurnAdapter with_rule(AdapterRule rule) const;
};

/// Saves files that PyTorch will read: from Burn's names and layouts to PyTorch's. A SafeTensors
/// file gets format=pt in its metadata.
class BurnToPyTorchAdapter final : public RuleAdapter {
 public:
  BurnToPyTorchAdapter();
  /// Returns a copy with a rule for your own modules; `from` is PyTorch's side here too.
  BurnToPyTorchAdapter with_rule(AdapterRule rule) const;
};

// ---- Precision ----

/// Saves f32 as f16 and loads f16 as f32, in modules where that is safe: Linear, Conv1D,
/// Embedding, Conv1d/2d/3d, ConvTranspose1d/2d/3d, DeformConv2d, LayerNorm, GroupNorm,
/// InstanceNorm, RmsNorm and PRelu. BatchNorm is not one of them: its running variance would
/// underflow. Other dtypes are unchanged. The tensors that PyTorch's adapters join from Linear
/// layers are converted like those: they are MultiHeadAttention's, PositionWiseFeedForward's or a
/// recurrent layer's.
class HalfPrecisionAdapter final : public Chainable<HalfPrecisionAdapter> {
 public:
  HalfPrecisionAdapter();
  /// Returns a copy that also converts this kind of module: "Attention"; for an enum
  /// "Enum:Attention".
  HalfPrecisionAdapter with_module(std::string_view module_type) const;
  /// Returns a copy that does not convert this kind. If the kind is not in the set, status() fails
  /// with InvalidArgument.
  HalfPrecisionAdapter without_module(std::string_view module_type) const;
  /// The kinds of module, with their prefixes.
  const std::set<std::string, std::less<>>& modules() const noexcept { return modules_; }
  Status status() const override;
  /// The adapter itself.
  Result<AnyAdapter> inverse() const override;

 protected:
  Result<TensorSnapshot> adapt(Direction direction, const Place& place,
                               TensorSnapshot tensor) const override;

 private:
  std::set<std::string, std::less<>> modules_;
  std::optional<Error> first_error_;
};

/// Converts every float tensor to one dtype, on loads and on saves. Other tensors are unchanged.
class FloatCastAdapter final : public Chainable<FloatCastAdapter> {
 public:
  /// f64, f32, f16 or bf16. For any other dtype, status() fails with InvalidArgument.
  static FloatCastAdapter to(DType dtype) { return FloatCastAdapter(dtype); }
  Status status() const override;
  /// The identity: what the dtypes were is not known here.
  Result<AnyAdapter> inverse() const override;

 protected:
  Result<TensorSnapshot> adapt(Direction direction, const Place& place,
                               TensorSnapshot tensor) const override;

 private:
  explicit FloatCastAdapter(DType dtype) : dtype_(dtype) {}
  DType dtype_;
};

}  // namespace andiron::inline v1
