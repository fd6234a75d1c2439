// SPDX-License-Identifier: MIT OR Apache-2.0
// Folders, and files next to the one that is being read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/file.h"
#include "src/io/system_calls.h"

namespace andiron::inline v1::detail {

// The files of a folder. An empty path is the current one.
class FolderFiles : public FileSet {
 public:
  FolderFiles(std::string folder, IoMode mode);

  std::string name() const override;
  Result<ByteSourcePtr> open(const std::string& name) const override;
  Result<std::vector<std::string>> names() const override;

 private:
  std::string folder_;
  IoMode mode_;
};

bool is_folder(const std::string& path);
// Names of the regular files in a folder, sorted.
Result<std::vector<std::string>> list_files(const std::string& folder);
// Names of everything in an open folder.
Result<std::vector<std::string>> names_in(int folder, const std::string& path);
// The content of an open file; nothing if it cannot be read or has more than `most` bytes.
std::optional<std::string> read_text(int file, std::uint64_t most);
// Waits until no other process is changing the model in a folder, and keeps others waiting while
// the descriptor is open. It is empty on file systems without locks. Fails with Io after ten
// seconds.
Result<Descriptor> lock_folder(const std::string& folder);
// The path of a folder without symbolic links, which may come to lead elsewhere.
std::string real_folder(const std::string& folder);
// "a/b" for "a/b/c"; "." for "c".
std::string folder_of(const std::string& path);
std::string file_name_of(const std::string& path);
// Whether a name that a file gives leads to a file below its own folder, on any system.
bool stays_in_folder(std::string_view name);
std::string join_path(const std::string& folder, const std::string& name);
bool file_exists(const std::string& path);
// Removes a file, and is content if there is none.
Status remove_file(const std::string& path);
// The same without the reason why it stays. Allocates nothing.
bool try_remove(const std::string& path) noexcept;
bool try_remove(int folder, const std::string& name) noexcept;
// Flushes changes of names in a folder to disk. `path`: the file concerned, for messages.
Status sync_folder_at(const std::string& folder, const std::string& path);
// Overwrites bytes of a file in place. Fails with FileChanged if the path no longer names the file
// that is open as `same_file`.
Status overwrite_bytes(const std::string& path, int same_file, std::uint64_t offset,
                       std::span<const std::byte> bytes, bool sync);

}  // namespace andiron::inline v1::detail
