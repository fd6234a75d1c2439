// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading tensors in another layout or type, into memory that was used before. The raw programs
// work straight out of a mapping.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "andiron/open.h"
#include "bench/cases.h"
#include "bench/files.h"

namespace andiron::bench {
namespace {

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

#if defined(__SSE2__)

// Four by four elements from rows of `columns` into rows of the strip.
void turn_block(const std::byte* at, std::size_t columns, float* strip, std::size_t height) {
  const auto row = [&](std::size_t i) {
    return _mm_loadu_ps(reinterpret_cast<const float*>(at + i * columns * sizeof(float)));
  };
  __m128 a = row(0);
  __m128 b = row(1);
  __m128 c = row(2);
  __m128 d = row(3);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_store_ps(strip, a);
  _mm_store_ps(strip + height, b);
  _mm_store_ps(strip + 2 * height, c);
  _mm_store_ps(strip + 3 * height, d);
}

// Past the caches: nobody reads it soon.
void store_line(float* out, const float* line) {
  for (int i = 0; i < 16; i += 4) _mm_stream_ps(out + i, _mm_load_ps(line + i));
}

#else

void turn_block(const std::byte* at, std::size_t columns, float* strip, std::size_t height) {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      strip[j * height + i] = load<float>(at + (i * columns + j) * sizeof(float));
    }
  }
}

void store_line(float* out, const float* line) { std::memcpy(out, line, 64); }

#endif

// Strips one cache line wide, turned in a small buffer, so that both sides see whole lines. Both
// dimensions are multiples of 64, and `out` starts on a line.
void transpose_raw(const std::byte* source, std::size_t rows, std::size_t columns, float* out) {
  constexpr std::size_t line = 16;
  constexpr std::size_t height = 64;
  alignas(64) float strip[line * height];
  for (std::size_t r = 0; r < rows; r += height) {
    for (std::size_t c = 0; c < columns; c += line) {
      for (std::size_t i = 0; i < height; i += 4) {
        for (std::size_t j = 0; j < line; j += 4) {
          turn_block(source + ((r + i) * columns + c + j) * sizeof(float), columns,
                     strip + j * height + i, height);
        }
      }
      for (std::size_t j = 0; j < line; ++j) {
        for (std::size_t i = 0; i < height; i += line) {
          store_line(out + (c + j) * rows + r + i, strip + j * height + i);
        }
      }
    }
  }
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

void f32_to_bf16_raw(const std::byte* source, std::size_t count, std::uint16_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = load<std::uint32_t>(source + 4 * i);
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    out[i] = static_cast<std::uint16_t>(nan ? bits >> 16 | 0x40 : rounded);
  }
}

void bf16_to_f32_raw(const std::byte* source, std::size_t count, std::uint32_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<std::uint32_t>(load<std::uint16_t>(source + 2 * i)) << 16;
  }
}

// One square matrix in a file, and room for two results.
class MatrixFile {
 public:
  MatrixFile(const Harness& harness, const std::string& dtype, std::size_t element_bytes)
      : side_(harness.settings().quick ? 2048 : 6144),
        bytes_(side_ * side_ * element_bytes),
        path_(folder_.file("matrix.safetensors")) {
    const TensorSpec spec{"matrix", dtype, {side_, side_}, bytes_};
    data_begin_ = write_model(path_, std::span(&spec, 1));
  }

  std::size_t side() const { return side_; }
  std::size_t count() const { return side_ * side_; }
  const std::string& path() const { return path_; }
  std::uint64_t data_begin() const { return data_begin_; }
  TensorSnapshot snapshot() const { return open(path_).value().snapshot(0); }

 private:
  TempFolder folder_;
  std::size_t side_;
  std::size_t bytes_;
  std::string path_;
  std::uint64_t data_begin_ = 0;
};

// `raw(data, out)` does by hand what reading `result` does.
template <class Raw>
void compare(Harness& harness, const std::string& name, const MatrixFile& file,
             const TensorSnapshot& result, std::uint64_t amount, Raw raw) {
  HugeMemory a(result.byte_size());
  HugeMemory b(result.byte_size());
  a.touch();
  b.touch();
  const auto run_raw = [&] {
    const Mapping mapping(file.path());
    raw(mapping.bytes().data() + file.data_begin(), a.bytes().data());
  };
  const auto read = [&] { result.read_into(b.bytes()).value(); };
  run_raw();
  read();
  if (!std::ranges::equal(a.bytes(), b.bytes())) throw std::runtime_error("the programs disagree");
  harness.measure(
      {.name = name,
       .amount = amount,
       .programs = {{.name = "raw", .run = run_raw}, {.name = "andiron", .run = read}}});
}

void transpose_f32(Harness& harness) {
  const MatrixFile file(harness, "F32", 4);
  compare(harness, "transpose_f32", file, file.snapshot().transpose(0, 1).value(), 4 * file.count(),
          [&](const std::byte* source, std::byte* out) {
            transpose_raw(source, file.side(), file.side(), reinterpret_cast<float*>(out));
          });
}

void cast_f32_bf16(Harness& harness) {
  const MatrixFile file(harness, "F32", 4);
  compare(harness, "cast_f32_bf16", file, file.snapshot().cast(DType::bf16).value(),
          4 * file.count(), [&](const std::byte* source, std::byte* out) {
            f32_to_bf16_raw(source, file.count(), reinterpret_cast<std::uint16_t*>(out));
          });
}

void cast_bf16_f32(Harness& harness) {
  const MatrixFile file(harness, "BF16", 2);
  compare(harness, "cast_bf16_f32", file, file.snapshot().cast(DType::f32).value(),
          4 * file.count(), [&](const std::byte* source, std::byte* out) {
            bf16_to_f32_raw(source, file.count(), reinterpret_cast<std::uint32_t*>(out));
          });
}

}  // namespace

std::vector<Case> transform_cases() {
  return {{"transpose_f32", "a square f32 matrix, transposed", transpose_f32},
          {"cast_f32_bf16", "f32 read as bf16; bytes are those of the f32 side", cast_f32_bf16},
          {"cast_bf16_f32", "bf16 read as f32; bytes are those of the f32 side", cast_bf16_f32}};
}

}  // namespace andiron::bench
