// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/names/put_back_test.cpp
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/names.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

using detail::count_of;
using detail::in_quotes;

std::optional<std::size_t> place_in_file(const Archive& named, std::string_view name) {
  const std::optional<std::size_t> found = named.find(name);
  return found ? named.index_in_file(*found) : std::nullopt;
}

Result<bool> are_equal(const TensorSnapshot& a, const TensorSnapshot& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  ANDIRON_ASSIGN(const Tensor first, a.borrow());
  ANDIRON_ASSIGN(const Tensor second, b.borrow());
  const std::span<const std::byte> of_a = first.bytes().span();
  const std::span<const std::byte> of_b = second.bytes().span();
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
}

Error no_longer_tied(const Archive& named, std::string_view first, std::string_view second) {
  return Error{.code = ErrorCode::invalid_argument,
               .message = "two parameters are one tensor in the file, but differ now",
               .file = named.origin(),
               .tensor = std::string(second),
               .found = "other data than " + in_quotes(first),
               .hint = "tie() them, or save a file of its own"};
}

Error has_no_place(const Archive& named, const std::vector<std::string_view>& names) {
  return Error{.code = ErrorCode::missing_tensor,
               .message = "the file has no tensor for " + count_of(names.size(), "parameter"),
               .file = named.origin(),
               .found = detail::list_in_quotes(names),
               .hint = "leave them out with a filter, or save a file of its own"};
}

// Tensors that are the same bytes in the file stay equal: those without a new tensor get that of
// the one they are tied to.
Status keep_ties(const Archive& tensors, const Archive& named,
                 const std::vector<std::optional<std::size_t>>& now, Archive& file) {
  const std::vector<std::optional<std::size_t>> first_of = named.in_file().ties();
  std::map<std::size_t, std::vector<std::size_t>> groups;  // by the first of each
  for (std::size_t i = 0; i < first_of.size(); ++i) {
    if (first_of[i]) groups[*first_of[i]].push_back(i);
  }
  for (auto& [first, group] : groups) {
    group.insert(group.begin(), first);
    const auto changed =
        std::find_if(group.begin(), group.end(), [&](std::size_t i) { return now[i].has_value(); });
    if (changed == group.end()) continue;
    const TensorSnapshot tensor = file.snapshot(*changed);
    for (const std::size_t i : group) {
      if (i == *changed) continue;
      if (!now[i]) {
        ANDIRON_TRY(file.replace(i, tensor.with_param_id(file.info(i).param_id)));
        continue;
      }
      ANDIRON_ASSIGN(const bool is_tied, are_equal(tensor, file.snapshot(i)));
      if (!is_tied) {
        return no_longer_tied(named, tensors.info(*now[*changed]).name, tensors.info(*now[i]).name);
      }
    }
  }
  return {};
}

// Tells of tensors for which `text` differs before and after.
template <class Text>
void note_changes(const Archive& before, Archive& file, std::string_view what, const Text& text) {
  std::size_t changed = 0;
  std::string example;
  for (std::size_t i = 0; i < file.size(); ++i) {
    const std::string now = text(file.info(i));
    const std::string was = text(before.info(i));
    if (now == was || changed++ != 0) continue;
    example = in_quotes(file.info(i).name) + ", " + now + " instead of " + was;
  }
  if (changed == 0) return;
  file.add_note(count_of(changed, "tensor") + (changed == 1 ? " has" : " have") + " another " +
                std::string(what) + " than in the file: " + example + (changed > 1 ? " ..." : ""));
}

void note_skipped(Archive& file) {
  if (file.skipped().empty()) return;
  const Skipped& first = file.skipped().front();
  file.add_note((file.skipped().size() == 1 ? "1 entry"
                                            : std::to_string(file.skipped().size()) + " entries") +
                " of the file could not be read and " +
                (file.skipped().size() == 1 ? "is" : "are") +
                " not carried over: " + in_quotes(first.name) + ": " + first.reason);
}

}  // namespace

Result<Archive> put_back(const Archive& tensors, const Archive& named,
                         const PutBackOptions& options) ANDIRON_NO_THROW {
  const Archive before = named.in_file();
  Archive file = before;
  std::vector<std::optional<std::size_t>> now(file.size());  // which of `tensors` is there
  std::vector<std::string_view> homeless;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string_view name = tensors.info(i).name;
    const std::optional<std::size_t> place = place_in_file(named, name);
    if (!place) {
      homeless.push_back(name);
      continue;
    }
    TensorSnapshot tensor = tensors.snapshot(i);
    if (now[*place]) {
      ANDIRON_ASSIGN(const bool is_tied, are_equal(tensors.snapshot(*now[*place]), tensor));
      if (!is_tied) return no_longer_tied(named, tensors.info(*now[*place]).name, name);
      continue;
    }
    now[*place] = i;
    const TensorInfo old = before.info(*place);
    if (options.keep_dtypes && tensor.dtype() != old.dtype) {
      ANDIRON_ASSIGN(tensor, tensor.cast(old.dtype));
    }
    ANDIRON_TRY(file.replace(*place, std::move(tensor).with_param_id(old.param_id)));
  }
  if (!homeless.empty()) return has_no_place(named, homeless);
  ANDIRON_TRY(keep_ties(tensors, named, now, file));
  note_changes(before, file, "shape",
               [](const TensorInfo& info) { return Shape(info.shape).to_string(); });
  note_changes(before, file, "dtype",
               [](const TensorInfo& info) { return std::string(dtype_name(info.dtype)); });
  note_skipped(file);
  return file;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
