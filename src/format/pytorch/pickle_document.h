// SPDX-License-Identifier: MIT OR Apache-2.0
// A pickle together with where it was read from, and the plain things in it: numbers, text, bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "src/codec/pickle/graph.h"
#include "src/format/pytorch/callables.h"
#include "src/format/pytorch/torch_tensor.h"

namespace andiron::inline v1::detail {

class PickleDocument {
 public:
  // `file` is the archive's number of the source, where that is one of its files.
  PickleDocument(PickleGraph graph, ByteSourcePtr source, std::uint32_t file)
      : graph_(std::move(graph)), callables_(graph_), source_(std::move(source)), file_(file) {}
  PickleDocument(const PickleDocument&) = delete;
  PickleDocument& operator=(const PickleDocument&) = delete;

  const PickleGraph& graph() const noexcept { return graph_; }
  const ByteSourcePtr& source() const noexcept { return source_; }
  std::uint32_t file() const noexcept { return file_; }
  // BadPickle in this file.
  Error bad(std::string message, std::string found = {}) const;

  // What an object is made by; Callable::other for all other kinds of values.
  Callable callable_of(PickleValue value) const {
    if (value.kind != PickleKind::object) return Callable::other;
    return callables_.of(graph_.object(value).callable);
  }
  Callable callable(PickleValue function) const { return callables_.of(function); }
  // The arguments of an object's call; empty where they are no tuple.
  std::span<const PickleValue> args(PickleValue object) const {
    const PickleValue args = graph_.object(object).args;
    return args.kind == PickleKind::tuple ? graph_.tuple(args) : std::span<const PickleValue>();
  }
  // The last state that BUILD gave to an object.
  std::optional<PickleValue> state(PickleValue object) const;
  // The values of a tuple, or of a torch.Size. A list is one too where it is short.
  std::optional<std::span<const PickleValue>> tuple(PickleValue value) const;

  // A whole number of 64 bits; booleans count.
  std::optional<std::int64_t> integer(PickleValue value) const {
    if (value.kind == PickleKind::integer) return graph_.integer(value);
    if (value.kind == PickleKind::boolean) return PickleGraph::boolean(value) ? 1 : 0;
    return std::nullopt;
  }
  // One that is not negative.
  std::optional<std::uint64_t> size(PickleValue value) const {
    const std::optional<std::int64_t> number = integer(value);
    if (!number || *number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
  }
  std::optional<double> real(PickleValue value) const;
  // Text that is kept in memory; also a str of Python 2.
  std::optional<std::string_view> text(PickleValue value) const {
    if (value.kind != PickleKind::text && value.kind != PickleKind::old_text) return std::nullopt;
    const PickleBlob& blob = graph_.blob(value);
    if (blob.data == nullptr && blob.size != 0) return std::nullopt;
    return blob.view();
  }
  // The value of a key in a dict, or in an object with items; the last one counts. Many may share a
  // dict, and ask it: a large one is sorted when first asked.
  std::optional<PickleValue> entry(PickleValue dict, std::string_view key) const;
  // Whether a value has items by key.
  bool is_dict(PickleValue value) const;

  // Bytes, however they are spelled, as a storage of bytes; nothing for what is no bytes.
  Result<std::optional<Storage>> bytes(PickleValue value, const Limits& limits) const;

 private:
  using SortedPairs = std::vector<std::pair<std::string_view, PickleValue>>;
  const SortedPairs& sorted_pairs(PickleValue dict) const;
  Result<Bytes> read_blob(const PickleBlob& blob, const Limits& limits) const;

  PickleGraph graph_;
  Callables callables_;
  // Bytes that had to be decoded, by the text that they are spelled as: what many refer to is
  // decoded once, and seen to be shared.
  mutable std::map<std::uint32_t, Storage> decoded_;
  mutable std::map<std::size_t, SortedPairs> sorted_;  // by number of the container
  ByteSourcePtr source_;
  std::uint32_t file_;
};

}  // namespace andiron::inline v1::detail
