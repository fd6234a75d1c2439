// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/io/file_attributes_test.cpp
#include "src/io/file_attributes.h"

namespace andiron::inline v1 {
namespace {

constexpr mode_t permission_bits = 0777;
constexpr std::string_view access_list = "system.posix_acl_access";
constexpr auto unchanged_owner = static_cast<uid_t>(-1);

// The size and then the content of what `call` fills; false on an error.
template <class Call>
bool read_sized(std::string& out, Call call) {
  const ssize_t size = call(nullptr, std::size_t{0});
  if (size < 0) return false;
  out.resize(static_cast<std::size_t>(size));
  if (out.empty()) return true;
  const ssize_t filled = call(out.data(), out.size());
  if (filled < 0) return false;
  out.resize(static_cast<std::size_t>(filled));
  return true;
}

bool read_attribute(int file, const char* name, std::string& out) {
  return read_sized(out, [&](char* data, std::size_t size) {
    return system_calls().fgetxattr(file, name, data, size);
  });
}

void take_extended(int file, int old, Attributes which, std::vector<std::string>& lost) {
  std::string names;
  const bool is_listed = read_sized(names, [&](char* data, std::size_t size) {
    return system_calls().flistxattr(old, data, size);
  });
  if (!is_listed) {
    // Some file systems have none.
    if (errno != ENOTSUP && errno != ENOSYS) lost.emplace_back("extended attributes");
    return;
  }
  for (std::size_t begin = 0; begin < names.size();) {
    const char* const name = names.c_str() + begin;
    begin += std::string_view(name).size() + 1;
    if (which == Attributes::access && std::string_view(name) != access_list) continue;
    std::string value;
    std::string present;
    if (!read_attribute(old, name, value)) continue;
    // The system sets some by itself, and lets nobody else.
    if (read_attribute(file, name, present) && present == value) continue;
    if (system_calls().fsetxattr(file, name, value.data(), value.size()) != 0) {
      lost.push_back("attribute " + std::string(name));
    }
  }
}

}  // namespace

TakenAttributes take_attributes(int file, const OldFile& old, Attributes which) {
  System& system = system_calls();
  TakenAttributes taken;
  std::vector<std::string>& lost = taken.lost;
  struct stat fresh{};
  if (system.fstat(file, &fresh) != 0) {
    taken.error_number = errno;
    return taken;
  }
  const uid_t owner = old.status.st_uid;
  const gid_t group = old.status.st_gid;
  bool has_owner = fresh.st_uid == owner;
  bool has_group = fresh.st_gid == group;
  if (!has_owner && system.fchown(file, owner, group) == 0) has_owner = has_group = true;
  if (!has_group && system.fchown(file, unchanged_owner, group) == 0) has_group = true;
  if (!has_owner) lost.emplace_back("owner");
  if (!has_group) lost.emplace_back("group");
  const Descriptor opened = open_for_reading(old.folder, old.name);
  if (opened) {
    take_extended(file, opened.get(), which, lost);
  } else {
    lost.emplace_back("extended attributes");
  }
  mode_t mode = old.status.st_mode & permission_bits;
  if (!has_group) mode &= ~mode_t{0070} | ((mode & mode_t{0007}) << 3);
  // Last: a change of owner or of an access list changes these, too.
  if (system.fchmod(file, mode) != 0) taken.error_number = errno;
  return taken;
}

}  // namespace andiron::inline v1
