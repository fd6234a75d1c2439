// SPDX-License-Identifier: MIT OR Apache-2.0
// A parameter: a tensor with an identity.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

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
/// A value: a copy has the same id and the same numbers, and writing to one leaves the other alone
/// (the numbers are copied then, not before). Reading one Param from several threads is safe.
///
/// Lazy parameters know their dtype and shape and compute their numbers when first asked for, once,
/// also when several threads ask; copies share the result. A load that replaces the numbers never
/// computes them.
class Param {
 public:
  using Init = std::function<Result<Tensor>()>;

  /// Not set yet: any tensor may be loaded into it, of any shape and dtype. Gets an id of its own.
  Param();
  /// With an id of its own.
  Param(Tensor value);  // NOLINT(google-explicit-constructor): a tensor becomes a parameter
  Param(Tensor value, ParamId id);
  /// Numbers that `init` computes when they are first needed. It must give this dtype and shape.
  static Param lazy(DType dtype, Shape shape, Init init);

  Param(const Param& other);
  Param& operator=(const Param& other);
  /// Moving keeps ties.
  Param(Param&&) noexcept = default;
  Param& operator=(Param&&) noexcept = default;
  ~Param() = default;

  ParamId id() const noexcept;
  void set_id(ParamId id);
  /// Whether training may change it; the library only carries the flag. True unless set.
  bool requires_grad() const noexcept;
  void set_requires_grad(bool requires_grad);

  /// Whether it has numbers, or a way to compute them.
  bool is_set() const noexcept;
  /// False for a lazy parameter whose numbers have not been needed yet.
  bool is_initialized() const noexcept;
  DType dtype() const noexcept;
  Shape shape() const;

  /// The tensor; computed first if this is lazy, with the errors of that. MissingTensor when it is
  /// not set.
  Result<Tensor> val() const;
  /// Replaces the tensor, in all parameters that are tied to this one. Shape and dtype may differ.
  void set_val(Tensor value);

  /// The elements, valid until this parameter is changed or destroyed. Errors of val(), and of
  /// Tensor::as.
  template <Element T>
  Result<std::span<const T>> as() const& {
    Result<const Tensor*> tensor = current();
    if (!tensor) return std::move(tensor).error();
    return (*tensor)->template as<T>();
  }
  template <Element T>
  Result<std::span<const T>> as() const&& = delete;  // the span would outlive the parameter
  /// The elements for writing; copies first unless this parameter alone owns them.
  template <Element T>
  Result<std::span<T>> as_mutable() & {
    Result<Tensor*> tensor = current_mutable();
    if (!tensor) return std::move(tensor).error();
    return (*tensor)->template as_mutable<T>();
  }
  /// One element, by its coordinates.
  template <Element T>
  Result<T> at(std::initializer_list<std::uint64_t> coordinates) const {
    Result<const Tensor*> tensor = current();
    if (!tensor) return std::move(tensor).error();
    return (*tensor)->template at<T>(coordinates);
  }

  bool is_tied_with(const Param& other) const noexcept;

 private:
  friend struct detail::ParamAccess;
  friend void tie(Param& first, Param& second);
  Result<const Tensor*> current() const;
  Result<Tensor*> current_mutable();
  detail::ParamState& state();

  std::shared_ptr<detail::ParamState> state_;
};

/// Makes `second` the same parameter as `first`: one id, one tensor, seen and changed through both,
/// as in language models whose output layer is the embedding. A load feeds both when the file has
/// one of them; when it has both, the one that comes first in the module counts, and a note says
/// so. Both have one shape: an output layer to be tied to an nn::Embedding, [tokens, size], is an
/// nn::Embedding as well, not an nn::Linear, whose weight lies the other way round. Ties live as
/// long as both parameters; a copy of a model is not tied, tie it again.
void tie(Param& first, Param& second);

}  // namespace andiron::inline v1
