// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/open_test.cpp
#include "src/format/model_in_folder.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "src/core/sort.h"
#include "src/core/try.h"
#include "src/format/formats.h"
#include "src/format/shard_names.h"

namespace andiron::inline v1::detail {
namespace {

using Names = std::vector<std::string>;
using Test = std::function<bool(std::string_view name)>;

Names those_that(const Names& names, const Test& fits) {
  Names found;
  std::copy_if(names.begin(), names.end(), std::back_inserter(found), fits);
  return found;
}

Test is_called(const FormatRow& row, std::string_view suffix) {
  return [&row, suffix](std::string_view name) {
    return std::any_of(row.info.endings.begin(), row.info.endings.end(), [&](std::string_view end) {
      return name.ends_with(std::string(end) += suffix);
    });
  };
}

// The file that an index stands for, or the index where there are only shards.
std::string file_or_index(const Names& names, const std::string& index) {
  std::string file = index.substr(0, index.size() - index_ending.size());
  return std::binary_search(names.begin(), names.end(), file) ? file : index;
}

// The models of formats of one rank: the first usual name, else all indexes, else all files.
Names candidates_of_rank(const Names& names, unsigned rank) {
  Names indexes;
  Names single;
  for (const FormatRow& row : format_rows()) {
    if (row.folder_rank != rank) continue;
    for (const std::string_view usual : row.usual_names) {
      if (std::binary_search(names.begin(), names.end(), usual)) return {std::string(usual)};
      const std::string index = std::string(usual) += index_ending;
      if (row.info.has_shards && std::binary_search(names.begin(), names.end(), index))
        return {index};
    }
    if (row.info.has_shards) {
      for (const std::string& name : those_that(names, is_called(row, index_ending))) {
        indexes.push_back(file_or_index(names, name));
      }
    }
    for (std::string& name : those_that(names, is_called(row, ""))) {
      // A shard is no model, although a save that was killed can leave it alone in the folder.
      if (!is_one_of_several(name)) single.push_back(std::move(name));
    }
  }
  Names& found = indexes.empty() ? single : indexes;
  detail::sort(found.begin(), found.end());
  return std::move(found);
}

Names candidates_in(const Names& names) {
  unsigned last_rank = 0;
  for (const FormatRow& row : format_rows()) last_rank = std::max(last_rank, row.folder_rank);
  for (unsigned rank = 0; rank <= last_rank; ++rank) {
    Names found = candidates_of_rank(names, rank);
    if (!found.empty()) return found;
  }
  return {};
}

Error no_model(const FileSet& files, const Names& names) {
  Error error{.code = ErrorCode::not_a_weight_file,
              .message = "not a recognized weight file",
              .file = files.name(),
              .found = "a folder without a model",
              .hint = "expected an index, or a file that ends in " +
                      list_endings([](const FormatInfo&) { return true; })};
  if (std::any_of(names.begin(), names.end(), is_one_of_several)) {
    error.found = "shards without their index";
    error.hint = "these may be shards of one model; its .index.json is missing";
  }
  for (const FormatRow& row : format_rows()) {
    const bool has_parts = !row.parts.ending.empty() &&
                           std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                             return name.ends_with(row.parts.ending);
                           });
    if (!has_parts) continue;
    error.found = row.parts.found;
    error.hint = row.parts.hint;
  }
  return error;
}

Error several_models(const FileSet& files, const Names& candidates) {
  constexpr std::size_t shown = 3;
  std::string found = std::to_string(candidates.size()) + " candidates: ";
  for (std::size_t i = 0; i < std::min(candidates.size(), shown); ++i) {
    found += (i == 0 ? "" : ", ") + candidates[i];
  }
  if (candidates.size() > shown) found += ", ...";
  return Error{.code = ErrorCode::not_a_weight_file,
               .message = "the folder has more than one model",
               .file = files.name(),
               .found = std::move(found),
               .expected = "one index, or exactly one model",
               .hint = Advice::choose_file};
}

}  // namespace

Result<std::string> model_in(const FileSet& files) {
  ANDIRON_ASSIGN(const Names names, files.names());
  Names candidates = candidates_in(names);
  if (candidates.empty()) return no_model(files, names);
  if (candidates.size() > 1) return several_models(files, candidates);
  return std::move(candidates.front());
}

}  // namespace andiron::inline v1::detail
