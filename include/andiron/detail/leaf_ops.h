// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions of a leaf with its type erased.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "andiron/bytes.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/leaf.h"
#include "andiron/param.h"
#include "andiron/param_id.h"
#include "andiron/shape.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {

namespace detail {

// The operations of a leaf, with its type erased.
struct LeafOps {
  LeafInfo (*info)(const void* leaf);
  Result<Tensor> (*get)(const void* leaf);
  // Whether the leaf shows a tensor with rows and columns exchanged, and how that is stored.
  bool (*is_transposed)(const void* leaf) noexcept;
  Result<Tensor> (*get_stored)(const void* leaf);
  std::optional<ParamId> (*id)(const void* leaf);
  // Leaves that share their tensor have equal identities.
  const void* (*identity)(const void* leaf);
  Result<std::shared_ptr<void>> (*make)(const void* leaf, Tensor tensor, std::optional<ParamId> id);
  // Replaces the leaf with the result of make().
  void (*commit)(void* leaf, const std::shared_ptr<void>& made) noexcept;
  // nullptr if the leaf does not have it.
  Result<Bytes> (*allocate)(const void* leaf, DType dtype, const Shape& shape);
  std::span<std::byte> (*buffer)(void* leaf, DType dtype, const Shape& shape);
};

// What only a Param has.
struct ParamAccess {
  static const void* identity(const Param& param) noexcept;
  static std::string raw_name(const Param& param);
  // Returns new state for the same parameter: another tensor, and another id if one is given.
  static Result<std::shared_ptr<void>> make_state(const Param& param, Tensor tensor,
                                                  std::optional<ParamId> id);
  static Result<Tensor> stored(const Param& param);
  static void commit(Param& param, const std::shared_ptr<void>& state) noexcept;
  // nullptr if it is not set or not computed yet.
  static Tensor* present_tensor(Param& param);
};

template <class T>
inline constexpr bool is_leaf = requires { sizeof(Leaf<T>); };

template <class T>
concept HasLeafFunctions = requires(const T& leaf, const Tensor& tensor) {
  { Leaf<T>::info(leaf) } -> std::convertible_to<LeafInfo>;
  { Leaf<T>::get(leaf) } -> std::same_as<Result<Tensor>>;
  { Leaf<T>::make(leaf, tensor) } -> std::same_as<Result<T>>;
};

template <class T>
concept HasAllocate = requires(const T& leaf, DType dtype, const Shape& shape) {
  { Leaf<T>::allocate(leaf, dtype, shape) } -> std::same_as<Result<Bytes>>;
};

template <class T>
concept HasBuffer = requires(T& leaf, DType dtype, const Shape& shape) {
  { Leaf<T>::buffer(leaf, dtype, shape) } -> std::same_as<std::span<std::byte>>;
};

// True if a function with this name exists, whatever its signature.
template <class T>
concept NamesAllocate = requires { &Leaf<T>::allocate; };
template <class T>
concept NamesBuffer = requires { &Leaf<T>::buffer; };

template <class T>
Result<Bytes> allocate_for(const void* leaf, DType dtype, const Shape& shape) {
  return Leaf<T>::allocate(*static_cast<const T*>(leaf), dtype, shape);
}
template <class T>
std::span<std::byte> buffer_of(void* leaf, DType dtype, const Shape& shape) {
  return Leaf<T>::buffer(*static_cast<T*>(leaf), dtype, shape);
}

// The function, or nullptr if the leaf does not have it.
template <class T>
constexpr auto allocate_function() -> decltype(LeafOps::allocate) {
  if constexpr (HasAllocate<T>) return &allocate_for<T>;
  return nullptr;
}
template <class T>
constexpr auto buffer_function() -> decltype(LeafOps::buffer) {
  if constexpr (HasBuffer<T>) return &buffer_of<T>;
  return nullptr;
}

// Reports what is wrong with a Leaf, once per type.
template <class T>
struct CheckLeaf {
  static_assert(HasLeafFunctions<T>,
                "andiron: Leaf<T> must have static functions LeafInfo info(const T&), "
                "Result<Tensor> get(const T&) and Result<T> make(const T&, const Tensor&)");
  static_assert(!NamesAllocate<T> || HasAllocate<T>,
                "andiron: Leaf<T>::allocate must be Result<Bytes> allocate(const T&, DType, "
                "const Shape&)");
  static_assert(!NamesBuffer<T> || HasBuffer<T>,
                "andiron: Leaf<T>::buffer must be std::span<std::byte> buffer(T&, DType, "
                "const Shape&)");
  static_assert(!HasLeafFunctions<T> || std::is_nothrow_move_assignable_v<T>,
                "andiron: a type with a Leaf must be nothrow move assignable");
};

template <class T>
const LeafOps& leaf_ops() {
  constexpr bool is_param = std::is_same_v<T, Param>;
  static constexpr LeafOps ops = {
      .info = [](const void* leaf) -> LeafInfo {
        return Leaf<T>::info(*static_cast<const T*>(leaf));
      },
      .get = [](const void* leaf) { return Leaf<T>::get(*static_cast<const T*>(leaf)); },
      .is_transposed =
          [](const void* leaf) noexcept {
            if constexpr (is_param) return static_cast<const T*>(leaf)->is_transposed();
            return static_cast<void>(leaf), false;
          },
      .get_stored = [](const void* leaf) -> Result<Tensor> {
        if constexpr (is_param) return ParamAccess::stored(*static_cast<const T*>(leaf));
        return Leaf<T>::get(*static_cast<const T*>(leaf));
      },
      .id = [](const void* leaf) -> std::optional<ParamId> {
        if constexpr (is_param) return static_cast<const T*>(leaf)->id();
        return static_cast<void>(leaf), std::nullopt;
      },
      .identity = [](const void* leaf) -> const void* {
        if constexpr (is_param) return ParamAccess::identity(*static_cast<const T*>(leaf));
        return leaf;
      },
      // NOLINTNEXTLINE(performance-unnecessary-value-param): a Param keeps it
      .make = [](const void* leaf, Tensor tensor,
                 std::optional<ParamId> id) -> Result<std::shared_ptr<void>> {
        const T& current = *static_cast<const T*>(leaf);
        if constexpr (is_param) {
          return ParamAccess::make_state(current, std::move(tensor), id);
        } else {
          static_cast<void>(id);
          Result<T> made = Leaf<T>::make(current, tensor);
          if (!made) return std::move(made).error();
          return std::shared_ptr<void>(std::make_shared<T>(*std::move(made)));
        }
      },
      .commit =
          [](void* leaf, const std::shared_ptr<void>& made) noexcept {
            T& current = *static_cast<T*>(leaf);
            if constexpr (is_param) {
              ParamAccess::commit(current, made);
            } else {
              current = std::move(*static_cast<T*>(made.get()));
            }
          },
      .allocate = allocate_function<T>(),
      .buffer = buffer_function<T>(),
  };
  return ops;
}

}  // namespace detail

}  // namespace andiron::inline v1
