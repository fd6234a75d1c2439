// SPDX-License-Identifier: MIT OR Apache-2.0
// The members, in any order:
//
//   storages   pickle: count; count times
//                pickle: (key, location, class), i64 number of elements, their bytes
//              then pickle: [(view key, root key, offset, elements) ...]
//   tensors    pickle: count; count times
//                pickle: (key, storage key, class), i32 dimensions, 4 bytes,
//                i64 sizes, i64 strides, i64 offset in the storage
//   pickle     the object; tensors and storages by their keys as persistent ids
//   sys_info   a dict, not needed
//
// Some tools write no `tensors`, but rebuild calls into `pickle`, as later files have them.
// Tested by tests/format/pytorch_tar_test.cpp
#include "src/format/pytorch/tar_file.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/codec/pickle/machine.h"
#include "src/codec/tar_reader.h"
#include "src/core/limit.h"
#include "src/core/little_endian.h"
#include "src/core/quoted.h"
#include "src/core/try.h"
#include "src/format/pytorch/python_text.h"

namespace andiron::inline v1::detail {
namespace {

Error bad_file(const ByteSource& source, std::string message, std::string found = {}) {
  return Error{.code = ErrorCode::bad_archive,
               .message = std::move(message),
               .file = source.name(),
               .found = std::move(found)};
}

class TarStorages : public StorageFinder {
 public:
  explicit TarStorages(std::string file) : file_(std::move(file)) {}
  Status find(const StorageId& id, Storage& out) override {
    const auto found = storages.find(std::string(id.key));
    if (found == storages.end()) return missing_storage("storage", id.key, file_);
    ANDIRON_TRY(check_storage_size(id, found->second.bytes, file_));
    out = found->second;
    return {};
  }
  const TorchTensor* tensor(std::string_view key) const override {
    const auto found = tensors.find(std::string(key));
    return found == tensors.end() ? nullptr : &found->second;
  }

  std::unordered_map<std::string, Storage> storages;
  std::unordered_map<std::string, TorchTensor> tensors;

 private:
  std::string file_;
};

// Goes through one member.
class MemberCursor {
 public:
  MemberCursor(const ByteSourcePtr& source, std::uint32_t file, const TarMember& member,
               const Limits& limits)
      : source_(source),
        file_(file),
        limits_(limits),
        at_(member.offset),
        end_(member.offset + member.bytes) {}

  Result<std::unique_ptr<PickleContent>> pickle() {
    ANDIRON_ASSIGN(PickleGraph graph, read_pickle(*source_, at_, end_, limits_));
    at_ = graph.end();
    return std::make_unique<PickleContent>(std::move(graph), source_, file_);
  }

  Result<std::uint64_t> count() {
    ANDIRON_ASSIGN(const auto content, pickle());
    const auto number = content->size(content->graph().root());
    // Every item takes more than a byte.
    if (!number || *number > end_ - at_) return bad_file(*source_, "a count that cannot be");
    return *number;
  }

  Result<std::uint64_t> number(unsigned bytes) {
    std::array<std::byte, 8> buffer = {};
    if (end_ - at_ < bytes) return cut_short();
    ANDIRON_TRY(source_->read_at(at_, std::span(buffer).first(bytes)));
    at_ += bytes;
    return load_u64(buffer.data());
  }

  // Passes over bytes; returns where they begin.
  Result<std::uint64_t> skip(std::uint64_t bytes) {
    if (bytes > end_ - at_) return cut_short();
    const std::uint64_t begin = at_;
    at_ += bytes;
    return begin;
  }

  bool at_end() const { return at_ == end_; }

 private:
  Error cut_short() const {
    return Error{.code = ErrorCode::truncated,
                 .message = "a member of the archive ends too soon",
                 .file = source_->name()};
  }

  const ByteSourcePtr& source_;
  std::uint32_t file_;
  const Limits& limits_;
  std::uint64_t at_;
  std::uint64_t end_;
};

std::string key_text(const PickleContent& content, PickleValue key) {
  std::string text;
  append_python_str(text, content.graph(), key);
  return text;
}

class TarFileReader {
 public:
  TarFileReader(const ByteSourcePtr& source, std::uint32_t file, const Limits& limits)
      : source_(source), file_(file), limits_(limits) {}

  Result<std::shared_ptr<PickledFile>> read() {
    ANDIRON_ASSIGN(members_, read_tar(*source_, limits_));
    const TarMember* pickle = member("pickle");
    const TarMember* storages = member("storages");
    if (pickle == nullptr || storages == nullptr) {
      return Error{.code = ErrorCode::not_a_weight_file,
                   .message = "this is no weight file that we know",
                   .file = source_->name(),
                   .found = "a tar archive without 'pickle' and 'storages'",
                   .hint = "unpack it first"};
    }
    auto found = std::make_unique<TarStorages>(source_->name());
    ANDIRON_TRY(read_storages({source_, file_, *storages, limits_}, *found));
    if (const TarMember* tensors = member("tensors")) {
      ANDIRON_TRY(read_tensors({source_, file_, *tensors, limits_}, *found));
    }
    ANDIRON_ASSIGN(PickleGraph object,
                   read_pickle(*source_, pickle->offset, pickle->offset + pickle->bytes, limits_));
    auto file = std::make_shared<PickledFile>(std::move(object), source_, file_);
    file->storages = std::move(found);
    file->file_bytes = source_->size();
    return file;
  }

 private:
  const TarMember* member(std::string_view name) const {
    const auto found = std::find_if(members_.begin(), members_.end(),
                                    [&](const TarMember& one) { return one.name == name; });
    return found == members_.end() ? nullptr : &*found;
  }

  Status read_storages(MemberCursor cursor, TarStorages& out) {
    ANDIRON_ASSIGN(const std::uint64_t count, cursor.count());
    for (std::uint64_t i = 0; i < count; ++i) {
      ANDIRON_ASSIGN(const auto content, cursor.pickle());
      const auto items = content->tuple(content->graph().root());
      if (!items || items->size() < 3 || (*items)[2].kind != PickleKind::global) {
        return bad_file(*source_, "a storage without key and class");
      }
      const std::string key = key_text(*content, (*items)[0]);
      const std::string_view name = content->graph().global((*items)[2]).name;
      Storage storage;
      storage.type = storage_elements(name);
      if (storage.type == nullptr) {
        return bad_file(*source_, "a storage of a class that we do not know", std::string(name));
      }
      ANDIRON_ASSIGN(const std::uint64_t elements, cursor.number(8));
      if (__builtin_mul_overflow(elements, storage.type->bytes, &storage.bytes)) {
        return bad_file(*source_, "a storage that is too large", "storage " + quoted(key));
      }
      ANDIRON_ASSIGN(storage.offset, cursor.skip(storage.bytes));
      storage.source = source_;
      storage.file = file_;
      out.storages.insert_or_assign(key, storage);
    }
    return cursor.at_end() ? Status() : read_views(cursor, out);
  }

  Status read_views(MemberCursor& cursor, TarStorages& out) {
    ANDIRON_ASSIGN(const auto content, cursor.pickle());
    const PickleValue list = content->graph().root();
    if (list.kind != PickleKind::list) return bad_file(*source_, "the list of views is missing");
    for (const PickleValue view : content->graph().items(list)) {
      const auto items = content->tuple(view);
      const bool is_view = items && items->size() == 4;
      const auto offset = is_view ? content->size((*items)[2]) : std::nullopt;
      const auto elements = is_view ? content->size((*items)[3]) : std::nullopt;
      if (!offset || !elements) return bad_file(*source_, "a view without offset and size");
      const auto root = out.storages.find(key_text(*content, (*items)[1]));
      if (root == out.storages.end()) {
        return bad_file(*source_, "a view of a storage that is not there");
      }
      Storage storage = root->second;
      std::uint64_t begin = 0;
      std::uint64_t bytes = 0;
      if (__builtin_mul_overflow(*offset, storage.type->bytes, &begin) ||
          __builtin_mul_overflow(*elements, storage.type->bytes, &bytes) || begin > storage.bytes ||
          bytes > storage.bytes - begin) {
        return bad_file(*source_, "a view that leaves its storage");
      }
      storage.offset += begin;
      storage.bytes = bytes;
      out.storages.insert_or_assign(key_text(*content, (*items)[0]), storage);
    }
    return {};
  }

  Status read_tensors(MemberCursor cursor, TarStorages& out) {
    ANDIRON_ASSIGN(const std::uint64_t count, cursor.count());
    ANDIRON_TRY(
        check_limit(count, limits_.tensors, {"too many tensors", "tensors", "", source_->name()}));
    for (std::uint64_t i = 0; i < count; ++i) {
      ANDIRON_ASSIGN(const auto content, cursor.pickle());
      const auto items = content->tuple(content->graph().root());
      if (!items || items->size() < 2) return bad_file(*source_, "a tensor without a storage");
      const auto storage = out.storages.find(key_text(*content, (*items)[1]));
      if (storage == out.storages.end()) {
        return Error{.code = ErrorCode::missing_storage,
                     .message = "a tensor of a storage that is not there",
                     .file = source_->name(),
                     .found = "storage " + quoted(key_text(*content, (*items)[1]))};
      }
      TorchTensor tensor;
      tensor.storage = storage->second;
      tensor.type = storage->second.type;
      ANDIRON_ASSIGN(const std::uint64_t rank, cursor.number(4));
      if (rank > max_rank) {
        return bad_file(*source_, "a tensor with too many dimensions", std::to_string(rank));
      }
      tensor.rank = static_cast<std::size_t>(rank);
      ANDIRON_TRY(cursor.skip(4));
      for (std::size_t d = 0; d < tensor.rank; ++d) {
        ANDIRON_ASSIGN(tensor.shape[d], cursor.number(8));
      }
      for (std::size_t d = 0; d < tensor.rank; ++d) {
        ANDIRON_ASSIGN(const std::uint64_t stride, cursor.number(8));
        tensor.strides[d] = static_cast<std::int64_t>(stride);
      }
      ANDIRON_ASSIGN(tensor.offset, cursor.number(8));
      out.tensors.insert_or_assign(key_text(*content, (*items)[0]), tensor);
    }
    return {};
  }

  const ByteSourcePtr& source_;
  std::uint32_t file_;
  const Limits& limits_;
  std::vector<TarMember> members_;
};

}  // namespace

Result<std::shared_ptr<PickledFile>> read_tar_file(const ByteSourcePtr& source, std::uint32_t file,
                                                   const Limits& limits) {
  return TarFileReader(source, file, limits).read();
}

}  // namespace andiron::inline v1::detail
