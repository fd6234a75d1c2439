// SPDX-License-Identifier: MIT OR Apache-2.0
// The tensor that a missing one probably is.
#pragma once

#include <string_view>
#include <vector>

namespace andiron {
inline namespace v1 {
namespace detail {

// One of `unused`, which are sorted, or nothing: the path without the name of a variant, a mistyped
// name, or the one of `of_its_size` that is most like it.
std::string_view suggested_name(std::string_view missing,
                                const std::vector<std::string_view>& unused,
                                const std::vector<std::string_view>& of_its_size);

}  // namespace detail
}  // namespace v1
}  // namespace andiron
