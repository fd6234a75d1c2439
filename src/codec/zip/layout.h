// SPDX-License-Identifier: MIT OR Apache-2.0
// An archive, all numbers little-endian:
//
//   for each entry
//     local header      50 4B 03 04 | u16 version | u16 flags | u16 method 0 | u16 time, u16 date
//                       | u32 CRC 0 | u32 size 0 | u32 size 0 | u16 name length | u16 extra length
//     name              UTF-8
//     extra field       ZIP64 field, where it is needed: 01 00 | u16 length | numbers;
//                       padding, where asked for: 'F' 'B' | u16 length | length times 'Z'
//     data
//     descriptor        50 4B 07 08 | u32 CRC | size | size: two u32; two u64 after a ZIP64 field
//   directory: for each entry
//     header            50 4B 01 02 | u16 made by | u16 version | u16 flags | u16 method 0
//                       | u16 time, u16 date | u32 CRC | u32 size | u32 size | u16 name length
//                       | u16 extra length | u16 comment length 0 | u16 disk 0 | u16 0 | u32 mode
//                       | u32 offset
//     name, ZIP64 field for the numbers that do not fit: size, size, offset
//   ZIP64 end record    56 bytes, and its locator, 20 bytes; where the next one is too small
//   end record          50 4B 05 06 | u16 disk 0 | u16 disk 0 | u16 entries | u16 entries
//                       | u32 directory bytes | u32 directory offset | u16 comment length 0
//
// Readers meet more: compressed entries, comments, headers that tell sizes and checksums at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace andiron::inline v1::detail {

// How an archive begins: with its first entry, or with its end record where it has none.
inline constexpr std::string_view zip_local_signature = "PK\3\4";
inline constexpr std::string_view zip_end_signature = "PK\5\6";
constexpr bool is_zip(std::string_view head) noexcept {
  return head.starts_with(zip_local_signature) || head.starts_with(zip_end_signature);
}
inline constexpr std::uint32_t zip_local_number = 0x04034b50;  // the same, loaded
inline constexpr std::uint32_t zip_end_number = 0x06054b50;
inline constexpr std::uint32_t zip_entry_number = 0x02014b50;
inline constexpr std::uint32_t zip_descriptor_number = 0x08074b50;
inline constexpr std::uint32_t zip_end64_number = 0x06064b50;
inline constexpr std::uint32_t zip_locator_number = 0x07064b50;

// Without names, extra fields and comments.
inline constexpr std::size_t zip_local_header_bytes = 30;
inline constexpr std::size_t zip_entry_bytes = 46;  // in the directory
inline constexpr std::size_t zip_end_bytes = 22;
inline constexpr std::size_t zip_end64_bytes = 56;
inline constexpr std::size_t zip_locator_bytes = 20;
inline constexpr std::size_t zip_field_head_bytes = 4;
// Of a name, an extra field or a comment: their lengths have 16 bits.
inline constexpr std::size_t zip_most_text_bytes = 65535;

// In place of a number that stands in the ZIP64 field.
inline constexpr std::uint32_t zip64_elsewhere = 0xffffffff;
inline constexpr std::uint16_t zip64_elsewhere16 = 0xffff;
inline constexpr std::uint16_t zip64_field_id = 1;

// Flags of an entry.
inline constexpr std::uint16_t zip_encrypted = 1 << 0;
inline constexpr std::uint16_t zip_has_descriptor = 1 << 3;  // sizes and CRC follow the data
inline constexpr std::uint16_t zip_patch = 1 << 5;
inline constexpr std::uint16_t zip_strongly_encrypted = 1 << 6;
inline constexpr std::uint16_t zip_utf8_name = 1 << 11;
inline constexpr std::uint16_t zip_masked_header = 1 << 13;
// Entries with one of these can be listed, no more.
inline constexpr std::uint16_t zip_unreadable =
    zip_encrypted | zip_patch | zip_strongly_encrypted | zip_masked_header;

// Where PyTorch's writer, and ours, put an entry.
struct ZipPlace {
  std::uint64_t header = 0;
  std::uint64_t data = 0;
  std::uint64_t end = 0;      // behind the descriptor
  std::uint64_t padding = 0;  // within the extra field
  bool is_large = false;      // its size does not fit 32 bits
  bool is_far = false;        // the offset of its header does not

  constexpr bool has_zip64() const noexcept { return is_large || is_far; }
  // Of the ZIP64 field, 0 where there is none.
  constexpr std::uint64_t zip64_bytes() const noexcept {
    return has_zip64() ? zip_field_head_bytes + (is_large ? 16U : 0U) + (is_far ? 8U : 0U) : 0U;
  }
};

// Data begins at a multiple of `alignment`; 0 is for no padding, and not even a field for it.
constexpr ZipPlace place_zip_entry(std::uint64_t header, std::size_t name_bytes,
                                   std::uint64_t bytes, std::uint64_t alignment) noexcept {
  ZipPlace place{
      .header = header, .is_large = bytes >= zip64_elsewhere, .is_far = header >= zip64_elsewhere};
  place.data = header + zip_local_header_bytes + name_bytes + place.zip64_bytes();
  if (alignment != 0) {
    place.data += zip_field_head_bytes;
    // Divisions would show, for a hundred thousand entries.
    const std::uint64_t beyond =
        (alignment & (alignment - 1)) == 0 ? place.data & (alignment - 1) : place.data % alignment;
    if (beyond != 0) place.padding = alignment - beyond;
    place.data += place.padding;
  }
  const std::uint64_t descriptor = bytes == 0 ? 0 : place.has_zip64() ? 24 : 16;
  place.end = place.data + bytes + descriptor;
  return place;
}

}  // namespace andiron::inline v1::detail
