// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns the storages that a pickle names into bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "andiron/error.h"
#include "src/format/pytorch/pickle_document.h"
#include "src/format/pytorch/torch_tensor.h"

namespace andiron::inline v1::detail {

// How a pickle names a storage: ("storage", class, key, device, numel[, view]).
struct StorageId {
  std::string_view key;
  const ElementType* type = nullptr;
  std::uint64_t elements = 0;
  bool on_meta_device = false;
  // Of the oldest files: the elements that this storage has of the one named by `key`.
  struct View {
    std::uint64_t offset = 0;
    std::uint64_t elements = 0;
  };
  std::optional<View> view;
};

// Finds the data that a pickle refers to, in its packaging.
class StorageFinder {
 public:
  virtual ~StorageFinder() = default;
  // Fills in a fresh `out`, but for type and size; in place, as handing it up from call to call
  // would show. MissingStorage where there is none, SizeMismatch where it has another size.
  virtual Status find(const StorageId& id, Storage& out) = 0;
  // The tensor that a persistent id names by itself, in tar files; nullptr where it names none.
  virtual const TorchTensor* tensor(std::string_view) const { return nullptr; }
};

// Appends the key of a storage, which is text or a number; false for what can be none.
bool append_storage_key(std::string& out, const PickleGraph& graph, PickleValue key);

// Errors that finders share.
Error missing_storage(std::string_view kind, std::string_view key, std::string file);
// Fails with SizeMismatch if `bytes` is not the size in the pickle. A few more bytes, less than one
// element, are accepted: PyTorch writes whole storages, for example 15 bytes that a tensor views as
// 3 floats.
Status check_storage_size(const StorageId& id, std::uint64_t bytes, const std::string& file);

class StorageResolver {
 public:
  StorageResolver(const PickleDocument& content, StorageFinder& finder, const Limits& limits)
      : content_(content), finder_(finder), limits_(limits) {}

  // The storage that a persistent id, or bytes within the pickle, stand for, into a fresh `out`.
  Status resolve(PickleValue value, Storage& out);
  // A number, or a list of them, as int64 where they are whole, else as float64.
  Result<Storage> numbers(PickleValue value, bool whole);

 private:
  const ElementType* class_elements(PickleValue storage_class);
  Status read_key(PickleValue value);
  Status read_id(PickleValue value);
  Status embedded(PickleValue object, Storage& out);

  const PickleDocument& content_;
  StorageFinder& finder_;
  const Limits& limits_;
  StorageId id_;     // of the storage that was asked for last
  std::string key_;  // its key, where that is no text
  // The class of the last storage, which is that of most.
  PickleValue last_class_;
  const ElementType* last_elements_ = nullptr;
  // What is made of values that others may refer to as well is made once: storages out of bytes
  // that are whole files, and out of lists of numbers.
  std::map<std::tuple<const ByteSource*, std::uint64_t, std::uint64_t>, Storage> embedded_;
  std::map<std::pair<std::size_t, bool>, Storage> lists_;
};

}  // namespace andiron::inline v1::detail
