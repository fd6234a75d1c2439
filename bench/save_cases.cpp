// SPDX-License-Identifier: MIT OR Apache-2.0
// Saving tensors that lie in memory.
#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>

#include "andiron/write.h"
#include "bench/cases.h"
#include "bench/files.h"

namespace andiron::bench {
namespace {

Bytes random_model(const TempFolder& folder, std::size_t tensors) {
  std::vector<TensorSpec> specs;
  for (std::size_t i = 0; i < tensors; ++i) {
    specs.push_back({"layers." + std::to_string(i) + ".weight", "BF16", {4096, 2048}, 16 << 20});
  }
  const std::string path = folder.file("source.safetensors");
  write_model(path, specs);
  const Mapping mapping(path);
  const Bytes bytes = Bytes::copy(mapping.bytes()).value();
  ::unlink(path.c_str());
  return bytes;
}

void save(Harness& harness, const std::string& name, bool sync) {
  const TempFolder folder;
  const Bytes bytes = random_model(folder, harness.settings().quick ? 4 : 32);
  const Archive archive = open(bytes).value();
  const std::string raw_path = folder.file("raw");
  const std::string path = folder.file("model.safetensors");
  const auto raw = [&] {
    const Descriptor file(raw_path, O_WRONLY | O_CREAT | O_EXCL);
    if (::fallocate(file.get(), 0, 0, static_cast<off_t>(bytes.size())) != 0) {
      throw std::runtime_error("this file system cannot reserve space");
    }
    write_all(file, 0, bytes.span());
    if (sync && ::fsync(file.get()) != 0) throw std::runtime_error("fsync failed");
  };
  const auto write_file = [&] {
    if (write(archive, path, {.sync = sync}).value().bytes != bytes.size()) {
      throw std::runtime_error("the programs disagree");
    }
  };
  // Giving back the pages of an old file is slow, and no part of saving a new one.
  const auto remove_old = [&] {
    ::unlink(raw_path.c_str());
    ::unlink(path.c_str());
  };
  harness.measure({.name = name,
                   .amount = bytes.size(),
                   .programs = {{.name = "raw", .run = raw, .prepare = remove_old},
                                {.name = "andiron", .run = write_file, .prepare = remove_old}}});
}

}  // namespace

std::vector<Case> save_cases() {
  return {{"save", "a new file, left to the system to put on disk",
           [](Harness& harness) { save(harness, "save", false); }},
          {"save_sync", "a new file that survives a power cut (fsync)",
           [](Harness& harness) { save(harness, "save_sync", true); }}};
}

}  // namespace andiron::bench
