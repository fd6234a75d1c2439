// SPDX-License-Identifier: MIT OR Apache-2.0
// The order in which tensors are best read: those of one compressed record together, so that it is
// decompressed once.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

CompressedData compressed_data_of(const TensorSnapshot& tensor) noexcept;
CompressedData compressed_data_of(const Archive& archive, std::size_t index);

// What is read for one piece of work: a tensor, or two that are compared.
using CompressedInputs = std::array<CompressedData, 2>;

// Indices of `work`. What reads the same data follows the first piece that does; among it, the same
// holds for the second tensor. All else keeps its place.
std::vector<std::size_t> reading_order(std::span<const CompressedInputs> work);

}  // namespace andiron::inline v1::detail
