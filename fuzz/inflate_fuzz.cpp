// SPDX-License-Identifier: MIT OR Apache-2.0
// Our inflate and zlib's over the same data, which the first two bytes cut into pieces; and our
// deflate, which zlib takes apart again.
#include <span>
#include <string_view>

#include "fuzz/property.h"
#include "src/codec/deflate/portable.h"
#include "tests/support/deflating.h"
#include "tests/support/inflating.h"
#include "tests/support/zlib_peer.h"

using namespace andiron;
using namespace andiron::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t in_piece = data[0] == 0 ? size : data[0];
  const std::size_t out_piece = data[1] == 0 ? std::size_t{64} * 1024 : data[1];
  const std::string_view content = as_text(data + 2, size - 2);

  const auto inflate = detail::portable_inflate_stream();
  const test::Inflation theirs = test::inflated_by_zlib(content);
  ANDIRON_HOLDS(test::inflated_by(*inflate, content, in_piece, out_piece) == theirs);
  inflate->reset();
  ANDIRON_HOLDS(test::inflated_by(*inflate, content, size, std::size_t{64} * 1024) == theirs);

  const auto deflate = detail::portable_deflate_stream();
  const std::string packed = test::deflated_by(*deflate, content, in_piece, out_piece);
  const test::Inflation again = test::inflated_by_zlib(packed);
  ANDIRON_HOLDS(again.state == detail::InflateStream::State::ended && again.text == content &&
                again.taken == packed.size());
  ANDIRON_HOLDS(detail::portable_crc(0, std::as_bytes(std::span(content))) ==
                test::crc_by_zlib(content));
  return 0;
}
