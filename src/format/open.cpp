// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the model behind a path and hands it to its format.
// Tested by tests/format/open_test.cpp
#include "andiron/open.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "andiron/display_text.h"
#include "src/codec/gzip.h"
#include "src/core/try.h"
#include "src/format/format.h"
#include "src/format/pytorch/pytorch.h"
#include "src/format/record/bincode.h"
#include "src/format/record/record.h"
#include "src/format/sniff.h"
#include "src/io/folder.h"

namespace andiron::inline v1 {
namespace {

using namespace detail;

Error not_a_weight_file(const std::string& file, std::string found, std::string hint) {
  return Error{.code = ErrorCode::not_a_weight_file,
               .message = "this is no weight file that we know",
               .file = file,
               .found = std::move(found),
               .hint = std::move(hint)};
}

// With its first bytes, by which its owner may know it.
Error unknown_content(const ByteSource& source) {
  std::array<std::byte, 16> first{};
  const auto head = std::span(first).first(
      static_cast<std::size_t>(std::min<std::uint64_t>(first.size(), source.size())));
  const Status status = source.read_at(0, head);
  if (!status) return status.error();
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return not_a_weight_file(source.name(), "content that begins with '" + display_text(text) + "'",
                           "");
}

Result<Archive> open_json(const ByteSource& source, const OpenOptions& options) {
  if (source.file_descriptor() == -1) {
    return Error{.code = ErrorCode::unsupported,
                 .message = "this is JSON; a shard index names files beside it",
                 .file = source.name(),
                 .hint = "open it by its path"};
  }
  if (source.size() > options.limits.index_bytes) {
    return Error{.code = ErrorCode::limit_exceeded,
                 .message = "the index is larger than allowed",
                 .file = source.name(),
                 .found = std::to_string(source.size()) + " bytes",
                 .expected = "at most " + std::to_string(options.limits.index_bytes)};
  }
  ANDIRON_ASSIGN(Bytes text, Bytes::allocate(source.size()));
  ANDIRON_TRY(source.read_at(0, text.writable()));
  return read_sharded(source.name(), text.text(), options);
}

// The one model in a folder: a shard index before a single file, the usual name before others, and
// a pickle only where there is nothing else.
Result<std::string> find_model(const std::string& folder) {
  ANDIRON_ASSIGN(const std::vector<std::string> names, list_files(folder));
  const auto named = [&](std::initializer_list<const char*> usual) -> std::vector<std::string> {
    for (const char* name : usual) {
      if (std::binary_search(names.begin(), names.end(), name)) return {name};
    }
    return {};
  };
  const auto ending_in = [&](std::initializer_list<std::string_view> endings) {
    std::vector<std::string> found;
    for (const std::string& name : names) {
      const auto fits = [&](std::string_view ending) { return name.ends_with(ending); };
      if (std::any_of(endings.begin(), endings.end(), fits)) found.push_back(name);
    }
    return found;
  };
  std::vector<std::string> candidates =
      named({"model.safetensors.index.json", "model.safetensors", "model.bpk"});
  if (candidates.empty()) candidates = ending_in({".safetensors.index.json"});
  if (candidates.empty()) candidates = ending_in({".safetensors", ".bpk", ".mpk", ".mpk.gz"});
  if (candidates.empty()) {
    candidates = named({"pytorch_model.bin.index.json", "pytorch_model.bin", ".metadata"});
  }
  if (candidates.empty()) candidates = ending_in({".bin.index.json"});
  if (candidates.empty()) candidates = ending_in({".pt", ".pth", ".bin", ".ckpt", ".pt2"});
  if (candidates.size() == 1) return join_path(folder, candidates.front());
  if (candidates.empty() && !ending_in({".distcp"}).empty()) {
    return not_a_weight_file(folder, "parts of a distributed checkpoint without their .metadata",
                             "that file tells what is in them: get it from where they came from");
  }
  if (candidates.empty()) {
    return not_a_weight_file(folder, "a folder without a model",
                             "expected an index, or a .safetensors, .bpk, .mpk or .pt file in it");
  }
  std::string found = std::to_string(candidates.size()) + " candidates: ";
  for (std::size_t i = 0; i < std::min<std::size_t>(candidates.size(), 3); ++i) {
    found += (i == 0 ? "" : ", ") + candidates[i];
  }
  if (candidates.size() > 3) found += ", ...";
  return Error{.code = ErrorCode::not_a_weight_file,
               .message = "the folder holds more than one model",
               .file = folder,
               .found = std::move(found),
               .expected = "one index, or exactly one model",
               .hint = candidates.front().find("-of-") == std::string::npos
                           ? "name the file"
                           : "these may be the parts of one model, whose .index.json is missing"};
}

// What a gzip file holds, where that is a PyTorch file; otherwise Content::gzip.
Result<Content> gzip_content(const ByteSource& source) {
  ANDIRON_ASSIGN(const ContentHead head, content_head(source, sniffed_bytes));
  ANDIRON_ASSIGN(const Bytes copy, Bytes::copy(std::as_bytes(std::span(head.bytes))));
  ANDIRON_ASSIGN(const Sniffed content, sniff(*memory_source(copy)));
  return content.content == Content::pytorch ? Content::pytorch : Content::gzip;
}

Result<Archive> read_as(Format format, const ByteSourcePtr& source, const OpenOptions& options) {
  switch (format) {
    case Format::safetensors:
      return read_safetensors(source, options);
    case Format::burnpack:
      return read_burnpack(source, options);
    case Format::mpk:
      return read_record(source, options);
    case Format::pytorch:
      return read_pytorch(source, options);
  }
  return unknown_content(*source);
}

// One of the files that a distributed checkpoint is made of, by itself.
Error as_distributed_part(Error error) {
  error.hint = "this is a part of a distributed checkpoint: open the folder that it lies in";
  return error;
}

}  // namespace

Result<Archive> open(const ByteSourcePtr& source, const OpenOptions& options) {
  if (options.format) return read_as(*options.format, source, options);
  ANDIRON_ASSIGN(Sniffed sniffed, sniff(*source));
  if (sniffed.content == Content::gzip) {
    ANDIRON_ASSIGN(sniffed.content, gzip_content(*source));
  }
  switch (sniffed.content) {
    case Content::safetensors:
      return read_safetensors(source, options);
    case Content::burnpack:
      return read_burnpack(source, options);
    case Content::record:
    case Content::gzip:
      return read_record(source, options);
    case Content::unnamed_record:
      return needs_module(source->name());
    case Content::pytorch:
      return read_pytorch(source, options);
    case Content::json:
      return open_json(*source, options);
    case Content::foreign:
      return not_a_weight_file(source->name(), sniffed.what, sniffed.hint);
    case Content::unknown:
      break;
  }
  // A broken file deserves the reason why: the name cannot make it readable, but it tells what it
  // was meant to be.
  for (const Format format : {Format::safetensors, Format::burnpack, Format::mpk}) {
    if (source->name().ends_with(file_extension(format))) return read_as(format, source, options);
  }
  return unknown_content(*source);
}

Result<Archive> open(const std::string& path, const OpenOptions& options) {
  if (is_folder(path)) {
    ANDIRON_ASSIGN(const std::string model, find_model(path));
    return open(model, options);
  }
  if (file_name_of(path) == ".metadata") return read_distributed(path, options);
  Result<ByteSourcePtr> source = open_file(path, options.io);
  if (source) {
    Result<Archive> archive = open(*source, options);
    if (!archive && path.ends_with(".distcp")) {
      return as_distributed_part(std::move(archive).error());
    }
    return archive;
  }
  // A model that was written as shards goes by the same name.
  if (source.error().code == ErrorCode::not_found &&
      (path.ends_with(".safetensors") || path.ends_with(".bin"))) {
    const Result<ByteSourcePtr> index = open_file(path + ".index.json", options.io);
    if (index) return open(*index, options);
  }
  return std::move(source).error();
}

Result<Archive> open(Bytes bytes, const OpenOptions& options) {
  return open(memory_source(std::move(bytes)), options);
}

}  // namespace andiron::inline v1
