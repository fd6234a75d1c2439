// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/convert/convert_test.cpp
#include "andiron/convert.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/convert/casts.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

using detail::count_of;

// Tensors in the order of their data, so that it is read in one sweep and Burnpack, which keeps the
// order it is given, keeps the layout. Those without a place in a file, as in a compressed record,
// keep their order.
Result<Archive> in_file_order(const Archive& archive) {
  std::vector<std::size_t> order(archive.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_before = [&](std::size_t left, std::size_t right) {
    const TensorInfo a = archive.info(left);
    const TensorInfo b = archive.info(right);
    if (a.file != b.file) return natural_less(a.file, b.file);
    if (!a.offset || !b.offset) return a.offset.has_value() && !b.offset.has_value();
    // An empty tensor starts where the next one does.
    return std::tuple(*a.offset, a.byte_size) < std::tuple(*b.offset, b.byte_size);
  };
  if (std::is_sorted(order.begin(), order.end(), is_before)) return archive;
  std::stable_sort(order.begin(), order.end(), is_before);
  return archive.select(order);
}

std::string written_as_copies(std::size_t count, std::string_view noun) {
  return count_of(count, noun) + " written as " + (count == 1 ? "a copy" : "copies");
}

bool has_layout(const Archive& file, Layout layout) {
  const std::optional<KnownLayout> known = layout_of(file);
  return known && known->layout == layout;
}

Layout other_layout(Layout layout) {
  return layout == Layout::burn ? Layout::pytorch : Layout::burn;
}

// What a file shows of its own layout counts more than that it shall get this one. A Burnpack file
// that shows nothing is more likely to have Burn's.
Status check_layout(const Archive& file, const LayoutChange& change) {
  const bool is_unmarked_burnpack =
      !layout_of(file) && file.format() == format_name(Format::burnpack);
  const bool has_it_already =
      has_layout(file, change.to) || (change.to == Layout::burn && is_unmarked_burnpack);
  if (change.is_forced || !has_it_already) return {};
  return Error{.code = ErrorCode::invalid_argument,
               .message = "the file seems to have this layout already",
               .file = file.origin(),
               .found = std::string(layout_name(change.to)),
               .hint = Message(Advice::force_layout, layout_name(other_layout(change.to)))};
}

Status change_layout(const LayoutChange& change, Conversion& conversion) {
  ANDIRON_TRY(check_layout(conversion.archive, change));
  const std::size_t known = conversion.archive.notes().size();
  ANDIRON_ASSIGN(conversion.archive, change_layout(conversion.archive, change.rules, change.to));
  const std::vector<Message>& notes = conversion.archive.notes();
  conversion.notes.insert(conversion.notes.end(),
                          notes.begin() + static_cast<std::ptrdiff_t>(known), notes.end());
  return {};
}

// What a record says of its recorder. Other formats have no use for it, and records say their own.
void drop_recorder_metadata(Archive& archive) {
  Metadata metadata = archive.metadata();
  for (const char* key : {"float", "int", "format", "version", "settings"}) metadata.erase(key);
  archive.set_metadata(std::move(metadata));
}

// Readers of the new file go by its mark.
void mark_pytorch_layout(const FormatInfo& format, Conversion& conversion) {
  if (!has_layout(conversion.archive, Layout::pytorch)) return;
  if (format.has_metadata) mark_layout(conversion.archive, Layout::pytorch);
  if (format.is_of_burn) {
    conversion.notes.push_back(
        "the tensors keep PyTorch's layouts: load them with PyTorchToBurnAdapter" +
        Message(Advice::change_layout));
  } else if (!format.has_metadata) {
    conversion.notes.push_back(std::string(format.name) +
                               " cannot record that the tensors have PyTorch's layout; load them "
                               "with PyTorchToBurnAdapter");
  }
}

}  // namespace

Result<Conversion> convert(const Archive& file, const ConvertOptions& options) ANDIRON_NO_THROW {
  const FormatInfo& format = format_info(options.format);
  Conversion conversion;
  ANDIRON_ASSIGN(conversion.archive, apply_names(file, options.names));
  if (!options.filter.is_empty()) {
    ANDIRON_ASSIGN(conversion.archive, filter(conversion.archive, options.filter));
  }
  ANDIRON_ASSIGN(conversion.archive, in_file_order(conversion.archive));
  const std::vector<std::optional<std::size_t>> ties = conversion.archive.ties();
  if (options.layout) ANDIRON_TRY(change_layout(*options.layout, conversion));
  const bool is_record = file.format() == format_name(Format::mpk);
  if (is_record && options.format != Format::mpk) drop_recorder_metadata(conversion.archive);
  if (!options.layout) mark_pytorch_layout(format, conversion);
  // Burnpack could keep them, but Burn would miss the tied names.
  if (const std::size_t aliases = conversion.archive.aliases().size();
      aliases != 0 && options.format == Format::burnpack) {
    ANDIRON_ASSIGN(conversion.archive, conversion.archive.with_ties_as_copies());
    conversion.notes.push_back(written_as_copies(aliases, "tied name"));
  }
  const auto copies = static_cast<std::size_t>(
      std::count_if(ties.begin(), ties.end(), [](const auto& tie) { return tie.has_value(); }));
  if (copies != 0) conversion.notes.push_back(written_as_copies(copies, "tied tensor"));
  ANDIRON_TRY(detail::cast_tensors(options.casts, conversion));
  return conversion;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
