// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tool can write: the formats, and the forms that some have.
#include "cli/output_form.h"

#include <algorithm>

namespace andiron::cli {

namespace {

std::string word_of(std::string_view ending) { return std::string(ending.substr(1)); }

// Whether an ending says the name.
bool is_an_ending(const FormatInfo& format) {
  return std::any_of(format.endings.begin(), format.endings.end(),
                     [&](std::string_view ending) { return word_of(ending) == format.name; });
}

std::string joined(const std::vector<std::string>& parts, const char* last_separator = ", ") {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) text += i + 1 == parts.size() ? last_separator : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace

std::vector<OutputForm> output_forms() {
  std::vector<OutputForm> forms;
  for (const FormatInfo& format : formats()) {
    if (!format.is_written) continue;
    if (!is_an_ending(format)) forms.push_back({std::string(format.name), {}, format.format});
    for (const std::string_view ending : format.endings) {
      forms.push_back({word_of(ending), ending, format.format});
    }
  }
  return forms;
}

std::optional<OutputForm> form_of(std::string_view path) {
  const std::vector<OutputForm> forms = output_forms();
  const auto found = std::find_if(forms.begin(), forms.end(), [&](const OutputForm& form) {
    return !form.ending.empty() && path.ends_with(form.ending);
  });
  return found == forms.end() ? std::nullopt : std::optional(*found);
}

std::string list_of_forms() {
  std::vector<std::string> texts;
  for (const FormatInfo& format : formats()) {
    if (!format.is_written) continue;
    std::vector<std::string> words;
    for (const std::string_view ending : format.endings) words.push_back(word_of(ending));
    texts.push_back(is_an_ending(format) ? joined(words)
                                         : std::string(format.name) + " (" + joined(words) + ")");
  }
  // In two lines, as the column is narrow.
  const auto second = texts.begin() + static_cast<std::ptrdiff_t>((texts.size() + 1) / 2);
  return joined({texts.begin(), second}) + ",\n" + joined({second, texts.end()});
}

std::string list_of_sharded() {
  std::vector<std::string> names;
  for (const FormatInfo& format : formats()) {
    if (format.is_written && format.has_shards) names.emplace_back(format.name);
  }
  return joined(names, " and ");
}

std::string list_of_endings() {
  std::vector<std::string> endings;
  for (const FormatInfo& format : formats()) {
    if (!format.is_written) continue;
    endings.insert(endings.end(), format.endings.begin(), format.endings.end());
  }
  return joined(endings, " or ");
}

}  // namespace andiron::cli
