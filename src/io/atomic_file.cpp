// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that appear whole or not at all.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "andiron/file.h"
#include "src/core/try.h"
#include "src/io/system_calls.h"
#include "src/io/write_target.h"

namespace andiron::inline v1 {
namespace {

constexpr std::size_t copy_buffer = std::size_t{8} << 20;
// Blocks can be shared between files in these units.
constexpr std::uint64_t clone_block = 4096;
// Written data starts on its way to disk in steps of this, so that the fsync at the end finds
// little left to wait for.
constexpr std::uint64_t writeback_step = std::uint64_t{16} << 20;
constexpr std::size_t max_name = 255;
constexpr int max_attempts = 100;

// ".NAME.XXXXXX.tmp", another one each time. Not secret: the file is made with O_EXCL.
std::string temporary_name(const std::string& name) {
  static std::atomic<std::uint64_t> calls{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::uint64_t bits = static_cast<std::uint64_t>(now) ^
                       (static_cast<std::uint64_t>(::getpid()) << 32) ^
                       (++calls * 0x9E3779B97F4A7C15u);
  bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9u;
  bits ^= bits >> 29;
  std::string random;
  for (int i = 0; i < 6; ++i, bits /= 36) {
    random += "0123456789abcdefghijklmnopqrstuvwxyz"[bits % 36];
  }
  const std::string ending = "." + random + ".tmp";
  std::size_t kept = std::min(name.size(), max_name - 1 - ending.size());
  // Some file systems refuse names with half a UTF-8 character.
  while (kept < name.size() && kept > 0 && (name[kept] & 0xC0) == 0x80) --kept;
  return "." + name.substr(0, kept) + ending;
}

// Whether linkat would find this file: not everyone has /proc, nor the same one.
bool can_be_linked(const Descriptor& file) {
  struct stat by_number{};
  struct stat by_path{};
  return system_calls().fstat(file.get(), &by_number) == 0 &&
         system_calls().fstatat(AT_FDCWD, descriptor_path(file.get()).c_str(), &by_path, 0) == 0 &&
         by_number.st_dev == by_path.st_dev && by_number.st_ino == by_path.st_ino;
}

Error already_exists(const std::string& path) {
  return Error{.code = ErrorCode::already_exists,
               .message = "the file exists",
               .file = path,
               .hint = "pass .overwrite(true) to replace it, or choose another name"};
}

}  // namespace

struct AtomicFile::State {
  std::string path;  // as the caller gave it, for messages
  AtomicFileOptions options;
  Target target;
  Descriptor file;
  std::string temporary;  // its name in the target's folder; empty while it has none
  std::uint64_t written = 0;
  std::uint64_t writeback = 0;  // on its way to disk up to here
  bool reserved = false;
  bool committed = false;
  bool broken = false;           // a step failed: whatever came after it would leave a gap
  std::optional<Error> failure;  // of that step, unless it threw

  ~State() {
    if (!temporary.empty()) {
      system_calls().unlinkat(target.folder.get(), temporary.c_str(), 0);
    }
  }

  Status ready() const;
  template <class Step>
  Status run(Step step);
  Status open();
  Status append(std::span<const std::byte> data);
  void advance(std::uint64_t count);

  Status copy(const ByteSource& source, std::uint64_t offset, std::uint64_t count);
  std::uint64_t copy_in_kernel(int source, std::uint64_t offset, std::uint64_t count);
  std::uint64_t copy_range(int source, std::uint64_t offset, std::uint64_t count);

  Status finish();
  Status publish();
  int link_as(const char* name) const;
  int rename_without_replacing() const;
  template <class Make>
  int with_fresh_name(Make make);

  Error write_error(std::string_view action, int error_number, std::uint64_t needed) const;
};

Status AtomicFile::State::ready() const {
  if (committed) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the file is already committed",
                 .file = path};
  }
  if (failure) return *failure;
  if (broken)
    return Error{.code = ErrorCode::io, .message = "an earlier write failed", .file = path};
  return {};
}

// Runs a step and remembers its failure, also if it throws.
template <class Step>
Status AtomicFile::State::run(Step step) {
  broken = true;
  Status status = step();
  broken = !status;
  if (!status) failure = status.error();
  return status;
}

Status AtomicFile::State::open() {
  // What replaces a private file is private from its first byte on.
  const mode_t mode = target.old_mode ? 0600 : 0666;
  const int folder = target.folder.get();
  file = Descriptor(retry([&] { return system_calls().open_nameless(folder, mode); }));
  if (file && !can_be_linked(file)) file = Descriptor();
  if (!file) {
    file = Descriptor(with_fresh_name([&](const char* name) {
      return system_calls().openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }));
  }
  if (!file) return write_error("create a file in its folder", errno, 0);
  if (target.old_mode && system_calls().fchmod(file.get(), *target.old_mode) != 0) {
    return io_error("keep the permissions of the old file", path, errno);
  }
  return {};
}

Status AtomicFile::State::append(std::span<const std::byte> data) {
  while (!data.empty()) {
    const std::size_t count = std::min(data.size(), max_transfer);
    const ssize_t put = retry([&] {
      return system_calls().pwrite(file.get(), data.data(), count, static_cast<off_t>(written));
    });
    if (put <= 0) {
      return write_error("write the file", put == 0 ? EIO : errno, written + data.size());
    }
    data = data.subspan(static_cast<std::size_t>(put));
    advance(static_cast<std::uint64_t>(put));
  }
  return {};
}

void AtomicFile::State::advance(std::uint64_t count) {
  written += count;
  if (!options.sync || written - writeback < writeback_step) return;
  // A failure here is seen again by fsync.
  system_calls().start_writeback(file.get(), static_cast<off_t>(writeback),
                                 static_cast<off_t>(written - writeback));
  writeback = written;
}

Status AtomicFile::State::copy(const ByteSource& source, std::uint64_t offset,
                               std::uint64_t count) {
  if (offset > source.size() || count > source.size() - offset) {
    return Error{.code = ErrorCode::truncated,
                 .message = "the range to copy extends past the end of its source",
                 .file = source.name(),
                 .found = std::to_string(source.size()) + " bytes",
                 .expected = std::to_string(count) + " bytes at offset " + std::to_string(offset)};
  }
  if (const int descriptor = source.file_descriptor(); descriptor != -1) {
    const std::uint64_t copied = copy_in_kernel(descriptor, offset, count);
    offset += copied;
    count -= copied;
  }
  // The rest, or all. Whatever stopped the system's own copy shows here as an error of one side.
  if (count == 0) return {};
  ANDIRON_ASSIGN(
      Bytes buffer,
      Bytes::allocate(static_cast<std::size_t>(std::min<std::uint64_t>(count, copy_buffer))));
  while (count > 0) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(count, buffer.size()));
    const std::span<std::byte> piece = buffer.writable().first(step);
    ANDIRON_TRY(source.read_at(offset, piece));
    ANDIRON_TRY(append(piece));
    offset += step;
    count -= step;
  }
  return {};
}

// Returns how far it came.
std::uint64_t AtomicFile::State::copy_in_kernel(int source, std::uint64_t offset,
                                                std::uint64_t count) {
  std::uint64_t done = 0;
  // Sharing works for whole blocks that lie alike in both files.
  const std::uint64_t head = (clone_block - offset % clone_block) % clone_block;
  if (offset % clone_block == written % clone_block && count >= head + clone_block) {
    done = copy_range(source, offset, head);
    const std::uint64_t whole = (count - head) / clone_block * clone_block;
    if (done == head && system_calls().clone_range(source, static_cast<off_t>(offset + head),
                                                   file.get(), static_cast<off_t>(written),
                                                   static_cast<std::size_t>(whole)) == 0) {
      done += whole;
      advance(whole);
    }
  }
  return done + copy_range(source, offset + done, count - done);
}

std::uint64_t AtomicFile::State::copy_range(int source, std::uint64_t offset, std::uint64_t count) {
  std::uint64_t done = 0;
  while (done < count) {
    const ssize_t copied = retry([&] {
      return system_calls().copy_file_range(
          source, static_cast<off_t>(offset + done), file.get(), static_cast<off_t>(written),
          static_cast<std::size_t>(std::min(count - done, writeback_step)));
    });
    if (copied <= 0) break;
    done += static_cast<std::uint64_t>(copied);
    advance(static_cast<std::uint64_t>(copied));
  }
  return done;
}

Status AtomicFile::State::finish() {
  System& system = system_calls();
  if (reserved &&
      retry([&] { return system.ftruncate(file.get(), static_cast<off_t>(written)); }) != 0) {
    return io_error("release reserved space", path, errno);
  }
  if (options.sync && retry([&] { return system.fsync(file.get()); }) != 0) {
    return write_error("flush the file to disk", errno, written);
  }
  ANDIRON_TRY(publish());
  // Some file systems have no fsync of folders, and say EINVAL.
  if (options.sync && retry([&] { return system.fsync(target.folder.get()); }) != 0 &&
      errno != EINVAL) {
    Error error = io_error("flush its folder to disk", path, errno);
    error.found = "the new file is in place, but may be lost if the power fails now";
    return error;
  }
  return {};
}

Status AtomicFile::State::publish() {
  System& system = system_calls();
  const int folder = target.folder.get();
  const char* const name = target.name.c_str();
  if (temporary.empty()) {
    if (link_as(name) == 0) return {};
    if (errno == EEXIST && !options.overwrite) return already_exists(path);
    if (errno != EEXIST) return io_error("rename the file into place", path, errno);
    // Linking never replaces and renaming does, for which the file needs a name to begin with.
    if (with_fresh_name([&](const char* fresh) { return link_as(fresh); }) != 0) {
      return io_error("give the file a temporary name", path, errno);
    }
  }
  if (file.close() != 0) return write_error("finish the file", errno, written);
  const int moved = options.overwrite ? system.renameat(folder, temporary.c_str(), folder, name)
                                      : rename_without_replacing();
  if (moved != 0 && errno == EEXIST) return already_exists(path);
  if (moved != 0) return io_error("rename the file into place", path, errno);
  temporary.clear();
  return {};
}

// Gives the nameless file a name.
int AtomicFile::State::link_as(const char* name) const {
  return system_calls().linkat(AT_FDCWD, descriptor_path(file.get()).c_str(), target.folder.get(),
                               name, AT_SYMLINK_FOLLOW);
}

int AtomicFile::State::rename_without_replacing() const {
  System& system = system_calls();
  const int folder = target.folder.get();
  if (system.rename_noreplace(folder, temporary.c_str(), folder, target.name.c_str()) == 0) {
    return 0;
  }
  if (errno != EINVAL && errno != ENOSYS) return -1;
  // Not every file system knows how; then the file has two names for a moment.
  if (system.linkat(folder, temporary.c_str(), folder, target.name.c_str(), 0) != 0) return -1;
  system.unlinkat(folder, temporary.c_str(), 0);
  return 0;
}

// The result of `make` under a temporary name that was free, and that the file then has.
template <class Make>
int AtomicFile::State::with_fresh_name(Make make) {
  int result = -1;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    temporary = temporary_name(target.name);
    result = retry([&] { return make(temporary.c_str()); });
    if (result != -1) return result;
    if (errno != EEXIST) break;
  }
  temporary.clear();
  return result;
}

Error AtomicFile::State::write_error(std::string_view action, int error_number,
                                     std::uint64_t needed) const {
  Error error = io_error(action, path, error_number);
  if (error_number != ENOSPC && error_number != EDQUOT) return error;
  struct statvfs disk{};
  if (system_calls().fstatvfs(target.folder.get(), &disk) == 0) {
    const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    error.found = std::to_string(free) + " bytes free";
  }
  if (needed > 0) error.expected = "room for " + std::to_string(needed) + " bytes";
  return error;
}

AtomicFile::AtomicFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
AtomicFile::~AtomicFile() = default;

Result<std::unique_ptr<AtomicFile>> AtomicFile::create(const std::string& path,
                                                       AtomicFileOptions options) ANDIRON_NO_THROW {
  auto state = std::make_unique<State>();
  state->path = path;
  state->options = options;
  ANDIRON_ASSIGN(state->target, find_target(path));
  if (state->target.is_taken() && !options.overwrite) return already_exists(path);
  ANDIRON_TRY(state->open());
  return std::unique_ptr<AtomicFile>(new AtomicFile(std::move(state)));
}
ANDIRON_OR_OUT_OF_MEMORY

Status AtomicFile::reserve(std::uint64_t total) ANDIRON_NO_THROW {
  ANDIRON_TRY(state_->ready());
  if (total == 0) return {};
  state_->reserved = true;
  const int failed = retry(
      [&] { return system_calls().fallocate(state_->file.get(), 0, static_cast<off_t>(total)); });
  // Where space cannot be reserved, writing finds out.
  if (failed == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return {};
  return state_->write_error("reserve space on disk", errno, total);
}
ANDIRON_OR_OUT_OF_MEMORY

Status AtomicFile::write(std::span<const std::byte> data) ANDIRON_NO_THROW {
  ANDIRON_TRY(state_->ready());
  return state_->run([&] { return state_->append(data); });
}
ANDIRON_OR_OUT_OF_MEMORY

Status AtomicFile::copy_from(const ByteSource& source, std::uint64_t offset, std::uint64_t count)
    ANDIRON_NO_THROW {
  ANDIRON_TRY(state_->ready());
  return state_->run([&] { return state_->copy(source, offset, count); });
}
ANDIRON_OR_OUT_OF_MEMORY

Status AtomicFile::commit() ANDIRON_NO_THROW {
  ANDIRON_TRY(state_->ready());
  Status status = state_->run([&] { return state_->finish(); });
  state_->committed = status.ok();
  return status;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
