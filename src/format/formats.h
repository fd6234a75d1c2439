// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of formats. All code that depends on the set of formats asks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/format.h"
#include "andiron/open.h"
#include "andiron/sink.h"
#include "andiron/value.h"
#include "andiron/write.h"
#include "src/core/memory_budget.h"
#include "src/format/output_file.h"

namespace andiron::inline v1::detail {

// The beginning of a file.
struct FileHead {
  std::string_view bytes;    // up to `head_bytes`
  const ByteSource& source;  // all of it; of a compressed file, these bytes
};

// How many bytes are looked at to recognize a file.
inline constexpr std::size_t head_bytes = 512;

// The input of a reader.
struct ReadContext {
  const ByteSourcePtr& source;
  const OpenOptions& options;
  // The files next to this one, and its name among them; nullptr if there are none.
  const FileSet* files = nullptr;
  std::string_view name = {};
  // What is opened together shares one: an index and its shards.
  std::shared_ptr<MemoryBudget> budget =
      std::make_shared<MemoryBudget>(source->size(), options.limits, source->name());

  // A file in the same folder of the set. REQUIRES: files.
  std::string name_beside(std::string_view other) const {
    return std::string(name.substr(0, name.rfind('/') + 1)) += other;
  }
};

// The input of a writer. Sizes and their sums cannot overflow (most_data_bytes).
struct WriteContext {
  const Archive& archive;
  Sink& sink;
  const WriteOptions& options;
  std::string_view ending;     // of the file's name, one of the format's
  OutputFile* file = nullptr;  // that the sink is, if it is one
};

// The most tensor bytes that an archive may have to be written.
inline constexpr std::uint64_t most_data_bytes = std::uint64_t{1} << 60;

// What a writer keeps of an archive besides tensors, names, shapes and data.
struct Kept {
  bool names = true;
  std::string written_as = {};  // what notes call the file, if not by the format's name
  std::size_t values = 0;       // of Archive::value(), without tensors
  std::size_t metadata = 0;     // entries
  bool param_ids = false;
  bool ids_if_asked = false;    // a setting keeps them
  bool ties = false;            // names that metadata ties to others
  std::size_t converted = 0;    // tensors that get another dtype
  std::string conversion = {};  // of the first of them: "f16 to f32"
};

// What is to be written.
struct KeptContext {
  const Archive& archive;
  const Value& tree;  // the archive's value()
  const WriteOptions& options;
  std::string_view ending;
};

struct FolderParts {
  std::string_view ending = {};
  const char* found = "";
  const char* hint = "";
};

struct FormatRow {
  FormatInfo info;
  // By content.
  bool (*is_format)(const FileHead& head);
  bool may_be_gzip = false;
  bool keeps_values = false;  // its writer, some of Archive::value()
  Result<Archive> (*read)(const ReadContext& context);
  // Returns how many bytes that took; nullptr for formats that are only read. Nothing is written in
  // a dry run.
  Result<std::uint64_t> (*write)(const WriteContext& context) = nullptr;
  Kept (*kept)(const KeptContext& context) = nullptr;
  const char* write_instead = "";  // what to do where the format is only read
  // In a folder with several formats, those with a lower rank are taken; within one, these names
  // before others.
  unsigned folder_rank = 0;
  std::span<const std::string_view> usual_names = {};
  // Files that are no model by themselves, and what a folder of nothing else lacks.
  FolderParts parts = {};
  // Which of FormatSettings are this format's; 0 for none.
  std::size_t settings = 0;
};

// In the order in which content is looked at.
std::span<const FormatRow> format_rows() noexcept;
const FormatRow& row_of(Format format) noexcept;

// The row that a file name belongs to by its extension, and that extension.
struct NamedFormat {
  const FormatRow* row = nullptr;
  std::string_view ending;
};
NamedFormat format_by_name(std::string_view name) noexcept;

// Advice for a dtype that a format cannot store: to cast it to the first of `others` that it
// converts to.
Message cast_or_leave_out(DType dtype, std::initializer_list<DType> others);

// ".safetensors, .bpk or .mpk": the extensions of rows that pass a test, for messages.
std::string list_endings(bool (*takes)(const FormatInfo& format));

// "a.safetensors.index.json" names the shards of "a.safetensors".
inline constexpr std::string_view index_ending = ".index.json";

// The settings of a format; the defaults where others are given, or none.
template <class Settings>
Settings settings_in(const FormatSettings& all) {
  const Settings* given = std::get_if<Settings>(&all);
  return given == nullptr ? Settings() : *given;
}

}  // namespace andiron::inline v1::detail
