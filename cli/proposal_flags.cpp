// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/proposal_flags.h"

#include <span>
#include <string_view>

namespace andiron::cli {
namespace {

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string joined(std::span<const std::string> texts, std::span<const std::uint64_t> shares) {
  std::string list;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    list += (i == 0 ? "" : ",") + texts[i];
    if (!shares.empty()) list += "=" + std::to_string(shares[i]);
  }
  return list;
}

}  // namespace

std::string flag_for(const ProposedStep& step) {
  using Kind = ProposedStep::Kind;
  const std::vector<std::string>& given = step.arguments;
  const std::span<const std::string> rest = std::span(given).subspan(1);
  switch (step.kind) {
    case Kind::top_level_key:
      return "--top-level-key " + in_quotes(given[0]);
    case Kind::rename:
      return "--sub " + in_quotes(given[0]) + " " + in_quotes(given[1]);
    case Kind::split:
      return "--split " + in_quotes(given[0]) + " " + in_quotes(joined(rest, step.shares));
    case Kind::join:
      return "--join " + in_quotes(given[0]) + " " + in_quotes(joined(rest, {}));
    case Kind::transpose:
      return "--transpose " + in_quotes(given[0]);
    case Kind::close_gaps:
      return given[0] == "true" ? "--contiguous-indices" : "";
    case Kind::exclude:
    case Kind::adapter:
    case Kind::skip_variants:
      break;
  }
  return {};
}

}  // namespace andiron::cli
