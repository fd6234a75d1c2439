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
#include "src/core/shared_array.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

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
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

class ZipStorages : public StorageFinder {
 public:
  ZipStorages(ZipReaderPtr zip, const TorchZip& content, const char* folder, std::uint32_t file)
      : zip_(std::move(zip)),
        folder_(content.root + folder),
        old_folder_(content.root + "tensors/"),
        alignment_(content.data_alignment()),
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
    out.file = file_;
    if (file_ != Storage::no_file) {
      ANDIRON_ASSIGN(out.offset, zip_->data_offset(*found, alignment_));
      return {};
    }
    // An archive within a file holds little more than this: its header is checked now, so that
    // nothing stands between the data and its reader, unless that checks them all.
    const bool checks_later = zip_->checksums() == ZipChecksums::of_all;
    ANDIRON_ASSIGN(out.offset, zip_->data_offset(*found, checks_later ? alignment_ : 0));
    out.source = checks_later ? zip_->checked_source() : zip_->source();
    return {};
  }

 private:
  Result<std::optional<std::uint32_t>> seek(std::string_view key) {
    if (by_number_.size() == 0) ANDIRON_TRY(read_numbers());
    const auto number = parse_printed_index(key);
    if (number && *number < by_number_.size()) {
      const std::uint32_t record = by_number_[static_cast<std::size_t>(*number)];
      if (record != none) return std::optional(record);
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
      if (number && *number < entries.size()) {
        by_number_.set(static_cast<std::size_t>(*number), i);
      }
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
  SharedArray<std::uint32_t> by_number_;
};

// A name that lies elsewhere could be meant for another reader.
Status check_root(const ZipReader& zip, const TorchZip& content, const OpenOptions& options,
                  std::vector<Message>& notes) {
  const auto entries = zip.entries();
  for (std::uint32_t i = 0; i < entries.size(); i = zip.run().next_other(i)) {
    const std::string_view name = entries[i].name;
    if (name.starts_with(content.root) || is_junk(name)) continue;
    if (options.strictness != Strictness::lenient) {
      return bad_archive(zip, "a record outside the archive's folder", in_quotes(name),
                         "all records below " + in_quotes(content.root));
    }
    notes.push_back("a record outside the archive's folder: " + in_quotes(name));
    return {};
  }
  return {};
}

Status check_version(const ZipReader& zip, const TorchZip& content, const OpenOptions& options,
                     std::vector<Message>& notes) {
  const auto number = content.version ? number_in(*content.version) : std::nullopt;
  if (number && *number >= 1 && *number <= largest_version) return {};
  const std::string found = content.version ? in_quotes(*content.version) : "no record 'version'";
  if (options.strictness == Strictness::lenient) {
    notes.push_back("the archive does not have a version that PyTorch loads: " + found);
    return {};
  }
  Error error = bad_archive(zip, "the archive does not have a version that PyTorch loads", found,
                            "1 to " + std::to_string(largest_version));
  error.hint = Advice::lenient + Message(" reads it anyway");
  return error;
}

ZipReader::Most most_pickle_bytes(const OpenOptions& options) {
  return {options.limits.inflated_bytes, &Limits::inflated_bytes};
}

// Of the pickle in a record, whose storages are the records in `folder`.
Result<std::shared_ptr<PickledFile>> pickled_file(Bytes pickle, const ZipReaderPtr& zip,
                                                  std::unique_ptr<ZipStorages> storages,
                                                  const OpenOptions& options, MemoryBudget& budget,
                                                  std::vector<Message>& notes) {
  const std::uint64_t size = pickle.size();
  const ByteSourcePtr source = memory_source(std::move(pickle), zip->source()->name());
  ANDIRON_ASSIGN(PickleGraph graph, read_pickle(*source, 0, size, options.limits, &budget));
  if (graph.end() != size) {
    if (options.strictness == Strictness::strict) {
      return bad_archive(*zip, "bytes after the end of the pickle",
                         std::to_string(size - graph.end()) + " bytes");
    }
    notes.push_back(std::to_string(size - graph.end()) + " bytes follow the pickle");
  }
  auto file = std::make_shared<PickledFile>(std::move(graph), source, Storage::no_file);
  file->file_bytes = zip->source()->size();
  file->storages = std::move(storages);
  return file;
}

// What it is, by its names.
TorchZip content_by_names(const ZipReader& zip) {
  TorchZip content;
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
    // TorchScript that a torch.package has along is not the object that was saved.
    if (prefix.find(".data/") != std::string_view::npos) continue;
    if (!root || prefix.size() < root->size()) root = prefix;
  }
  if (root) {
    content.root = *root;
    const bool is_script = zip.find(content.root + "constants.pkl").has_value();
    content.kind = is_script ? TorchZip::Kind::torch_script : TorchZip::Kind::torch_save;
    return content;
  }
  for (const ZipEntry& entry : entries) {
    const std::size_t slash = entry.name.find('/');
    const std::string_view folder = entry.name.substr(0, slash == entry.name.npos ? 0 : slash + 1);
    const std::string_view name = entry.name.substr(folder.size());
    if (name == "archive_format") {
      content.kind = TorchZip::Kind::pt2;
      content.root = folder;
      return content;
    }
    if (name == ".data/extern_modules" || name == ".data/python_version") {
      content.what = "a torch.package archive";
      content.hint = "load it in Python and save its state_dict()";
    } else if (content.what.empty() && (name == "byteorder" || name == ".data/serialization_id")) {
      content.what = "a PyTorch archive without its object ('data.pkl')";
      content.hint = "torch.save did not finish; save it again";
    } else if (name == "model.json") {
      content.what = "a TorchScript archive of PyTorch 1.0";
      content.hint = "load it with PyTorch 1.0 to 1.5 and save it again";
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

}  // namespace

Status charge_if_deflated(const ZipReader& zip, std::uint32_t entry, std::string_view what,
                          MemoryBudget& budget) {
  if (zip.entries()[entry].is_stored()) return {};
  return budget.charge(zip.memory_to_read(entry), what);
}

Result<TorchZip> read_torch_zip(const ZipReader& zip) {
  TorchZip content = content_by_names(zip);
  if (content.kind == TorchZip::Kind::other) return content;
  const std::pair<const char*, std::optional<std::string> TorchZip::*> records[] = {
      {".data/version", &TorchZip::version},
      {"version", &TorchZip::version},
      {"byteorder", &TorchZip::byte_order},
      {".storage_alignment", &TorchZip::alignment}};
  for (const auto& [name, text] : records) {
    const bool is_used = content.kind != TorchZip::Kind::pt2 || text == &TorchZip::byte_order;
    const auto entry = zip.find(content.root + name);
    if (!entry || !is_used || content.*text) continue;
    ANDIRON_ASSIGN(const Bytes bytes, zip.read(*entry, most_text_bytes));
    content.*text = without_space(bytes.text());
  }
  return content;
}

Result<bool> TorchZip::is_big_endian(const ZipReader& zip) const {
  if (!byte_order || *byte_order == "little") return false;
  if (*byte_order == "big") return true;
  return bad_archive(zip, "unknown byte order", in_quotes(*byte_order), "'little' or 'big'");
}

std::uint64_t TorchZip::data_alignment() const {
  return (alignment ? number_in(*alignment) : std::nullopt).value_or(default_alignment);
}

Result<std::shared_ptr<PickledFile>> read_zip_file(const ZipReaderPtr& zip, const TorchZip& content,
                                                   std::uint32_t file, const OpenOptions& options,
                                                   MemoryBudget& budget,
                                                   std::vector<Message>& notes) {
  ANDIRON_TRY(check_root(*zip, content, options, notes));
  ANDIRON_TRY(check_version(*zip, content, options, notes));
  ANDIRON_ASSIGN(const bool big_endian, content.is_big_endian(*zip));
  // It is there: the archive was recognized by it.
  const std::uint32_t entry = *zip->find(content.root + "data.pkl");
  ANDIRON_TRY(charge_if_deflated(*zip, entry, "the inflated pickle", budget));
  ANDIRON_ASSIGN(Bytes pickle, zip->read(entry, most_pickle_bytes(options)));
  ANDIRON_ASSIGN(auto object,
                 pickled_file(std::move(pickle), zip,
                              std::make_unique<ZipStorages>(zip, content, "data/", file), options,
                              budget, notes));
  object->big_endian = big_endian;
  return object;
}

Result<std::shared_ptr<PickledFile>> read_zip_constants(const ZipReaderPtr& zip,
                                                        const TorchZip& content,
                                                        const OpenOptions& options,
                                                        MemoryBudget& budget,
                                                        std::vector<Message>& notes) {
  const std::uint32_t entry = *zip->find(content.root + "constants.pkl");
  ANDIRON_TRY(charge_if_deflated(*zip, entry, "the inflated pickle", budget));
  ANDIRON_ASSIGN(Bytes pickle, zip->read(entry, most_pickle_bytes(options)));
  return pickled_file(std::move(pickle), zip,
                      std::make_unique<ZipStorages>(zip, content, "constants/", Storage::no_file),
                      options, budget, notes);
}

}  // namespace andiron::inline v1::detail
