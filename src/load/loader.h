// SPDX-License-Identifier: MIT OR Apache-2.0
// The second half of a load: reads the planned tensors and replaces the parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "andiron/apply.h"
#include "src/load/load_plan.h"

namespace andiron::inline v1::detail {

// Reads data once if several parameters use it: tensors that the file ties, such as the embedding
// and the output layer of a language model.
class SharedReads {
 public:
  SharedReads(const Archive& source, const LoadPlan& plan);

  // Returns the data of `assignment` if it was read for another one.
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

// Reads the tensors of a plan one by one. Replaces all values at the end; with in_place, each one
// as soon as it is read, in slot order.
class Loader {
 public:
  Loader(LoadPlan& plan, const std::vector<Slot>& slots, const Archive& source,
         const ApplyOptions& options);

  // Fails if the load must stop. Otherwise, tensors that cannot be read are in the plan's result.
  Status take_all();
  // Replaces the values. Cannot fail.
  ApplyResult finish() &&;

 private:
  struct Replacement {
    const Slot* slot;
    std::shared_ptr<void> value;
    void commit() const noexcept { slot->ops->commit(slot->leaf, value); }
  };

  std::vector<const Assignment*> reading_order() const;
  Status take(const Assignment& assignment);
  // The leaf's own memory to read into, for in_place; empty if it cannot be used.
  std::span<std::byte> own_memory(const Slot& slot, const TensorSnapshot& tensor) const;
  // Data that needs no reading: lent by the source, or read before.
  Result<std::optional<Tensor>> ready_data(const Assignment& assignment);
  // Memory for a new value, from the leaf or from us.
  Result<Bytes> fresh_memory(const Slot& slot, const TensorSnapshot& tensor);
  // Makes the new value next to the old one.
  Status replace(const Assignment& assignment, Tensor data);
  // Counts allocated memory, up to the limit, and data that is done.
  Status allow(std::uint64_t bytes);
  Status advance(std::uint64_t bytes);
  // Records a tensor that cannot be loaded.
  Status failed(const Assignment& assignment, Error error);
  Error stopped(const Assignment& last, Error error);
  // The names in the file that closing index gaps changed, for messages.
  std::string renumbered_sources(const Assignment& assignment) const;

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
