// SPDX-License-Identifier: MIT OR Apache-2.0
#include "semihosting.h"

#include <cstdint>

namespace board {
namespace {

enum class Call : std::uint32_t {
  open = 0x01,
  write = 0x05,
  read = 0x06,
  file_size = 0x0c,
  command_line = 0x15,
  exit_with_code = 0x20,
};

std::int32_t call(Call number, const void* arguments) {
  register auto r0 asm("r0") = static_cast<std::uint32_t>(number);
  register const void* r1 asm("r1") = arguments;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return static_cast<std::int32_t>(r0);
}

std::uintptr_t word(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

void print(std::string_view text) {
  static const File terminal(":tt", File::Mode::write);
  static_cast<void>(terminal.write(std::as_bytes(std::span(text.data(), text.size()))));
}

void print(unsigned long number) {
  char digits[10];
  std::size_t at = sizeof digits;
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  print(std::string_view(digits + at, sizeof digits - at));
}

void exit(int code) {
  const std::uintptr_t arguments[] = {0x20026, static_cast<std::uintptr_t>(code)};
  for (;;) call(Call::exit_with_code, arguments);
}

std::string_view command_line(std::span<char> out) {
  std::uintptr_t arguments[] = {word(out.data()), out.size()};
  if (call(Call::command_line, arguments) != 0) return {};
  return {out.data(), arguments[1]};
}

File::File(const char* path, Mode mode) : handle_(-1) {
  const std::uintptr_t arguments[] = {word(path), static_cast<std::uintptr_t>(mode),
                                      __builtin_strlen(path)};
  handle_ = call(Call::open, arguments);
}

std::size_t File::read(std::span<std::byte> out) const {
  const std::uintptr_t handle[] = {static_cast<std::uintptr_t>(handle_)};
  const std::int32_t size = call(Call::file_size, handle);
  if (size <= 0 || static_cast<std::size_t>(size) > out.size()) return 0;
  const std::uintptr_t arguments[] = {handle[0], word(out.data()),
                                      static_cast<std::uintptr_t>(size)};
  return call(Call::read, arguments) == 0 ? static_cast<std::size_t>(size) : 0;
}

bool File::write(std::span<const std::byte> bytes) const {
  const std::uintptr_t arguments[] = {static_cast<std::uintptr_t>(handle_), word(bytes.data()),
                                      bytes.size()};
  return call(Call::write, arguments) == 0;
}

}  // namespace board
