// SPDX-License-Identifier: MIT OR Apache-2.0
// Tar archives put together by hand, right or wrong.
//
//   const std::string file = tar_file({{.name = "pickle", .content = "..."}});
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace andiron::test {

struct TarItem {
  std::string name;
  std::string content = {};
  char type = '0';
  std::string magic = "ustar";           ///< "ustar  " is GNU's; early tars have none
  std::string prefix = {};               ///< the folder, kept apart
  std::optional<std::string> size = {};  ///< the field as it is, whatever is true
  std::optional<unsigned> checksum = {};
};

inline std::string tar_octal(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%011llo", static_cast<unsigned long long>(number));
  return text;
}

inline std::string tar_padded(std::string text) {
  text.resize((text.size() + 511) / 512 * 512, '\0');
  return text;
}

/// Header and content, to whole blocks.
inline std::string tar_item(const TarItem& item) {
  std::string block(512, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    block.replace(at, text.size(), text);
  };
  put(0, item.name);
  put(100, "0000644");
  put(124, item.size.value_or(tar_octal(item.content.size())));
  put(136, tar_octal(0));
  put(148, "        ");
  block[156] = item.type;
  put(257, item.magic);
  if (item.magic == "ustar") put(263, "00");
  put(345, item.prefix);
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  char text[16];
  std::snprintf(text, sizeof text, "%06o", item.checksum.value_or(sum));
  put(148, std::string(text) + '\0');
  return block + tar_padded(item.content);
}

/// One record of an extended header.
inline std::string pax_record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t size = rest.size() + 1;
  while (std::to_string(size).size() + rest.size() != size) ++size;
  return std::to_string(size) + rest;
}

/// An archive of these members, with the two blocks that end it.
inline std::string tar_file(const std::vector<TarItem>& items) {
  std::string file;
  for (const TarItem& item : items) file += tar_item(item);
  return file + std::string(1024, '\0');
}

}  // namespace andiron::test
