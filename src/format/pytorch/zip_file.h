// SPDX-License-Identifier: MIT OR Apache-2.0
// PyTorch files since 1.6: zip archives with one folder that contains a pickle and the storages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/error.h"
#include "andiron/open.h"
#include "src/codec/zip/reader.h"
#include "src/core/memory_budget.h"
#include "src/format/pytorch/pickled_file.h"

namespace andiron::inline v1::detail {

// The kind of a zip archive, by the names in it.
struct TorchZip {
  enum class Kind : std::uint8_t { torch_save, torch_script, pt2, other } kind = Kind::other;
  std::string root;  // the folder, with a slash; empty where there is none
  std::string what;  // of other archives: what they are
  const char* hint = nullptr;
  // Records of one word; nothing where there is none.
  std::optional<std::string> version;
  std::optional<std::string> byte_order;
  std::optional<std::string> alignment;

  Result<bool> is_big_endian(const ZipReader& zip) const;
  std::uint64_t data_alignment() const;
};

// Before an entry is read whole.
Status charge_if_deflated(const ZipReader& zip, std::uint32_t entry, std::string_view what,
                          MemoryBudget& budget);

Result<TorchZip> read_torch_zip(const ZipReader& zip);

// Reads the pickle of an archive made by torch.save or torch.jit.save. `file` is the archive's
// number of zip.checked_source(), or Storage::no_file. Tolerated oddities go to `notes`.
Result<std::shared_ptr<PickledFile>> read_zip_file(const ZipReaderPtr& zip, const TorchZip& content,
                                                   std::uint32_t file, const OpenOptions& options,
                                                   MemoryBudget& budget,
                                                   std::vector<Message>& notes);

// Why a tensor of a program is skipped.
inline constexpr const char* constant_of_program =
    "a constant of the program, not part of its state_dict";

// The constants of a TorchScript program: a tuple, of which some are tensors.
Result<std::shared_ptr<PickledFile>> read_zip_constants(const ZipReaderPtr& zip,
                                                        const TorchZip& content,
                                                        const OpenOptions& options,
                                                        MemoryBudget& budget,
                                                        std::vector<Message>& notes);

}  // namespace andiron::inline v1::detail
