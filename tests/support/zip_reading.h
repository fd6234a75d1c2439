// SPDX-License-Identifier: MIT OR Apache-2.0
// What is read in zip archives, or why it is not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/codec/zip/reader.h"
#include "tests/support/zip_writing.h"

namespace andiron::test {

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};

inline detail::ZipReaderPtr open_zip(std::string_view file, const Limits& limits = {}) {
  return detail::ZipReader::open(source_of(file), limits).value();
}

inline std::string content(const detail::ZipReaderPtr& zip, std::string_view name) {
  const auto entry = zip->find(name);
  if (!entry) return "no such entry";
  const Result<Bytes> bytes = zip->read(*entry, no_limit);
  return bytes ? std::string(bytes->text()) : bytes.error().to_string();
}

/// The first bytes of an entry.
inline Result<std::string> head_of(const detail::ZipReaderPtr& zip, std::uint32_t entry,
                                   std::size_t count) {
  detail::MemoryBudget budget(zip->source()->size(), {}, "");
  detail::ZipHeadMemory memory(budget);
  const auto head = zip->read_head(entry, count, memory);
  if (!head) return head.error();
  return std::string(reinterpret_cast<const char*>(head->data()), head->size());
}

inline std::string read_range(const ByteSource& source, std::uint64_t offset, std::size_t count) {
  std::string text(count, '\0');
  const Status status = source.read_at(offset, std::as_writable_bytes(std::span(text)));
  return status ? text : status.error().to_string();
}

}  // namespace andiron::test
