// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns the calls that would rebuild tensors into tensors, without calling anything.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/error.h"
#include "andiron/open.h"
#include "src/format/pytorch/pickle_document.h"
#include "src/format/pytorch/storage_resolver.h"
#include "src/format/pytorch/torch_tensor.h"

namespace andiron::inline v1::detail {

struct TensorPart {
  std::string_view name;  // ".indices" and the like; empty for a tensor that is listed as itself
  TorchTensor tensor;
};

// What a value stands for.
struct Resolution {
  enum class Kind : std::uint8_t {
    no_tensor,  // the value is something else
    taken,
    skipped,  // a tensor that has no data here, or data that cannot be read
    shell,    // its tensors are in its state, to be walked as an object's
  };
  Kind kind = Kind::no_tensor;
  bool is_part = false;           // of another tensor
  unsigned wrappers = 0;          // that the tensor was found in
  PickleValue state;              // of a tensor with attributes, or of a shell
  TensorPart whole;               // the tensor, unless there are parts
  std::vector<TensorPart> parts;  // of a tensor that is listed as these
  // What is particular about one that was taken, why it was skipped, or the class of a shell.
  Message text;

  bool has_state() const noexcept { return state.kind != PickleKind::none; }
  // REQUIRES: kind is taken.
  std::span<TensorPart> tensors() noexcept {
    return parts.empty() ? std::span(&whole, 1) : std::span(parts);
  }
};

class TensorResolver {
 public:
  // Data of the container is big-endian where `big_endian` says so. NumPy's arrays are skipped
  // unless `takes_arrays`. A tensor may take as much memory as its storage, or `most_bytes`.
  TensorResolver(const PickleDocument& content, StorageFinder& finder, bool big_endian,
                 bool takes_arrays, std::uint64_t most_bytes, const OpenOptions& options)
      : content_(content),
        finder_(finder),
        storages_(content, finder, options.limits),
        big_endian_(big_endian),
        takes_arrays_(takes_arrays),
        most_bytes_(most_bytes),
        limits_(options.limits),
        lenient_(options.strictness == Strictness::lenient) {}

  // Whether a value is a tensor, judged by the call that would create it.
  bool is_tensor(PickleValue value) const;
  // Fills in a fresh `out`; in place, as a tensor takes a kilobyte.
  Status resolve(PickleValue value, Resolution& out);

 private:
  struct Call {
    Callable callable;
    std::span<const PickleValue> args;
    std::optional<PickleValue> state;
  };
  Status resolve_inner(PickleValue value, Resolution& out);
  Status resolve_call(const Call& call, Resolution& out);
  Status from_type(const Call& call, Resolution& out);
  // `dtype` is what the array is converted to.
  Status array(PickleValue value, PickleValue dtype, bool is_taken, Resolution& out);
  Status bare_storage(PickleValue value, Resolution& out);
  Status plain(std::span<const PickleValue> args, const ElementType* type, PickleValue metadata,
               Resolution& out);
  // (storage, offset, size, stride)
  Status set_view(std::span<const PickleValue> args, TorchTensor& tensor);
  // Takes `out.whole` if it has data that can be read.
  Status take(Resolution& out) const;

  // In composite_tensors.cpp: tensors that are listed as their parts.
  Status quantized(std::span<const PickleValue> args, Resolution& out);
  Status add_scale(std::string_view name, PickleValue value, bool whole, std::uint64_t channels,
                   Resolution& out);
  Status sparse(std::span<const PickleValue> args, Resolution& out);
  Status nested(std::span<const PickleValue> args, Resolution& out);
  Status jagged(std::span<const PickleValue> args, Resolution& out);
  // Fails with BadPickle and the message `otherwise` if the value is not a tensor with data.
  Status add_part(std::string_view name, PickleValue value, const char* otherwise, Resolution& out);

  static Status skip(Message reason, Resolution& out) {
    out.kind = Resolution::Kind::skipped;
    out.text = std::move(reason);
    return {};
  }

  // Of a dict that many tensors may share: it is looked through for each.
  static constexpr std::uint32_t most_metadata = 256;

  const PickleDocument& content_;
  StorageFinder& finder_;
  StorageResolver storages_;
  bool big_endian_;
  bool takes_arrays_;
  std::uint64_t most_bytes_;
  const Limits& limits_;
  bool lenient_;
};

}  // namespace andiron::inline v1::detail
