// SPDX-License-Identifier: MIT OR Apache-2.0
// The weight formats and their settings.
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
  burnpack,  ///< .bpk of every Burn release
  mpk,      ///< .mpk, .mpk.gz: named records of Burn up to 0.21; .json and .json.gz can be read too
  numpy,    ///< .npz, .npy: files of np.savez and np.save
  pytorch,  ///< .pt, .pth, .bin, .ckpt, .pt2: files of torch.save of any release, and related ones;
            ///< read only
};

/// Properties of a format.
struct FormatInfo {
  Format format = Format::safetensors;
  std::string_view name;   ///< "safetensors", as in Archive::format()
  std::string_view title;  ///< "SafeTensors"
  /// The extensions of its files; the first is the usual one.
  std::span<const std::string_view> endings;
  /// True if a model may consist of several files with an index.
  bool has_shards = false;
  /// True if this library writes the format.
  bool is_written = false;
  /// True if its files keep string metadata of any kind.
  bool has_metadata = false;
  /// True if Burn's programs read it. They expect Burn's layouts.
  bool is_of_burn = false;
};

/// Returns all formats, in the order of the enum.
std::span<const FormatInfo> formats() noexcept;
/// Returns the properties of one format.
const FormatInfo& format_info(Format format) noexcept;

/// Returns "safetensors", "burnpack", "mpk", "numpy" or "pytorch", as in Archive::format().
inline std::string_view format_name(Format format) noexcept { return format_info(format).name; }
/// Returns ".safetensors", ".bpk", ".mpk", ".npz" or ".pt".
inline std::string_view file_extension(Format format) noexcept {
  return format_info(format).endings.front();
}

/// How SafeTensors files are written.
struct SafetensorsSettings {
  /// The data section starts at a multiple of this (a power of two, at least 8). The header is
  /// padded; tensors follow without gaps.
  std::uint64_t data_alignment = 8;
  /// Save parameter ids in a metadata entry "param_ids", where open() finds them. The format itself
  /// has no ids.
  bool param_ids = false;
};

/// How Burnpack files are written.
struct BurnpackSettings {
  /// The release of Burn that will read the file.
  BurnpackGeneration release = BurnpackGeneration::burn_0_22;
};

/// The dtypes of Burn's recorders.
enum class RecordPrecision : std::uint8_t {
  full,     ///< f32, i32
  half,     ///< f16, i16
  doubled,  ///< f64, i64
};

/// How records are written.
struct MpkSettings {
  /// The dtypes that floats and integers are converted to.
  RecordPrecision precision = RecordPrecision::full;
};

/// How PyTorch files are read.
struct PytorchSettings {
  /// Take NumPy arrays next to PyTorch tensors too. Usually these are random states, not weights.
  /// In bare pickles and in files without PyTorch tensors, arrays are always taken.
  bool numpy_arrays = false;
};

/// Settings of one format. std::monostate means defaults, for any format.
using FormatSettings = std::variant<std::monostate, SafetensorsSettings, BurnpackSettings,
                                    MpkSettings, PytorchSettings>;

namespace detail {

// Returns the settings of one format for changing. Starts from the defaults if `all` has those of
// another format, or none.
template <class Settings>
Settings& settings_of(FormatSettings& all) {
  if (!std::holds_alternative<Settings>(all)) all = Settings();
  return std::get<Settings>(all);
}

}  // namespace detail

}  // namespace andiron::inline v1
