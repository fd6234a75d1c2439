// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodings of positions in a sequence. Neither has parameters: files do not contain them.
//
//   nn::RotaryEncoding rotary = nn::RotaryEncodingConfig(2048, 64).init();
//   Result<Tensor> q = rotary.forward(query);   // [batch, heads, length, 64]; link andiron::nn
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// Adds sines and cosines of different wavelengths to [batch, length, d_model].
struct PositionalEncoding {
  std::uint64_t max_sequence_size = 5000;
  std::uint64_t d_model = 0;
  std::uint64_t max_timescale = 10000;

  /// Fails with ShapeMismatch if the input has another rank, another d_model or is longer than
  /// max_sequence_size, and with InvalidArgument if d_model is odd or max_timescale is below
  /// max_sequence_size.
  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}  // a module without parameters
};

/// Config of PositionalEncoding. Builders return a named config by reference, a temporary by value.
class PositionalEncodingConfig {
 public:
  explicit PositionalEncodingConfig(std::uint64_t d_model) : encoding_{.d_model = d_model} {}

  /// The longest sequence. Default: 5000.
  ANDIRON_BUILDER(PositionalEncodingConfig, with_max_sequence_size, (std::uint64_t size),
                  encoding_.max_sequence_size = size)
  /// The longest wavelength, in units of 2 pi. Default: 10000.
  ANDIRON_BUILDER(PositionalEncodingConfig, with_max_timescale, (std::uint64_t scale),
                  encoding_.max_timescale = scale)

  PositionalEncoding init() const { return encoding_; }

 private:
  PositionalEncoding encoding_;
};

/// Which elements of a vector are rotated together.
enum class RotaryPairs : std::uint8_t {
  neighbors,  ///< 0 and 1, 2 and 3 ...: Burn and Meta's LLaMA
  halves,     ///< 0 and d/2, 1 and d/2 + 1 ...: Hugging Face's LLaMA
};

/// Rotates pairs of elements of [..., length, d_model] by angles that grow with the position.
struct RotaryEncoding {
  std::uint64_t max_sequence_length = 0;
  std::uint64_t d_model = 0;  ///< of one head
  double theta = 10000;
  RotaryPairs pairs = RotaryPairs::neighbors;

  /// The first element of the sequence is at position 0.
  Result<Tensor> forward(const Result<Tensor>& input) const { return apply(input, 0); }
  /// The first element is at position `start`, as when a sequence is continued. Fails with
  /// ShapeMismatch if the input has another d_model or reaches beyond max_sequence_length, and with
  /// InvalidArgument if d_model is odd or theta is not above 0.
  Result<Tensor> apply(const Result<Tensor>& input, std::uint64_t start) const;
  static void fields(auto&, auto&&) {}  // a module without parameters
};

/// Config of RotaryEncoding. Builders return a named config by reference, a temporary by value.
class RotaryEncodingConfig {
 public:
  RotaryEncodingConfig(std::uint64_t max_sequence_length, std::uint64_t d_model)
      : encoding_{.max_sequence_length = max_sequence_length, .d_model = d_model} {}

  /// The base of the wavelengths. Default: 10000.
  ANDIRON_BUILDER(RotaryEncodingConfig, with_theta, (double theta), encoding_.theta = theta)
  /// Default: neighbors.
  ANDIRON_BUILDER(RotaryEncodingConfig, with_pairs, (RotaryPairs pairs), encoding_.pairs = pairs)

  RotaryEncoding init() const { return encoding_; }

 private:
  RotaryEncoding encoding_;
};

}  // namespace nn
}  // namespace andiron::inline v1
