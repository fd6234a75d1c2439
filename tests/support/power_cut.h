// SPDX-License-Identifier: MIT OR Apache-2.0
// A disk that loses power: records what system calls do to one folder, and makes the folders that
// could be found after a cut at any moment. Content that was not flushed is lost or half there;
// names that were not flushed have changed or not, each for itself.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "src/io/system_calls.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {

class PowerCut {
 public:
  // Records from now on. Only one at a time.
  explicit PowerCut(const std::string& folder) : folder_(folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      names_at_start_[name] = content_at_start_.size();
      files_[inode_of(name)] = content_at_start_.size();
      content_at_start_.push_back(read_file(entry.path().string()));
    }
    file_count_ = content_at_start_.size();
    recording() = this;
    install();
  }
  ~PowerCut() { stop(); }
  PowerCut(const PowerCut&) = delete;
  PowerCut& operator=(const PowerCut&) = delete;

  void stop() {
    if (recording() != this) return;
    system_calls() = real_;
    recording() = nullptr;
  }

  // As if the process were killed after so many steps: nothing changes any more, until another one
  // starts.
  void kill_after(std::size_t steps) { most_steps_ = steps; }
  void start_another() { most_steps_ = ~std::size_t{0}; }

  // Between two of these, the power can fail.
  std::size_t steps() const { return steps_.size(); }

  // Fills a folder with what a cut after `count` steps leaves, one of many ways.
  void make_folder(const std::string& folder, std::size_t count, std::uint32_t seed) const {
    std::mt19937 random(seed);
    const auto flip = [&] { return seed > 1 ? (random() & 1) != 0 : seed == 1; };
    Names names = names_at_start_;
    std::vector<const Step*> pending;
    std::vector<std::string> now = content_at_start_;
    std::vector<std::string> flushed = content_at_start_;
    now.resize(file_count_);
    flushed.resize(file_count_);
    for (std::size_t i = 0; i < count; ++i) {
      const Step& step = steps_[i];
      switch (step.kind) {
        case Kind::write:
          if (now[step.file].size() < step.offset + step.data.size()) {
            now[step.file].resize(step.offset + step.data.size());
          }
          now[step.file].replace(step.offset, step.data.size(), step.data);
          break;
        case Kind::truncate:
          now[step.file].resize(step.offset);
          break;
        case Kind::flush_file:
          flushed[step.file] = now[step.file];
          break;
        case Kind::flush_folder:
          for (const Step* change : pending) apply(*change, names);
          pending.clear();
          break;
        default:
          pending.push_back(&step);
      }
    }
    for (const Step* change : pending) {
      if (flip()) apply(*change, names);
    }
    for (const auto& [name, file] : names) {
      std::string content = flushed[file];
      if (content != now[file] && flip()) content = now[file].substr(0, now[file].size() / 2);
      write_file(folder + "/" + name, content);
    }
  }

 private:
  using Names = std::map<std::string, std::size_t>;
  enum class Kind { write, truncate, flush_file, flush_folder, name, rename, exchange, unlink };
  struct Step {
    Kind kind;
    std::size_t file = 0;
    std::uint64_t offset = 0;
    std::string data = {};   // of a write; a name
    std::string other = {};  // the name that a rename gives up, or that is exchanged
  };

  static PowerCut*& recording() {
    static PowerCut* current = nullptr;
    return current;
  }

  static void apply(const Step& step, Names& names) {
    if (step.kind == Kind::unlink) names.erase(step.data);
    if (step.kind == Kind::name) names[step.data] = step.file;
    if (step.kind == Kind::rename) {
      names.erase(step.other);
      names[step.data] = step.file;
    }
    if (step.kind == Kind::exchange) std::swap(names[step.data], names[step.other]);
  }

  ino_t inode_of(const std::string& name) const {
    struct stat found{};
    ::lstat((folder_ + "/" + name).c_str(), &found);
    return found.st_ino;
  }
  static ino_t inode_of(int file) {
    struct stat found{};
    ::fstat(file, &found);
    return found.st_ino;
  }
  static bool is_folder(int file) {
    struct stat found{};
    return ::fstat(file, &found) == 0 && S_ISDIR(found.st_mode);
  }
  static std::string base(const char* path) { return std::filesystem::path(path).filename(); }

  std::size_t new_file(int file) { return files_[inode_of(file)] = file_count_++; }
  std::size_t file_of(int file) const { return files_.at(inode_of(file)); }
  std::size_t file_of(const std::string& name) const { return files_.at(inode_of(name)); }
  void add(Step step) { steps_.push_back(std::move(step)); }

  void install() {
    System& system = system_calls();
    system.open_nameless = [](int folder, mode_t mode) {
      if (is_dead()) return -1;
      const int file = self().real_.open_nameless(folder, mode);
      if (file != -1) self().new_file(file);
      return file;
    };
    system.openat = [](int folder, const char* path, int flags, mode_t mode) {
      if ((flags & O_CREAT) != 0 && is_dead()) return -1;
      const int file = self().real_.openat(folder, path, flags, mode);
      if (file != -1 && (flags & O_CREAT) != 0) {
        self().add({Kind::name, self().new_file(file), 0, base(path)});
      }
      return file;
    };
    system.pwrite = [](int file, const void* data, std::size_t count, off_t offset) {
      if (is_dead()) return ssize_t{-1};
      const ssize_t put = self().real_.pwrite(file, data, count, offset);
      if (put > 0) {
        self().add({Kind::write, self().file_of(file), static_cast<std::uint64_t>(offset),
                    std::string(static_cast<const char*>(data), static_cast<std::size_t>(put))});
      }
      return put;
    };
    system.copy_file_range = [](int, off_t, int, off_t, std::size_t) {
      errno = ENOSYS;
      return ssize_t{-1};
    };
    system.clone_range = [](int, off_t, int, off_t, std::size_t) {
      errno = ENOSYS;
      return -1;
    };
    system.ftruncate = [](int file, off_t size) {
      if (is_dead()) return -1;
      self().add({Kind::truncate, self().file_of(file), static_cast<std::uint64_t>(size)});
      return self().real_.ftruncate(file, size);
    };
    system.fsync = [](int file) {
      if (is_dead()) return -1;
      if (is_folder(file)) {
        self().add({Kind::flush_folder});
      } else {
        self().add({Kind::flush_file, self().file_of(file)});
      }
      return 0;
    };
    system.linkat = [](int a, const char* from, int b, const char* to, int flags) {
      if (is_dead()) return -1;
      const int result = self().real_.linkat(a, from, b, to, flags);
      if (result == 0) self().add({Kind::name, self().file_of(std::string(to)), 0, to});
      return result;
    };
    system.renameat = [](int a, const char* from, int b, const char* to) {
      if (is_dead()) return -1;
      const int result = self().real_.renameat(a, from, b, to);
      if (result == 0) self().add({Kind::rename, self().file_of(std::string(to)), 0, to, from});
      return result;
    };
    system.rename_noreplace = [](int a, const char* from, int b, const char* to) {
      if (is_dead()) return -1;
      const int result = self().real_.rename_noreplace(a, from, b, to);
      if (result == 0) self().add({Kind::rename, self().file_of(std::string(to)), 0, to, from});
      return result;
    };
    system.rename_exchange = [](int folder, const char* one, const char* other) {
      if (is_dead()) return -1;
      const int result = self().real_.rename_exchange(folder, one, other);
      if (result == 0) self().add({Kind::exchange, 0, 0, one, other});
      return result;
    };
    system.unlinkat = [](int folder, const char* path, int flags) {
      if (is_dead()) return -1;
      const int result = self().real_.unlinkat(folder, path, flags);
      if (result == 0) self().add({Kind::unlink, 0, 0, base(path)});
      return result;
    };
  }
  static PowerCut& self() { return *recording(); }
  static bool is_dead() {
    errno = EIO;
    return self().steps_.size() >= self().most_steps_;
  }

  const std::string folder_;
  const System real_ = system_calls();
  Names names_at_start_;
  std::vector<std::string> content_at_start_;
  std::map<ino_t, std::size_t> files_;
  std::size_t file_count_ = 0;
  std::vector<Step> steps_;
  std::size_t most_steps_ = ~std::size_t{0};
};

}  // namespace andiron::test
