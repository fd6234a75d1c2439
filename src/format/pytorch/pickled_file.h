// SPDX-License-Identifier: MIT OR Apache-2.0
// A pickle and the data it refers to: every packaging is reduced to this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "andiron/error.h"
#include "andiron/open.h"
#include "src/core/archive_builder.h"
#include "src/core/memory_budget.h"
#include "src/format/pytorch/pickle_document.h"
#include "src/format/pytorch/pickle_walk.h"
#include "src/format/pytorch/tensor_notes.h"
#include "src/format/pytorch/tensor_resolver.h"

namespace andiron::inline v1::detail {

// What the names of an archive may take.
class NameBudget {
 public:
  NameBudget(const std::string& file, const Limits& limits, MemoryBudget& memory)
      : file_(file), limits_(limits), memory_(memory) {}
  // Room for one more name, of the tensor after the first `tensors`, or of what is skipped, and for
  // as much text besides.
  Status count(std::string_view name, std::size_t tensors, std::size_t more_text = 0);
  MemoryBudget& memory() noexcept { return memory_; }

 private:
  const std::string& file_;
  const Limits& limits_;
  MemoryBudget& memory_;
};

struct PickledFile {
  PickledFile(PickleGraph graph, ByteSourcePtr source, std::uint32_t file)
      : content(std::move(graph), std::move(source), file) {}

  PickleDocument content;
  std::unique_ptr<StorageFinder> storages;
  ScriptClasses classes;  // of TorchScript
  bool big_endian = false;
  bool lies_within_another = false;  // as a part of a checkpoint
  // Set once a name, or a key of a dict, was seen twice: see PickleWalk.
  bool check_all_keys = false;
  // Plain containers that the walk came to again, by number; empty where there are none.
  std::vector<bool> repeated;
  std::uint64_t file_bytes = 0;
};

// Adds all tensors to an archive, the skipped ones, and the tree of values.
Status fill_archive(std::shared_ptr<PickledFile> file, const OpenOptions& options,
                    MemoryBudget& budget, ArchiveBuilder& builder);

// Walks over the content. The budget bounds the work as well. All but it must outlive the walk.
PickleWalk walk_file(PickledFile& file, const OpenOptions& options, const MemoryBudget& budget);

// Adds the tensors of a file inside another file, as snapshots named under `prefix`, with skipped
// tensors and notes.
Status add_below(PickledFile& file, const std::string& prefix, const OpenOptions& options,
                 NameBudget& names, TensorNotes& notes, ArchiveBuilder& builder);

// The tensor of a file that contains only one.
Result<TorchTensor> only_tensor(PickledFile& file, const OpenOptions& options,
                                const MemoryBudget& budget);

}  // namespace andiron::inline v1::detail
