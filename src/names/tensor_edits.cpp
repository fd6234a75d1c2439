// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/names/tensor_edits_test.cpp
#include <algorithm>
#include <cstddef>
#include <cstdint>
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

using detail::in_quotes;

std::string_view verb_of(TensorEdit::Kind kind) {
  switch (kind) {
    case TensorEdit::Kind::split:
      return "split";
    case TensorEdit::Kind::join:
      return "join";
    case TensorEdit::Kind::transpose:
      break;
  }
  return "transpose";
}

// The tensors that an edit takes out of an archive, and those that it puts in.
class Editor {
 public:
  Editor(const Archive& archive, const TensorEdit& edit, const Pattern& pattern)
      : archive_(archive), edit_(edit), pattern_(pattern), is_taken_(archive.size()) {}

  Status take(std::size_t index) {
    if (is_taken_[index] || !pattern_.matches(archive_.info(index).name)) return {};
    has_matched_ = true;
    switch (edit_.kind) {
      case TensorEdit::Kind::split:
        return split(index);
      case TensorEdit::Kind::join:
        return join(index);
      case TensorEdit::Kind::transpose:
        break;
    }
    return transpose(index);
  }

  Result<Archive> finish() {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < archive_.size(); ++i) {
      if (!is_taken_[i]) kept.push_back(i);
    }
    Archive edited = archive_;
    if (kept.size() != archive_.size()) {
      ANDIRON_ASSIGN(edited, archive_.select(kept));
    }
    for (TensorSnapshot& tensor : made_) {
      if (edited.find(tensor.full_path())) {
        return Error{.code = ErrorCode::name_collision,
                     .message = "two tensors get one name when tensors are edited",
                     .tensor = tensor.full_path(),
                     .found = "a second tensor for it, by " + in_quotes(edit_.pattern),
                     .hint = "give it another name"};
      }
      ANDIRON_TRY(edited.add(std::move(tensor)));
    }
    if (!has_matched_) {
      edited.add_note("no name matches " + in_quotes(edit_.pattern) + ": nothing to " +
                      std::string(verb_of(edit_.kind)));
    }
    if (!lacks_.empty()) {
      edited.add_note("not joined, for lack of another tensor: " + quoted_names(lacks_));
    }
    return edited;
  }

 private:
  static std::string quoted_names(const std::vector<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    return detail::list_in_quotes(views);
  }

  std::string renamed(std::size_t index, std::string_view replacement) const {
    return pattern_.replace_all(archive_.info(index).name, replacement);
  }

  Error cannot(std::size_t index, std::string expected) const {
    const TensorSnapshot tensor = archive_.snapshot(index);
    return Error{.code = ErrorCode::shape_mismatch,
                 .message = "cannot " + std::string(verb_of(edit_.kind)) + " a tensor",
                 .tensor = std::string(archive_.info(index).name),
                 .found = tensor.shape().to_string(),
                 .expected = std::move(expected)};
  }

  Error about(std::size_t index, Error error) const {
    error.tensor = std::string(archive_.info(index).name);
    return error;
  }

  Status split(std::size_t index) {
    const TensorSnapshot whole = archive_.snapshot(index);
    if (edit_.names.empty()) return {};
    std::vector<std::uint64_t> shares = edit_.shares;
    if (shares.empty()) shares.assign(edit_.names.size(), 1);
    if (edit_.dim >= whole.shape().rank()) {
      return cannot(index, "a dimension " + std::to_string(edit_.dim));
    }
    const std::uint64_t size = whole.shape()[edit_.dim];
    std::uint64_t sum = 0;
    for (const std::uint64_t share : shares) {
      if (size != 0 && share > size - std::min(sum, size)) return cannot(index, too_many_parts());
      sum += std::min(share, ~std::uint64_t{0} - sum);
    }
    if (shares.size() != edit_.names.size() || sum == 0 || size % sum != 0) {
      return cannot(index, too_many_parts());
    }
    const std::uint64_t unit = size / sum;
    std::uint64_t begin = 0;
    for (std::size_t part = 0; part < shares.size(); ++part) {
      const std::uint64_t end = begin + shares[part] * unit;
      Result<TensorSnapshot> cut =
          whole.slice(edit_.dim, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
      if (!cut) return about(index, std::move(cut).error());
      made_.push_back((*std::move(cut)).with_path(renamed(index, edit_.names[part])));
      begin = end;
    }
    is_taken_[index] = true;
    return {};
  }
  std::string too_many_parts() const {
    std::string text = "a dimension " + std::to_string(edit_.dim) + " that can be cut into " +
                       std::to_string(edit_.names.size()) + " parts";
    if (!edit_.shares.empty()) text += " in proportion to the shares";
    return text;
  }

  Status join(std::size_t index) {
    if (edit_.names.empty()) return {};
    std::vector<std::size_t> indices = {index};
    for (std::size_t i = 0; i + 1 < edit_.names.size(); ++i) {
      const std::optional<std::size_t> other = archive_.find(renamed(index, edit_.names[i]));
      if (!other || is_taken_[*other] || *other == index) {
        lacks_.emplace_back(archive_.info(index).name);
        return {};
      }
      indices.push_back(*other);
    }
    std::vector<TensorSnapshot> parts;
    parts.reserve(indices.size());
    for (const std::size_t one : indices) parts.push_back(archive_.snapshot(one));
    Result<TensorSnapshot> whole = TensorSnapshot::concat(parts, edit_.dim);
    if (!whole) return about(index, std::move(whole).error());
    made_.push_back((*std::move(whole)).with_path(renamed(index, edit_.names.back())));
    for (const std::size_t one : indices) is_taken_[one] = true;
    return {};
  }

  Status transpose(std::size_t index) {
    const TensorSnapshot tensor = archive_.snapshot(index);
    if (tensor.shape().rank() != 2) return {};
    ANDIRON_ASSIGN(TensorSnapshot turned, tensor.permute({1, 0}));
    made_.push_back(std::move(turned).with_path(std::string(archive_.info(index).name)));
    is_taken_[index] = true;
    return {};
  }

  const Archive& archive_;
  const TensorEdit& edit_;
  const Pattern& pattern_;
  std::vector<bool> is_taken_;
  std::vector<TensorSnapshot> made_;
  std::vector<std::string> lacks_;
  bool has_matched_ = false;
};

}  // namespace

TensorEdit TensorEdit::split(std::string pattern, std::vector<std::string> parts, std::size_t dim,
                             std::vector<std::uint64_t> shares) {
  return {Kind::split, std::move(pattern), std::move(parts), dim, std::move(shares)};
}

TensorEdit TensorEdit::join(std::string pattern, std::vector<std::string> others, std::string whole,
                            std::size_t dim) {
  others.push_back(std::move(whole));
  return {Kind::join, std::move(pattern), std::move(others), dim, {}};
}

TensorEdit TensorEdit::transpose(std::string pattern) {
  return {Kind::transpose, std::move(pattern), {}, 0, {}};
}

Status TensorEdit::status() const ANDIRON_NO_THROW {
  ANDIRON_TRY(Pattern::regex(pattern));
  const std::size_t least = kind == Kind::transpose ? 0 : 2;
  if (names.size() >= least && (shares.empty() || shares.size() == names.size())) return {};
  return Error{.code = ErrorCode::invalid_argument,
               .message = "cannot " + std::string(verb_of(kind)) + " tensors so",
               .found = detail::count_of(names.size(), "name") + ", " +
                        detail::count_of(shares.size(), "share"),
               .expected = "two names or more, and a share for each or for none"};
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Archive> edit_tensors(const Archive& archive, const std::vector<TensorEdit>& edits)
    ANDIRON_NO_THROW {
  if (edits.empty()) return archive;
  for (const TensorEdit& edit : edits) ANDIRON_TRY(edit.status());
  ANDIRON_ASSIGN(Archive edited, archive.with_ties_as_copies());
  for (const TensorEdit& edit : edits) {
    ANDIRON_ASSIGN(const Pattern pattern, Pattern::regex(edit.pattern));
    Editor editor(edited, edit, pattern);
    for (std::size_t i = 0; i < edited.size(); ++i) ANDIRON_TRY(editor.take(i));
    ANDIRON_ASSIGN(edited, editor.finish());
  }
  return edited;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
