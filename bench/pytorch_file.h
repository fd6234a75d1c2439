// SPDX-License-Identifier: MIT OR Apache-2.0
// PyTorch files to measure with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/files.h"

namespace andiron::bench {

// What torch.save makes today of an OrderedDict of tensors of one to three dimensions, to the byte
// but for the id of the writing: with random data, or with holes in its place, whose CRC is told as
// 0. Returns where the data of each tensor begins.
std::vector<std::uint64_t> write_torch_model(const std::string& path,
                                             std::span<const TensorSpec> tensors,
                                             bool sparse = false);

}  // namespace andiron::bench
