// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes the place of a typed conversion. Writes its words, each in brackets, then the input. An
// input that begins with '!' makes it fail after it has written something. usage: program WORD...
// INPUT OUTPUT
#include <fstream>
#include <ios>

int main(int count, char** arguments) {
  std::ifstream input(arguments[count - 2], std::ios::binary);
  // As a store does by default, it replaces no file.
  if (std::ifstream(arguments[count - 1]).good()) return 1;
  std::ofstream output(arguments[count - 1], std::ios::binary);
  for (int i = 1; i < count - 2; ++i) output << '[' << arguments[i] << "]\n";
  if (!input.good() || input.peek() == '!') return 2;
  output << input.rdbuf();
  return output.flush().good() ? 0 : 3;
}
