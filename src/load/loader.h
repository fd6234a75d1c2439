// SPDX-License-Identifier: MIT OR Apache-2.0
// The second half of a load: reading what was planned, and putting it in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "andiron/apply.h"
#include "src/load/load_plan.h"

namespace andiron::inline v1::detail {

// What several parameters take is read once: tensors that the file ties, as the embedding and the
// output layer of a language model.
class SharedReads {
 public:
  SharedReads(const Archive& source, const LoadPlan& plan);

  // The data of `assignment`, if it was read for another one.
  const Tensor* find(const Assignment& assignment) const;
  void keep(const Assignment& assignment, const Tensor& data);

 private:
  struct Read {
    const Assignment* assignment = nullptr;
    Tensor data;
  };

  // The tensor of the source, or the first one that it is tied to.
  std::size_t first_of(const Assignment& assignment) const;

  const LoadPlan& plan_;
  std::vector<std::optional<std::size_t>> ties_;
  std::unordered_map<std::size_t, Read> reads_;
};

// Reads the tensors of a plan one by one. The new values are put in place at the end, all at once;
// with in_place, each as soon as it is read.
class Loader {
 public:
  Loader(LoadPlan& plan, const std::vector<Slot>& slots, const Archive& source,
         const ApplyOptions& options);

  // Fails where the load must stop; otherwise what cannot be read is in the plan's result.
  Status take(const Assignment& assignment);
  // The step that cannot fail.
  ApplyResult finish() &&;

 private:
  struct Replacement {
    const Slot* slot;
    std::shared_ptr<void> value;
    void commit() const noexcept { slot->ops->commit(slot->leaf, value); }
  };

  // The leaf's own memory, to be read into in place; nothing where that cannot be.
  std::span<std::byte> own_memory(const Slot& slot, const TensorSnapshot& tensor) const;
  // Data that needs no reading: lent by the source, or read before.
  Result<std::optional<Tensor>> ready_data(const Assignment& assignment);
  // Memory for a new value: the leaf's choice, or ours.
  Result<Bytes> fresh_memory(const Slot& slot, const TensorSnapshot& tensor);
  // Makes the new value, beside the old one.
  Status replace(const Assignment& assignment, Tensor data);
  // Counts memory that is taken, up to the limit, and data that is there.
  Status allow(std::uint64_t bytes);
  Status advance(std::uint64_t bytes);
  // What became of a tensor that cannot be loaded.
  Status failed(const Assignment& assignment, Error error);
  Error stopped(const Assignment& last, Error error);

  LoadPlan& plan_;
  const std::vector<Slot>& slots_;
  const Archive& source_;
  const ApplyOptions& options_;
  SharedReads shared_;
  std::vector<Replacement> replacements_;
  std::vector<bool> failed_;  // by slot
  std::uint64_t done_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace andiron::inline v1::detail
