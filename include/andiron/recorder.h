// SPDX-License-Identifier: MIT OR Apache-2.0
// The recorders of Burn up to 0.21, under their old names, for programs that come from there. They
// are settings of the stores (stores.h), which new programs use; docs/migration.md maps one to the
// other.
//
//   auto args = LoadArgs("checkpoint.pt").with_top_level_key("state_dict");
//   Record record = PyTorchFileRecorder<FullPrecisionSettings>().load(args).value();
//   load_record(model, record).value();
//   save_file(model, "model", CompactRecorder()).value();  // model.mpk, half precision
//   load_file(model, "model", CompactRecorder()).value();
//
// As in Burn:
// * Recorders set the extension of a path, except the two for files of other frameworks.
// * record() replaces an existing file.
// * Numbers pass through the types of the precision settings, when they are saved and when they are
//   loaded. The parameters of a module keep their own dtypes; Half settings round the values of an
//   f32 parameter, and do not make it f16. Parameters that are not set get the settings' types, and
//   so do all parameters if a tensor of the file is quantized.
// * The recorders for PyTorch and SafeTensors close gaps in numbered names, leave the names of
//   variants out of paths, and expect PyTorch's layouts and names.
//
// Other than in Burn:
// * A parameter without a tensor is an error, with the report of the load, even if a std::optional
//   holds it. LoadArgs::allow_partial() permits it.
// * A record of a file of another framework is in that framework's layout until it is loaded into a
//   module. Only a module tells which weights to transpose. A record of convolutions alone is the
//   same in both.
// * A file is opened by load(), and its tensors are read by load_record() and record().
//
// Proposals in a report (apply.h) name the builders of stores: with_key_remapping() there is
// with_key_remap() here.
//
// Recorders and records are cheap values, and their calls are safe from several threads at once.
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/apply.h"
#include "andiron/archive.h"
#include "andiron/detail/builder.h"
#include "andiron/detail/no_throw.h"
#include "andiron/error.h"
#include "andiron/format.h"
#include "andiron/module.h"
#include "andiron/names.h"
#include "andiron/store.h"
#include "andiron/write.h"

namespace andiron::inline v1 {

// ---- Precision ----

/// f32 and i32.
struct FullPrecisionSettings {
  static constexpr RecordPrecision precision = RecordPrecision::full;
};
/// f16 and i16.
struct HalfPrecisionSettings {
  static constexpr RecordPrecision precision = RecordPrecision::half;
};
/// f64 and i64.
struct DoublePrecisionSettings {
  static constexpr RecordPrecision precision = RecordPrecision::doubled;
};

/// One of the three above: what the numbers of a record are converted to. An integer that does not
/// fit fails with Overflow. Booleans and quantized tensors stay as they are, and on a load so do
/// bytes (u8), which may stand for booleans.
template <class T>
concept PrecisionSettings = requires {
  { T::precision } -> std::convertible_to<RecordPrecision>;
};

// ---- What to load ----

/// How a file stores tensors.
enum class AdapterType : std::uint8_t {
  // NOLINTBEGIN(readability-identifier-naming): Burn's names
  PyTorch,    ///< as PyTorch does: Linear weights transposed, norms with weight and bias
  NoAdapter,  ///< as Burn does
  // NOLINTEND(readability-identifier-naming)
};

/// A path, and how to load what is there. Builders change it and return it: a named one by
/// reference, a temporary by value.
///
///   LoadArgs("key_remap.pt").with_key_remap(R"(conv\.(.*))", "$1").with_debug_print(std::cout)
class LoadArgs {
 public:
  /// From text or a std::filesystem::path.
  template <std::convertible_to<std::string> Path>
  LoadArgs(const Path& path) : path_(path) {}  // NOLINT(google-explicit-constructor)

  /// Replaces every match in every name. Rules run in the order they were added. If a pattern does
  /// not parse, load() fails with InvalidPattern.
  ANDIRON_BUILDER(LoadArgs, with_key_remap, (std::string_view pattern, std::string replacement),
                  remapper_.add_pattern(pattern, std::move(replacement)))
  /// Loads only the tensors under this key, and drops the key from their names. A dotted key goes
  /// down several levels.
  ANDIRON_BUILDER(LoadArgs, with_top_level_key, (std::string key), top_level_key_ = std::move(key))
  /// Default: PyTorch for PyTorchFileRecorder and SafetensorsFileRecorder, NoAdapter for the
  /// others.
  ANDIRON_BUILDER(LoadArgs, with_adapter_type, (AdapterType type), adapter_type_ = type)
  /// load() writes the names, shapes and dtypes of all tensors to `out`, in the order of their new
  /// names. The original key is the name that the rules see; the remapped key is the name that a
  /// module must have: after the rules, and with the gaps closed. Names are escaped, so that they
  /// are safe to print.
  ///
  ///   Debug information of keys and tensor shapes:
  ///   ---
  ///   Original Key: conv.conv1.bias
  ///   Remapped Key: conv1.bias
  ///   Shape: [2]
  ///   Dtype: F32
  ///   ---
  ///
  /// If nothing changed, the first two lines are one: "Key: conv1.bias". REQUIRES: `out` lives
  /// until load() returns.
  ANDIRON_BUILDER(LoadArgs, with_debug_print, (std::ostream & out), debug_print_ = &out)
  /// Reports parameters that the file lacks, instead of failing with MissingTensor, and tensors
  /// that the module is too short for.
  ANDIRON_BUILDER(LoadArgs, allow_partial, (bool allow = true), allow_partial_ = allow)
  /// Reports tensors that the module is too short for, instead of failing with UnusedTensor.
  ANDIRON_BUILDER(LoadArgs, allow_unused, (bool allow = true), allow_unused_ = allow)

  // The same for a temporary, by value.

 private:
  friend class FileRecorder;

  std::string path_;
  KeyRemapper remapper_;
  std::string top_level_key_;
  std::optional<AdapterType> adapter_type_;
  std::ostream* debug_print_ = nullptr;
  bool allow_partial_ = false;
  std::optional<bool> allow_unused_;
};

// ---- Records ----

/// The tensors of a file, or of a module, on their way into a module or a file. Nothing is read
/// before it gets there. A record of a file keeps the file open, and does not change if the path is
/// replaced; except that a record of a .bin file opens it again each time it is loaded into a
/// module.
class Record {
 public:
  /// Tensors in Burn's layout, under the names of a module.
  explicit Record(Archive tensors) : content_(std::move(tensors)) {}

  /// Returns the tensors under their new names, in the types of the recorder's settings, unread, in
  /// the file's layout. Fails with Unsupported for a .bin file, whose tensors have no names.
  Result<Archive> archive() const;

 private:
  friend class FileRecorder;
  template <class M>
  friend Result<ApplyResult> load_record(M& module, const Record& record);
  template <class M>
  friend Result<std::vector<ChosenVariant>> choose_variants(M& module, const Record& record);

  Record(Store file, RecordPrecision precision, AdapterType layout)
      : content_(std::move(file)), precision_(precision), layout_(layout) {}

  std::variant<Archive, Store> content_;
  // Of what is in a file.
  RecordPrecision precision_ = RecordPrecision::full;
  AdapterType layout_ = AdapterType::NoAdapter;
};

// ---- Recorders ----

namespace detail {
enum class RecorderKind : std::uint8_t {
  pytorch,
  safetensors,
  named_mpk,
  named_mpk_gz,
  bin,
  bin_gz,
  pretty_json,
  json_gz,
};
}  // namespace detail

/// What every recorder can be asked to do.
class FileRecorder {
 public:
  /// The extension that load() and record() put in place of a path's own, for example ".mpk".
  /// Empty if they use the path as it is.
  std::string_view file_extension() const noexcept;

  /// Opens a file and reads its header. Files are recognized by content: any recorder loads any
  /// format. Fails with the errors of open() and apply_names(), and for a .bin file, whose tensors
  /// have no names, with InvalidArgument if `args` say anything about names.
  Result<Record> load(const LoadArgs& args) const;

  /// Writes a record, and replaces an existing file; the folder must exist. The file appears whole
  /// or not at all. Fails with Unsupported, saying what to use instead, if this recorder only
  /// loads, or if the record is still in PyTorch's layout and has more than convolutions. Also
  /// fails with the errors of write() and of Record::archive().
  Result<WriteReport> record(const Record& tensors, const std::string& path) const;

 protected:
  FileRecorder(detail::RecorderKind kind, RecordPrecision precision) noexcept
      : kind_(kind), precision_(precision) {}

 private:
  detail::RecorderKind kind_;
  RecordPrecision precision_;
};

/// Loads files of PyTorch, as PytorchStore does: any path, PyTorch's layout by default, gaps
/// closed. Only loads.
template <PrecisionSettings Settings = FullPrecisionSettings>
class PyTorchFileRecorder : public FileRecorder {
 public:
  PyTorchFileRecorder() noexcept
      : FileRecorder(detail::RecorderKind::pytorch, Settings::precision) {}
};

/// Loads SafeTensors files: any path, PyTorch's layout by default, gaps closed. Only loads.
template <PrecisionSettings Settings = FullPrecisionSettings>
class SafetensorsFileRecorder : public FileRecorder {
 public:
  SafetensorsFileRecorder() noexcept
      : FileRecorder(detail::RecorderKind::safetensors, Settings::precision) {}
};

/// Loads and writes .mpk: MessagePack, which Burn up to 0.21 reads too.
template <PrecisionSettings Settings = FullPrecisionSettings>
class NamedMpkFileRecorder : public FileRecorder {
 public:
  NamedMpkFileRecorder() noexcept
      : FileRecorder(detail::RecorderKind::named_mpk, Settings::precision) {}
};

/// Loads and writes .mpk.gz: the same, compressed.
template <PrecisionSettings Settings = FullPrecisionSettings>
class NamedMpkGzFileRecorder : public FileRecorder {
 public:
  NamedMpkGzFileRecorder() noexcept
      : FileRecorder(detail::RecorderKind::named_mpk_gz, Settings::precision) {}
};

/// Loads .bin: bincode, whose tensors have no names and go into a module's fields in order. Only
/// loads.
template <PrecisionSettings Settings = FullPrecisionSettings>
class BinFileRecorder : public FileRecorder {
 public:
  BinFileRecorder() noexcept : FileRecorder(detail::RecorderKind::bin, Settings::precision) {}
};

/// Loads .bin.gz: the same, compressed. Only loads.
template <PrecisionSettings Settings = FullPrecisionSettings>
class BinGzFileRecorder : public FileRecorder {
 public:
  BinGzFileRecorder() noexcept : FileRecorder(detail::RecorderKind::bin_gz, Settings::precision) {}
};

/// Loads .json. Only loads.
template <PrecisionSettings Settings = FullPrecisionSettings>
class PrettyJsonFileRecorder : public FileRecorder {
 public:
  PrettyJsonFileRecorder() noexcept
      : FileRecorder(detail::RecorderKind::pretty_json, Settings::precision) {}
};

/// Loads .json.gz. Only loads.
template <PrecisionSettings Settings = FullPrecisionSettings>
class JsonGzFileRecorder : public FileRecorder {
 public:
  JsonGzFileRecorder() noexcept
      : FileRecorder(detail::RecorderKind::json_gz, Settings::precision) {}
};

template <PrecisionSettings Settings = FullPrecisionSettings>
using DefaultFileRecorder = NamedMpkFileRecorder<Settings>;
using DefaultRecorder = NamedMpkFileRecorder<FullPrecisionSettings>;
/// Small files.
using CompactRecorder = NamedMpkFileRecorder<HalfPrecisionSettings>;
/// Only loads. NamedMpkGzFileRecorder<HalfPrecisionSettings> writes files of about that size.
using SensitiveCompactRecorder = BinGzFileRecorder<HalfPrecisionSettings>;

// ---- Modules ----

/// Returns the tensors of a module as a record. Copies nothing, and changing a parameter later does
/// not change the record. Fails with MissingTensor if a parameter is not set.
template <class M>
Result<Record> into_record(const M& module) ANDIRON_NO_THROW {
  Result<Archive> tensors = collect_archive(module);
  if (!tensors) return std::move(tensors).error();
  return Record(*std::move(tensors));
}
ANDIRON_OR_OUT_OF_MEMORY

/// Loads a record into a module, as load_from() does: checks everything first, then reads, then
/// replaces. If it fails, the module is unchanged. Fails with the errors of load_from(); if the
/// record does not match, `error().report` contains the whole ApplyResult.
template <class M>
Result<ApplyResult> load_record(M& module, const Record& record) ANDIRON_NO_THROW {
  if (const Store* file = std::get_if<Store>(&record.content_)) return load_from(module, *file);
  return andiron::apply(module, *std::get_if<Archive>(&record.content_),
                        {.dtype_policy = DTypePolicy::cast_to_module});
}
ANDIRON_OR_OUT_OF_MEMORY

/// Makes every std::variant of a module hold the alternative that matches the record. Call it
/// before load_record(). See choose_variants() in apply.h.
template <class M>
Result<std::vector<ChosenVariant>> choose_variants(M& module, const Record& record)
    ANDIRON_NO_THROW {
  if (const Store* file = std::get_if<Store>(&record.content_)) {
    return choose_variants(module, *file);
  }
  return choose_variants(module, *std::get_if<Archive>(&record.content_));
}
ANDIRON_OR_OUT_OF_MEMORY

/// Writes a module: into_record(), then record().
template <class M>
Result<WriteReport> save_file(const M& module, const std::string& path,
                              const FileRecorder& recorder) ANDIRON_NO_THROW {
  Result<Record> tensors = into_record(module);
  if (!tensors) return std::move(tensors).error();
  return recorder.record(*tensors, path);
}
ANDIRON_OR_OUT_OF_MEMORY

/// Loads a module: load(), then load_record().
template <class M>
Result<ApplyResult> load_file(M& module, const LoadArgs& args, const FileRecorder& recorder)
    ANDIRON_NO_THROW {
  Result<Record> tensors = recorder.load(args);
  if (!tensors) return std::move(tensors).error();
  return load_record(module, *tensors);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
