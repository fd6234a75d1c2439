// SPDX-License-Identifier: MIT OR Apache-2.0
// Param: a tensor with an identity.
//
//   Param weight = Tensor::zeros(DType::f32, {4, 8}).value();
//   std::span<float> elements = weight.as_mutable<float>().value();
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

#include "andiron/detail/no_throw.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/param_id.h"
#include "andiron/shape.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {

namespace detail {
struct ParamState;
struct ParamAccess;
}  // namespace detail

/// A tensor of a module that is saved and loaded, with an id and a flag for training.
///
/// Param is a value. A copy has the same id and the same elements; writing to one does not change
/// the other (the elements are copied on the first write). Give a copy in the same module its own
/// id: set_id(ParamId::generate()). Const calls are safe from several threads at once.
///
/// A lazy parameter knows its dtype and shape, and computes its elements on first use. It does so
/// once, even if several threads ask, and copies share the result. A load that replaces the
/// elements never computes them.
class Param {
 public:
  using Init = std::function<Result<Tensor>()>;

  /// Not set: accepts a tensor of any shape and dtype. Gets a new id.
  Param();
  /// Gets a new id.
  Param(Tensor value);  // NOLINT(google-explicit-constructor): a tensor becomes a parameter
  Param(Tensor value, ParamId id);
  /// Calls `init` on first use of the elements. `init` must return this dtype and shape.
  static Param lazy(DType dtype, Shape shape, Init init);

  Param(const Param& other);
  Param& operator=(const Param& other);
  /// Moving keeps ties.
  Param(Param&&) noexcept = default;
  Param& operator=(Param&&) noexcept = default;
  ~Param() = default;

  /// The identity, which is kept on save and load in formats that store it.
  ParamId id() const noexcept;
  void set_id(ParamId id);
  /// True if training may change it; the default. The library only stores the flag.
  bool requires_grad() const noexcept;
  void set_requires_grad(bool requires_grad);

  /// True if it has elements or can compute them.
  bool is_set() const noexcept;
  /// False for a lazy parameter whose elements have not been computed.
  bool is_initialized() const noexcept;
  DType dtype() const noexcept;
  Shape shape() const;

  /// Returns the tensor. Computes it first if the parameter is lazy, and fails with the errors of
  /// that. Fails with MissingTensor if it is not set.
  Result<Tensor> val() const;
  /// Replaces the tensor, also in all tied parameters. Shape and dtype may change.
  void set_val(Tensor value);

  /// Returns the elements, valid until this parameter is changed or destroyed. Fails with the
  /// errors of val() and Tensor::as(), and with Unsupported if it is_transposed().
  template <Element T>
  Result<std::span<const T>> as() const& ANDIRON_NO_THROW {
    Result<const Tensor*> tensor = current();
    if (!tensor) return std::move(tensor).error();
    return (*tensor)->template as<T>();
  }
  ANDIRON_OR_OUT_OF_MEMORY
  template <Element T>
  Result<std::span<const T>> as() const&& = delete;  // the span would outlive the parameter
  /// Returns the elements for writing. Copies them first if they are shared. Fails as as() does.
  template <Element T>
  Result<std::span<T>> as_mutable() & ANDIRON_NO_THROW {
    Result<Tensor*> tensor = current_mutable();
    if (!tensor) return std::move(tensor).error();
    return (*tensor)->template as_mutable<T>();
  }
  ANDIRON_OR_OUT_OF_MEMORY
  /// Returns one element by its coordinates, outermost first.
  template <Element T>
  Result<T> at(std::initializer_list<std::uint64_t> coordinates) const ANDIRON_NO_THROW {
    Result<const Tensor*> tensor = current();
    if (!tensor) return std::move(tensor).error();
    return (*tensor)->template at<T>(coordinates);
  }
  ANDIRON_OR_OUT_OF_MEMORY

  /// True if both are one parameter (see tie).
  bool is_tied_with(const Param& other) const noexcept;
  /// True if it shows the tensor of the parameter it is tied to with rows and columns exchanged
  /// (see tie_transposed). val() then makes a copy each time; as() and at() fail: use those of the
  /// other parameter.
  bool is_transposed() const noexcept { return is_transposed_; }

 private:
  friend struct detail::ParamAccess;
  friend void tie(Param& first, Param& second);
  friend Status tie_transposed(Param& first, Param& second);
  Result<const Tensor*> stored() const;
  Result<const Tensor*> current() const;
  Result<Tensor*> current_mutable();
  detail::ParamState& state();

  std::shared_ptr<detail::ParamState> state_;
  bool is_transposed_ = false;  // the tensor of the state has rows and columns exchanged
};

/// Makes `second` the same parameter as `first`: one id and one tensor, seen and changed through
/// both. Language models tie the output layer to the embedding this way.
///
/// Both need one shape; for an nn::Embedding [tokens, size] and an nn::Linear, whose weight is
/// [size, tokens], there is tie_transposed(). If the file has a tensor for only one of them, a load
/// feeds both. If it has two, the first in the module counts, and a note says so. A copy of a model
/// is not tied: tie it again.
void tie(Param& first, Param& second);

/// The same with rows and columns of `second` exchanged:
///
///   tie_transposed(embedding.weight, output.weight).value();
///
/// Where an adapter exchanges them back, as BurnToPyTorchAdapter does for a Linear, a save sees the
/// tie and can write it once (write_ties_once), as PyTorch has it. Fails with ShapeMismatch if
/// `first` is set and not a matrix, or `second` is set and has another shape.
Status tie_transposed(Param& first, Param& second);

}  // namespace andiron::inline v1
