// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_value_tree_test.cpp
#include "src/format/pytorch/value_tree.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/core/little_endian.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"
#include "src/format/pytorch/pickled_numpy.h"
#include "src/format/pytorch/python_text.h"
#include "src/format/pytorch/repeated_tensors.h"

namespace andiron::inline v1::detail {
namespace {

class ValueTree {
 public:
  ValueTree(const PickledFile& file, const Limits& limits, std::size_t first, std::uint64_t& room)
      : file_(file), content_(file.content), limits_(limits), tensors_(first), room_(room) {}

  void add(const WalkEvent& event) {
    switch (event.kind) {
      case WalkEvent::Kind::nothing:
        break;
      case WalkEvent::Kind::tensor:
        add_tensor(event.name, event.key, event.resolved);
        break;
      case WalkEvent::Kind::leaf: {
        // What is wrong with a single value keeps nobody from the others.
        Result<Value> leaf = value_of(event.value);
        if (spend(sizeof(Value))) put(kept(event.key), leaf ? *std::move(leaf) : Value());
        break;
      }
      case WalkEvent::Kind::enter_list:
      case WalkEvent::Kind::enter_dict:
        enter(event.key, event.kind == WalkEvent::Kind::enter_list);
        break;
      case WalkEvent::Kind::leave:
        leave();
        break;
    }
  }

  Value take() { return std::move(root_); }

 private:
  struct Open {
    std::string key;
    bool is_list;
    ValueList items;  // of a list
    ValueDict entries;
  };

  // Whether there is room for so many bytes more.
  bool spend(std::uint64_t bytes) {
    if (bytes > room_) return false;
    room_ -= bytes;
    return true;
  }

  // The key, or "..." of a long one when there is no more room.
  std::string kept(std::string_view key) {
    constexpr std::size_t short_bytes = 64;
    return key.size() <= short_bytes || spend(key.size()) ? std::string(key) : "...";
  }

  void put(std::string key, Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_list) {
      open_.back().items.push_back(std::move(value));
    } else {
      open_.back().entries.emplace_back(std::move(key), std::move(value));
    }
  }

  void enter(std::string_view key, bool is_list) { open_.push_back({kept(key), is_list, {}, {}}); }

  void leave() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    put(std::move(closed.key),
        closed.is_list ? Value(std::move(closed.items)) : Value(std::move(closed.entries)));
  }

  void add_tensor(std::string_view name, std::string_view key, const Resolution& resolved) {
    if (resolved.parts.empty()) return put(kept(key), number_of(name, resolved.whole));
    enter(key, false);
    for (const TensorPart& part : resolved.parts) {
      put(std::string(part.name.substr(1)), number_of(name, part));
    }
    leave();
  }

  // Null for another tensor of the same name.
  Value number_of(std::string_view name, const TensorPart& part) {
    if (file_.check_all_keys) {
      const auto before =
          repeated_.find_or_add(std::string(name).append(part.name), part.tensor, tensors_);
      if (before == RepeatedTensors::other) return Value();
      if (before) return Value(TensorIndex{*before});
    }
    return Value(TensorIndex{tensors_++});
  }

  // Text that is not kept in memory.
  Result<Value> long_text(const PickleBlob& blob) {
    if (!spend(blob.size)) return Value();
    std::string text(static_cast<std::size_t>(blob.size), '\0');
    ANDIRON_TRY(content_.source()->read_at(blob.offset, std::as_writable_bytes(std::span(text))));
    return is_utf8(text) ? Value(std::move(text)) : Value();
  }

  Result<Value> value_of(PickleValue value) {
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

  const PickledFile& file_;
  const PickleDocument& content_;
  const Limits& limits_;
  RepeatedTensors repeated_;
  std::vector<Open> open_;
  Value root_;
  std::size_t tensors_;
  std::uint64_t& room_;
};

}  // namespace

Result<Value> value_tree(PickledFile& file, const OpenOptions& options, std::size_t first,
                         std::uint64_t& room) {
  ValueTree tree(file, options.limits, first, room);
  PickleWalk walk = walk_file(file, options);
  while (!walk.is_done()) {
    ANDIRON_TRY(walk.next());
    tree.add(walk.event());
  }
  return tree.take();
}

}  // namespace andiron::inline v1::detail
