// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_value_tree_test.cpp
#include "src/format/pytorch/value_tree.h"

#include <span>
#include <utility>

#include "src/core/little_endian.h"
#include "src/core/try.h"
#include "src/core/utf8.h"
#include "src/format/pytorch/numpy.h"
#include "src/format/pytorch/python_text.h"

namespace andiron::inline v1::detail {

bool ValueTree::spend(std::uint64_t bytes) {
  if (bytes > room_) return false;
  room_ -= bytes;
  return true;
}

std::string ValueTree::kept(std::string_view key) {
  constexpr std::size_t short_bytes = 64;
  return key.size() <= short_bytes || spend(key.size()) ? std::string(key) : "...";
}

void ValueTree::put(std::string key, Value value) {
  if (open_.empty()) {
    root_ = std::move(value);
  } else if (open_.back().is_list) {
    open_.back().items.push_back(std::move(value));
  } else {
    open_.back().entries.emplace_back(std::move(key), std::move(value));
  }
}

Status ValueTree::tensor(std::string_view name, std::string_view key, std::string_view part,
                         const TorchTensor& tensor) {
  Value index(TensorIndex{tensors_});
  if (file_.check_all_keys) {
    const auto before =
        repeated_.find_or_add(std::string(name) + std::string(part), tensor, tensors_);
    if (before == RepeatedTensors::other) {
      index = Value();
    } else if (before) {
      index = Value(TensorIndex{*before});
    } else {
      ++tensors_;
    }
  } else {
    ++tensors_;
  }
  if (part.empty()) {
    close_parts();
    put(kept(key), index);
    return {};
  }
  if (!parts_of_ || *parts_of_ != name) {
    enter(key, false);
    parts_of_ = name;
  }
  put(std::string(part.substr(1)), index);
  return {};
}

void ValueTree::close_parts() {
  if (!parts_of_) return;
  parts_of_.reset();
  leave();
}

void ValueTree::enter(std::string_view key, bool is_list) {
  close_parts();
  open_.push_back({kept(key), is_list, {}, {}});
}

void ValueTree::leave() {
  close_parts();
  Open closed = std::move(open_.back());
  open_.pop_back();
  put(std::move(closed.key),
      closed.is_list ? Value(std::move(closed.items)) : Value(std::move(closed.entries)));
}

Status ValueTree::leaf(std::string_view key, PickleValue value) {
  close_parts();
  // What is wrong with a single value keeps nobody from the others.
  Result<Value> leaf = value_of(value);
  if (spend(sizeof(Value))) put(kept(key), leaf ? *std::move(leaf) : Value());
  return {};
}

// Text that is not kept in memory.
Result<Value> ValueTree::long_text(const PickleBlob& blob) {
  if (!spend(blob.size)) return Value();
  std::string text(static_cast<std::size_t>(blob.size), '\0');
  ANDIRON_TRY(content_.source()->read_at(blob.offset, std::as_writable_bytes(std::span(text))));
  return is_utf8(text) ? Value(std::move(text)) : Value();
}

Result<Value> ValueTree::value_of(PickleValue value) {
  const PickleGraph& graph = content_.graph();
  switch (value.kind) {
    case PickleKind::none:
      return Value();
    case PickleKind::boolean:
      return Value(PickleGraph::boolean(value));
    case PickleKind::integer:
      return Value(graph.integer(value));
    case PickleKind::real:
      return Value(graph.real(value));
    case PickleKind::big_integer:
      // Two's complement: nine bytes with a zero on top.
      if (const auto digits = graph.blob(value).view(); digits.size() == 9 && digits[8] == 0) {
        return Value(load_u64(reinterpret_cast<const std::byte*>(digits.data())));
      }
      break;
    default:
      break;
  }
  if (content_.callable_of(value) == Callable::numpy_scalar) {
    return numpy_scalar(content_, value, limits_);
  }
  const bool is_text = value.kind == PickleKind::text || value.kind == PickleKind::old_text;
  if (is_text && !content_.text(value)) return long_text(graph.blob(value));
  ANDIRON_ASSIGN(const auto storage, content_.bytes(value, limits_));
  if (storage && !is_text) {
    if (!spend(storage->bytes)) return Value();
    ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(storage->bytes));
    ANDIRON_TRY(storage->source->read_at(storage->offset, bytes.writable()));
    return Value(std::move(bytes));
  }
  std::string text;
  append_python_str(text, graph, value);
  if (!spend(text.size())) return Value();
  return Value(std::move(text));
}

}  // namespace andiron::inline v1::detail
