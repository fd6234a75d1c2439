// SPDX-License-Identifier: MIT OR Apache-2.0
// The name of the place where a walk is: keys and indices, joined with dots.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "andiron/error.h"
#include "andiron/limits.h"
#include "src/format/pytorch/pickle_document.h"

namespace andiron::inline v1::detail {

class NamePath {
 public:
  // All keys together may have `most_key_bytes`: a few bytes of pickle can repeat a long one.
  NamePath(const PickleDocument& content, const Limits& limits, std::uint64_t most_key_bytes)
      : content_(content), limits_(limits), most_key_bytes_(most_key_bytes) {}

  const std::string& text() const noexcept { return text_; }
  std::size_t size() const noexcept { return text_.size(); }
  // The last step, which begins at `step`.
  std::string_view last(std::size_t step) const { return std::string_view(text_).substr(step); }

  // Goes back to a shorter name.
  void cut(std::size_t size) { text_.resize(size); }
  // Both return where the step begins. `is_first` is one below the root, with no dot in front.
  std::size_t append_index(std::uint32_t index, bool is_first);
  // Keys whose text does not tell all, as that of tensors and of objects with attributes, go by
  // their number. LimitExceeded once all keys together are too long.
  Result<std::size_t> append_key(PickleValue key, std::uint32_t number, bool is_first);

 private:
  std::size_t begin_step(bool is_first) {
    if (!is_first) text_ += '.';
    return text_.size();
  }
  bool append_numpy_scalar(PickleValue key);
  Status append_long_text(const PickleBlob& blob);

  const PickleDocument& content_;
  const Limits& limits_;
  std::string text_;
  std::uint64_t key_bytes_ = 0;
  std::uint64_t most_key_bytes_;
};

}  // namespace andiron::inline v1::detail
