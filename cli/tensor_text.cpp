// SPDX-License-Identifier: MIT OR Apache-2.0
// What is said of a tensor, and in which order tensors are listed.
#include "cli/tensor_text.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "andiron/key_map.h"
#include "andiron/shape.h"
#include "andiron/text.h"
#include "cli/quantities.h"
#include "cli/table.h"

namespace andiron::cli {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) {
  return a > largest - b ? largest : a + b;
}

bool comes_before(const TensorInfo& a, const TensorInfo& b, SortKey key) {
  switch (key) {
    case SortKey::name:
      return natural_less(a.name, b.name);
    case SortKey::size:
      return a.byte_size > b.byte_size;
    case SortKey::offset:
      if (a.file != b.file) return natural_less(a.file, b.file);
      return a.offset.value_or(largest) < b.offset.value_or(largest);
    case SortKey::dtype:
      return dtype_text(a) < dtype_text(b);
  }
  return false;
}

}  // namespace

std::string dtype_text(const TensorInfo& info) {
  std::string text(dtype_name(info.dtype));
  if (info.dtype == DType::raw) text.append(":").append(info.file_dtype);
  return text;
}

void Totals::add(const TensorInfo& info) {
  std::uint64_t elements = 0;
  if (!element_count(info.shape, elements)) elements = largest;
  ++tensors;
  parameters = add_saturated(parameters, elements);
  bytes = add_saturated(bytes, info.byte_size);
}

std::vector<std::size_t> sorted_indices(const Archive& archive, SortKey key) {
  std::vector<std::size_t> order = archive.natural_order();
  if (key == SortKey::name) return order;
  // Ties are broken by the place in natural order.
  std::vector<std::size_t> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    const TensorInfo a = archive.info(left);
    const TensorInfo b = archive.info(right);
    if (comes_before(a, b, key)) return true;
    return !comes_before(b, a, key) && rank[left] < rank[right];
  });
  return order;
}

Result<Renames> renames_of(const Archive& archive) {
  Result<KeyMap> map = key_map(archive);
  if (!map) return std::move(map).error();
  Renames renames;
  for (const std::size_t row : archive.in_file().natural_order()) {
    const MappedKey& tensor = map->tensors[row];
    if (tensor.left_out_by == NameStage::top_level_key) renames.left_out.push_back(row);
    if (!tensor.left_out_by && tensor.name != tensor.name_in_file) ++renames.renamed;
  }
  return renames;
}

void append_tensor_table(std::string& out, std::string heading, const Archive& archive,
                         std::span<const std::size_t> indices, const Page& page,
                         const TensorColumns& columns) {
  const bool files = columns.places && archive.packaging() == "sharded";
  const bool padding = !columns.padding.empty();
  std::vector<Column> shown = {{"DTYPE", Column::Align::left, 14},
                               {"SHAPE", Column::Align::left, 28},
                               {"SIZE", Column::Align::right, 10}};
  if (columns.steps) shown.insert(shown.begin(), {"STEP", Column::Align::left, 13});
  if (columns.places) shown.push_back({"OFFSET", Column::Align::right, 20});
  if (padding) shown.push_back({"PADDING", Column::Align::right, 12});
  if (files) shown.push_back({"FILE", Column::Align::left, 24});

  const std::size_t cells = shown.size() + 1;
  Table table(std::move(heading), std::move(shown));
  const auto add = [&](const TensorInfo& info, std::string_view name, std::string_view step,
                       std::size_t index) {
    std::vector<std::string> row = {std::string(name)};
    if (columns.steps) row.emplace_back(step);
    row.push_back(dtype_text(info));
    row.push_back(Shape(info.shape).to_string());
    row.push_back(format_size(info.byte_size));
    if (columns.places) row.push_back(info.offset ? std::to_string(*info.offset) : "-");
    if (padding) row.push_back(std::to_string(columns.padding[index]));
    if (files) row.emplace_back(info.file);
    table.add_row(std::move(row));
  };
  for (const std::size_t index : indices) {
    const TensorInfo info = archive.info(index);
    if (!columns.steps) {
      add(info, info.name, {}, index);
      continue;
    }
    std::string_view last;
    for (const NameStep& step : archive.name_history(index)) {
      if (step.stage == NameStage::file || step.stage == NameStage::made) {
        add(info, step.name, stage_name(step.stage), index);
      } else if (step.name != last) {
        std::vector<std::string> row(cells);
        row[0] = step.name;
        row[1] = stage_name(step.stage);
        table.add_row(std::move(row));
      }
      last = step.name;
    }
  }
  if (!columns.left_out.empty()) {
    const Archive file = archive.in_file();
    for (const std::size_t index : columns.left_out) {
      const TensorInfo info = file.info(index);
      add(info, info.name, "left out", index);
    }
  }
  table.append_to(out, page);
}

}  // namespace andiron::cli
