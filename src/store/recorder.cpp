// SPDX-License-Identifier: MIT OR Apache-2.0
// A recorder is a store with other defaults, and an extension.
// Tested by tests/store/recorder_test.cpp and tests/store/recorder_precision_test.cpp
#include "andiron/recorder.h"

#include <ostream>
#include <utility>

#include "andiron/stores.h"
#include "andiron/text.h"
#include "src/core/path_segments.h"
#include "src/core/sort.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/record/bincode.h"
#include "src/format/record/precision.h"
#include "src/format/write_with_notes.h"

namespace andiron::inline v1 {
namespace detail {
namespace {

struct RecorderInfo {
  std::string_view name;
  std::string_view extension;  // none for files of other frameworks
  std::string_view instead;    // what writes, where this recorder only loads

  bool is_foreign() const noexcept { return extension.empty(); }
};

constexpr std::string_view instead_of_foreign =
    "for PyTorch, call save_into(model, SafetensorsStore::from_file(path)"
    ".with_to_adapter(BurnToPyTorchAdapter()))";
constexpr std::string_view instead_of_plain =
    "use NamedMpkFileRecorder, which Burn up to 0.21 reads too, or BurnpackStore";
constexpr std::string_view instead_of_compressed =
    "use NamedMpkGzFileRecorder, which Burn up to 0.21 reads too, or BurnpackStore";

// In the order of RecorderKind.
constexpr RecorderInfo recorders[] = {
    {"PyTorchFileRecorder", "", instead_of_foreign},
    {"SafetensorsFileRecorder", "", instead_of_foreign},
    {"NamedMpkFileRecorder", ".mpk", ""},
    {"NamedMpkGzFileRecorder", ".mpk.gz", ""},
    {"BinFileRecorder", ".bin", instead_of_plain},
    {"BinGzFileRecorder", ".bin.gz", instead_of_compressed},
    {"PrettyJsonFileRecorder", ".json", instead_of_plain},
    {"JsonGzFileRecorder", ".json.gz", instead_of_compressed},
};

const RecorderInfo& info_of(RecorderKind kind) noexcept {
  return recorders[static_cast<std::size_t>(kind)];
}

bool has_no_names(RecorderKind kind) noexcept {
  return kind == RecorderKind::bin || kind == RecorderKind::bin_gz;
}

// As Rust's PathBuf::set_extension; but an extension of two parts that is there already is not
// added again.
std::string with_extension(std::string path, std::string_view extension) {
  const std::size_t begin = path.rfind('/') + 1;
  const std::string_view name = std::string_view(path).substr(begin);
  const bool has_it = name.size() > extension.size() && name.ends_with(extension);
  if (name.empty() || name == "." || name == ".." || has_it) return path;
  const std::size_t dot = name.rfind('.');
  if (dot != std::string_view::npos && dot != 0) path.resize(begin + dot);
  return path += extension;
}

// Passes numbers through the types of a recorder's settings.
class SettingsAdapter final : public Chainable<SettingsAdapter> {
 public:
  explicit SettingsAdapter(RecordPrecision precision) : numbers_(record_numbers(precision)) {}

 protected:
  Result<TensorSnapshot> adapt(Direction, const Place&, TensorSnapshot tensor) const override
      ANDIRON_NO_THROW {
    // Old files keep booleans in bytes, and only the module knows which.
    if (tensor.dtype() == DType::u8) return tensor;
    return converted_for_record(tensor, dtype_in_record(numbers_, tensor.dtype()));
  }
  ANDIRON_OR_OUT_OF_MEMORY

 private:
  const RecordNumbers& numbers_;
};

AnyAdapter adapter_for(AdapterType type, RecordPrecision precision) {
  if (type == AdapterType::NoAdapter) return SettingsAdapter(precision);
  return PyTorchToBurnAdapter().chain(SettingsAdapter(precision));
}

bool has_quantized(const Archive& archive) {
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (archive.info(i).dtype == DType::qfloat) return true;
  }
  return false;
}

// As Rust prints a DType.
std::string rust_dtype(const TensorSnapshot& tensor) {
  switch (tensor.dtype()) {
    case DType::boolean:
      return "Bool";
    case DType::qfloat:
      return "QFloat";
    case DType::raw:
      return display_line(tensor.dtype_text());
    default:
      break;
  }
  std::string name(dtype_name(tensor.dtype()));
  for (char& letter : name) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return name;
}

std::string debug_text(const Archive& named) {
  // Renaming keeps the order, so that one index serves all stages.
  Archive original = named;
  for (const NameStage stage : {NameStage::index_gaps, NameStage::remap}) {
    if (std::optional<Archive> earlier = original.before(stage)) original = *std::move(earlier);
  }
  struct Keys {
    std::string_view now;
    std::string_view before;
    std::size_t index;
  };
  std::vector<Keys> all;
  all.reserve(named.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    all.push_back({named.info(i).name, original.info(i).name, i});
  }
  detail::sort(all.begin(), all.end(), [](const Keys& a, const Keys& b) {
    return std::pair(a.now, a.before) < std::pair(b.now, b.before);
  });
  std::string text = "Debug information of keys and tensor shapes:\n---\n";
  for (const Keys& keys : all) {
    if (keys.now == keys.before) {
      text += "Key: " + display_text(keys.now) + "\n";
    } else {
      text += "Original Key: " + display_text(keys.before) + "\n";
      text += "Remapped Key: " + display_text(keys.now) + "\n";
    }
    const TensorSnapshot tensor = named.snapshot(keys.index);
    text += "Shape: " + tensor.shape().to_string() + "\n";
    text += "Dtype: " + rust_dtype(tensor) + "\n---\n";
  }
  return text;
}

Error only_loads(const RecorderInfo& recorder, const std::string& path) {
  return Error{.code = ErrorCode::unsupported,
               .message = std::string(recorder.name) + " only loads files",
               .file = path,
               .hint = std::string(recorder.instead)};
}

// Among layers with a weight and a bias, only convolutions have weights of three dimensions and
// more. Those weights are the same in PyTorch and Burn.
bool has_convolutions_alone(const Archive& archive) {
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const std::string_view name = archive.info(i).name;
    const std::string_view last = detail::last_segments(name, 1);
    if (last != "weight" && last != "bias") return false;
    const std::string weight = std::string(name.substr(0, name.size() - last.size())) + "weight";
    const std::optional<std::size_t> found = archive.find(weight);
    if (!found || archive.info(*found).shape.size() < 3) return false;
  }
  return !archive.empty();
}

constexpr std::string_view through_a_module =
    "load it into the model first: load_record(model, record), then write into_record(model)";

}  // namespace
}  // namespace detail

Result<Archive> Record::archive() const ANDIRON_NO_THROW {
  const Store* file = std::get_if<Store>(&content_);
  if (file == nullptr) return *std::get_if<Archive>(&content_);
  ANDIRON_ASSIGN(Archive tensors, file->archive());
  const detail::RecordNumbers& numbers = detail::record_numbers(precision_);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const DType dtype = tensors.info(i).dtype;
    const DType stored = detail::dtype_in_record(numbers, dtype);
    if (stored == dtype || dtype == DType::u8) continue;
    ANDIRON_ASSIGN(TensorSnapshot converted,
                   detail::converted_for_record(tensors.snapshot(i), stored));
    ANDIRON_TRY(tensors.replace(i, std::move(converted)));
  }
  return tensors;
}
ANDIRON_OR_OUT_OF_MEMORY

std::string_view FileRecorder::file_extension() const noexcept {
  return detail::info_of(kind_).extension;
}

Result<Record> FileRecorder::load(const LoadArgs& args) const ANDIRON_NO_THROW {
  const detail::RecorderInfo& recorder = detail::info_of(kind_);
  const AdapterType layout = args.adapter_type_.value_or(
      recorder.is_foreign() ? AdapterType::PyTorch : AdapterType::NoAdapter);
  const std::string path =
      recorder.is_foreign() ? args.path_ : detail::with_extension(args.path_, recorder.extension);
  // The store, and what it opened.
  const auto with_settings = [&](auto store) -> std::pair<Store, Result<Archive>> {
    store.remap(args.remapper_)
        .with_top_level_key(args.top_level_key_)
        .map_indices_contiguous(recorder.is_foreign())
        .skip_enum_variants(recorder.is_foreign())
        .with_from_adapter(detail::adapter_for(layout, precision_))
        .allow_partial(args.allow_partial_);
    if (args.allow_unused_) store.allow_unused(*args.allow_unused_);
    Result<Archive> tensors = store.archive();
    // A parameter can become quantized, but data cannot be converted to or from that.
    const bool keeps_dtypes = !tensors || !detail::has_quantized(*tensors);
    store.dtype_policy(keeps_dtypes ? DTypePolicy::cast_to_module : DTypePolicy::from_file);
    return {std::move(store), std::move(tensors)};
  };
  auto [store, opened] = kind_ == detail::RecorderKind::pytorch
                             ? with_settings(PytorchStore::from_file(path))
                         : kind_ == detail::RecorderKind::safetensors
                             ? with_settings(SafetensorsStore::from_file(path))
                             : with_settings(MpkStore::from_file(path).auto_extension(false));
  const bool is_nameless =
      !opened && detail::asks_for_module(opened.error()) && detail::has_no_names(kind_);
  if (!opened && !is_nameless) {
    Error error = std::move(opened).error();
    if (error.code == ErrorCode::not_found && path != args.path_) {
      error.hint = std::string(recorder.name) + " sets the extension of " +
                   detail::in_quotes(args.path_) + " to " + detail::in_quotes(recorder.extension);
    }
    return error;
  }
  const bool is_about_names = !args.remapper_.is_empty() || !args.top_level_key_.empty() ||
                              layout == AdapterType::PyTorch || args.debug_print_ != nullptr;
  if (is_nameless && is_about_names) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the tensors of a bincode record have no names to change or print",
                 .file = path,
                 .hint = "load it with the path alone"};
  }
  if (args.debug_print_ != nullptr) *args.debug_print_ << detail::debug_text(*opened);
  return Record(std::move(store), precision_, layout);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<WriteReport> FileRecorder::record(const Record& tensors, const std::string& path) const
    ANDIRON_NO_THROW {
  const detail::RecorderInfo& recorder = detail::info_of(kind_);
  if (!recorder.instead.empty()) return detail::only_loads(recorder, path);
  Result<Archive> archive = tensors.archive();
  if (!archive) {
    Error error = std::move(archive).error();
    if (error.code == ErrorCode::unsupported) error.hint = detail::through_a_module;
    return error;
  }
  if (tensors.layout_ == AdapterType::PyTorch && !detail::has_convolutions_alone(*archive)) {
    return Error{.code = ErrorCode::unsupported,
                 .message =
                     "this record still has PyTorch's layout, and only a module tells which "
                     "weights to transpose",
                 .file = path,
                 .hint = std::string(detail::through_a_module)};
  }
  return detail::write_with_notes(
      *archive, detail::with_extension(path, recorder.extension),
      {.format = Format::mpk, .settings = MpkSettings{.precision = precision_}, .overwrite = true});
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
