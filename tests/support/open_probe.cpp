// SPDX-License-Identifier: MIT OR Apache-2.0
// Does with a file all that takes memory besides tensor data: opens it, lists it, builds its values
// and prints them. Says what came of it.
//
//   open_probe [--lenient] [--changes] FILE
//
// With --changes it does so with every cut of the file, and with every byte changed.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/open.h"
#include "andiron/value.h"

namespace {

using namespace andiron;

std::string listing_of(const Archive& archive) {
  std::string out;
  for (const std::size_t i : archive.natural_order()) {
    const TensorInfo info = archive.info(i);
    append_json_string(out, info.name);
    append_json_string(out, info.file_dtype);
    for (const std::uint64_t dim : info.shape) out += std::to_string(dim) + ",";
  }
  for (const Skipped& skipped : archive.skipped()) {
    append_json_string(out, skipped.name);
    append_json_string(out, skipped.reason);
  }
  for (const Message& note : archive.notes()) append_json_string(out, note);
  for (const auto& [key, value] : archive.metadata()) {
    append_json_string(out, key);
    append_json_string(out, value);
  }
  return out;
}

std::string outcome_of(const Result<Archive>& archive) {
  if (!archive) {
    return std::string(code_name(archive.error().code)) + ": " + archive.error().to_string();
  }
  std::string said = "opened " + std::to_string(archive->size()) + " tensors, skipped " +
                     std::to_string(archive->skipped().size());
  said +=
      archive->ties().size() == archive->size() && !listing_of(*archive).empty() ? "" : ", bare";
  const Result<Value> tree = archive->value();
  if (!tree) return said + "; values " + tree.error().to_string();
  return said + "; values " + std::to_string(tree->leaf_count()) + ", JSON of " +
         std::to_string(to_json(*tree, 2).size()) + " bytes";
}

std::string content_of(const char* path) {
  std::string content;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return content;
  char buffer[4096];
  for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    content.append(buffer, count);
  }
  std::fclose(file);
  return content;
}

void try_changes(std::string content, const OpenOptions& options) {
  const auto try_bytes = [&](std::string_view bytes) {
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    outcome_of(open(Bytes::own(std::vector<std::byte>(begin, begin + bytes.size())), options));
  };
  for (std::size_t i = 0; i < content.size(); ++i) {
    try_bytes(std::string_view(content).substr(0, i));
    const char original = content[i];
    for (const int change : {0x01, 0x80, 0xff}) {
      content[i] = static_cast<char>(original ^ change);
      try_bytes(content);
    }
    content[i] = original;
  }
}

}  // namespace

int main(int count, char** arguments) {
  OpenOptions options;
  bool changes = false;
  for (int i = 1; i + 1 < count; ++i) {
    if (arguments[i] == std::string_view("--lenient")) options.strictness = Strictness::lenient;
    if (arguments[i] == std::string_view("--changes")) changes = true;
  }
  if (count < 2) return 127;
  const char* path = arguments[count - 1];
  if (changes) {
    try_changes(content_of(path), options);
    std::puts("tried");
  } else {
    std::puts(outcome_of(open(path, options)).c_str());
  }
  return 0;
}
