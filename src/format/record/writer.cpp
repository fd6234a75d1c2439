// SPDX-License-Identifier: MIT OR Apache-2.0
// Archive to record, byte for byte as Burn writes one of the same structure. All but the tensors'
// bytes is made first, so that the size is known before any tensor is read.
// Tested by tests/format/record_writer_test.cpp
#include <optional>
#include <string>
#include <vector>

#include "src/codec/gzip.h"
#include "src/codec/msgpack_writer.h"
#include "src/core/check_limit.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"
#include "src/format/data_copier.h"
#include "src/format/record/dtype.h"
#include "src/format/record/metadata.h"
#include "src/format/record/name_tree.h"
#include "src/format/record/precision.h"
#include "src/format/record/record.h"

namespace andiron::inline v1::detail {
namespace {

// The bytes of a tensor, which follow the text up to `text_end`.
struct Payload {
  std::size_t text_end;
  std::size_t tensor;
  std::uint64_t byte_size;
};

RecordPrecision precision_of(const WriteOptions& options) {
  return settings_in<MpkSettings>(options.settings).precision;
}

// A tree with holes in it is no record of Burn's; names make a new one.
bool keeps_structure_of(const Archive& archive, const Value& tree) {
  return archive.format() == format_name(Format::mpk) && is_tree_of(tree, archive);
}

class Encoder {
 public:
  // `tree` is the archive's value().
  Encoder(const Archive& archive, Value tree, RecordPrecision precision, bool gzip)
      : archive_(archive),
        tree_(std::move(tree)),
        numbers_(record_numbers(precision)),
        keeps_structure_(keeps_structure_of(archive, tree_)),
        metadata_(record_metadata(archive, keeps_structure_, precision, gzip)),
        release_(RecordRelease::of(release_of(metadata_))),
        ids_(archive.size()) {}

  Status encode() {
    out_.begin_map(3);
    out_.text("metadata");
    out_.begin_map(metadata_.size());
    for (const auto& [key, value] : metadata_) {
      if (!is_utf8(key) || !is_utf8(value)) {
        return Error{.code = ErrorCode::bad_header,
                     .message = "metadata must be UTF-8",
                     .found = in_quotes(key)};
      }
      out_.text(key);
      out_.text(value);
    }
    out_.text("item");
    if (keeps_structure_) {
      ANDIRON_TRY(encode(tree_));
    } else {
      ANDIRON_ASSIGN(const Value structure, tree_from_names(archive_));
      ANDIRON_TRY(encode(structure));
    }
    out_.text("_b");
    out_.begin_list(0);
    return {};
  }

  std::string_view text() const { return text_; }
  const std::vector<Payload>& payloads() const { return payloads_; }

  DType stored_as(DType dtype) const { return dtype_in_record(numbers_, dtype); }

 private:
  // The structure is no deeper than is_tree_of() and tree_from_names() allow.
  Status encode(const Value& value) {
    return value.visit([&](const auto& data) { return encode_data(data); });
  }

  Status encode_data(std::monostate) { return out_.nil(), Status(); }
  Status encode_data(bool value) { return out_.boolean(value), Status(); }
  Status encode_data(std::int64_t value) { return out_.integer(value), Status(); }
  Status encode_data(std::uint64_t value) { return out_.unsigned_integer(value), Status(); }
  Status encode_data(double value) { return out_.floating(value), Status(); }
  Status encode_data(const std::string& value) { return out_.text(value), Status(); }

  Status encode_data(const Bytes& value) {
    out_.begin_bytes(value.size());
    text_ += value.text();
    return {};
  }

  Status encode_data(const ValueList& list) {
    out_.begin_list(list.size());
    for (const Value& item : list) ANDIRON_TRY(encode(item));
    return {};
  }

  Status encode_data(const ValueDict& dict) {
    const TensorIndex* parameter = parameter_of(dict);
    out_.begin_map(dict.size());
    for (const auto& [key, value] : dict) {
      out_.text(key);
      const bool is_param = parameter != nullptr && value.get<TensorIndex>() == parameter;
      ANDIRON_TRY(is_param ? encode_tensor(parameter->index) : encode(value));
    }
    return {};
  }

  Status encode_data(TensorIndex tensor) {
    std::optional<ParamId>& id = ids_[tensor.index];
    if (!id) id = archive_.info(tensor.index).param_id;
    // Burn's modules have parameters only; other records hold tensors without an id.
    if (!id && archive_.format() != format_name(Format::mpk)) id = ParamId::generate();
    if (!id) return encode_tensor(tensor.index);
    out_.begin_map(2);
    out_.text("id");
    out_.text(id->to_text());
    out_.text("param");
    return encode_tensor(tensor.index);
  }

  Status encode_tensor(std::size_t index) {
    const TensorInfo info = archive_.info(index);
    const DType stored = stored_as(info.dtype);
    std::uint64_t byte_size = info.byte_size;
    if (stored != info.dtype && byte_count(stored, info.shape, byte_size) != SizeCheck::ok) {
      return Error{.code = ErrorCode::overflow,
                   .message = "the tensor is too large to address",
                   .tensor = std::string(info.name)};
    }
    if (byte_size > MsgpackWriter::max_size) {
      return Error{.code = ErrorCode::unsupported,
                   .message = "the tensor is too large for a record",
                   .tensor = std::string(info.name),
                   .found = std::to_string(byte_size) + " bytes",
                   .expected = "at most " + std::to_string(MsgpackWriter::max_size),
                   .hint = "write Burnpack or SafeTensors"};
    }
    out_.begin_map(3);
    out_.text("bytes");
    out_.begin_bytes(byte_size);
    payloads_.push_back({text_.size(), index, byte_size});
    out_.text("shape");
    out_.begin_list(info.shape.size());
    for (const std::uint64_t dim : info.shape) out_.unsigned_integer(dim);
    out_.text("dtype");
    return write_record_dtype(out_, info, stored, release_);
  }

  const Archive& archive_;
  const Value tree_;
  const RecordNumbers& numbers_;
  const bool keeps_structure_;
  const RecordMetadata metadata_;
  const RecordRelease release_;
  std::vector<std::optional<ParamId>> ids_;
  std::string text_;
  MsgpackWriter out_{text_};
  std::vector<Payload> payloads_;
};

Status write_encoded(const Encoder& encoder, const WriteContext& context, Sink& sink,
                     std::uint64_t data_bytes) {
  const Archive& archive = context.archive;
  const std::span<const std::byte> text = std::as_bytes(std::span(encoder.text()));
  std::vector<FilePart> parts;
  parts.reserve(encoder.payloads().size());
  std::size_t done = 0;
  for (const Payload& payload : encoder.payloads()) {
    parts.push_back(
        {text.subspan(done, payload.text_end - done), payload.tensor, payload.byte_size});
    done = payload.text_end;
  }
  const auto stored = [&](std::size_t tensor) {
    const TensorSnapshot snapshot = archive.snapshot(tensor);
    return converted_for_record(snapshot, encoder.stored_as(snapshot.dtype()));
  };
  OutputFile* const file = &sink == &context.sink ? context.file : nullptr;
  DataCopier copier(sink, context.options, data_bytes);
  ANDIRON_TRY(copier.copy_parts(archive, parts, stored, file));
  return sink.write(text.subspan(done));
}

}  // namespace

Kept kept_by_record(const KeptContext& context) {
  const auto& [archive, tree, options, ending] = context;
  const RecordNumbers& numbers = record_numbers(precision_of(options));
  const bool is_record = keeps_structure_of(archive, tree);
  Kept kept{.values = is_record ? tree.leaf_count() : 0,
            .metadata = archive.metadata().size(),
            .param_ids = true,
            .ties = true};  // as copies with one id
  // What a record says of itself takes the place of what others say under these keys. What another
  // record said of itself is no loss, but what the options ask for is.
  const bool was_record = archive.format() == format_name(Format::mpk);
  const Metadata& said = was_record ? options.metadata : archive.metadata();
  RecordMetadata own = record_metadata(archive, is_record, precision_of(options), false);
  own.resize(record_metadata(Archive(), false, RecordPrecision::full, false).size());
  for (const auto& [key, value] : own) {
    const auto entry = said.find(key);
    if (entry != said.end() && (!was_record || entry->second != value)) --kept.metadata;
  }
  // Whoever chose a precision asked for it.
  const bool is_chosen = std::holds_alternative<MpkSettings>(options.settings);
  for (std::size_t i = 0; i < archive.size() && !is_chosen; ++i) {
    const DType dtype = archive.info(i).dtype;
    const DType stored = dtype_in_record(numbers, dtype);
    if (stored == dtype || kept.converted++ != 0) continue;
    kept.conversion = std::string(dtype_name(dtype)) + " to " + std::string(dtype_name(stored));
  }
  return kept;
}

Result<std::uint64_t> write_record(const WriteContext& context) {
  const Archive& archive = context.archive;
  Sink& sink = context.sink;
  const WriteOptions& options = context.options;
  const bool gzip = context.ending.ends_with(".gz");
  ANDIRON_TRY(
      check_limit(archive.size(), options.limits.tensors, {"too many tensors", &Limits::tensors}));
  ANDIRON_ASSIGN(Value tree, archive.value());
  Encoder encoder(archive, std::move(tree), precision_of(options), gzip);
  ANDIRON_TRY(encoder.encode());
  std::uint64_t data_bytes = 0;
  for (const Payload& payload : encoder.payloads()) data_bytes += payload.byte_size;
  if (!gzip) {
    const std::uint64_t total = encoder.text().size() + data_bytes;
    ANDIRON_TRY(sink.reserve(total));
    ANDIRON_TRY(write_encoded(encoder, context, sink, data_bytes));
    return total;
  }
  if (options.dry_run) return std::uint64_t{0};
  ANDIRON_ASSIGN(const std::unique_ptr<GzipSink> compressed, GzipSink::create(sink));
  ANDIRON_TRY(write_encoded(encoder, context, *compressed, data_bytes));
  ANDIRON_TRY(compressed->finish());
  return compressed->bytes();
}

}  // namespace andiron::inline v1::detail
