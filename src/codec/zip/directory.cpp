// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/zip_directory_test.cpp and tests/codec/zip_hostile_test.cpp
#include "src/codec/zip/directory.h"

#include <algorithm>
#include <array>
#include <new>
#include <numeric>

#include "src/codec/entry_name.h"
#include "src/core/little_endian.h"
#include "src/core/sort.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// What a byte means for a name, so that most names need one look at each.
enum NameByte : std::uint8_t { plain = 0, upper_case = 1, suspicious = 2 };
constexpr auto name_bytes = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = upper_case;
  for (const char c : {'\0', '\\', '.', ':'}) table[static_cast<unsigned char>(c)] = suspicious;
  return table;
}();

unsigned classify(std::string_view name) {
  unsigned seen = plain;
  for (const char c : name) seen |= name_bytes[static_cast<unsigned char>(c)];
  return seen;
}

constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

std::string to_lower(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

// A name that is the same as others that differ in the case of ASCII letters alone, or is not.
struct ComparedName {
  std::string_view name;
  ZipNames compared;
  friend bool operator!=(ComparedName a, std::string_view b) noexcept {
    if (a.compared == ZipNames::exact) return a.name != b;
    return !std::equal(a.name.begin(), a.name.end(), b.begin(), b.end(),
                       [](char x, char y) { return to_lower(x) == to_lower(y); });
  }
};

// The order of numbers that have no leading zeros.
bool is_before_as_number(std::string_view a, std::string_view b) noexcept {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

bool is_digits(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// To the name with the next number. REQUIRES: it ends with digits.
void count_up(std::string& name) {
  std::size_t digit = name.size();
  while (digit != 0 && name[digit - 1] == '9') name[--digit] = '0';
  if (digit != 0 && name[digit - 1] >= '0' && name[digit - 1] < '9') {
    ++name[digit - 1];
  } else {
    name.insert(digit, 1, '1');
  }
}

std::string bytes_of(std::uint64_t count) { return std::to_string(count) + " bytes"; }

}  // namespace

// Every entry is looked at three times, each time in one sweep: its numbers, its place, its name.
class ZipDirectoryReader {
 public:
  ZipDirectoryReader(const ByteSource& source, const ZipEnd& end, ZipNames compared)
      : source_(source), end_(end) {
    directory_.compared_ = compared;
  }

  // `bytes` are those of the directory.
  Result<ZipDirectory> read(Bytes bytes) {
    directory_.memory_ = std::move(bytes);
    ANDIRON_TRY(read_entries());
    ANDIRON_TRY(check_places());
    ANDIRON_TRY(index_names());
    return std::move(directory_);
  }

 private:
  Error bad(std::string message, std::string found, std::string expected) const {
    return Error{.code = ErrorCode::bad_archive,
                 .message = std::move(message),
                 .file = source_.name(),
                 .found = std::move(found),
                 .expected = std::move(expected)};
  }
  Error of(const ZipEntry& entry, std::string_view what, std::string found = {},
           std::string expected = {}) const {
    Error error = zip_entry_error(ErrorCode::bad_archive, source_, entry.name, what);
    error.found = std::move(found);
    error.expected = std::move(expected);
    return error;
  }

  Error out_of_memory() const {
    return Error{.code = ErrorCode::out_of_memory,
                 .message = "not enough memory for the zip directory",
                 .file = source_.name()};
  }

  Status read_entries() {
    directory_.begin_ = end_.offset;
    ANDIRON_TRY(directory_.entries_.reserve(static_cast<std::size_t>(end_.count)));
    std::span<const std::byte> rest = directory_.memory_.span();
    for (std::uint64_t i = 0; i < end_.count; ++i) ANDIRON_TRY(read_entry(rest));
    if (rest.empty()) return {};
    return bad("the zip directory does not end after its last entry",
               bytes_of(rest.size()) + " more", "none");
  }

  Status read_entry(std::span<const std::byte>& rest) {
    const std::byte* const at = rest.data();
    if (rest.size() < zip_entry_bytes || load_u32(at) != zip_entry_number) return no_entry(rest);
    const std::size_t name_size = load_u16(at + 28);
    const std::size_t extra_size = load_u16(at + 30);
    const std::size_t size = zip_entry_bytes + name_size + extra_size + load_u16(at + 32);
    if (rest.size() < size) return no_entry(rest);
    ANDIRON_TRY(directory_.entries_.reserve_one());
    ZipEntry& entry = directory_.entries_.emplace();
    entry.name = {reinterpret_cast<const char*>(at + zip_entry_bytes), name_size};
    entry.flags = load_u16(at + 8);
    entry.method = load_u16(at + 10);
    entry.crc = load_u32(at + 16);
    entry.stored_bytes = load_u32(at + 20);
    entry.bytes = load_u32(at + 24);
    entry.header_offset = load_u32(at + 42);
    std::uint32_t disk = load_u16(at + 34);
    if (extra_size != 0 || entry.stored_bytes == zip64_elsewhere ||
        entry.bytes == zip64_elsewhere || entry.header_offset == zip64_elsewhere) {
      ANDIRON_TRY(read_extra(rest.subspan(zip_entry_bytes + name_size, extra_size), entry, disk));
    }
    if (disk != 0) return zip_on_several_disks(source_);
    if (entry.is_stored() && entry.stored_bytes != entry.bytes &&
        (entry.flags & zip_unreadable) == 0) {
      return of(entry, "is not compressed, but its two sizes differ", bytes_of(entry.stored_bytes),
                std::to_string(entry.bytes));
    }
    rest = rest.subspan(size);
    return {};
  }

  Error no_entry(std::span<const std::byte> rest) const {
    return bad("the zip directory is damaged",
               "no entry at byte " + std::to_string(end_.offset + end_.bytes - rest.size()),
               "number " + std::to_string(directory_.entries_.size() + 1) + " of " +
                   std::to_string(end_.count) + " entries");
  }

  // Numbers that did not fit stand in the ZIP64 field, in this order.
  Status read_extra(std::span<const std::byte> extra, ZipEntry& entry, std::uint32_t& disk) const {
    Result<std::span<const std::byte>> found = zip64_field(extra);
    if (!found) return of(entry, found.error().message);
    std::span<const std::byte> field = *found;
    for (std::uint64_t* number : {&entry.bytes, &entry.stored_bytes, &entry.header_offset}) {
      if (*number != zip64_elsewhere) continue;
      if (field.size() < 8) return of(entry, "has an incomplete ZIP64 field");
      *number = load_u64(field.data());
      field = field.subspan(8);
    }
    if (disk == zip64_elsewhere16 && field.size() >= 4) disk = load_u32(field.data());
    return {};
  }

  // Entries lie apart, from the first byte of the file to the directory.
  Status check_places() {
    const std::span<const ZipEntry> entries = directory_.entries_.items();
    const auto before = [&](const ZipEntry& a, const ZipEntry& b) {
      return a.header_offset < b.header_offset;
    };
    if (!std::is_sorted(entries.begin(), entries.end(), before)) {
      auto* const order = new (std::nothrow) std::uint32_t[entries.size()];
      if (order == nullptr) return out_of_memory();
      directory_.by_offset_.reset(order);
      std::iota(order, order + entries.size(), 0u);
      detail::sort(order, order + entries.size(), [&](std::uint32_t a, std::uint32_t b) {
        return before(entries[a], entries[b]);
      });
    }
    const std::uint64_t first =
        entries.empty() ? directory_.begin_ : entries[directory_.at_rank(0)].header_offset;
    if (first != 0) {
      return bad("the file does not begin with the zip archive", bytes_of(first), "none");
    }
    for (std::size_t rank = 0; rank < entries.size(); ++rank) {
      const ZipEntry& entry = entries[directory_.at_rank(rank)];
      const bool last = rank + 1 == entries.size();
      const std::uint64_t end =
          last ? directory_.begin_ : entries[directory_.at_rank(rank + 1)].header_offset;
      const std::uint64_t head = zip_local_header_bytes + entry.name.size();
      if (entry.header_offset <= end && end - entry.header_offset >= head &&
          end - entry.header_offset - head >= entry.stored_bytes) {
        continue;
      }
      return of(entry, last ? "overlaps the directory" : "overlaps the next entry",
                bytes_of(entry.stored_bytes) + " of data and a header at byte " +
                    std::to_string(entry.header_offset),
                "all of it before byte " + std::to_string(end));
    }
    return {};
  }

  Status check_name(const ZipEntry& entry, unsigned seen) const {
    const std::string_view name = entry.name;
    if ((seen & suspicious) == 0 && !name.empty() && name.front() != '/') return {};
    // Exact names are keys, and lead to no file.
    const bool is_key = directory_.compared_ == ZipNames::exact;
    const char* const fault = !is_key                        ? fault_of_entry_name(name)
                              : name.find('\0') != name.npos ? "contains a zero byte"
                                                             : nullptr;
    if (fault == nullptr) return {};
    return of(entry, std::string("has a name that ") + fault);
  }

  // The longest run of names that ascend in one folder, all in lower case.
  Status find_run() {
    const std::span<const ZipEntry> entries = directory_.entries_.items();
    const auto size = static_cast<std::uint32_t>(entries.size());
    ZipRun run;  // the one that goes on
    const auto keep_longest = [&] {
      if (run.size() > directory_.run_.size()) directory_.run_ = run;
    };
    bool is_lower = false;
    bool as_numbers = false;
    bool as_text = false;
    unsigned folder_seen = plain;
    std::string next;  // the name to come if numbers follow each other, or empty
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::string_view name = entries[i].name;
      if (!next.empty() && name == next) {
        // All but the number was looked at before.
        as_text = as_text && name.size() == entries[i - 1].name.size();
        count_up(next);
      } else {
        const bool is_beside = is_lower && name.starts_with(run.folder);
        const std::size_t known = is_beside ? run.folder.size() : 0;
        // Of a number nothing but its place among the others is of interest.
        const bool is_number = is_beside && is_digits(name.substr(known));
        if (!is_number) {
          const unsigned seen = classify(name.substr(known)) | (is_beside ? folder_seen : 0U);
          ANDIRON_TRY(check_name(entries[i], seen));
          is_lower = (seen & upper_case) == 0;
        }
        const std::string_view before = is_beside ? entries[i - 1].name.substr(known) : "";
        as_numbers = as_numbers && is_beside && is_before_as_number(before, name.substr(known));
        as_text = as_text && is_beside && before < name.substr(known);
        next.clear();
        const bool goes_on = is_lower && (as_numbers || as_text) &&
                             (is_number || name.find('/', known) == name.npos);
        if (goes_on) {
          run.is_digits = run.is_digits && is_number;
          run.first_number.reset();
        } else {
          keep_longest();
          run = {.begin = i, .folder = name.substr(0, name.rfind('/') + 1)};
          folder_seen = classify(run.folder);
          as_numbers = as_text = true;
          run.is_digits = is_digits(name.substr(run.folder.size()));
          run.first_number = parse_printed_index(name.substr(run.folder.size()));
          if (is_lower && run.first_number) {
            next = name;
            count_up(next);
          }
        }
      }
      run.end = is_lower ? i + 1 : run.begin;
      run.is_text = !as_numbers;
    }
    keep_longest();
    return {};
  }

  Status index_names() {
    ANDIRON_TRY(find_run());
    const std::span<const ZipEntry> entries = directory_.entries_.items();
    const auto size = static_cast<std::uint32_t>(entries.size());
    const ZipRun& run = directory_.run_;
    ANDIRON_TRY(directory_.names_.reset(size - run.size()));
    ANDIRON_TRY(index_names(0, run.begin));
    return index_names(run.end, size);
  }

  Status index_names(std::uint32_t first, std::uint32_t last) {
    const std::span<const ZipEntry> entries = directory_.entries_.items();
    const ZipNames compared = directory_.compared_;
    const auto name_at = [&](std::uint32_t i) { return ComparedName{entries[i].name, compared}; };
    constexpr std::uint32_t ahead = 16;
    std::array<std::uint64_t, ahead> hashes;
    for (std::uint32_t begin = first; begin < last; begin += ahead) {
      const std::uint32_t end = std::min(last, begin + ahead);
      for (std::uint32_t i = begin; i < end; ++i) {
        const std::uint64_t hash = directory_.hash_of(entries[i].name);
        directory_.names_.prefetch(hash);
        hashes[i - begin] = hash;
      }
      for (std::uint32_t i = begin; i < end; ++i) {
        const std::string_view name = entries[i].name;
        auto taken = directory_.names_.insert(name, hashes[i - begin], i, name_at);
        if (!taken) {
          const bool exact = compared == ZipNames::exact;
          taken = exact ? directory_.find_in_run(name) : directory_.find_in_run(to_lower(name));
        }
        if (!taken) continue;
        return of(entries[*taken], entries[*taken].name == entries[i].name
                                       ? "appears twice"
                                       : "appears again in different case");
      }
    }
    return {};
  }

  const ByteSource& source_;
  const ZipEnd end_;
  ZipDirectory directory_;
};

Result<ZipDirectory> ZipDirectory::read(const ByteSource& source, const ZipEnd& end,
                                        ZipNames compared) {
  ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(end.bytes));
  ANDIRON_TRY(source.read_at(end.offset, bytes.writable()));
  return ZipDirectoryReader(source, end, compared).read(std::move(bytes));
}

std::uint64_t ZipDirectory::hash_of(std::string_view name) const {
  const bool as_it_is = compared_ == ZipNames::exact || (classify(name) & upper_case) == 0;
  return as_it_is ? hash_name(name) : hash_name(to_lower(name));
}

std::optional<std::uint32_t> ZipDirectory::find_in_run(std::string_view name) const {
  std::uint32_t low = run_.begin;
  std::uint32_t high = run_.end;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const std::string_view here = entries_[middle].name;
    if (run_.is_text ? here < name : is_before_as_number(here, name)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < run_.end && entries_[low].name == name) return low;
  return std::nullopt;
}

std::optional<std::uint32_t> ZipDirectory::find(std::string_view name) const {
  if (const auto found = find_in_run(name)) return found;
  const auto name_at = [&](std::uint32_t i) { return ComparedName{entries_[i].name, compared_}; };
  const bool as_it_is = compared_ == ZipNames::exact || (classify(name) & upper_case) == 0;
  const auto found = as_it_is ? names_.find(name, name_at) : names_.find(to_lower(name), name_at);
  if (found && entries_[*found].name == name) return found;
  return std::nullopt;
}

std::size_t ZipDirectory::rank_before(std::uint64_t offset, std::size_t guess) const {
  const auto begins_by = [&](std::size_t rank) {
    return rank < entries_.size() && entries_[at_rank(rank)].header_offset <= offset;
  };
  if (begins_by(guess)) {
    if (!begins_by(guess + 1)) return guess;
    if (!begins_by(guess + 2)) return guess + 1;
  }
  std::size_t low = 0;
  std::size_t high = entries_.size();  // begins after `offset`, were it there
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (entries_[at_rank(middle)].header_offset <= offset ? low : high) = middle;
  }
  return low;
}

std::uint64_t ZipDirectory::end_of(std::uint32_t entry) const {
  const std::size_t rank =
      by_offset_ == nullptr ? entry : rank_before(entries_[entry].header_offset);
  if (rank + 1 == entries_.size()) return begin_;
  return entries_[at_rank(rank + 1)].header_offset;
}

Result<std::span<const std::byte>> zip64_field(std::span<const std::byte> extra) {
  constexpr std::size_t head = zip_field_head_bytes;
  std::optional<std::span<const std::byte>> field;
  // Fewer bytes than a head are padding of tools that align.
  while (extra.size() >= head) {
    const std::uint16_t id = load_u16(extra.data());
    const std::size_t size = load_u16(extra.data() + 2);
    if (extra.size() - head < size) {
      return Error{.code = ErrorCode::bad_archive, .message = "has an extra field that is cut off"};
    }
    if (id == zip64_field_id) {
      if (field) {
        return Error{.code = ErrorCode::bad_archive, .message = "has two ZIP64 fields"};
      }
      field = extra.subspan(head, size);
    }
    extra = extra.subspan(head + size);
  }
  return field.value_or(std::span<const std::byte>());
}

Error zip_entry_error(ErrorCode code, const ByteSource& source, std::string_view name,
                      std::string_view what) {
  return Error{.code = code,
               .message = "zip entry " + in_quotes(name) + " " + std::string(what),
               .file = source.name()};
}

}  // namespace andiron::inline v1::detail
