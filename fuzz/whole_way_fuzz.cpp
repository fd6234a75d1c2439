// SPDX-License-Identifier: MIT OR Apache-2.0
// The whole way of a file, as a user would go it: opened in any format, listed, printed, read,
// written in every format, read back and loaded into a module, under the default limits. The first
// two bytes choose options; the rest is the file.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/open.h"
#include "andiron/text.h"
#include "andiron/value.h"
#include "andiron/write.h"
#include "fuzz/archive_property.h"
#include "fuzz/memory_property.h"
#include "tests/support/module_fingerprint.h"

using namespace andiron;
using namespace andiron::fuzz;
using test::fingerprint;

namespace {

// Beyond these an input only takes time: many names that do not fit make for many proposals.
constexpr std::uint64_t max_bytes_written = std::uint64_t{4} << 20;
constexpr std::size_t max_tensors_loaded = 24;

struct Choices {
  OpenOptions open;
  ApplyOptions apply;
  BurnpackGeneration release = BurnpackGeneration::burn_0_22;
  RecordPrecision precision = RecordPrecision::full;
  bool from_copies = false;

  Choices(std::uint8_t first, std::uint8_t second) {
    constexpr std::array strictness = {Strictness::standard, Strictness::lenient,
                                       Strictness::strict, Strictness::standard};
    open.strictness = strictness[first & 3];
    open.verify = (first & 4) != 0;
    from_copies = (first & 8) != 0;
    if ((first & 16) != 0) open.settings = PytorchSettings{.numpy_arrays = true};
    // Recognized by content, more often than not.
    const std::size_t format = first >> 5;
    if (format < formats().size()) open.format = formats()[format].format;
    apply.allow_partial = (second & 1) != 0;
    apply.validate = (second & 2) == 0;
    apply.skip_enum_variants = (second & 4) != 0;
    if ((second & 8) != 0) apply.adapter = PyTorchToBurnAdapter();
    constexpr std::array releases = {BurnpackGeneration::burn_0_22, BurnpackGeneration::burn_0_19,
                                     BurnpackGeneration::burn_0_20, BurnpackGeneration::burn_0_21};
    release = releases[second >> 4 & 3];
    precision = static_cast<RecordPrecision>((second >> 6) % 3);
  }

  FormatSettings settings_for(Format format) const {
    if (format == Format::burnpack) return BurnpackSettings{release};
    if (format == Format::mpk) return MpkSettings{precision};
    return {};
  }
};

void hold_printable(std::string_view shown) {
  ANDIRON_HOLDS(std::none_of(shown.begin(), shown.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
  }));
}

// A name as JSON parses back to itself, unless it was not UTF-8.
void hold_name(std::string_view name) {
  hold_printable(display_text(name));
  std::string json;
  append_json_string(json, name);
  hold_printable(json);
  const Value parsed = must(parse_json(json));
  const std::string& again = *parsed.get<std::string>();
  ANDIRON_HOLDS(again == name || again.find("\xef\xbf\xbd") != std::string::npos);
}

void list_everything(const Archive& archive) {
  for (std::size_t i = 0; i < archive.size(); ++i) {
    check_info(archive, i);
    hold_name(archive.info(i).name);
    ANDIRON_HOLDS(archive.name_in_file(i) == archive.info(i).name);
  }
  ANDIRON_HOLDS(archive.natural_order().size() == archive.size());
  ANDIRON_HOLDS(archive.ties().size() == archive.size());
  for (const Message& note : archive.notes()) hold_printable(display_line(note));
  for (const Skipped& skipped : archive.skipped()) {
    hold_name(skipped.name);
    hold_printable(display_line(skipped.reason));
  }
  for (const auto& [key, value] : archive.metadata()) {
    hold_name(key);
    hold_name(value);
  }
  for (const auto& [alias, kept] : archive.aliases()) ANDIRON_HOLDS(archive.find(kept).has_value());
  if (const Result<Value> tree = archive.value()) hold_printable(to_json(*tree));
}

// Whether all tensors can be read, and are few and small enough to go on with.
bool read_everything(const Archive& archive) {
  std::uint64_t total = 0;
  bool is_readable = true;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    if (info.byte_size > max_bytes_read || (total += info.byte_size) > max_bytes_written) {
      return false;
    }
    const Result<Tensor> tensor = archive.snapshot(i).read();
    if (tensor) {
      ANDIRON_HOLDS(tensor->byte_size() == info.byte_size);
    } else {
      ANDIRON_HOLDS(tensor.error().tensor == info.name);
      is_readable = false;
    }
  }
  return is_readable;
}

void compare_written(const Archive& before, const Archive& after) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    const TensorInfo info = before.info(i);
    // A single array has no name.
    const auto at =
        after.packaging() == "npy" ? std::optional<std::size_t>(0) : after.find(info.name);
    ANDIRON_HOLDS(at.has_value());
    ANDIRON_HOLDS(same_shape(info.shape, after.info(*at).shape));
    const DType stored = after.info(*at).dtype;
    const TensorSnapshot tensor = before.snapshot(i);
    ANDIRON_HOLDS(
        same_data(info.dtype == stored ? tensor : must(tensor.cast(stored)), after.snapshot(*at)));
  }
}

void write_everything(const Archive& archive, const Choices& choices) {
  for (const FormatInfo& format : formats()) {
    if (!format.is_written) continue;
    const Result<Bytes> written = write_to_memory(
        archive, {.format = format.format, .settings = choices.settings_for(format.format)});
    if (!written) {
      ANDIRON_HOLDS(!written.error().message.empty());
      continue;
    }
    // What Burn 0.19 pads with may look cut off: tested by burnpack_fuzz.
    Result<Archive> again = open(*written, {.format = format.format});
    if (!again && choices.release == BurnpackGeneration::burn_0_19) continue;
    compare_written(archive, must(std::move(again)));
  }
}

struct Block {
  nn::Linear fc = nn::LinearConfig(2, 3).init();
  nn::LayerNorm norm = nn::LayerNormConfig(3).init();
  ANDIRON_MODULE(Block, fc, norm)
};

struct Net {
  std::vector<Block> layers = std::vector<Block>(2);
  std::variant<nn::Linear, nn::LayerNorm> choice = nn::LinearConfig(3, 2).init();
  nn::Linear fc = nn::LinearConfig(2, 3).init();
  nn::LayerNorm norm = nn::LayerNormConfig(3).init();
  ANDIRON_MODULE(Net, layers, choice, fc, norm)
};

void load_into_module(const Archive& archive, const ApplyOptions& options) {
  static const Net fresh;
  Net net = fresh;
  const Result<ApplyResult> result = apply(net, archive, options);
  if (result) {
    ANDIRON_HOLDS(!result->to_string().empty());
    return;
  }
  ANDIRON_HOLDS(!result.error().to_string().empty());
  ANDIRON_HOLDS(fingerprint(net) == fingerprint(fresh));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Choices choices(data[0], data[1]);
  const auto file = std::as_bytes(std::span(data + 2, size - 2));
  ByteSourcePtr source = memory_source(Bytes::borrow(file));
  if (choices.from_copies) source = std::make_shared<CopyingSource>(file);

  const HeldMemory memory;
  const Result<Archive> archive = open(source, choices.open);
  if (archive) {
    list_everything(*archive);
  } else {
    hold_printable(archive.error().to_string());
  }
  ANDIRON_HOLDS(memory.most() <= most_held_for(file.size()));
  if (!archive) return 0;
  if (!read_everything(*archive)) return 0;
  write_everything(*archive, choices);
  if (archive->size() <= max_tensors_loaded) load_into_module(*archive, choices.apply);
  return 0;
}
