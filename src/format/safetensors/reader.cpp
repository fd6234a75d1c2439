// SPDX-License-Identifier: MIT OR Apache-2.0
// SafeTensors to Archive: the parser of src/freestanding over the header, plus what needs a heap:
// names in a hash table, ranges compared with each other, errors with names and numbers. The byte
// layout is in src/freestanding/safetensors_view.cpp. Tested by
// tests/format/safetensors_reader_test.cpp
#include <vector>

#include "andiron/safetensors_view.h"
#include "src/codec/decode_text.h"
#include "src/core/archive_builder.h"
#include "src/core/check_limit.h"
#include "src/core/little_endian.h"
#include "src/core/memory_budget.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/header_diagnostics.h"
#include "src/format/safetensors/header.h"
#include "src/format/safetensors/param_ids.h"
#include "src/format/safetensors/safetensors.h"

namespace andiron::inline v1::detail {
namespace {

// What an entry of metadata takes beside its text.
constexpr std::uint64_t metadata_entry_bytes = 128;

// A usual entry: name, "dtype":"BF16", two dimensions, two large offsets. Tables are sized by it
// and grow when entries are shorter.
constexpr std::size_t usual_entry_bytes = 96;

class SafetensorsReader {
 public:
  explicit SafetensorsReader(const ReadContext& context)
      : source_(context.source),
        options_(context.options),
        budget_(*context.budget),
        builder_(source_->name(), std::string(format_name(Format::safetensors)), "single") {}

  Result<Archive> read() {
    ANDIRON_ASSIGN(header_, read_safetensors_header(*source_, options_.limits));
    data_begin_ = safetensors_length_bytes + header_.size();
    data_bytes_ = source_->size() - data_begin_;
    std::string_view text = header_.text();
    if (options_.strictness == Strictness::lenient) strip_nul_padding(text);
    ANDIRON_TRY(read_entries(text));
    ANDIRON_TRY(budget_.charge_entries(builder_.size(), text.size()));
    ANDIRON_TRY(check_names());
    ANDIRON_TRY(check_ranges());
    take_param_ids(builder_);
    builder_.take_aliases_from_metadata();
    std::vector<Message>& notes = builder_.state().notes;
    unknown_dtypes_.note(notes, "tensor", "unknown dtype, kept as raw bytes");
    unknown_keys_.note(notes, "tensor", "unknown keys in the description were ignored");
    nul_names_.note(notes, "tensor", "a NUL byte in the name");
    nul_metadata_.note(notes, "metadata", "a NUL byte");
    repeated_keys_.note(notes, "metadata", "given twice; the last one is used");
    if (options_.verify) notes.emplace_back(no_checksums);
    return builder_.finish();
  }

 private:
  Error error(ErrorCode code, std::string message) const {
    return Error{.code = code, .message = std::move(message), .file = source_->name()};
  }

  std::string_view kept(const JsonText& text) {
    return text.has_escapes ? builder_.store(decode_text(text)) : text.raw;
  }

  void strip_nul_padding(std::string_view& text) {
    const std::size_t last = text.find_last_not_of('\0');
    const std::size_t padding = text.size() - (last == std::string_view::npos ? 0 : last + 1);
    if (padding == 0) return;
    text.remove_suffix(padding);
    builder_.state().notes.push_back(std::to_string(padding) + " NUL bytes after the header");
  }

  Status read_entries(std::string_view text) {
    const std::size_t tensors = text.size() / usual_entry_bytes + 1;
    ANDIRON_TRY(builder_.reserve(tensors, 2 * tensors));
    builder_.keep(header_);
    file_ = builder_.add_file(source_);
    SafetensorsHeader header(text);
    SafetensorsEntry entry;
    for (;;) {
      switch (header.next(entry)) {
        case SafetensorsHeader::Item::tensor:
          ANDIRON_TRY(add(entry));
          break;
        case SafetensorsHeader::Item::metadata:
          ANDIRON_TRY(add_metadata(header.metadata_key(), header.metadata_value()));
          break;
        case SafetensorsHeader::Item::end:
          return {};
        case SafetensorsHeader::Item::error:
          return failed_at(header.status(), entry);
      }
    }
  }

  Error failed_at(const ViewStatus& status, const SafetensorsEntry& entry) const {
    Error result =
        header_error(status, source_->name(),
                     {decode_text(entry.name), entry.dtype, entry.dims(), entry.begin, entry.end});
    if (status.code != ErrorCode::bad_header) return result;
    const std::string_view text = header_.text();
    if (text.ends_with('\0')) {
      result.hint =
          "the header is padded with NUL bytes; " + Message(Advice::lenient) + " ignores them";
    } else if (text.starts_with("\xef\xbb\xbf")) {
      result.hint = "the header begins with a byte order mark";
    }
    return result;
  }

  Status add(const SafetensorsEntry& entry) {
    const std::string& file = builder_.state().origin;
    ANDIRON_TRY(check_limit(builder_.size() + 1, options_.limits.tensors, [&] {
      return LimitCheck{"too many tensors", &Limits::tensors, "", file};
    }));
    ANDIRON_TRY(check_name_length(entry.name.raw, options_.limits, file));
    if (entry.dtype == DType::raw && options_.strictness == Strictness::strict) {
      Error result = error(ErrorCode::unsupported_dtype, "unknown dtype");
      result.tensor = decode_text(entry.name);
      result.found = std::string(entry.dtype_name.raw);
      result.hint = "only " + Message(Advice::strict) + " refuses it";
      return result;
    }
    if (entry.end > data_bytes_) return beyond_end(entry);
    const std::string_view name = kept(entry.name);
    ANDIRON_TRY(builder_.add({name, entry.dtype, kept(entry.dtype_name), entry.dims(), file_,
                              data_begin_ + entry.begin, entry.end - entry.begin}));
    in_order_ = in_order_ && entry.begin == covered_;
    covered_ = entry.end;
    if (entry.dtype == DType::raw) unknown_dtypes_.add(name);
    if (entry.unknown_keys != 0) unknown_keys_.add(name);
    if (entry.name.has_escapes && name.find('\0') != std::string_view::npos) nul_names_.add(name);
    return {};
  }

  Status check_names() {
    ANDIRON_ASSIGN(const std::optional<std::uint32_t> twice, builder_.index_names());
    if (!twice) return {};
    Error result = error(ErrorCode::duplicate_key, "duplicate name");
    result.tensor = builder_.state().name_at(*twice);
    return result;
  }

  Error beyond_end(const SafetensorsEntry& entry) const {
    Error result = error(ErrorCode::truncated, "the data extends past the end of the file");
    result.tensor = decode_text(entry.name);
    result.found = "the data section has " + std::to_string(data_bytes_) + " bytes";
    result.expected = "at least " + std::to_string(entry.end);
    result.hint = "the download may be incomplete";
    return result;
  }

  Status add_metadata(const JsonText& key, const JsonText& value) {
    metadata_bytes_ += key.raw.size() + value.raw.size() + metadata_entry_bytes;
    ANDIRON_TRY(
        check_limit(metadata_bytes_, options_.limits.metadata_bytes,
                    {"too much metadata", &Limits::metadata_bytes, "bytes", source_->name()}));
    Metadata& metadata = builder_.state().metadata;
    const auto [at, added] = metadata.insert_or_assign(decode_text(key), decode_text(value));
    const bool has_escapes = key.has_escapes || value.has_escapes;
    if (has_escapes && (at->first + at->second).find('\0') != std::string::npos) {
      nul_metadata_.add(at->first);
    }
    if (added) return {};
    if (options_.strictness != Strictness::lenient) {
      Error result = error(ErrorCode::duplicate_key, "duplicate metadata key");
      result.found = in_quotes(at->first);
      result.hint = Advice::lenient + Message(" uses the last one");
      return result;
    }
    repeated_keys_.add(at->first);
    return {};
  }

  Status check_ranges() {
    if (in_order_ && covered_ == data_bytes_) return {};
    std::vector<SafetensorsScratch> ranges;
    ranges.reserve(builder_.size());
    for (std::size_t i = 0; i < builder_.size(); ++i) {
      const ArchiveEntry& entry = builder_.state().entries[i];
      const std::uint64_t begin = entry.offset - data_begin_;
      ranges.push_back({begin, begin + entry.byte_size, i});
    }
    const bool lenient = options_.strictness == Strictness::lenient;
    CoverageIssue issue = check_coverage(ranges, data_bytes_, lenient);
    if (issue.kind != CoverageIssue::Kind::none) return coverage_error(issue);
    if (lenient) {
      issue = check_coverage(ranges, data_bytes_, false);
      if (issue.kind != CoverageIssue::Kind::none) {
        Error tolerated = coverage_error(issue);
        tolerated.hint = "ignored";
        builder_.state().notes.push_back(sentence_of(tolerated));
      }
    }
    return {};
  }

  Error coverage_error(const CoverageIssue& issue) const {
    using Kind = CoverageIssue::Kind;
    if (issue.kind == Kind::trailing) {
      Error result = error(ErrorCode::size_mismatch, "bytes after the last tensor");
      result.found = std::to_string(issue.found) + " bytes of data";
      result.expected = std::to_string(issue.expected);
      result.hint = Advice::lenient + Message(" ignores them");
      return result;
    }
    Error result = error(ErrorCode::bad_offsets, issue.kind == Kind::gap
                                                     ? "a gap before the data"
                                                     : "the data overlaps another tensor's");
    result.tensor = builder_.state().name_at(static_cast<std::uint32_t>(issue.tag));
    result.found = "it begins at " + std::to_string(issue.found);
    result.expected = std::to_string(issue.expected) + ", where the tensor before it ends";
    if (issue.kind == Kind::gap) result.hint = Advice::lenient + Message(" ignores gaps");
    return result;
  }

  const ByteSourcePtr& source_;
  const OpenOptions& options_;
  MemoryBudget& budget_;
  ArchiveBuilder builder_;
  Bytes header_;
  std::uint64_t data_begin_ = 0;
  std::uint64_t data_bytes_ = 0;
  std::uint32_t file_ = 0;
  std::uint64_t metadata_bytes_ = 0;
  std::uint64_t covered_ = 0;
  bool in_order_ = true;  // so far every tensor began where the one before it ended
  Oddity unknown_dtypes_;
  Oddity unknown_keys_;
  Oddity nul_names_;
  Oddity nul_metadata_;
  Oddity repeated_keys_;
};

}  // namespace

// A length that fits a header, then JSON. A file that is cut short, or lies about its length, but
// goes on like a header is SafeTensors too, so that the reader can say what is wrong with it.
bool is_safetensors(const FileHead& head) {
  if (head.bytes.size() <= safetensors_length_bytes) return false;
  const std::uint64_t length = load_u64(reinterpret_cast<const std::byte*>(head.bytes.data()));
  const std::string_view header = head.bytes.substr(safetensors_length_bytes);
  const std::size_t start = header.find_first_not_of(" \n\r\t");
  if (length <= Limits().header_bytes && length <= head.source.size() - safetensors_length_bytes) {
    return start == std::string_view::npos || header[start] == '{';
  }
  return head.bytes.front() != '{' && header.starts_with("{\"");
}

Result<Archive> read_safetensors(const ReadContext& context) {
  return SafetensorsReader(context).read();
}

}  // namespace andiron::inline v1::detail
