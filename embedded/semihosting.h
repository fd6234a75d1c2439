// SPDX-License-Identifier: MIT OR Apache-2.0
// Arm semihosting: what a program under qemu or a debugger asks of the computer beside it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace board {

void print(std::string_view text);
void print(unsigned long number);
[[noreturn]] void exit(int code);
/// The arguments of the program in one line, separated by spaces.
std::string_view command_line(std::span<char> out);

/// A file of the computer beside. It is closed at the end of the program.
class File {
 public:
  enum class Mode : int { read = 1, write = 5 };  // "rb", "wb"

  /// `path` ends with a zero.
  File(const char* path, Mode mode);
  bool is_open() const { return handle_ != -1; }
  /// Fills `out` from the start. Returns the size of the file; 0 if it is larger than `out`.
  std::size_t read(std::span<std::byte> out) const;
  bool write(std::span<const std::byte> bytes) const;

 private:
  int handle_;
};

}  // namespace board
