// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack, all integers of the header little-endian:
//
//   0      4    magic "NRUB"
//   4      u16  version: 1
//   6      u32  M, bytes of the metadata that follows
//   10     M    metadata: one CBOR map; what follows it within M is ignored
//   D           data: one row-major run a tensor. D is the next multiple of 256, the gap is zeros,
//               and every tensor starts at a multiple of 256. In files of 0.19, D is 10 + M, and
//               tensors follow each other without gaps.
//
//   metadata   := { "tensors": { name: descriptor, ... },
//                   "metadata": { text: text, ... },                       (where not empty)
//                   "scalars": { name: { "Int" | "UInt" | "Float" | "Bool": value } } }  (likewise)
//   descriptor := { "dtype": dtype, "shape": [...], "data_offsets": [begin, end], "param_id": id }
//   dtype      := "F32" ... | "Bool" | { "Bool": "Native" } | { "QFloat": scheme }
//
// Offsets count from D; "param_id" may be absent. Schemes are in burnpack_scheme.cpp, how D is
// found in burnpack_layout.cpp. Tested by tests/freestanding/burnpack_view_test.cpp and
// burnpack_layout_test.cpp
#include "andiron/burnpack_view.h"

#include "src/freestanding/burnpack_scheme.h"
#include "src/freestanding/cbor_reader.h"
#include "src/freestanding/small_build.h"

namespace andiron::inline v1 {
namespace {

using detail::CborOpen;
using detail::CborReader;
using detail::is_small_build;
using Kind = CborReader::Kind;
using Generation = BurnpackGeneration;

struct DTypeName {
  std::string_view name;
  DType dtype;
};
constexpr DTypeName dtype_names[] = {
    {"F32", DType::f32},    {"F16", DType::f16}, {"BF16", DType::bf16}, {"F64", DType::f64},
    {"I64", DType::i64},    {"I32", DType::i32}, {"I16", DType::i16},   {"I8", DType::i8},
    {"U64", DType::u64},    {"U32", DType::u32}, {"U16", DType::u16},   {"U8", DType::u8},
    {"Flex32", DType::f32},
};

// Nesting around what is skipped: the top map, a map in it, a descriptor, its dtype.
constexpr unsigned top_depth = 1;
constexpr unsigned descriptor_depth = 3;
constexpr unsigned dtype_depth = 4;

// The fields of one tensor, in any order.
class EntryReader {
 public:
  EntryReader(CborReader& reader, BurnpackEntry& entry, bool allow_wrong_sizes)
      : reader_(reader), entry_(entry), allow_wrong_sizes_(allow_wrong_sizes) {}

  bool read() noexcept {
    if constexpr (!is_small_build) {
      const unsigned char* start = reader_.mark();
      if (read_usual()) return check();
      reader_.rewind(start);
    }
    return read_any();
  }

 private:
  void clear() noexcept {
    entry_.rank = 0;
    entry_.has_param_id = false;
    entry_.unknown_keys = 0;
    entry_.has_wrong_size = false;
    entry_.earliest = Generation::burn_0_19;
    entry_.latest = Generation::burn_0_22;
  }

  // An entry exactly as Burn writes it.
  bool read_usual() noexcept {
    clear();
    const bool has_id = reader_.take_bytes(
        "\xa4\x65"
        "dtype");
    if (!has_id && !reader_.take_bytes("\xa3\x65"
                                       "dtype"))
      return false;
    if (!usual_dtype() || !reader_.take_bytes("\x65shape") || !usual_shape() ||
        !reader_.take_bytes("\x6c"
                            "data_offsets\x82") ||
        !reader_.take_unsigned(entry_.begin) || !reader_.take_unsigned(entry_.end)) {
      return false;
    }
    if (!has_id) return true;
    entry_.has_param_id = true;
    return reader_.take_bytes("\x68param_id") && reader_.take_unsigned(entry_.param_id);
  }

  bool usual_dtype() noexcept {
    std::string_view name;
    if (!reader_.take_short_text(name)) return false;
    for (const DTypeName& known : dtype_names) {
      if (known.name != name) continue;
      entry_.dtype = known.dtype;
      entry_.dtype_name = known.name;
      return true;
    }
    return false;
  }

  bool usual_shape() noexcept {
    std::uint64_t rank = 0;
    if (!reader_.take_head(CborReader::list_major, rank) || rank > max_rank) return false;
    for (; entry_.rank < rank; ++entry_.rank) {
      if (!reader_.take_unsigned(entry_.shape[entry_.rank])) return false;
    }
    return true;
  }

  // An entry with its fields in any order, of any length, and fields that we do not know.
  bool read_any() noexcept {
    clear();
    CborOpen map;
    if (!reader_.open_map(map)) return false;
    while (reader_.next(map)) {
      std::string_view key;
      if (!reader_.word(key) || !field(key)) return false;
    }
    if (reader_.failed()) return false;
    if (!has_dtype_ || !has_shape_ || !has_offsets_) {
      return reader_.fail(ErrorCode::bad_header, "dtype, shape or data_offsets is missing");
    }
    return check();
  }

  bool field(std::string_view key) noexcept {
    if (key == "dtype") return once(has_dtype_) && dtype();
    if (key == "shape") return once(has_shape_) && shape();
    if (key == "data_offsets") return once(has_offsets_) && offsets();
    if (key == "param_id") return once(has_id_) && param_id();
    ++entry_.unknown_keys;
    return reader_.skip_value(descriptor_depth);
  }

  bool once(bool& seen) noexcept {
    if (seen) return reader_.fail(ErrorCode::duplicate_key, "duplicate field");
    return seen = true;
  }

  bool dtype() noexcept {
    if (reader_.peek() != Kind::map) {
      if (!reader_.word(entry_.dtype_name)) return false;
      entry_.dtype = burnpack_dtype(entry_.dtype_name);
      if (entry_.dtype_name == "Bool") {
        entry_.dtype = DType::boolean;
        entry_.latest = Generation::burn_0_20;
      }
      return true;
    }
    CborOpen map;
    if (!reader_.open_map(map)) return false;
    if (map.indefinite || map.left != 1) {
      return reader_.fail(ErrorCode::bad_header, "a dtype must be text or a map of one entry");
    }
    if (!reader_.word(entry_.dtype_name)) return false;
    if (burnpack_dtype(entry_.dtype_name) != DType::raw) {
      return reader_.fail(ErrorCode::bad_header, "a dtype has more than its name");
    }
    const unsigned char* content = reader_.mark();
    if (entry_.dtype_name == "Bool" && boolean()) return true;
    if (!is_small_build && entry_.dtype_name == "QFloat") {
      CborReader attempt = reader_;
      if (detail::read_burnpack_scheme(attempt, entry_)) {
        entry_.dtype = DType::qfloat;
        reader_ = attempt;
        return true;
      }
      entry_.earliest = Generation::burn_0_19;
      entry_.latest = Generation::burn_0_22;
    }
    reader_.rewind(content);
    entry_.dtype = DType::raw;
    return reader_.skip_value(dtype_depth);
  }

  // What follows "Bool". False for a kind that we do not know.
  bool boolean() noexcept {
    CborReader attempt = reader_;
    std::string_view store;
    if (!attempt.word(store)) return false;
    if (store == "Native") {
      entry_.dtype_name = "Bool(Native)";
    } else if (store == "U8") {
      entry_.dtype_name = "Bool(U8)";
    } else if (store == "U32") {
      entry_.dtype_name = "Bool(U32)";
    } else {
      return false;
    }
    entry_.dtype = store == "U32" ? DType::raw : DType::boolean;
    entry_.earliest = Generation::burn_0_21;
    reader_ = attempt;
    return true;
  }

  bool shape() noexcept {
    CborOpen list;
    if (!reader_.open_list(list)) return false;
    while (reader_.next(list)) {
      if (entry_.rank == max_rank) {
        return reader_.fail(ErrorCode::limit_exceeded, "the shape has too many dimensions");
      }
      if (!reader_.unsigned_integer(entry_.shape[entry_.rank++])) return false;
    }
    return !reader_.failed();
  }

  bool offsets() noexcept {
    CborOpen list;
    if (!reader_.open_list(list)) return false;
    std::uint64_t* const places[] = {&entry_.begin, &entry_.end};
    std::size_t count = 0;
    while (reader_.next(list)) {
      if (count == 2)
        return reader_.fail(ErrorCode::bad_header, "data_offsets must be two numbers");
      if (!reader_.unsigned_integer(*places[count++])) return false;
    }
    if (reader_.failed()) return false;
    return count == 2 || reader_.fail(ErrorCode::bad_header, "data_offsets must be two numbers");
  }

  bool param_id() noexcept {
    if (reader_.take_null()) return true;
    entry_.has_param_id = true;
    return reader_.unsigned_integer(entry_.param_id);
  }

  bool check() noexcept {
    if (entry_.begin > entry_.end) {
      return reader_.fail(ErrorCode::bad_offsets, "the data ends before it begins");
    }
    std::uint64_t bytes = 0;
    SizeCheck size = SizeCheck::ok;
    if (entry_.dtype_name == "Bool(U32)") {
      size = byte_count(DType::u32, entry_.dims(), bytes);
    } else if (is_opaque(entry_.dtype)) {
      return true;
    } else {
      size = byte_count(entry_.dtype, entry_.dims(), bytes);
    }
    if (size == SizeCheck::ok && bytes == entry_.end - entry_.begin) return true;
    if (allow_wrong_sizes_) {
      entry_.dtype = DType::raw;
      entry_.has_wrong_size = true;
      return true;
    }
    return size == SizeCheck::ok
               ? reader_.fail(ErrorCode::size_mismatch,
                              "the data size does not match dtype and shape")
               : reader_.fail(ErrorCode::overflow, "the shape is too large to address");
  }

  CborReader& reader_;
  BurnpackEntry& entry_;
  bool allow_wrong_sizes_;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  bool has_id_ = false;
};

bool read_scalar(CborReader& reader, BurnpackScalar& out) noexcept {
  using ScalarKind = BurnpackScalar::Kind;
  CborOpen map;
  if (!reader.open_map(map)) return false;
  std::string_view kind;
  if (map.indefinite || map.left != 1) {
    return reader.fail(ErrorCode::bad_header, "a scalar must be a map of one entry");
  }
  if (!reader.word(kind)) return false;
  out = {};
  if (kind == "Int") {
    out.kind = ScalarKind::integer;
    return reader.integer(out.integer);
  }
  if (kind == "UInt") {
    out.kind = ScalarKind::unsigned_integer;
    return reader.unsigned_integer(out.unsigned_integer);
  }
  if (kind == "Float") {
    out.kind = ScalarKind::floating;
    return reader.floating(out.floating);
  }
  if (kind == "Bool") {
    out.kind = ScalarKind::boolean;
    return reader.boolean(out.boolean);
  }
  return reader.fail(ErrorCode::bad_header, "a scalar must be Int, UInt, Float or Bool");
}

}  // namespace

DType burnpack_dtype(std::string_view name) noexcept {
  for (const DTypeName& known : dtype_names) {
    if (known.name == name) return known.dtype;
  }
  return DType::raw;
}

std::string_view burnpack_dtype_name(DType dtype) noexcept {
  for (const DTypeName& known : dtype_names) {
    if (known.dtype == dtype) return known.name;
  }
  return {};
}

ViewStatus read_burnpack_header(std::span<const std::byte> head,
                                std::uint64_t& metadata_bytes) noexcept {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(head[i]); };
  if (head.size() < burnpack_header_bytes) {
    return {ErrorCode::truncated, "the file is shorter than a Burnpack header", head.size()};
  }
  if (byte(0) != 'N' || byte(1) != 'R' || byte(2) != 'U' || byte(3) != 'B') {
    return {ErrorCode::not_a_weight_file, "the magic number is not Burnpack's", 0};
  }
  if ((byte(4) | byte(5) << 8) > 1) {
    return {ErrorCode::unsupported, "this version of Burnpack is too new", 4};
  }
  metadata_bytes = byte(6) | byte(7) << 8 | byte(8) << 16 | byte(9) << 24;
  return {};
}

BurnpackHeader::Item BurnpackHeader::next(BurnpackEntry& entry) noexcept {
  if (!status_.ok()) return Item::error;
  if (place_ == Place::end) return Item::end;
  entry.name = {};
  const std::size_t start = at_;
  CborReader reader(cbor_.subspan(start));
  const auto failed = [&] {
    status_ = {reader.code(), reader.what(), burnpack_header_bytes + start + reader.offset()};
    return Item::error;
  };
  const auto done = [&](Item item) {
    at_ = start + reader.offset();
    return item;
  };
  if (place_ == Place::start) {
    CborOpen map;
    if (!reader.open_map(map)) return failed();
    top_ = {map.left, map.indefinite};
    place_ = Place::top;
  }
  for (;;) {
    if (place_ != Place::top) {
      CborOpen open{inner_.left, inner_.indefinite};
      const bool more = reader.next(open);
      inner_ = {open.left, open.indefinite};
      if (more && place_ == Place::tensors) {
        entry.header_offset = burnpack_header_bytes + start + reader.offset();
        CborText name;
        if (!reader.text(name)) return failed();
        entry.name = name;
        return EntryReader(reader, entry, allow_wrong_sizes_).read() ? done(Item::tensor)
                                                                     : failed();
      }
      if (more && place_ == Place::metadata) {
        return reader.text(key_) && reader.text(value_) ? done(Item::metadata) : failed();
      }
      if (more && !is_small_build) {
        return reader.text(key_) && read_scalar(reader, scalar_) ? done(Item::scalar) : failed();
      }
      if (reader.failed()) return failed();
      place_ = Place::top;
    }
    CborOpen open{top_.left, top_.indefinite};
    const bool more = reader.next(open);
    top_ = {open.left, open.indefinite};
    if (!more) {
      if (!reader.failed() && !seen_[0]) {
        reader.fail(ErrorCode::bad_header, "the metadata has no list of tensors");
      }
      if (reader.failed()) return failed();
      place_ = Place::end;
      return done(Item::end);
    }
    std::string_view key;
    if (!reader.word(key)) return failed();
    constexpr std::string_view known[] = {"tensors", "metadata", "scalars"};
    constexpr Place places[] = {Place::tensors, Place::metadata, Place::scalars};
    bool is_known = false;
    for (std::size_t i = 0; i < (is_small_build ? 2 : 3); ++i) {
      if (key != known[i]) continue;
      if (seen_[i]) {
        reader.fail(ErrorCode::duplicate_key, "duplicate key in the metadata");
        return failed();
      }
      CborOpen map;
      if (!reader.open_map(map)) return failed();
      seen_[i] = is_known = true;
      place_ = places[i];
      inner_ = {map.left, map.indefinite};
      if (i == 0) announced_tensors_ = map.left;
    }
    if (is_known) continue;
    ++unknown_keys_;
    if (!reader.skip_value(top_depth)) return failed();
  }
}

ViewStatus BurnpackView::open(std::span<const std::byte> file, BurnpackView& view) noexcept {
  view = BurnpackView();
  std::uint64_t metadata_bytes = 0;
  if (const ViewStatus status = read_burnpack_header(file, metadata_bytes); !status.ok()) {
    return status;
  }
  if (metadata_bytes > Limits().burnpack_metadata_bytes) {
    return {ErrorCode::header_too_large, "the metadata is larger than allowed", 6};
  }
  if (metadata_bytes > file.size() - burnpack_header_bytes) {
    return {ErrorCode::truncated, "the metadata extends past the end of the file", 6};
  }
  BurnpackView opened;
  opened.file_ = file;
  opened.cbor_ = file.subspan(burnpack_header_bytes, static_cast<std::size_t>(metadata_bytes));

  BurnpackHeader header = opened.header();
  BurnpackSurvey survey;
  BurnpackEntry entry;
  for (;;) {
    switch (header.next(entry)) {
      case BurnpackHeader::Item::error:
        return header.status();
      case BurnpackHeader::Item::tensor:
        survey.add(entry);
        ++opened.tensor_count_;
        break;
      case BurnpackHeader::Item::metadata:
        survey.add_metadata(header.key(), header.value());
        break;
      case BurnpackHeader::Item::scalar:
        survey.add_scalar();
        break;
      case BurnpackHeader::Item::end: {
        const std::size_t end = burnpack_header_bytes + opened.cbor_.size();
        const std::size_t next = static_cast<std::size_t>(burnpack_aligned(end));
        const std::span<const std::byte> rest = file.subspan(end);
        opened.layout_ =
            survey.layout(metadata_bytes, file.size(),
                          rest.first(rest.size() < next - end ? rest.size() : next - end));
        const std::uint64_t begin = opened.layout_.data_begin;
        if (opened.layout_.data_bytes != 0 &&
            (begin > file.size() || opened.layout_.data_bytes > file.size() - begin)) {
          return {ErrorCode::truncated, "the data extends past the end of the file", file.size()};
        }
        view = opened;
        return {};
      }
    }
  }
}

ViewStatus BurnpackView::find(std::string_view name, BurnpackEntry& entry) const noexcept {
  BurnpackHeader scan = header();
  BurnpackEntry candidate;
  bool found = false;
  for (;;) {
    const BurnpackHeader::Item item = scan.next(candidate);
    if (item == BurnpackHeader::Item::tensor && candidate.name.equals(name)) {
      entry = candidate;
      found = true;
    }
    if (item == BurnpackHeader::Item::error) return scan.status();
    if (item == BurnpackHeader::Item::end) break;
  }
  if (found) return {};
  return {ErrorCode::missing_tensor, "no such tensor", 0};
}

}  // namespace andiron::inline v1
