// SPDX-License-Identifier: MIT OR Apache-2.0
// From modules to lists of tensors, and from lists to archives.
// Tested by tests/transfer/collect_test.cpp
#include <unordered_map>
#include <utility>

#include "andiron/display_text.h"
#include "andiron/transfer.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

Result<Snapshots> collect_slots(const std::vector<Slot>& slots, const CollectOptions& options) {
  ANDIRON_TRY(options.filter.status());
  ANDIRON_TRY(options.adapter->status());
  ANDIRON_TRY(check_paths(slots));
  Snapshots collected;
  collected.reserve(slots.size());
  for (const Slot& slot : slots) {
    if (!options.filter.matches(slot.path, slot.container)) continue;
    Result<Tensor> tensor = slot.ops->get(slot.leaf);
    if (!tensor) {
      Error error = std::move(tensor).error();
      error.tensor = slot.path;
      return error;
    }
    collected.push_back(TensorSnapshot(slot.path, *tensor)
                            .with_container(slot.container)
                            .with_param_id(slot.ops->id(slot.leaf)));
  }
  return options.adapter->save(std::move(collected));
}

Result<Archive> archive_of(const Snapshots& snapshots) {
  std::unordered_map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < snapshots.size(); ++i) last[snapshots[i].full_path()] = i;
  Archive archive;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const std::string& path = snapshots[i].full_path();
    if (last[path] != i) {
      archive.add_note("'" + display_text(path) + "' is there twice; the later one counts");
      continue;
    }
    ANDIRON_TRY(archive.add(snapshots[i]));
  }
  return archive;
}

}  // namespace andiron::inline v1::detail
