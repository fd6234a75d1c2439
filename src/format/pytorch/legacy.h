// SPDX-License-Identifier: MIT OR Apache-2.0
// PyTorch files of 0.1.10 to 1.5, which are pickles one after the other, then raw storages.
#pragma once

#include <memory>

#include "andiron/error.h"
#include "andiron/open.h"
#include "src/format/pytorch/pickled_file.h"

namespace andiron::inline v1::detail {

// Whether a value is the number that such a file begins with.
bool is_legacy_magic(const PickleGraph& graph, PickleValue value);

// The file in `bytes`, which begins with the magic number.
Result<std::shared_ptr<PickledFile>> read_legacy(const Storage& bytes, const Limits& limits,
                                                 Strictness strictness = Strictness::standard,
                                                 MemoryBudget* budget = nullptr);

// The storage that a whole file consists of, as bytes within a pickle do.
Result<Storage> read_legacy_storage(const Storage& bytes, const Limits& limits);

}  // namespace andiron::inline v1::detail
