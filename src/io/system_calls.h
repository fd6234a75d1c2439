// SPDX-License-Identifier: MIT OR Apache-2.0
// The system calls of the library. Every call on an open file goes through one table, so that tests
// can make any of them fail.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "andiron/error.h"

namespace andiron::inline v1 {

static_assert(sizeof(off_t) == 8, "files can exceed 2 GiB: build with -D_FILE_OFFSET_BITS=64");

/// Calls follow the system's convention: -1 (for map: nullptr) and errno. A call that the platform
/// lacks fails with ENOSYS.
struct System {
  int (*openat)(int folder, const char* path, int flags, mode_t mode);
  /// A file without a name in `folder`, which vanishes unless it is linked somewhere.
  int (*open_nameless)(int folder, mode_t mode);
  /// For reads that bypass the page cache.
  int (*open_direct)(const char* path);
  /// Another descriptor of the same open file.
  int (*duplicate)(int file);
  int (*close)(int file);
  /// Locks an open file against other processes until its last descriptor is closed. Fails with
  /// EWOULDBLOCK if another holds it.
  int (*lock)(int file);

  int (*fstat)(int file, struct stat* out);
  int (*fstatat)(int folder, const char* path, struct stat* out, int flags);
  /// The bytes that this user may still write to the file system of an open file.
  int (*free_bytes)(int file, std::uint64_t* out);
  ssize_t (*readlinkat)(int folder, const char* path, char* out, std::size_t size);

  ssize_t (*pread)(int file, void* out, std::size_t count, off_t offset);
  /// The first `size` bytes of a file, for reading, until unmap().
  void* (*map)(int file, std::size_t size);
  int (*unmap)(void* address, std::size_t size);
  /// Asks for huge pages in a range of whole ones.
  int (*advise_huge_pages)(void* address, std::size_t size);

  ssize_t (*pwrite)(int file, const void* data, std::size_t count, off_t offset);
  ssize_t (*copy_file_range)(int from, off_t from_offset, int to, off_t to_offset,
                             std::size_t count);
  /// Lets two files share blocks (FICLONERANGE).
  int (*clone_range)(int from, off_t from_offset, int to, off_t to_offset, std::size_t count);
  /// The size beyond which writing a file raises a signal that ends the process (RLIMIT_FSIZE).
  std::uint64_t (*file_size_limit)();
  int (*fallocate)(int file, off_t offset, off_t count);
  int (*ftruncate)(int file, off_t size);
  uid_t (*user)();
  int (*fchown)(int file, uid_t owner, gid_t group);
  int (*fchmod)(int file, mode_t mode);
  /// The names of extended attributes, each ended by a zero byte.
  ssize_t (*flistxattr)(int file, char* out, std::size_t size);
  ssize_t (*fgetxattr)(int file, const char* name, void* out, std::size_t size);
  int (*fsetxattr)(int file, const char* name, const void* value, std::size_t size);
  /// Starts writing a range to disk without waiting.
  int (*start_writeback)(int file, off_t offset, off_t count);
  int (*fsync)(int file);

  int (*linkat)(int from_folder, const char* from, int to_folder, const char* to, int flags);
  int (*renameat)(int from_folder, const char* from, int to_folder, const char* to);
  /// Fails with EEXIST if `renameat` would replace a file.
  int (*rename_noreplace)(int from_folder, const char* from, int to_folder, const char* to);
  /// Two files of one folder trade their names.
  int (*rename_exchange)(int folder, const char* one, const char* other);
  int (*unlinkat)(int folder, const char* path, int flags);
  /// The path of a folder without symbolic links, to be freed; nullptr if it cannot be told.
  char* (*real_path)(const char* path);
  /// Lets others run for a moment.
  void (*pause)(unsigned milliseconds);
};

/// The table in use. Only tests change it.
System& system_calls() noexcept;

/// The largest single transfer: some systems refuse more than 2 GiB.
inline constexpr std::size_t max_transfer = std::size_t{1} << 30;

/// The result of `call`, made again as long as signals interrupt it.
template <class Call>
auto retry(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

/// An open file, closed at the end of its scope.
class Descriptor {
 public:
  Descriptor() = default;
  /// Takes over what an open call returned; -1 gives an empty descriptor.
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  explicit operator bool() const noexcept { return number_ != -1; }
  int get() const noexcept { return number_; }
  /// Closes now, for callers that need errors: network file systems report some only here.
  int close() noexcept;

 private:
  int number_ = -1;
};

/// Opens a file for reading, but not through a symbolic link. Empty, with errno, if that fails.
Descriptor open_for_reading(int folder, const std::string& name);

/// The same, locked if nobody else has it locked.
Descriptor lock_for_reading(int folder, const std::string& name);

/// A path under which an open file can be opened again and linked, even if it has no other name.
std::string descriptor_path(int file);

/// Whether two open files are one. False if the system cannot tell.
bool is_same_file(int one, int other);

/// Flushes changes of names in a folder to disk. Succeeds on file systems that have no such call.
int sync_folder(int folder);

/// "cannot ACTION: what errno means", with the code that fits and a hint where there is one.
Error io_error(std::string_view action, const std::string& file, int error_number);

/// Fails if the path contains a zero byte, which would silently name another file.
Status check_path(const std::string& path);

}  // namespace andiron::inline v1
