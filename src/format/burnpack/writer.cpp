// SPDX-License-Identifier: MIT OR Apache-2.0
// Archive to Burnpack, byte for byte as Burn writes: data in the order of the archive, names in the
// metadata sorted by their bytes. The byte layout is in src/freestanding/burnpack_view.cpp.
// Tested by tests/format/burnpack_writer_test.cpp and burnpack_writer_faults_test.cpp
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "andiron/burnpack_view.h"
#include "src/codec/cbor_writer.h"
#include "src/core/check_limit.h"
#include "src/core/sort.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"
#include "src/format/burnpack/burnpack.h"
#include "src/format/burnpack/dtype.h"
#include "src/format/burnpack/head.h"
#include "src/format/data_copier.h"
#include "src/freestanding/append_cbor.h"

namespace andiron::inline v1::detail {
namespace {

using Generation = BurnpackGeneration;

struct Scalar {
  std::string_view name;
  const Value* value;
};

// The numbers and truth values at the top of a tree, which older releases have no place for.
std::vector<Scalar> scalars_for(const Value& tree, Generation generation) {
  std::vector<Scalar> scalars;
  const ValueDict* dict = tree.get<ValueDict>();
  if (dict == nullptr || generation < Generation::burn_0_22_pre) return scalars;
  for (const auto& [name, value] : *dict) {
    if (value.is_scalar()) scalars.push_back({name, &value});
  }
  return scalars;
}

struct Run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Header, metadata and the place of every tensor, before any data is drawn.
class Layout {
 public:
  Layout(const Archive& archive, const WriteOptions& options)
      : archive_(archive),
        options_(options),
        generation_(settings_in<BurnpackSettings>(options.settings).release) {}

  Status make() {
    ANDIRON_TRY(check_options());
    ANDIRON_TRY(take_scalars());
    ANDIRON_TRY(lay_out());
    ANDIRON_TRY(write_metadata());
    return finish_head();
  }

  const std::string& head() const { return head_; }
  const Run& run(std::size_t index) const { return runs_[index]; }
  std::uint64_t data_bytes() const { return data_bytes_; }
  std::uint64_t tensor_bytes() const { return tensor_bytes_; }

 private:
  Status check_options() const {
    if (archive_.size() > options_.limits.burnpack_tensors) {
      return beyond_burn("too many tensors", std::to_string(archive_.size()),
                         options_.limits.burnpack_tensors);
    }
    return {};
  }

  static Error beyond_burn(const std::string& message, std::string found, std::uint64_t most) {
    Error error = over_limit(std::move(found), most, {message});
    error.expected += ", which is Burn's limit";
    error.hint = Advice::exceed_burn;
    return error;
  }

  Status take_scalars() {
    ANDIRON_ASSIGN(tree_, archive_.value());
    scalars_ = scalars_for(tree_, generation_);
    detail::sort(scalars_.begin(), scalars_.end(),
                 [](const Scalar& a, const Scalar& b) { return a.name < b.name; });
    for (std::size_t i = 0; i < scalars_.size(); ++i) {
      ANDIRON_TRY(check_text(scalars_[i].name, "the name of a scalar"));
      if (i != 0 && scalars_[i].name == scalars_[i - 1].name) {
        return Error{.code = ErrorCode::duplicate_key,
                     .message = "two scalars have the same name",
                     .found = in_quotes(scalars_[i].name)};
      }
    }
    return {};
  }

  static Status check_text(std::string_view text, const char* what) {
    if (is_utf8(text)) return {};
    return Error{.code = ErrorCode::bad_header,
                 .message = std::string(what) + " must be UTF-8",
                 .found = in_quotes(text)};
  }

  Status lay_out() {
    runs_.resize(archive_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const TensorInfo info = archive_.info(i);
      if (info.byte_size > options_.limits.burnpack_tensor_bytes) {
        Error error =
            beyond_burn("the tensor is too large", std::to_string(info.byte_size) + " bytes",
                        options_.limits.burnpack_tensor_bytes);
        error.tensor = info.name;
        return error;
      }
      runs_[i].begin = is_aligned() ? burnpack_aligned(data_bytes_) : data_bytes_;
      runs_[i].end = runs_[i].begin + info.byte_size;
      data_bytes_ = runs_[i].end;
      tensor_bytes_ += info.byte_size;
    }
    return {};
  }

  Status write_metadata() {
    head_.assign(burnpack_header_bytes, '\0');
    CborWriter out(head_);
    const Metadata& metadata = archive_.metadata();
    out.map(std::uint64_t{1} + (metadata.empty() ? 0 : 1) + (scalars_.empty() ? 0 : 1));
    out.text("tensors");
    out.map(archive_.size());
    for (const std::size_t i : by_name()) ANDIRON_TRY(write_tensor(out, i));
    if (!metadata.empty()) {
      out.text("metadata");
      out.map(metadata.size());
      for (const auto& [key, value] : metadata) {
        ANDIRON_TRY(check_text(key, "metadata"));
        ANDIRON_TRY(check_text(value, "metadata"));
        out.text(key);
        out.text(value);
      }
    }
    if (!scalars_.empty()) {
      out.text("scalars");
      out.map(scalars_.size());
      for (const Scalar& scalar : scalars_) write_scalar(out, scalar);
    }
    return {};
  }

  std::vector<std::size_t> by_name() const {
    struct Key {
      std::string_view name;
      std::size_t index;
    };
    std::vector<Key> keys;
    keys.reserve(archive_.size());
    for (std::size_t i = 0; i < archive_.size(); ++i) keys.push_back({archive_.info(i).name, i});
    detail::sort(keys.begin(), keys.end(),
                 [](const Key& a, const Key& b) { return a.name < b.name; });
    std::vector<std::size_t> order;
    order.reserve(keys.size());
    for (const Key& key : keys) order.push_back(key.index);
    return order;
  }

  Status write_tensor(CborWriter& out, std::size_t index) {
    const TensorInfo info = archive_.info(index);
    ANDIRON_TRY(check_name(info.name));
    return append_burnpack_entry(
        out, info.name, [&] { return write_burnpack_dtype(out, info, generation_); },
        info.shape.size(), [&](std::size_t i) { return info.shape[i]; }, runs_[index].begin,
        runs_[index].end, info.param_id ? &info.param_id->value : nullptr);
  }

  Status check_name(std::string_view name) const {
    Error error{.message = "this name cannot be written to Burnpack", .tensor = std::string(name)};
    if (!is_utf8(name)) {
      error.code = ErrorCode::bad_header;
      error.found = "it is not UTF-8";
      error.hint = Message(Advice::rename, "the tensor");
      return error;
    }
    return check_limit(name.size(), options_.limits.name_bytes,
                       {"the name is too long", &Limits::name_bytes, "bytes", {}, name});
  }

  static void write_scalar(CborWriter& out, const Scalar& scalar) {
    out.text(scalar.name);
    out.map(1);
    if (const auto* boolean = scalar.value->get<bool>()) {
      out.text("Bool");
      out.boolean(*boolean);
    } else if (const auto* integer = scalar.value->get<std::int64_t>()) {
      out.text("Int");
      out.integer(*integer);
    } else if (const auto* number = scalar.value->get<std::uint64_t>()) {
      out.text("UInt");
      out.unsigned_integer(*number);
    } else {
      out.text("Float");
      out.floating(*scalar.value->get<double>());
    }
  }

  Status finish_head() {
    const std::uint64_t metadata_bytes = head_.size() - burnpack_header_bytes;
    if (metadata_bytes > options_.limits.burnpack_metadata_bytes || metadata_bytes >> 32 != 0) {
      return beyond_burn(
          "the metadata would be too large", std::to_string(metadata_bytes) + " bytes",
          std::min<std::uint64_t>(options_.limits.burnpack_metadata_bytes, 0xffffffff));
    }
    std::string first_bytes;
    append_burnpack_head(first_bytes, metadata_bytes);
    head_.replace(0, first_bytes.size(), first_bytes);
    if (is_aligned()) head_.resize(static_cast<std::size_t>(burnpack_aligned(head_.size())), '\0');
    std::uint64_t total = 0;
    if (__builtin_add_overflow(head_.size(), data_bytes_, &total) ||
        total > options_.limits.burnpack_file_bytes) {
      return beyond_burn("the file would be too large", std::to_string(total) + " bytes",
                         options_.limits.burnpack_file_bytes);
    }
    return {};
  }

  bool is_aligned() const { return generation_ != Generation::burn_0_19; }

  const Archive& archive_;
  const WriteOptions& options_;
  Generation generation_;
  Value tree_;
  std::vector<Scalar> scalars_;  // of the tree
  std::vector<Run> runs_;
  std::uint64_t data_bytes_ = 0;
  std::uint64_t tensor_bytes_ = 0;
  std::string head_;
};

}  // namespace

Kept kept_by_burnpack(const KeptContext& context) {
  const auto& [archive, tree, options, ending] = context;
  const Generation generation = settings_in<BurnpackSettings>(options.settings).release;
  // Readers look for ties in files of ours alone, and Burn does not know them.
  const auto producer = archive.metadata().find("producer");
  const bool is_named = std::holds_alternative<BurnpackSettings>(options.settings);
  return {.written_as = is_named ? "burnpack " + std::string(name_of(generation)) : "",
          .values = scalars_for(tree, generation).size(),
          .metadata = archive.metadata().size(),
          .param_ids = true,
          .ties = producer != archive.metadata().end() && producer->second == "andiron"};
}

Result<std::uint64_t> write_burnpack(const WriteContext& context) {
  const Archive& archive = context.archive;
  Sink& sink = context.sink;
  const WriteOptions& options = context.options;
  Layout plan(archive, options);
  ANDIRON_TRY(plan.make());
  const std::uint64_t total = plan.head().size() + plan.data_bytes();
  ANDIRON_TRY(sink.reserve(total));
  ANDIRON_TRY(sink.write(std::as_bytes(std::span(plan.head()))));
  constexpr std::array<std::byte, burnpack_alignment> zeros{};
  std::vector<FilePart> parts;
  parts.reserve(archive.size());
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const Run& run = plan.run(i);
    const auto padding = std::span(zeros).first(static_cast<std::size_t>(run.begin - at));
    parts.push_back({padding, i, run.end - run.begin});
    at = run.end;
  }
  DataCopier copier(sink, options, plan.tensor_bytes());
  ANDIRON_TRY(copier.copy_parts(
      archive, parts, [&](std::size_t i) { return archive.snapshot(i); }, context.file));
  return total;
}

}  // namespace andiron::inline v1::detail
