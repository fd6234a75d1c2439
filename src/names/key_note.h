// SPDX-License-Identifier: MIT OR Apache-2.0
// The note that names the key of a model.
#pragma once

#include <string_view>

namespace andiron::inline v1::detail {

// How it begins. Who knows the key better takes the note back.
inline constexpr std::string_view key_note_start = "the model seems to be under the key ";

}  // namespace andiron::inline v1::detail
