// SPDX-License-Identifier: MIT OR Apache-2.0
// The real system calls, and errno in words.
#include "src/io/system_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <limits>
#include <system_error>

#ifdef __wasi__
#include <cerrno>
#else
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <cstdlib>
#include <ctime>
#endif
#ifdef __linux__
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#endif

namespace andiron::inline v1 {
namespace {

[[maybe_unused]] int not_here() {
  errno = ENOSYS;
  return -1;
}

// ---- Linux alone ----

#ifdef __linux__

int open_nameless(int folder, mode_t mode) {
  return ::openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
}

int open_direct(const char* path) { return ::open(path, O_RDONLY | O_DIRECT | O_CLOEXEC); }

ssize_t copy_file_range(int from, off_t from_offset, int to, off_t to_offset, std::size_t count) {
  return ::copy_file_range(from, &from_offset, to, &to_offset, count, 0);
}

int clone_range(int from, off_t from_offset, int to, off_t to_offset, std::size_t count) {
  file_clone_range range{};
  range.src_fd = from;
  range.src_offset = static_cast<__u64>(from_offset);
  range.src_length = count;
  range.dest_offset = static_cast<__u64>(to_offset);
  return ::ioctl(to, FICLONERANGE, &range);
}

int fallocate(int file, off_t offset, off_t count) { return ::fallocate(file, 0, offset, count); }

int start_writeback(int file, off_t offset, off_t count) {
  return ::sync_file_range(file, offset, count, SYNC_FILE_RANGE_WRITE);
}

// By number: not every C library wraps it.
int rename_with(unsigned flags, int from_folder, const char* from, int to_folder, const char* to) {
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int rename_noreplace(int from_folder, const char* from, int to_folder, const char* to) {
  return rename_with(RENAME_NOREPLACE, from_folder, from, to_folder, to);
}

int rename_exchange(int folder, const char* one, const char* other) {
  return rename_with(RENAME_EXCHANGE, folder, one, folder, other);
}

ssize_t flistxattr(int file, char* out, std::size_t size) { return ::flistxattr(file, out, size); }

ssize_t fgetxattr(int file, const char* name, void* out, std::size_t size) {
  return ::fgetxattr(file, name, out, size);
}

int fsetxattr(int file, const char* name, const void* value, std::size_t size) {
  return ::fsetxattr(file, name, value, size, 0);
}

int advise_huge_pages(void* address, std::size_t size) {
  return ::madvise(address, size, MADV_HUGEPAGE);
}

#else

int open_nameless(int, mode_t) { return not_here(); }
int open_direct(const char*) { return not_here(); }
ssize_t copy_file_range(int, off_t, int, off_t, std::size_t) { return not_here(); }
int clone_range(int, off_t, int, off_t, std::size_t) { return not_here(); }
int fallocate(int, off_t, off_t) { return not_here(); }
int start_writeback(int, off_t, off_t) { return not_here(); }
int rename_noreplace(int, const char*, int, const char*) { return not_here(); }
int rename_exchange(int, const char*, const char*) { return not_here(); }
ssize_t flistxattr(int, char*, std::size_t) { return not_here(); }
ssize_t fgetxattr(int, const char*, void*, std::size_t) { return not_here(); }
int fsetxattr(int, const char*, const void*, std::size_t) { return not_here(); }
int advise_huge_pages(void*, std::size_t) { return not_here(); }

#endif

// ---- What WebAssembly's system has not ----

#ifdef __wasi__

int duplicate(int) { return not_here(); }
int lock(int) { return not_here(); }
int free_bytes(int, std::uint64_t*) { return not_here(); }
void* map(int, std::size_t) { return not_here(), nullptr; }
int unmap(void*, std::size_t) { return not_here(); }
std::uint64_t file_size_limit() { return std::numeric_limits<std::uint64_t>::max(); }
uid_t user() { return 0; }
// Files have no owners and no permissions.
int fchown(int, uid_t, gid_t) { return 0; }
int fchmod(int, mode_t) { return 0; }
char* real_path(const char*) { return nullptr; }
void pause(unsigned) {}

#else

int duplicate(int file) { return ::fcntl(file, F_DUPFD_CLOEXEC, 0); }

int lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB); }

int free_bytes(int file, std::uint64_t* out) {
  struct statvfs disk{};
  if (::fstatvfs(file, &disk) != 0) return -1;
  *out = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  return 0;
}

void* map(int file, std::size_t size) {
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  return address == MAP_FAILED ? nullptr : address;
}

int unmap(void* address, std::size_t size) { return ::munmap(address, size); }

std::uint64_t file_size_limit() {
  struct rlimit limit{};
  const bool is_limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? limit.rlim_cur : std::numeric_limits<std::uint64_t>::max();
}

uid_t user() { return ::geteuid(); }

int fchown(int file, uid_t owner, gid_t group) { return ::fchown(file, owner, group); }

int fchmod(int file, mode_t mode) { return ::fchmod(file, mode); }

char* real_path(const char* path) { return ::realpath(path, nullptr); }

void pause(unsigned milliseconds) {
  const timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  ::nanosleep(&time, nullptr);
}

#endif

// ---- What all have ----

int openat(int folder, const char* path, int flags, mode_t mode) {
  return ::openat(folder, path, flags, mode);
}

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::not_found;
    case EEXIST:
      return ErrorCode::already_exists;
    case ENOMEM:
      return ErrorCode::out_of_memory;
    default:
      return ErrorCode::io;
  }
}

const char* hint_for(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
      return "check the permissions of the file and of its folder";
    case EMFILE:
      return "too many files are open in this process; raise the limit with `ulimit -n`";
    case ENFILE:
      return "too many files are open on this machine; close some";
    case ENOSPC:
    case EDQUOT:
      return "free some space, or write to another disk";
    case EFBIG:
      return "raise the limit on file sizes with `ulimit -f`";
    case EROFS:
      return "write to another folder";
    case ELOOP:
      return "its symbolic links form a loop; remove one";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case EIO:
      return "the disk or the network failed; try again, and check the system's log";
    default:
      return "";
  }
}

}  // namespace

System& system_calls() noexcept {
  static constinit System calls{
      .openat = openat,
      .open_nameless = open_nameless,
      .open_direct = open_direct,
      .duplicate = duplicate,
      .close = ::close,
      .lock = lock,
      .fstat = ::fstat,
      .fstatat = ::fstatat,
      .free_bytes = free_bytes,
      .readlinkat = ::readlinkat,
      .pread = ::pread,
      .map = map,
      .unmap = unmap,
      .advise_huge_pages = advise_huge_pages,
      .pwrite = ::pwrite,
      .copy_file_range = copy_file_range,
      .clone_range = clone_range,
      .file_size_limit = file_size_limit,
      .fallocate = fallocate,
      .ftruncate = ::ftruncate,
      .user = user,
      .fchown = fchown,
      .fchmod = fchmod,
      .flistxattr = flistxattr,
      .fgetxattr = fgetxattr,
      .fsetxattr = fsetxattr,
      .start_writeback = start_writeback,
      .fsync = ::fsync,
      .linkat = ::linkat,
      .renameat = ::renameat,
      .rename_noreplace = rename_noreplace,
      .rename_exchange = rename_exchange,
      .unlinkat = ::unlinkat,
      .real_path = real_path,
      .pause = pause,
  };
  return calls;
}

int Descriptor::close() noexcept {
  const int number = std::exchange(number_, -1);
  if (number == -1 || system_calls().close(number) == 0) return 0;
  // An interrupted close has closed; doing it again could close the file of another thread.
  return errno == EINTR ? 0 : -1;
}

Descriptor open_for_reading(int folder, const std::string& name) {
  return Descriptor(retry([&] {
    return system_calls().openat(folder, name.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
  }));
}

Descriptor lock_for_reading(int folder, const std::string& name) {
  Descriptor file = open_for_reading(folder, name);
  if (file) static_cast<void>(system_calls().lock(file.get()));
  return file;
}

std::string descriptor_path(int file) { return "/proc/self/fd/" + std::to_string(file); }

bool is_same_file(int one, int other) {
  struct stat first{};
  struct stat second{};
  return system_calls().fstat(one, &first) == 0 && system_calls().fstat(other, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

int sync_folder(int folder) {
  const int result = retry([&] { return system_calls().fsync(folder); });
  return result == 0 || errno == EINVAL ? 0 : -1;
}

Error io_error(std::string_view action, const std::string& file, int error_number) {
  Error error;
  error.code = code_of(error_number);
  error.message = "cannot ";
  error.message += action;
  error.message += ": ";
  error.message += std::generic_category().message(error_number);
  error.file = file;
  error.hint = hint_for(error_number);
  return error;
}

Status check_path(const std::string& path) {
  if (path.find('\0') == std::string::npos) return {};
  return Error{.code = ErrorCode::invalid_argument,
               .message = "the path contains a zero byte",
               .file = path};
}

}  // namespace andiron::inline v1
