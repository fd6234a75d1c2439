// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that JavaScript reads for us: of a page, in memory, or on node's disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andiron/byte_source.h"

namespace andiron::web {

class HostFiles final : public FileSet {
 public:
  /// `set`: the number that the host knows them by. `folder`: what stands before their names, if
  /// they are on a disk. `names`: those to choose a model from, sorted.
  HostFiles(std::uint32_t set, std::optional<std::string> folder, std::vector<std::string> names)
      : set_(set), folder_(std::move(folder)), names_(std::move(names)) {}

  std::string name() const override { return folder_.value_or("the files"); }
  Result<ByteSourcePtr> open(const std::string& name) const override;
  Result<std::vector<std::string>> names() const override { return names_; }

 private:
  std::uint32_t set_;
  std::optional<std::string> folder_;
  std::vector<std::string> names_;
};

}  // namespace andiron::web
