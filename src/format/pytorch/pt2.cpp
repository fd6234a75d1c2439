// SPDX-License-Identifier: MIT OR Apache-2.0
// The weights of torch.export.save, in a zip archive:
//
//   archive_format                           "pt2"
//   data/weights/NAME_weights_config.json    {"config": {name: {"path_name": record, "use_pickle",
//                                              "tensor_meta": {"dtype": number, "sizes", "strides",
//                                                "storage_offset"}}}}
//   data/weights/RECORD                      the bytes of a storage, or an archive of torch.save
//   data/constants/..._constants_config.json and records: constants and buffers that are not saved
//
// Tested by tests/format/pytorch_pt2_test.cpp
#include "src/format/pytorch/pt2.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "andiron/value.h"
#include "src/core/slice_source.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/core/with_file.h"
#include "src/format/pytorch/pickled_file.h"
#include "src/format/pytorch/torch_tensor.h"
#include "src/format/pytorch/zip_file.h"

namespace andiron::inline v1::detail {
namespace {

// The numbers that torch.export has for dtypes, which are not those of PyTorch itself.
const ElementType* export_dtype(std::int64_t number) {
  struct Numbered {
    std::int64_t number;
    std::string_view name;
  };
  constexpr Numbered numbered[] = {
      {1, "uint8"},
      {2, "int8"},
      {3, "int16"},
      {4, "int32"},
      {5, "int64"},
      {6, "float16"},
      {7, "float32"},
      {8, "float64"},
      {9, "complex32"},
      {10, "complex64"},
      {11, "complex128"},
      {12, "bool"},
      {13, "bfloat16"},
      {28, "uint16"},
      {29, "float8_e4m3fn"},
      {30, "float8_e5m2"},
      {31, "float8_e4m3fnuz"},
      {32, "float8_e5m2fnuz"},
      {33, "float8_e8m0fnu"},
      {34, "uint32"},
      {35, "uint64"},
  };
  for (const Numbered& one : numbered) {
    if (one.number == number) return torch_dtype(one.name);
  }
  return nullptr;
}

// A number, or {"as_int": number}.
std::optional<std::int64_t> integer(const Value* value) {
  if (value != nullptr && value->get<ValueDict>() != nullptr) value = value->find("as_int");
  if (value == nullptr || value->get<std::int64_t>() == nullptr) return std::nullopt;
  return *value->get<std::int64_t>();
}

class Pt2Reader {
 public:
  Pt2Reader(const ZipReaderPtr& zip, const TorchZip& content, std::uint32_t file,
            const OpenOptions& options, MemoryBudget& budget, ArchiveBuilder& builder)
      : zip_(zip),
        content_(content),
        file_(file),
        options_(options),
        budget_(budget),
        builder_(builder),
        weights_(content.root + "data/weights/"),
        constants_(content.root + "data/constants/"),
        names_(zip->source()->name(), options.limits, budget) {}

  // Finds the lists of tensors.
  Status start() {
    ANDIRON_ASSIGN(big_endian_, content_.is_big_endian(*zip_));
    for (std::uint32_t i = 0; i < zip_->entries().size(); ++i) {
      const std::string_view name = zip_->entries()[i].name;
      if (!name.ends_with("_config.json")) continue;
      if (name.starts_with(constants_)) constant_lists_.push_back(i);
      if (name.starts_with(weights_)) models_.push_back(i);
    }
    if (!models_.empty()) return {};
    return Error{.code = ErrorCode::unsupported,
                 .message = "the torch.export archive has no list of weights",
                 .file = zip_->source()->name(),
                 .hint = "save it again with PyTorch 2.8 or later"};
  }

  // The entries to hand to take_constants() and take_weights().
  const std::vector<std::uint32_t>& constant_lists() const { return constant_lists_; }
  const std::vector<std::uint32_t>& models() const { return models_; }

  Status take_constants(std::string_view list) {
    ANDIRON_ASSIGN(const ValueDict constants, parse_list(list));
    for (const auto& constant : constants) {
      ANDIRON_TRY(names_.count(constant.first, 0));
      builder_.state().skipped.push_back({constant.first, constant_of_program});
    }
    return {};
  }

  Status take_weights(std::uint32_t model, std::string_view list) {
    // Of several models, each has its own name.
    const std::string prefix = models_.size() > 1 ? name_of_model(model) + "." : "";
    ANDIRON_ASSIGN(const ValueDict weights, parse_list(list));
    for (const auto& [key, weight] : weights) {
      const std::string name = prefix + key;
      ANDIRON_TRY(names_.count(name, builder_.size()));
      Status status = read_weight(name, weight);
      if (status) continue;
      Error error = with_file(std::move(status).error(), zip_->source()->name());
      if (options_.strictness == Strictness::lenient && !stops_reading(error.code)) {
        error.tensor.clear();
        Message reason = sentence_of(error);
        ANDIRON_TRY(budget_.charge_entries(1, name.size() + reason.to_string().size()));
        builder_.state().skipped.push_back({name, std::move(reason)});
        continue;
      }
      if (error.tensor.empty()) error.tensor = name;
      return error;
    }
    return {};
  }

  Status finish() {
    notes_.move_to(builder_.state().notes);
    ANDIRON_ASSIGN(const auto taken, builder_.index_names());
    if (!taken) return {};
    return Error{.code = ErrorCode::duplicate_key,
                 .message = "two tensors in the archive have this name",
                 .file = zip_->source()->name(),
                 .tensor = std::string(builder_.state().name_at(*taken))};
  }

 private:
  Error bad(std::string message, std::string tensor = {}) const {
    return Error{.code = ErrorCode::bad_archive,
                 .message = std::move(message),
                 .file = zip_->source()->name(),
                 .tensor = std::move(tensor)};
  }

  // {"config": {name: {...}}}
  Result<ValueDict> parse_list(std::string_view text) const {
    // What JSON of one letter for a value takes as a tree; an entry may be deflated.
    constexpr std::uint64_t tree_per_byte = 40;
    ANDIRON_TRY(budget_.charge(tree_per_byte * text.size(), "a list of tensors"));
    ANDIRON_ASSIGN(const Value parsed, parse_json(text));
    const Value* config = parsed.find("config");
    const auto* tensors = (config != nullptr ? *config : parsed).get<ValueDict>();
    if (tensors == nullptr) return bad("a list of tensors is not a JSON object");
    return *tensors;
  }

  // "NAME" of "NAME_weights_config.json".
  std::string name_of_model(std::uint32_t entry) const {
    std::string_view name = zip_->entries()[entry].name.substr(weights_.size());
    for (const std::string_view ending : {"_config.json", "_weights"}) {
      if (name.ends_with(ending)) name.remove_suffix(ending.size());
    }
    return std::string(name);
  }

  Status read_weight(const std::string& name, const Value& weight) {
    const Value* path = weight.find("path_name");
    const Value* pickled = weight.find("use_pickle");
    const auto* record = path != nullptr ? path->get<std::string>() : nullptr;
    if (record == nullptr) return bad("a weight has no record", name);
    const auto entry = zip_->find(weights_ + *record);
    if (!entry) {
      Error error = bad("the archive has no data for a weight", name);
      error.code = ErrorCode::missing_storage;
      error.found = "no record " + in_quotes(weights_ + *record);
      return error;
    }
    const bool is_pickled =
        pickled != nullptr && pickled->get<bool>() != nullptr && *pickled->get<bool>();
    return is_pickled ? read_pickled(*entry, name) : read_raw(*entry, name, weight);
  }

  Result<Storage> storage(std::uint32_t entry) const {
    const ZipEntry& record = zip_->entries()[entry];
    if (!record.is_stored()) {
      return Storage{zip_->inflated_source(entry), 0, record.bytes, &byte_elements()};
    }
    ANDIRON_ASSIGN(const std::uint64_t offset, zip_->data_offset(entry));
    return Storage{zip_->checked_source(), offset, record.bytes, &byte_elements(), file_};
  }

  Status read_raw(std::uint32_t entry, const std::string& name, const Value& weight) {
    const Value* meta = weight.find("tensor_meta");
    if (meta == nullptr) return bad("a weight has no description", name);
    TorchTensor tensor;
    tensor.big_endian = big_endian_;
    ANDIRON_ASSIGN(tensor.storage, storage(entry));
    const auto dtype = integer(meta->find("dtype"));
    tensor.type = dtype ? export_dtype(*dtype) : nullptr;
    if (tensor.type == nullptr) {
      builder_.state().skipped.push_back({name, "unknown dtype"});
      return {};
    }
    const Value* sizes = meta->find("sizes");
    const Value* strides = meta->find("strides");
    const auto* dims = sizes != nullptr ? sizes->get<ValueList>() : nullptr;
    const auto* steps = strides != nullptr ? strides->get<ValueList>() : nullptr;
    if (dims == nullptr || steps == nullptr || dims->size() != steps->size() ||
        dims->size() > max_rank) {
      return bad("a weight has no sizes or strides", name);
    }
    tensor.rank = dims->size();
    for (std::size_t d = 0; d < tensor.rank; ++d) {
      const auto size = integer(&(*dims)[d]);
      const auto stride = integer(&(*steps)[d]);
      if (!size || *size < 0 || !stride) return bad("a weight has an invalid size or stride", name);
      tensor.shape[d] = static_cast<std::uint64_t>(*size);
      tensor.strides[d] = *stride;
    }
    const auto offset = integer(meta->find("storage_offset"));
    if (!offset || *offset < 0) return bad("a weight has no offset", name);
    tensor.offset = static_cast<std::uint64_t>(*offset);
    ANDIRON_TRY(tensor.check());
    ANDIRON_TRY(tensor.check_size(most_tensor_bytes(zip_->source()->size(), options_.limits)));
    ANDIRON_TRY(budget_.charge_data(tensor.byte_size(), name));
    return tensor.add_to(builder_, builder_.store(name));
  }

  // A weight that has no plain bytes is an archive within the archive, with its tensor or, of a
  // class of its own, its parts. Tied ones have one archive.
  Status read_pickled(std::uint32_t entry, const std::string& name) {
    const auto known = pickled_.find(entry);
    if (known != pickled_.end()) return repeat(known->second, name);
    ANDIRON_TRY(charge_if_deflated(*zip_, entry, "an inflated archive", budget_));
    ANDIRON_ASSIGN(const Storage bytes, storage(entry));
    ANDIRON_ASSIGN(
        const ZipReaderPtr inner,
        ZipReader::open(slice_source(bytes.source, bytes.offset, bytes.bytes), options_.limits,
                        ZipNames::any_case, {}, zip_checksums(options_.verify)));
    ANDIRON_ASSIGN(const TorchZip content, read_torch_zip(*inner));
    if (content.kind != TorchZip::Kind::torch_save) {
      return bad("a weight is not a torch.save archive", name);
    }
    ANDIRON_ASSIGN(const auto file, read_zip_file(inner, content, Storage::no_file, options_,
                                                  budget_, builder_.state().notes));
    const std::size_t first = builder_.size();
    const std::size_t skipped = builder_.state().skipped.size();
    ANDIRON_TRY(add_below(*file, name, options_, names_, notes_, builder_));
    if (builder_.size() == first && builder_.state().skipped.size() == skipped) {
      return bad("a weight contains no tensor", name);
    }
    pickled_[entry] = {first, builder_.size(), name.size()};
    return {};
  }

  // Tensors of an archive that was read for another name.
  struct Added {
    std::size_t first;
    std::size_t last;
    std::size_t name_size;
  };
  Status repeat(const Added& added, const std::string& name) {
    for (std::size_t i = added.first; i < added.last; ++i) {
      const ArchiveEntry entry = builder_.state().entries[i];
      const std::string full = name + std::string(entry.name().substr(added.name_size));
      ANDIRON_TRY(names_.count(full, builder_.size()));
      ANDIRON_TRY(budget_.charge_data(entry.byte_size, full));
      ANDIRON_TRY(builder_.add(builder_.store(full), entry.file_dtype(),
                               builder_.state().snapshots[entry.snapshot]));
    }
    return {};
  }

  const ZipReaderPtr& zip_;
  const TorchZip& content_;
  std::uint32_t file_;
  const OpenOptions& options_;
  MemoryBudget& budget_;
  ArchiveBuilder& builder_;
  const std::string weights_;  // folders
  const std::string constants_;
  std::vector<std::uint32_t> models_;
  std::vector<std::uint32_t> constant_lists_;
  bool big_endian_ = false;
  NameBudget names_;
  TensorNotes notes_;
  std::map<std::uint32_t, Added> pickled_;  // by entry
};

}  // namespace

Status read_pt2(const ZipReaderPtr& zip, const TorchZip& content, std::uint32_t file,
                const OpenOptions& options, MemoryBudget& budget, ArchiveBuilder& builder) {
  const auto read_list = [&](std::uint32_t entry) -> Result<Bytes> {
    ANDIRON_TRY(charge_if_deflated(*zip, entry, "an inflated list of tensors", budget));
    return zip->read(entry, {options.limits.index_bytes, &Limits::index_bytes});
  };
  Pt2Reader reader(zip, content, file, options, budget, builder);
  budget.add_data(zip->locate_data(content.data_alignment()));
  ANDIRON_TRY(reader.start());
  for (const std::uint32_t entry : reader.constant_lists()) {
    ANDIRON_ASSIGN(const Bytes list, read_list(entry));
    ANDIRON_TRY(reader.take_constants(list.text()));
  }
  for (const std::uint32_t entry : reader.models()) {
    ANDIRON_ASSIGN(const Bytes list, read_list(entry));
    ANDIRON_TRY(reader.take_weights(entry, list.text()));
  }
  return reader.finish();
}

}  // namespace andiron::inline v1::detail
