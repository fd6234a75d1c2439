// SPDX-License-Identifier: MIT OR Apache-2.0
// Bincode 2 with its standard configuration, as Burn's recorders wrote it:
//
//   record    := float int format version settings item     the first five are texts
//   text      := count, that many bytes
//   count     := 0 to 250, or 251 u16, 252 u32, 253 u64, little-endian
//   parameter := id:text bytes:text shape dtype
//   shape     := count, that many counts
//   dtype     := count: the place in F64 F32 Flex32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 Bool;
//                since 0.21 Bool is followed by 0 Native, 1 U8 or 2 U32
//
// The item holds parameters in the order of the fields. Between them stand bytes whose meaning the
// Rust type alone knows: 0 for a constant or None, 1 for Some, the length of a Vec, the number of
// an enum's variant. A parameter is known by its id, so these bytes are passed over. Tested by
// tests/format/record_bincode_test.cpp
#include "src/format/record/bincode.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "andiron/burnpack_view.h"
#include "andiron/limits.h"
#include "andiron/param_id.h"
#include "src/core/archive_builder.h"
#include "src/core/check_limit.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"
#include "src/format/record/dtype.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::string_view tensors_without_names = "the tensors of a bincode record have no names";

constexpr std::string_view recorder = "burn_core::record::";
// More structure than this between two parameters is no record.
constexpr std::uint64_t most_between = std::uint64_t{1} << 20;
constexpr std::size_t longest_id = 36;  // a UUID, in files of 0.18 and older

// Burn's enum of dtypes up to 0.21, in order.
constexpr std::string_view dtype_names[] = {"F64", "F32", "Flex32", "F16", "BF16", "I64", "I32",
                                            "I16", "I8",  "U64",    "U32", "U16",  "U8",  "Bool"};
constexpr std::uint64_t bool_code = 13;
constexpr std::uint64_t quantized_code = 14;
constexpr std::string_view bool_stores[] = {"Bool(Native)", "Bool(U8)", "Bool(U32)"};

constexpr std::size_t longest_count = 9;
constexpr std::size_t longest_description = longest_count * (max_rank + 3);

// Bytes of a source at any place, `Size` of them at a time.
template <std::size_t Size>
class Window {
 public:
  explicit Window(const ByteSource& source) : source_(source) {}

  bool holds(std::uint64_t offset, std::size_t count) const {
    return offset >= begin_ && offset - begin_ <= size_ && count <= size_ - (offset - begin_);
  }

  // Up to `count` bytes from `offset`, no more than Size; fewer at the end of the source.
  Result<std::string_view> at(std::uint64_t offset, std::size_t count) {
    const std::uint64_t there = source_.size() - std::min(source_.size(), offset);
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, there));
    if (!holds(offset, count)) {
      begin_ = offset;
      size_ = static_cast<std::size_t>(std::min<std::uint64_t>(Size, there));
      ANDIRON_TRY(source_.read_at(offset, std::span(buffer_).first(size_)));
    }
    return std::string_view(reinterpret_cast<const char*>(buffer_.data()) + (offset - begin_),
                            count);
  }

 private:
  const ByteSource& source_;
  std::uint64_t begin_ = 0;
  std::size_t size_ = 0;
  std::array<std::byte, Size> buffer_;
};

// Takes a count off the front; false when there is none.
bool take_count(std::string_view& bytes, std::uint64_t& out) {
  if (bytes.empty()) return false;
  const auto first = static_cast<unsigned char>(bytes.front());
  const std::size_t size = first <= 250 ? 0 : first <= 253 ? std::size_t{2} << (first - 251) : 99;
  if (bytes.size() <= size) return false;
  out = size == 0 ? first : 0;
  for (std::size_t i = size; i > 0; --i) {
    out = out << 8 | static_cast<unsigned char>(bytes[i]);
  }
  bytes.remove_prefix(1 + size);
  return true;
}

bool take_text(std::string_view& bytes, std::string_view& out) {
  std::uint64_t size = 0;
  if (!take_count(bytes, size) || size > bytes.size()) return false;
  out = bytes.substr(0, static_cast<std::size_t>(size));
  bytes.remove_prefix(out.size());
  return true;
}

struct Parameter {
  ParamId id;
  DType dtype = DType::f32;
  std::string_view dtype_name;
  Shape shape;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  std::uint64_t end() const { return offset + bytes; }
};

// The record as it is taken from its beginning to its end. Reads nothing itself.
class BincodeRecord {
 public:
  BincodeRecord(const ByteSourcePtr& source, const OpenOptions& options)
      : source_(source),
        places_(*options.expected),
        options_(options),
        builder_(source->name(), "bincode", "single") {}

  std::uint64_t offset() const { return at_; }

  // Takes the length of a text of the metadata; the text follows at offset().
  Result<std::uint64_t> take_text_size(std::string_view bytes) {
    const std::size_t looked_at = bytes.size();
    std::uint64_t size = 0;
    if (!take_count(bytes, size)) return error(ErrorCode::truncated, "the metadata has no end");
    at_ += looked_at - bytes.size();
    if (size > source_->size() - at_) {
      return error(ErrorCode::truncated, "the metadata extends past the end of the file");
    }
    metadata_bytes_ += size;
    ANDIRON_TRY(check_limit(
        metadata_bytes_, options_.limits.metadata_bytes,
        {"the metadata is too long", &Limits::metadata_bytes, "bytes", source_->name()}));
    return size;
  }

  Status take_metadata(const char* key, std::string text) {
    if (!is_utf8(text)) return error(ErrorCode::bad_header, "the metadata is not UTF-8");
    at_ += text.size();
    const std::string& value =
        builder_.state().metadata.emplace(key, std::move(text)).first->second;
    if (key == std::string_view("version")) {
      bool_has_store_ = RecordRelease::of(value).has_bool_stores;
    }
    return {};
  }

  // Whether parameters may follow: they are looked for to the end, or up to one more than there
  // are places.
  bool has_more() const { return at_ < source_->size() && parameters_.size() <= places_.size(); }

  // A parameter that may begin at offset(), with its id and where its bytes lie.
  std::optional<Parameter> parameter_in(std::string_view bytes) {
    const std::size_t looked_at = bytes.size();
    std::string_view id_text;
    // The length of an id first: most bytes are none.
    const auto size = static_cast<unsigned char>(bytes.front());
    if ((size != 10 && size != 13 && size != longest_id) || !take_text(bytes, id_text)) return {};
    const Result<ParamId> id = ParamId::from_text(id_text);
    Parameter found;
    if (!id || !take_count(bytes, found.bytes)) return {};
    found.id = *id;
    found.offset = at_ + (looked_at - bytes.size());
    if (found.bytes <= source_->size() - found.offset) return found;
    // No parameter, unless the file was cut here, which shows when none follows.
    if (!cut_) {
      cut_ = error(ErrorCode::truncated, "a tensor extends past the end of the file");
      cut_->found = std::to_string(source_->size() - found.offset) + " bytes";
      cut_->expected = std::to_string(found.bytes);
    }
    return {};
  }

  // Takes the parameter if `bytes`, which follow its own, describe it.
  Result<bool> take_parameter(Parameter found, std::string_view bytes) {
    const std::size_t looked_at = bytes.size();
    std::uint64_t rank = 0;
    if (!take_count(bytes, rank) || rank > max_rank) return false;
    std::vector<std::uint64_t> dims(static_cast<std::size_t>(rank));
    for (std::uint64_t& dim : dims) {
      if (!take_count(bytes, dim)) return false;
    }
    found.shape = Shape(dims);
    std::uint64_t code = 0;
    if (!take_count(bytes, code)) return false;
    if (code == quantized_code) {
      return error(ErrorCode::unsupported,
                   "quantized tensors in bincode records are not supported");
    }
    if (code > quantized_code) return false;
    found.dtype_name = dtype_names[code];
    found.dtype = code == bool_code ? DType::boolean : burnpack_dtype(found.dtype_name);
    DType sized_as = found.dtype;
    if (code == bool_code && bool_has_store_) {
      std::uint64_t store = 0;
      if (!take_count(bytes, store) || store >= std::size(bool_stores)) return false;
      found.dtype_name = bool_stores[store];
      if (found.dtype_name == "Bool(U32)") {
        found.dtype = DType::raw;
        sized_as = DType::u32;
      }
    }
    std::uint64_t wanted = 0;
    if (byte_count(sized_as, dims, wanted) != SizeCheck::ok || wanted != found.bytes) return false;
    at_ = found.end() + (looked_at - bytes.size());
    passed_ = 0;
    cut_.reset();
    parameters_.push_back(std::move(found));
    ANDIRON_TRY(check_limit(parameters_.size(), options_.limits.tensors,
                            {"too many tensors", &Limits::tensors, "", source_->name()}));
    return true;
  }

  Status pass_byte() {
    ++at_;
    if (++passed_ <= most_between) return {};
    return cut_ ? *cut_ : error(ErrorCode::bad_header, "expected a parameter");
  }

  // The archive of all that was taken.
  Result<Archive> finish() {
    if (cut_) return *cut_;
    ANDIRON_TRY(check_fit());
    const std::uint32_t file = builder_.add_file(source_);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Parameter& found = parameters_[i];
      ANDIRON_TRY(builder_.add({builder_.store(places_[i].name), found.dtype, found.dtype_name,
                                found.shape.dims(), file, found.offset, found.bytes, found.id}));
    }
    ANDIRON_TRY(builder_.index_names());
    return builder_.finish();
  }

 private:
  Error error(ErrorCode code, std::string message) const {
    return Error{.code = code, .message = std::move(message), .file = source_->name()};
  }

  Status check_fit() const {
    const std::size_t common = std::min(places_.size(), parameters_.size());
    for (std::size_t i = 0; i < common; ++i) {
      if (!places_[i].shape || *places_[i].shape == parameters_[i].shape) continue;
      Error result = does_not_fit();
      result.tensor = places_[i].name;
      result.found = "tensor " + std::to_string(i + 1) + " of the file, of shape " +
                     parameters_[i].shape.to_string();
      result.expected = places_[i].shape->to_string();
      return result;
    }
    if (places_.size() == parameters_.size()) return {};
    Error result = does_not_fit();
    result.found = parameters_.size() > places_.size()
                       ? "more tensors in the file"
                       : std::to_string(parameters_.size()) + " tensors in the file";
    result.expected = std::to_string(places_.size()) + ", as in the module";
    if (places_.size() > common) result.tensor = places_[common].name;
    return result;
  }

  Error does_not_fit() const {
    Error result =
        error(ErrorCode::shape_mismatch,
              "the file has no names, and its tensors do not match the module's in order");
    result.hint =
        "list the module's fields in the order of the Rust struct, with the optional ones that "
        "were saved";
    return result;
  }

  const ByteSourcePtr& source_;
  const std::vector<ExpectedTensor>& places_;
  const OpenOptions& options_;
  ArchiveBuilder builder_;
  std::uint64_t at_ = 0;
  std::uint64_t metadata_bytes_ = 0;
  std::uint64_t passed_ = 0;  // since the last parameter
  bool bool_has_store_ = false;
  std::vector<Parameter> parameters_;
  std::optional<Error> cut_;  // a tensor without an end, and none after it
};

}  // namespace

bool is_bincode_record(std::string_view head) {
  std::string_view text;
  for (int i = 0; i < 2; ++i) {
    if (!take_text(head, text)) return false;
  }
  return take_text(head, text) && text.starts_with(recorder);
}

Error needs_module(const std::string& file) {
  return Error{.code = ErrorCode::unsupported,
               .message = std::string(tensors_without_names),
               .file = file,
               .expected = "a module whose fields are in the order of the Rust struct",
               .hint = Advice::load_into_module};
}

bool asks_for_module(const Error& error) {
  return error.code == ErrorCode::unsupported && error.message == tensors_without_names;
}

Result<Archive> read_bincode(const ByteSourcePtr& source, const OpenOptions& options) {
  BincodeRecord record(source, options);
  Window<16 << 10> window(*source);
  for (const char* key : {"float", "int", "format", "version", "settings"}) {
    ANDIRON_ASSIGN(const std::string_view count, window.at(record.offset(), longest_count));
    ANDIRON_ASSIGN(const std::uint64_t size, record.take_text_size(count));
    std::string text(static_cast<std::size_t>(size), '\0');
    ANDIRON_TRY(source->read_at(record.offset(), std::as_writable_bytes(std::span(text))));
    ANDIRON_TRY(record.take_metadata(key, std::move(text)));
  }

  // What describes a tensor lies after its bytes: a look there, which hostile files ask for again
  // and again, reads little and leaves the window where it is.
  Window<longest_description> far_window(*source);
  while (record.has_more()) {
    ANDIRON_ASSIGN(const std::string_view bytes,
                   window.at(record.offset(), 1 + longest_id + longest_count));
    bool is_taken = false;
    if (std::optional<Parameter> found = record.parameter_in(bytes)) {
      const std::uint64_t end = found->end();
      ANDIRON_ASSIGN(const std::string_view description,
                     window.holds(end, longest_description)
                         ? window.at(end, longest_description)
                         : far_window.at(end, longest_description));
      ANDIRON_ASSIGN(is_taken, record.take_parameter(*std::move(found), description));
    }
    if (!is_taken) ANDIRON_TRY(record.pass_byte());
  }
  return record.finish();
}

}  // namespace andiron::inline v1::detail
