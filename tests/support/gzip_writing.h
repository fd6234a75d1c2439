// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "andiron/sink.h"
#include "src/codec/gzip.h"

namespace andiron::test {

inline std::string gzipped(std::string_view content) {
  MemorySink sink;
  const auto gzip = detail::GzipSink::create(sink).value();
  gzip->write(std::as_bytes(std::span(content))).value();
  gzip->finish().value();
  return std::string(sink.take().text());
}

}  // namespace andiron::test
