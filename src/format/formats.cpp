// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/formats_test.cpp
#include "src/format/formats.h"

#include <array>
#include <iterator>

#include "src/core/kernels/convert.h"
#include "src/format/burnpack/burnpack.h"
#include "src/format/numpy/numpy.h"
#include "src/format/pytorch/pytorch.h"
#include "src/format/record/record.h"
#include "src/format/safetensors/safetensors.h"

namespace andiron::inline v1 {
namespace detail {
namespace {

constexpr std::string_view safetensors_endings[] = {".safetensors"};
constexpr std::string_view burnpack_endings[] = {".bpk"};
constexpr std::string_view mpk_endings[] = {".mpk", ".mpk.gz"};
constexpr std::string_view numpy_endings[] = {".npz", ".npy"};
constexpr std::string_view pytorch_endings[] = {".pt", ".pth", ".bin", ".ckpt", ".pt2"};

constexpr std::string_view safetensors_names[] = {"model.safetensors"};
constexpr std::string_view burnpack_names[] = {"model.bpk"};
constexpr std::string_view pytorch_names[] = {"pytorch_model.bin", ".metadata"};

template <class Settings>
constexpr std::size_t settings_index = FormatSettings(Settings()).index();

// SafeTensors comes first: a header of 640 bytes makes the file begin like a pickle. NumPy's zip
// archives come before PyTorch's, which any other is taken for.
constexpr FormatRow rows[] = {
    {
        .info = {.format = Format::safetensors,
                 .name = "safetensors",
                 .title = "SafeTensors",
                 .endings = safetensors_endings,
                 .has_shards = true,
                 .is_written = true,
                 .has_metadata = true},
        .is_format = is_safetensors,
        .read = read_safetensors,
        .write = write_safetensors,
        .kept = kept_by_safetensors,
        .usual_names = safetensors_names,
        .settings = settings_index<SafetensorsSettings>,
    },
    {
        .info = {.format = Format::burnpack,
                 .name = "burnpack",
                 .title = "Burnpack",
                 .endings = burnpack_endings,
                 .is_written = true,
                 .has_metadata = true,
                 .is_of_burn = true},
        .is_format = is_burnpack,
        .keeps_values = true,
        .read = read_burnpack,
        .write = write_burnpack,
        .kept = kept_by_burnpack,
        .usual_names = burnpack_names,
        .settings = settings_index<BurnpackSettings>,
    },
    {
        .info = {.format = Format::mpk,
                 .name = "mpk",
                 .title = "MessagePack",
                 .endings = mpk_endings,
                 .is_written = true,
                 .is_of_burn = true},
        .is_format = is_record,
        .may_be_gzip = true,
        .keeps_values = true,
        .read = read_record,
        .write = write_record,
        .kept = kept_by_record,
        .settings = settings_index<MpkSettings>,
    },
    {
        .info = {.format = Format::numpy,
                 .name = "numpy",
                 .title = "NumPy",
                 .endings = numpy_endings,
                 .is_written = true},
        .is_format = is_numpy,
        .read = read_numpy,
        .write = write_numpy,
        .kept = kept_by_numpy,
        // Arrays are data more often than models.
        .folder_rank = 2,
    },
    {
        .info = {.format = Format::pytorch,
                 .name = "pytorch",
                 .title = "PyTorch",
                 .endings = pytorch_endings,
                 .has_shards = true},
        .is_format = is_pytorch,
        .may_be_gzip = true,
        .read = read_pytorch,
        .write_instead = "write SafeTensors, which PyTorch can read",
        // A pickle only where there is nothing else.
        .folder_rank = 1,
        .usual_names = pytorch_names,
        .parts = {.ending = ".distcp",
                  .found = "parts of a distributed checkpoint without their .metadata",
                  .hint = "get the .metadata file from the same place"},
        .settings = settings_index<PytorchSettings>,
    },
};

constexpr auto infos = [] {
  std::array<FormatInfo, std::size(rows)> all{};
  for (std::size_t i = 0; i < std::size(rows); ++i) all[i] = rows[i].info;
  return all;
}();

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    if (static_cast<std::size_t>(rows[i].info.format) != i) return false;
  }
  return true;
}
static_assert(is_in_order(), "a row stands where its format does in the enumeration");

}  // namespace

std::span<const FormatRow> format_rows() noexcept { return rows; }

const FormatRow& row_of(Format format) noexcept { return rows[static_cast<std::size_t>(format)]; }

NamedFormat format_by_name(std::string_view name) noexcept {
  for (const FormatRow& row : rows) {
    for (const std::string_view ending : row.info.endings) {
      if (name.ends_with(ending)) return {&row, ending};
    }
  }
  return {};
}

Message cast_or_leave_out(DType dtype, std::initializer_list<DType> others) {
  for (const DType other : others) {
    if (!can_convert(dtype, other)) continue;
    return Message(Advice::cast_or_leave_out, dtype_name(other));
  }
  return Advice::leave_out;
}

std::string list_endings(bool (*takes)(const FormatInfo& format)) {
  std::vector<std::string_view> endings;
  for (const FormatInfo& info : infos) {
    if (takes(info)) endings.insert(endings.end(), info.endings.begin(), info.endings.end());
  }
  std::string text;
  for (std::size_t i = 0; i < endings.size(); ++i) {
    if (i != 0) text += i + 1 == endings.size() ? " or " : ", ";
    text += endings[i];
  }
  return text;
}

}  // namespace detail

std::span<const FormatInfo> formats() noexcept { return detail::infos; }

const FormatInfo& format_info(Format format) noexcept { return detail::row_of(format).info; }

}  // namespace andiron::inline v1
