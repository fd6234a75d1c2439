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

/// The same for a sentence that has text from a file in it: a backslash stays as it is, so that
/// patterns can be copied, and showing it twice changes nothing.
std::string display_line(std::string_view sentence);

}  // namespace andiron::inline v1
