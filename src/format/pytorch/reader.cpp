// SPDX-License-Identifier: MIT OR Apache-2.0
// How a PyTorch file is packaged. Tested by tests/format/pytorch_reader_test.cpp
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/codec/gzip.h"
#include "src/codec/pickle/machine.h"
#include "src/codec/tar_reader.h"
#include "src/core/archive_builder.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/core/with_file.h"
#include "src/format/header_diagnostics.h"
#include "src/format/pytorch/distributed.h"
#include "src/format/pytorch/legacy.h"
#include "src/format/pytorch/pickled_file.h"
#include "src/format/pytorch/pt2.h"
#include "src/format/pytorch/pytorch.h"
#include "src/format/pytorch/script_classes.h"
#include "src/format/pytorch/tar_file.h"
#include "src/format/pytorch/zip_file.h"

namespace andiron::inline v1::detail {
namespace {

// A pickle outside of torch.save has its storages in itself.
class NoStorages : public StorageFinder {
 public:
  explicit NoStorages(std::string file) : file_(std::move(file)) {}
  Status find(const StorageId& id, Storage&) override {
    return Error{.code = ErrorCode::missing_storage,
                 .message = "the pickle refers to data outside itself",
                 .file = file_,
                 .found = "storage " + in_quotes(id.key),
                 .hint =
                     "this may be the data.pkl of an unpacked archive; open the archive "
                     "instead"};
  }

 private:
  std::string file_;
};

// What is opened: a file, or what a compressed one inflates to.
struct OpenedFile {
  ByteSourcePtr source;
  std::uint64_t compressed_bytes = 0;  // 0 for a file that is not compressed

  ArchiveBuilder builder(std::string packaging) const {
    if (compressed_bytes != 0) packaging += ".gz";
    ArchiveBuilder builder(source->name(), std::string(format_name(Format::pytorch)), packaging);
    builder.state().is_pickled = true;
    return builder;
  }
  // The number of the file in which tensors lie: none where the file has them compressed.
  std::uint32_t add_to(ArchiveBuilder& builder, const ByteSourcePtr& data) const {
    if (compressed_bytes == 0) return builder.add_file(data);
    builder.state().file_bytes = compressed_bytes;
    return Storage::no_file;
  }
};

Result<Archive> finished(std::shared_ptr<PickledFile> file, const OpenOptions& options,
                         MemoryBudget& budget, ArchiveBuilder& builder) {
  ANDIRON_TRY(fill_archive(std::move(file), options, budget, builder));
  return builder.finish();
}

// The constants of a program are no part of its state_dict.
void skip_constants(const Result<std::shared_ptr<PickledFile>>& constants,
                    ArchiveBuilder& builder) {
  if (!constants) {
    builder.state().skipped.push_back({"constants", sentence_of(constants.error())});
    return;
  }
  const PickleDocument& pickle = (*constants)->content;
  const PickleValue root = pickle.graph().root();
  if (root.kind != PickleKind::tuple) return;
  const auto values = pickle.graph().tuple(root);
  // A few bytes can make many of them.
  constexpr std::size_t most_named = 1000;
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!makes_tensor(pickle.callable_of(values[i])) || ++count > most_named) continue;
    builder.state().skipped.push_back({"constants." + std::to_string(i), constant_of_program});
  }
  if (count > most_named) {
    builder.state().skipped.push_back(
        {"constants", std::to_string(count - most_named) + " more constants of the program"});
  }
}

Result<Archive> read_zip(const OpenedFile& opened, const OpenOptions& options,
                         MemoryBudget& budget) {
  std::vector<Message> notes;
  std::uint64_t end = opened.source->size();
  if (options.strictness == Strictness::lenient) {
    ANDIRON_ASSIGN(end, find_zip_end(*opened.source, notes));
  }
  ANDIRON_ASSIGN(const ZipReaderPtr zip,
                 ZipReader::open(opened.source, options.limits, ZipNames::any_case, end,
                                 zip_checksums(options.verify)));
  zip->note_missing_checksums(notes);
  ANDIRON_ASSIGN(const TorchZip content, read_torch_zip(*zip));
  if (content.kind == TorchZip::Kind::pt2) {
    ArchiveBuilder builder = opened.builder("pt2");
    builder.state().notes = std::move(notes);
    const std::uint32_t file = opened.add_to(builder, zip->checked_source());
    ANDIRON_TRY(read_pt2(zip, content, file, options, budget, builder));
    return builder.finish();
  }
  if (content.kind == TorchZip::Kind::other) {
    return Error{.code = ErrorCode::not_a_weight_file,
                 .message = "not a recognized weight file",
                 .file = opened.source->name(),
                 .found = content.what,
                 .hint = content.hint == nullptr ? "" : content.hint};
  }
  const bool is_script = content.kind == TorchZip::Kind::torch_script;
  ArchiveBuilder builder = opened.builder(is_script ? "torchscript" : "zip");
  builder.state().notes = std::move(notes);
  const std::uint32_t file = opened.add_to(builder, zip->checked_source());
  ANDIRON_ASSIGN(auto pickled,
                 read_zip_file(zip, content, file, options, budget, builder.state().notes));
  if (is_script) {
    ANDIRON_ASSIGN(pickled->classes,
                   ScriptClasses::read(*zip, content.root, pickled->content.graph(), budget));
  }
  budget.add_data(zip->locate_data(content.data_alignment()));
  ANDIRON_TRY(fill_archive(std::move(pickled), options, budget, builder));
  if (is_script) {
    const auto constants = pass_on_out_of_memory(
        read_zip_constants(zip, content, options, budget, builder.state().notes));
    if (!constants && options.verify && constants.error().code == ErrorCode::checksum_mismatch) {
      return constants.error();
    }
    skip_constants(constants, builder);
  }
  return builder.finish();
}

Result<Archive> read_pickles(const OpenedFile& opened, const OpenOptions& options,
                             MemoryBudget& budget) {
  const ByteSourcePtr& source = opened.source;
  ANDIRON_ASSIGN(PickleGraph first,
                 read_pickle(*source, 0, source->size(), options.limits, &budget));
  const bool is_legacy = is_legacy_magic(first, first.root());
  ArchiveBuilder builder = opened.builder(is_legacy ? "legacy" : "pickle");
  const std::uint32_t file = opened.add_to(builder, source);
  if (options.verify && opened.compressed_bytes == 0) {
    builder.state().notes.emplace_back(no_checksums);
  }
  if (is_legacy) {
    const Storage whole{source, 0, source->size(), &byte_elements(), file};
    ANDIRON_ASSIGN(auto legacy, read_legacy(whole, options.limits, options.strictness, &budget));
    return finished(std::move(legacy), options, budget, builder);
  }
  if (first.end() != source->size()) {
    const std::string rest = std::to_string(source->size() - first.end()) + " bytes";
    if (options.strictness == Strictness::strict) {
      return Error{.code = ErrorCode::bad_pickle,
                   .message = "bytes after the end of the pickle",
                   .file = source->name(),
                   .found = rest};
    }
    builder.state().notes.push_back(rest + " follow the pickle");
  }
  auto pickled = std::make_shared<PickledFile>(std::move(first), source, file);
  pickled->storages = std::make_unique<NoStorages>(source->name());
  pickled->file_bytes = source->size();
  return finished(std::move(pickled), options, budget, builder);
}

Result<Archive> read_tar_content(const OpenedFile& opened, const OpenOptions& options,
                                 MemoryBudget& budget) {
  ArchiveBuilder builder = opened.builder("tar");
  const std::uint32_t file = opened.add_to(builder, opened.source);
  if (options.verify && opened.compressed_bytes == 0) {
    builder.state().notes.emplace_back(no_checksums);
  }
  ANDIRON_ASSIGN(auto pickled, read_tar_file(opened.source, file, options.limits, budget));
  return finished(std::move(pickled), options, budget, builder);
}

// A pickle, of a release of PyTorch before 1.6 or of anything.
bool is_pickle(std::string_view head) {
  // Protocols 2 to 5 say so. Before them, an object begins with what it is.
  if (head.size() > 2 && head[0] == '\x80') return head[1] >= 2 && head[1] <= 5;
  constexpr std::string_view beginnings[] = {"(dp",
                                             "(lp",
                                             "(d.",
                                             "(l.",
                                             "(i",
                                             "(c",
                                             "}q",
                                             "}(",
                                             "}.",
                                             "]q",
                                             "](",
                                             "].",
                                             "ccollections\n",
                                             "ctorch",
                                             "cnumpy",
                                             "ccopy_reg\n",
                                             "L119547037146038801333356L\n"};
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](std::string_view beginning) { return head.starts_with(beginning); });
}

bool is_distributed(const ReadContext& context) {
  return context.files != nullptr && context.name == context.name_beside(".metadata");
}

}  // namespace

bool is_pytorch(const FileHead& head) {
  return is_zip(head.bytes) || is_tar(head.bytes) || is_pickle(head.bytes);
}

Result<Archive> read_pytorch(const ReadContext& context) {
  if (is_distributed(context)) return read_distributed(context);
  const ByteSourcePtr& source = context.source;
  const OpenOptions& options = context.options;
  ANDIRON_ASSIGN(const ContentHead head, content_head(*source, tar_block_bytes));
  OpenedFile opened{source};
  if (head.compressed) {
    ANDIRON_ASSIGN(opened.source, inflated(*source, options.limits, *context.budget));
    opened.compressed_bytes = source->size();
    context.budget->add_data(opened.source->size());
  }
  MemoryBudget& budget = *context.budget;
  Result<Archive> archive = is_zip(head.bytes)   ? read_zip(opened, options, budget)
                            : is_tar(head.bytes) ? read_tar_content(opened, options, budget)
                                                 : read_pickles(opened, options, budget);
  if (archive) return archive;
  Error error = with_file(std::move(archive).error(), context.source->name());
  if (context.source->name().ends_with(row_of(Format::pytorch).parts.ending)) {
    error.hint = "this is part of a distributed checkpoint; open its folder";
  }
  return error;
}

}  // namespace andiron::inline v1::detail
