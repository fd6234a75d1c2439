// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack files put together by hand, right or wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/bytes.h"
#include "andiron/open.h"
#include "tests/support/bytes_of_text.h"

namespace andiron::test {

/// One CBOR item, encoded.
using Cbor = std::string;

/// The shortest head of a major type: 0 number, 3 text, 4 list, 5 map, 6 tag.
inline Cbor cbor_head(unsigned major, std::uint64_t argument) {
  const unsigned size = argument < 24         ? 0
                        : argument < 256      ? 1
                        : argument < 65536    ? 2
                        : argument >> 32 == 0 ? 4
                                              : 8;
  const unsigned info = size == 0   ? static_cast<unsigned>(argument)
                        : size == 1 ? 24u
                        : size == 2 ? 25u
                        : size == 4 ? 26u
                                    : 27u;
  Cbor head(1, static_cast<char>(major << 5 | info));
  for (unsigned i = size; i-- > 0;) head += static_cast<char>(argument >> 8 * i & 0xff);
  return head;
}

inline Cbor cbor_number(std::uint64_t number) { return cbor_head(0, number); }

inline Cbor cbor_text(std::string_view text) { return cbor_head(3, text.size()).append(text); }

inline Cbor cbor_list(const std::vector<Cbor>& items) {
  Cbor list = cbor_head(4, items.size());
  for (const Cbor& item : items) list += item;
  return list;
}

inline Cbor cbor_map(const std::vector<std::pair<std::string, Cbor>>& entries) {
  Cbor map = cbor_head(5, entries.size());
  for (const auto& [key, value] : entries) map += cbor_text(key) + value;
  return map;
}

inline const Cbor cbor_null = "\xf6";

/// The extents of a block as schemes of quantization have them.
inline Cbor cbor_block(const std::vector<unsigned>& extents) {
  std::vector<Cbor> storage;
  for (const unsigned extent : extents) storage.push_back(cbor_number(extent));
  while (storage.size() < 5) storage.push_back(cbor_number(1));
  return cbor_map({{"storage", cbor_list(storage)}, {"len", cbor_number(extents.size())}});
}

/// "12 ab" to two bytes.
inline std::string from_hex(std::string_view hex) {
  std::string bytes;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ' || c == '\n') continue;
    digits += c;
    if (digits.size() == 2) {
      bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
      digits.clear();
    }
  }
  return bytes;
}

/// One tensor of the metadata, as Burn writes it.
struct PackTensor {
  std::string name;
  Cbor dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::optional<std::uint64_t> param_id = {};

  Cbor descriptor() const {
    std::vector<Cbor> dims;
    for (const std::uint64_t dim : shape) dims.push_back(cbor_number(dim));
    std::vector<std::pair<std::string, Cbor>> fields = {
        {"dtype", dtype},
        {"shape", cbor_list(dims)},
        {"data_offsets", cbor_list({cbor_number(begin), cbor_number(end)})}};
    if (param_id) fields.emplace_back("param_id", cbor_number(*param_id));
    return cbor_map(fields);
  }
};

/// u8 of the shape [end - begin].
inline PackTensor pack_u8(std::string name, std::uint64_t begin, std::uint64_t end) {
  return {std::move(name), cbor_text("U8"), {end - begin}, begin, end};
}

inline Cbor pack_tensors(const std::vector<PackTensor>& tensors) {
  std::vector<std::pair<std::string, Cbor>> entries;
  for (const PackTensor& tensor : tensors) entries.emplace_back(tensor.name, tensor.descriptor());
  return cbor_map(entries);
}

/// The metadata: tensors, then any other parts.
inline Cbor pack_metadata(const std::vector<PackTensor>& tensors,
                          std::vector<std::pair<std::string, Cbor>> parts = {}) {
  parts.insert(parts.begin(), {"tensors", pack_tensors(tensors)});
  return cbor_map(parts);
}

/// {"metadata": {"producer": PRODUCER, "version": VERSION}}, as a part.
inline std::pair<std::string, Cbor> pack_producer(std::string_view version,
                                                  std::string_view producer = "burn") {
  return {"metadata",
          cbor_map({{"producer", cbor_text(producer)}, {"version", cbor_text(version)}})};
}

enum class PackLayout { aligned, unaligned };

/// Magic, version 1, the length of the metadata, the metadata, data: whatever the metadata says.
inline std::string burnpack_file(std::string_view metadata, std::string_view data = {},
                                 PackLayout layout = PackLayout::aligned) {
  std::string file("NRUB\1\0", 6);
  for (unsigned i = 0; i < 4; ++i) file += static_cast<char>(metadata.size() >> 8 * i & 0xff);
  file += metadata;
  if (layout == PackLayout::aligned) file.resize((file.size() + 255) / 256 * 256, '\0');
  return file.append(data);
}

/// A file of 770 bytes as Burn 0.22 writes it: weight f32 [2, 2] = 1, 2, 3, 4 with id 42, mask bool
/// [3] = 1, 0, 1, bias f16 [1] = 0.5 with id 7, laid out in this order; metadata producer=burn;
/// scalars lr = 0.001 and step = 42.
inline std::string worked_example() {
  std::string file = from_hex(R"(
    4e 52 55 42 01 00 ec 00  00 00 a3 67 74 65 6e 73
    6f 72 73 a3 64 62 69 61  73 a4 65 64 74 79 70 65
    63 46 31 36 65 73 68 61  70 65 81 01 6c 64 61 74
    61 5f 6f 66 66 73 65 74  73 82 19 02 00 19 02 02
    68 70 61 72 61 6d 5f 69  64 07 64 6d 61 73 6b a3
    65 64 74 79 70 65 a1 64  42 6f 6f 6c 66 4e 61 74
    69 76 65 65 73 68 61 70  65 81 03 6c 64 61 74 61
    5f 6f 66 66 73 65 74 73  82 19 01 00 19 01 03 66
    77 65 69 67 68 74 a4 65  64 74 79 70 65 63 46 33
    32 65 73 68 61 70 65 82  02 02 6c 64 61 74 61 5f
    6f 66 66 73 65 74 73 82  00 10 68 70 61 72 61 6d
    5f 69 64 18 2a 68 6d 65  74 61 64 61 74 61 a1 68
    70 72 6f 64 75 63 65 72  64 62 75 72 6e 67 73 63
    61 6c 61 72 73 a2 62 6c  72 a1 65 46 6c 6f 61 74
    fb 3f 50 62 4d d2 f1 a9  fc 64 73 74 65 70 a1 64
    55 49 6e 74 18 2a 00 00  00 00 00 00 00 00 00 00
    00 00 80 3f 00 00 00 40  00 00 40 40 00 00 80 40)");
  file.resize(0x200, '\0');
  file += from_hex("01 00 01");
  file.resize(0x300, '\0');
  return file + from_hex("00 38");
}

/// One tensor w, f32 [2] = 1, 2, with id 42 and nothing else.
inline std::string smallest_example() {
  std::string file = from_hex(R"(
    4e 52 55 42 01 00 3a 00 00 00 a1 67 74 65 6e 73 6f 72 73 a1 61 77 a4 65 64 74 79 70 65 63 46 33
    32 65 73 68 61 70 65 81 02 6c 64 61 74 61 5f 6f 66 66 73 65 74 73 82 00 08 68 70 61 72 61 6d 5f
    69 64 18 2a)");
  file.resize(256, '\0');
  return file + from_hex("0000803f 00000040");
}

/// Bytes 1, 2, 3 ... that never are zero.
inline std::string counting(std::size_t bytes) {
  std::string data(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i % 255 + 1);
  return data;
}

inline Result<Archive> open_burnpack(std::string_view file,
                                     Strictness strictness = Strictness::standard,
                                     const Limits& limits = {}) {
  return open(bytes_of_text(file),
              {.strictness = strictness, .format = Format::burnpack, .limits = limits});
}

}  // namespace andiron::test
