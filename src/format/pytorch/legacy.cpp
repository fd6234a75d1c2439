// SPDX-License-Identifier: MIT OR Apache-2.0
// The layout:
//
//   pickle: 0x1950a86a20f9469cfc6c                          magic number
//   pickle: 1001                                            protocol
//   pickle: {"protocol_version", "little_endian", "type_sizes"}
//   pickle: the object; storages by persistent ids of 6 items, the last for views
//   pickle: [key, key ...]
//   for each key: i64 number of elements, then their bytes, little-endian on every machine
//
// The size of an element is told by the persistent ids alone.
// Tested by tests/format/pytorch_legacy_test.cpp
#include "src/format/pytorch/legacy.h"

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/codec/pickle/machine.h"
#include "src/core/little_endian.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/pytorch/python_text.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::int64_t protocol = 1001;
constexpr std::size_t pickle_count = 5;  // in front of the storages

Error bad_file(const Storage& bytes, std::string message, std::string found = {}) {
  return Error{.code = ErrorCode::bad_pickle,
               .message = std::move(message),
               .file = bytes.source->name(),
               .found = std::move(found)};
}

class LegacyStorages : public StorageFinder {
 public:
  struct Run {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  explicit LegacyStorages(Storage file) : file_(std::move(file)) {}

  void add(std::string key, Run run) { runs_.insert_or_assign(std::move(key), run); }

  Status find(const StorageId& id, Storage& out) override {
    const auto found = runs_.find(std::string(id.key));
    if (found == runs_.end()) return missing_storage("storage", id.key, file_.source->name());
    const Run& run = found->second;
    ANDIRON_TRY(check_storage_size(id, run.bytes, file_.source->name()));
    out.source = file_.source;
    out.offset = run.offset;
    out.file = file_.file;
    return {};
  }

 private:
  Storage file_;
  std::unordered_map<std::string, Run> runs_;
};

// Reads numbers that lie apart: near ones come out of one read.
class Numbers {
 public:
  explicit Numbers(const ByteSource& source) : source_(source) {}

  Result<std::uint64_t> at(std::uint64_t offset) {
    constexpr std::uint64_t size = 8;
    if (offset < begin_ || offset + size > begin_ + count_) {
      // Far apart, only the number itself is read.
      const bool near = offset - begin_ < 16 * buffer_.size();
      const std::uint64_t left = source_.size() - offset;
      count_ =
          static_cast<std::size_t>(std::min<std::uint64_t>(near ? buffer_.size() : size, left));
      begin_ = offset;
      ANDIRON_TRY(source_.read_at(offset, std::span(buffer_).first(count_)));
    }
    return load_u64(buffer_.data() + (offset - begin_));
  }

 private:
  const ByteSource& source_;
  std::uint64_t begin_ = 0;
  std::size_t count_ = 0;
  std::array<std::byte, 16 * 1024> buffer_;
};

// The size of an element of each storage that the object refers to.
std::unordered_map<std::string, std::uint64_t> element_sizes(const PickleDocument& content) {
  std::unordered_map<std::string, std::uint64_t> sizes;
  for (const PickleValue id : content.graph().persistent_ids()) {
    if (id.kind != PickleKind::tuple) continue;
    const auto items = content.graph().tuple(id);
    if (items.size() < 5 || content.text(items[0]) != "storage") continue;
    if (items[1].kind != PickleKind::global) continue;
    const ElementType* type = storage_elements(content.graph().global(items[1]).name);
    std::string key;
    if (!append_storage_key(key, content.graph(), items[2])) continue;
    if (type != nullptr) sizes.try_emplace(std::move(key), type->bytes);
  }
  return sizes;
}

// What must hold for a pickle in front of the storages, by its place.
Status check_pickle(const Storage& bytes, std::size_t place, const PickleGraph& pickle) {
  const PickleValue root = pickle.root();
  if (place == 0 && !is_legacy_magic(pickle, root)) {
    return bad_file(bytes, "not a PyTorch file: the magic number is missing");
  }
  if (place == 1 && (root.kind != PickleKind::integer || pickle.integer(root) != protocol)) {
    return bad_file(bytes, "unknown protocol");
  }
  if (place == 2 && root.kind != PickleKind::dict) {
    return bad_file(bytes, "the description of the system is missing");
  }
  if (place == 4 && root.kind != PickleKind::list && root.kind != PickleKind::tuple) {
    return bad_file(bytes, "the list of storages is missing");
  }
  return {};
}

Error cut_short(const Storage& bytes, const std::string& key, std::uint64_t at) {
  return Error{.code = ErrorCode::truncated,
               .message = "the data of a storage is cut off",
               .file = bytes.source->name(),
               .found = "storage " + in_quotes(key) + " at byte " + std::to_string(at) + " of " +
                        std::to_string(bytes.offset + bytes.bytes),
               .hint = "the download may be incomplete; " + Message(Advice::lenient) +
                       " reads what is there"};
}

}  // namespace

bool is_legacy_magic(const PickleGraph& graph, PickleValue value) {
  constexpr std::string_view magic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  return value.kind == PickleKind::big_integer && graph.blob(value).view() == magic;
}

Result<std::shared_ptr<PickledFile>> read_legacy(const Storage& bytes, const Limits& limits,
                                                 Strictness strictness, MemoryBudget* budget) {
  std::uint64_t at = bytes.offset;
  const std::uint64_t end = bytes.offset + bytes.bytes;
  std::vector<PickleGraph> pickles;
  while (pickles.size() < pickle_count) {
    ANDIRON_ASSIGN(PickleGraph pickle, read_pickle(*bytes.source, at, end, limits, budget));
    ANDIRON_TRY(check_pickle(bytes, pickles.size(), pickle));
    at = pickle.end();
    pickles.push_back(std::move(pickle));
  }
  auto file = std::make_shared<PickledFile>(std::move(pickles[3]), bytes.source, bytes.file);
  file->file_bytes = bytes.bytes;
  const PickleGraph& keys = pickles[4];
  const auto sizes = element_sizes(file->content);
  auto storages = std::make_unique<LegacyStorages>(bytes);
  Numbers numbers(*bytes.source);
  for (const PickleValue value : keys.items(keys.root())) {
    std::string key;
    if (!append_storage_key(key, keys, value)) {
      return bad_file(bytes, "a storage key is neither short text nor a number");
    }
    const auto size = sizes.find(key);
    if (size == sizes.end()) {
      return bad_file(bytes, "no tensor refers to a storage in the file",
                      "storage " + in_quotes(key) + ", of unknown size");
    }
    std::uint64_t count = 0;
    bool fits = end - at >= 8;
    if (fits) {
      ANDIRON_ASSIGN(const std::uint64_t elements, numbers.at(at));
      fits = !__builtin_mul_overflow(elements, size->second, &count) && count <= end - at - 8;
    }
    // What came before the cut can be read.
    if (!fits && strictness == Strictness::lenient) break;
    if (!fits) return cut_short(bytes, key, at);
    at += 8;
    storages->add(std::move(key), {at, count});
    at += count;
  }
  file->storages = std::move(storages);
  return file;
}

Result<Storage> read_legacy_storage(const Storage& bytes, const Limits& limits) {
  ANDIRON_ASSIGN(const std::shared_ptr<PickledFile> file, read_legacy(bytes, limits));
  const PickleValue root = file->content.graph().root();
  if (root.kind != PickleKind::persistent) {
    return bad_file(bytes, "bytes in a pickle do not contain a storage");
  }
  Storage storage;
  ANDIRON_TRY(StorageResolver(file->content, *file->storages, limits).resolve(root, storage));
  return storage;
}

}  // namespace andiron::inline v1::detail
