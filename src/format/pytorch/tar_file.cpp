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
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/codec/pickle/machine.h"
#include "src/codec/tar_reader.h"
#include "src/core/check_limit.h"
#include "src/core/little_endian.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/pytorch/python_text.h"

namespace andiron::inline v1::detail {
namespace {

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

// What a storage or a tensor takes here, with a key of usual length.
constexpr std::uint64_t record_bytes = sizeof(TorchTensor) + 256;

// The longest numbers behind a pickle: those of a tensor with all dimensions there can be.
constexpr std::size_t most_number_bytes = 4 + 4 + max_rank * (8 + 8) + 8;

// Goes through a member that is a count, then as many records of a pickle and numbers behind it,
// then maybe one more pickle. Its owner reads them.
class MemberReader {
 public:
  MemberReader(const ByteSourcePtr& source, std::uint32_t file, const TarMember& member)
      : source_(source), file_(file), at_(member.offset), end_(member.offset + member.bytes) {}
  virtual ~MemberReader() = default;

  // Where the next pickle lies, and how far it may reach.
  std::uint64_t at() const { return at_; }
  std::uint64_t end() const { return end_; }
  bool is_done() const { return items_left_ == 0 && (is_rest_taken_ || !has_rest()); }

  // `behind`: what follows the pickle, at most as many bytes as numbers may take.
  Status take(const PickleDocument& content, std::span<const std::byte> behind) {
    at_ = content.graph().end();
    behind_ = behind;
    if (!items_left_) return take_count(content);
    is_rest_taken_ = *items_left_ == 0;
    if (is_rest_taken_) return take_rest(content);
    --*items_left_;
    return take_item(content);
  }

 protected:
  virtual Status check_count(std::uint64_t) const { return {}; }
  virtual Status take_item(const PickleDocument& content) = 0;
  virtual bool has_rest() const { return false; }
  virtual Status take_rest(const PickleDocument&) { return {}; }

  bool is_at_end() const { return at_ == end_; }
  const ByteSourcePtr& source() const { return source_; }
  std::uint32_t file() const { return file_; }
  Error bad(std::string message, std::string found = {}) const {
    return Error{.code = ErrorCode::bad_archive,
                 .message = std::move(message),
                 .file = source_->name(),
                 .found = std::move(found)};
  }

  // The next number behind the pickle. REQUIRES: those of a record take at most most_number_bytes.
  Result<std::uint64_t> number(std::size_t bytes) {
    std::array<std::byte, 8> digits = {};
    if (behind_.size() < bytes) return cut_short();
    std::copy_n(behind_.begin(), bytes, digits.begin());
    behind_ = behind_.subspan(bytes);
    at_ += bytes;
    return load_u64(digits.data());
  }

  // Passes over data, the last of a record; returns where it begins.
  Result<std::uint64_t> skip(std::uint64_t bytes) {
    if (bytes > end_ - at_) return cut_short();
    return std::exchange(at_, at_ + bytes);
  }

 private:
  Status take_count(const PickleDocument& content) {
    items_left_ = content.size(content.graph().root());
    // Every item takes more than a byte.
    if (!items_left_ || *items_left_ > end_ - at_) return bad("an impossible count");
    return check_count(*items_left_);
  }

  Error cut_short() const {
    return Error{.code = ErrorCode::truncated,
                 .message = "a member of the archive ends too early",
                 .file = source_->name()};
  }

  const ByteSourcePtr& source_;
  const std::uint32_t file_;
  std::uint64_t at_;
  const std::uint64_t end_;
  std::span<const std::byte> behind_;
  std::optional<std::uint64_t> items_left_;  // unknown before the count
  bool is_rest_taken_ = false;
};

std::string key_text(const PickleDocument& content, PickleValue key) {
  std::string text;
  append_python_str(text, content.graph(), key);
  return text;
}

class StoragesReader : public MemberReader {
 public:
  StoragesReader(const ByteSourcePtr& source, std::uint32_t file, const TarMember& member,
                 TarStorages& out)
      : MemberReader(source, file, member), out_(out) {}

 private:
  Status take_item(const PickleDocument& content) override {
    const auto items = content.tuple(content.graph().root());
    if (!items || items->size() < 3 || (*items)[2].kind != PickleKind::global) {
      return bad("a storage has no key or class");
    }
    const std::string key = key_text(content, (*items)[0]);
    const std::string_view name = content.graph().global((*items)[2]).name;
    Storage storage;
    storage.type = storage_elements(name);
    if (storage.type == nullptr) {
      return bad("a storage of an unknown class", std::string(name));
    }
    ANDIRON_ASSIGN(const std::uint64_t elements, number(8));
    if (__builtin_mul_overflow(elements, storage.type->bytes, &storage.bytes)) {
      return bad("a storage is too large", "storage " + in_quotes(key));
    }
    ANDIRON_ASSIGN(storage.offset, skip(storage.bytes));
    storage.source = source();
    storage.file = file();
    out_.storages.insert_or_assign(key, storage);
    return {};
  }

  bool has_rest() const override { return !is_at_end(); }

  // The list of views.
  Status take_rest(const PickleDocument& content) override {
    const PickleValue list = content.graph().root();
    if (list.kind != PickleKind::list) return bad("the list of views is missing");
    for (const PickleValue view : content.graph().items(list)) {
      const auto items = content.tuple(view);
      const bool is_view = items && items->size() == 4;
      const auto offset = is_view ? content.size((*items)[2]) : std::nullopt;
      const auto elements = is_view ? content.size((*items)[3]) : std::nullopt;
      if (!offset || !elements) return bad("a view has no offset or size");
      const auto root = out_.storages.find(key_text(content, (*items)[1]));
      if (root == out_.storages.end()) {
        return bad("a view refers to a missing storage");
      }
      Storage storage = root->second;
      std::uint64_t begin = 0;
      std::uint64_t bytes = 0;
      if (__builtin_mul_overflow(*offset, storage.type->bytes, &begin) ||
          __builtin_mul_overflow(*elements, storage.type->bytes, &bytes) || begin > storage.bytes ||
          bytes > storage.bytes - begin) {
        return bad("a view extends past its storage");
      }
      storage.offset += begin;
      storage.bytes = bytes;
      out_.storages.insert_or_assign(key_text(content, (*items)[0]), storage);
    }
    return {};
  }

  TarStorages& out_;
};

class TensorsReader : public MemberReader {
 public:
  TensorsReader(const ByteSourcePtr& source, std::uint32_t file, const TarMember& member,
                const Limits& limits, TarStorages& out)
      : MemberReader(source, file, member), limits_(limits), out_(out) {}

 private:
  Status check_count(std::uint64_t count) const override {
    return check_limit(count, limits_.tensors,
                       {"too many tensors", &Limits::tensors, "", source()->name()});
  }

  Status take_item(const PickleDocument& content) override {
    const auto items = content.tuple(content.graph().root());
    if (!items || items->size() < 2) return bad("a tensor has no storage");
    const auto storage = out_.storages.find(key_text(content, (*items)[1]));
    if (storage == out_.storages.end()) {
      return Error{.code = ErrorCode::missing_storage,
                   .message = "a tensor refers to a missing storage",
                   .file = source()->name(),
                   .found = "storage " + in_quotes(key_text(content, (*items)[1]))};
    }
    TorchTensor tensor;
    tensor.storage = storage->second;
    tensor.type = storage->second.type;
    ANDIRON_ASSIGN(const std::uint64_t rank, number(4));
    if (rank > max_rank) {
      return bad("a tensor has too many dimensions", std::to_string(rank));
    }
    tensor.rank = static_cast<std::size_t>(rank);
    ANDIRON_TRY(number(4));
    for (std::size_t d = 0; d < tensor.rank; ++d) {
      ANDIRON_ASSIGN(tensor.shape[d], number(8));
    }
    for (std::size_t d = 0; d < tensor.rank; ++d) {
      ANDIRON_ASSIGN(const std::uint64_t stride, number(8));
      tensor.strides[d] = static_cast<std::int64_t>(stride);
    }
    ANDIRON_ASSIGN(tensor.offset, number(8));
    out_.tensors.insert_or_assign(key_text(content, (*items)[0]), tensor);
    return {};
  }

  const Limits& limits_;
  TarStorages& out_;
};

const TarMember* member(const std::vector<TarMember>& members, std::string_view name) {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const TarMember& one) { return one.name == name; });
  return found == members.end() ? nullptr : &*found;
}

}  // namespace

Result<std::shared_ptr<PickledFile>> read_tar_file(const ByteSourcePtr& source, std::uint32_t file,
                                                   const Limits& limits, MemoryBudget& budget) {
  ANDIRON_ASSIGN(const std::vector<TarMember> members, read_tar(*source, limits));
  const TarMember* pickle = member(members, "pickle");
  const TarMember* storages = member(members, "storages");
  const TarMember* tensors = member(members, "tensors");
  if (pickle == nullptr || storages == nullptr) {
    return Error{.code = ErrorCode::not_a_weight_file,
                 .message = "not a recognized weight file",
                 .file = source->name(),
                 .found = "a tar archive without 'pickle' and 'storages'",
                 .hint = "unpack it first"};
  }
  auto found = std::make_unique<TarStorages>(source->name());
  std::vector<std::unique_ptr<MemberReader>> readers;
  readers.push_back(std::make_unique<StoragesReader>(source, file, *storages, *found));
  if (tensors != nullptr) {
    readers.push_back(std::make_unique<TensorsReader>(source, file, *tensors, limits, *found));
  }
  for (const auto& reader : readers) {
    while (!reader->is_done()) {
      ANDIRON_ASSIGN(PickleGraph graph, read_pickle(*source, reader->at(), reader->end(), limits));
      ANDIRON_TRY(budget.charge(record_bytes, "storages and tensors"));
      std::array<std::byte, most_number_bytes> numbers;
      const auto behind = std::span(numbers).first(static_cast<std::size_t>(
          std::min<std::uint64_t>(numbers.size(), reader->end() - graph.end())));
      ANDIRON_TRY(source->read_at(graph.end(), behind));
      ANDIRON_TRY(reader->take(PickleDocument(std::move(graph), source, file), behind));
    }
  }
  ANDIRON_ASSIGN(PickleGraph object, read_pickle(*source, pickle->offset,
                                                 pickle->offset + pickle->bytes, limits, &budget));
  auto content = std::make_shared<PickledFile>(std::move(object), source, file);
  content->storages = std::move(found);
  content->file_bytes = source->size();
  return content;
}

}  // namespace andiron::inline v1::detail
