// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/proposal_flags.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace andiron::cli {
namespace {

std::string single_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string comma_list(std::span<const std::string> texts, std::span<const std::uint64_t> shares) {
  std::string list;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    list += (i == 0 ? "" : ",") + texts[i];
    if (!shares.empty()) list += "=" + std::to_string(shares[i]);
  }
  return list;
}

// The glob for an exclusion: '^fc\\.' is 'fc.**', '^fc$' is 'fc'; empty if none can say it.
std::string glob_for(std::string_view pattern) {
  const bool is_module = pattern.ends_with("\\.");
  if (!pattern.starts_with('^') || (!is_module && !pattern.ends_with('$'))) return {};
  pattern.remove_prefix(1);
  pattern.remove_suffix(is_module ? 2 : 1);
  std::string glob;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    glob += pattern[i];
  }
  if (glob.find_first_of("*?[]{}\\") != std::string::npos) return {};
  return is_module ? glob + ".**" : glob;
}

}  // namespace

std::string in_shell_quotes(std::string_view text) {
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/+:@%").find(c) != std::string_view::npos;
  });
  return is_plain ? std::string(text) : single_quoted(text);
}

std::string flag_for(const ProposedStep& step) {
  using Kind = ProposedStep::Kind;
  const std::vector<std::string>& given = step.arguments;
  if (given.empty() || (step.kind == Kind::rename && given.size() < 2)) return {};
  const std::span<const std::string> rest = std::span(given).subspan(1);
  // A list cannot say these.
  const bool is_list = step.kind == Kind::split || step.kind == Kind::join;
  const bool is_odd = std::any_of(rest.begin(), rest.end(), [](const std::string& name) {
    return name.find_first_of(",=") != std::string::npos;
  });
  if (is_list && is_odd) return {};
  switch (step.kind) {
    case Kind::top_level_key:
      return "--top-level-key " + single_quoted(given[0]);
    case Kind::fold_weight_norm:
      return "--fold-weight-norm";
    case Kind::rename:
      return "--sub " + single_quoted(given[0]) + " " + single_quoted(given[1]);
    case Kind::split:
      return "--split " + single_quoted(given[0]) + " " +
             single_quoted(comma_list(rest, step.shares));
    case Kind::join:
      return "--join " + single_quoted(given[0]) + " " + single_quoted(comma_list(rest, {}));
    case Kind::transpose:
      return "--transpose " + single_quoted(given[0]);
    case Kind::close_gaps:
      return given[0] == "true" ? "--contiguous-indices" : "";
    case Kind::exclude: {
      const std::string glob = glob_for(given[0]);
      return glob.empty() ? std::string() : "--exclude " + single_quoted(glob);
    }
    case Kind::adapter:
    case Kind::skip_variants:
    case Kind::allow_unused:
      break;
  }
  return {};
}

}  // namespace andiron::cli
