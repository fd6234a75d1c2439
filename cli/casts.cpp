// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/cli/casts_test.cpp
#include "cli/casts.h"

#include <cstddef>
#include <utility>

#include "andiron/tensor.h"
#include "andiron/value.h"
#include "cli/json_output.h"
#include "cli/quantities.h"

namespace andiron::cli {
namespace {

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

// What became of a rule.
struct RuleUse {
  std::size_t matched = 0;
  std::size_t left = 0;  // of another kind
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

Error with_exclude_hint(Error error) {
  error.hint = "drop it with --exclude, or leave it out of --cast";
  return error;
}

Error matches_nothing(const CastRule& rule) {
  return Error{.code = ErrorCode::missing_tensor,
               .message = "no tensor matches --cast '" + rule.text + "'",
               .hint = "'andiron ls' shows the names"};
}

std::string losses(const CastTensor& tensor) {
  const std::uint64_t over = tensor.loss->overflowed;
  const std::uint64_t under = tensor.loss->underflowed;
  std::string text;
  if (over != 0) text += count_of(over, "element") + " overflowed";
  if (over != 0 && under != 0) text += " and ";
  if (under != 0) text += count_of(under, "element") + " became 0";
  return text;
}

}  // namespace

Result<CastRule> CastRule::parse(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const std::string glob = text.substr(0, equals);
  if (equals == std::string::npos || glob.empty()) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "a cast is GLOB=DTYPE, as in '**=f16'",
                 .found = "'" + text + "'"};
  }
  Result<Pattern> pattern = Pattern::glob(glob);
  if (!pattern) return std::move(pattern).error();
  CastRule rule{.text = text, .glob = *std::move(pattern)};
  rule.is_whole_name = glob.find_first_of("*?") == std::string::npos;
  if (!dtype_from_name(text.substr(equals + 1), rule.dtype) || !is_target(rule.dtype)) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "cannot cast to '" + text.substr(equals + 1) + "'",
                 .expected = "one of " + list_of_targets()};
  }
  return rule;
}

Result<CastArchive> cast_tensors(const Archive& archive, const std::vector<CastRule>& rules) {
  CastArchive cast{.archive = archive, .tensors = {}, .notes = {}};
  std::vector<RuleUse> uses(rules.size());
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    const std::size_t chosen = rule_for(rules, uses, info.name);
    if (chosen == rules.size() || info.dtype == rules[chosen].dtype) continue;
    const CastRule& rule = rules[chosen];
    auto loss = std::make_shared<CastLoss>();
    Result<TensorSnapshot> changed = archive.snapshot(i).cast(rule.dtype, loss);
    if (!rule.is_whole_name && (!changed || !is_same_kind(info.dtype, rule.dtype))) {
      ++uses[chosen].left;
      continue;
    }
    if (!changed) return with_exclude_hint(std::move(changed).error());
    cast.tensors.push_back({std::string(info.name), info.dtype, rule.dtype, std::move(loss)});
    if (Status put = cast.archive.replace(i, *std::move(changed)); !put)
      return std::move(put).error();
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (uses[i].matched == 0) return matches_nothing(rules[i]);
    if (uses[i].left < uses[i].matched) continue;
    cast.notes.push_back("--cast '" + rules[i].text +
                         "' changed nothing: " + count_of(uses[i].left, "matching tensor") +
                         " of another kind; give a whole name to cast such a tensor");
  }
  return cast;
}

std::vector<std::string> cast_notes(const std::vector<CastTensor>& tensors) {
  constexpr std::size_t shown = 5;
  std::vector<std::string> notes;
  std::size_t lossy = 0;
  for (const CastTensor& tensor : tensors) {
    const std::string lost = losses(tensor);
    if (lost.empty() || ++lossy > shown) continue;
    notes.push_back("tensor '" + tensor.name + "': " + lost + " in the cast from " +
                    std::string(dtype_name(tensor.from)) + " to " +
                    std::string(dtype_name(tensor.to)));
  }
  if (lossy > shown) notes.push_back(count_of(lossy - shown, "more tensor") + " lost elements");
  return notes;
}

void append_json_casts(std::string& out, const std::vector<CastTensor>& tensors, bool written) {
  append_json_key(out, "casts");
  out += '[';
  for (const CastTensor& tensor : tensors) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":";
    append_json_string(out, tensor.name);
    append_json_field(out, "from", dtype_name(tensor.from));
    append_json_field(out, "to", dtype_name(tensor.to));
    if (written) {
      append_json_field(out, "overflowed", tensor.loss->overflowed.load());
      append_json_field(out, "underflowed", tensor.loss->underflowed.load());
    }
    out += '}';
  }
  out += ']';
}

}  // namespace andiron::cli
