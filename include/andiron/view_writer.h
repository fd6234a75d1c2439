// SPDX-License-Identifier: MIT OR Apache-2.0
// SafeTensors and Burnpack files written without a heap, byte for byte as andiron::write() writes
// the same tensors. Freestanding.
//
//   std::byte memory[4096];
//   SaveResult saved = save_safetensors(net, memory);  // a model of views (bind.h)
//   if (saved.ok()) send(memory, saved.bytes);
//
// In pieces, to flash or a serial line, and from a list instead of a model:
//
//   bool program_flash(void* context, std::span<const std::byte> bytes);
//   const TensorToWrite tensors[] = {{"bias", DType::f32, shape, std::as_bytes(std::span(bias))}};
//   SaveResult saved = save_burnpack(tensors, {program_flash, &flash});
//
// The order of the file is found without memory for it: time grows with the square of the number of
// tensors. On a Cortex-M4, saving takes less than 2 KiB of stack; scripts/embedded measures it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "andiron/burnpack_view.h"
#include "andiron/detail/view_fields.h"
#include "andiron/dtype.h"
#include "andiron/error_code.h"

namespace andiron::inline v1 {

/// A tensor in memory. What it refers to must last until the file is written.
struct TensorToWrite {
  std::string_view name;
  DType dtype = DType::f32;
  std::span<const std::uint64_t> shape;
  std::span<const std::byte> data;  ///< row-major, little-endian
  /// Burnpack keeps ids. SafeTensors has none.
  bool has_param_id = false;
  std::uint64_t param_id = 0;
};

struct MetadataToWrite {
  std::string_view key;
  std::string_view value;
};

/// Where a file goes: memory, or a function that takes one piece after the other.
class SaveTarget {
 public:
  /// Returns false to give up. Pieces may be as small as a byte and as large as a tensor.
  using Write = bool (*)(void* context, std::span<const std::byte> bytes);

  template <class Memory>
    requires std::is_convertible_v<Memory&&, std::span<std::byte>>
  SaveTarget(Memory&& memory) noexcept  // NOLINT(google-explicit-constructor)
      : memory_(memory) {}
  SaveTarget(Write function, void* context) noexcept : write_(function), context_(context) {}

  bool is_function() const noexcept { return write_ != nullptr; }
  std::span<std::byte> memory() const noexcept { return memory_; }
  bool write(std::span<const std::byte> bytes) const noexcept { return write_(context_, bytes); }

 private:
  std::span<std::byte> memory_;
  Write write_ = nullptr;
  void* context_ = nullptr;
};

/// Success, or what is wrong. `offset` is how many bytes a function has taken.
struct [[nodiscard]] SaveResult : ViewStatus {
  /// The size of the file, even if memory is too small for it. Empty memory measures.
  std::uint64_t bytes = 0;
  /// The tensor that is wrong, counted from 0 in the order of the list or of the fields.
  std::size_t tensor = no_tensor;
  static constexpr std::size_t no_tensor = ~std::size_t{0};
};

/// Writes tensors in any order. Nothing is written if a name or a size is wrong, or if memory is
/// too small. Quantized and unknown types cannot be written.
SaveResult save_safetensors(std::span<const TensorToWrite> tensors, const SaveTarget& target,
                            std::span<const MetadataToWrite> metadata = {}) noexcept;
SaveResult save_burnpack(std::span<const TensorToWrite> tensors, const SaveTarget& target,
                         std::span<const MetadataToWrite> metadata = {},
                         BurnpackGeneration release = BurnpackGeneration::burn_0_22) noexcept;

namespace detail {
SaveResult save_safetensors(const ViewModel& model, const SaveTarget& target,
                            std::span<const MetadataToWrite> metadata) noexcept;
SaveResult save_burnpack(const ViewModel& model, const SaveTarget& target,
                         std::span<const MetadataToWrite> metadata,
                         BurnpackGeneration release) noexcept;
}  // namespace detail

/// Writes all views of a model, each of which must be bound. The file gets the dtypes of the
/// fields, so what came as f16 and was bound to float is f32; Transposed fields are turned back.
template <class Model>
  requires detail::is_module<Model>
SaveResult save_safetensors(const Model& model, const SaveTarget& target,
                            std::span<const MetadataToWrite> metadata = {}) {
  return detail::save_safetensors(detail::view_model(model), target, metadata);
}
template <class Model>
  requires detail::is_module<Model>
SaveResult save_burnpack(const Model& model, const SaveTarget& target,
                         std::span<const MetadataToWrite> metadata = {},
                         BurnpackGeneration release = BurnpackGeneration::burn_0_22) {
  return detail::save_burnpack(detail::view_model(model), target, metadata, release);
}

}  // namespace andiron::inline v1
