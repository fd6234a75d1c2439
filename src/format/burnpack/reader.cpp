// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack to Archive: the parser of src/freestanding over the metadata, plus what needs a heap:
// names in a hash table, errors with names and numbers. The byte layout is in
// src/freestanding/burnpack_view.cpp. Tested by tests/format/burnpack_reader_test.cpp and
// burnpack_hostile_test.cpp
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "andiron/burnpack_view.h"
#include "andiron/tensor.h"
#include "src/core/archive_builder.h"
#include "src/core/check_limit.h"
#include "src/core/memory_budget.h"
#include "src/core/sort.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/burnpack/burnpack.h"
#include "src/format/burnpack/head.h"
#include "src/format/header_diagnostics.h"

namespace andiron::inline v1::detail {
namespace {

// What an entry of metadata, or a scalar, takes beside its text.
constexpr std::uint64_t metadata_entry_bytes = 128;

// The shortest entry: a one-letter name, "U8", no dimension, small offsets, no id. Tables are not
// made larger than entries of this size could fill.
constexpr std::size_t shortest_entry_bytes = 35;

Value value_of(const BurnpackScalar& scalar) {
  switch (scalar.kind) {
    case BurnpackScalar::Kind::integer:
      return Value(scalar.integer);
    case BurnpackScalar::Kind::unsigned_integer:
      return Value(scalar.unsigned_integer);
    case BurnpackScalar::Kind::floating:
      return Value(scalar.floating);
    case BurnpackScalar::Kind::boolean:
      return Value(scalar.boolean);
  }
  return Value();
}

class BurnpackReader {
 public:
  explicit BurnpackReader(const ReadContext& context)
      : source_(context.source),
        options_(context.options),
        budget_(*context.budget),
        builder_(source_->name(), std::string(format_name(Format::burnpack)), "single") {}

  Result<Archive> read() {
    ANDIRON_ASSIGN(head_, read_head_bytes(*source_, options_.limits));
    data_begin_ = burnpack_aligned(burnpack_header_bytes + head_.metadata_bytes);
    ANDIRON_TRY(read_entries());
    ANDIRON_TRY(budget_.charge_entries(builder_.size(), head_.metadata().size()));
    ANDIRON_TRY(check_names());
    ANDIRON_TRY(find_data());
    if (survey_.overlaps() || options_.strictness == Strictness::strict) {
      ANDIRON_TRY(check_overlaps());
    }
    find_aliases();
    add_notes();
    return builder_.finish();
  }

 private:
  Error error(ErrorCode code, std::string message) const {
    return Error{.code = code, .message = std::move(message), .file = source_->name()};
  }

  std::string_view kept(const CborText& text) {
    return text.is_chunked ? builder_.store(decode_text(text)) : text.raw;
  }

  Status read_entries() {
    builder_.keep(head_.bytes);
    file_ = builder_.add_file(source_);
    BurnpackHeader header(head_.metadata());
    if (options_.strictness == Strictness::lenient) header.allow_wrong_sizes();
    BurnpackEntry entry;
    for (;;) {
      switch (header.next(entry)) {
        case BurnpackHeader::Item::tensor:
          if (builder_.size() == 0) ANDIRON_TRY(reserve(header.announced_tensors()));
          ANDIRON_TRY(add(entry));
          break;
        case BurnpackHeader::Item::metadata:
          ANDIRON_TRY(add_metadata(header.key(), header.value()));
          break;
        case BurnpackHeader::Item::scalar:
          ANDIRON_TRY(add_scalar(header.key(), header.scalar()));
          break;
        case BurnpackHeader::Item::end:
          finish_scalars();
          unknown_parts_ = header.unknown_keys();
          trailing_metadata_ = header.trailing_bytes();
          return {};
        case BurnpackHeader::Item::error:
          return header_error(
              header.status(), source_->name(),
              // The elements of Bool(U32), which is raw to us, have the size of these.
              {decode_text(entry.name), entry.dtype_name == "Bool(U32)" ? DType::u32 : entry.dtype,
               entry.dims(), entry.begin, entry.end});
      }
    }
  }

  Status reserve(std::uint64_t announced) {
    const std::size_t most = head_.bytes.size() / shortest_entry_bytes + 1;
    const auto tensors =
        static_cast<std::size_t>(std::min<std::uint64_t>(announced == 0 ? most : announced, most));
    return builder_.reserve(tensors, 2 * tensors);
  }

  Status add(const BurnpackEntry& entry) {
    const std::string& file = builder_.state().origin;
    ANDIRON_TRY(check_limit(builder_.size() + 1, options_.limits.tensors, [&] {
      return LimitCheck{"too many tensors", &Limits::tensors, "", file};
    }));
    ANDIRON_TRY(check_name_length(entry.name.raw, options_.limits, file));
    const bool is_unknown = entry.dtype == DType::raw && entry.dtype_name != "Bool(U32)";
    if (is_unknown && options_.strictness == Strictness::strict) {
      Error result = error(ErrorCode::unsupported_dtype, "unknown dtype");
      result.tensor = decode_text(entry.name);
      result.found = std::string(entry.dtype_name);
      result.hint = "only " + Message(Advice::strict) + " refuses it";
      return result;
    }
    const bool has_odd_payload = entry.dtype == DType::qfloat && !fits_scheme(entry);
    if (has_odd_payload && options_.strictness == Strictness::strict) {
      Error result =
          error(ErrorCode::size_mismatch, "the data size does not match scheme and shape");
      result.tensor = decode_text(entry.name);
      result.found = std::to_string(entry.end - entry.begin) + " bytes";
      result.hint = "only " + Message(Advice::strict) + " refuses it";
      return result;
    }
    const std::string_view name = kept(entry.name);
    if (has_odd_payload) odd_payloads_.add(name);
    const std::string_view dtype_name = entry.dtype == DType::qfloat
                                            ? builder_.store(quant_scheme_text(entry.scheme))
                                            : entry.dtype_name;
    // Most files have the aligned layout; find_data() mends the offsets of others.
    ANDIRON_TRY(
        builder_.add({name, entry.dtype, dtype_name, entry.dims(), file_, data_begin_ + entry.begin,
                      entry.end - entry.begin,
                      entry.has_param_id ? std::optional(ParamId{entry.param_id}) : std::nullopt}));
    survey_.add(entry);
    if (entry.has_wrong_size) {
      wrong_sizes_.add(name);
    } else if (is_unknown) {
      unknown_dtypes_.add(name);
    }
    if (entry.unknown_keys != 0) unknown_keys_.add(name);
    return {};
  }

  static bool fits_scheme(const BurnpackEntry& entry) {
    std::uint64_t bytes = 0;
    return quantized_byte_count(entry.scheme, entry.dims(), bytes) &&
           bytes == entry.end - entry.begin;
  }

  Status count_text(std::size_t bytes) {
    text_bytes_ += bytes + metadata_entry_bytes;
    return check_limit(text_bytes_, options_.limits.metadata_bytes,
                       {"too much metadata", &Limits::metadata_bytes, "bytes", source_->name()});
  }

  Status add_metadata(const CborText& key, const CborText& value) {
    ANDIRON_TRY(count_text(key.raw.size() + value.raw.size()));
    survey_.add_metadata(key, value);
    Metadata& metadata = builder_.state().metadata;
    const auto [at, added] = metadata.insert_or_assign(decode_text(key), decode_text(value));
    if (!added) repeated_keys_.add(at->first);
    return {};
  }

  Status add_scalar(const CborText& key, const BurnpackScalar& scalar) {
    ANDIRON_TRY(count_text(key.raw.size()));
    // Beside the value, an entry in the table of places.
    ANDIRON_TRY(budget_.charge_values(2, 0));
    survey_.add_scalar();
    const auto [at, added] = scalar_places_.try_emplace(decode_text(key), scalars_.size());
    if (added) {
      scalars_.emplace_back(at->first, value_of(scalar));
    } else {
      scalars_[at->second].second = value_of(scalar);
      repeated_keys_.add(at->first);
    }
    return {};
  }

  void finish_scalars() {
    if (!scalars_.empty()) builder_.state().value = Value(std::move(scalars_));
  }

  // Of a name given twice, the last one counts, as in Burn; its releases up to 0.21 write such
  // files.
  Status check_names() {
    ANDIRON_ASSIGN(const std::optional<std::uint32_t> twice, builder_.index_names());
    if (!twice) return {};
    if (options_.strictness == Strictness::strict) {
      Error result = error(ErrorCode::duplicate_key, "duplicate name");
      result.tensor = builder_.state().name_at(*twice);
      result.hint = "only " + Message(Advice::strict) + " refuses it";
      return result;
    }
    return drop_earlier_namesakes();
  }

  Status drop_earlier_namesakes() {
    Archive all = builder_.finish();
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!last.insert_or_assign(all.info(i).name, i).second) repeated_names_.add(all.info(i).name);
    }
    builder_ =
        ArchiveBuilder(source_->name(), std::string(format_name(Format::burnpack)), "single");
    builder_.keep_names_of(all);
    file_ = builder_.add_file(source_);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (last.at(all.info(i).name) == i) ANDIRON_TRY(builder_.add_from(all, i, file_));
    }
    builder_.state().metadata = all.metadata();
    ANDIRON_ASSIGN(builder_.state().value, all.value());
    ANDIRON_TRY(builder_.index_names());
    return {};
  }

  Status find_data() {
    layout_ = survey_.layout(head_.metadata_bytes, source_->size(), head_.after_metadata());
    if (layout_.data_begin != data_begin_) {
      builder_.move_runs(layout_.data_begin - data_begin_);
      data_begin_ = layout_.data_begin;
    }
    const std::uint64_t size = source_->size();
    if (layout_.data_bytes == 0) return {};
    if (data_begin_ <= size && layout_.data_bytes <= size - data_begin_) return {};
    const std::uint64_t there = size - std::min(size, data_begin_);
    for (std::uint32_t i = 0; i < builder_.size(); ++i) {
      const ArchiveEntry& entry = builder_.state().entries[i];
      const std::uint64_t end = entry.offset - data_begin_ + entry.byte_size;
      if (end != layout_.data_bytes) continue;
      Error result = error(ErrorCode::truncated, "the data extends past the end of the file");
      result.tensor = entry.name();
      result.found = "the data section has " + std::to_string(there) + " bytes";
      result.expected = "at least " + std::to_string(end);
      result.hint = "the download or the save may be incomplete";
      return result;
    }
    return error(ErrorCode::truncated, "the data extends past the end of the file");
  }

  // Burn knows no ties: its metadata is free text.
  void find_aliases() {
    const Metadata& metadata = builder_.state().metadata;
    const auto producer = metadata.find("producer");
    if (producer == metadata.end() || producer->second != "andiron") return;
    builder_.take_aliases_from_metadata();
  }

  Status check_overlaps() {
    struct Run {
      std::uint64_t begin;
      std::uint64_t end;
      std::uint32_t index;
    };
    std::vector<Run> runs;
    for (std::uint32_t i = 0; i < builder_.size(); ++i) {
      const ArchiveEntry& entry = builder_.state().entries[i];
      ANDIRON_TRY(budget_.charge_data(entry.byte_size, entry.name()));
      if (entry.byte_size != 0) runs.push_back({entry.offset, entry.offset + entry.byte_size, i});
    }
    detail::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.index < b.index;
    });
    for (std::size_t i = 1; i < runs.size(); ++i) {
      if (runs[i].begin >= runs[i - 1].end) continue;
      const std::string_view name = builder_.state().name_at(runs[i].index);
      const std::string other(builder_.state().name_at(runs[i - 1].index));
      if (options_.strictness == Strictness::strict) {
        Error result = error(ErrorCode::bad_offsets, "the data overlaps another tensor's");
        result.tensor = name;
        result.found = "bytes of " + in_quotes(other);
        result.hint = "only " + Message(Advice::strict) + " refuses it";
        return result;
      }
      overlaps_.add(name);
    }
    return {};
  }

  void add_notes() {
    std::vector<Message>& notes = builder_.state().notes;
    unknown_dtypes_.note(notes, "tensor", "unknown dtype, kept as raw bytes");
    wrong_sizes_.note(notes, "tensor",
                      "the data size does not match dtype and shape; kept as raw bytes");
    odd_payloads_.note(notes, "tensor", "the data size does not match scheme and shape");
    unknown_keys_.note(notes, "tensor", "unknown keys in the description were ignored");
    repeated_names_.note(notes, "tensor", "duplicate name; the last one is used");
    overlaps_.note(notes, "tensor", "the data overlaps another tensor's");
    repeated_keys_.note(notes, "metadata", "given twice; the last one is used");
    if (options_.verify) notes.emplace_back(no_checksums);
    if (unknown_parts_ != 0) {
      notes.push_back(std::to_string(unknown_parts_) +
                      " unknown parts of the metadata were ignored");
    }
    if (trailing_metadata_ != 0) {
      notes.push_back(std::to_string(trailing_metadata_) +
                      " bytes after the metadata were ignored");
    }
    const std::uint64_t end = data_begin_ + layout_.data_bytes;
    if (source_->size() > end) {
      notes.push_back(std::to_string(source_->size() - end) +
                      " bytes after the last tensor were ignored");
    }
  }

  const ByteSourcePtr& source_;
  const OpenOptions& options_;
  MemoryBudget& budget_;
  ArchiveBuilder builder_;
  BurnpackHeadBytes head_;
  BurnpackSurvey survey_;
  BurnpackLayout layout_;
  std::uint64_t data_begin_ = 0;
  std::uint32_t file_ = 0;
  std::uint64_t text_bytes_ = 0;
  ValueDict scalars_;
  std::unordered_map<std::string, std::size_t> scalar_places_;
  unsigned unknown_parts_ = 0;
  std::size_t trailing_metadata_ = 0;
  Oddity unknown_dtypes_;
  Oddity wrong_sizes_;
  Oddity odd_payloads_;
  Oddity unknown_keys_;
  Oddity repeated_names_;
  Oddity repeated_keys_;
  Oddity overlaps_;
};

}  // namespace

bool is_burnpack(const FileHead& head) { return head.bytes.starts_with("NRUB"); }

Result<Archive> read_burnpack(const ReadContext& context) { return BurnpackReader(context).read(); }

}  // namespace andiron::inline v1::detail
