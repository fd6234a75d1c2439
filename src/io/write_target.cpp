// SPDX-License-Identifier: MIT OR Apache-2.0
// Follows symbolic links by hand, since the last one may lead to a file that does not exist yet.
#include "src/io/write_target.h"

#include <fcntl.h>

#include <array>

#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

// As many as Linux follows.
constexpr int max_links = 40;

Error not_replaceable(const std::string& path, const char* what) {
  return Error{.code = ErrorCode::unsupported,
               .message = what,
               .file = path,
               .expected = "a regular file, or none",
               .hint = "choose another name"};
}

// The system's own rule for links in such folders, which following by hand would pass by.
Status check_owner(const Target& link, const struct stat& status, const std::string& path) {
  struct stat folder{};
  if (system_calls().fstat(link.folder.get(), &folder) != 0) {
    return io_error("check what is there", path, errno);
  }
  const bool is_shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  if (!is_shared || status.st_uid == system_calls().user() || status.st_uid == folder.st_uid)
    return {};
  return Error{.code = ErrorCode::io,
               .message = "the symbolic link belongs to another user",
               .file = path,
               .found = "a link of user " + std::to_string(status.st_uid) +
                        " in a folder that everybody can write to",
               .hint = "write to a folder of your own, or to the link's target by its own path"};
}

Result<std::string> read_link(const Target& link, const std::string& path) {
  std::array<char, 4096> text;
  const ssize_t size =
      system_calls().readlinkat(link.folder.get(), link.name.c_str(), text.data(), text.size());
  if (size < 0) return io_error("follow the symbolic link", path, errno);
  if (static_cast<std::size_t>(size) == text.size()) {
    return io_error("follow the symbolic link", path, ENAMETOOLONG);
  }
  return std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

Result<Target> find_target(const std::string& path) {
  ANDIRON_TRY(check_path(path));
  if (path.empty()) return io_error("create the file", path, ENOENT);
  Target target;
  std::string rest = path;  // relative to target.folder, once there is one
  for (int links = 0; links <= max_links; ++links) {
    const std::size_t name_begin = rest.rfind('/') + 1;  // 0 when there is no slash
    const std::string folder = name_begin == 0 ? "." : rest.substr(0, name_begin);
    const int base = target.folder ? target.folder.get() : AT_FDCWD;
    Descriptor opened(retry([&] {
      return system_calls().openat(base, folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    }));
    if (!opened) return io_error("open the folder of the file", path, errno);
    target.folder = std::move(opened);
    target.name = rest.substr(name_begin);
    if (target.name.empty()) return not_replaceable(path, "this is a folder");

    struct stat found{};
    if (system_calls().fstatat(target.folder.get(), target.name.c_str(), &found,
                               AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return target;
      return io_error("check what is there", path, errno);
    }
    if (S_ISREG(found.st_mode)) {
      target.old = found;
      return target;
    }
    if (S_ISDIR(found.st_mode)) return not_replaceable(path, "this is a folder");
    if (!S_ISLNK(found.st_mode)) {
      return not_replaceable(path, "this is a pipe, a device or a socket");
    }
    ANDIRON_TRY(check_owner(target, found, path));
    target.is_behind_link = true;
    ANDIRON_ASSIGN(rest, read_link(target, path));
  }
  return io_error("follow the symbolic link", path, ELOOP);
}

}  // namespace andiron::inline v1
