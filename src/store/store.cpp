// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/store_test.cpp
#include "andiron/store.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>
#include <variant>

#include "andiron/display_text.h"
#include "andiron/index_gaps.h"
#include "andiron/pattern.h"
#include "andiron/top_level_key.h"
#include "src/core/try.h"
#include "src/core/with_file.h"
#include "src/format/record/bincode.h"
#include "src/store/archive_to_save.h"
#include "src/transfer/proposals/proposals.h"

namespace andiron::inline v1 {
namespace detail {

// Something that is made when first asked for, once, whoever asks. A failure is not kept: the file
// may be there the next time.
class OnceArchive {
 public:
  template <class Make>
  Result<Archive> get(Make make) {
    const std::lock_guard lock(mutex_);
    if (!archive_) {
      ANDIRON_ASSIGN(archive_, make());
    }
    return *archive_;
  }

 private:
  std::mutex mutex_;
  std::optional<Archive> archive_;
};

// Where the bytes are, and what was found in them.
class StoreContent {
 public:
  using Location = std::variant<std::string, std::optional<Bytes>>;

  explicit StoreContent(Location place) : location(std::move(place)) {}

  const Location location;
  OnceArchive archive;
};

// The archive after the stages that change names.
class NamedContent {
 public:
  OnceArchive renamed;  // top-level key and rules
  OnceArchive closed;   // and without index gaps
};

namespace {

Error nothing_in_memory() {
  return Error{.code = ErrorCode::invalid_argument,
               .message = "there is nothing in this store in memory",
               .hint = "give from_bytes() a file's bytes, or save into the store first"};
}

std::string with_extension(std::string path, Format format) {
  if (std::filesystem::path(path).has_extension()) return path;
  return path += file_extension(format);
}

ApplyOptions apply_options(const StoreSettings& settings) {
  return {.filter = settings.filter,
          .adapter = settings.from_adapter,
          .skip_enum_variants = settings.skip_enum_variants,
          .allow_partial = settings.allow_partial,
          .validate = settings.validate,
          .allow_unused = settings.allow_unused,
          .dtype_policy = settings.dtype_policy,
          .zero_copy = settings.zero_copy,
          .in_place = settings.in_place,
          .progress = settings.progress,
          .limits = settings.limits};
}

PresentNames present_names(const StoreSettings& settings, const Archive& before_closing) {
  return {.top_level_key = settings.top_level_key,
          .has_rules = !settings.remapper.is_empty(),
          .before_closing = settings.map_indices_contiguous ? &before_closing : nullptr,
          .contiguous_except = settings.contiguous_except};
}

}  // namespace
}  // namespace detail

using detail::NamedContent;
using detail::StoreContent;

Store::Store(Format format, std::string path, detail::StoreSettings defaults)
    : format_(format),
      settings_(std::move(defaults)),
      content_(std::make_shared<StoreContent>(std::move(path))),
      named_(std::make_shared<NamedContent>()) {}

Store::Store(Format format, std::optional<Bytes> bytes, detail::StoreSettings defaults)
    : format_(format),
      settings_(std::move(defaults)),
      content_(std::make_shared<StoreContent>(std::move(bytes))),
      named_(std::make_shared<NamedContent>()) {}

Store::Store(const Store& other) = default;
Store& Store::operator=(const Store& other) = default;
Store::Store(Store&& other) noexcept = default;
Store& Store::operator=(Store&& other) noexcept = default;
Store::~Store() = default;

detail::StoreSettings& Store::change_names() {
  named_ = std::make_shared<NamedContent>();
  return settings_;
}

detail::StoreSettings& Store::change_content() {
  content_ = std::make_shared<StoreContent>(content_->location);
  return change_names();
}

std::string Store::path() const {
  const auto* path = std::get_if<std::string>(&content_->location);
  if (path == nullptr) return {};
  return settings_.auto_extension ? detail::with_extension(*path, format_) : *path;
}

Status Store::status() const {
  ANDIRON_TRY(settings_.filter.status());
  ANDIRON_TRY(settings_.remapper.status());
  for (const std::string& pattern : settings_.contiguous_except) {
    ANDIRON_TRY(Pattern::regex(pattern));
  }
  ANDIRON_TRY(settings_.from_adapter->status());
  return settings_.to_adapter->status();
}

Result<Archive> Store::opened() const {
  return content_->archive.get([&]() -> Result<Archive> {
    const OpenOptions options{.io = settings_.io,
                              .strictness = settings_.strictness,
                              .limits = settings_.limits,
                              .numpy_arrays = settings_.numpy_arrays};
    if (const auto* bytes = std::get_if<std::optional<Bytes>>(&content_->location)) {
      if (!*bytes) return detail::nothing_in_memory();
      return open(**bytes, options);
    }
    Result<Archive> file = open(path(), options);
    const std::string& given = std::get<std::string>(content_->location);
    if (file || file.error().code != ErrorCode::not_found || path() == given) return file;
    Error error = std::move(file).error();
    error.hint = "'" + std::string(file_extension(format_)) +
                 "' was added to the path; auto_extension(false) takes it as it is";
    return error;
  });
}

Result<Archive> Store::renamed() const {
  return named_->renamed.get([&]() -> Result<Archive> {
    ANDIRON_ASSIGN(Archive content, opened());
    const std::string origin = content.origin();
    if (!settings_.top_level_key.empty()) {
      Result<Archive> below = at_top_level_key(content, settings_.top_level_key);
      if (!below) return with_file(std::move(below).error(), origin);
      content = *std::move(below);
    }
    Result<Archive> remapped = andiron::remap(content, settings_.remapper);
    if (!remapped) return with_file(std::move(remapped).error(), origin);
    if (settings_.top_level_key.empty() && content.format() == format_name(Format::pytorch)) {
      if (const auto key = andiron::suggest_top_level_key(*remapped)) {
        remapped->add_note("the model seems to lie below '" + display_text(*key) +
                           "': with_top_level_key(\"" + display_text(*key) + "\") takes that off");
      }
    }
    return remapped;
  });
}

Result<Archive> Store::archive() const {
  ANDIRON_TRY(status());
  if (!settings_.map_indices_contiguous) return renamed();
  return named_->closed.get([&]() -> Result<Archive> {
    ANDIRON_ASSIGN(const Archive gappy, renamed());
    Result<Archive> closed = close_index_gaps(gappy, {.except = settings_.contiguous_except});
    if (!closed) return with_file(std::move(closed).error(), gappy.origin());
    return closed;
  });
}

Result<std::vector<std::string>> Store::keys() const {
  ANDIRON_ASSIGN(const Archive named, archive());
  std::vector<std::string> names;
  names.reserve(named.size());
  for (std::size_t i = 0; i < named.size(); ++i) names.emplace_back(named.info(i).name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::optional<TensorSnapshot>> Store::get_snapshot(std::string_view name) const {
  ANDIRON_ASSIGN(const Archive named, archive());
  if (!named.find(name)) return std::optional<TensorSnapshot>();
  ANDIRON_ASSIGN(TensorSnapshot snapshot, named.get(name));
  return std::make_optional(std::move(snapshot));
}

Result<Snapshots> Store::get_all_snapshots() const {
  ANDIRON_ASSIGN(const Archive named, archive());
  std::vector<TensorSnapshot> list;
  list.reserve(named.size());
  for (std::size_t i = 0; i < named.size(); ++i) list.push_back(named.snapshot(i));
  std::sort(list.begin(), list.end(), [](const TensorSnapshot& a, const TensorSnapshot& b) {
    return a.full_path() < b.full_path();
  });
  return Snapshots(std::move(list));
}

Result<Metadata> Store::get_metadata() const {
  ANDIRON_TRY(status());
  ANDIRON_ASSIGN(const Archive content, opened());
  return content.metadata();
}

Result<Bytes> Store::get_bytes() const {
  const auto* bytes = std::get_if<std::optional<Bytes>>(&content_->location);
  if (bytes == nullptr) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "only a store in memory gives its bytes",
                 .file = path(),
                 .hint = "read the file, or save into a store made with from_bytes()"};
  }
  if (!*bytes) return detail::nothing_in_memory();
  return **bytes;
}

Result<std::optional<std::string>> Store::suggest_top_level_key() const {
  ANDIRON_TRY(status());
  ANDIRON_ASSIGN(const Archive content, opened());
  return andiron::suggest_top_level_key(content);
}

Result<Store::LoadSource> Store::source_for(const std::vector<detail::Slot>& slots) const {
  Result<Archive> named = archive();
  if (named) {
    ANDIRON_ASSIGN(Archive before_closing, renamed());
    return LoadSource{*std::move(named), std::move(before_closing)};
  }
  if (named.error().code != ErrorCode::unsupported) return std::move(named).error();
  ANDIRON_ASSIGN(const std::optional<Archive> unnamed, unnamed_record(slots));
  if (!unnamed) return std::move(named).error();
  return LoadSource{*unnamed, *unnamed};
}

Result<std::optional<Archive>> Store::unnamed_record(const std::vector<detail::Slot>& slots) const {
  std::vector<detail::RecordPlace> places;
  for (const detail::Slot& slot : slots) {
    const LeafInfo info = slot.ops->info(slot.leaf);
    places.push_back(
        {slot.path, info.accepts_any_shape ? std::nullopt : std::optional(info.shape)});
  }
  const OpenOptions options{.io = settings_.io, .limits = settings_.limits};
  if (const auto* bytes = std::get_if<std::optional<Bytes>>(&content_->location)) {
    if (!*bytes) return std::optional<Archive>();
    return detail::open_bincode_record(**bytes, places, options);
  }
  return detail::open_bincode_record(path(), places, options);
}

Result<ApplyResult> Store::load(const std::vector<detail::Slot>& slots) const {
  ANDIRON_ASSIGN(const LoadSource source, source_for(slots));
  const detail::PresentNames present = detail::present_names(settings_, source.before_closing);
  return detail::apply_slots(slots, source.archive, detail::apply_options(settings_), &present);
}

Result<Plan> Store::plan_load(const std::vector<detail::Slot>& slots) const {
  ANDIRON_ASSIGN(const LoadSource source, source_for(slots));
  const detail::PresentNames present = detail::present_names(settings_, source.before_closing);
  return detail::plan_slots(slots, source.archive, detail::apply_options(settings_), &present);
}

Result<WriteReport> Store::save(const std::vector<detail::Slot>& slots) {
  ANDIRON_TRY(status());
  ANDIRON_ASSIGN(const Archive archive, detail::archive_to_save(settings_, slots));
  const WriteOptions options{.format = format_,
                             .overwrite = settings_.overwrite,
                             .sync = settings_.sync,
                             .max_shard_bytes = settings_.max_shard_bytes,
                             .param_ids = settings_.write_param_ids,
                             .burnpack = settings_.burnpack,
                             .record_precision = settings_.record_precision,
                             .progress = settings_.progress,
                             .limits = settings_.limits};
  WriteReport report;
  StoreContent::Location location = content_->location;
  if (auto* bytes = std::get_if<std::optional<Bytes>>(&location)) {
    ANDIRON_ASSIGN(*bytes, write_to_memory(archive, options));
    report.bytes = (*bytes)->size();
    report.tensors = archive.size();
  } else {
    ANDIRON_ASSIGN(report, write(archive, path(), options));
  }
  report.notes = detail::save_notes(settings_, path(), format_, slots, archive);
  // What was read from the old content is not the new; copies of this store keep theirs.
  content_ = std::make_shared<StoreContent>(std::move(location));
  named_ = std::make_shared<NamedContent>();
  return report;
}

}  // namespace andiron::inline v1
