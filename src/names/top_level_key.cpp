// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/names/top_level_key_test.cpp
#include "andiron/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "andiron/detail/no_throw.h"
#include "andiron/text.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/nearest_name.h"
#include "src/names/rename.h"

namespace andiron::inline v1 {
namespace {

// What checkpoints call the dictionary that holds the model. Where there are several, the first is
// the model as it was trained and the others are copies, averaged over its steps.
constexpr std::array<std::string_view, 15> wrappers = {
    "state_dict", "model_state_dict", "model_state",    "model",      "module",
    "net",        "network",          "params",         "weights",    "ema",
    "ema_model",  "model_ema",        "state_dict_ema", "params_ema", "ema_state_dict"};

// Words in the keys of what training keeps beside a model.
constexpr std::array<std::string_view, 15> training_words = {
    "optim", "scheduler", "scaler", "rng",  "random", "callbacks", "epoch", "step",
    "iter",  "loss",      "metric", "best", "args",   "param",     "config"};

bool is_training_state(std::string_view key) {
  return std::any_of(training_words.begin(), training_words.end(), [&](std::string_view word) {
    return key.find(word) != std::string_view::npos;
  });
}

// The wrapper that all names but those of training state lie below; nothing when there is none.
std::optional<std::string_view> common_wrapper(const std::vector<std::string_view>& names) {
  auto best = wrappers.end();
  for (const std::string_view name : names) {
    const std::size_t dot = name.find('.');
    const std::string_view key = name.substr(0, dot);
    const auto wrapper = dot == std::string_view::npos
                             ? wrappers.end()
                             : std::find(wrappers.begin(), wrappers.end(), key);
    if (wrapper == wrappers.end() && !is_training_state(key)) return std::nullopt;
    best = std::min(best, wrapper);
  }
  if (best == wrappers.end()) return std::nullopt;
  return *best;
}

// First segments of all names that have more than one.
std::vector<std::string_view> top_level_keys(const Archive& archive) {
  std::set<std::string_view, NaturalLess> keys;
  for (const std::string_view name : detail::names_and_aliases(archive)) {
    const std::size_t dot = name.find('.');
    if (dot != std::string_view::npos) keys.insert(name.substr(0, dot));
  }
  return {keys.begin(), keys.end()};
}

Error nothing_below(const Archive& archive, std::string_view key) {
  const std::vector<std::string_view> keys = top_level_keys(archive);
  Error error;
  error.code = ErrorCode::missing_tensor;
  error.file = archive.origin();
  error.message = "no tensor is under the key " + detail::in_quotes(key);
  error.found =
      keys.empty() ? "no name has a dot" : "the top-level keys are " + detail::list_in_quotes(keys);
  const auto nearest = nearest_name(key, keys.size(), [&](std::size_t i) { return keys[i]; });
  if (archive.find(key)) {
    error.hint = "that is a tensor itself; " + Message(Advice::omit_top_level_key);
  } else if (nearest) {
    error.hint = "did you mean " + detail::in_quotes(keys[*nearest]) + "?";
  } else {
    error.hint =
        (keys.empty() ? "" : "use one of these, or ") + Message(Advice::omit_top_level_key);
  }
  return error;
}

}  // namespace

Result<Archive> at_top_level_key(const Archive& archive, std::string_view key) ANDIRON_NO_THROW {
  const std::string prefix = std::string(key) + ".";
  const auto name_below = [&](std::string_view name) -> std::optional<std::string> {
    if (!name.starts_with(prefix)) return std::nullopt;
    return std::string(name.substr(prefix.size()));
  };
  std::vector<std::optional<std::string>> below;
  bool is_empty = true;
  for (const std::string_view name : detail::names_and_aliases(archive)) {
    below.push_back(name_below(name));
    is_empty = is_empty && !below.back();
  }
  if (is_empty) return nothing_below(archive, key);
  Result<Archive> found =
      detail::rename_tensors(archive, std::move(below), NameStage::top_level_key);
  if (found) detail::rename_skipped(*found, name_below);
  return found;
}
ANDIRON_OR_OUT_OF_MEMORY

std::optional<std::string> suggest_top_level_key(const Archive& archive) {
  std::vector<std::string_view> names = detail::names_and_aliases(archive);
  // A number beside the model is a result of training.
  std::erase_if(names, [&](std::string_view name) {
    const bool is_on_top = name.find('.') == std::string_view::npos;
    const auto index = is_on_top ? archive.find(name) : std::nullopt;
    return index && archive.info(*index).shape.empty();
  });
  std::string key;
  while (const auto wrapper = common_wrapper(names)) {
    const std::string prefix = std::string(*wrapper) + ".";
    std::erase_if(names, [&](std::string_view name) { return !name.starts_with(prefix); });
    for (std::string_view& name : names) name.remove_prefix(prefix.size());
    key += (key.empty() ? "" : ".") + std::string(*wrapper);
  }
  if (key.empty()) return std::nullopt;
  return key;
}

}  // namespace andiron::inline v1
