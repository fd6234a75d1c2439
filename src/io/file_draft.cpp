// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/io/atomic_file_test.cpp
#include "src/io/file_draft.h"

#include <fcntl.h>

#include <algorithm>

#include "src/core/try.h"
#include "src/io/file_attributes.h"
#include "src/io/folder.h"
#include "src/io/temporary_name.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t copy_buffer = std::size_t{8} << 20;
// Blocks can be shared between files in these units.
constexpr std::uint64_t clone_block = 4096;
// Written data starts on its way to disk in steps of this, so that the fsync at the end finds
// little left to wait for.
constexpr std::uint64_t writeback_step = std::uint64_t{16} << 20;

// Whether linkat would find this file: not everyone has /proc, nor the same one.
bool can_be_linked(const Descriptor& file) {
  struct stat by_number{};
  struct stat by_path{};
  return system_calls().fstat(file.get(), &by_number) == 0 &&
         system_calls().fstatat(AT_FDCWD, descriptor_path(file.get()).c_str(), &by_path, 0) == 0 &&
         by_number.st_dev == by_path.st_dev && by_number.st_ino == by_path.st_ino;
}

Error not_in_place(Error error) {
  error.found += error.found.empty() ? "" : "; ";
  error.found += "the new file is not in place; what was there is as before";
  return error;
}

}  // namespace

Error already_exists(const std::string& path) {
  return Error{.code = ErrorCode::already_exists,
               .message = "the file exists",
               .file = path,
               .hint = Message(Advice::overwrite) + ", or choose another name"};
}

Status FileDraft::ready() const {
  if (is_committed_) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the file is already committed",
                 .file = path_};
  }
  if (failure_) return *failure_;
  if (is_broken_) {
    return Error{.code = ErrorCode::io, .message = "an earlier write failed", .file = path_};
  }
  return {};
}

// Runs a step and remembers its failure, also if it throws.
template <class Step>
Status FileDraft::run(Step step) {
  is_broken_ = true;
  Status status = step();
  is_broken_ = !status;
  if (!status) failure_ = status.error();
  return status;
}

// The result of `make` under a temporary name that was free, and that the file then has.
template <class Make>
int FileDraft::with_fresh_name(Make make) {
  const unsigned first = options_.first_number.value_or(0);
  for (unsigned attempt = 0; attempt < max_temporaries; ++attempt) {
    std::string fresh = temporary_name(target_.name, first + attempt);
    const int result = retry([&] { return make(fresh.c_str()); });
    if (result != -1) {
      temporary_ = std::move(fresh);
      number_ = first + attempt;
      return result;
    }
    if (errno != EEXIST) break;
  }
  return -1;
}

Result<std::unique_ptr<FileDraft>> FileDraft::create(const std::string& path,
                                                     FileDraftOptions options) {
  std::unique_ptr<FileDraft> draft(new FileDraft());
  draft->path_ = path;
  draft->options_ = std::move(options);
  draft->size_limit_ = system_calls().file_size_limit();
  ANDIRON_ASSIGN(draft->target_, find_target(path));
  if (draft->target_.is_taken() && !draft->options_.overwrite) return already_exists(path);
  ANDIRON_TRY(draft->open());
  return draft;
}

FileDraft::~FileDraft() { static_cast<void>(remove_temporary()); }

bool FileDraft::remove_temporary() noexcept {
  if (temporary_.empty() || leaves_temporary_) return true;
  // What was replaced is needed once more if the power fails now.
  if (is_published_ && !is_committed_) return true;
  // A name that somebody else has by now stays.
  const Descriptor& named = is_published_ ? replaced_ : file_;
  if (!named || !names_file(target_.folder.get(), temporary_, named.get())) return true;
  return try_remove(target_.folder.get(), temporary_);
}

Status FileDraft::reserve(std::uint64_t total) {
  ANDIRON_TRY(ready());
  if (total == 0) return {};
  ANDIRON_TRY(check_size_limit(total));
  is_reserved_ = true;
  const int failed =
      retry([&] { return system_calls().fallocate(file_.get(), 0, static_cast<off_t>(total)); });
  // Where space cannot be reserved, writing finds out.
  if (failed == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return {};
  return write_error("reserve space on disk", errno, total);
}

Status FileDraft::write(std::span<const std::byte> data) {
  ANDIRON_TRY(ready());
  return run([&] { return put(written_, data); });
}

Status FileDraft::write_at(std::uint64_t offset, std::span<const std::byte> data) {
  ANDIRON_TRY(ready());
  return run([&] { return put(offset, data); });
}

Status FileDraft::copy_from(const ByteSource& source, std::uint64_t offset, std::uint64_t count) {
  ANDIRON_TRY(ready());
  return run([&] { return copy(source, offset, count); });
}

Status FileDraft::flush() {
  ANDIRON_TRY(ready());
  ANDIRON_TRY(run([&] { return flush_content(); }));
  return run([&]() -> Status {
    if (flush_folder() == 0) return {};
    return not_in_place(io_error("flush its folder to disk", path_, errno));
  });
}

Status FileDraft::commit() {
  ANDIRON_TRY(ready());
  Status status = run([&] { return finish(); });
  is_committed_ = status.ok();
  return status;
}

Status FileDraft::open() {
  const int folder = target_.folder.get();
  // What replaces a private file is private from its first byte on.
  const bool takes_attributes = target_.old || !options_.like.empty();
  const mode_t mode = takes_attributes ? 0600 : 0666;
  if (!options_.first_number) {
    remove_abandoned(folder, target_.name);
    file_ = Descriptor(retry([&] { return system_calls().open_nameless(folder, mode); }));
    if (file_ && !can_be_linked(file_)) file_ = Descriptor();
    // Without locks, what a killed process leaves stays.
    if (file_) static_cast<void>(system_calls().lock(file_.get()));
  }
  if (!file_) ANDIRON_TRY(open_named(mode));
  if (!takes_attributes) return {};
  return take_old_attributes();
}

Status FileDraft::open_named(mode_t mode) {
  const int folder = target_.folder.get();
  // Who finds the file before it is locked takes it for abandoned; then the next number is tried.
  for (unsigned attempt = 0; attempt < max_temporaries; ++attempt) {
    temporary_.clear();
    file_ = Descriptor(with_fresh_name([&](const char* name) {
      return system_calls().openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }));
    if (!file_) return write_error("create a file in its folder", errno, 0);
    const bool is_taken = system_calls().lock(file_.get()) != 0 && errno == EWOULDBLOCK;
    if (!is_taken && names_file(folder, temporary_, file_.get())) return {};
  }
  temporary_.clear();
  return write_error("create a file in its folder", EBUSY, 0);
}

Status FileDraft::take_old_attributes() {
  OldFile old;
  Target model;
  if (target_.old) {
    old = {target_.folder.get(), target_.name, *target_.old};
  } else {
    ANDIRON_ASSIGN(model, find_target(options_.like));
    if (!model.old) return {};
    old = {model.folder.get(), model.name, *model.old};
  }
  // What a new file takes from its model is who may read it; other attributes may be about content.
  const TakenAttributes taken =
      take_attributes(file_.get(), old, target_.old ? Attributes::all : Attributes::access);
  if (taken.error_number != 0) {
    return io_error("keep the permissions of the old file", path_, taken.error_number);
  }
  for (const std::string& lost : taken.lost) {
    notes_.push_back("could not keep the old file's " + lost);
  }
  return {};
}

Status FileDraft::check_size_limit(std::uint64_t end) const {
  if (end <= size_limit_) return {};
  Error error = write_error("write the file", EFBIG, 0);
  error.found = std::to_string(end) + " bytes";
  error.expected = "at most " + std::to_string(size_limit_) + " bytes in a file of this process";
  return error;
}

Status FileDraft::put(std::uint64_t offset, std::span<const std::byte> data) {
  const std::uint64_t end = offset + data.size();
  ANDIRON_TRY(check_size_limit(end));
  while (!data.empty()) {
    const std::size_t count = std::min(data.size(), max_transfer);
    const ssize_t taken = retry([&] {
      return system_calls().pwrite(file_.get(), data.data(), count, static_cast<off_t>(offset));
    });
    if (taken <= 0) return write_error("write the file", taken == 0 ? EIO : errno, end);
    data = data.subspan(static_cast<std::size_t>(taken));
    offset += static_cast<std::uint64_t>(taken);
    if (offset > written_) advance(offset - written_);
  }
  return {};
}

void FileDraft::advance(std::uint64_t count) {
  written_ += count;
  if (!options_.sync || written_ - writeback_ < writeback_step) return;
  // A failure here is seen again by fsync.
  system_calls().start_writeback(file_.get(), static_cast<off_t>(writeback_),
                                 static_cast<off_t>(written_ - writeback_));
  writeback_ = written_;
}

Status FileDraft::copy(const ByteSource& source, std::uint64_t offset, std::uint64_t count) {
  if (offset > source.size() || count > source.size() - offset) {
    return Error{.code = ErrorCode::truncated,
                 .message = "the range to copy extends past the end of its source",
                 .file = source.name(),
                 .found = std::to_string(source.size()) + " bytes",
                 .expected = std::to_string(count) + " bytes at offset " + std::to_string(offset)};
  }
  ANDIRON_TRY(check_size_limit(written_ + count));
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
    ANDIRON_TRY(put(written_, piece));
    offset += step;
    count -= step;
  }
  return {};
}

// Returns how far it came.
std::uint64_t FileDraft::copy_in_kernel(int source, std::uint64_t offset, std::uint64_t count) {
  std::uint64_t done = 0;
  // Sharing works for whole blocks that lie alike in both files.
  const std::uint64_t head = (clone_block - offset % clone_block) % clone_block;
  if (offset % clone_block == written_ % clone_block && count >= head + clone_block) {
    done = copy_range(source, offset, head);
    const std::uint64_t whole = (count - head) / clone_block * clone_block;
    if (done == head && system_calls().clone_range(source, static_cast<off_t>(offset + head),
                                                   file_.get(), static_cast<off_t>(written_),
                                                   static_cast<std::size_t>(whole)) == 0) {
      done += whole;
      advance(whole);
    }
  }
  return done + copy_range(source, offset + done, count - done);
}

std::uint64_t FileDraft::copy_range(int source, std::uint64_t offset, std::uint64_t count) {
  std::uint64_t done = 0;
  while (done < count) {
    const ssize_t copied = retry([&] {
      return system_calls().copy_file_range(
          source, static_cast<off_t>(offset + done), file_.get(), static_cast<off_t>(written_),
          static_cast<std::size_t>(std::min(count - done, writeback_step)));
    });
    if (copied <= 0) break;
    done += static_cast<std::uint64_t>(copied);
    advance(static_cast<std::uint64_t>(copied));
  }
  return done;
}

Status FileDraft::finish() {
  ANDIRON_TRY(flush_content());
  ANDIRON_TRY(publish());
  is_published_ = true;
  if (flush_folder() == 0) return {};
  Error error = io_error("flush its folder to disk", path_, errno);
  error.found = "the new file is in place, but may be lost if the power fails now";
  return error;
}

Status FileDraft::flush_content() {
  System& system = system_calls();
  if (is_reserved_ &&
      retry([&] { return system.ftruncate(file_.get(), static_cast<off_t>(written_)); }) != 0) {
    return io_error("release reserved space", path_, errno);
  }
  if (options_.sync && retry([&] { return system.fsync(file_.get()); }) != 0) {
    return not_in_place(write_error("flush the file to disk", errno, written_));
  }
  return {};
}

int FileDraft::flush_folder() const {
  return options_.sync ? sync_folder(target_.folder.get()) : 0;
}

Status FileDraft::publish() {
  System& system = system_calls();
  const int folder = target_.folder.get();
  const char* const name = target_.name.c_str();
  if (temporary_.empty()) {
    if (link_as(name) == 0) return {};
    if (errno == EEXIST && !options_.overwrite) return already_exists(path_);
    if (errno != EEXIST) return io_error("rename the file into place", path_, errno);
    // Linking never replaces and renaming does, for which the file needs a name to begin with.
    if (with_fresh_name([&](const char* fresh) { return link_as(fresh); }) != 0) {
      return io_error("give the file a temporary name", path_, errno);
    }
  }
  if (!names_file(folder, temporary_, file_.get())) {
    return io_error("rename the file into place", path_, ENOENT);
  }
  // Network file systems report some errors only when a file is closed. It stays open, and locked,
  // until it has its name.
  Descriptor copy(system.duplicate(file_.get()));
  if ((copy ? copy : file_).close() != 0) return write_error("finish the file", errno, written_);
  if (options_.overwrite && options_.keep_replaced && replace_and_keep() == 0) return {};
  const int moved = options_.overwrite ? system.renameat(folder, temporary_.c_str(), folder, name)
                                       : rename_without_replacing();
  if (moved != 0 && errno == EEXIST) return already_exists(path_);
  if (moved != 0) return io_error("rename the file into place", path_, errno);
  temporary_.clear();
  return {};
}

// Fails if there is nothing to replace, and where it cannot be done.
int FileDraft::replace_and_keep() {
  System& system = system_calls();
  const int folder = target_.folder.get();
  // Locked before it gets a temporary name, so that nobody takes it for abandoned.
  replaced_ = lock_for_reading(folder, target_.name);
  if (!replaced_ && errno == ENOENT) return -1;
  if (system.rename_exchange(folder, temporary_.c_str(), target_.name.c_str()) == 0) {
    if (!replaced_ || !names_file(folder, temporary_, replaced_.get())) {
      replaced_ = lock_for_reading(folder, temporary_);
    }
    return 0;
  }
  // Not every file system knows how; then the old file has two names for a moment.
  std::string draft = temporary_;
  const int linked = with_fresh_name([&](const char* name) {
    return system.linkat(folder, target_.name.c_str(), folder, name, 0);
  });
  if (linked != 0) return -1;
  std::string kept = std::exchange(temporary_, std::move(draft));
  if (system.renameat(folder, temporary_.c_str(), folder, target_.name.c_str()) == 0) {
    temporary_ = std::move(kept);
    return 0;
  }
  system.unlinkat(folder, kept.c_str(), 0);
  return -1;
}

// Gives the nameless file a name.
int FileDraft::link_as(const char* name) const {
  return system_calls().linkat(AT_FDCWD, descriptor_path(file_.get()).c_str(), target_.folder.get(),
                               name, AT_SYMLINK_FOLLOW);
}

int FileDraft::rename_without_replacing() const {
  System& system = system_calls();
  const int folder = target_.folder.get();
  if (system.rename_noreplace(folder, temporary_.c_str(), folder, target_.name.c_str()) == 0) {
    return 0;
  }
  if (errno != EINVAL && errno != ENOSYS) return -1;
  // Not every file system knows how; then the file has two names for a moment.
  if (system.linkat(folder, temporary_.c_str(), folder, target_.name.c_str(), 0) != 0) return -1;
  system.unlinkat(folder, temporary_.c_str(), 0);
  return 0;
}

Error FileDraft::write_error(std::string_view action, int error_number,
                             std::uint64_t needed) const {
  Error error = io_error(action, path_, error_number);
  if (error_number != ENOSPC && error_number != EDQUOT) return error;
  std::uint64_t free = 0;
  if (system_calls().free_bytes(target_.folder.get(), &free) == 0) {
    error.found = std::to_string(free) + " bytes free";
  }
  if (needed > 0) error.expected = "room for " + std::to_string(needed) + " bytes";
  return error;
}

}  // namespace andiron::inline v1::detail
