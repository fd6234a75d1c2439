// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/collect_test.cpp
#include "andiron/snapshot.h"

#include <string_view>
#include <unordered_map>

#include "andiron/archive.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1 {

Result<Archive> to_archive(const Snapshots& snapshots) ANDIRON_NO_THROW {
  std::unordered_map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < snapshots.size(); ++i) last[snapshots[i].full_path()] = i;
  Archive archive;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const std::string& path = snapshots[i].full_path();
    if (last[path] != i) {
      archive.add_note(detail::in_quotes(path) + " appears twice; the last one is used");
      continue;
    }
    ANDIRON_TRY(archive.add(snapshots[i]));
  }
  return archive;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
