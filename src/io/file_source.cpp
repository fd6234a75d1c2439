// SPDX-License-Identifier: MIT OR Apache-2.0
// Files for reading: positional reads, one shared mapping, reads past the page cache.
#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "andiron/file.h"
#include "src/core/lock.h"
#include "src/core/try.h"
#include "src/io/system_calls.h"

namespace andiron::inline v1 {
namespace {

// Direct reads want offset, length and memory on multiples of the device's block. Where that is
// larger the read is refused, and made through the page cache instead.
constexpr std::size_t direct_block = 4096;
constexpr std::size_t direct_chunk = std::size_t{8} << 20;

struct FreeMemory {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

class FileSource final : public ByteSource, public std::enable_shared_from_this<FileSource> {
 public:
  FileSource(std::string name, IoMode mode, Descriptor file, std::uint64_t size)
      : name_(std::move(name)), mode_(mode), file_(std::move(file)), size_(size) {
    // Opened through the first descriptor, so that both are the same file for certain.
    if (mode_ == IoMode::direct) {
      const std::string same_file = descriptor_path(file_.get());
      direct_ = Descriptor(retry([&] { return system_calls().open_direct(same_file.c_str()); }));
    }
  }

  ~FileSource() override {
    if (mapping_ != nullptr) system_calls().unmap(mapping_, static_cast<std::size_t>(size_));
  }

  std::uint64_t size() const noexcept override { return size_; }
  const std::string& name() const noexcept override { return name_; }
  bool can_view() const noexcept override {
    return mode_ == IoMode::automatic || mode_ == IoMode::mmap;
  }
  int file_descriptor() const noexcept override { return file_.get(); }

 protected:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (direct_) {
      const std::size_t done = read_direct(offset, out);
      out = out.subspan(done);
      offset += done;
    }
    while (!out.empty()) {
      const ssize_t got = system_calls().pread(
          file_.get(), out.data(), std::min(out.size(), max_transfer), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return io_error("read the file", name_, errno);
      if (got == 0) return end_of_file(offset);
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return {};
  }

  Result<Bytes> do_view(std::uint64_t offset, std::uint64_t count) const override {
    if (!can_view()) {
      return Error{
          .code = ErrorCode::unsupported,
          .message = "the file was opened for positional reads, so its memory cannot be borrowed",
          .file = name_,
          .hint = "read a copy, or open the file with " + Message(Advice::io_automatic)};
    }
    ANDIRON_TRY(check_size(ErrorCode::file_changed));
    if (count == 0) return Bytes();
    ANDIRON_ASSIGN(const std::byte* const begin, mapping());
    // The source itself is the owner: file and mapping stay open under every view.
    return Bytes::share(shared_from_this(), {begin + offset, static_cast<std::size_t>(count)});
  }

 private:
  // Blocks go straight to their place where file and memory are aligned alike, otherwise through a
  // buffer. The last block of a file is asked for whole and comes short. Returns how much was
  // read: whatever stops a direct read, the ordinary read takes over, and succeeds or knows what is
  // wrong.
  std::size_t read_direct(std::uint64_t offset, std::span<std::byte> out) const {
    const std::size_t wanted = out.size();
    const auto first_skip = static_cast<std::size_t>(offset % direct_block);
    const bool aligned_alike =
        reinterpret_cast<std::uintptr_t>(out.data()) % direct_block == first_skip;
    const std::size_t buffer_size =
        aligned_alike ? direct_block : std::min(whole_blocks(first_skip, out.size()), direct_chunk);
    const std::unique_ptr<std::byte, FreeMemory> buffer(
        static_cast<std::byte*>(std::aligned_alloc(direct_block, buffer_size)));
    if (buffer == nullptr) return 0;

    while (!out.empty()) {
      const auto skip = static_cast<std::size_t>(offset % direct_block);
      std::size_t done = 0;
      if (aligned_alike && skip == 0 && out.size() >= direct_block) {
        const std::size_t want = std::min(out.size() / direct_block * direct_block, direct_chunk);
        const ssize_t got = read_some(direct_, offset, out.data(), want);
        if (got <= 0) return wanted - out.size();
        done = static_cast<std::size_t>(got);
      } else {
        const std::size_t want = std::min(whole_blocks(skip, out.size()), buffer_size);
        const ssize_t got = read_some(direct_, offset - skip, buffer.get(), want);
        if (got <= static_cast<ssize_t>(skip)) return wanted - out.size();
        done = std::min(static_cast<std::size_t>(got) - skip, out.size());
        std::memcpy(out.data(), buffer.get() + skip, done);
      }
      out = out.subspan(done);
      offset += done;
    }
    return wanted;
  }

  // The bytes of all blocks that `count` bytes touch, when they start `skip` bytes into a block.
  static std::size_t whole_blocks(std::size_t skip, std::size_t count) {
    return (skip + count + direct_block - 1) / direct_block * direct_block;
  }

  static ssize_t read_some(const Descriptor& file, std::uint64_t offset, void* out,
                           std::size_t count) {
    return retry(
        [&] { return system_calls().pread(file.get(), out, count, static_cast<off_t>(offset)); });
  }

  // The whole file, mapped when first needed.
  Result<const std::byte*> mapping() const {
    const detail::Lock lock(mapping_mutex_);
    if (mapping_ == nullptr) {
      if (size_ > std::numeric_limits<std::size_t>::max()) {
        return Error{.code = ErrorCode::unsupported,
                     .message = "the file is larger than the address space",
                     .file = name_,
                     .hint = "open it with " + Message(Advice::io_pread)};
      }
      void* const address = system_calls().map(file_.get(), static_cast<std::size_t>(size_));
      if (address == nullptr) {
        const int error_number = errno;
        Error error = io_error("map the file", name_, error_number);
        // Some file systems and systems have no mappings; callers then read copies.
        if (error_number == ENODEV || error_number == ENOSYS) error.code = ErrorCode::unsupported;
        return error;
      }
      mapping_ = address;
    }
    return static_cast<const std::byte*>(mapping_);
  }

  // Touching a mapping past the end of its file would end the program.
  Status check_size(ErrorCode when_cut) const {
    struct stat now{};
    if (system_calls().fstat(file_.get(), &now) != 0) {
      return io_error("get the size of the file", name_, errno);
    }
    if (static_cast<std::uint64_t>(now.st_size) >= size_) return {};
    return cut_short(when_cut, static_cast<std::uint64_t>(now.st_size));
  }

  Error end_of_file(std::uint64_t offset) const {
    struct stat now{};
    const bool known = system_calls().fstat(file_.get(), &now) == 0;
    const auto size = static_cast<std::uint64_t>(now.st_size);
    return cut_short(ErrorCode::truncated, known ? std::min(size, offset) : offset);
  }

  Error cut_short(ErrorCode code, std::uint64_t size) const {
    return Error{
        .code = code,
        .message = "the file was cut to " + std::to_string(size) + " bytes while it was open",
        .file = name_,
        .expected = std::to_string(size_) + " bytes, as when it was opened",
        .hint = "open it again when nothing writes to it"};
  }

  const std::string name_;
  const IoMode mode_;
  const Descriptor file_;
  Descriptor direct_;  // empty where the file system has no direct reads
  const std::uint64_t size_;
  mutable detail::Mutex mapping_mutex_;
  mutable void* mapping_ = nullptr;
};

Error not_a_file(const std::string& path, bool folder) {
  return Error{.code = ErrorCode::unsupported,
               .message = folder ? "this is a folder" : "this is a pipe, a device or a socket",
               .file = path,
               .expected = "a regular file",
               .hint = folder ? "name a file in it" : "copy its content into a file first"};
}

}  // namespace

Result<ByteSourcePtr> open_file(const std::string& path, IoMode mode) ANDIRON_NO_THROW {
  ANDIRON_TRY(check_path(path));
  // Without O_NONBLOCK, opening a pipe would wait for its writer. Regular files do not care.
  Descriptor file(retry([&] {
    return system_calls().openat(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  }));
  if (!file && errno == ENXIO) return not_a_file(path, false);
  if (!file) return io_error("open the file", path, errno);
  struct stat found{};
  if (system_calls().fstat(file.get(), &found) != 0) {
    return io_error("get the size of the file", path, errno);
  }
  if (!S_ISREG(found.st_mode)) return not_a_file(path, S_ISDIR(found.st_mode));
  return ByteSourcePtr(std::make_shared<FileSource>(path, mode, std::move(file),
                                                    static_cast<std::uint64_t>(found.st_size)));
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
