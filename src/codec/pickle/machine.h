// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a pickle without executing anything: opcodes build a graph and do nothing else.
//
// All opcodes of protocols 0 to 5 are known. Five are refused, because what they name is not in the
// file: those that name a registered extension (EXT1, EXT2, EXT4) and those that need external
// buffers (NEXT_BUFFER, READONLY_BUFFER). Time and memory are linear in the length of the pickle:
// no opcode copies what it refers to. docs/formats/pytorch.md has the table of opcodes.
#pragma once

#include <cstdint>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "src/codec/pickle/graph.h"
#include "src/core/memory_budget.h"

namespace andiron::inline v1::detail {

// The longest text and bytes that are kept in memory; longer ones stay in the source. Text in lines
// (protocol 0) is always kept, because its end must be searched.
inline constexpr std::uint64_t kept_pickle_bytes = 64 * 1024;

// Reads the pickle that begins at `begin` and ends, with STOP, before `end`. Ignores what follows.
// Reads the source in windows and skips long text and bytes; skipped text is not checked for UTF-8.
//
// Fails with BadPickle, with the position, for what no unpickler accepts: an unknown opcode, a
// stack that is too short, a missing memo, a truncated operand or pickle, a call of a value that is
// not callable, APPEND to a value that is not a list, SETITEM on a value that is not a dict, BUILD
// on a value that is not an object, and integers in text that are not plain decimal. Fails with
// Unsupported for the refused opcodes. Fails with LimitExceeded for integers of more than 1024
// bytes, names of more than kept_pickle_bytes, and beyond limits.pickle_values, which counts
// opcodes: none makes more than one value, one mark or one memo entry. What the graph takes is
// charged to the budget, if there is one.
//
// REQUIRES: begin <= end.
Result<PickleGraph> read_pickle(const ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                const Limits& limits, MemoryBudget* budget = nullptr);

}  // namespace andiron::inline v1::detail
