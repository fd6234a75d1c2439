// SPDX-License-Identifier: MIT OR Apache-2.0
// Headers and trailers of gzip as zlib reads them.
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>

#include "src/codec/gzip.h"
#include "tests/codec/deflate_samples.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/gzip_writing.h"

namespace andiron::detail {
namespace {

// What comes of one member.
std::string zlib_on_gzip(std::string_view file) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = ::inflate(&stream, Z_NO_FLUSH);
  out.resize(stream.total_out);
  const bool is_all = stream.avail_in == 0;
  inflateEnd(&stream);
  if (code == Z_STREAM_END) return is_all ? out : "BadHeader";
  return code == Z_DATA_ERROR ? "BadHeader" : "Truncated";
}

TEST(GzipAndZlib, SeeEveryFlippedBitAlike) {
  const std::string file =
      test::GzipMember{.extra = "extra", .name = "name", .has_crc = true}.file();
  test::for_each_flipped_bit(file, [](const std::string& damaged, std::size_t bit) {
    const Result<Bytes> ours = inflate_gzip(*memory_source(test::bytes_of_text(damaged)), {});
    ASSERT_EQ(ours ? std::string(ours->text()) : std::string(code_name(ours.error().code)),
              zlib_on_gzip(damaged))
        << bit;
  });
}

}  // namespace
}  // namespace andiron::detail
