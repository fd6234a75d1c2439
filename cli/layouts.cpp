// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/layouts.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "andiron/file.h"
#include "andiron/text.h"
#include "cli/json_output.h"

namespace andiron::cli {

Result<LayerRules> read_layer_rules(const std::string& path) {
  constexpr std::uint64_t most = 1 << 20;
  Result<ByteSourcePtr> file = open_file(path);
  if (!file) return std::move(file).error();
  if ((*file)->size() > most) {
    return Error{.code = ErrorCode::limit_exceeded,
                 .message = "a file of layer rules is small",
                 .file = path,
                 .found = std::to_string((*file)->size()) + " bytes",
                 .expected = "at most " + std::to_string(most)};
  }
  std::string text(static_cast<std::size_t>((*file)->size()), '\0');
  if (Status read = (*file)->read_at(0, std::as_writable_bytes(std::span(text))); !read) {
    return std::move(read).error();
  }
  Result<LayerRules> rules = LayerRules::parse(text);
  if (rules) return rules;
  Error error = std::move(rules).error();
  error.file = path;
  return error;
}

std::string guessed_layers_text(const Archive& archive, Layout from) {
  const std::string rules = guess_layers(archive, from).to_string();
  std::string shown;
  for (std::size_t begin = 0; begin < rules.size();) {
    const std::size_t end = rules.find('\n', begin);
    shown += display_line(std::string_view(rules).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return shown;
}

std::string guessed_layers_json(const std::string& path, const Archive& archive, Layout from) {
  std::string out = json_start(path);
  append_json_field(out, "layout", layout_name(from));
  append_json_key(out, "layers");
  out += '[';
  bool is_first = true;
  for (const LayerRule& rule : guess_layers(archive, from).rules()) {
    if (!std::exchange(is_first, false)) out += ',';
    std::string fields;
    append_json_field(fields, "glob", rule.glob);
    append_json_field(fields, "kind", rule.kind);
    append_json_field(fields, "reason", rule.reason);
    out += '{' + fields.substr(1) + '}';
  }
  return out + "]}\n";
}

}  // namespace andiron::cli
