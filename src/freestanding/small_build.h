// SPDX-License-Identifier: MIT OR Apache-2.0
// Whether code size counts more than speed: then headers are read in one way only, and the schemes
// of quantized tensors, which firmware cannot bind, are not read. Freestanding.
#pragma once

namespace andiron::inline v1::detail {

#ifdef ANDIRON_VIEW_SMALL
inline constexpr bool is_small_build = true;
#else
inline constexpr bool is_small_build = false;
#endif

}  // namespace andiron::inline v1::detail
