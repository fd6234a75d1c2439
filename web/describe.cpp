// SPDX-License-Identifier: MIT OR Apache-2.0
#include "web/describe.h"

#include <cmath>
#include <optional>
#include <variant>
#include <vector>

#include "web/json.h"

namespace andiron::web {
namespace {

// JavaScript's numbers are exact up to here.
constexpr double largest_exact = 9007199254740992.0;

void append_tensor(const TensorInfo& info, std::optional<std::string_view> alias_of,
                   std::string& out) {
  JsonObject tensor(out);
  tensor.text("name", info.name);
  const bool is_raw = info.dtype == DType::raw;
  tensor.text("dtype",
              is_raw ? "raw:" + std::string(info.file_dtype) : std::string(dtype_name(info.dtype)));
  tensor.list("shape", info.shape.size(),
              [&](std::size_t d, std::string& to) { to += std::to_string(info.shape[d]); });
  tensor.number("bytes", info.byte_size);
  if (info.offset) tensor.number("offset", *info.offset);
  if (!info.file.empty()) tensor.text("file", info.file);
  if (!is_raw && !info.file_dtype.empty() && info.file_dtype != dtype_name(info.dtype)) {
    tensor.text("fileDtype", info.file_dtype);
  }
  if (info.param_id) tensor.text("paramId", std::to_string(info.param_id->value));
  if (alias_of) tensor.text("aliasOf", *alias_of);
}

// Integers beyond what JavaScript's numbers hold come as text.
void add_number(JsonObject& object, std::string_view name, const Number& number) {
  const double value = to_double(number);
  if (std::holds_alternative<double>(number) || std::fabs(value) < largest_exact) {
    return object.number(name, value);
  }
  std::visit([&](auto held) { object.text(name, std::to_string(held)); }, number);
}

void append_compared(const ComparedTensor& tensor, std::string& out) {
  JsonObject object(out);
  object.text("name", tensor.name);
  object.text("dtype", tensor.dtype);
  object.list("shape", tensor.shape.rank(),
              [&](std::size_t d, std::string& to) { to += std::to_string(tensor.shape[d]); });
}

void append_difference(const TensorDifference& difference, std::string& out) {
  JsonObject object(out);
  object.text("kind", difference_name(difference.kind));
  if (difference.a) append_compared(*difference.a, object.key("a"));
  if (difference.b) append_compared(*difference.b, object.key("b"));
  if (difference.is_ambiguous) object.flag("ambiguous", true);
  if (!difference.distance) return;
  const Distance& distance = *difference.distance;
  object.number("elements", distance.elements);
  object.number("differing", distance.differing);
  object.number("beyond", distance.beyond);
  object.number("notFinite", distance.not_finite);
  if (distance.first_beyond) object.number("firstBeyond", *distance.first_beyond);
  object.number("maxAbs", distance.max_abs);
  object.number("relativeL2", distance.relative_l2);
  object.number("cosine", distance.cosine);
}

}  // namespace

std::string describe(const Archive& archive, std::uint32_t handle) {
  // Values that are too much are no reason not to show the tensors.
  const Result<Value> value = archive.value();
  std::vector<Message> notes = archive.notes();
  if (!value)
    notes.push_back("the values could not be read: " +
                    value.error().to_string(Wording::javascript));
  const std::vector<std::optional<std::size_t>> ties = archive.ties();
  return json_object([&](JsonObject& object) {
    object.number("handle", std::uint64_t{handle});
    object.text("format", archive.format());
    object.text("packaging", archive.packaging());
    object.number("bytes", archive.file_bytes());
    {
      JsonObject metadata(object.key("metadata"));
      for (const auto& [key, text] : archive.metadata()) metadata.text(key, text);
    }
    object.list("tensors", archive.size(), [&](std::size_t i, std::string& to) {
      std::optional<std::string_view> alias_of;
      if (ties[i]) alias_of = archive.info(*ties[i]).name;
      append_tensor(archive.info(i), alias_of, to);
    });
    const bool has_values = value && value->leaf_count() != 0;
    object.json("value", has_values ? to_json(*value) : "null");
    object.list("skipped", archive.skipped().size(), [&](std::size_t i, std::string& to) {
      JsonObject skipped(to);
      skipped.text("name", archive.skipped()[i].name);
      skipped.text("reason", archive.skipped()[i].reason.to_string(Wording::javascript));
    });
    object.notes("notes", notes);
  });
}

std::string describe(const Statistics& found) {
  return json_object([&](JsonObject& object) {
    object.number("count", found.count);
    object.number("zeros", found.zeros);
    object.number("nan", found.nans);
    object.number("positiveInfinity", found.positive_infinities);
    object.number("negativeInfinity", found.negative_infinities);
    add_number(object, "min", found.min);
    add_number(object, "max", found.max);
    object.number("mean", found.mean);
    object.number("std", found.standard_deviation);
    object.number("l2", found.l2);
    if (found.histogram) {
      const std::vector<std::uint64_t>& counts = found.histogram->counts;
      object.list("histogram", counts.size(),
                  [&](std::size_t i, std::string& to) { to += std::to_string(counts[i]); });
    }
  });
}

std::string describe(const Comparison& comparison) {
  return json_object([&](JsonObject& object) {
    object.flag("isEqual", comparison.is_equal());
    object.number("equal", comparison.equal);
    object.list("differences", comparison.differences.size(), [&](std::size_t i, std::string& to) {
      append_difference(comparison.differences[i], to);
    });
  });
}

}  // namespace andiron::web
