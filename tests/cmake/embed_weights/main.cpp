// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the files that are in this program with those in a folder.
// usage: embedded WEIGHTS_DIR
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "embedded/made.h"
#include "embedded/model.h"
#include "embedded/odd_name.h"
#include "net/weights/one_byte_v1.h"

std::byte first_byte_of_other_model();

namespace {

static_assert(decltype(net::weights::one_byte_v1())::extent == 1, "the size is part of the type");

bool failed = false;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "this does not hold: %s\n", what.c_str());
  failed = true;
}

// Whether the system lets this process write there.
bool is_writable(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::string permissions;
    fields >> std::hex >> begin >> dash >> end >> permissions;
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    if (begin <= wanted && wanted < end) return permissions.find('w') != std::string::npos;
  }
  return false;
}

void check(std::span<const std::byte> embedded, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> wanted((std::istreambuf_iterator<char>(file)), {});
  const std::string name = path.filename().string();
  expect(!wanted.empty() && std::ranges::equal(embedded, std::as_bytes(std::span(wanted))),
         name + " is in the program as it is in the folder");
  expect(reinterpret_cast<std::uintptr_t>(embedded.data()) % 256 == 0, name + " is aligned");
  expect(!is_writable(embedded.data()), name + " is read-only");
}

}  // namespace

int main(int, char** arguments) {
  const std::filesystem::path folder = arguments[1];
  check(embedded::model(), folder / "model.bpk");
  check(embedded::made(), folder / "model.bpk");
  check(embedded::odd_name(), folder / "it's \"the\" $1 of \u00e9.bpk");
  check(net::weights::one_byte_v1(), folder / "one-byte.v1.bpk");
  expect(first_byte_of_other_model() == std::byte{0}, "a library keeps its own model");
  return failed ? 1 : 0;
}
