// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/adapters/rule_adapter_test.cpp
#include "src/adapters/rule_steps.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "src/core/sort.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

namespace {

using Tensors = std::vector<TensorSnapshot>;

Error bad_steps(std::string message, std::string found, std::string expected) {
  return Error{.code = ErrorCode::invalid_argument,
               .message = std::move(message),
               .found = std::move(found),
               .expected = std::move(expected)};
}

std::string count_text(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// ---- Undoing ----

struct InverseStep {
  AdapterStep operator()(const PermuteStep& step) const {
    // What is no permutation must not become one: dimensions that are not named stay out of range.
    const std::size_t rank = step.dims.size();
    PermuteStep undo{std::vector<std::size_t>(rank, rank)};
    for (std::size_t i = 0; i < rank; ++i) {
      if (step.dims[i] < rank) undo.dims[step.dims[i]] = i;
    }
    return undo;
  }
  AdapterStep operator()(const ReshapeStep& step) const { return ReshapeStep{step.to, step.from}; }
  AdapterStep operator()(const SplitStep& step) const { return ConcatStep{step.dim, step.shares}; }
  AdapterStep operator()(const ConcatStep& step) const { return SplitStep{step.dim, step.shares}; }
  AdapterStep operator()(const StackStep& step) const { return UnstackStep{step.dim}; }
  AdapterStep operator()(const UnstackStep& step) const { return StackStep{step.dim}; }
};

// ---- Checking ----

struct StepCheck {
  Status operator()(const PermuteStep& step) const {
    std::vector<std::size_t> sorted = step.dims;
    detail::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] != i) {
        return bad_steps("the dimensions of a PermuteStep are not a permutation",
                         "dimension " + std::to_string(sorted[i]),
                         "each of the " + std::to_string(sorted.size()) + " once");
      }
    }
    return {};
  }
  Status operator()(const ReshapeStep& step) const {
    ANDIRON_ASSIGN(const std::uint64_t before, step.from.element_count());
    ANDIRON_ASSIGN(const std::uint64_t after, step.to.element_count());
    if (before == after) return {};
    return bad_steps("a ReshapeStep changes the number of elements", step.to.to_string(),
                     "as many as in " + step.from.to_string());
  }
  Status operator()(const SplitStep& step) const { return check_shares(step.shares); }
  Status operator()(const ConcatStep& step) const { return check_shares(step.shares); }
  Status operator()(const StackStep&) const { return {}; }
  Status operator()(const UnstackStep&) const { return {}; }

 private:
  static Status check_shares(const std::vector<std::uint64_t>& shares) {
    std::uint64_t sum = 0;
    for (const std::uint64_t share : shares) {
      if (share == 0 || __builtin_add_overflow(sum, share, &sum)) {
        return bad_steps("a share is out of range", std::to_string(share),
                         "at least 1, and a sum below 2^64");
      }
    }
    return {};
  }
};

constexpr std::size_t unknown = 0;

// What a step says about the number of tensors before and after it.
struct Arity {
  std::size_t inputs = unknown;
  std::size_t outputs = unknown;
};

struct ArityOf {
  Arity operator()(const PermuteStep&) const { return {}; }
  Arity operator()(const ReshapeStep&) const { return {}; }
  Arity operator()(const SplitStep& step) const { return {1, step.shares.size()}; }
  Arity operator()(const ConcatStep& step) const { return {step.shares.size(), 1}; }
  Arity operator()(const StackStep&) const { return {unknown, 1}; }
  Arity operator()(const UnstackStep&) const { return {1, unknown}; }
};

// Whether output i depends on input i alone.
bool acts_on_each(const AdapterStep& step) {
  return std::holds_alternative<PermuteStep>(step) || std::holds_alternative<ReshapeStep>(step);
}

// The number of tensors before each step and after the last, put together from what the rule's
// names and the steps on either side say.
Result<std::vector<std::size_t>> count_tensors(const AdapterRule& rule) {
  std::vector<std::size_t> counts(rule.steps.size() + 1, unknown);
  const auto say = [&](std::size_t at, std::size_t number) -> Status {
    if (counts[at] == unknown) counts[at] = number;
    if (number == unknown || number == counts[at]) return {};
    return bad_steps("the steps do not turn one side's tensors into the other's",
                     count_text(counts[at], "tensor"),
                     count_text(number, "tensor") + " after " + count_text(at, "step"));
  };
  ANDIRON_TRY(say(0, rule.from.size()));
  ANDIRON_TRY(say(rule.steps.size(), rule.to.size()));
  for (std::size_t i = 0; i < rule.steps.size(); ++i) {
    const Arity arity = std::visit(ArityOf{}, rule.steps[i]);
    ANDIRON_TRY(say(i, arity.inputs));
    ANDIRON_TRY(say(i + 1, arity.outputs));
  }
  for (std::size_t i = 0; i < rule.steps.size(); ++i) {
    if (acts_on_each(rule.steps[i])) ANDIRON_TRY(say(i + 1, counts[i]));
  }
  for (std::size_t i = rule.steps.size(); i > 0; --i) {
    if (acts_on_each(rule.steps[i - 1])) ANDIRON_TRY(say(i - 1, counts[i]));
  }
  if (std::find(counts.begin(), counts.end(), unknown) != counts.end()) {
    Error error = bad_steps("cannot tell how many tensors pass between two steps",
                            "a split whose parts are joined again", "a number of parts");
    error.hint = "set the shares of the SplitStep or the ConcatStep";
    return error;
  }
  return counts;
}

// Equal parts are shares of 1; a common divisor would ask for more than is needed.
void normalize(std::vector<std::uint64_t>& shares, std::size_t parts) {
  if (shares.empty()) shares.assign(parts, 1);
  std::uint64_t divisor = 0;
  for (const std::uint64_t share : shares) divisor = std::gcd(divisor, share);
  for (std::uint64_t& share : shares) share /= divisor;
}

// ---- Running ----

Error bad_shape(const TensorSnapshot& tensor, std::string message, std::string expected) {
  return Error{.code = ErrorCode::shape_mismatch,
               .message = std::move(message),
               .tensor = tensor.full_path(),
               .found = tensor.shape().to_string(),
               .expected = std::move(expected)};
}

Status check_dim(const TensorSnapshot& tensor, std::size_t dim) {
  if (dim < tensor.shape().rank()) return {};
  return bad_shape(tensor, "the tensor has too few dimensions for its adapter rule",
                   "at least " + std::to_string(dim + 1) + " dimensions");
}

std::string shares_text(const std::vector<std::uint64_t>& shares) {
  if (std::all_of(shares.begin(), shares.end(), [](std::uint64_t share) { return share == 1; })) {
    return count_text(shares.size(), "equal part");
  }
  std::string text = "parts in the ratio ";
  for (std::size_t i = 0; i < shares.size(); ++i) {
    text += (i == 0 ? "" : ":") + std::to_string(shares[i]);
  }
  return text;
}

Result<TensorSnapshot> slice(const TensorSnapshot& tensor, std::size_t dim, std::uint64_t start,
                             std::uint64_t count) {
  // slice() counts in signed numbers, which only a tensor without elements can exceed.
  if (start + count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return bad_shape(tensor, "the dimension is too long to split", "less than 2^63");
  }
  return tensor.slice(dim, static_cast<std::int64_t>(start),
                      static_cast<std::int64_t>(start + count));
}

// Outputs `first` to `first + count` of one step.
struct StepRunner {
  Tensors tensors;
  std::size_t outputs;
  std::size_t first;
  std::size_t count;

  Result<Tensors> operator()(const PermuteStep& step) {
    return each([&](const TensorSnapshot& tensor) -> Result<TensorSnapshot> {
      if (tensor.shape().rank() != step.dims.size()) return tensor;
      return tensor.permute(step.dims);
    });
  }

  Result<Tensors> operator()(const ReshapeStep& step) {
    return each([&](const TensorSnapshot& tensor) -> Result<TensorSnapshot> {
      if (tensor.shape() == step.from) return tensor.reshape(step.to);
      return bad_shape(tensor, "the shape differs from the adapter rule's", step.from.to_string());
    });
  }

  Result<Tensors> operator()(const SplitStep& step) {
    const TensorSnapshot& whole = tensors.front();
    ANDIRON_TRY(check_dim(whole, step.dim));
    const std::uint64_t size = whole.shape()[step.dim];
    const std::uint64_t sum =
        std::accumulate(step.shares.begin(), step.shares.end(), std::uint64_t{0});
    if (size % sum != 0) {
      return bad_shape(
          whole, "the tensor cannot be split as its adapter rule says",
          "dimension " + std::to_string(step.dim) + " to divide into " + shares_text(step.shares));
    }
    const auto begin = step.shares.begin() + static_cast<std::ptrdiff_t>(first);
    std::uint64_t start =
        size / sum * std::accumulate(step.shares.begin(), begin, std::uint64_t{0});
    return each_part([&](std::size_t i) {
      const std::uint64_t length = size / sum * step.shares[i];
      return slice(whole, step.dim, std::exchange(start, start + length), length);
    });
  }

  Result<Tensors> operator()(const ConcatStep& step) {
    // Parts of other proportions could not be told apart again.
    std::uint64_t unit = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      ANDIRON_TRY(check_dim(tensors[i], step.dim));
      const std::uint64_t size = tensors[i].shape()[step.dim];
      if (i == 0) unit = size / step.shares[i];
      if (size % step.shares[i] != 0 || size / step.shares[i] != unit) {
        Error error = bad_shape(tensors[i], "the tensor cannot be joined as its adapter rule says",
                                "dimension " + std::to_string(step.dim) + " to divide into " +
                                    shares_text(step.shares));
        error.hint = "set the shares in the rule's step";
        return error;
      }
    }
    ANDIRON_ASSIGN(TensorSnapshot joined, TensorSnapshot::concat(tensors, step.dim));
    return Tensors{std::move(joined)};
  }

  Result<Tensors> operator()(const StackStep& step) {
    ANDIRON_ASSIGN(TensorSnapshot joined, TensorSnapshot::stack(tensors, step.dim));
    return Tensors{std::move(joined)};
  }

  Result<Tensors> operator()(const UnstackStep& step) {
    const TensorSnapshot& whole = tensors.front();
    ANDIRON_TRY(check_dim(whole, step.dim));
    if (whole.shape()[step.dim] != outputs) {
      return bad_shape(
          whole, "the tensor cannot be unstacked as its adapter rule says",
          "size " + std::to_string(outputs) + " in dimension " + std::to_string(step.dim));
    }
    return each_part([&](std::size_t i) -> Result<TensorSnapshot> {
      ANDIRON_ASSIGN(const TensorSnapshot part, slice(whole, step.dim, i, 1));
      return part.squeeze(step.dim);
    });
  }

 private:
  template <class Change>
  Result<Tensors> each(const Change& change) {
    for (TensorSnapshot& tensor : tensors) {
      ANDIRON_ASSIGN(tensor, change(tensor));
    }
    return std::move(tensors);
  }

  template <class MakePart>
  Result<Tensors> each_part(const MakePart& make_part) const {
    Tensors parts;
    parts.reserve(count);
    for (std::size_t i = first; i < first + count; ++i) {
      ANDIRON_ASSIGN(TensorSnapshot part, make_part(i));
      parts.push_back(std::move(part));
    }
    return parts;
  }
};

}  // namespace

AdapterRule inverse(AdapterRule rule) {
  std::swap(rule.from, rule.to);
  std::reverse(rule.steps.begin(), rule.steps.end());
  for (AdapterStep& step : rule.steps) step = std::visit(InverseStep{}, step);
  return rule;
}

Result<RuleSteps> RuleSteps::make(const AdapterRule& rule) {
  for (const AdapterStep& step : rule.steps) ANDIRON_TRY(std::visit(StepCheck{}, step));
  ANDIRON_ASSIGN(const std::vector<std::size_t> counts, count_tensors(rule));
  RuleSteps made;
  made.outputs_ = counts.back();
  for (std::size_t i = 0; i < rule.steps.size(); ++i) {
    AdapterStep step = rule.steps[i];
    if (auto* split = std::get_if<SplitStep>(&step)) normalize(split->shares, counts[i + 1]);
    if (auto* concat = std::get_if<ConcatStep>(&step)) normalize(concat->shares, counts[i]);
    if (!acts_on_each(step)) made.tail_ = i + 1;
    made.steps_.push_back({std::move(step), counts[i + 1]});
  }
  return made;
}

Result<Tensors> RuleSteps::run(Tensors inputs) const {
  return run(std::move(inputs), Range{0, outputs_});
}

Result<TensorSnapshot> RuleSteps::run_for(std::size_t output, Tensors inputs) const {
  ANDIRON_ASSIGN(Tensors made, run(std::move(inputs), Range{output, 1}));
  return std::move(made.front());
}

Result<Tensors> RuleSteps::run(Tensors tensors, Range wanted) const {
  if (tail_ == 0 && wanted.count < tensors.size()) tensors = {tensors[wanted.first]};
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const CountedStep& step = steps_[i];
    const Range range = i + 1 == tail_ ? wanted : Range{0, step.outputs};
    ANDIRON_ASSIGN(
        tensors, std::visit(StepRunner{std::move(tensors), step.outputs, range.first, range.count},
                            step.step));
  }
  return tensors;
}

}  // namespace andiron::inline v1::detail
