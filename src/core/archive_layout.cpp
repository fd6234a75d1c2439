// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/archive_layout_test.cpp
#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "src/core/archive_state.h"

namespace andiron::inline v1 {
namespace {

constexpr std::string_view format_key = "format";
constexpr std::string_view pytorch_mark = "pt";

std::string_view entry_of(const Metadata& metadata, std::string_view key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string_view() : found->second;
}

}  // namespace

std::string_view layout_name(Layout layout) noexcept {
  return layout == Layout::pytorch ? "pytorch" : "burn";
}

std::optional<KnownLayout> layout_of(const Archive& archive) {
  const detail::ArchiveState& state = *archive.state_;
  if (state.marked_layout) {
    return KnownLayout{*state.marked_layout, "the tensors are marked as having this layout"};
  }
  if (state.is_pickled || state.format == "pytorch") {
    return KnownLayout{Layout::pytorch, "this is a PyTorch file"};
  }
  if (entry_of(state.metadata, format_key) == pytorch_mark) {
    return KnownLayout{Layout::pytorch, "the metadata says that PyTorch wrote this file"};
  }
  const std::string_view producer = entry_of(state.metadata, "producer");
  for (const std::string_view writer : {"andiron", "burn", "burn-import", "burn-onnx"}) {
    if (producer != writer) continue;
    return KnownLayout{Layout::burn,
                       "the metadata says that " + std::string(writer) + " wrote this file"};
  }
  for (const std::string_view record : {"mpk", "bincode"}) {
    if (state.format != record) continue;
    return KnownLayout{Layout::burn, "this is a " + std::string(record) + " file"};
  }
  return std::nullopt;
}

void mark_layout(Archive& archive, Layout layout) {
  detail::ArchiveState& state = archive.change();
  state.marked_layout = layout;
  const auto mark = state.metadata.find(format_key);
  if (layout == Layout::pytorch) {
    state.metadata.insert_or_assign(std::string(format_key), std::string(pytorch_mark));
  } else if (mark != state.metadata.end() && mark->second == pytorch_mark) {
    state.metadata.erase(mark);
  }
}

}  // namespace andiron::inline v1
