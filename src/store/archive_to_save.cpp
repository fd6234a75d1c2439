// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/store_test.cpp
#include "src/store/archive_to_save.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "andiron/display_text.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

bool is_same_memory(const TensorSnapshot& a, const TensorSnapshot& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (!a.is_in_memory() || !b.is_in_memory()) return false;
  const Result<Tensor> first = a.borrow();
  const Result<Tensor> second = b.borrow();
  return first && second && first->bytes().data() == second->bytes().data();
}

// Adapters carry ids along. While they run, the id of a tensor is the number of its parameter: a
// copy of a parameter has the same id, but is another one.
class ParamNumbers {
 public:
  ParamNumbers(const std::vector<Slot>& slots, Snapshots& tensors) {
    std::unordered_map<std::string_view, const Slot*> slot_at;
    for (const Slot& slot : slots) slot_at.emplace(slot.path, &slot);
    std::unordered_map<const void*, std::uint64_t> numbers;
    for (TensorSnapshot& tensor : tensors) {
      if (!tensor.param_id()) continue;
      const Slot& slot = *slot_at.at(tensor.full_path());
      const auto [number, is_new] = numbers.try_emplace(slot.ops->identity(slot.leaf), ids_.size());
      if (is_new) ids_.push_back(*tensor.param_id());
      tensor = tensor.with_param_id(ParamId{number->second});
    }
  }
  // Nothing for a number that an adapter made up.
  std::optional<ParamId> id_of(ParamId number) const {
    if (number.value >= ids_.size()) return std::nullopt;
    return ids_[static_cast<std::size_t>(number.value)];
  }

 private:
  std::vector<ParamId> ids_;
};

class Builder {
 public:
  Builder(const StoreSettings& settings, const ParamNumbers& numbers)
      : settings_(settings), numbers_(numbers) {}

  Status add(const TensorSnapshot& tensor) {
    const std::string name = settings_.remapper.remap(tensor.full_path());
    if (name.empty() && !tensor.full_path().empty()) {
      return Error{.code = ErrorCode::invalid_argument,
                   .message = "the remapping leaves nothing of this name",
                   .tensor = tensor.full_path(),
                   .hint = "look at the replacements: a group that does not exist is empty"};
    }
    const auto [taken, is_new] = paths_.try_emplace(name, tensor.full_path());
    if (!is_new) {
      return Error{.code = ErrorCode::name_collision,
                   .message = "two tensors would get this name",
                   .tensor = name,
                   .found = "'" + display_text(taken->second) + "' and '" +
                            display_text(tensor.full_path()) + "'",
                   .hint = "remap one of them to another name, or filter one out"};
    }
    TensorSnapshot named = tensor.with_path(name);
    const std::optional<ParamId> number = tensor.param_id();
    if (!number) return archive_.add(std::move(named));
    named = named.with_param_id(numbers_.id_of(*number));
    if (settings_.write_ties_once) {
      const auto [first, is_first] = first_of_tie_.try_emplace(number->value, named);
      if (!is_first && is_same_memory(first->second, named)) return add_alias(name, first->second);
    }
    return archive_.add(std::move(named));
  }

  Archive finish() && {
    archive_.set_metadata(settings_.metadata);
    if (!aliases_.empty()) archive_.set_aliases(std::move(aliases_));
    return std::move(archive_);
  }

 private:
  Status add_alias(const std::string& name, const TensorSnapshot& first) {
    if (settings_.metadata.contains(name)) {
      return Error{.code = ErrorCode::name_collision,
                   .message = "the metadata has an entry of a tied tensor's name",
                   .tensor = name,
                   .hint = "name the entry otherwise, or do not write ties once"};
    }
    aliases_.emplace(name, first.full_path());
    return {};
  }

  const StoreSettings& settings_;
  const ParamNumbers& numbers_;
  Archive archive_;
  Aliases aliases_;
  std::unordered_map<std::string, std::string> paths_;  // in the file to in the module
  std::unordered_map<std::uint64_t, TensorSnapshot> first_of_tie_;
};

}  // namespace

Result<Archive> archive_to_save(const StoreSettings& settings, const std::vector<Slot>& slots) {
  ANDIRON_ASSIGN(Snapshots tensors,
                 collect_slots(slots, {.filter = settings.filter,
                                       .skip_enum_variants = settings.skip_enum_variants}));
  const ParamNumbers numbers(slots, tensors);
  ANDIRON_ASSIGN(tensors, settings.to_adapter->save(std::move(tensors)));
  Builder builder(settings, numbers);
  for (const TensorSnapshot& tensor : tensors) ANDIRON_TRY(builder.add(tensor));
  return std::move(builder).finish();
}

std::vector<std::string> save_notes(const StoreSettings& settings, const std::string& path,
                                    Format format, const std::vector<Slot>& slots,
                                    const Archive& archive) {
  std::vector<std::string> notes = settings.remapper.warnings();
  if (archive.empty() && !slots.empty()) {
    notes.push_back("no parameter passes the filter; they look like '" +
                    display_text(slots.front().path) + "'");
  }
  struct Known {
    std::string_view ending;
    std::optional<Format> format;  // nothing for those that are not written
    const char* name;
  };
  constexpr Known known[] = {
      {file_extension(Format::safetensors), Format::safetensors, "SafeTensors"},
      {file_extension(Format::burnpack), Format::burnpack, "Burnpack"},
      {file_extension(Format::mpk), Format::mpk, "MessagePack"},
      {".pt", {}, ""},
      {".pth", {}, ""},
      {".bin", {}, ""},
      {".ckpt", {}, ""},
  };
  const auto* written = std::find_if(std::begin(known), std::end(known),
                                     [&](const Known& k) { return k.format == format; });
  for (const Known& other : known) {
    if (other.format == format || !path.ends_with(other.ending)) continue;
    notes.push_back(std::string("this is a ") + written->name +
                    " file, although its name ends in " + std::string(other.ending));
  }
  return notes;
}

}  // namespace andiron::inline v1::detail
