// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns the calls that would rebuild tensors into tensors, without making any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "andiron/error.h"
#include "andiron/open.h"
#include "src/format/pytorch/pickle_content.h"
#include "src/format/pytorch/storage_resolver.h"
#include "src/format/pytorch/torch_tensor.h"

namespace andiron::inline v1::detail {

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
  PickleValue state = {};  // of a tensor with attributes, or of a shell
  // Behind pointers, as hardly any tensor has them: why it was skipped, or the class of a shell;
  // what is particular about one that was taken.
  std::unique_ptr<std::string> text = {};
  std::unique_ptr<std::string> note = {};

  bool has_state() const noexcept { return state.kind != PickleKind::none; }
};

class TensorResolver {
 public:
  // Data of the container is big-endian where `big_endian` says so. NumPy's arrays are skipped
  // unless `takes_arrays`. A tensor may take up to `most_bytes` in memory.
  TensorResolver(const PickleContent& content, StorageFinder& finder, bool big_endian,
                 bool takes_arrays, std::uint64_t most_bytes, const OpenOptions& options)
      : content_(content),
        finder_(finder),
        storages_(content, finder, options.limits),
        big_endian_(big_endian),
        takes_arrays_(takes_arrays),
        most_bytes_(most_bytes),
        limits_(options.limits),
        lenient_(options.strictness == Strictness::lenient) {}

  // Whether a value is a tensor, told by what would make it.
  bool is_tensor(PickleValue value) const;
  Result<Resolution> resolve(PickleValue value, PartSink& sink);

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
  // An array of its own, and one that a tensor is made of; `dtype` is what it is converted to.
  Result<Resolution> array(PickleValue value, PartSink& sink);
  Result<Resolution> from_numpy(PickleValue array, PickleValue dtype, PartSink& sink);
  Result<Resolution> old_tensor(const Call& call, PartSink& sink);
  Result<Resolution> bare_storage(PickleValue value, PartSink& sink);
  Result<Resolution> plain(std::span<const PickleValue> args, const ElementType* type,
                           PickleValue metadata, PartSink& sink);
  // (storage, offset, size, stride)
  Status set_view(std::span<const PickleValue> args, TorchTensor& tensor);
  Status show_packed_bytes(TorchTensor& tensor) const;
  Result<Resolution> take(std::string_view part, TorchTensor& tensor, PartSink& sink) const;

  Error bad(std::string message, std::string found = {}) const;

  const PickleContent& content_;
  StorageFinder& finder_;
  StorageResolver storages_;
  bool big_endian_;
  bool takes_arrays_;
  std::uint64_t most_bytes_;
  const Limits& limits_;
  bool lenient_;
  bool within_parts_ = false;
};

}  // namespace andiron::inline v1::detail
