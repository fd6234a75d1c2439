// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/io/folder_test.cpp
#include "src/io/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "src/core/sort.h"
#include "src/core/try.h"
#include "src/io/system_calls.h"

namespace andiron::inline v1 {
namespace detail {

namespace {

// Not by std::filesystem, which may crash if an allocation fails in it.
bool is_of_kind(int folder, const char* path, mode_t kind) {
  struct stat found{};
  return system_calls().fstatat(folder, path, &found, 0) == 0 && (found.st_mode & S_IFMT) == kind;
}

struct FreeText {
  void operator()(char* text) const noexcept { std::free(text); }
};

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

FolderFiles::FolderFiles(std::string folder, IoMode mode)
    : folder_(folder.empty() ? "." : std::move(folder)), mode_(mode) {}

std::string FolderFiles::name() const {
  return folder_.size() > 1 && folder_.ends_with('/') ? folder_.substr(0, folder_.size() - 1)
                                                      : folder_;
}

Result<ByteSourcePtr> FolderFiles::open(const std::string& name) const ANDIRON_NO_THROW {
  return open_file(join_path(folder_, name), mode_);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<std::vector<std::string>> FolderFiles::names() const ANDIRON_NO_THROW {
  return list_files(folder_);
}
ANDIRON_OR_OUT_OF_MEMORY

bool is_folder(const std::string& path) { return is_of_kind(AT_FDCWD, path.c_str(), S_IFDIR); }

Result<std::vector<std::string>> list_files(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> opened(::opendir(folder.c_str()));
  if (opened == nullptr) return io_error("list the folder", folder, errno);
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(opened.get());
    if (entry == nullptr) break;
    if (is_of_kind(::dirfd(opened.get()), entry->d_name, S_IFREG)) {
      names.emplace_back(entry->d_name);
    }
  }
  if (errno != 0) return io_error("list the folder", folder, errno);
  detail::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<std::string>> names_in(int folder, const std::string& path) {
  const int opened = retry(
      [&] { return system_calls().openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0); });
  if (opened == -1) return io_error("list the folder of the file", path, errno);
  const std::unique_ptr<DIR, CloseFolder> stream(::fdopendir(opened));
  if (stream == nullptr) {
    const int error_number = errno;
    system_calls().close(opened);
    return io_error("list the folder of the file", path, error_number);
  }
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    names.emplace_back(entry->d_name);
  }
  if (errno != 0) return io_error("list the folder of the file", path, errno);
  return names;
}

Result<Descriptor> lock_folder(const std::string& folder) {
  constexpr unsigned pause = 5;
  constexpr int attempts = 2000;
  Descriptor opened(retry([&] {
    return system_calls().openat(AT_FDCWD, folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  }));
  if (!opened) return io_error("open the folder", folder, errno);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (system_calls().lock(opened.get()) == 0) return opened;
    if (errno != EWOULDBLOCK && errno != EINTR) return Descriptor();
    system_calls().pause(pause);
  }
  return Error{.code = ErrorCode::io,
               .message = "another process has been saving in this folder for ten seconds",
               .file = folder,
               .hint = "try again, or look for a process that is stopped"};
}

std::string real_folder(const std::string& folder) {
  const std::unique_ptr<char, FreeText> real(system_calls().real_path(folder.c_str()));
  return real == nullptr ? folder : std::string(real.get());
}

std::optional<std::string> read_text(int file, std::uint64_t most) {
  struct stat status{};
  if (system_calls().fstat(file, &status) != 0) return {};
  if (static_cast<std::uint64_t>(status.st_size) > most) return {};
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t got = retry([&] {
      return system_calls().pread(file, text.data() + done, text.size() - done,
                                  static_cast<off_t>(done));
    });
    if (got <= 0) return {};
    done += static_cast<std::size_t>(got);
  }
  return text;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  const std::size_t last = path.find_last_not_of('/', slash);
  return last == std::string::npos ? "/" : path.substr(0, last + 1);
}

std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool stays_in_folder(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos ||
      name.find(':') != std::string_view::npos || name.find('\0') != std::string_view::npos) {
    return false;
  }
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view segment = name.substr(begin, end - begin);
    if (segment.empty() || segment == "." || segment == "..") return false;
    begin = end + 1;
  }
  return true;
}

std::string join_path(const std::string& folder, const std::string& name) {
  if (folder == "." || folder.empty() || name.starts_with('/')) return name;
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

bool file_exists(const std::string& path) {
  struct stat found{};
  return system_calls().fstatat(AT_FDCWD, path.c_str(), &found, 0) == 0;
}

Status remove_file(const std::string& path) {
  if (system_calls().unlinkat(AT_FDCWD, path.c_str(), 0) == 0 || errno == ENOENT) return {};
  return io_error("remove the file", path, errno);
}

bool try_remove(const std::string& path) noexcept { return try_remove(AT_FDCWD, path); }

bool try_remove(int folder, const std::string& name) noexcept {
  return system_calls().unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT;
}

Status sync_folder_at(const std::string& folder, const std::string& path) {
  const Descriptor opened(retry([&] {
    return system_calls().openat(AT_FDCWD, folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  }));
  if (opened && sync_folder(opened.get()) == 0) return {};
  return io_error("flush its folder to disk", path, errno);
}

Status overwrite_bytes(const std::string& path, int same_file, std::uint64_t offset,
                       std::span<const std::byte> bytes, bool sync) {
  ANDIRON_TRY(check_path(path));
  System& system = system_calls();
  const Descriptor file(
      retry([&] { return system.openat(AT_FDCWD, path.c_str(), O_WRONLY | O_CLOEXEC, 0); }));
  if (!file) return io_error("open for writing", path, errno);
  if (!is_same_file(same_file, file.get())) {
    return Error{.code = ErrorCode::file_changed,
                 .message = "the file was replaced while it was being changed",
                 .file = path,
                 .hint = "try again"};
  }
  while (!bytes.empty()) {
    const ssize_t written = retry([&] {
      return system.pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (written <= 0) return io_error("write", path, written == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  if (sync && retry([&] { return system.fsync(file.get()); }) != 0) {
    Error error = io_error("flush to disk", path, errno);
    error.found = "the change is in place, but may be lost if the power fails now";
    return error;
  }
  return {};
}

}  // namespace detail

FileSetPtr folder_files(std::string path, IoMode mode) {
  return std::make_shared<detail::FolderFiles>(std::move(path), mode);
}

}  // namespace andiron::inline v1
