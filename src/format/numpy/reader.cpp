// SPDX-License-Identifier: MIT OR Apache-2.0
// NumPy's files to Archive. The layout of an array is in npy_header.cpp; an .npz file is a zip
// archive in which entry NAME.npy is array NAME, stored or deflated.
// Tested by tests/format/numpy_reader_test.cpp and numpy_hostile_test.cpp
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/codec/zip/reader.h"
#include "src/core/archive_builder.h"
#include "src/core/check_limit.h"
#include "src/core/little_endian.h"
#include "src/core/memory_budget.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"
#include "src/core/with_file.h"
#include "src/format/header_diagnostics.h"
#include "src/format/numpy/npy_header.h"
#include "src/format/numpy/npy_type.h"
#include "src/format/numpy/numpy.h"

namespace andiron::inline v1::detail {
namespace {

// NumPy's headers take 128 bytes, those of many dimensions more.
constexpr std::size_t usual_head_bytes = 256;

// What archivers of some systems leave in every archive.
bool is_junk(std::string_view name) {
  return name.ends_with('/') || name.starts_with("__MACOSX/") || name.ends_with(".DS_Store");
}

// Text of a file in a message.
std::string shown(std::string_view text) {
  constexpr std::size_t most = 80;
  return std::string(text.substr(0, most)) + (text.size() > most ? "..." : "");
}

struct Array {
  NpyHeader header;  // a view of the array's head
  NpyType type;
  std::uint64_t data_offset = 0;  // from the array's first byte
  std::uint64_t data_bytes = 0;

  // In Fortran's order the first dimension's elements lie next to each other, which is the same as
  // in ours where no more than one dimension has several.
  bool is_row_major() const {
    const auto shape = header.shape();
    return !header.fortran_order || data_bytes == 0 ||
           std::count_if(shape.begin(), shape.end(), [](auto dim) { return dim > 1; }) <= 1;
  }
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// How many bytes of an array tell all about it: of its first ones, `head`, none are missing.
Result<std::size_t> header_bytes(std::string_view head, std::uint64_t bytes, const Limits& limits) {
  ANDIRON_ASSIGN(const NpyFrame frame, read_npy_frame(head, limits));
  if (frame.data_offset <= bytes) return static_cast<std::size_t>(frame.data_offset);
  return Error{.code = ErrorCode::truncated,
               .message = "the array ends within its header",
               .found = std::to_string(bytes) + " bytes",
               .expected = "at least " + std::to_string(frame.data_offset),
               .hint = "the download or the save may be incomplete"};
}

// An array, by its header, which must tell of one that fits the `bytes` there are. An array of what
// no tensor holds has a type that says so. REQUIRES: `head` has all header_bytes().
Result<Array> array_of(std::string_view head, std::uint64_t bytes, const Limits& limits) {
  Array array;
  ANDIRON_ASSIGN(const NpyFrame frame, read_npy_frame(head, limits));
  const std::string_view text =
      head.substr(0, static_cast<std::size_t>(frame.data_offset)).substr(frame.text_offset);
  if (frame.is_utf8 && !is_utf8(text)) {
    return Error{.code = ErrorCode::bad_header, .message = "the header is not UTF-8"};
  }
  ANDIRON_ASSIGN(array.header, parse_npy_header(text));
  array.data_offset = frame.data_offset;
  array.type =
      array.header.is_structured ? NpyType{.refused = "structures"} : npy_type(array.header.descr);
  if (!array.type.refused.empty()) return array;

  std::uint64_t wanted = array.type.bytes;
  bool fits = true;
  for (const std::uint64_t dim : array.header.shape()) {
    fits = !__builtin_mul_overflow(wanted, dim, &wanted) && fits;
  }
  const auto shape = [&] { return Shape(array.header.shape()).to_string(); };
  if (!fits) {
    return Error{.code = ErrorCode::overflow,
                 .message = "the size of the array does not fit in 64 bits",
                 .found = shape()};
  }
  const std::uint64_t there = bytes - frame.data_offset;
  if (wanted > there) {
    return Error{
        .code = ErrorCode::truncated,
        .message = "the array's data is cut off",
        .found = std::to_string(there) + " bytes",
        .expected = std::to_string(wanted) + " for " + shown(array.header.descr) + " " + shape(),
        .hint = "the download or the save may be incomplete"};
  }
  array.data_bytes = wanted;
  return array;
}

class NumpyReader {
 public:
  NumpyReader(const ReadContext& context, const char* packaging)
      : source_(context.source),
        options_(context.options),
        budget_(*context.budget),
        heads_(budget_),
        builder_(source_->name(), std::string(format_name(Format::numpy)), packaging) {}

  Result<Archive> read_npy() {
    const std::uint64_t size = source_->size();
    ANDIRON_ASSIGN(Bytes head, Bytes::allocate(std::min<std::uint64_t>(usual_head_bytes, size)));
    ANDIRON_TRY(source_->read_at(0, head.writable()));
    ANDIRON_ASSIGN(const std::size_t wanted, header_bytes(head.text(), size, options_.limits));
    if (head.size() < wanted) {
      ANDIRON_ASSIGN(head, Bytes::allocate(wanted));
      ANDIRON_TRY(source_->read_at(0, head.writable()));
    }
    const std::uint32_t file = builder_.add_file(source_);
    if (options_.verify) builder_.state().notes.emplace_back(no_checksums);
    ANDIRON_ASSIGN(const Array array, array_of(head.text(), size, options_.limits));
    ANDIRON_ASSIGN(const bool is_tensor, is_taken("", array, size));
    if (is_tensor) ANDIRON_TRY(add("", array, {source_, 0, file}));
    return finish();
  }

  Result<Archive> read_npz() {
    // Names of arrays are keys of a dict, in which 'W' and 'w' are two.
    std::uint64_t end = source_->size();
    if (is_lenient()) {
      ANDIRON_ASSIGN(end, find_zip_end(*source_, builder_.state().notes));
    }
    ANDIRON_ASSIGN(zip_, ZipReader::open(source_, options_.limits, ZipNames::exact, end,
                                         zip_checksums(options_.verify)));
    zip_->note_missing_checksums(builder_.state().notes);
    const auto entries = zip_->entries();
    ANDIRON_TRY(builder_.reserve(entries.size(), 2 * entries.size()));
    // Names are views of the directory.
    builder_.keep(Bytes::share(zip_, {}));
    const std::uint32_t file = builder_.add_file(zip_->checked_source());
    bool has_arrays = entries.empty();
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      std::string_view name = entries[i].name;
      if (is_junk(name)) continue;
      ANDIRON_TRY(budget_.charge_entries(1, name.size()));
      if (!name.ends_with(npy_ending)) {
        skip(name, "its name does not end in .npy");
        continue;
      }
      has_arrays = true;
      name.remove_suffix(npy_ending.size());
      Status added = add_entry(name, i, file);
      if (!added) ANDIRON_TRY(skip_or_fail(name, std::move(added).error()));
    }
    if (has_arrays) return finish();
    return Error{.code = ErrorCode::not_a_weight_file,
                 .message = "the zip archive contains no NumPy arrays",
                 .expected = "entries whose names end in .npy"};
  }

 private:
  // Where an array begins.
  struct Place {
    ByteSourcePtr source;
    std::uint64_t offset = 0;
    std::optional<std::uint32_t> file;  // of the archive, where the source is one of its files
  };

  bool is_strict() const { return options_.strictness == Strictness::strict; }
  bool is_lenient() const { return options_.strictness == Strictness::lenient; }

  void skip(std::string_view name, std::string reason) {
    builder_.state().skipped.push_back({std::string(name), std::move(reason)});
  }

  // In a lenient reading, what is wrong with one array is no reason to refuse the others.
  Status skip_or_fail(std::string_view name, Error error) {
    constexpr ErrorCode faults[] = {ErrorCode::bad_header,       ErrorCode::bad_archive,
                                    ErrorCode::truncated,        ErrorCode::unsupported,
                                    ErrorCode::size_mismatch,    ErrorCode::overflow,
                                    ErrorCode::checksum_mismatch};
    const bool is_fault =
        std::find(std::begin(faults), std::end(faults), error.code) != std::end(faults);
    if (!is_lenient() || !is_fault) {
      error.tensor = name;
      return error;
    }
    skip(name, error.message + (error.found.empty() ? "" : ": " + error.found));
    return {};
  }

  Status add_entry(std::string_view name, std::uint32_t index, std::uint32_t file) {
    const ZipEntry& entry = zip_->entries()[index];
    ANDIRON_TRY(check_name_length(name, options_.limits, source_->name()));
    if (!is_utf8(name)) {
      skip(name, "its name is not UTF-8");
      return {};
    }
    ANDIRON_ASSIGN(auto head, zip_->read_head(index, usual_head_bytes, heads_));
    ANDIRON_ASSIGN(const std::size_t wanted,
                   header_bytes(text_of(head), entry.bytes, options_.limits));
    if (head.size() < wanted) {
      ANDIRON_ASSIGN(head, zip_->read_head(index, wanted, heads_));
    }
    ANDIRON_ASSIGN(const Array array, array_of(text_of(head), entry.bytes, options_.limits));
    ANDIRON_ASSIGN(const bool is_tensor, is_taken(name, array, entry.bytes));
    if (!is_tensor) return {};
    // A few bytes can inflate to a long one.
    ANDIRON_TRY(budget_.charge_entries(0, array.header.descr.size()));
    if (!entry.is_stored()) return add(name, array, {zip_->inflated_source(index), 0, {}});
    // Its local header was checked with the head: this reads nothing.
    ANDIRON_ASSIGN(const std::uint64_t offset, zip_->data_offset(index));
    return add(name, array, {zip_->checked_source(), offset, file});
  }

  // Whether the array becomes a tensor; notes what is odd about it, and why it does not.
  Result<bool> is_taken(std::string_view name, const Array& array, std::uint64_t bytes) {
    const bool is_void = array.type.refused.empty() && array.type.dtype == DType::raw;
    if (is_strict() && (is_void || !array.type.refused.empty())) {
      return Error{.code = ErrorCode::unsupported_dtype,
                   .message = "no tensor has this dtype",
                   .found = shown(array.header.descr),
                   .hint = "only " + Message(Advice::strict) + " refuses it"};
    }
    if (!array.type.refused.empty()) {
      skip(name, "an array of " + array.type.refused + ", dtype " + shown(array.header.descr));
      return false;
    }
    if (is_void && !array.is_row_major()) {
      skip(name,
           "an array of opaque elements in Fortran order, dtype " + shown(array.header.descr));
      return false;
    }
    const std::uint64_t more = bytes - array.data_offset - array.data_bytes;
    if (more != 0 && is_strict()) {
      return Error{.code = ErrorCode::size_mismatch,
                   .message = "bytes follow the array's data",
                   .found = std::to_string(more) + " more bytes",
                   .expected = "none",
                   .hint = "only " + Message(Advice::strict) + " refuses it"};
    }
    ANDIRON_TRY(check_limit(builder_.size() + 1, options_.limits.tensors,
                            {"too many tensors", &Limits::tensors, "", source_->name()}));
    if (more != 0) trailing_.add(name);
    if (is_void) opaque_.add(name);
    return true;
  }

  Status add(std::string_view name, const Array& array, Place place) {
    const NpyType& type = array.type;
    const std::uint64_t offset = place.offset + array.data_offset;
    const std::string_view descr = stored(array.header.descr);
    const bool is_run = array.is_row_major() && (!type.big_endian || array.data_bytes == 0);
    if (is_run && place.file) {
      return builder_.add(
          {name, type.dtype, descr, array.header.shape(), *place.file, offset, array.data_bytes});
    }
    const Shape shape(array.header.shape());
    if (is_run) {
      ANDIRON_ASSIGN(TensorSnapshot run,
                     TensorSnapshot::from_source(
                         std::string(name), std::move(place.source), offset, array.data_bytes,
                         type.dtype, shape, type.dtype == DType::raw ? std::string(descr) : ""));
      return builder_.add(name, descr, std::move(run));
    }
    ANDIRON_ASSIGN(
        TensorSnapshot view,
        TensorSnapshot::from_strided(std::string(name), std::move(place.source), offset, type.dtype,
                                     shape, byte_strides(array), type.big_endian));
    return builder_.add(name, descr, std::move(view));
  }

  // REQUIRES: the array has data, so that no product passes its size.
  static std::vector<std::int64_t> byte_strides(const Array& array) {
    const auto shape = array.header.shape();
    std::vector<std::int64_t> strides(shape.size());
    auto step = static_cast<std::int64_t>(array.type.bytes);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::size_t d = array.header.fortran_order ? i : shape.size() - 1 - i;
      strides[d] = step;
      step *= static_cast<std::int64_t>(shape[d]);
    }
    return strides;
  }

  // Most arrays of a file have one type.
  std::string_view stored(std::string_view descr) {
    if (descr != last_descr_) last_descr_ = builder_.store(descr);
    return last_descr_;
  }

  Result<Archive> finish() {
    ANDIRON_ASSIGN(const std::optional<std::uint32_t> twice, builder_.index_names());
    if (twice) {
      return Error{.code = ErrorCode::duplicate_key,
                   .message = "duplicate name",
                   .tensor = std::string(builder_.state().name_at(*twice))};
    }
    std::vector<Message>& notes = builder_.state().notes;
    opaque_.note(notes, "tensor",
                 "opaque elements (perhaps bfloat16 of ml_dtypes), kept as raw bytes");
    trailing_.note(notes, "tensor", "bytes after the array's data were ignored");
    return builder_.finish();
  }

  const ByteSourcePtr& source_;
  const OpenOptions& options_;
  MemoryBudget& budget_;
  ZipHeadMemory heads_;
  ArchiveBuilder builder_;
  ZipReaderPtr zip_;
  std::string_view last_descr_;
  Oddity opaque_;
  Oddity trailing_;
};

// The name of the first entry of a zip archive; nothing where `head` does not reach to its end.
std::optional<std::string_view> first_entry(std::string_view head) {
  if (!head.starts_with(zip_local_signature) || head.size() < zip_local_header_bytes) {
    return std::nullopt;
  }
  const std::size_t name_bytes = load_u16(reinterpret_cast<const std::byte*>(head.data()) + 26);
  head.remove_prefix(zip_local_header_bytes);
  if (head.size() < name_bytes) return std::nullopt;
  return head.substr(0, name_bytes);
}

// Arrays, and no object of PyTorch's beside them.
bool holds_arrays(std::span<const ZipEntry> entries) {
  bool has_array = false;
  for (const ZipEntry& entry : entries) {
    if (entry.name.ends_with("data.pkl")) return false;
    has_array = has_array || entry.name.ends_with(npy_ending);
  }
  return has_array;
}

}  // namespace

// Of a zip archive the first entry tells, nearly always: PyTorch's is its object, or the version of
// the archive. NumPy alone writes archives of nothing.
bool is_numpy(const FileHead& head) {
  if (head.bytes.starts_with(npy_magic) || head.bytes.starts_with(zip_end_signature)) return true;
  if (!head.bytes.starts_with(zip_local_signature)) return false;
  const auto first = first_entry(head.bytes);
  if (first && first->ends_with(npy_ending)) return true;
  if (first && (first->ends_with("data.pkl") || first->ends_with("/version"))) return false;
  const Result<ZipEnd> end = read_zip_end(head.source, head.source.size(), Limits());
  if (!end) return false;
  const Result<ZipDirectory> directory = ZipDirectory::read(head.source, *end, ZipNames::exact);
  return directory && holds_arrays(directory->entries().items());
}

Result<Archive> read_numpy(const ReadContext& context) {
  const ByteSourcePtr& source = context.source;
  std::array<std::byte, npy_magic.size()> buffer;
  const auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), source->size()));
  ANDIRON_TRY(source->read_at(0, std::span(buffer).first(count)));
  const std::string_view head(reinterpret_cast<const char*>(buffer.data()), count);
  if (!is_zip(head) && !npy_magic.starts_with(head)) {
    return Error{.code = ErrorCode::not_a_weight_file,
                 .message = "not a NumPy file",
                 .file = source->name(),
                 .found = "a file that begins with " + in_quotes(head),
                 .expected = "\\x93NUMPY, or a zip archive"};
  }
  NumpyReader reader(context, is_zip(head) ? "npz" : "npy");
  Result<Archive> archive = is_zip(head) ? reader.read_npz() : reader.read_npy();
  if (!archive) return with_file(std::move(archive).error(), source->name());
  return archive;
}

}  // namespace andiron::inline v1::detail
