// SPDX-License-Identifier: MIT OR Apache-2.0
// The weight formats, and what each has settings of its own for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "andiron/burnpack_view.h"

namespace andiron::inline v1 {

/// The weight formats.
enum class Format : std::uint8_t {
  safetensors,
  burnpack,  ///< .bpk, of every release of Burn
  mpk,    ///< .mpk, .mpk.gz: named records of Burn up to 0.21. Reading takes .json and .json.gz too
  numpy,  ///< .npz, .npy: the arrays of np.savez and np.save
  pytorch,  ///< .pt, .pth, .bin, .ckpt, .pt2: what torch.save of any release wrote, and its
            ///< relatives
};

/// What is known of a format without a file.
struct FormatInfo {
  Format format = Format::safetensors;
  std::string_view name;   ///< "safetensors": what Archive::format() says
  std::string_view title;  ///< "SafeTensors"
  /// How the names of its files end; the first is the usual one.
  std::span<const std::string_view> endings;
  /// Whether a model may be spread over several files, with an index beside them.
  bool has_shards = false;
  bool is_written = false;
};

/// All formats.
std::span<const FormatInfo> formats() noexcept;
const FormatInfo& format_info(Format format) noexcept;

/// "safetensors", "burnpack", "mpk", "pytorch", "numpy": what Archive::format() says.
inline std::string_view format_name(Format format) noexcept { return format_info(format).name; }
/// ".safetensors", ".bpk", ".mpk", ".pt", ".npz".
inline std::string_view file_extension(Format format) noexcept {
  return format_info(format).endings.front();
}

/// How SafeTensors is written.
struct SafetensorsSettings {
  /// The data section starts at a multiple of this (a power of two, at least 8), by padding the
  /// header. Tensors follow without gaps.
  std::uint64_t data_alignment = 8;
  /// The format has no place for parameter ids; this keeps them in a metadata entry "param_ids",
  /// where open() finds them.
  bool param_ids = false;
};

/// How Burnpack is written.
struct BurnpackSettings {
  /// The release of Burn that is to read the file.
  BurnpackGeneration release = BurnpackGeneration::burn_0_22;
};

/// The number types of Burn's recorders.
enum class RecordPrecision : std::uint8_t {
  full,     ///< f32, i32
  half,     ///< f16, i16
  doubled,  ///< f64, i64
};

/// How records are written.
struct MpkSettings {
  /// The recorder of Burn whose precision the record has: floats and integers are converted.
  RecordPrecision precision = RecordPrecision::full;
};

/// How PyTorch's files are read.
struct PytorchSettings {
  /// NumPy's arrays beside PyTorch's tensors, which are random states more often than weights, are
  /// tensors as well. They always are in a file without tensors of PyTorch, and in a bare pickle.
  bool numpy_arrays = false;
};

/// Settings of one format; none for the defaults of whatever format it is.
using FormatSettings = std::variant<std::monostate, SafetensorsSettings, BurnpackSettings,
                                    MpkSettings, PytorchSettings>;

namespace detail {

/// Those of one format, to be changed; the defaults first where others are given, or none.
template <class Settings>
Settings& settings_of(FormatSettings& all) {
  if (!std::holds_alternative<Settings>(all)) all = Settings();
  return std::get<Settings>(all);
}

}  // namespace detail

}  // namespace andiron::inline v1
