// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_writer_test.cpp
#include "src/format/record/name_tree.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andiron/limits.h"
#include "src/core/check_limit.h"
#include "src/core/parse_index.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// Around the tree: the record itself. Below a leaf: parameter, tensor, and the four levels of a
// quantization scheme.
constexpr std::size_t max_tree_depth = max_msgpack_depth - 8;

class StructureCheck {
 public:
  explicit StructureCheck(const Archive& archive)
      : archive_(archive), seen_(archive.size(), false) {}

  bool run(const Value& tree) { return visit(tree, 0) && count_ == archive_.size(); }

 private:
  bool visit(const Value& value, std::size_t depth) {
    if (const TensorIndex* tensor = value.get<TensorIndex>()) return visit_tensor(*tensor, depth);
    if (depth > max_tree_depth) return false;
    if (const ValueList* list = value.get<ValueList>()) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        if (!visit_below(std::to_string(i), (*list)[i], depth)) return false;
      }
    } else if (const ValueDict* dict = value.get<ValueDict>()) {
      if (const TensorIndex* parameter = parameter_of(*dict))
        return visit_tensor(*parameter, depth);
      for (const auto& [key, item] : *dict) {
        if (!visit_below(key, item, depth)) return false;
      }
    }
    return true;
  }

  bool visit_below(std::string_view key, const Value& value, std::size_t depth) {
    const std::size_t parent = path_.size();
    if (depth != 0) path_ += '.';
    path_ += key;
    const bool fits = visit(value, depth + 1);
    path_.resize(parent);
    return fits;
  }

  bool visit_tensor(TensorIndex tensor, std::size_t depth) {
    if (tensor.index >= archive_.size() || seen_[tensor.index]) return false;
    seen_[tensor.index] = true;
    ++count_;
    return archive_.info(tensor.index).name == (depth == 0 ? name_of_root_tensor : path_);
  }

  const Archive& archive_;
  std::vector<bool> seen_;
  std::size_t count_ = 0;
  std::string path_;
};

class NameTree {
 public:
  Status add(std::string_view name, TensorIndex tensor) {
    if (!is_utf8(name)) {
      return Error{.code = ErrorCode::bad_header,
                   .message = "this name cannot be written to records",
                   .tensor = std::string(name),
                   .found = "it is not UTF-8",
                   .hint = Message(Advice::rename, "the tensor")};
    }
    std::uint32_t at = 0;
    std::size_t depth = 0;
    for (std::string_view rest = name;; ++depth) {
      if (depth >= max_tree_depth) return too_deep(name);
      const std::size_t dot = rest.find('.');
      ANDIRON_ASSIGN(at, child(at, rest.substr(0, dot), name));
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
    Node& leaf = nodes_[at];
    if (!leaf.children.empty()) return collision(name, tensor_below(leaf).name);
    leaf.tensor = tensor;
    leaf.name = name;
    return {};
  }

  Value to_value() const { return to_value(nodes_[0]); }

 private:
  struct Node {
    std::string_view key;
    std::string_view name;  // of the tensor
    std::optional<TensorIndex> tensor = {};
    std::vector<std::uint32_t> children = {};
  };

  static Error too_deep(std::string_view name) {
    return over_limit("", max_tree_depth - 1,
                      {"the name has too many dots for a record", nullptr, "", {}, name});
  }

  static Error collision(std::string_view one, std::string_view longer) {
    return Error{.code = ErrorCode::name_collision,
                 .message = "in a record a tensor cannot contain other tensors",
                 .tensor = std::string(one),
                 .found = in_quotes(one) + " and " + in_quotes(longer),
                 .hint = Message(Advice::rename, "one of them")};
  }

  Result<std::uint32_t> child(std::uint32_t parent, std::string_view key, std::string_view name) {
    if (nodes_[parent].tensor) return collision(nodes_[parent].name, name);
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    const auto [at, is_new] = children_.try_emplace({parent, key}, next);
    if (is_new) {
      nodes_[parent].children.push_back(next);
      nodes_.push_back({.key = key, .name = {}});
    }
    return at->second;
  }

  const Node& tensor_below(const Node& node) const {
    return node.tensor ? node : tensor_below(nodes_[node.children.front()]);
  }

  // The children by their numbers when these are 0 to n-1.
  std::optional<std::vector<std::uint32_t>> as_list(const Node& node) const {
    std::vector<std::uint32_t> items(node.children.size());
    for (const std::uint32_t child : node.children) {
      const std::string_view key = nodes_[child].key;
      const auto index = parse_index(key);
      if (!index || *index >= items.size() || std::to_string(*index) != key) return std::nullopt;
      items[static_cast<std::size_t>(*index)] = child;
    }
    return items;
  }

  Value to_value(const Node& node) const {
    if (node.tensor) return Value(*node.tensor);
    const auto items = node.children.empty() ? std::nullopt : as_list(node);
    if (items) {
      ValueList list;
      list.reserve(items->size());
      for (const std::uint32_t item : *items) list.push_back(to_value(nodes_[item]));
      return Value(std::move(list));
    }
    ValueDict dict;
    dict.reserve(node.children.size());
    for (const std::uint32_t child : node.children) {
      dict.emplace_back(nodes_[child].key, to_value(nodes_[child]));
    }
    return Value(std::move(dict));
  }

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> children_;
};

}  // namespace

const TensorIndex* parameter_of(const ValueDict& dict) {
  if (dict.size() != 2) return nullptr;
  const bool id_first = dict[0].first == "id";
  const auto& [id_key, id] = dict[id_first ? 0 : 1];
  const auto& [param_key, param] = dict[id_first ? 1 : 0];
  const bool is_parameter =
      id_key == "id" && param_key == "param" && id.get<std::string>() != nullptr;
  return is_parameter ? param.get<TensorIndex>() : nullptr;
}

bool is_tree_of(const Value& tree, const Archive& archive) {
  return StructureCheck(archive).run(tree);
}

Result<Value> tree_from_names(const Archive& archive) {
  NameTree tree;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    ANDIRON_TRY(tree.add(archive.info(i).name, {i}));
  }
  for (const auto& [alias, kept] : archive.aliases()) {
    if (const auto index = archive.find(kept)) ANDIRON_TRY(tree.add(alias, {*index}));
  }
  return tree.to_value();
}

}  // namespace andiron::inline v1::detail
