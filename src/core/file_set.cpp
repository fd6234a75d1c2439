// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/file_set_test.cpp
#include "andiron/byte_source.h"

#include <utility>

#include "andiron/detail/no_throw.h"

namespace andiron::inline v1 {
namespace {

class MemoryFiles : public FileSet {
 public:
  MemoryFiles(std::map<std::string, Bytes> files, std::string name)
      : files_(std::move(files)), name_(std::move(name)) {}

  std::string name() const override { return name_; }

  Result<ByteSourcePtr> open(const std::string& name) const override ANDIRON_NO_THROW {
    const auto file = files_.find(name);
    if (file != files_.end()) return memory_source(file->second, name);
    return Error{.code = ErrorCode::not_found, .message = "no such file in memory", .file = name};
  }
  ANDIRON_OR_OUT_OF_MEMORY

  Result<std::vector<std::string>> names() const override ANDIRON_NO_THROW {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : files_) {
      if (name.find('/') == std::string::npos) names.push_back(name);
    }
    return names;
  }
  ANDIRON_OR_OUT_OF_MEMORY

 private:
  std::map<std::string, Bytes> files_;
  std::string name_;
};

}  // namespace

Result<std::vector<std::string>> FileSet::names() const ANDIRON_NO_THROW {
  return Error{.code = ErrorCode::unsupported,
               .message = "these files cannot be listed",
               .file = name(),
               .hint = "name the file to open"};
}
ANDIRON_OR_OUT_OF_MEMORY

FileSetPtr memory_files(std::map<std::string, Bytes> files, std::string name) {
  return std::make_shared<MemoryFiles>(std::move(files), std::move(name));
}

}  // namespace andiron::inline v1
