// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/cli/convert_test.cpp
#include "cli/interruption.h"

namespace andiron::cli {
namespace {

// The signal that came; 0 for none.
volatile sig_atomic_t noted = 0;

}  // namespace

Interruption::Interruption() {
  noted = 0;
  struct sigaction note{};
  note.sa_handler = [](int number) { noted = number; };
  note.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], nullptr, &old_[i]);
    // A signal that is ignored (nohup) stays ignored.
    if (old_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &note, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &old_[i], nullptr);
  if (noted != 0) ::raise(noted);
}

bool Interruption::is_requested() const noexcept { return noted != 0; }

}  // namespace andiron::cli
