// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/convert/casts_test.cpp
#include "src/convert/casts.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "andiron/tensor.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

using detail::count_of;

// Whether any tensor can be cast to it.
bool is_target(DType dtype) {
  const DType like = is_complex(dtype) ? DType::c64 : DType::f32;
  const Result<Tensor> zeros = Tensor::zeros(like, {2});
  return zeros && TensorSnapshot("", *zeros).cast(dtype).ok();
}

std::string list_of_targets() {
  std::string list;
  for (unsigned i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!is_target(dtype)) continue;
    list.append(list.empty() ? "" : " ").append(dtype_name(dtype));
  }
  return list;
}

bool is_same_kind(DType a, DType b) {
  return (is_float(a) && is_float(b)) || (is_integer(a) && is_integer(b)) ||
         (is_complex(a) && is_complex(b)) || a == b;
}

// How many tensors a rule matched, and how many of them have another kind.
struct RuleUse {
  std::size_t matched = 0;
  std::size_t unlike = 0;
};

// The index of the last rule that matches, or the number of rules.
std::size_t rule_for(const std::vector<CastRule>& rules, std::vector<RuleUse>& uses,
                     std::string_view name) {
  std::size_t last = rules.size();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!rules[i].glob.matches(name)) continue;
    ++uses[i].matched;
    last = i;
  }
  return last;
}

std::string losses_of(const CastTensor& tensor) {
  const std::uint64_t over = tensor.loss->overflowed;
  const std::uint64_t under = tensor.loss->underflowed;
  std::string text;
  if (over != 0) text += count_of(over, "element") + " overflowed";
  if (over != 0 && under != 0) text += " and ";
  if (under != 0) text += count_of(under, "element") + " became 0";
  return text;
}

}  // namespace

Result<CastRule> CastRule::parse(const std::string& text) ANDIRON_NO_THROW {
  const std::size_t equals = text.rfind('=');
  const std::string glob = text.substr(0, equals);
  if (equals == std::string::npos || glob.empty()) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "a cast is GLOB=DTYPE, as in '**=f16'",
                 .found = detail::in_quotes(text)};
  }
  ANDIRON_ASSIGN(Pattern pattern, Pattern::glob(glob));
  CastRule rule{.glob = std::move(pattern), .text = text};
  rule.is_whole_name = glob.find_first_of("*?") == std::string::npos;
  if (!dtype_from_name(text.substr(equals + 1), rule.dtype) || !is_target(rule.dtype)) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "cannot cast to " + detail::in_quotes(text.substr(equals + 1)),
                 .expected = "one of " + list_of_targets()};
  }
  return rule;
}
ANDIRON_OR_OUT_OF_MEMORY

Status detail::cast_tensors(const std::vector<CastRule>& rules, Conversion& conversion) {
  Archive& archive = conversion.archive;
  std::vector<RuleUse> uses(rules.size());
  for (std::size_t i = 0; !rules.empty() && i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    const std::size_t chosen = rule_for(rules, uses, info.name);
    if (chosen == rules.size() || info.dtype == rules[chosen].dtype) continue;
    const CastRule& rule = rules[chosen];
    auto loss = std::make_shared<CastLoss>();
    Result<TensorSnapshot> changed = archive.snapshot(i).cast(rule.dtype, loss);
    if (!rule.is_whole_name && (!changed || !is_same_kind(info.dtype, rule.dtype))) {
      ++uses[chosen].unlike;
      continue;
    }
    if (!changed) {
      Error error = std::move(changed).error();
      error.hint = Advice::leave_uncast;
      return error;
    }
    conversion.casts.push_back({std::string(info.name), info.dtype, rule.dtype, std::move(loss)});
    ANDIRON_TRY(archive.replace(i, *std::move(changed)));
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string text = in_quotes(rules[i].text);
    if (uses[i].matched == 0) {
      return Error{.code = ErrorCode::missing_tensor,
                   .message = "no tensor matches the cast " + text,
                   .file = archive.origin()};
    }
    if (uses[i].unlike < uses[i].matched) continue;
    conversion.notes.push_back("the cast " + text +
                               " changed nothing: " + count_of(uses[i].unlike, "matching tensor") +
                               " of another kind; give a whole name to cast such a tensor");
  }
  return {};
}

std::vector<std::string> Conversion::cast_losses() const {
  constexpr std::size_t shown = 5;
  std::vector<std::string> sentences;
  std::size_t lossy = 0;
  for (const CastTensor& tensor : casts) {
    const std::string lost = losses_of(tensor);
    if (lost.empty() || ++lossy > shown) continue;
    sentences.push_back("tensor " + detail::in_quotes(tensor.name) + ": " + lost +
                        " in the cast from " + std::string(dtype_name(tensor.from)) + " to " +
                        std::string(dtype_name(tensor.to)));
  }
  if (lossy > shown) {
    sentences.push_back(count_of(lossy - shown, "more tensor") + " lost elements");
  }
  return sentences;
}

}  // namespace andiron::inline v1
