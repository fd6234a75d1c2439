// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a pickle without running anything: opcodes build a graph, and that is all they do.
//
// Every opcode of protocols 0 to 5 is known. Five are refused: those that name a registered
// extension (EXT1, EXT2, EXT4) and those that ask for buffers from elsewhere (NEXT_BUFFER,
// READONLY_BUFFER), as what they name is not in the file. Time and memory follow the length of the
// pickle: no opcode copies what it refers to. docs/formats/pytorch.md has the table of opcodes.
#pragma once

#include <cstdint>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "src/codec/pickle/graph.h"

namespace andiron::inline v1::detail {

// The longest text and the longest bytes that are kept in memory; longer ones stay in the source.
// Text in lines (protocol 0) is kept whatever its length, as its end must be looked for.
inline constexpr std::uint64_t kept_pickle_bytes = 64 * 1024;

// Reads the pickle that begins at `begin` and ends, with STOP, before `end`; what follows is not
// looked at. Reads the source in windows, passing over long text and bytes; text that was passed
// over has not been checked to be UTF-8.
//
// BadPickle, with the position, for what no unpickler takes: an unknown opcode, a stack that is too
// short, a memo that is not there, an operand or a whole pickle that is cut short, a call of what
// cannot be called, APPEND to what is no list, SETITEM on what is no dict, BUILD on what is no
// object; also for whole numbers in text that are not plain decimal. Unsupported for the refused
// opcodes. LimitExceeded for integers of more than 1024 bytes, for names of more than
// kept_pickle_bytes, and beyond limits.pickle_values, which counts opcodes: none makes more than
// one value, one mark or one number of the memo.
//
// REQUIRES: begin <= end.
Result<PickleGraph> read_pickle(const ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                const Limits& limits);

}  // namespace andiron::inline v1::detail
