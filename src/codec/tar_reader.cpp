// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/tar_reader_test.cpp
#include "src/codec/tar_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "src/codec/entry_name.h"
#include "src/core/check_limit.h"
#include "src/core/parse_index.h"
#include "src/core/sort.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// One block in front of each member.
class TarHeader {
 public:
  explicit TarHeader(std::string_view block) : block_(block) {}

  char type() const { return block_[156]; }
  bool is_empty() const { return block_.find_first_not_of('\0') == block_.npos; }
  bool says_tar() const { return field(257, 5) == "ustar"; }

  // The sum of all bytes, those of the sum itself taken for spaces. Some writers took bytes for
  // signed numbers.
  bool has_right_sum() const {
    constexpr std::size_t begin = 148;
    constexpr std::size_t size = 8;
    std::int64_t plain = size * ' ';
    std::int64_t with_sign = plain;
    for (std::size_t i = 0; i < block_.size(); ++i) {
      if (i >= begin && i < begin + size) continue;
      plain += static_cast<unsigned char>(block_[i]);
      with_sign += static_cast<signed char>(block_[i]);
    }
    const std::optional<std::uint64_t> told = number(begin, size);
    return told && (*told == static_cast<std::uint64_t>(plain) ||
                    *told == static_cast<std::uint64_t>(with_sign));
  }

  std::optional<std::uint64_t> bytes() const { return number(124, 12); }

  std::string name() const {
    const std::string_view name = field(0, 100);
    // Only POSIX headers hold the folder apart; GNU's hold times in its place.
    const std::string_view folder =
        block_.substr(257, 6) == std::string_view("ustar\0", 6) ? field(345, 155) : "";
    return folder.empty() ? std::string(name) : std::string(folder) + "/" + std::string(name);
  }

 private:
  std::string_view field(std::size_t begin, std::size_t size) const {
    const std::string_view all = block_.substr(begin, size);
    return all.substr(0, all.find('\0'));
  }

  // Octal digits between spaces and zeros, or a number of base 256 after a byte 0x80.
  std::optional<std::uint64_t> number(std::size_t begin, std::size_t size) const {
    std::string_view digits = block_.substr(begin, size);
    std::uint64_t value = 0;
    if ((static_cast<unsigned char>(digits.front()) & 0x80) != 0) {
      if (static_cast<unsigned char>(digits.front()) != 0x80) return std::nullopt;
      for (const char c : digits.substr(1)) {
        if (value >> 56 != 0) return std::nullopt;
        value = value << 8 | static_cast<unsigned char>(c);
      }
      return value;
    }
    digits = field(begin, size);
    digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
    digits = digits.substr(0, digits.find(' '));
    if (digits.empty()) return std::nullopt;
    for (const char c : digits) {
      if (c < '0' || c > '7') return std::nullopt;
      value = value << 3 | static_cast<std::uint64_t>(c - '0');  // at most 36 bits
    }
    return value;
  }

  std::string_view block_;
};

void remove_here(std::string& name) {
  while (name.starts_with("./")) name.erase(0, 2);
}

// Takes the headers of an archive in turn.
class TarIndex {
 public:
  TarIndex(const ByteSource& source, const Limits& limits) : source_(source), limits_(limits) {}

  // Where the next header lies. Truncated where there is no room for one.
  Result<std::uint64_t> next() {
    begin_ = at_;
    if (source_.size() - at_ < tar_block_bytes) return cut_off("without its end block");
    at_ += tar_block_bytes;
    return begin_;
  }

  // How much of what follows the header take() needs to see.
  Result<std::uint64_t> text_bytes(const TarHeader& header) const {
    if (!header.has_right_sum()) return bad("a header of the tar archive has a wrong checksum");
    if (!header.bytes()) return bad("a size in the tar archive is not a number");
    const bool is_name = header.type() == 'L';
    if (!is_name && header.type() != 'x' && header.type() != 'g') return std::uint64_t{0};
    if (*header.bytes() > source_.size() - at_) return cut_off("within a header");
    ANDIRON_TRY(check_limit(
        *header.bytes(), is_name ? limits_.name_bytes : limits_.metadata_bytes,
        {"a header of the tar archive is larger than allowed",
         is_name ? &Limits::name_bytes : &Limits::metadata_bytes, "bytes", source_.name()}));
    return *header.bytes();
  }

  // REQUIRES: text_bytes() took the header, and `text` is as long as it said.
  Status take(const TarHeader& header, std::string_view text) {
    const std::uint64_t bytes = long_size_.value_or(*header.bytes());
    switch (header.type()) {
      case 'x':
      case 'g':
        skip(text.size());
        return take_records(text, header.type() == 'g');
      case 'L':
        skip(text.size());
        long_name_ = text.substr(0, text.find('\0'));
        return {};
      case '0':
      case '\0':
      case '7':  // stored in one piece, says its writer
        return add(header, bytes);
      case '5':
        return skip_folder(bytes);
      default:
        return bad("the tar archive contains more than files and folders",
                   "a member of type " + in_quotes(std::string(1, header.type())));
    }
  }

  Result<std::vector<TarMember>> finish() {
    if (long_name_ || long_size_) return bad("the last header of the tar archive has no member");
    ANDIRON_TRY(check_names_differ());
    return std::move(members_);
  }

 private:
  Error error(ErrorCode code, std::string message, std::string found = {}) const {
    return Error{.code = code,
                 .message = std::move(message),
                 .file = source_.name(),
                 .found = found.empty() ? "at byte " + std::to_string(begin_) : std::move(found)};
  }
  Error bad(std::string message, std::string found = {}) const {
    return error(ErrorCode::bad_archive, std::move(message), std::move(found));
  }
  Error cut_off(std::string_view what) const {
    Error error = this->error(ErrorCode::truncated, "the tar archive ends " + std::string(what));
    error.hint = "the download may be incomplete";
    return error;
  }

  Status add(const TarHeader& header, std::uint64_t bytes) {
    TarMember member{long_name_ ? *std::move(long_name_) : header.name(), at_, bytes};
    // Before there was a type for folders.
    if (header.type() == '\0' && member.name.ends_with('/')) return skip_folder(bytes);
    remove_here(member.name);
    if (const char* const fault = fault_of_entry_name(member.name)) {
      return bad(std::string("a member of the tar archive has a name that ") + fault,
                 in_quotes(member.name));
    }
    if (bytes > source_.size() - at_) return cut_off("within a member");
    ANDIRON_TRY(check_limit(members_.size() + 1, limits_.zip_entries,
                            {"the tar archive has more members than allowed", &Limits::zip_entries,
                             "", source_.name()}));
    members_.push_back(std::move(member));
    forget_long();
    skip(bytes);
    return {};
  }

  Status skip_folder(std::uint64_t bytes) {
    if (bytes != 0) return bad("a folder in the tar archive has content");
    forget_long();
    return {};
  }

  // Data fills whole blocks.
  void skip(std::uint64_t bytes) {
    const std::uint64_t padding = (tar_block_bytes - bytes % tar_block_bytes) % tar_block_bytes;
    at_ += bytes;
    at_ += std::min(padding, source_.size() - at_);
  }

  void forget_long() {
    long_name_.reset();
    long_size_.reset();
  }

  // Records "LENGTH KEY=VALUE\n", where the length counts all of the record.
  Status take_records(std::string_view text, bool for_all) {
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t space = rest.find(' ');
      const std::optional<std::uint64_t> size =
          space == rest.npos ? std::nullopt : parse_index(rest.substr(0, space));
      if (!size || *size > rest.size() || *size < space + 2) return bad_records();
      std::string_view record = rest.substr(0, static_cast<std::size_t>(*size));
      rest.remove_prefix(record.size());
      const std::size_t equals = record.find('=', space);
      if (equals == record.npos || record.back() != '\n') return bad_records();
      record.remove_suffix(1);
      ANDIRON_TRY(take_record(record.substr(space + 1, equals - space - 1),
                              record.substr(equals + 1), for_all));
    }
    return {};
  }

  Error bad_records() const { return bad("an extended header of the tar archive is damaged"); }

  Status take_record(std::string_view key, std::string_view value, bool for_all) {
    if (key.starts_with("GNU.sparse.")) return bad("the tar archive holds a sparse file");
    if (key != "path" && key != "size") return {};
    if (for_all) return bad("the tar archive gives all members the same " + std::string(key));
    if (key == "path") {
      long_name_ = value;
    } else {
      long_size_ = parse_index(value);
      if (!long_size_) return bad_records();
    }
    return {};
  }

  Status check_names_differ() {
    std::vector<std::string_view> names(members_.size());
    std::transform(members_.begin(), members_.end(), names.begin(),
                   [](const TarMember& member) { return std::string_view(member.name); });
    detail::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return {};
    return bad("a member appears twice in the tar archive", in_quotes(*twice));
  }

  const ByteSource& source_;
  const Limits& limits_;
  std::uint64_t begin_ = 0;  // of the header at hand
  std::uint64_t at_ = 0;
  // What an extended header tells of the member after it.
  std::optional<std::string> long_name_;
  std::optional<std::uint64_t> long_size_;
  std::vector<TarMember> members_;
};

}  // namespace

bool is_tar(std::string_view head) {
  if (head.size() < tar_block_bytes) return false;
  const TarHeader header(head.substr(0, tar_block_bytes));
  if (header.says_tar()) return true;
  if (!header.has_right_sum()) return false;
  std::string name = header.name();
  remove_here(name);
  return name == "sys_info" || name == "pickle" || name == "tensors" || name == "storages";
}

Result<std::vector<TarMember>> read_tar(const ByteSource& source, const Limits& limits) {
  TarIndex index(source, limits);
  for (;;) {
    std::array<char, tar_block_bytes> block;
    ANDIRON_ASSIGN(const std::uint64_t at, index.next());
    ANDIRON_TRY(source.read_at(at, std::as_writable_bytes(std::span(block))));
    const TarHeader header(std::string_view(block.data(), block.size()));
    if (header.is_empty()) return index.finish();
    ANDIRON_ASSIGN(const std::uint64_t text_bytes, index.text_bytes(header));
    std::string text(static_cast<std::size_t>(text_bytes), '\0');
    ANDIRON_TRY(source.read_at(at + tar_block_bytes, std::as_writable_bytes(std::span(text))));
    ANDIRON_TRY(index.take(header, text));
  }
}

}  // namespace andiron::inline v1::detail
