// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints the file that is in this program.
#include <cstdio>

#include "net/made/words.h"

int main() {
  const auto words = net::made::words();
  return std::fwrite(words.data(), 1, words.size(), stdout) == words.size() ? 0 : 1;
}
