// SPDX-License-Identifier: MIT OR Apache-2.0
// The records, below one folder of any name:
//
//   data.pkl                the object; storages by persistent ids
//   data/KEY                the bytes of a storage; tensors/KEY in 1.4
//   version, .data/version  a number from 1 to 10
//   byteorder               "little" or "big"; little where it is missing
//   .storage_alignment      where the data of records begins is a multiple of it; 64
//   code/..., constants.pkl, constants/KEY     of TorchScript
//
// Tested by tests/format/pytorch_zip_test.cpp
#include "src/format/pytorch/zip_file.h"

#include <charconv>
#include <optional>
#include <utility>

#include "src/codec/pickle/machine.h"
#include "src/core/parse_index.h"
#include "src/core/quoted.h"
#include "src/core/table.h"
#include "src/core/try.h"
#include "src/format/pytorch/script_classes.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint64_t largest_version = 10;
// Records that hold one number or one word.
constexpr std::uint64_t most_text_bytes = 4096;
constexpr std::uint64_t default_alignment = 64;

Error bad_archive(const ZipReader& zip, std::string message, std::string found = {},
                  std::string expected = {}) {
  return Error{.code = ErrorCode::bad_archive,
               .message = std::move(message),
               .file = zip.source()->name(),
               .found = std::move(found),
               .expected = std::move(expected)};
}

// What archivers of some systems leave in every archive.
bool is_junk(std::string_view name) {
  return name.starts_with("__MACOSX/") || name.ends_with(".DS_Store") || name.ends_with('/');
}

std::string_view without_space(std::string_view text) {
  constexpr std::string_view space = " \r\n\t";
  while (!text.empty() && space.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  text = without_space(text);
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The text of a small record; nothing where there is none.
Result<std::optional<std::string>> text_of(const ZipReader& zip, const std::string& record) {
  const auto entry = zip.find(record);
  if (!entry) return std::optional<std::string>();
  ANDIRON_ASSIGN(const Bytes bytes, zip.read(*entry, most_text_bytes));
  return std::optional(std::string(bytes.text()));
}

class ZipStorages : public StorageFinder {
 public:
  ZipStorages(ZipReaderPtr zip, const std::string& root, const char* folder,
              std::uint64_t alignment, std::uint32_t file)
      : zip_(std::move(zip)),
        folder_(root + folder),
        old_folder_(root + "tensors/"),
        alignment_(alignment),
        file_(file) {
    if (zip_->run().folder == folder_) run_ = zip_->run();
  }

  Status find(const StorageId& id, Storage& out) override {
    std::optional<std::uint32_t> found = run_.find_number(id.key);
    if (!found) {
      ANDIRON_ASSIGN(found, seek(id.key));
    }
    if (!found) {
      return missing_storage("record", folder_ + std::string(id.key), zip_->source()->name());
    }
    const ZipEntry& record = zip_->entries()[*found];
    ANDIRON_TRY(check_storage_size(id, record.bytes, zip_->source()->name()));
    if (!record.is_stored()) {
      out.source = zip_->inflated_source(*found);
      return {};
    }
    ANDIRON_ASSIGN(out.offset, zip_->data_offset(*found, alignment_));
    out.file = file_;
    if (file_ == Storage::no_file) out.source = zip_->checked_source();
    return {};
  }

 private:
  Result<std::optional<std::uint32_t>> seek(std::string_view key) {
    if (by_number_.size() == 0) ANDIRON_TRY(read_numbers());
    const auto number = parse_printed_index(key);
    if (number && *number < by_number_.size() && by_number_[*number] != none) {
      return std::optional(by_number_[*number]);
    }
    std::optional<std::uint32_t> found = zip_->find(folder_ + std::string(key));
    if (!found) found = zip_->find(old_folder_ + std::string(key));
    return found;
  }
  // Older files have their records sorted as text.
  Status read_numbers() {
    const auto entries = zip_->entries();
    ANDIRON_TRY(by_number_.assign(entries.size(), none));
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      const std::string_view record = entries[i].name;
      if (!record.starts_with(folder_)) continue;
      const auto number = parse_printed_index(record.substr(folder_.size()));
      if (number && *number < entries.size()) by_number_.set(*number, i);
    }
    return {};
  }

  static constexpr std::uint32_t none = ~std::uint32_t{0};

  ZipReaderPtr zip_;
  std::string folder_;
  std::string old_folder_;  // where PyTorch 1.4 has them
  std::uint64_t alignment_;
  std::uint32_t file_;
  ZipRun run_;  // of records in the folder
  Table<std::uint32_t> by_number_;
};

class ZipFileReader {
 public:
  ZipFileReader(const ZipReaderPtr& zip, const ZipContent& content, std::uint32_t file,
                const OpenOptions& options, std::vector<std::string>& notes)
      : zip_(zip), content_(content), file_(file), options_(options), notes_(notes) {}

  Result<std::shared_ptr<PickledFile>> read() {
    ANDIRON_TRY(check_root());
    ANDIRON_TRY(check_version());
    ANDIRON_ASSIGN(const bool big_endian, is_big_endian(*zip_, content_.root));
    ANDIRON_ASSIGN(auto object, pickle("data.pkl", "data/"));
    object->big_endian = big_endian;
    if (content_.kind == ZipContent::Kind::torch_script) {
      object->classes = std::make_unique<ZipScriptClasses>(zip_, content_.root);
    }
    return object;
  }

  Result<std::shared_ptr<PickledFile>> read_constants() {
    return pickle("constants.pkl", "constants/");
  }

 private:
  bool is_lenient() const { return options_.strictness == Strictness::lenient; }

  // A name that lies elsewhere could be meant for another reader.
  Status check_root() {
    const auto entries = zip_->entries();
    for (std::uint32_t i = 0; i < entries.size(); i = zip_->run().next_other(i)) {
      const std::string_view name = entries[i].name;
      if (name.starts_with(content_.root) || is_junk(name)) continue;
      if (!is_lenient()) {
        return bad_archive(*zip_, "a record outside of the archive's folder", quoted(name),
                           "all records below " + quoted(content_.root));
      }
      notes_.push_back("a record outside of the archive's folder: " + quoted(name));
      return {};
    }
    return {};
  }

  Status check_version() {
    ANDIRON_ASSIGN(std::optional<std::string> version,
                   text_of(*zip_, content_.root + ".data/version"));
    if (!version) {
      ANDIRON_ASSIGN(version, text_of(*zip_, content_.root + "version"));
    }
    const auto number = version ? number_in(*version) : std::nullopt;
    if (number && *number >= 1 && *number <= largest_version) return {};
    const std::string found = version ? quoted(*version) : "no record 'version'";
    if (is_lenient()) {
      notes_.push_back("the archive has no version that PyTorch would load: " + found);
      return {};
    }
    Error error = bad_archive(*zip_, "the archive has no version that PyTorch would load", found,
                              "1 to " + std::to_string(largest_version));
    error.hint = "open it as lenient";
    return error;
  }

  Result<std::uint64_t> alignment() const {
    ANDIRON_ASSIGN(const auto record, text_of(*zip_, content_.root + ".storage_alignment"));
    if (!record) return default_alignment;
    return number_in(*record).value_or(default_alignment);
  }

  Result<std::shared_ptr<PickledFile>> pickle(const char* name, const char* folder) {
    // It is there: the archive was recognised by it.
    const std::uint32_t entry = *zip_->find(content_.root + name);
    ANDIRON_ASSIGN(Bytes bytes, zip_->read(entry, options_.limits.inflated_bytes));
    const std::uint64_t size = bytes.size();
    const ByteSourcePtr source = memory_source(std::move(bytes), zip_->source()->name());
    ANDIRON_ASSIGN(PickleGraph graph, read_pickle(*source, 0, size, options_.limits));
    if (graph.end() != size) {
      if (options_.strictness == Strictness::strict) {
        return bad_archive(*zip_, "bytes behind the end of the pickle",
                           std::to_string(size - graph.end()) + " bytes");
      }
      notes_.push_back(std::to_string(size - graph.end()) + " bytes follow the pickle");
    }
    auto file = std::make_shared<PickledFile>(std::move(graph), source, Storage::no_file);
    file->file_bytes = zip_->source()->size();
    ANDIRON_ASSIGN(const std::uint64_t boundary, alignment());
    file->storages = std::make_unique<ZipStorages>(zip_, content_.root, folder, boundary, file_);
    return file;
  }

  const ZipReaderPtr& zip_;
  const ZipContent& content_;
  std::uint32_t file_;
  const OpenOptions& options_;
  std::vector<std::string>& notes_;
};

}  // namespace

Result<bool> is_big_endian(const ZipReader& zip, const std::string& root) {
  ANDIRON_ASSIGN(const auto order, text_of(zip, root + "byteorder"));
  if (!order || without_space(*order) == "little") return false;
  if (without_space(*order) == "big") return true;
  return bad_archive(zip, "a byte order that we do not know", quoted(*order), "'little' or 'big'");
}

ZipContent zip_content(const ZipReader& zip) {
  ZipContent content;
  // The pickle nearest to the top; PyTorch's archives have one.
  std::optional<std::string_view> root;
  constexpr std::string_view pickle = "data.pkl";
  const auto entries = zip.entries();
  for (std::uint32_t i = 0; i < entries.size(); i = zip.run().next_other(i)) {
    const std::string_view name = entries[i].name;
    if (is_junk(name)) continue;
    const bool is_pickle = name.ends_with(pickle) && (name.size() == pickle.size() ||
                                                      name[name.size() - pickle.size() - 1] == '/');
    if (!is_pickle) continue;
    const std::string_view prefix = name.substr(0, name.size() - pickle.size());
    if (!root || prefix.size() < root->size()) root = prefix;
  }
  if (root) {
    content.root = *root;
    const bool is_script = zip.find(content.root + "constants.pkl").has_value();
    content.kind = is_script ? ZipContent::Kind::torch_script : ZipContent::Kind::torch_save;
    return content;
  }
  for (const ZipEntry& entry : entries) {
    const std::size_t slash = entry.name.find('/');
    const std::string_view folder = entry.name.substr(0, slash == entry.name.npos ? 0 : slash + 1);
    const std::string_view name = entry.name.substr(folder.size());
    if (name == "archive_format") {
      content.kind = ZipContent::Kind::pt2;
      content.root = folder;
      return content;
    }
    if (name == ".data/extern_modules" || name == ".data/python_version") {
      content.what = "a package of torch.package";
      content.hint = "load it in Python and save its state_dict()";
    } else if (content.what.empty() && (name == "byteorder" || name == ".data/serialization_id")) {
      content.what = "a PyTorch archive without its object ('data.pkl')";
      content.hint = "torch.save did not finish: save it again";
    } else if (name == "model.json") {
      content.what = "a TorchScript archive of PyTorch 1.0";
      content.hint = "load it with PyTorch 1.0 to 1.5 and save it anew";
    } else if (name == "model.weights.h5") {
      content.what = "a Keras model";
      content.hint = "convert it to SafeTensors first";
    }
  }
  if (content.what.empty()) {
    content.what = entries.empty() ? "an empty zip archive" : "a zip archive without 'data.pkl'";
    if (!entries.empty()) content.hint = "if the model is a file in it, unpack it";
  }
  return content;
}

Result<std::shared_ptr<PickledFile>> read_zip_file(const ZipReaderPtr& zip,
                                                   const ZipContent& content, std::uint32_t file,
                                                   const OpenOptions& options,
                                                   std::vector<std::string>& notes) {
  return ZipFileReader(zip, content, file, options, notes).read();
}

Result<std::shared_ptr<PickledFile>> read_zip_constants(const ZipReaderPtr& zip,
                                                        const ZipContent& content,
                                                        const OpenOptions& options,
                                                        std::vector<std::string>& notes) {
  return ZipFileReader(zip, content, Storage::no_file, options, notes).read_constants();
}

}  // namespace andiron::inline v1::detail
