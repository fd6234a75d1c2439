// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/regrouping_test.cpp
#include "src/proposals/regrouping.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "src/core/parse_index.h"
#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

using Dims = std::vector<std::uint64_t>;
using Tensors = std::span<const TreeTensor>;

std::map<Dims, std::size_t> shapes_of(Tensors tensors) {
  std::map<Dims, std::size_t> counts;
  for (const TreeTensor& tensor : tensors) ++counts[tensor.shape];
  return counts;
}
std::size_t count_of(const std::map<Dims, std::size_t>& counts, const Dims& shape) {
  const auto found = counts.find(shape);
  return found == counts.end() ? 0 : found->second;
}

// ---- Transposed matrices ----

// Which dimension of a matrix is the output: the one that its bias has.
enum class Output : std::uint8_t { unknown, first, second };

bool is_kernel(const TreeTensor& tensor) {
  return tensor.shape.size() == 2 && last_segment(tensor.name) == "kernel";
}

std::vector<Output> outputs_of(Tensors tensors) {
  std::map<std::string_view, std::uint64_t> biases;
  for (const TreeTensor& tensor : tensors) {
    if (tensor.shape.size() == 1 && role_of(last_segment(tensor.name)) == TensorRole::bias) {
      biases[module_path(tensor.name)] = tensor.shape[0];
    }
  }
  std::vector<Output> outputs;
  bool are_kernels_tensorflows = true;
  for (const TreeTensor& tensor : tensors) {
    const auto bias = biases.find(module_path(tensor.name));
    Output output = Output::unknown;
    if (tensor.shape.size() == 2 && bias != biases.end() && tensor.shape[0] != tensor.shape[1]) {
      if (bias->second == tensor.shape[0]) output = Output::first;
      if (bias->second == tensor.shape[1]) output = Output::second;
    }
    if (is_kernel(tensor) && output == Output::first) are_kernels_tensorflows = false;
    outputs.push_back(output);
  }
  // TensorFlow and Flax have the output last, unless a bias says otherwise.
  for (std::size_t i = 0; i < tensors.size() && are_kernels_tensorflows; ++i) {
    if (is_kernel(tensors[i])) outputs[i] = Output::second;
  }
  return outputs;
}

}  // namespace

// In PyTorch's layout the first dimension is the output, but GPT-2's Conv1D and TensorFlow's
// kernels have it last. Square matrices follow the others of the blocks around them, or those whose
// last segment is the same.
std::vector<bool> find_transposed(Tensors source, Tensors wanted) {
  std::vector<bool> transposed(source.size());
  const std::vector<Output> outputs = outputs_of(source);
  const std::vector<Output> wanted_outputs = outputs_of(wanted);
  const auto has = [](const std::vector<Output>& all, Output output) {
    return std::find(all.begin(), all.end(), output) != all.end();
  };
  // What the other side has not.
  Output odd = Output::unknown;
  for (const Output output : {Output::first, Output::second}) {
    const Output other = output == Output::first ? Output::second : Output::first;
    const bool is_usual = other == Output::first && !has(wanted_outputs, output);
    if (has(outputs, output) && !has(wanted_outputs, output) &&
        (has(wanted_outputs, other) || is_usual)) {
      odd = output;
    }
  }
  const std::map<Dims, std::size_t> shapes = shapes_of(source);
  const std::map<Dims, std::size_t> wanted_shapes = shapes_of(wanted);
  // One side has more of them as they are, the other has more of them transposed.
  const auto is_missed_turned = [&](const Dims& shape) {
    const Dims turned = {shape[1], shape[0]};
    return count_of(shapes, shape) > count_of(wanted_shapes, shape) &&
           count_of(shapes, turned) < count_of(wanted_shapes, turned);
  };
  struct Votes {
    bool is_turned = false;
    bool is_plain = false;
  };
  std::set<std::string_view> has_bias;
  for (const TreeTensor& tensor : source) {
    if (role_of(last_segment(tensor.name)) == TensorRole::bias) {
      has_bias.insert(module_path(tensor.name));
    }
  }
  std::map<std::string, Votes> by_block;
  std::map<std::string_view, Votes> by_last;
  // What comes before each segment that is a number, the innermost first.
  const auto blocks_of = [](std::string_view name) {
    std::vector<std::string> blocks;
    for (std::string_view rest = module_path(name); !rest.empty(); rest = module_path(rest)) {
      if (parse_index(last_segment(rest))) blocks.push_back(name_kind(module_path(rest)));
    }
    return blocks;
  };
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (outputs[i] == Output::unknown || odd == Output::unknown) continue;
    const auto vote = [&](Votes& votes) {
      (outputs[i] == odd ? votes.is_turned : votes.is_plain) = true;
    };
    for (const std::string& block : blocks_of(source[i].name)) vote(by_block[block]);
    vote(by_last[last_segment(source[i].name)]);
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    const Dims& shape = source[i].shape;
    if (shape.size() != 2) continue;
    if (outputs[i] != Output::unknown) {
      transposed[i] = outputs[i] == odd;
    } else if (shape[0] != shape[1]) {
      transposed[i] = is_missed_turned(shape);
    } else if (odd != Output::unknown) {
      const std::vector<std::string> blocks = blocks_of(source[i].name);
      // Outside of blocks, what has no bias may be an embedding.
      const bool follows = !blocks.empty() || has_bias.contains(module_path(source[i].name));
      const auto known = std::find_if(blocks.begin(), blocks.end(), [&](const std::string& block) {
        return by_block.contains(block);
      });
      const Votes votes = known != blocks.end() ? by_block[*known]
                          : blocks.empty()      ? by_last[last_segment(source[i].name)]
                                                : Votes();
      transposed[i] = follows && votes.is_turned && !votes.is_plain;
    }
  }
  return transposed;
}

namespace {

// ---- Tensors that hold several ----

// Where the name of a tensor says what it holds: the segment of its module, or its own.
struct FusedName {
  std::string_view segment;
  bool is_last;
  std::vector<std::string_view> parts;
};
FusedName fused_name(std::string_view name) {
  const std::string_view last = last_segment(name);
  const std::string_view module = last_segment(module_path(name));
  if (std::vector<std::string_view> parts = fused_parts(last); !parts.empty()) {
    return {last, true, std::move(parts)};
  }
  // A mask or a scale beside them is cut by nobody.
  const bool is_usual = last == "weight" || last == "bias" || last == "kernel";
  if (is_usual && may_hold_projections_in_order(name)) return {module, false, {"q", "k", "v"}};
  return {module, false, is_usual ? fused_parts(module) : std::vector<std::string_view>()};
}

// The sizes of the parts along the first dimension, if the other side has tensors for them.
std::optional<Dims> part_sizes(const Dims& shape, std::size_t count,
                               const std::map<Dims, std::size_t>& here,
                               const std::map<Dims, std::size_t>& there) {
  if (shape.empty() || shape[0] == 0) return std::nullopt;
  const auto is_missed = [&](std::uint64_t size) {
    Dims part = shape;
    part[0] = size;
    return count_of(there, part) > count_of(here, part);
  };
  if (shape[0] % count == 0 && is_missed(shape[0] / count)) {
    return Dims(count, shape[0] / count);
  }
  if (count != 3) return std::nullopt;
  // Keys and values of fewer heads than queries.
  for (const auto& [other, number] : there) {
    if (other.size() != shape.size() ||
        !std::equal(other.begin() + 1, other.end(), shape.begin() + 1)) {
      continue;
    }
    const std::uint64_t small = other[0];
    if (small == 0 || small >= shape[0] || small >= shape[0] - small) continue;
    const std::uint64_t large = shape[0] - 2 * small;
    if (large > small && is_missed(small) && is_missed(large)) return Dims{large, small, small};
  }
  return std::nullopt;
}

std::string part_name(std::string_view name, const FusedName& fused, std::string_view part) {
  const std::size_t at = static_cast<std::size_t>(fused.segment.data() - name.data());
  std::string changed(name.substr(0, at));
  changed += part;
  if (fused.is_last) {
    changed += name.ends_with("bias") ? ".bias" : ".weight";
  } else {
    changed += name.substr(at + fused.segment.size());
  }
  return changed;
}

// "q_bias" beside a "qkv" that was taken apart is the bias of its query, unless the other side has
// such names too.
void name_lone_biases(TornList& list, Tensors other) {
  constexpr std::string_view end = "_bias";
  std::set<std::string_view> known;
  for (const TreeTensor& tensor : other) known.insert(last_segment(tensor.name));
  std::set<std::string> parts;
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.tensors.size(); ++i) {
    names.insert(list.tensors[i].name);
    if (list.part_counts[list.origins[i].whole] == 1) continue;
    parts.emplace(module_path(list.tensors[i].name));
  }
  for (std::size_t i = 0; i < list.tensors.size(); ++i) {
    std::string& name = list.tensors[i].name;
    if (list.part_counts[list.origins[i].whole] != 1 || !name.ends_with(end)) continue;
    if (known.contains(last_segment(name))) continue;
    std::string part = name.substr(0, name.size() - end.size());
    part += ".bias";
    if (parts.contains(std::string(module_path(part))) && !names.contains(part)) name = part;
  }
}

TornList torn(Tensors tensors, Tensors other) {
  const std::map<Dims, std::size_t> here = shapes_of(tensors);
  const std::map<Dims, std::size_t> there = shapes_of(other);
  TornList list;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TreeTensor& tensor = tensors[i];
    std::optional<Dims> sizes;
    FusedName fused = fused_name(tensor.name);
    std::vector<std::string> parts(fused.parts.begin(), fused.parts.end());
    if (!parts.empty() && count_of(there, tensor.shape) < count_of(here, tensor.shape)) {
      sizes = part_sizes(tensor.shape, parts.size(), here, there);
    }
    list.part_counts.push_back(sizes ? sizes->size() : 1);
    if (!sizes) {
      list.tensors.push_back(tensor);
      list.origins.push_back({i, 0, "", ""});
      continue;
    }
    for (std::size_t part = 0; part < parts.size(); ++part) {
      TreeTensor piece = tensor;
      piece.name = part_name(tensor.name, fused, parts[part]);
      piece.shape[0] = (*sizes)[part];
      list.tensors.push_back(std::move(piece));
      list.origins.push_back({i, part, std::string(fused.segment), parts[part]});
    }
  }
  name_lone_biases(list, other);
  return list;
}

}  // namespace

Regrouping regroup(Tensors source, Tensors wanted) {
  Regrouping result;
  result.transposed = find_transposed(source, wanted);
  std::vector<TreeTensor> turned(source.begin(), source.end());
  for (std::size_t i = 0; i < turned.size(); ++i) {
    if (result.transposed[i]) std::swap(turned[i].shape[0], turned[i].shape[1]);
  }
  result.source = torn(turned, wanted);
  result.wanted = torn(wanted, turned);
  return result;
}

}  // namespace andiron::inline v1::detail
