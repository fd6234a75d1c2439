// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_pickle_walk_test.cpp
#include "src/format/pytorch/pickle_document.h"

#include <algorithm>
#include <iterator>

#include "src/core/check_limit.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// Latin-1 gives each code point below 256 a byte.
Result<Bytes> encode_latin1(std::string_view text, const std::string& file) {
  ANDIRON_ASSIGN(Bytes encoded, Bytes::allocate(text.size()));
  std::byte* out = encoded.writable().data();
  const char* const end = text.data() + text.size();
  std::size_t count = 0;
  for (const char* at = text.data(); at != end;) {
    const CodePoint point = decode_utf8(at, end);
    if (point.length == 0 || point.value > 0xff) {
      return Error{.code = ErrorCode::bad_pickle,
                   .message = "text that stands for bytes has a character above 255",
                   .file = file};
    }
    out[count++] = static_cast<std::byte>(point.value);
    at += point.length;
  }
  return encoded.slice(0, count);
}

}  // namespace

Error PickleDocument::bad(std::string message, std::string found) const {
  return Error{.code = ErrorCode::bad_pickle,
               .message = std::move(message),
               .file = source_->name(),
               .found = std::move(found)};
}

std::optional<PickleValue> PickleDocument::state(PickleValue object) const {
  std::optional<PickleValue> last;
  if (graph_.is_as_made(object)) return last;
  for (const PickleValue state : graph_.states(object)) last = state;
  return last;
}

std::optional<std::span<const PickleValue>> PickleDocument::tuple(PickleValue value) const {
  if (callable_of(value) == Callable::sequence_class && args(value).size() == 1) {
    value = args(value)[0];
  }
  if (value.kind == PickleKind::tuple) return graph_.tuple(value);
  if (value.kind != PickleKind::list) return std::nullopt;
  // Appended in one go, a list lies in one run.
  return graph_.items(value).only_run();
}

std::optional<double> PickleDocument::real(PickleValue value) const {
  if (value.kind == PickleKind::real) return graph_.real(value);
  const std::optional<std::int64_t> number = integer(value);
  if (!number) return std::nullopt;
  return static_cast<double>(*number);
}

bool PickleDocument::is_dict(PickleValue value) const {
  return value.kind == PickleKind::dict || callable_of(value) == Callable::dict_class ||
         (value.kind == PickleKind::object && !graph_.pairs(value).empty());
}

const PickleDocument::SortedPairs& PickleDocument::sorted_pairs(PickleValue dict) const {
  const auto [known, is_new] = sorted_.try_emplace(graph_.container_number(dict));
  SortedPairs& sorted = known->second;
  if (!is_new) return sorted;
  const PickleItems pairs = graph_.pairs(dict);
  for (auto at = pairs.begin(); at != pairs.end(); ++at) {
    const auto name = text(*at++);
    if (name) sorted.emplace_back(*name, *at);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return sorted;
}

std::optional<PickleValue> PickleDocument::entry(PickleValue dict, std::string_view key) const {
  if (dict.kind != PickleKind::dict && dict.kind != PickleKind::object) return std::nullopt;
  constexpr std::uint32_t quickly_searched = 128;
  const PickleItems pairs = graph_.pairs(dict);
  if (pairs.size() > quickly_searched) {
    const SortedPairs& sorted = sorted_pairs(dict);
    const auto behind = std::upper_bound(
        sorted.begin(), sorted.end(), key,
        [](std::string_view wanted, const auto& pair) { return wanted < pair.first; });
    const bool is_there = behind != sorted.begin() && std::prev(behind)->first == key;
    return is_there ? std::optional(std::prev(behind)->second) : std::nullopt;
  }
  std::optional<PickleValue> found;
  for (auto at = pairs.begin(); at != pairs.end(); ++at) {
    const PickleValue name = *at++;
    if (text(name) == key) found = *at;
  }
  return found;
}

Result<Bytes> PickleDocument::read_blob(const PickleBlob& blob, const Limits& limits) const {
  if (blob.data != nullptr || blob.size == 0) {
    return Bytes::copy(std::as_bytes(std::span(blob.view())));
  }
  ANDIRON_TRY(check_limit(
      blob.size, limits.inflated_bytes,
      {"bytes in a pickle are too long", &Limits::inflated_bytes, "bytes", source_->name()}));
  ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(blob.size));
  ANDIRON_TRY(source_->read_at(blob.offset, bytes.writable()));
  return bytes;
}

Result<std::optional<Storage>> PickleDocument::bytes(PickleValue value,
                                                     const Limits& limits) const {
  const auto of_memory = [&](Bytes memory) {
    const std::uint64_t size = memory.size();
    return Storage{memory_source(std::move(memory), source_->name()), 0, size, &byte_elements()};
  };
  if (value.kind == PickleKind::bytes || value.kind == PickleKind::old_text) {
    const PickleBlob& blob = graph_.blob(value);
    if (blob.offset != PickleBlob::decoded) {
      return Storage{source_, blob.offset, blob.size, &byte_elements(), file_};
    }
    const auto known = decoded_.find(value.index);
    if (known != decoded_.end()) return known->second;
    ANDIRON_ASSIGN(Bytes memory, read_blob(blob, limits));
    return decoded_.emplace(std::uint32_t{value.index}, of_memory(std::move(memory))).first->second;
  }
  const Callable callable = callable_of(value);
  if (callable != Callable::encode && callable != Callable::bytes_class) {
    return std::optional<Storage>();
  }
  const std::span<const PickleValue> arguments = args(value);
  if (arguments.empty()) return of_memory(Bytes());
  // bytearray(bytes): one more call around the bytes, and never two.
  const PickleValue content = arguments[0];
  if (callable == Callable::bytes_class && content.kind == PickleKind::object) {
    if (callable_of(content) != Callable::encode) return std::optional<Storage>();
    return bytes(content, limits);
  }
  if (content.kind == PickleKind::bytes || content.kind == PickleKind::old_text) {
    return bytes(content, limits);
  }
  const auto codec = arguments.size() > 1 ? text(arguments[1]) : std::nullopt;
  if (content.kind != PickleKind::text || (codec != "latin1" && codec != "latin-1")) {
    return std::optional<Storage>();
  }
  const auto known = decoded_.find(content.index);
  if (known != decoded_.end()) return known->second;
  ANDIRON_ASSIGN(const Bytes spelled, read_blob(graph_.blob(content), limits));
  ANDIRON_ASSIGN(Bytes encoded, encode_latin1(spelled.text(), source_->name()));
  return decoded_.emplace(content.index, of_memory(std::move(encoded))).first->second;
}

}  // namespace andiron::inline v1::detail
