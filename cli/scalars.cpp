// SPDX-License-Identifier: MIT OR Apache-2.0
// What lies beside the tensors of a file.
#include "cli/scalars.h"

#include <charconv>
#include <cmath>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

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

std::string number_text(const Value& scalar) {
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
  if (value.is_scalar()) return number_text(value);
  if (const auto* text = value.get<std::string>()) return *text;
  if (const auto* bytes = value.get<Bytes>()) return format_size(bytes->size()) + " of bytes";
  return std::nullopt;
}

}  // namespace

ValueDict top_level_scalars(const Archive& archive) {
  ValueDict scalars;
  if (const ValueDict* dict = archive.value().get<ValueDict>()) {
    for (const auto& entry : *dict) {
      if (entry.second.is_scalar()) scalars.push_back(entry);
    }
  }
  return scalars;
}

void append_value_table(std::string& out, const Archive& archive, const Page& page) {
  constexpr std::size_t shown = 20;
  Table table("BESIDE THE TENSORS", {{"VALUE", Column::Align::left, page.width / 2}});
  std::size_t count = 0;
  std::deque<std::pair<std::string, const Value*>> level = {{"", &archive.value()}};
  for (; !level.empty(); level.pop_front()) {
    const auto& [name, value] = level.front();
    if (const auto text = leaf_text(*value)) {
      if (count++ < shown) table.add_row({name, *text});
      continue;
    }
    // The names of what is only counted are not needed.
    const std::string prefix = name.empty() || count >= shown ? "" : name + ".";
    if (const ValueDict* dict = value->get<ValueDict>()) {
      for (const auto& [key, item] : *dict) level.emplace_back(prefix + key, &item);
    }
    if (const ValueList* list = value->get<ValueList>()) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        level.emplace_back(prefix + std::to_string(i), &(*list)[i]);
      }
    }
  }
  if (count == 0) return;
  out += '\n';
  table.append_to(out, page);
  if (count > shown) {
    append_wrapped(out, format_count(count - shown) + " more values", 0, page.width);
  }
}

void append_scalar_table(std::string& out, const Archive& archive, const Page& page) {
  const ValueDict scalars = top_level_scalars(archive);
  if (scalars.empty()) return;
  Table table("SCALAR", {{"TYPE", Column::Align::left, 5}, {"VALUE", Column::Align::left, 26}});
  for (const auto& [name, scalar] : scalars) {
    table.add_row({name, std::string(type_text(scalar)), number_text(scalar)});
  }
  out += '\n';
  table.append_to(out, page);
}

void append_json_scalars(std::string& out, const Archive& archive) {
  const ValueDict scalars = top_level_scalars(archive);
  if (scalars.empty()) return;
  append_json_key(out, "scalars");
  out += '{';
  for (const auto& [name, scalar] : scalars) {
    if (out.back() != '{') out += ',';
    append_json_string(out, name);
    const std::string_view quote = is_json_number(scalar) ? "" : "\"";
    out.append(":{\"").append(type_text(scalar)).append("\":");
    out.append(quote).append(number_text(scalar)).append(quote).append("}");
  }
  out += '}';
}

}  // namespace andiron::cli
