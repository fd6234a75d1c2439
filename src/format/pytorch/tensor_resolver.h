// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns the calls that would rebuild tensors into tensors, without making any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "andiron/error.h"
#include "src/format/pytorch/pickle_content.h"
#include "src/format/pytorch/torch_tensor.h"

namespace andiron {
inline namespace v1 {
namespace detail {

// How a pickle names a storage: ("storage", class, key, device, numel[, view]).
struct StorageId {
  std::string key;
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

// What a container knows of the data that its pickle refers to.
class StorageFinder {
 public:
  virtual ~StorageFinder() = default;
  // MissingStorage where there is none, SizeMismatch where it has another size.
  virtual Result<Storage> find(const StorageId& id) = 0;
  // The tensor that a persistent id names by itself, in tar files; nullptr where it names none.
  virtual const TorchTensor* tensor(std::string_view) const { return nullptr; }
};

// Takes the tensors that one value stands for: most stand for one, a sparse one for its parts.
class PartSink {
 public:
  virtual ~PartSink() = default;
  // `part` is empty, or ".indices" and the like.
  virtual Status take(std::string_view part, const TorchTensor& tensor) = 0;
};

// What became of a value.
struct Resolution {
  enum class Kind : std::uint8_t {
    no_tensor,  // the value is something else
    taken,
    skipped,  // a tensor that has no data here; `text` says why
    shell,    // its tensors are in its state, to be walked as an object's
  };
  Kind kind = Kind::no_tensor;
  std::optional<PickleValue> state = {};  // of a tensor with attributes, or of a shell
  // Behind pointers, as hardly any tensor has them: why it was skipped, or the class of a shell;
  // what is particular about one that was taken.
  std::unique_ptr<std::string> text = {};
  std::unique_ptr<std::string> note = {};
};

class TensorResolver {
 public:
  // Data of the container is big-endian where `big_endian` says so. A tensor may take up to
  // `most_bytes` in memory.
  TensorResolver(const PickleContent& content, StorageFinder& storages, bool big_endian,
                 std::uint64_t most_bytes, const Limits& limits)
      : content_(content),
        storages_(storages),
        big_endian_(big_endian),
        most_bytes_(most_bytes),
        limits_(limits) {}

  // Whether a value is a tensor, told by what would make it.
  bool is_tensor(PickleValue value) const;
  Result<Resolution> resolve(PickleValue value, PartSink& sink);
  // The storage that a persistent id, or bytes within the pickle, stand for.
  Result<Storage> storage(PickleValue value);

 private:
  struct Call {
    Callable callable;
    std::span<const PickleValue> args;
    std::optional<PickleValue> state;
  };
  Result<Resolution> resolve_call(const Call& call, PartSink& sink, unsigned depth);
  Result<Resolution> resolve_known(const Call& call, PartSink& sink, unsigned depth);
  Result<Resolution> resolve_inner(PickleValue value, PartSink& sink, unsigned depth);
  Result<Resolution> from_type(const Call& call, PartSink& sink, unsigned depth);
  Result<Resolution> quantized(const Call& call, PartSink& sink, unsigned depth);
  Result<Resolution> sparse(const Call& call, PartSink& sink, unsigned depth);
  Result<Resolution> nested(const Call& call, PartSink& sink, unsigned depth);
  Result<Resolution> jagged(const Call& call, PartSink& sink, unsigned depth);
  // `dtype` is what the array is converted to.
  Result<Resolution> from_numpy(PickleValue array, std::optional<PickleValue> dtype,
                                PartSink& sink);
  Result<Resolution> old_tensor(const Call& call, PartSink& sink);
  Result<Resolution> bare_storage(PickleValue value, PartSink& sink);
  Result<Resolution> plain(std::span<const PickleValue> args, const ElementType* type,
                           std::optional<PickleValue> metadata, PartSink& sink);
  // (storage, offset, size, stride)
  Status set_view(std::span<const PickleValue> args, TorchTensor& tensor);
  Status show_packed_bytes(TorchTensor& tensor) const;
  Result<Resolution> take(std::string_view part, TorchTensor& tensor, PartSink& sink) const;

  const ElementType* class_elements(PickleValue storage_class) const;
  Status read_storage_id(PickleValue value, StorageId& id) const;
  Result<Storage> embedded_storage(PickleValue object);
  // A number, or a list of them, as int64 where they are whole, else as float64.
  Result<Storage> stored_numbers(PickleValue value, bool whole);
  Error bad(std::string message, std::string found = {}) const;

  const PickleContent& content_;
  StorageFinder& storages_;
  bool big_endian_;
  std::uint64_t most_bytes_;
  const Limits& limits_;
  StorageId id_;  // of the storage that was asked for last
  // The class of the last storage, which is that of most.
  mutable PickleValue last_class_;
  mutable const ElementType* last_elements_ = nullptr;
  // What is made of values that others may refer to as well is made once: storages out of bytes
  // that are whole files, and out of lists of numbers.
  std::map<std::tuple<const ByteSource*, std::uint64_t, std::uint64_t>, Storage> embedded_;
  bool within_parts_ = false;
  std::map<std::pair<std::size_t, bool>, Storage> lists_;
};

}  // namespace detail
}  // namespace v1
}  // namespace andiron
