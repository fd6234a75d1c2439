// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests src/freestanding/msgpack_reader.cpp together with src/codec/msgpack_writer.cpp.
#include "src/freestanding/msgpack_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "src/codec/msgpack_writer.h"
#include "tests/support/written_by.h"

namespace andiron::detail {
namespace {

using namespace std::string_literals;

using test::written_by;

MsgpackItem first_item(std::string_view bytes) {
  MsgpackReader reader(bytes);
  MsgpackItem item;
  EXPECT_TRUE(reader.next(item)) << reader.what();
  return item;
}

TEST(Msgpack, IntegersTakeTheirShortestForm) {
  const std::pair<std::int64_t, std::string> forms[] = {
      {0, "\x00"s},
      {127, "\x7f"s},
      {128, "\xcc\x80"s},
      {255, "\xcc\xff"s},
      {256, "\xcd\x01\x00"s},
      {65536, "\xce\x00\x01\x00\x00"s},
      {std::int64_t{1} << 32, "\xcf\x00\x00\x00\x01\x00\x00\x00\x00"s},
      {-1, "\xff"s},
      {-32, "\xe0"s},
      {-33, "\xd0\xdf"s},
      {-128, "\xd0\x80"s},
      {-129, "\xd1\xff\x7f"s},
      {-32769, "\xd2\xff\xff\x7f\xff"s},
      {std::numeric_limits<std::int64_t>::min(), "\xd3\x80\x00\x00\x00\x00\x00\x00\x00"s},
  };
  for (const auto& [number, bytes] : forms) {
    const std::int64_t integer = number;
    EXPECT_EQ(written_by<MsgpackWriter>([&](MsgpackWriter& out) { out.integer(integer); }), bytes)
        << number;
    const MsgpackItem item = first_item(bytes);
    EXPECT_EQ(item.kind, number < 0 ? MsgpackKind::integer : MsgpackKind::unsigned_integer);
    EXPECT_EQ(item.integer, number < 0 ? number : item.integer);
    if (number >= 0) {
      EXPECT_EQ(item.number, static_cast<std::uint64_t>(number));
    }
  }
  const auto largest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(first_item(written_by<MsgpackWriter>([&](MsgpackWriter& out) {
              out.unsigned_integer(largest);
            })).number,
            largest);
}

TEST(Msgpack, IntegersInLongerFormsAreReadToo) {
  EXPECT_EQ(first_item("\xd1\x00\x05"s).number, 5u);
  EXPECT_EQ(first_item("\xd1\x00\x05"s).kind, MsgpackKind::unsigned_integer);
  EXPECT_EQ(first_item("\xcf\x00\x00\x00\x00\x00\x00\x00\x07"s).number, 7u);
}

TEST(Msgpack, OtherScalarsAreReadAsWritten) {
  EXPECT_EQ(first_item(written_by<MsgpackWriter>([](MsgpackWriter& out) { out.nil(); })).kind,
            MsgpackKind::nil);
  EXPECT_TRUE(
      first_item(written_by<MsgpackWriter>([](MsgpackWriter& out) { out.boolean(true); })).boolean);
  EXPECT_FALSE(first_item(written_by<MsgpackWriter>([](MsgpackWriter& out) {
                 out.boolean(false);
               })).boolean);
  const double number = first_item(written_by<MsgpackWriter>([](MsgpackWriter& out) {
                          out.floating(-0.0);
                        })).floating;
  EXPECT_EQ(number, 0.0);
  EXPECT_TRUE(std::signbit(number));
  EXPECT_EQ(first_item("\xca\x3f\xc0\x00\x00"s).floating, 1.5);
}

TEST(Msgpack, SizesTakeTheirShortestForm) {
  struct Form {
    std::uint64_t size;
    std::string bytes, text, list, map;
  };
  const Form forms[] = {
      {0, "\xc4\x00"s, "\xa0"s, "\x90"s, "\x80"s},
      {15, "\xc4\x0f"s, "\xaf"s, "\x9f"s, "\x8f"s},
      {16, "\xc4\x10"s, "\xb0"s, "\xdc\x00\x10"s, "\xde\x00\x10"s},
      {31, "\xc4\x1f"s, "\xbf"s, "\xdc\x00\x1f"s, "\xde\x00\x1f"s},
      {32, "\xc4\x20"s, "\xd9\x20"s, "\xdc\x00\x20"s, "\xde\x00\x20"s},
      {256, "\xc5\x01\x00"s, "\xda\x01\x00"s, "\xdc\x01\x00"s, "\xde\x01\x00"s},
      {65536, "\xc6\x00\x01\x00\x00"s, "\xdb\x00\x01\x00\x00"s, "\xdd\x00\x01\x00\x00"s,
       "\xdf\x00\x01\x00\x00"s},
  };
  for (const Form& form : forms) {
    const std::string text(static_cast<std::size_t>(form.size), 'x');
    EXPECT_EQ(written_by<MsgpackWriter>([&](MsgpackWriter& out) { out.begin_bytes(form.size); }),
              form.bytes);
    EXPECT_EQ(written_by<MsgpackWriter>([&](MsgpackWriter& out) { out.text(text); }),
              form.text + text);
    EXPECT_EQ(written_by<MsgpackWriter>([&](MsgpackWriter& out) { out.begin_list(form.size); }),
              form.list);
    EXPECT_EQ(written_by<MsgpackWriter>([&](MsgpackWriter& out) { out.begin_map(form.size); }),
              form.map);
    EXPECT_EQ(first_item(form.bytes).kind, MsgpackKind::bytes);
    EXPECT_EQ(first_item(form.text).kind, MsgpackKind::text);
    EXPECT_EQ(first_item(form.list).kind, MsgpackKind::list);
    EXPECT_EQ(first_item(form.map).kind, MsgpackKind::map);
    for (const std::string& head : {form.bytes, form.text, form.list, form.map}) {
      EXPECT_EQ(first_item(head).size, form.size);
      EXPECT_LE(head.size(), MsgpackReader::max_item_bytes);
    }
  }
}

TEST(Msgpack, ExtensionsAreToldWithTheirSize) {
  for (const auto& [bytes, size] : {std::pair{"\xd4\x01"s, 1u},
                                    {"\xd8\x01"s, 16u},
                                    {"\xc7\x03\x01"s, 3u},
                                    {"\xc8\x01\x00\x01"s, 256u}}) {
    const MsgpackItem item = first_item(bytes);
    EXPECT_EQ(item.kind, MsgpackKind::extension);
    EXPECT_EQ(item.size, size);
  }
}

TEST(Msgpack, TextIsGivenWithoutACopy) {
  const std::string bytes =
      "\xa3"
      "abc"
      "\xa1"
      "d";
  MsgpackReader reader(bytes);
  std::string_view text;
  ASSERT_TRUE(reader.text(text));
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(text.data(), bytes.data() + 1);
  ASSERT_TRUE(reader.text(text));
  EXPECT_EQ(text, "d");
  EXPECT_EQ(reader.offset(), bytes.size());
}

TEST(Msgpack, TheFirstFailureSticks) {
  MsgpackReader reader("\xc1\x01");
  MsgpackItem item;
  EXPECT_FALSE(reader.next(item));
  EXPECT_EQ(reader.code(), ErrorCode::bad_header);
  EXPECT_EQ(reader.offset(), 0u);
  const char* what = reader.what();
  std::string_view content;
  EXPECT_FALSE(reader.next(item));
  EXPECT_FALSE(reader.content(0, content));
  EXPECT_FALSE(reader.text(content));
  EXPECT_EQ(reader.what(), what);
}

TEST(Msgpack, EveryCutIsTruncated) {
  for (const std::string& bytes :
       {"\xcf\x00\x00\x00\x00\x00\x00\x00\x07"s, "\xc6\x00\x00\x00\x01"s, "\xdb\x00\x00\x00\x01"s,
        "\xca\x00\x00\x00\x00"s, "\xd3\x00\x00\x00\x00\x00\x00\x00\x07"s,
        "\xc9\x00\x00\x00\x01\x05"s, "\xdf\x00\x00\x00\x01"s, "\xd8\x01"s}) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      MsgpackReader reader(std::string_view(bytes).substr(0, size));
      MsgpackItem item;
      EXPECT_FALSE(reader.next(item));
      EXPECT_EQ(reader.code(), ErrorCode::truncated);
    }
  }
  MsgpackReader reader(
      "\xa3"
      "ab");
  std::string_view text;
  EXPECT_FALSE(reader.text(text));
  EXPECT_EQ(reader.code(), ErrorCode::truncated);
}

TEST(Msgpack, TextMustBeUtf8AndText) {
  std::string_view text;
  MsgpackReader not_utf8("\xa1\xff");
  EXPECT_FALSE(not_utf8.text(text));
  EXPECT_EQ(not_utf8.code(), ErrorCode::bad_header);
  MsgpackReader number("\x05");
  EXPECT_FALSE(number.text(text));
  EXPECT_EQ(number.code(), ErrorCode::bad_header);
}

}  // namespace
}  // namespace andiron::detail
