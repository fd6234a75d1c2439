// SPDX-License-Identifier: MIT OR Apache-2.0
// Before a function, ANDIRON_VECTOR_CLONES("avx512f", "avx2") makes g++ compile it for each of
// these vector units as well; that of the machine is chosen when the program starts. "avx512f" may
// fuse products and sums, so it is not for sums that must be the same on every machine.
#pragma once

// Not under sanitizers, which start only after that choice.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ANDIRON_VECTOR_CLONES(...) __attribute__((target_clones(__VA_ARGS__, "default")))
#else
#define ANDIRON_VECTOR_CLONES(...)
#endif
