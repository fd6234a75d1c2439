// SPDX-License-Identifier: MIT OR Apache-2.0
// The walk over the views of a model. It lists a slot for each; no code after it is a template.
// Freestanding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "andiron/detail/field_access.h"
#include "andiron/dtype.h"
#include "andiron/fields.h"
#include "andiron/tensor_view.h"

namespace andiron::inline v1 {

/// The longest path of a field, "blocks.3.attention.query.weight", where it is kept without a heap.
inline constexpr std::size_t max_path_bytes = 128;

namespace detail {

// A view of a model, whatever its type.
struct ViewSlot {
  const void** data;
  DType dtype;
  bool is_transposed;
  std::size_t rank;
  const std::uint64_t* dims;  // as the program sees them
  AnyShape* any;              // if it takes any shape; then `dims` points into it
};

struct ViewAccess {
  template <class T, std::size_t First, std::size_t... Dims>
  static ViewSlot slot(TensorView<T, First, Dims...>& view, bool is_transposed) noexcept {
    using View = TensorView<T, First, Dims...>;
    return {&view.data_, ElementOf<T>::dtype, is_transposed, View::rank, View::dims, nullptr};
  }
  template <class T>
  static ViewSlot slot(TensorView<T>& view, bool /*is_transposed*/) noexcept {
    return {&view.data_, ElementOf<T>::dtype, false, view.any_.rank, view.any_.dims, &view.any_};
  }
};

// Goes down the fields of a model: to all of them, or to the one with a given path.
class FieldWalk {
 public:
  using Take = void (*)(void* context, const FieldWalk& walk, const ViewSlot& slot);

  FieldWalk(Take to, void* context) noexcept : take_(to), context_(context) {}
  // Only to the field at `wanted`.
  FieldWalk(Take to, void* context, std::string_view wanted) noexcept
      : take_(to), context_(context), wanted_(wanted), is_seeking_(true) {}

  // Steps down to a field. False if what is wanted is not there.
  bool enter(std::string_view name) noexcept;
  bool enter(std::size_t index) noexcept;
  // Where the walk is, to step back to.
  std::size_t place() const noexcept { return size_; }
  void step_back(std::size_t place) noexcept { size_ = place; }
  void take(const ViewSlot& slot) noexcept {
    if (!is_seeking_ || size_ == wanted_.size()) take_(context_, *this, slot);
  }

  // Cut off if it is too long.
  std::string_view path() const noexcept {
    return {is_seeking_ ? wanted_.data() : path_, size_ < max_path_bytes ? size_ : max_path_bytes};
  }
  bool is_cut_off() const noexcept { return size_ > max_path_bytes; }

 private:
  void append(std::string_view text) noexcept;

  Take take_;
  void* context_;
  std::string_view wanted_;
  bool is_seeking_ = false;
  std::size_t size_ = 0;
  char path_[max_path_bytes];
};

template <class T>
inline constexpr bool is_array_of_fields = false;
template <class T, std::size_t N>
inline constexpr bool is_array_of_fields<std::array<T, N>> = true;
template <class T, std::size_t N>
inline constexpr bool is_array_of_fields<T[N]> = true;
template <class T>
inline constexpr bool is_constant_field = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
inline constexpr bool is_constant_field<Constant<T>> = true;

template <class T, std::size_t... Dims>
void walk_fields(TensorView<T, Dims...>& view, FieldWalk& walk) {
  walk.take(ViewAccess::slot(view, false));
}
template <class T, std::size_t Rows, std::size_t Columns>
void walk_fields(Transposed<T, Rows, Columns>& view, FieldWalk& walk) {
  TensorView<T, Rows, Columns>& base = view;
  walk.take(ViewAccess::slot(base, true));
}
template <class T>
void walk_fields(T& node, FieldWalk& walk) {
  if constexpr (is_module<T>) {
    FieldAccess::each(node, [&](std::string_view name, auto& field) {
      if constexpr (!is_constant_field<std::remove_cvref_t<decltype(field)>>) {
        const std::size_t place = walk.place();
        if (walk.enter(name)) walk_fields(field, walk);
        walk.step_back(place);
      }
    });
  } else if constexpr (is_array_of_fields<T>) {
    std::size_t index = 0;
    for (auto& item : node) {
      const std::size_t place = walk.place();
      if (walk.enter(index++)) walk_fields(item, walk);
      walk.step_back(place);
    }
  } else {
    static_assert(
        is_module<T>,
        "andiron: a model without a heap consists of TensorView, Transposed, structs with "
        "ANDIRON_MODULE, arrays of these, and constants");
  }
}

// A model, whatever its type.
struct ViewModel {
  void* model;
  void (*walk)(void* model, FieldWalk& walk);
};

// Saving takes models that it must not change; the walk is one for both.
template <class Model>
ViewModel view_model(const Model& model) noexcept {
  return {const_cast<Model*>(&model),
          [](void* any, FieldWalk& walk) { walk_fields(*static_cast<Model*>(any), walk); }};
}

}  // namespace detail
}  // namespace andiron::inline v1
