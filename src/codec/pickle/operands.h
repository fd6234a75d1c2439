// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads opcodes and their operands, and turns them into values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/codec/pickle/builder.h"
#include "src/codec/pickle/failure.h"
#include "src/codec/pickle/graph.h"
#include "src/codec/pickle/input.h"
#include "src/codec/pickle/opcode.h"

namespace andiron::inline v1::detail {

// Each function takes the operand of one opcode, or the part after its fixed bytes. Returns false
// after a failure, which is recorded, and if the input needs more bytes; then the opcode runs
// again.
class PickleOperands {
 public:
  PickleOperands(PickleInput& input, PickleBuilder& builder, PickleFailure& failure) noexcept
      : input_(input), builder_(builder), failure_(failure) {}

  // Has the next opcode in memory, and the fixed part of its operand.
  bool fill();

  // Runs of `size` bytes.
  bool text(std::uint64_t size, PickleValue& out);
  // Of text in the window, wherever the input stands. REQUIRES: size <= kept_pickle_bytes.
  bool text_at(const char* begin, std::size_t size, PickleValue& out);
  bool bytes(PickleKind kind, std::uint64_t size, PickleValue& out);
  bool integer(std::int64_t size, PickleValue& out);
  // A str of Python 2, whose length has a sign.
  bool old_text(std::int64_t size, PickleValue& out);

  // Lines.
  bool int_line(PickleValue& out);
  bool long_line(PickleValue& out);
  bool float_line(PickleValue& out);
  bool string_line(PickleValue& out);
  bool unicode_line(PickleValue& out);
  bool persistent_id_line(PickleValue& out);
  bool memo_number_line(std::uint64_t& out);
  bool global_lines(PickleValue& out);

  // A frame means nothing, except that no operand goes across its end and no other begins in it:
  // Python's unpicklers disagree about what follows then.
  bool frame(std::uint64_t size);

 private:
  bool cut_short();
  bool past_frame();
  // Whether the pickle, and the frame, have so many bytes more.
  bool can_take(std::uint64_t size);
  bool negative_size();
  bool too_long_integer();
  // A line without its newline, and where it lies.
  bool line(PickleBlob& out);
  bool name_line(std::string_view& out);
  bool decimal(std::string_view text, PickleValue& out);
  bool decoded_blob(PickleKind kind, const char* data, std::size_t size, PickleValue& out);

  PickleInput& input_;
  PickleBuilder& builder_;
  PickleFailure& failure_;
};

}  // namespace andiron::inline v1::detail
