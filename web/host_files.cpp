// SPDX-License-Identifier: MIT OR Apache-2.0
#include "web/host_files.h"

#include <memory>
#include <span>
#include <utility>

#define ANDIRON_IMPORT(name) \
  extern "C" [[clang::import_module("andiron"), clang::import_name(#name)]]

// Returns the number of a file of a set, which is opened; -1 if there is none, -2 if that failed.
ANDIRON_IMPORT(find)
std::int32_t andiron_host_find(std::uint32_t set, const char* name, std::uint32_t name_size);

ANDIRON_IMPORT(size) double andiron_host_size(std::int32_t file);

// Fills memory from a file. Returns 0, or 1 if that failed.
ANDIRON_IMPORT(read)
std::int32_t andiron_host_read(std::int32_t file, double offset, void* out, std::uint32_t size);

namespace andiron::web {
namespace {

class HostSource final : public ByteSource {
 public:
  HostSource(std::int32_t file, std::string name)
      : file_(file),
        size_(static_cast<std::uint64_t>(andiron_host_size(file))),
        name_(std::move(name)) {}
  std::uint64_t size() const noexcept override { return size_; }
  const std::string& name() const noexcept override { return name_; }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    // A double holds every offset that a file can have.
    const bool failed = andiron_host_read(file_, static_cast<double>(offset), out.data(),
                                          static_cast<std::uint32_t>(out.size())) != 0;
    if (!failed) return {};
    return Error{.code = ErrorCode::io,
                 .message = "cannot read the file",
                 .file = name_,
                 .found = std::to_string(out.size()) + " bytes at " + std::to_string(offset),
                 .hint = "it may have changed since it was opened"};
  }

  std::int32_t file_;
  std::uint64_t size_;
  std::string name_;
};

}  // namespace

Result<ByteSourcePtr> HostFiles::open(const std::string& name) const {
  const std::int32_t file =
      andiron_host_find(set_, name.data(), static_cast<std::uint32_t>(name.size()));
  if (file >= 0) return ByteSourcePtr(std::make_shared<HostSource>(file, name));
  Error error{.code = ErrorCode::io, .message = "cannot open the file", .file = name};
  if (folder_) error.file.insert(0, *folder_);
  if (file == -1) {
    error.code = ErrorCode::not_found;
    error.message = folder_ ? "no such file" : "no such file was given";
    if (!folder_) error.hint = "open it together with the others";
  }
  return error;
}

}  // namespace andiron::web
