// SPDX-License-Identifier: MIT OR Apache-2.0
// The weights of torch.export.
#pragma once

#include <cstdint>
#include <string>

#include "andiron/error.h"
#include "andiron/open.h"
#include "src/codec/zip/reader.h"
#include "src/core/archive_builder.h"
#include "src/format/pytorch/zip_file.h"

namespace andiron::inline v1::detail {

// Adds the weights in an archive to `builder`. `file` is the builder's
// number of zip.checked_source(), or Storage::no_file.
Status read_pt2(const ZipReaderPtr& zip, const TorchZip& content, std::uint32_t file,
                const OpenOptions& options, MemoryBudget& budget, ArchiveBuilder& builder);

}  // namespace andiron::inline v1::detail
