// SPDX-License-Identifier: MIT OR Apache-2.0
// Typed loading without a heap: a struct of views, pointed at the bytes of a file in memory or in
// flash. Freestanding.
//
//   struct Linear {
//     TensorView<float, 10, 64> weight;
//     TensorView<float, 10> bias;
//     ANDIRON_MODULE(Linear, weight, bias)
//   };
//   struct Net {
//     std::array<Block, 4> blocks;   // "blocks.0.weight" ...
//     Linear output;                 // "output.weight", "output.bias"
//     ANDIRON_MODULE(Net, blocks, output)
//   };
//
//   SafetensorsView file;            // or BurnpackView
//   if (!SafetensorsView::open(embedded::model(), file).ok()) ...
//   Net net;
//   BindResult result = bind(net, file);
//   if (!result.ok()) { char text[256]; log(result.describe(text)); }
//
// Names, shapes and dtypes must be those of the struct. A file with f16 or bf16 binds to float, and
// a matrix to Transposed, by a copy in an arena: bind(net, file, {.arena = memory}). So does data
// that is not aligned for its type. Files of the hosted writers are aligned, if the file is.
//
// Nothing is allocated. On a Cortex-M4, opening and binding take less than 2 KiB of stack for
// SafeTensors and less than 3 KiB for Burnpack, whatever the file; scripts/embedded measures it.
// A struct in a struct in a struct adds some 100 bytes for each level.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "andiron/burnpack_view.h"
#include "andiron/detail/view_fields.h"
#include "andiron/error_code.h"
#include "andiron/safetensors_view.h"
#include "andiron/tensor_view.h"

namespace andiron::inline v1 {

struct BindOptions {
  /// Memory for what cannot stay in the file. It must outlive the model. 8-byte alignment wastes
  /// nothing.
  std::span<std::byte> arena = {};
  /// Fields that the file does not have stay unbound.
  bool allow_partial = false;
};

/// Success, or the first thing that is wrong. `offset` is that of the tensor's name in the file.
struct [[nodiscard]] BindResult : ViewStatus {
  /// The tensor that is missing or does not fit, ended by a zero; empty for other errors.
  char path[max_path_bytes + 1] = {};
  /// What the file has, and what the field takes. Both ranks are 0 for a missing tensor. Of a
  /// longer shape only the first dimensions are kept.
  DType found_dtype = DType::raw;
  DType expected_dtype = DType::raw;
  std::uint8_t found_rank = 0;
  std::uint8_t expected_rank = 0;
  std::uint64_t found_shape[max_view_rank] = {};
  std::uint64_t expected_shape[max_view_rank] = {};

  std::uint32_t bound = 0;    ///< fields that point at data; 0 after an error
  std::uint32_t missing = 0;  ///< fields that the file does not have
  std::uint32_t misfits = 0;  ///< fields whose tensor has another shape or dtype, or comes twice
  std::uint32_t unused = 0;   ///< tensors of the file without a field
  /// Bytes of the arena that are used; if it is too small, bytes that it needs.
  std::uint64_t arena_bytes = 0;

  /// Writes the error for people into `out`, as much of it as fits:
  /// "output.weight: the shape is another: found f32 [10, 32], expected f32 [10, 64]".
  std::string_view describe(std::span<char> out) const noexcept;
};

namespace detail {
BindResult bind_model(const ViewModel& model, const SafetensorsView& file,
                      const BindOptions& options) noexcept;
BindResult bind_model(const ViewModel& model, const BurnpackView& file,
                      const BindOptions& options) noexcept;
}  // namespace detail

/// Points every view of `model` at its tensor. `file` is a SafetensorsView or a BurnpackView. Its
/// memory must outlive the model. After an error, no view is bound. One pass over the file:
/// O(tensors * fields), less for nested structs.
// A template of the file: overload resolution would prefer std::bind for a model that is a
// std::array.
template <class Model, class View>
  requires std::convertible_to<View&, const SafetensorsView&> ||
           std::convertible_to<View&, const BurnpackView&>
BindResult bind(Model& model, View&& file, const BindOptions& options = {}) {
  return detail::bind_model(detail::view_model(model), file, options);
}

}  // namespace andiron::inline v1
