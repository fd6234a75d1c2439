// SPDX-License-Identifier: MIT OR Apache-2.0
// Adds values to a graph under construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "andiron/error.h"
#include "src/codec/pickle/array.h"
#include "src/codec/pickle/failure.h"
#include "src/codec/pickle/graph.h"
#include "src/codec/pickle/input.h"
#include "src/core/memory_budget.h"

namespace andiron::inline v1::detail {

// Functions return false if memory cannot be allocated, and record that as a failure.
// REQUIRES: no array of the graph gets more items than a value can distinguish.
class PickleBuilder {
 public:
  // `input` is looked at for how much is still to come.
  PickleBuilder(const PickleInput& input, PickleFailure& failure, MemoryBudget* budget) noexcept
      : input_(input), failure_(failure), budget_(budget) {}

  // Room for `count` more.
  template <class T>
  bool has_room(PickleArray<T>& array, std::size_t count = 1) {
    return array.room() >= count || grow(array, count);
  }

  bool integer(std::int64_t number, PickleValue& out) {
    if (!PickleValue::fits(number)) {
      return add(graph_.integers_, number, PickleKind::integer, out);
    }
    out = PickleValue::of_integer(number);
    return true;
  }
  bool real(double number, PickleValue& out) {
    return add(graph_.reals_, number, PickleKind::real, out);
  }
  bool blob(PickleKind kind, const PickleBlob& blob, PickleValue& out) {
    return add(graph_.blobs_, blob, kind, out);
  }
  bool global(PickleGlobal global, PickleValue& out) {
    return add(graph_.globals_, global, PickleKind::global, out);
  }
  bool object(PickleValue callable, PickleValue args, PickleValue kwargs, PickleValue& out) {
    if (!has_room(graph_.objects_)) return false;
    out = PickleValue::of(PickleKind::object, graph_.objects_.size());
    PickleObject& object = graph_.objects_.emplace();
    object.callable = callable;
    object.args = args;
    object.kwargs = kwargs;
    return true;
  }
  bool persistent(PickleValue id, PickleValue& out) {
    return add(graph_.persistent_, id, PickleKind::persistent, out);
  }
  // A list, dict or set.
  bool container(PickleKind kind, PickleValue& out) {
    return add(graph_.containers_, PickleRuns(), kind, out);
  }
  // A tuple or frozen_set.
  bool fixed(PickleKind kind, std::span<const PickleValue> values, PickleValue& out) {
    if (!has_room(graph_.values_, values.size())) return false;
    const PickleGraph::Extent extent = {static_cast<std::uint32_t>(graph_.values_.size()),
                                        static_cast<std::uint32_t>(values.size())};
    graph_.values_.append(values.data(), values.size());
    return add(graph_.tuples_, extent, kind, out);
  }
  // There is one empty tuple, as in Python.
  bool empty_tuple(PickleValue& out) {
    if (empty_tuple_.kind != PickleKind::tuple && !fixed(PickleKind::tuple, {}, empty_tuple_)) {
      return false;
    }
    out = empty_tuple_;
    return true;
  }

  PickleRuns& runs(PickleValue container) noexcept { return graph_.containers_[container.index]; }
  // What is added to an object, to be added to; nullptr when memory for it cannot be had.
  PickleAdditions* additions(PickleValue object) {
    PickleObject& extended = graph_.objects_[object.index];
    if (extended.additions == PickleObject::none) {
      if (!has_room(graph_.additions_)) return nullptr;
      extended.additions = static_cast<std::uint32_t>(graph_.additions_.size());
      graph_.additions_.push({});
    }
    return &graph_.additions_[extended.additions];
  }
  const PickleBlob& blob(PickleValue value) const noexcept { return graph_.blob(value); }
  // Adds to what a container or object holds. REQUIRES: `runs` is of this graph.
  bool add_run(PickleRuns& runs, std::span<const PickleValue> values);

  // Memory for text that does not lie in the source as it is, which the graph keeps.
  bool decoded_text(std::size_t size, char*& out);

  PickleGraph finish(PickleValue root, bool has_leftovers, PickleInput& input) &&;

 private:
  template <class T>
  bool add(PickleArray<T>& array, const T& item, PickleKind kind, PickleValue& out) {
    if (!has_room(array)) return false;
    out = PickleValue::of(kind, array.size());
    array.push(item);
    return true;
  }

  template <class T>
  [[gnu::noinline]] bool grow(PickleArray<T>& array, std::size_t count) {
    const std::size_t capacity = next_capacity(array.size(), count, sizeof(T));
    return took_place(charge(capacity * sizeof(T))) && took_place(array.reserve(capacity));
  }
  Status charge(std::size_t bytes) {
    return budget_ == nullptr ? Status() : budget_->charge(bytes, "the values of a pickle");
  }
  bool took_place(Status status) {
    return status.ok() || failure_.fail_as_is(std::move(status).error());
  }
  std::size_t next_capacity(std::size_t size, std::size_t more,
                            std::size_t item_bytes) const noexcept;

  const PickleInput& input_;
  PickleFailure& failure_;
  MemoryBudget* budget_;  // null for none
  PickleGraph graph_;
  PickleValue empty_tuple_;
  Bytes text_memory_;  // partly used by decoded text
  std::size_t text_used_ = 0;
};

}  // namespace andiron::inline v1::detail
