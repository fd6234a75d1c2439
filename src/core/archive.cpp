// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/archive_test.cpp
#include "andiron/archive.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>

#include "andiron/text.h"
#include "src/core/archive_builder.h"
#include "src/core/archive_state.h"
#include "src/core/expression.h"
#include "src/core/name_collision.h"
#include "src/core/sole_owner.h"
#include "src/core/sort.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/nearest_name.h"
#include "src/core/try.h"

namespace andiron::inline v1 {

using detail::ArchiveEntry;
using detail::ArchiveState;
using detail::NameOrigin;

std::string_view stage_name(NameStage stage) noexcept {
  constexpr std::string_view names[] = {"file",       "top-level key", "remap",
                                        "index gaps", "rename",        "made"};
  return names[static_cast<unsigned>(stage)];
}

namespace detail {

Status TextArena::reserve(std::size_t bytes) { return bytes > left_ ? add_chunk(bytes) : Status(); }

Status TextArena::add_chunk(std::size_t bytes) {
  ANDIRON_ASSIGN(Bytes chunk, Bytes::allocate(bytes));
  const std::span<std::byte> room = chunk.writable();
  chunks_.push_back(std::move(chunk));
  ++own_chunks_;
  next_ = reinterpret_cast<char*>(room.data());
  left_ = room.size();
  return {};
}

std::string_view TextArena::store(std::string_view text) {
  if (text.size() > left_ || next_ == nullptr) {
    // Small at first, as most archives have few names.
    constexpr std::size_t small_chunks = 4;
    const std::size_t usual = own_chunks_ < small_chunks ? 64 * 1024 : Bytes::huge_page_bytes;
    if (!add_chunk(std::max(text.size(), usual))) throw_bad_alloc();
  }
  std::string_view stored(next_, text.size());
  if (!text.empty()) std::memcpy(next_, text.data(), text.size());
  next_ += text.size();
  left_ -= text.size();
  return stored;
}

Result<ArchiveEntry> ArchiveState::entry_for(std::string_view name, std::string_view file_dtype,
                                             TensorSnapshot snapshot) {
  ArchiveEntry entry{};
  entry.name_data = name.data();
  entry.name_size = static_cast<std::uint32_t>(name.size());
  entry.file_dtype_data = file_dtype.data();
  entry.file_dtype_size = static_cast<std::uint32_t>(file_dtype.size());
  entry.byte_size = snapshot.byte_size();
  entry.dims_begin = static_cast<std::uint32_t>(dims.size());
  entry.snapshot = static_cast<std::uint32_t>(snapshots.size());
  entry.rank = static_cast<std::uint8_t>(snapshot.shape().rank());
  entry.dtype = snapshot.dtype();
  for (std::uint64_t dim : snapshot.shape()) ANDIRON_TRY(dims.push(dim));
  snapshots.push_back(std::move(snapshot));
  return entry;
}

Result<std::optional<std::uint32_t>> ArchiveState::append(const ArchiveEntry& entry) {
  const std::size_t count = entries.size();
  if (count >= names.capacity()) ANDIRON_TRY(index_names(2 * count + 16));
  ANDIRON_TRY(entries.reserve_one());
  const std::optional<std::uint32_t> taken =
      names.insert(entry.name(), static_cast<std::uint32_t>(count),
                   [&](std::uint32_t at) { return name_at(at); });
  if (!taken) ANDIRON_TRY(entries.push(entry));
  return taken;
}

Result<std::optional<std::pair<std::uint32_t, std::uint32_t>>> ArchiveState::index_names(
    std::size_t count) {
  ANDIRON_TRY(names.reset(count));
  const auto name = [&](std::uint32_t at) { return name_at(at); };
  constexpr std::uint32_t ahead = 16;
  std::array<std::uint64_t, ahead> hashes;
  const auto size = static_cast<std::uint32_t>(entries.size());
  for (std::uint32_t begin = 0; begin < size; begin += ahead) {
    const std::uint32_t end = std::min(size, begin + ahead);
    for (std::uint32_t i = begin; i < end; ++i) {
      hashes[i - begin] = hash_name(name(i));
      names.prefetch(hashes[i - begin]);
    }
    for (std::uint32_t i = begin; i < end; ++i) {
      const auto taken = names.insert(name(i), hashes[i - begin], i, name);
      if (taken) return std::make_optional(std::make_pair(*taken, i));
    }
  }
  return std::optional<std::pair<std::uint32_t, std::uint32_t>>();
}

void ArchiveState::replace_aliases(Aliases next) {
  for (const auto& [alias, kept] : aliases) {
    const auto recorded = metadata.find(alias);
    if (recorded != metadata.end() && recorded->second == kept) metadata.erase(recorded);
  }
  for (const auto& [alias, kept] : next) metadata.insert_or_assign(alias, kept);
  aliases = std::move(next);
}

const ArchiveState* ArchiveState::before(std::size_t index) const noexcept {
  if (came_from == nullptr) return nullptr;
  const std::size_t known =
      came_from->stage ? came_from->before->entries.size() : came_from->indices.size();
  return index < known ? came_from->before.get() : nullptr;
}

Status ArchiveState::make_private() {
  ANDIRON_TRY(entries.make_private());
  ANDIRON_TRY(dims.make_private());
  return names.make_private();
}

}  // namespace detail

namespace {

// Replaces tensor i of the tree by leaves[i]; returns whether it has any. What has no tensors stays
// shared.
bool replace_tensors(Value& value, const std::vector<Value>& leaves) {
  if (const auto* tensor = value.get<TensorIndex>()) {
    value = tensor->index < leaves.size() ? leaves[tensor->index] : Value();
    return true;
  }
  bool has_any = false;
  if (const auto* list = value.get<ValueList>()) {
    ValueList copy = *list;
    for (Value& item : copy) has_any |= replace_tensors(item, leaves);
    if (has_any) value = Value(std::move(copy));
  } else if (const auto* dict = value.get<ValueDict>()) {
    ValueDict copy = *dict;
    for (auto& [key, item] : copy) has_any |= replace_tensors(item, leaves);
    if (has_any) value = Value(std::move(copy));
  }
  return has_any;
}

}  // namespace

Archive::Archive() : state_(std::make_shared<ArchiveState>()) {}
Archive::Archive(std::shared_ptr<ArchiveState> state) : state_(std::move(state)) {}

ArchiveState& Archive::change() {
  if (!detail::is_sole_owner(state_)) state_ = std::make_shared<ArchiveState>(*state_);
  return *state_;
}

const std::string& Archive::format() const& noexcept { return state_->format; }

bool Archive::is_pickled() const noexcept { return state_->is_pickled; }
const std::string& Archive::origin() const& noexcept { return state_->origin; }
const std::string& Archive::packaging() const& noexcept { return state_->packaging; }
std::uint64_t Archive::file_bytes() const noexcept { return state_->file_bytes; }
std::size_t Archive::size() const noexcept { return state_->entries.size(); }
const Aliases& Archive::aliases() const& noexcept { return state_->aliases; }
const Metadata& Archive::metadata() const& noexcept { return state_->metadata; }
Result<Value> Archive::value() const ANDIRON_NO_THROW { return state_->value.get(); }
ANDIRON_OR_OUT_OF_MEMORY
const std::vector<Message>& Archive::notes() const& noexcept { return state_->notes; }
const std::vector<Skipped>& Archive::skipped() const& noexcept { return state_->skipped; }

void Archive::set_skipped(std::vector<Skipped> skipped) { change().skipped = std::move(skipped); }
void Archive::set_aliases(Aliases aliases) { change().replace_aliases(std::move(aliases)); }
void Archive::set_metadata(Metadata metadata) { change().metadata = std::move(metadata); }
void Archive::set_value(Value value) { change().value = detail::LazyValue(std::move(value)); }
void Archive::add_note(Message note) { change().notes.push_back(std::move(note)); }

TensorInfo Archive::info(std::size_t index) const {
  const ArchiveEntry& entry = state_->entries[index];
  TensorInfo info;
  info.name = entry.name();
  info.dtype = entry.dtype;
  info.file_dtype = entry.file_dtype();
  info.shape = state_->dims.items().subspan(entry.dims_begin, entry.rank);
  info.byte_size = entry.byte_size;
  if (entry.snapshot == ArchiveEntry::none) {
    info.offset = entry.offset;
    info.file = state_->files[entry.file].name;
    if (entry.has_param_id) info.param_id = ParamId{entry.param_id};
  } else {
    info.param_id = state_->snapshots[entry.snapshot].param_id();
  }
  return info;
}

TensorSnapshot Archive::snapshot(std::size_t index) const {
  const ArchiveEntry& entry = state_->entries[index];
  if (entry.snapshot != ArchiveEntry::none) {
    return state_->snapshots[entry.snapshot].with_path(std::string(entry.name()));
  }
  const TensorInfo known = info(index);
  // The range was checked against file, dtype and shape when the archive was opened.
  return {std::string(known.name), known.param_id,
          detail::value_or_bad_alloc(detail::Expression::contiguous(
              state_->files[entry.file].source, entry.offset, entry.byte_size, entry.dtype,
              Shape(known.shape),
              is_opaque(entry.dtype) ? std::string(known.file_dtype) : std::string()))};
}

std::optional<std::size_t> Archive::find(std::string_view name) const {
  auto name_at = [&](std::uint32_t index) { return state_->name_at(index); };
  if (const auto found = state_->names.find(name, name_at)) return *found;
  const auto alias = state_->aliases.find(name);
  if (alias == state_->aliases.end()) return std::nullopt;
  const auto found = state_->names.find(alias->second, name_at);
  return found ? std::optional<std::size_t>(*found) : std::nullopt;
}

Result<TensorSnapshot> Archive::get(std::string_view name) const ANDIRON_NO_THROW {
  if (const auto index = find(name)) return snapshot(*index).with_path(std::string(name));
  Error error{.code = ErrorCode::missing_tensor, .message = "no such tensor"};
  error.tensor = name;
  error.file = state_->origin;
  const auto nearest = nearest_name(name, size(), [&](std::size_t i) { return info(i).name; });
  if (nearest) error.hint = "did you mean " + detail::in_quotes(info(*nearest).name) + "?";
  return error;
}
ANDIRON_OR_OUT_OF_MEMORY

Status Archive::add(TensorSnapshot snapshot) ANDIRON_NO_THROW {
  ArchiveState& state = change();
  ANDIRON_TRY(state.make_private());
  const std::string_view name = state.texts.store(snapshot.full_path());
  const std::string_view raw_name = state.texts.store(snapshot.raw_name());
  ANDIRON_ASSIGN(const ArchiveEntry entry, state.entry_for(name, raw_name, std::move(snapshot)));
  ANDIRON_ASSIGN(const auto taken, state.append(entry));
  if (!taken) return {};
  state.snapshots.pop_back();
  return Error{.code = ErrorCode::duplicate_key,
               .message = "the archive already has a tensor with this name",
               .file = state.origin,
               .tensor = std::string(name)};
}
ANDIRON_OR_OUT_OF_MEMORY

Status Archive::replace(std::size_t index, TensorSnapshot snapshot) ANDIRON_NO_THROW {
  ArchiveState& state = change();
  ANDIRON_TRY(state.make_private());
  const std::string_view name = state.entries[index].name();
  const std::string_view raw_name = state.texts.store(snapshot.raw_name());
  ANDIRON_ASSIGN(const ArchiveEntry entry, state.entry_for(name, raw_name, std::move(snapshot)));
  state.entries.set(index, entry);
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Archive> Archive::select(std::span<const std::size_t> indices) const ANDIRON_NO_THROW {
  auto state = std::make_shared<ArchiveState>(*state_);
  state->entries = {};
  ANDIRON_TRY(state->entries.reserve(indices.size()));
  for (std::size_t index : indices) {
    if (index >= size()) {
      return Error{.code = ErrorCode::invalid_argument,
                   .message = "no tensor has this index",
                   .file = state_->origin,
                   .found = std::to_string(index),
                   .expected = "less than " + std::to_string(size())};
    }
    ANDIRON_TRY(state->entries.push(state_->entries[index]));
  }
  ANDIRON_ASSIGN(const auto twice, state->index_names(indices.size()));
  if (twice) {
    return Error{.code = ErrorCode::duplicate_key,
                 .message = "a tensor was selected twice",
                 .tensor = std::string(state->name_at(twice->first))};
  }
  state->came_from = std::make_shared<const NameOrigin>(
      NameOrigin{state_, {indices.begin(), indices.end()}, std::nullopt});
  Archive selected(std::move(state));
  Aliases aliases = state_->aliases;
  std::erase_if(aliases, [&](const auto& alias) { return !selected.find(alias.second); });
  selected.state_->replace_aliases(std::move(aliases));
  if (!state_->value.is_absent()) {
    std::vector<Value> leaves(size());  // null for those that are left out
    for (std::size_t i = 0; i < indices.size(); ++i) leaves[indices[i]] = Value(TensorIndex{i});
    selected.state_->value = detail::LazyValue([all = state_->value, leaves = std::move(leaves)] {
      Result<Value> tree = all.get();
      if (tree) replace_tensors(*tree, leaves);
      return tree;
    });
  }
  return selected;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Archive> Archive::rename(std::span<const std::string> names, NameStage stage) const
    ANDIRON_NO_THROW {
  if (names.size() != size()) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "every tensor needs a name",
                 .found = std::to_string(names.size()) + " names",
                 .expected = std::to_string(size())};
  }
  auto state = std::make_shared<ArchiveState>(*state_);
  state->entries = {};
  ANDIRON_TRY(state->entries.reserve(names.size()));
  // The old names stay where they are: what this archive was made of keeps them.
  state->texts = {};
  std::size_t name_bytes = 0;
  for (const std::string& name : names) name_bytes += name.size();
  ANDIRON_TRY(state->texts.reserve(name_bytes));
  for (std::size_t i = 0; i < names.size(); ++i) {
    ArchiveEntry entry = state_->entries[i];
    if (entry.name() != names[i]) {
      const std::string_view stored = state->texts.store(names[i]);
      entry.name_data = stored.data();
      entry.name_size = static_cast<std::uint32_t>(stored.size());
    }
    ANDIRON_TRY(state->entries.push(entry));
  }
  ANDIRON_ASSIGN(const auto twice, state->index_names(names.size()));
  if (twice) {
    Error error = detail::name_collision(
        names[twice->first], detail::in_quotes(state_->name_at(twice->first)) + " and " +
                                 detail::in_quotes(state_->name_at(twice->second)));
    error.file = state_->origin;
    return error;
  }
  Aliases aliases = state_->aliases;
  for (auto& [alias, kept] : aliases) {
    if (const auto index = find(kept)) kept = names[*index];
  }
  state->came_from = std::make_shared<const NameOrigin>(NameOrigin{state_, {}, stage});
  state->replace_aliases(std::move(aliases));
  return Archive(std::move(state));
}
ANDIRON_OR_OUT_OF_MEMORY

std::vector<NameStep> Archive::name_history(std::size_t index) const {
  std::vector<NameStep> newest_first;
  const ArchiveState* state = state_.get();
  while (const ArchiveState* before = state->before(index)) {
    if (state->came_from->stage) {
      newest_first.push_back({*state->came_from->stage, state->entries[index].name()});
    }
    index = state->came_from->index_of(index);
    state = before;
  }
  const bool is_in_file = state->came_from == nullptr;
  newest_first.push_back(
      {is_in_file ? NameStage::file : NameStage::made, state->entries[index].name()});
  return {newest_first.rbegin(), newest_first.rend()};
}

std::string_view Archive::name_in_file(std::size_t index) const {
  const ArchiveState* state = state_.get();
  while (const ArchiveState* before = state->before(index)) {
    index = state->came_from->index_of(index);
    state = before;
  }
  return state->entries[index].name();
}

Archive Archive::in_file() const {
  std::shared_ptr<ArchiveState> state = state_;
  while (state->came_from != nullptr) state = state->came_from->before;
  return Archive(std::move(state));
}

std::optional<std::size_t> Archive::index_in_file(std::size_t index) const {
  const ArchiveState* state = state_.get();
  while (const ArchiveState* before = state->before(index)) {
    index = state->came_from->index_of(index);
    state = before;
  }
  if (state->came_from != nullptr) return std::nullopt;
  return index;
}

std::optional<Archive> Archive::before(NameStage stage) const {
  const NameOrigin* origin = state_->came_from.get();
  while (origin != nullptr && origin->stage != stage) origin = origin->before->came_from.get();
  if (origin == nullptr) return std::nullopt;
  return Archive(origin->before);
}

Result<Archive> Archive::with_ties_as_copies() const ANDIRON_NO_THROW {
  std::vector<TensorSnapshot> copies;
  for (const auto& [alias, kept] : state_->aliases) {
    ANDIRON_ASSIGN(TensorSnapshot copy, get(alias));
    copies.push_back(std::move(copy));
  }
  Archive untied = *this;
  untied.set_aliases({});
  for (TensorSnapshot& copy : copies) ANDIRON_TRY(untied.add(std::move(copy)));
  return untied;
}
ANDIRON_OR_OUT_OF_MEMORY

std::vector<std::size_t> Archive::natural_order() const {
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  detail::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return natural_less(state_->entries[a].name(), state_->entries[b].name());
  });
  return order;
}

}  // namespace andiron::inline v1
