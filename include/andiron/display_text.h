// SPDX-License-Identifier: MIT OR Apache-2.0
// Text from files made safe to show.
#pragma once

#include <string>
#include <string_view>

namespace andiron::inline v1 {

/// `text` on one line and without surprises for a terminal or a log: control characters, bytes that
/// are not UTF-8, bidirectional controls and invisible characters become escapes (\n, \x1b,
/// \u202e), a backslash becomes two. All else stays as it is.
std::string display_text(std::string_view text);

}  // namespace andiron::inline v1
