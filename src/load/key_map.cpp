// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/key_map_test.cpp
#include "andiron/key_map.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "andiron/text.h"
#include "src/core/expression.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/load/alternatives.h"
#include "src/load/load_plan.h"

namespace andiron::inline v1 {

std::string_view outcome_name(KeyOutcome outcome) noexcept {
  constexpr std::string_view names[] = {"taken", "skipped", "refused", "tied"};
  return names[static_cast<unsigned>(outcome)];
}

namespace {

// A key map and where each tensor of the archive is in it.
struct Mapped {
  KeyMap map;
  std::vector<std::size_t> rows;
};

std::string dtype_text(const TensorInfo& info) {
  std::string text(dtype_name(info.dtype));
  if (info.dtype == DType::raw) text.append(":").append(info.file_dtype);
  return text;
}

MappedKey described(const TensorInfo& info) {
  return {.name_in_file = std::string(info.name),
          .dtype = dtype_text(info),
          .shape = Shape(info.shape)};
}

Mapped map_names(const Archive& archive) {
  const Archive file = archive.in_file();
  Mapped mapped;
  std::vector<MappedKey>& tensors = mapped.map.tensors;
  tensors.reserve(file.size());
  for (std::size_t i = 0; i < file.size(); ++i) {
    tensors.push_back(described(file.info(i)));
    tensors.back().left_out_by = NameStage::rename;
  }
  if (const std::optional<Archive> below = archive.before(NameStage::top_level_key)) {
    for (MappedKey& tensor : tensors) tensor.left_out_by = NameStage::top_level_key;
    for (std::size_t i = 0; i < below->size(); ++i) {
      if (const auto row = below->index_in_file(i)) tensors[*row].left_out_by = NameStage::rename;
    }
  }
  mapped.rows.reserve(archive.size());
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const std::size_t row = archive.index_in_file(i).value_or(tensors.size());
    if (row == tensors.size()) tensors.push_back(described(archive.info(i)));
    mapped.rows.push_back(row);
    MappedKey& tensor = tensors[row];
    tensor.left_out_by.reset();
    tensor.name = archive.info(i).name;
    const std::vector<NameStep> history = archive.name_history(i);
    if (history.front().stage == NameStage::made) {
      tensor.name_in_file.clear();
      tensor.steps.push_back({NameStage::made, std::string(history.front().name)});
    } else {
      tensor.name_in_file = history.front().name;
    }
    for (std::size_t k = 1; k < history.size(); ++k) {
      if (history[k].name == history[k - 1].name) continue;
      tensor.steps.push_back({history[k].stage, std::string(history[k].name)});
    }
  }
  return mapped;
}

// Whether the parameter gets something else than the tensor as it is in the file.
bool is_changed(const TensorSnapshot& taken, const TensorSnapshot& stored) {
  if (&detail::expression_of(taken) == &detail::expression_of(stored)) return false;
  if (taken.byte_size() != 0) return !taken.is_same_data(stored);
  return taken.dtype_text() != stored.dtype_text() || taken.shape() != stored.shape();
}

// The tensors that a parameter was made from, each once.
std::vector<std::uint32_t> sources_of(const detail::LoadPlan& plan, std::uint32_t first,
                                      std::uint32_t count) {
  const auto used = std::span(plan.sources).subspan(first, count);
  std::vector<std::uint32_t> sources(used.begin(), used.end());
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  return sources;
}

std::string use_text(const MappedKey& tensor, const KeyUse& use) {
  const std::string path = display_text(use.path);
  switch (use.outcome) {
    case KeyOutcome::skipped:
      return "skipped: the filter leaves out " + path;
    case KeyOutcome::refused:
      return "refused by " + path + ": " + display_line(use.reason);
    case KeyOutcome::tied:
      return "not taken: " + path + " is tied to " + display_text(use.reason) +
             " and gets its tensor";
    case KeyOutcome::taken:
      break;
  }
  std::string text = "taken by " + path;
  if (use.path != tensor.name) text += ", under another name";
  if (use.is_adapted) {
    text += ", adapted";
    if (use.dtype != tensor.dtype || use.shape != tensor.shape) {
      text += " to " + display_text(use.dtype) + " " + use.shape.to_string();
    }
  }
  if (use.sources > 1) text += ", with " + detail::count_of(use.sources - 1, "other tensor");
  return text;
}

void append_line(std::string& text, std::string_view line) {
  text += "  ";
  text += line;
  text += '\n';
}

void append_steps(std::string& text, const MappedKey& tensor) {
  std::size_t width = 0;
  for (const KeyStep& step : tensor.steps) width = std::max(width, stage_name(step.stage).size());
  for (const KeyStep& step : tensor.steps) {
    std::string label(stage_name(step.stage));
    label.resize(width + 2, ' ');
    append_line(text, label + display_text(step.name));
  }
}

std::string totals(const KeyMap& map) {
  std::size_t renamed = 0;
  std::size_t left_out = 0;
  std::size_t unused = 0;
  std::array<std::size_t, 4> used = {};  // by outcome; of several uses, the first counts
  for (const MappedKey& tensor : map.tensors) {
    renamed += !tensor.steps.empty();
    left_out += tensor.left_out_by.has_value();
    unused += tensor.is_unused();
    if (!tensor.uses.empty()) ++used[static_cast<unsigned>(tensor.uses.front().outcome)];
  }
  std::string text = detail::count_of(map.tensors.size(), "tensor") + ": " +
                     std::to_string(renamed) + " renamed, " + std::to_string(left_out) +
                     " left out";
  if (!map.has_module) return text;
  for (unsigned i = 0; i < used.size(); ++i) {
    text += ", " + std::to_string(used[i]) + " ";
    text += outcome_name(static_cast<KeyOutcome>(i));
  }
  return text + ", " + std::to_string(unused) + " unused; " +
         detail::count_of(map.missing.size(), "parameter") + " without a tensor";
}

}  // namespace

std::string KeyMap::to_string() const {
  std::string text;
  for (const MappedKey& tensor : tensors) {
    text += tensor.is_made() ? "(not in the file)" : display_text(tensor.name_in_file);
    text += "  " + display_text(tensor.dtype) + " " + tensor.shape.to_string() + "\n";
    append_steps(text, tensor);
    if (tensor.left_out_by == NameStage::top_level_key) {
      append_line(text, "left out: not under the top-level key");
    } else if (tensor.left_out_by) {
      append_line(text, "left out");
    } else if (has_module && tensor.is_unused()) {
      append_line(text, "unused");
    }
    for (const KeyUse& use : tensor.uses) append_line(text, use_text(tensor, use));
  }
  for (const std::string& path : missing) text += "no tensor for " + display_text(path) + "\n";
  return text + totals(*this);
}

std::ostream& operator<<(std::ostream& out, const KeyMap& map) { return out << map.to_string(); }

Result<KeyMap> key_map(const Archive& archive) ANDIRON_NO_THROW { return map_names(archive).map; }
ANDIRON_OR_OUT_OF_MEMORY

Result<KeyMap> detail::key_map_of_slots(const ModuleSlots& given, const Archive& archive,
                                        const ApplyOptions& options) {
  ANDIRON_ASSIGN(const Alternatives alternatives, Alternatives::choose(given, archive, options));
  const ModuleSlots& module = alternatives.module();
  ANDIRON_ASSIGN(LoadPlan plan, make_load_plan(module, archive, options));
  Mapped mapped = map_names(archive);
  const auto uses_of = [&](std::uint32_t source) -> std::vector<KeyUse>& {
    return mapped.map.tensors[mapped.rows[source]].uses;
  };
  for (const Assignment& assignment : plan.assignments) {
    const std::vector<std::uint32_t> sources =
        sources_of(plan, assignment.first_source, assignment.source_count);
    KeyUse use = {.path = module.slots[assignment.slot].path,
                  .sources = sources.size(),
                  .dtype = assignment.tensor.dtype_text(),
                  .shape = assignment.tensor.shape()};
    for (const std::uint32_t source : sources) {
      use.is_adapted =
          sources.size() > 1 || is_changed(assignment.tensor, archive.snapshot(source));
      uses_of(source).push_back(use);
    }
  }
  for (NotTaken& found : plan.not_taken) {
    const KeyUse use = {.path = module.slots[found.slot].path,
                        .outcome = found.outcome,
                        .reason = std::move(found.reason)};
    for (const std::uint32_t source : sources_of(plan, found.first_source, found.source_count)) {
      uses_of(source).push_back(use);
    }
  }
  mapped.map.has_module = true;
  for (MissingTensor& missing : plan.result.missing) {
    mapped.map.missing.push_back(std::move(missing.path));
  }
  return std::move(mapped.map);
}

}  // namespace andiron::inline v1
