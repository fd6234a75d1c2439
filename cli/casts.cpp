// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/cli/casts_test.cpp
#include "cli/casts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/json_output.h"
#include "cli/quantities.h"

namespace andiron::cli {
namespace {

std::string list_of_dtypes() {
  std::string list;
  for (unsigned i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (is_opaque(dtype)) continue;
    list.append(list.empty() ? "" : " ").append(dtype_name(dtype));
  }
  return list;
}

bool is_same_kind(DType a, DType b) {
  return (is_float(a) && is_float(b)) || (is_integer(a) && is_integer(b)) ||
         (is_complex(a) && is_complex(b)) || a == b;
}

const CastRule* rule_for(const std::vector<CastRule>& rules, std::vector<bool>& used,
                         std::string_view name) {
  const CastRule* last = nullptr;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!rules[i].glob.matches(name)) continue;
    used[i] = true;
    last = &rules[i];
  }
  return last;
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
  rule.names_one = glob.find_first_of("*?") == std::string::npos;
  if (!dtype_from_name(text.substr(equals + 1), rule.dtype)) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "unknown dtype '" + text.substr(equals + 1) + "'",
                 .expected = "one of " + list_of_dtypes()};
  }
  return rule;
}

Result<CastArchive> cast_tensors(const Archive& archive, const std::vector<CastRule>& rules) {
  CastArchive cast{.archive = archive, .tensors = {}};
  std::vector<bool> used(rules.size());
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    const CastRule* rule = rule_for(rules, used, info.name);
    if (rule == nullptr || info.dtype == rule->dtype) continue;
    if (!rule->names_one && !is_same_kind(info.dtype, rule->dtype)) continue;
    auto loss = std::make_shared<CastLoss>();
    Result<TensorSnapshot> changed = archive.snapshot(i).cast(rule->dtype, loss);
    if (!changed) return std::move(changed).error();
    cast.tensors.push_back({std::string(info.name), info.dtype, rule->dtype, std::move(loss)});
    if (Status put = cast.archive.replace(i, *std::move(changed)); !put)
      return std::move(put).error();
  }
  if (const auto idle = std::find(used.begin(), used.end(), false); idle != used.end()) {
    const CastRule& rule = rules[static_cast<std::size_t>(idle - used.begin())];
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "no tensor matches --cast '" + rule.text + "'",
                 .hint = "'andiron ls' shows the names"};
  }
  return cast;
}

std::vector<std::string> cast_notes(const std::vector<CastTensor>& tensors) {
  constexpr std::size_t shown = 5;
  std::vector<std::string> notes;
  if (tensors.empty()) return notes;
  std::size_t lossy = 0;
  for (const CastTensor& tensor : tensors) {
    const std::string lost = losses(tensor);
    if (lost.empty() || ++lossy > shown) continue;
    notes.push_back("tensor '" + tensor.name + "': " + lost + " in the cast from " +
                    std::string(dtype_name(tensor.from)) + " to " +
                    std::string(dtype_name(tensor.to)));
  }
  if (lossy > shown) {
    notes.push_back(count_of(lossy - shown, "more tensor") +
                    " lost elements in casts; --json lists them");
  }
  notes.insert(notes.begin(), "cast " + count_of(tensors.size(), "tensor") +
                                  (lossy == 0 ? ""
                                              : "; " + count_of(lossy, "tensor") +
                                                    " lost elements to overflow or underflow"));
  return notes;
}

void append_json_casts(std::string& out, const std::vector<CastTensor>& tensors, bool written) {
  append_json_key(out, "casts");
  out += '[';
  for (const CastTensor& tensor : tensors) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":";
    append_json_text(out, tensor.name);
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
