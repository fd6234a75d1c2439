// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that JavaScript reads for us: of a page, in memory, or on node's disk.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/config.h"

namespace andiron::web {

struct HostFile {
  std::string name;
  std::int32_t file;  // the number that the host knows it by
  std::uint64_t size;
  ANDIRON_CONFIG(HostFile, name, file, size)
};

class HostFiles final : public FileSet {
 public:
  explicit HostFiles(const std::vector<HostFile>& files);

  std::string name() const override { return "the files"; }
  Result<ByteSourcePtr> open(const std::string& name) const override;
  Result<std::vector<std::string>> names() const override;

 private:
  std::map<std::string, HostFile> files_;
};

}  // namespace andiron::web
