// SPDX-License-Identifier: MIT OR Apache-2.0
// Saving tensors that lie in memory.
#include <unistd.h>

#include "bench/cases.h"
#include "bench/files.h"
#include "bench/jobs.h"

namespace andiron::bench {
namespace {

void save(Harness& harness, const std::string& name, bool sync) {
  const TempFolder folder;
  const std::string source = folder.file("source.safetensors");
  write_random_model(source, harness.settings().quick);
  const Bytes model = Bytes::copy(Mapping(source).bytes()).value();
  ::unlink(source.c_str());
  harness.measure(save_job(name, folder, "model.safetensors", model, sync));
}

}  // namespace

std::vector<Case> save_cases() {
  return {{"save", "a new file, left to the system to put on disk",
           [](Harness& harness) { save(harness, "save", false); }},
          {"save_sync", "a new file that survives a power cut (fsync)",
           [](Harness& harness) { save(harness, "save_sync", true); }}};
}

}  // namespace andiron::bench
