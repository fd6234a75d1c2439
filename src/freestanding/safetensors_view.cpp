// SPDX-License-Identifier: MIT OR Apache-2.0
// SafeTensors, all integers little-endian:
//
//   0      u64  N, bytes of the header that follows
//   8      N    header: a JSON object in UTF-8, white space around it allowed
//   8 + N       data: one contiguous row-major run a tensor, end to end, to the end of the file
//
//   header := { "__metadata__": { string: string, ... },
//               name: { "dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end] }, ... }
//
// Offsets count from 8 + N. A shape of [] is a scalar.
// Tested by tests/freestanding/safetensors_view_test.cpp
#include "andiron/safetensors_view.h"

#include <algorithm>

#include "src/core/little_endian.h"
#include "src/core/sort.h"
#include "src/freestanding/json_reader.h"
#include "src/freestanding/small_build.h"

namespace andiron::inline v1 {
namespace {

using detail::JsonReader;
using detail::JsonTextBytes;

constexpr std::size_t length_bytes = 8;

struct DTypeName {
  std::string_view name;
  DType dtype;
};
// In the order of the reference implementation, which sorts by it when writing.
constexpr DTypeName dtype_names[] = {
    {"BOOL", DType::boolean},
    {"F4", DType::f4e2m1},
    {"F6_E2M3", DType::f6e2m3},
    {"F6_E3M2", DType::f6e3m2},
    {"U8", DType::u8},
    {"I8", DType::i8},
    {"F8_E5M2", DType::f8e5m2},
    {"F8_E4M3", DType::f8e4m3fn},
    {"F8_E8M0", DType::f8e8m0},
    {"F8_E4M3FNUZ", DType::f8e4m3fnuz},
    {"F8_E5M2FNUZ", DType::f8e5m2fnuz},
    {"I16", DType::i16},
    {"U16", DType::u16},
    {"F16", DType::f16},
    {"BF16", DType::bf16},
    {"I32", DType::i32},
    {"U32", DType::u32},
    {"F32", DType::f32},
    {"C64", DType::c64},
    {"F64", DType::f64},
    {"I64", DType::i64},
    {"U64", DType::u64},
};

constexpr std::size_t longest_dtype_name = 11;

// As substr, for ranges known to be inside: substr may throw, which firmware cannot link.
std::string_view part(std::string_view text, std::size_t begin, std::size_t end) {
  return {text.data() + begin, end - begin};
}

// The fields of one tensor, in any order.
class EntryReader {
 public:
  EntryReader(JsonReader& reader, SafetensorsEntry& entry) : reader_(reader), entry_(entry) {}

  bool read() noexcept {
    if constexpr (!detail::is_small_build) {
      const char* start = reader_.mark();
      if (read_usual()) return check();
      reader_.rewind(start);
      entry_.rank = 0;
    }
    return read_any();
  }

 private:
  // An entry exactly as the reference implementation writes it.
  bool read_usual() noexcept {
    if (!reader_.take_text(R"({"dtype":")")) return false;
    entry_.dtype_name = {reader_.take_word(), false};
    if (!reader_.take_text(R"(","shape":[)")) return false;
    if (!reader_.take_text("]")) {
      do {
        if (entry_.rank == max_rank || !reader_.take_digits(entry_.shape[entry_.rank])) {
          return false;
        }
        ++entry_.rank;
      } while (reader_.take_text(","));
      if (!reader_.take_text("]")) return false;
    }
    entry_.dtype = safetensors_dtype(entry_.dtype_name.raw);
    return reader_.take_text(R"(,"data_offsets":[)") && reader_.take_digits(entry_.begin) &&
           reader_.take_text(",") && reader_.take_digits(entry_.end) && reader_.take_text("]}");
  }

  // An entry with its fields in any order, spaces, and fields that we do not know.
  bool read_any() noexcept {
    if (!reader_.expect('{', "a tensor must be described by an object")) return false;
    bool first = true;
    while (reader_.next_item('}', first)) {
      JsonText key;
      if (!reader_.key(key) || !field(key)) return false;
    }
    if (reader_.failed()) return false;
    if (!has_dtype_ || !has_shape_ || !has_offsets_) {
      return reader_.fail(ErrorCode::bad_header, "dtype, shape or data_offsets is missing");
    }
    return check();
  }

  bool field(const JsonText& key) noexcept {
    if (key.equals("dtype")) return once(has_dtype_) && dtype();
    if (key.equals("shape")) return once(has_shape_) && shape();
    if (key.equals("data_offsets")) return once(has_offsets_) && offsets();
    ++entry_.unknown_keys;
    return reader_.skip_value(2);
  }

  bool once(bool& seen) noexcept {
    if (seen) return reader_.fail(ErrorCode::duplicate_key, "duplicate field");
    return seen = true;
  }

  bool dtype() noexcept {
    if (!reader_.string(entry_.dtype_name)) return false;
    // Room for the longest name we know, were every letter of it escaped.
    char name[6 * longest_dtype_name];
    if (!entry_.dtype_name.has_escapes) {
      entry_.dtype = safetensors_dtype(entry_.dtype_name.raw);
    } else if (entry_.dtype_name.raw.size() <= sizeof name) {
      entry_.dtype = safetensors_dtype({name, entry_.dtype_name.decode(name)});
    } else {
      entry_.dtype = DType::raw;
    }
    return true;
  }

  bool shape() noexcept {
    if (!reader_.expect('[', "a shape must be a list")) return false;
    bool first = true;
    while (reader_.next_item(']', first)) {
      if (entry_.rank == max_rank) {
        return reader_.fail(ErrorCode::limit_exceeded, "the shape has too many dimensions");
      }
      if (!reader_.unsigned_integer(entry_.shape[entry_.rank++])) return false;
    }
    return !reader_.failed();
  }

  bool offsets() noexcept {
    return reader_.expect('[', "data_offsets must be a list of two numbers") &&
           reader_.unsigned_integer(entry_.begin) &&
           reader_.expect(',', "data_offsets must be a list of two numbers") &&
           reader_.unsigned_integer(entry_.end) &&
           reader_.expect(']', "data_offsets must be a list of two numbers");
  }

  bool check() noexcept {
    if (entry_.begin > entry_.end) {
      return reader_.fail(ErrorCode::bad_offsets, "the data ends before it begins");
    }
    if (entry_.dtype == DType::raw) return true;
    std::uint64_t bytes = 0;
    switch (byte_count(entry_.dtype, entry_.dims(), bytes)) {
      case SizeCheck::ok:
        break;
      case SizeCheck::overflow:
        return reader_.fail(ErrorCode::overflow, "the shape is too large to address");
      case SizeCheck::partial_byte:
        return reader_.fail(ErrorCode::misaligned, "the elements do not fill whole bytes");
    }
    if (bytes != entry_.end - entry_.begin) {
      return reader_.fail(ErrorCode::size_mismatch, "the data size does not match dtype and shape");
    }
    return true;
  }

  JsonReader& reader_;
  SafetensorsEntry& entry_;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
};

std::uint64_t hash_text(const JsonText& text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  JsonTextBytes bytes(text);
  for (char c; bytes.next(c);) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Bytewise order of decoded texts: below, at or above zero.
int compare(const JsonText& a, const JsonText& b) noexcept {
  JsonTextBytes a_bytes(a);
  JsonTextBytes b_bytes(b);
  for (;;) {
    char x = 0;
    char y = 0;
    const bool more_a = a_bytes.next(x);
    const bool more_b = b_bytes.next(y);
    if (!more_a || !more_b) return static_cast<int>(more_a) - static_cast<int>(more_b);
    if (x != y) return static_cast<unsigned char>(x) < static_cast<unsigned char>(y) ? -1 : 1;
  }
}

}  // namespace

DType safetensors_dtype(std::string_view name) noexcept {
  if (name == "F32") return DType::f32;
  if (name == "BF16") return DType::bf16;
  for (const DTypeName& known : dtype_names) {
    if (known.name == name) return known.dtype;
  }
  return DType::raw;
}

std::string_view safetensors_dtype_name(DType dtype) noexcept {
  for (const DTypeName& known : dtype_names) {
    if (known.dtype == dtype) return known.name;
  }
  return {};
}

int safetensors_dtype_rank(DType dtype) noexcept {
  int rank = 0;
  for (const DTypeName& known : dtype_names) {
    if (known.dtype == dtype) return rank;
    ++rank;
  }
  return -1;
}

SafetensorsHeader::Item SafetensorsHeader::next(SafetensorsEntry& entry) noexcept {
  if (!status_.ok()) return Item::error;
  if (place_ == Place::end) return Item::end;
  entry.name = {};
  const std::size_t start = at_;
  JsonReader reader(part(header_, start, header_.size()));
  const auto failed = [&] {
    status_ = {reader.code(), reader.what(), length_bytes + start + reader.offset()};
    return Item::error;
  };
  const auto done = [&](Item item) {
    at_ = start + reader.offset();
    return item;
  };
  if (place_ == Place::start) {
    if (!reader.expect('{', "the header is not a JSON object")) return failed();
    place_ = Place::tensors;
  }
  for (;;) {
    if (place_ == Place::metadata) {
      if (reader.next_item('}', first_metadata_)) {
        if (!reader.key(metadata_key_) || !reader.string(metadata_value_)) return failed();
        return done(Item::metadata);
      }
      if (reader.failed()) return failed();
      const std::size_t end = start + reader.offset();
      metadata_text_ = part(header_, metadata_begin_, end);
      place_ = Place::tensors;
    }
    if (!reader.next_item('}', first_)) {
      if (reader.failed()) return failed();
      if (!reader.at_end()) {
        reader.fail(ErrorCode::bad_header, "text after the end of the header");
        return failed();
      }
      place_ = Place::end;
      return done(Item::end);
    }
    reader.peek();
    entry.header_offset = length_bytes + start + reader.offset();
    JsonText name;
    if (!reader.key(name)) return failed();
    if (!name.equals("__metadata__")) {
      entry.name = name;
      entry.rank = 0;
      entry.unknown_keys = 0;
      return EntryReader(reader, entry).read() ? done(Item::tensor) : failed();
    }
    if (seen_metadata_) {
      reader.fail(ErrorCode::duplicate_key, "duplicate __metadata__");
      return failed();
    }
    seen_metadata_ = true;
    const char kind = reader.peek();
    metadata_begin_ = start + reader.offset();
    if (kind == 'n') {
      if (!reader.literal("null")) return failed();
      metadata_text_ = part(header_, metadata_begin_, metadata_begin_ + 4);
    } else {
      if (!reader.expect('{', "__metadata__ must be an object of strings")) return failed();
      place_ = Place::metadata;
    }
  }
}

CoverageIssue check_coverage(std::span<SafetensorsScratch> ranges, std::uint64_t data_bytes,
                             bool allow_gaps) noexcept {
  using Kind = CoverageIssue::Kind;
  const auto earlier = [](const SafetensorsScratch& a, const SafetensorsScratch& b) {
    return a.key != b.key ? a.key < b.key : a.end < b.end;
  };
  if (!std::is_sorted(ranges.begin(), ranges.end(), earlier)) {
    detail::sort(ranges.begin(), ranges.end(), earlier);
  }
  std::uint64_t covered = 0;
  for (const SafetensorsScratch& range : ranges) {
    if (range.key < covered) return {Kind::overlap, range.key, covered, range.tag};
    if (range.key > covered && !allow_gaps) {
      return {Kind::gap, range.key, covered, range.tag};
    }
    if (range.end > data_bytes) return {Kind::beyond_end, range.end, data_bytes, range.tag};
    covered = range.end;
  }
  if (covered != data_bytes && !allow_gaps) return {Kind::trailing, data_bytes, covered, 0};
  return {};
}

ViewStatus SafetensorsView::open(std::span<const std::byte> file, SafetensorsView& view) noexcept {
  view = SafetensorsView();
  if (file.size() < length_bytes) {
    return {ErrorCode::truncated, "the file is shorter than its length field", file.size()};
  }
  const std::uint64_t header_bytes = load_u64(file.data());
  if (header_bytes > Limits().header_bytes) {
    return {ErrorCode::header_too_large, "the header is larger than allowed", 0};
  }
  if (header_bytes > file.size() - length_bytes) {
    return {ErrorCode::truncated, "the header extends past the end of the file", 0};
  }
  SafetensorsView opened;
  opened.header_ = {reinterpret_cast<const char*>(file.data()) + length_bytes,
                    static_cast<std::size_t>(header_bytes)};
  opened.data_ = file.subspan(length_bytes + static_cast<std::size_t>(header_bytes));

  SafetensorsHeader header = opened.header();
  SafetensorsEntry entry;
  for (;;) {
    switch (header.next(entry)) {
      case SafetensorsHeader::Item::error:
        return header.status();
      case SafetensorsHeader::Item::metadata:
        break;
      case SafetensorsHeader::Item::end:
        view = opened;
        return {};
      case SafetensorsHeader::Item::tensor:
        if (entry.end > opened.data_.size()) {
          return {ErrorCode::truncated, "the data extends past the end of the file",
                  entry.header_offset};
        }
        ++opened.tensor_count_;
    }
  }
}

ViewStatus SafetensorsView::find(std::string_view name, SafetensorsEntry& entry) const noexcept {
  SafetensorsHeader scan = header();
  for (;;) {
    const SafetensorsHeader::Item item = scan.next(entry);
    if (item == SafetensorsHeader::Item::tensor && entry.name.equals(name)) return {};
    if (item == SafetensorsHeader::Item::error) return scan.status();
    if (item == SafetensorsHeader::Item::end) {
      return {ErrorCode::missing_tensor, "no such tensor", 0};
    }
  }
}

ViewStatus SafetensorsView::check_layout(std::span<SafetensorsScratch> scratch) const noexcept {
  if (scratch.size() < tensor_count_) {
    return {ErrorCode::invalid_argument, "the scratch has fewer items than there are tensors", 0};
  }
  const std::span<SafetensorsScratch> items = scratch.first(tensor_count_);
  const auto fill = [&](auto key) {
    SafetensorsHeader scan = header();
    SafetensorsEntry entry;
    // open() saw the header whole: it has as many tensors as there are items, and no error.
    for (std::size_t count = 0; count < items.size();) {
      if (scan.next(entry) == SafetensorsHeader::Item::tensor) {
        items[count++] = {key(entry), entry.end, entry.header_offset};
      }
    }
  };
  fill([](const SafetensorsEntry& entry) { return entry.begin; });
  const CoverageIssue issue = check_coverage(items, data_.size(), false);
  switch (issue.kind) {
    case CoverageIssue::Kind::none:
      break;
    case CoverageIssue::Kind::gap:
      return {ErrorCode::bad_offsets, "a gap before this tensor", issue.tag};
    case CoverageIssue::Kind::overlap:
      return {ErrorCode::bad_offsets, "this tensor overlaps another", issue.tag};
    case CoverageIssue::Kind::beyond_end:
      return {ErrorCode::truncated, "the data extends past the end of the file", issue.tag};
    case CoverageIssue::Kind::trailing:
      return {ErrorCode::size_mismatch, "bytes after the last tensor", issue.tag};
  }

  fill([](const SafetensorsEntry& entry) { return hash_text(entry.name); });
  const auto name_of = [&](const SafetensorsScratch& item) {
    JsonText name;
    const auto at = static_cast<std::size_t>(item.tag) - length_bytes;
    JsonReader(part(header_, at, header_.size())).string(name);
    return name;
  };
  detail::sort(items.begin(), items.end(), [&](const auto& a, const auto& b) {
    return a.key != b.key ? a.key < b.key : compare(name_of(a), name_of(b)) < 0;
  });
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (items[i - 1].key == items[i].key &&
        compare(name_of(items[i - 1]), name_of(items[i])) == 0) {
      return {ErrorCode::duplicate_key, "duplicate name", items[i].tag};
    }
  }
  return {};
}

}  // namespace andiron::inline v1
