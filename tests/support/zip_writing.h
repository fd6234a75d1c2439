// SPDX-License-Identifier: MIT OR Apache-2.0
// Zip archives put together by hand, right or wrong.
//
//   ZipWriting zip;
//   zip.add({.name = "a", .content = "text", .deflate = true});
//   zip.add({.name = "b", .content = "text", .local = {.crc = 7}});   // a lie
//   zip.add(torch_item("archive/data/0", floats));
//   const std::string file = zip.finish({.comment = "made by hand"});
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/deflating.h"
#include "tests/support/sparse_source.h"

namespace andiron::test {

/// What is written into the fields of a header, whatever is true.
struct ZipLies {
  std::optional<std::uint32_t> signature = {};
  std::optional<std::uint16_t> version = {};
  std::optional<std::uint16_t> flags = {};
  std::optional<std::uint16_t> method = {};
  std::optional<std::uint32_t> crc = {};
  std::optional<std::uint32_t> stored_bytes = {};
  std::optional<std::uint32_t> bytes = {};
  std::optional<std::uint16_t> name_length = {};
  std::optional<std::uint16_t> extra_length = {};
  std::optional<std::string> name = {};
  std::optional<std::string> extra = {};
  // In the directory alone.
  std::optional<std::uint16_t> comment_length = {};
  std::optional<std::uint16_t> disk = {};
  std::optional<std::uint32_t> header_offset = {};
};

/// Numbers that follow the data, of 32 or 64 bits, after a signature or not.
enum class Descriptor { none, signed32, plain32, signed64, plain64 };

struct ZipItem {
  std::string name;
  std::string content = {};
  std::uint64_t hole = 0;  ///< zeros in place of the content; ZipWriting::source() keeps them small
  bool deflate = false;
  std::uint16_t flags = 0;
  Descriptor descriptor = Descriptor::none;  ///< the header in front of the data then holds zeros
  bool zip64 = false;                        ///< sizes of the local header in a ZIP64 field
  bool zip64_directory = false;              ///< the same for all numbers in the directory
  std::uint64_t torch_alignment = 0;         ///< all as PyTorch writes it; see torch_item()
  std::string comment = {};
  std::optional<std::string> stored = {};  ///< in place of what the content would be stored as
  ZipLies local = {};
  ZipLies directory = {};
};

/// An entry as PyTorch writes it: padded, the numbers after the data.
inline ZipItem torch_item(std::string name, std::string content, std::uint64_t alignment = 64) {
  return {.name = std::move(name), .content = std::move(content), .torch_alignment = alignment};
}

/// The end of the archive; what is not set is true.
struct ZipTail {
  std::string comment = {};
  bool zip64 = false;  ///< also written where the archive is too large for the other record
  std::string after_entries = {};     ///< counted as part of the directory
  std::string before_end = {};        ///< between the directory and the records
  std::string inside_zip64_end = {};  ///< at the end of the ZIP64 record, counted in its size
  std::optional<std::uint16_t> disk = {};
  std::optional<std::uint16_t> directory_disk = {};
  std::optional<std::uint16_t> count_here = {};
  std::optional<std::uint16_t> count = {};
  std::optional<std::uint32_t> bytes = {};
  std::optional<std::uint32_t> offset = {};
  std::optional<std::uint16_t> comment_length = {};
  std::optional<std::uint32_t> zip64_signature = {};
  std::optional<std::uint64_t> zip64_record_bytes = {};
  std::optional<std::uint32_t> zip64_disk = {};
  std::optional<std::uint64_t> zip64_count = {};
  std::optional<std::uint64_t> zip64_bytes = {};
  std::optional<std::uint64_t> zip64_offset = {};
  std::optional<std::uint32_t> locator_disk = {};
  std::optional<std::uint64_t> locator_offset = {};
  std::optional<std::uint32_t> locator_disks = {};
};

/// Little-endian numbers one after the other.
template <class... Numbers>
std::string little_endian(Numbers... numbers) {
  std::string text;
  const auto put = [&](auto number) {
    for (unsigned i = 0; i < sizeof(number); ++i) {
      text += static_cast<char>(static_cast<std::uint64_t>(number) >> 8 * i & 0xff);
    }
  };
  (put(numbers), ...);
  return text;
}

/// One field of an extra field.
inline std::string extra_field(std::uint16_t id, std::string_view content) {
  return little_endian(id, static_cast<std::uint16_t>(content.size())) + std::string(content);
}

class ZipWriting {
 public:
  /// Adds an entry. Returns where its data begins.
  std::uint64_t add(const ZipItem& item) {
    const Plan plan = plan_of(item);
    const std::uint64_t begin = size_;
    put(local_header(item, plan));
    const std::uint64_t data = size_;
    put(plan.stored);
    size_ += item.hole;
    put(descriptor_of(plan));
    directory_ += directory_entry(item, plan, begin);
    ++count_;
    return data;
  }

  /// Bytes that belong to no entry.
  void raw(std::string_view text) { put(std::string(text)); }

  std::uint64_t size() const { return size_; }

  /// The whole file. REQUIRES: holes are small.
  std::string finish(const ZipTail& tail = {}) {
    end(tail);
    std::string file(static_cast<std::size_t>(size_), '\0');
    for (const auto& [offset, text] : pieces_) {
      file.replace(static_cast<std::size_t>(offset), text.size(), text);
    }
    return file;
  }

  /// The whole file, its holes as large as they like.
  ByteSourcePtr source(const ZipTail& tail = {}) {
    end(tail);
    return std::make_shared<SparseSource>(pieces_, size_);
  }

 private:
  // What is true of an entry.
  struct Plan {
    std::string stored;
    std::uint64_t stored_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0;
    std::uint16_t flags = 0;
    Descriptor descriptor = Descriptor::none;
    std::string local_extra;
  };

  static constexpr std::uint32_t elsewhere = 0xffffffff;
  static std::uint32_t fit(std::uint64_t number) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, elsewhere));
  }
  static std::uint16_t fit16(std::uint64_t number) {
    return static_cast<std::uint16_t>(std::min<std::uint64_t>(number, 0xffff));
  }

  Plan plan_of(const ZipItem& item) const {
    Plan plan;
    plan.stored = item.stored ? *item.stored : item.deflate ? deflated(item.content) : item.content;
    plan.stored_bytes = plan.stored.size() + item.hole;
    plan.bytes = item.content.size() + item.hole;
    const bool is_crc_given = item.local.crc && item.directory.crc;
    plan.crc = item.hole != 0 || is_crc_given ? 0 : crc_of_text(item.content);
    plan.flags = item.flags;
    plan.descriptor = item.descriptor;
    if (item.zip64) {
      const bool known = item.descriptor == Descriptor::none;
      plan.local_extra = extra_field(
          1, little_endian(known ? plan.bytes : 0, known ? plan.stored_bytes : std::uint64_t{0}));
    }
    if (item.torch_alignment != 0) as_torch(item, plan);
    if (plan.descriptor != Descriptor::none) plan.flags |= 0x0008;
    return plan;
  }

  void as_torch(const ZipItem& item, Plan& plan) const {
    const bool large = plan.bytes >= elsewhere;
    const bool far = size_ >= elsewhere;
    plan.flags |= 0x0800;
    if (plan.bytes != 0) {
      plan.descriptor = large || far ? Descriptor::signed64 : Descriptor::signed32;
    }
    if (large || far) {
      std::string numbers;
      if (large) numbers += little_endian(plan.bytes, std::uint64_t{0});
      if (far) numbers += little_endian(size_);
      plan.local_extra += extra_field(1, numbers);
    }
    const std::uint64_t start = size_ + 30 + item.name.size() + plan.local_extra.size() + 4;
    const std::uint64_t padding =
        (item.torch_alignment - start % item.torch_alignment) % item.torch_alignment;
    plan.local_extra += extra_field(0x4246, std::string(static_cast<std::size_t>(padding), 'Z'));
  }

  static std::string local_header(const ZipItem& item, const Plan& plan) {
    const ZipLies& lies = item.local;
    const bool zeros = plan.descriptor != Descriptor::none || item.torch_alignment != 0;
    const auto size = [&](std::uint64_t bytes) {
      return item.zip64 ? elsewhere : zeros ? 0 : fit(bytes);
    };
    const std::string name = lies.name.value_or(item.name);
    const std::string extra = lies.extra.value_or(plan.local_extra);
    return little_endian(lies.signature.value_or(0x04034b50),
                         lies.version.value_or(static_cast<std::uint16_t>(item.zip64 ? 45 : 20)),
                         lies.flags.value_or(plan.flags), lies.method.value_or(method_of(item)),
                         std::uint32_t{0}, lies.crc.value_or(zeros ? 0 : plan.crc),
                         lies.stored_bytes.value_or(size(plan.stored_bytes)),
                         lies.bytes.value_or(size(plan.bytes)),
                         lies.name_length.value_or(fit16(name.size())),
                         lies.extra_length.value_or(fit16(extra.size()))) +
           name + extra;
  }

  static std::string descriptor_of(const Plan& plan) {
    const bool sign =
        plan.descriptor == Descriptor::signed32 || plan.descriptor == Descriptor::signed64;
    std::string text = sign ? little_endian(std::uint32_t{0x08074b50}) : "";
    switch (plan.descriptor) {
      case Descriptor::none:
        return "";
      case Descriptor::signed32:
      case Descriptor::plain32:
        return text + little_endian(plan.crc, fit(plan.stored_bytes), fit(plan.bytes));
      case Descriptor::signed64:
      case Descriptor::plain64:
        return text + little_endian(plan.crc, plan.stored_bytes, plan.bytes);
    }
    return "";
  }

  static std::string directory_entry(const ZipItem& item, const Plan& plan, std::uint64_t begin) {
    const ZipLies& lies = item.directory;
    std::string elsewhere_numbers;
    const auto number = [&](std::uint64_t value) {
      if (!item.zip64_directory && value < elsewhere) return static_cast<std::uint32_t>(value);
      elsewhere_numbers += little_endian(value);
      return elsewhere;
    };
    const std::uint32_t bytes = number(plan.bytes);
    const std::uint32_t stored_bytes = number(plan.stored_bytes);
    const std::uint32_t header_offset = number(begin);
    const std::string name = lies.name.value_or(item.name);
    const std::string extra =
        lies.extra.value_or(elsewhere_numbers.empty() ? "" : extra_field(1, elsewhere_numbers));
    return little_endian(lies.signature.value_or(0x02014b50), std::uint16_t{0},
                         lies.version.value_or(std::uint16_t{20}), lies.flags.value_or(plan.flags),
                         lies.method.value_or(method_of(item)), std::uint32_t{0},
                         lies.crc.value_or(plan.crc), lies.stored_bytes.value_or(stored_bytes),
                         lies.bytes.value_or(bytes), lies.name_length.value_or(fit16(name.size())),
                         lies.extra_length.value_or(fit16(extra.size())),
                         lies.comment_length.value_or(fit16(item.comment.size())),
                         lies.disk.value_or(std::uint16_t{0}), std::uint16_t{0}, std::uint32_t{0},
                         lies.header_offset.value_or(header_offset)) +
           name + extra + item.comment;
  }

  static std::uint16_t method_of(const ZipItem& item) { return item.deflate ? 8 : 0; }

  void end(const ZipTail& tail) {
    const std::uint64_t offset = size_;
    const std::uint64_t bytes = directory_.size() + tail.after_entries.size();
    put(directory_ + tail.after_entries + tail.before_end);
    if (tail.zip64 || offset >= elsewhere || count_ >= 0xffff) {
      const std::uint64_t record = size_;
      const std::uint32_t disk = tail.zip64_disk.value_or(0);
      const std::uint64_t count = tail.zip64_count.value_or(count_);
      put(little_endian(tail.zip64_signature.value_or(0x06064b50),
                        tail.zip64_record_bytes.value_or(44 + tail.inside_zip64_end.size()),
                        std::uint16_t{45}, std::uint16_t{45}, disk, disk, count, count,
                        tail.zip64_bytes.value_or(bytes), tail.zip64_offset.value_or(offset)) +
          tail.inside_zip64_end);
      put(little_endian(std::uint32_t{0x07064b50}, tail.locator_disk.value_or(0),
                        tail.locator_offset.value_or(record), tail.locator_disks.value_or(1)));
    }
    put(little_endian(std::uint32_t{0x06054b50}, tail.disk.value_or(std::uint16_t{0}),
                      tail.directory_disk.value_or(std::uint16_t{0}),
                      tail.count_here.value_or(fit16(count_)), tail.count.value_or(fit16(count_)),
                      tail.bytes.value_or(fit(bytes)), tail.offset.value_or(fit(offset)),
                      tail.comment_length.value_or(fit16(tail.comment.size()))) +
        tail.comment);
  }

  void put(std::string text) {
    const std::uint64_t offset = size_;
    size_ += text.size();
    if (!pieces_.empty() && pieces_.back().first + pieces_.back().second.size() == offset) {
      pieces_.back().second += text;
    } else if (!text.empty()) {
      pieces_.emplace_back(offset, std::move(text));
    }
  }

  std::vector<SparseSource::Piece> pieces_;  // with holes in between
  std::uint64_t size_ = 0;
  std::string directory_;
  std::uint64_t count_ = 0;
};

/// An archive of these entries.
inline std::string zip_file(const std::vector<ZipItem>& items, const ZipTail& tail = {}) {
  ZipWriting zip;
  for (const ZipItem& item : items) zip.add(item);
  return zip.finish(tail);
}

/// Bytes of text as a source in memory.
inline ByteSourcePtr source_of(std::string_view text, std::string name = "test.zip") {
  return memory_source(bytes_of_text(text), std::move(name));
}

}  // namespace andiron::test
