// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_value_tree_test.cpp
#include "src/format/pytorch/value_tree.h"

#include <span>
#include <string>
#include <unordered_map>
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
  ValueTree(const PickledFile& file, const Limits& limits, std::size_t first, MemoryBudget& budget)
      : file_(file), content_(file.content), limits_(limits), tensors_(first), budget_(budget) {}

  Status add(const WalkEvent& event) {
    switch (event.kind) {
      case WalkEvent::Kind::nothing:
        return {};
      case WalkEvent::Kind::tensor:
        return add_tensor(event.name, event.key, event.resolved);
      case WalkEvent::Kind::leaf:
        return add_leaf(event.key, event.value);
      case WalkEvent::Kind::enter_list:
      case WalkEvent::Kind::enter_dict:
        return enter(event.key, event.kind == WalkEvent::Kind::enter_list);
      case WalkEvent::Kind::leave:
        leave(event.plain);
        return {};
      case WalkEvent::Kind::again:
        return add_again(event.key, *event.plain);
    }
    return {};
  }

  Value take() { return std::move(root_); }

 private:
  struct Open {
    std::string key;
    bool is_list;
    std::uint64_t spent_before;
    ValueList items;  // of a list
    ValueDict entries;
  };
  struct Made {
    Value value;
    std::uint64_t cost = 0;  // of walking through it
  };

  // A place in the tree, under a key.
  Status spend(std::string_view key) { return spend(1, key.size()); }
  Status spend(std::uint64_t values, std::uint64_t text_bytes) {
    ANDIRON_TRY(budget_.charge_values(values, text_bytes));
    spent_ += MemoryBudget::cost_of(MemoryBudget::value_bytes, values, text_bytes);
    return {};
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

  Status enter(std::string_view key, bool is_list) {
    // A container is a value and has some memory of its own.
    ANDIRON_TRY(spend(2, key.size()));
    open_.push_back({std::string(key), is_list, spent_, {}, {}});
    return {};
  }

  void leave(std::optional<std::size_t> plain) {
    Open closed = std::move(open_.back());
    open_.pop_back();
    Value made = closed.is_list ? Value(std::move(closed.items)) : Value(std::move(closed.entries));
    if (plain && !file_.repeated.empty() && file_.repeated[*plain]) {
      containers_.insert_or_assign(*plain, Made{made, spent_ - closed.spent_before});
    }
    put(std::move(closed.key), std::move(made));
  }

  // A container that was left before.
  Status add_again(std::string_view key, std::size_t container) {
    ANDIRON_TRY(spend(key));
    const Made& made = containers_[container];
    ANDIRON_TRY(budget_.charge(made.cost, "values that are repeated"));
    spent_ += made.cost;
    put(std::string(key), made.value);
    return {};
  }

  Status add_tensor(std::string_view name, std::string_view key, const Resolution& resolved) {
    if (resolved.parts.empty()) {
      ANDIRON_TRY(spend(key));
      put(std::string(key), number_of(name, resolved.whole));
      return {};
    }
    ANDIRON_TRY(enter(key, false));
    for (const TensorPart& part : resolved.parts) {
      ANDIRON_TRY(spend(part.name));
      put(std::string(part.name.substr(1)), number_of(name, part));
    }
    leave({});
    return {};
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

  Status add_leaf(std::string_view key, PickleValue leaf) {
    ANDIRON_TRY(spend(key));
    const std::uint64_t identity =
        std::uint64_t{static_cast<unsigned>(leaf.kind)} << 32 | leaf.index;
    if (const auto known = leaves_.find(identity); known != leaves_.end()) {
      ANDIRON_TRY(spend(1, text_bytes(known->second)));
      put(std::string(key), known->second);
      return {};
    }
    Result<Value> value = value_of(leaf);
    // What is wrong with a single value keeps nobody from the others.
    if (!value && stops_reading(value.error().code)) return std::move(value).error();
    Value made = value ? *std::move(value) : Value();
    // Many may refer to it, and it is kept once.
    constexpr std::size_t is_long = 64;
    if (text_bytes(made) > is_long) leaves_.emplace(identity, made);
    put(std::string(key), std::move(made));
    return {};
  }

  static std::size_t text_bytes(const Value& value) {
    if (const auto* text = value.get<std::string>()) return text->size();
    const auto* bytes = value.get<Bytes>();
    return bytes == nullptr ? 0 : bytes->size();
  }

  // Text that is not kept in memory.
  Result<Value> long_text(const PickleBlob& blob) {
    ANDIRON_TRY(spend(1, blob.size));
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
      ANDIRON_TRY(spend(1, storage->bytes));
      ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(storage->bytes));
      ANDIRON_TRY(storage->source->read_at(storage->offset, bytes.writable()));
      return Value(std::move(bytes));
    }
    std::string text;
    append_python_str(text, graph, value);
    ANDIRON_TRY(spend(1, text.size()));
    return Value(std::move(text));
  }

  const PickledFile& file_;
  const PickleDocument& content_;
  const Limits& limits_;
  RepeatedTensors repeated_;
  std::vector<Open> open_;
  Value root_;
  std::size_t tensors_;
  std::unordered_map<std::size_t, Made> containers_;  // plain ones that come again, by number
  std::unordered_map<std::uint64_t, Value> leaves_;   // long ones
  MemoryBudget& budget_;
  std::uint64_t spent_ = 0;
};

}  // namespace

Result<Value> value_tree(PickledFile& file, const OpenOptions& options, std::size_t first,
                         MemoryBudget& budget) {
  ValueTree tree(file, options.limits, first, budget);
  PickleWalk walk = walk_file(file, options, budget);
  while (!walk.is_done()) {
    ANDIRON_TRY(walk.next());
    ANDIRON_TRY(tree.add(walk.event()));
  }
  return tree.take();
}

}  // namespace andiron::inline v1::detail
