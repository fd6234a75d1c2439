// SPDX-License-Identifier: MIT OR Apache-2.0
// What lies beside the tensors of a file.
#include "cli/scalars.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/value.h"
#include "cli/json_output.h"
#include "cli/quantities.h"
#include "cli/table.h"
#include "cli/text_layout.h"

namespace andiron::cli {
namespace {

bool is_json_number(const Value& scalar) {
  const double* number = scalar.get<double>();
  return number == nullptr || std::isfinite(*number);
}

// As Burn calls them.
std::string_view type_text(const Value& scalar) {
  if (scalar.get<bool>() != nullptr) return "Bool";
  if (scalar.get<std::int64_t>() != nullptr) return "Int";
  if (scalar.get<std::uint64_t>() != nullptr) return "UInt";
  return "Float";
}

std::string scalar_text(const Value& scalar) {
  if (const bool* flag = scalar.get<bool>()) return *flag ? "true" : "false";
  if (const auto* integer = scalar.get<std::int64_t>()) return std::to_string(*integer);
  if (const auto* integer = scalar.get<std::uint64_t>()) return std::to_string(*integer);
  const double number = *scalar.get<double>();
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  // The shortest text that gives the same number again.
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

// Nothing for containers, tensors and null.
std::optional<std::string> leaf_text(const Value& value) {
  if (value.is_scalar()) return scalar_text(value);
  if (const auto* text = value.get<std::string>()) return *text;
  if (const auto* bytes = value.get<Bytes>()) return format_size(bytes->size()) + " of bytes";
  return std::nullopt;
}

// The numbers and truth values at the top of a tree: what Burnpack has a place for.
std::vector<const ValueDict::value_type*> top_level_scalars(const Value& tree) {
  std::vector<const ValueDict::value_type*> scalars;
  if (const ValueDict* dict = tree.get<ValueDict>()) {
    for (const auto& entry : *dict) {
      if (entry.second.is_scalar()) scalars.push_back(&entry);
    }
  }
  return scalars;
}

// Where a value is in its list or dict.
struct Step {
  const std::string* key = nullptr;  // null in a list
  std::size_t index = 0;
};

struct Container {
  const Value* value;
  std::size_t parent;
  Step step;
};

// Of a value in containers[parent], the steps joined with dots. The first container is the root.
std::string name_of(const std::vector<Container>& containers, std::size_t parent, Step step) {
  std::string name = step.key != nullptr ? *step.key : std::to_string(step.index);
  for (; parent != 0; parent = containers[parent].parent) {
    step = containers[parent].step;
    name = (step.key != nullptr ? *step.key : std::to_string(step.index)) + "." + name;
  }
  return name;
}

}  // namespace

ValuesBeside values_beside(const Archive& archive) {
  ValuesBeside beside{.tree = {}, .notes = archive.notes()};
  Result<Value> tree = archive.value();
  if (tree) {
    beside.tree = *std::move(tree);
  } else {
    beside.notes.push_back("the values beside the tensors are not shown: " +
                           tree.error().description(Wording::flags));
  }
  return beside;
}

std::optional<Value> without_tensors(const Value& tree, unsigned levels) {
  if (tree.get<TensorIndex>() != nullptr) return std::nullopt;
  if (levels == 0 && !tree.is_scalar() && tree.get<std::string>() == nullptr) return Value();
  if (const ValueDict* dict = tree.get<ValueDict>()) {
    ValueDict kept;
    for (const auto& [key, value] : *dict) {
      if (auto rest = without_tensors(value, levels - 1)) kept.emplace_back(key, *std::move(rest));
    }
    if (kept.empty() && !dict->empty()) return std::nullopt;
    return Value(std::move(kept));
  }
  if (const ValueList* list = tree.get<ValueList>()) {
    ValueList kept;
    bool any = list->empty();
    for (const Value& item : *list) {
      auto rest = without_tensors(item, levels - 1);
      any |= rest.has_value();
      kept.push_back(rest ? *std::move(rest) : Value());
    }
    if (!any) return std::nullopt;
    return Value(std::move(kept));
  }
  return tree;
}

void append_json_values(std::string& out, const Value& tree) {
  const auto values = without_tensors(tree);
  if (!values || values->is_null()) return;
  append_json_key(out, "values");
  out += to_json(*values);
}

void append_value_table(std::string& out, const Value& tree, const Page& page) {
  constexpr std::size_t shown = 20;
  Table table("BESIDE THE TENSORS", {{"VALUE", Column::Align::left, page.width / 2}});
  std::size_t count = 0;
  // Lists and dicts, level by level; a name is put together when it is shown.
  std::vector<Container> containers = {{&tree, 0, {}}};
  const auto visit = [&](std::size_t parent, Step step, const Value& value) {
    if (const auto text = leaf_text(value)) {
      ++count;
      table.add_row({name_of(containers, parent, step), *text});
    } else if (value.get<ValueList>() != nullptr || value.get<ValueDict>() != nullptr) {
      containers.push_back({&value, parent, step});
    }
  };
  if (const auto text = leaf_text(tree)) table.add_row({"", *text}), count = 1;
  for (std::size_t at = 0; at < containers.size() && count < shown; ++at) {
    const Value& value = *containers[at].value;
    if (const ValueDict* dict = value.get<ValueDict>()) {
      for (std::size_t i = 0; i < dict->size() && count < shown; ++i) {
        visit(at, {&(*dict)[i].first, i}, (*dict)[i].second);
      }
    } else if (const ValueList* list = value.get<ValueList>()) {
      for (std::size_t i = 0; i < list->size() && count < shown; ++i) {
        visit(at, {nullptr, i}, (*list)[i]);
      }
    }
  }
  if (count == 0) return;
  out += '\n';
  table.append_to(out, page);
  if (const std::size_t all = tree.leaf_count(); all > count) {
    append_wrapped(out, format_count(all - count) + " more values", 0, page.width);
  }
}

void append_scalar_table(std::string& out, const Value& tree, const Page& page) {
  const auto scalars = top_level_scalars(tree);
  if (scalars.empty()) return;
  Table table("SCALAR", {{"TYPE", Column::Align::left, 5}, {"VALUE", Column::Align::left, 26}});
  for (const auto* entry : scalars) {
    const auto& [name, scalar] = *entry;
    table.add_row({name, std::string(type_text(scalar)), scalar_text(scalar)});
  }
  out += '\n';
  table.append_to(out, page);
}

void append_json_scalars(std::string& out, const Value& tree) {
  const auto scalars = top_level_scalars(tree);
  if (scalars.empty()) return;
  append_json_key(out, "scalars");
  out += '{';
  for (const auto* entry : scalars) {
    const auto& [name, scalar] = *entry;
    if (out.back() != '{') out += ',';
    append_json_string(out, name);
    const std::string_view quote = is_json_number(scalar) ? "" : "\"";
    out.append(":{\"").append(type_text(scalar)).append("\":");
    out.append(quote).append(scalar_text(scalar)).append(quote).append("}");
  }
  out += '}';
}

}  // namespace andiron::cli
