// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/safetensors_param_ids_test.cpp
#include "src/format/safetensors/param_ids.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andiron/value.h"
#include "src/codec/file_json.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::string_view key = "param_ids";

using NamedIds = std::vector<std::pair<std::string, ParamId>>;

std::optional<NamedIds> parse_ids(std::string_view text) {
  const Result<Value> parsed = parse_json(text);
  const ValueDict* dict = parsed ? parsed->get<ValueDict>() : nullptr;
  if (dict == nullptr) return std::nullopt;
  NamedIds ids;
  ids.reserve(dict->size());
  for (const auto& [name, value] : *dict) {
    const std::string* id_text = value.get<std::string>();
    if (id_text == nullptr) return std::nullopt;
    const Result<ParamId> id = ParamId::from_text(*id_text);
    if (!id) return std::nullopt;
    ids.emplace_back(name, *id);
  }
  return ids;
}

}  // namespace

void add_param_ids(Metadata& metadata, const Archive& archive,
                   std::span<const std::size_t> indices) {
  std::string json;
  for (const std::size_t i : indices) {
    const TensorInfo info = archive.info(i);
    if (!info.param_id) continue;
    json += json.empty() ? '{' : ',';
    append_file_json_string(json, info.name);
    json += ":\"" + info.param_id->to_text() + '"';
  }
  if (!json.empty()) metadata.insert_or_assign(std::string(key), json + '}');
}

void take_param_ids(ArchiveBuilder& builder) {
  Metadata& metadata = builder.state().metadata;
  const auto entry = metadata.find(key);
  if (entry == metadata.end()) return;
  const std::optional<NamedIds> ids = parse_ids(entry->second);
  if (!ids) return;
  for (const auto& [name, id] : *ids) {
    if (const auto index = builder.find(name)) builder.set_param_id(*index, id);
  }
  metadata.erase(entry);
}

}  // namespace andiron::inline v1::detail
