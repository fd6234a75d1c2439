// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/io/temporary_name_test.cpp
#include "src/io/temporary_name.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>

namespace andiron::inline v1 {
namespace {

constexpr std::size_t max_name = 255;
constexpr std::string_view ending = ".tmp";
// Room for the dots, the ending and any number.
constexpr std::size_t max_kept = max_name - 2 - ending.size() - 10;

std::string beginning(const std::string& name) {
  std::size_t kept = std::min(name.size(), max_kept);
  // Some file systems refuse names with half a UTF-8 character.
  while (kept < name.size() && kept > 0 && (name[kept] & 0xC0) == 0x80) --kept;
  return "." + name.substr(0, kept) + ".";
}

}  // namespace

std::string temporary_name(const std::string& name, unsigned number) {
  return beginning(name) + std::to_string(number) + std::string(ending);
}

std::optional<unsigned> temporary_number(std::string_view temporary, const std::string& name) {
  unsigned number = 0;
  const std::string begin = beginning(name);
  if (temporary.size() <= begin.size() + ending.size()) return {};
  const std::string_view digits =
      temporary.substr(begin.size(), temporary.size() - begin.size() - ending.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (!is_number || temporary != temporary_name(name, number)) return {};
  return number;
}

bool names_file(int folder, const std::string& name, int file) {
  struct stat by_name{};
  struct stat by_number{};
  return system_calls().fstatat(folder, name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
         system_calls().fstat(file, &by_number) == 0 && by_name.st_dev == by_number.st_dev &&
         by_name.st_ino == by_number.st_ino;
}

Descriptor lock_abandoned(int folder, const std::string& temporary) {
  System& system = system_calls();
  const auto open = [&](int access) {
    return Descriptor(retry([&] {
      return system.openat(folder, temporary.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                           0);
    }));
  };
  // Over a network, only files that are open for writing can be locked.
  Descriptor file = open(O_RDWR);
  if (!file) file = open(O_RDONLY);
  struct stat found{};
  if (!file || system.fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) ||
      (found.st_uid != system.user() && system.user() != 0) ||
      retry([&] { return system.lock(file.get()); }) != 0) {
    return {};
  }
  // Whoever held it may have finished meanwhile and given the name up.
  if (!names_file(folder, temporary, file.get())) return {};
  return file;
}

void remove_abandoned(int folder, const std::string& name) {
  for (unsigned number = 0; number < max_temporaries; ++number) {
    const std::string temporary = temporary_name(name, number);
    struct stat found{};
    if (system_calls().fstatat(folder, temporary.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    if (const Descriptor file = lock_abandoned(folder, temporary)) {
      system_calls().unlinkat(folder, temporary.c_str(), 0);
    }
  }
}

std::string hide_under_temporary_name(int folder, const std::string& name) {
  for (unsigned number = 0; number < max_temporaries; ++number) {
    std::string temporary = temporary_name(name, number);
    if (system_calls().rename_noreplace(folder, name.c_str(), folder, temporary.c_str()) == 0) {
      return temporary;
    }
    if (errno != EEXIST) break;
  }
  return name;
}

}  // namespace andiron::inline v1
