// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/namings_test.cpp
#include "src/proposals/differences.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "src/core/parse_index.h"
#include "src/core/text/in_quotes.h"

namespace andiron::inline v1::detail {
namespace {

// The numbered list with the most tensors, if it is most of the model.
struct Blocks {
  std::string_view path;
  std::size_t count = 0;
};

std::optional<Blocks> blocks_of(std::span<const TreeTensor> tensors) {
  struct List {
    std::set<std::string_view> numbers;
    std::size_t tensors = 0;
  };
  std::map<std::string_view, List> lists;
  for (const TreeTensor& tensor : tensors) {
    const std::string_view name = tensor.name;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
         dot = name.find('.', dot + 1)) {
      const std::size_t end = std::min(name.find('.', dot + 1), name.size());
      const std::string_view segment = name.substr(dot + 1, end - dot - 1);
      if (!parse_index(segment)) continue;
      List& list = lists[name.substr(0, dot)];
      list.numbers.insert(segment);
      ++list.tensors;
      break;  // the outermost
    }
  }
  const auto most = std::max_element(lists.begin(), lists.end(), [](const auto& a, const auto& b) {
    return a.second.tensors < b.second.tensors;
  });
  if (most == lists.end() || 2 * most->second.tensors < tensors.size()) return std::nullopt;
  return Blocks{most->first, most->second.numbers.size()};
}

// The gates of recurrent layers: how many there are, and whose that are.
struct Gates {
  std::uint64_t count;
  std::string_view owner;
};

// What PyTorch calls the gates of a recurrent layer, joined in one tensor: weight_hh_l0.
bool is_joined_gates(const TreeTensor& tensor) {
  const std::string_view last = std::string_view(tensor.name).substr(tensor.name.rfind('.') + 1);
  return tensor.shape.size() == 2 &&
         (last.starts_with("weight_ih") || last.starts_with("weight_hh"));
}

// Of the recurrent layers, if they are all of one kind: by the shape of weight_hh, [gates * hidden,
// hidden], or by the names of gates.
std::optional<Gates> gates_of(std::span<const TreeTensor> tensors) {
  constexpr Gates lstm = {4, "an LSTM's"};
  constexpr Gates gru = {3, "a GRU's"};
  std::set<std::uint64_t> counts;
  for (const TreeTensor& tensor : tensors) {
    const std::string_view name = tensor.name;
    if (is_joined_gates(tensor)) {
      if (name.find("weight_ih") != std::string_view::npos) continue;
      const std::uint64_t hidden = std::max<std::uint64_t>(tensor.shape[1], 1);
      counts.insert(tensor.shape[0] % hidden == 0 ? tensor.shape[0] / hidden : 0);
    } else if (name.find(".hidden_transform.") != std::string_view::npos) {
      if (name.find("forget_gate.") != std::string_view::npos) counts.insert(lstm.count);
      if (name.find("reset_gate.") != std::string_view::npos) counts.insert(gru.count);
    }
  }
  if (counts.size() != 1) return std::nullopt;
  if (*counts.begin() == lstm.count) return lstm;
  return *counts.begin() == gru.count ? std::optional(gru) : std::nullopt;
}

// The size that most matrices have in one of their dimensions. Of joined gates each is a matrix.
std::optional<std::uint64_t> width_of(std::span<const TreeTensor> tensors,
                                      const std::optional<Gates>& gates) {
  std::map<std::uint64_t, std::size_t> counts;
  std::size_t matrices = 0;
  for (const TreeTensor& tensor : tensors) {
    if (tensor.shape.size() != 2) continue;
    const std::uint64_t parts = gates && is_joined_gates(tensor) ? gates->count : 1;
    matrices += parts;
    for (const std::uint64_t size : std::set{tensor.shape[0] / parts, tensor.shape[1]}) {
      counts[size] += parts;
    }
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end() || 2 * most->second < matrices || matrices < 4) return std::nullopt;
  return most->first;
}

std::size_t count_shared_shapes(std::span<const TreeTensor> source,
                                std::span<const TreeTensor> wanted) {
  std::map<std::vector<std::uint64_t>, std::size_t> there;
  for (const TreeTensor& tensor : source) ++there[tensor.shape];
  std::size_t shared = 0;
  for (const TreeTensor& tensor : wanted) {
    const auto found = there.find(tensor.shape);
    if (found == there.end() || found->second == 0) continue;
    --found->second;
    ++shared;
  }
  return shared;
}

// Whether few shapes of one are in the other, however often: a deeper model has the same ones.
bool are_strange(std::span<const TreeTensor> source, std::span<const TreeTensor> wanted) {
  std::set<std::vector<std::uint64_t>> there;
  for (const TreeTensor& tensor : source) there.insert(tensor.shape);
  std::set<std::vector<std::uint64_t>> asked;
  for (const TreeTensor& tensor : wanted) asked.insert(tensor.shape);
  const auto shared = std::count_if(asked.begin(), asked.end(),
                                    [&](const auto& shape) { return there.contains(shape); });
  return 3 * static_cast<std::size_t>(shared) < asked.size();
}

}  // namespace

std::string difference_between(std::span<const TreeTensor> source,
                               std::span<const TreeTensor> wanted, bool are_whole) {
  if (source.empty() || wanted.empty()) return {};
  const std::optional<Gates> gates = gates_of(source);
  const std::optional<Gates> wanted_gates = gates_of(wanted);
  if (gates && wanted_gates && gates->count != wanted_gates->count) {
    return "the recurrent layers of the source have " + std::to_string(gates->count) +
           " gates, as " + std::string(gates->owner) + ", those of the module " +
           std::to_string(wanted_gates->count) + ", as " + std::string(wanted_gates->owner);
  }
  const std::optional<std::uint64_t> width = width_of(source, gates);
  const std::optional<std::uint64_t> wanted_width = width_of(wanted, wanted_gates);
  if (width && wanted_width && *width != *wanted_width) {
    return "most matrices of the source have a dimension of " + std::to_string(*width) +
           ", most of the module one of " + std::to_string(*wanted_width);
  }
  if (!are_whole) return {};
  const std::optional<Blocks> blocks = blocks_of(source);
  const std::optional<Blocks> wanted_blocks = blocks_of(wanted);
  if (blocks && wanted_blocks && blocks->count != wanted_blocks->count &&
      !are_strange(source, wanted)) {
    return "the source has " + std::to_string(blocks->count) + " blocks at " +
           in_quotes(blocks->path) + ", the module " + std::to_string(wanted_blocks->count) +
           " at " + in_quotes(wanted_blocks->path);
  }
  const std::size_t shared = count_shared_shapes(source, wanted);
  if (3 * shared < wanted.size()) {
    return "only " + std::to_string(shared) + " of " + std::to_string(wanted.size()) +
           " parameters have a tensor of their shape in the source";
  }
  return {};
}

}  // namespace andiron::inline v1::detail
