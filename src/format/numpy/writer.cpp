// SPDX-License-Identifier: MIT OR Apache-2.0
// Archive to NumPy's files. An .npy file is byte for byte what np.save writes; an .npz file holds
// the same arrays, stored, each with its data at a multiple of 64 bytes. The layouts are in
// npy_header.cpp and src/codec/zip/writer.cpp.
// Tested by tests/format/numpy_writer_test.cpp
#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/codec/entry_name.h"
#include "src/codec/zip/writer.h"
#include "src/core/check_limit.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"
#include "src/format/data_copier.h"
#include "src/format/numpy/npy_header.h"
#include "src/format/numpy/npy_type.h"
#include "src/format/numpy/numpy.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t most_entry_name_bytes = 65535;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// One array of the file.
struct Item {
  std::string_view name;
  std::size_t tensor = 0;
};

// All that stands before the data of a tensor.
Result<std::string> head_of(const Archive& archive, const Item& item) {
  const TensorInfo info = archive.info(item.tensor);
  const std::string descr = npy_descr(info);
  if (!descr.empty()) return npy_head(descr, info.shape);
  return Error{.code = ErrorCode::unsupported_dtype,
               .message = "NumPy cannot store this dtype",
               .tensor = std::string(item.name),
               .found = std::string(dtype_name(info.dtype)) +
                        (info.dtype == DType::raw ? ":" + std::string(info.file_dtype) : ""),
               .hint = cast_or_leave_out(info.dtype, {DType::f32, DType::c64})};
}

Status check_name(std::string_view name, const Limits& limits) {
  ANDIRON_TRY(check_name_length(name, limits, {}));
  ANDIRON_TRY(check_limit(name.size(), most_entry_name_bytes - npy_ending.size(),
                          {"the name is too long for an .npz file", nullptr, "bytes", {}, name}));
  Error error{.code = ErrorCode::bad_header,
              .message = "this name cannot be written to an .npz file",
              .tensor = std::string(name),
              .hint = Message(Advice::rename, "the tensor")};
  // TensorFlow's names end in ":0".
  const char* const fault = fault_of_entry_name(std::string(name) + std::string(npy_ending), false);
  if (!is_utf8(name)) {
    error.found = "it is not UTF-8";
  } else if (fault != nullptr) {
    error.found = std::string("as a zip entry name it ") + fault;
  } else {
    return {};
  }
  return error;
}

// Names, dtypes and places, before any data is drawn.
class NpzWriter {
 public:
  NpzWriter(const Archive& archive, const WriteOptions& options)
      : archive_(archive), options_(options) {}

  Status plan() {
    for (std::size_t i = 0; i < archive_.size(); ++i) items_.push_back({archive_.info(i).name, i});
    ANDIRON_TRY(check_limit(items_.size(), options_.limits.tensors,
                            {"too many tensors", &Limits::tensors}));
    ANDIRON_TRY(check_names());
    for (const Item& item : items_) {
      ANDIRON_ASSIGN(const std::string head, head_of(archive_, item));
      const std::uint64_t bytes = archive_.info(item.tensor).byte_size;
      data_bytes_ += bytes;
      ANDIRON_TRY(layout_.add(entry_of(item), head.size() + bytes, alignment));
    }
    return {};
  }

  std::uint64_t size() const { return layout_.size(); }

  Status write(Sink& sink) const {
    ANDIRON_TRY(sink.reserve(size()));
    ZipWriter zip(sink);
    DataCopier copier(zip, options_, data_bytes_);
    for (const Item& item : items_) {
      ANDIRON_ASSIGN(const std::string head, head_of(archive_, item));
      const std::uint64_t bytes = archive_.info(item.tensor).byte_size;
      ANDIRON_TRY(zip.begin(entry_of(item), head.size() + bytes, alignment));
      ANDIRON_TRY(zip.write(bytes_of(head)));
      ANDIRON_TRY(copier.copy(archive_.snapshot(item.tensor), bytes));
      ANDIRON_TRY(zip.end());
    }
    return zip.finish();
  }

 private:
  static std::string entry_of(const Item& item) {
    return std::string(item.name) + std::string(npy_ending);
  }

  // np.load finds an array by the name of its entry, too: of 'a' and 'a.npy' it would find one.
  Status check_names() const {
    std::unordered_map<std::string_view, std::size_t> names;
    for (const Item& item : items_) {
      ANDIRON_TRY(check_name(item.name, options_.limits));
      if (names.emplace(item.name, item.tensor).second) continue;
      return Error{.code = ErrorCode::duplicate_key,
                   .message = "duplicate name",
                   .tensor = std::string(item.name),
                   .hint = Message(Advice::rename, "one of the tensors")};
    }
    for (const Item& item : items_) {
      if (!item.name.ends_with(npy_ending)) continue;
      const std::string_view other = item.name.substr(0, item.name.size() - npy_ending.size());
      if (!names.contains(other)) continue;
      return Error{.code = ErrorCode::name_collision,
                   .message = "np.load cannot tell these names apart",
                   .tensor = std::string(item.name),
                   .found = "a tensor " + in_quotes(other) + " beside it",
                   .hint = Message(Advice::rename, "one of the tensors")};
    }
    return {};
  }

  const Archive& archive_;
  const WriteOptions& options_;
  std::vector<Item> items_;
  ZipLayout layout_;
  std::uint64_t data_bytes_ = 0;
};

Result<std::uint64_t> write_npy(const Archive& archive, Sink& sink, const WriteOptions& options) {
  if (archive.size() != 1) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "an .npy file holds one tensor",
                 .found = std::to_string(archive.size()) + " tensors",
                 .expected = "1",
                 .hint = "write an .npz file, which holds any number"};
  }
  const TensorInfo info = archive.info(0);
  ANDIRON_ASSIGN(const std::string head, head_of(archive, {info.name, 0}));
  const std::uint64_t size = head.size() + info.byte_size;
  if (options.dry_run) return size;
  ANDIRON_TRY(sink.reserve(size));
  ANDIRON_TRY(sink.write(bytes_of(head)));
  ANDIRON_TRY(DataCopier(sink, options, info.byte_size).copy(archive.snapshot(0), info.byte_size));
  return size;
}

}  // namespace

Kept kept_by_numpy(const KeptContext& context) { return {.names = context.ending != npy_ending}; }

Result<std::uint64_t> write_numpy(const WriteContext& context) {
  if (context.ending == npy_ending)
    return write_npy(context.archive, context.sink, context.options);
  NpzWriter npz(context.archive, context.options);
  ANDIRON_TRY(npz.plan());
  if (!context.options.dry_run) ANDIRON_TRY(npz.write(context.sink));
  return npz.size();
}

}  // namespace andiron::inline v1::detail
