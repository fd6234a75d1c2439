// SPDX-License-Identifier: MIT OR Apache-2.0
// What 'andiron info' shows of Burnpack files alone: the header and the layout.
#include "cli/burnpack_info.h"

#include <algorithm>
#include <span>

#include "andiron/burnpack_view.h"
#include "andiron/text.h"
#include "andiron/value.h"
#include "cli/hex_view.h"
#include "cli/json_output.h"
#include "cli/quantities.h"
#include "cli/text_layout.h"

namespace andiron::cli {
namespace {

constexpr std::size_t magic_bytes = 4;

std::span<const std::byte> bytes_of(const BurnpackHead& head) { return head.bytes.span(); }

std::span<const std::byte> bytes_of(const BurnpackHead& head, const BurnpackField& field) {
  return bytes_of(head).subspan(static_cast<std::size_t>(field.offset),
                                static_cast<std::size_t>(field.size));
}

std::uint64_t alignment_of(const BurnpackHead& head) {
  return head.layout.is_aligned ? burnpack_alignment : 1;
}

}  // namespace

void append_burnpack_facts(std::string& out, const BurnpackHead& head, const Page& page) {
  const auto magic = bytes_of(head).first(magic_bytes);
  std::string letters;
  for (const std::byte byte : magic) letters += static_cast<char>(byte);
  append_fact(out, "magic", letters + " (" + hex_text(magic) + ")", page.width);
  append_fact(out, "version", std::to_string(head.version), page.width);
  append_fact(out, "generation", head.generation, page.width);
  append_fact(out, "header",
              count_of(burnpack_header_bytes, "byte") + ", then " +
                  format_count(head.metadata_bytes) + " of metadata and " +
                  format_count(head.padding_bytes) + " of padding",
              page.width);
  append_fact(out, "data start",
              format_count(head.layout.data_begin) +
                  (head.layout.is_aligned
                       ? ", tensors on multiples of " + std::to_string(burnpack_alignment)
                       : ", tensors without gaps"),
              page.width);
}

std::vector<std::uint64_t> padding_before(const Archive& archive, const BurnpackHead& head) {
  std::vector<std::uint64_t> ends = {head.layout.data_begin};
  BurnpackHeader header(bytes_of(head).subspan(burnpack_header_bytes, head.metadata_bytes));
  header.allow_wrong_sizes();
  BurnpackEntry entry;
  for (;;) {
    const BurnpackHeader::Item item = header.next(entry);
    if (item == BurnpackHeader::Item::end || item == BurnpackHeader::Item::error) break;
    // Empty tensors fill nothing.
    if (item == BurnpackHeader::Item::tensor && entry.begin < entry.end) {
      ends.push_back(head.layout.data_begin + entry.end);
    }
  }
  std::sort(ends.begin(), ends.end());

  std::vector<std::uint64_t> padding(archive.size());
  for (std::size_t i = 0; i < padding.size(); ++i) {
    const std::uint64_t offset = archive.info(i).offset.value_or(0);
    const auto after = std::upper_bound(ends.begin(), ends.end(), offset);
    if (after != ends.begin()) padding[i] = offset - *std::prev(after);
  }
  return padding;
}

Status append_burnpack_hex(std::string& out, const BurnpackHead& head, const Page& page) {
  Result<std::vector<BurnpackField>> fields = burnpack_fields(head);
  if (!fields) return std::move(fields).error();
  const HexView view(page);
  view.append_heading(out);
  for (const BurnpackField& field : *fields) {
    view.append_field(out, field.offset, bytes_of(head, field), field.depth,
                      display_line(field.meaning));
  }
  return {};
}

Status append_json_burnpack(std::string& out, const BurnpackHead& head, bool with_fields) {
  append_json_key(out, "burnpack");
  out += "{\"version\":" + std::to_string(head.version);
  append_json_field(out, "generation", head.generation);
  append_json_field(out, "metadata_bytes", head.metadata_bytes);
  append_json_field(out, "padding_bytes", head.padding_bytes);
  append_json_field(out, "data_offset", head.layout.data_begin);
  append_json_field(out, "alignment", alignment_of(head));
  if (with_fields) {
    Result<std::vector<BurnpackField>> fields = burnpack_fields(head);
    if (!fields) return std::move(fields).error();
    append_json_key(out, "fields");
    out += '[';
    for (const BurnpackField& field : *fields) {
      out += out.back() == '[' ? "{\"offset\":" : ",{\"offset\":";
      out += std::to_string(field.offset);
      append_json_field(out, "bytes", hex_text(bytes_of(head, field)));
      append_json_field(out, "depth", field.depth);
      append_json_field(out, "meaning", field.meaning);
      out += '}';
    }
    out += ']';
  }
  out += '}';
  return {};
}

}  // namespace andiron::cli
