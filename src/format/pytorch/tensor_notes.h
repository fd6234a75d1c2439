// SPDX-License-Identifier: MIT OR Apache-2.0
// Notes on single tensors. A file may have as many as tensors, so only the first ones are kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/text/in_quotes.h"

namespace andiron::inline v1::detail {

// Tells the first ones, and of the others how many there are.
class TensorNotes {
 public:
  void add(std::string_view name, const Message& text) {
    if (count_++ < most) {
      told_.push_back(in_quotes(name.substr(0, 200)) + ": " + text);
    }
  }
  void move_to(std::vector<Message>& notes) {
    for (Message& note : told_) notes.push_back(std::move(note));
    if (count_ > most) {
      notes.push_back(std::to_string(count_ - most) + " more tensors have notes");
    }
  }

 private:
  static constexpr std::size_t most = 20;
  std::vector<Message> told_;
  std::size_t count_ = 0;
};

}  // namespace andiron::inline v1::detail
