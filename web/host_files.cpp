// SPDX-License-Identifier: MIT OR Apache-2.0
#include "web/host_files.h"

#include <memory>
#include <span>
#include <utility>

// Fills memory from a file of the host. Returns 0, or 1 if that failed.
extern "C" [[clang::import_module("andiron"), clang::import_name("read")]] std::int32_t
andiron_host_read(std::int32_t file, double offset, void* out, std::uint32_t size);

namespace andiron::web {
namespace {

class HostSource final : public ByteSource {
 public:
  explicit HostSource(HostFile file) : file_(std::move(file)) {}
  std::uint64_t size() const noexcept override { return file_.size; }
  const std::string& name() const noexcept override { return file_.name; }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    // A double holds every offset that a file can have.
    const bool failed = andiron_host_read(file_.file, static_cast<double>(offset), out.data(),
                                          static_cast<std::uint32_t>(out.size())) != 0;
    if (!failed) return {};
    return Error{.code = ErrorCode::io,
                 .message = "cannot read the file",
                 .file = file_.name,
                 .found = std::to_string(out.size()) + " bytes at " + std::to_string(offset),
                 .hint = "it may have changed since it was opened"};
  }

  HostFile file_;
};

}  // namespace

HostFiles::HostFiles(const std::vector<HostFile>& files) {
  for (const HostFile& file : files) files_.emplace(file.name, file);
}

Result<ByteSourcePtr> HostFiles::open(const std::string& name) const {
  const auto found = files_.find(name);
  if (found != files_.end()) return ByteSourcePtr(std::make_shared<HostSource>(found->second));
  return Error{.code = ErrorCode::not_found,
               .message = "no such file was given",
               .file = name,
               .hint = "open it together with the others"};
}

Result<std::vector<std::string>> HostFiles::names() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : files_) {
    if (name.find('/') == std::string::npos) names.push_back(name);
  }
  return names;
}

}  // namespace andiron::web
