// SPDX-License-Identifier: MIT OR Apache-2.0
// The bytes of a Burnpack header, and what they mean.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/format/burnpack/header_listing.h"
#include "tests/support/burnpack_file.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

using detail::burnpack_fields;
using detail::BurnpackField;
using detail::BurnpackHead;
using detail::read_burnpack_head;

Result<BurnpackHead> read(const std::string& file, const Limits& limits = {}) {
  const Bytes bytes = bytes_of_text(file);
  return read_burnpack_head(*memory_source(bytes), limits);
}

std::string generation_of(const std::vector<PackTensor>& tensors,
                          std::vector<std::pair<std::string, Cbor>> parts = {},
                          PackLayout layout = PackLayout::aligned) {
  const std::uint64_t bytes = tensors.empty() ? 0 : tensors.back().end;
  return read(burnpack_file(pack_metadata(tensors, std::move(parts)),
                            counting(static_cast<std::size_t>(bytes)), layout))
      .value()
      .generation;
}

// Every field as "offset+size meaning", one a line, indented by depth; checks that they leave no
// gap.
std::string fields_of(const std::string& file) {
  const BurnpackHead head = read(file).value();
  const Result<std::vector<BurnpackField>> fields = burnpack_fields(head);
  if (!fields) return "<" + fields.error().to_string() + ">";
  std::string text;
  std::uint64_t at = 0;
  for (const BurnpackField& field : *fields) {
    EXPECT_EQ(field.offset, at);
    at += field.size;
    text += std::string(field.depth, ' ') + std::to_string(field.offset) + "+" +
            std::to_string(field.size) + " " + field.meaning + "\n";
  }
  EXPECT_EQ(at, head.bytes.size());
  return text;
}

TEST(BurnpackHead, DescribesTheWorkedExample) {
  const TempDir folder;
  write_file(folder.file("m.bpk"), worked_example());
  const BurnpackHead head = read_burnpack_head(folder.file("m.bpk")).value();
  EXPECT_EQ(head.version, 1u);
  EXPECT_EQ(head.metadata_bytes, 236u);
  EXPECT_EQ(head.padding_bytes, 10u);
  EXPECT_EQ(head.file_bytes, 770u);
  EXPECT_TRUE(head.layout.is_aligned);
  EXPECT_EQ(head.layout.data_begin, 256u);
  EXPECT_EQ(head.bytes.text(), worked_example().substr(0, 256));
  EXPECT_EQ(head.generation, "Burn 0.22-pre or later");
}

TEST(BurnpackHead, TellsWhichReleasesMayHaveWrittenIt) {
  const PackTensor plain = pack_u8("t", 0, 5);
  const PackTensor old_bool{"t", cbor_text("Bool"), {5}, 0, 5};
  const PackTensor new_bool{"t", cbor_map({{"Bool", cbor_text("Native")}}), {5}, 0, 5};
  EXPECT_EQ(generation_of({plain}), "Burn 0.20 or later");
  EXPECT_EQ(generation_of({plain}, {}, PackLayout::unaligned), "Burn 0.19");
  EXPECT_EQ(generation_of({old_bool}), "Burn 0.20");
  EXPECT_EQ(generation_of({new_bool}), "Burn 0.21 or later");
  const Cbor scheme = cbor_map({{"value", cbor_text("Q8S")},
                                {"param", cbor_text("F32")},
                                {"store", cbor_text("Native")},
                                {"level", cbor_text("Tensor")},
                                {"mode", cbor_text("Symmetric")}});
  EXPECT_EQ(generation_of({{"t", cbor_map({{"QFloat", scheme}}), {1}, 0, 5}}),
            "Burn 0.20 to 0.22-pre");
}

TEST(BurnpackHead, TheMetadataTellsTheReleaseWhereTheBytesAgree) {
  const PackTensor plain = pack_u8("t", 0, 5);
  EXPECT_EQ(generation_of({plain}, {pack_producer("0.21.0")}), "Burn 0.21.0");
  EXPECT_EQ(generation_of({plain}, {pack_producer("0.22.0-pre.2")}), "Burn 0.22.0-pre.2");
  EXPECT_EQ(generation_of({plain}, {pack_producer("0.19.1")}, PackLayout::unaligned),
            "Burn 0.19.1");
  // What users write there is not believed.
  EXPECT_EQ(generation_of({plain}, {pack_producer("1.0")}), "Burn 0.20 or later");
  EXPECT_EQ(generation_of({plain}, {pack_producer("0.21.0", "me")}), "Burn 0.20 or later");
  EXPECT_EQ(generation_of({plain}, {pack_producer("0.19.1")}), "Burn 0.20 or later");
  EXPECT_EQ(generation_of({plain}, {pack_producer("0.2.0", "andiron")}),
            "Andiron 0.2.0, as Burn 0.20 or later");
}

TEST(BurnpackHead, DescribesFilesThatCannotBeRead) {
  // The data is missing, or has the wrong size: the header can be looked at all the same.
  EXPECT_EQ(read(worked_example().substr(0, 300)).value().padding_bytes, 10u);
  EXPECT_EQ(read(worked_example().substr(0, 250)).value().padding_bytes, 4u);
  EXPECT_EQ(read(worked_example().substr(0, 246)).value().padding_bytes, 0u);
  EXPECT_TRUE(
      read(burnpack_file(pack_metadata({{"w", cbor_text("F32"), {3}, 0, 13}}), counting(13))));
  // Also where the metadata is damaged: what can be read of it is labelled.
  const BurnpackHead damaged = read(burnpack_file("\xff")).value();
  EXPECT_EQ(damaged.damage, "expected a map at byte 10");
  EXPECT_EQ(burnpack_fields(damaged).value()[3].meaning,
            "not understood: expected a map at byte 10");
  EXPECT_EQ(read(worked_example()).value().damage, "");
  // Not where the fixed part is broken.
  EXPECT_EQ(read(worked_example().substr(0, 245)).error().code, ErrorCode::truncated);
  EXPECT_EQ(read("NRUB").error().code, ErrorCode::truncated);
  EXPECT_EQ(read("PK\3\4aaaaaaaaaa").error().code, ErrorCode::not_a_weight_file);
  Limits limits;
  limits.burnpack_metadata_bytes = 100;
  EXPECT_EQ(read(worked_example(), limits).error().code, ErrorCode::header_too_large);
  const TempDir folder;
  EXPECT_EQ(read_burnpack_head(folder.file("absent")).error().code, ErrorCode::not_found);
}

TEST(BurnpackFields, LabelEveryByteOfTheSmallestExample) {
  EXPECT_EQ(fields_of(smallest_example()),
            "0+4 magic 'NRUB'\n"
            "4+2 version 1\n"
            "6+4 metadata of 58 bytes\n"
            " 10+1 map of 1\n"
            " 11+8 key 'tensors'\n"
            "  19+1 map of 1\n"
            "  20+2 name 'w'\n"
            "   22+1 map of 4\n"
            "   23+6 key 'dtype'\n"
            "    29+4 text 'F32'\n"
            "   33+6 key 'shape'\n"
            "    39+1 list of 1\n"
            "     40+1 number 2\n"
            "   41+13 key 'data_offsets'\n"
            "    54+1 list of 2\n"
            "     55+1 number 0\n"
            "     56+1 number 8\n"
            "   57+9 key 'param_id'\n"
            "    66+2 number 42\n"
            "68+188 padding up to 256, where the data starts\n");
}

TEST(BurnpackFields, LabelScalarsAndPassOverUnknownParts) {
  const std::string fields = fields_of(burnpack_file(
      pack_metadata({}, {{"scalars", cbor_map({{"b", cbor_map({{"Bool", from_hex("f4")}})},
                                               {"f", cbor_map({{"Float", from_hex("f93c00")}})},
                                               {"i", cbor_map({{"Int", from_hex("3863")}})}})},
                         {"other", cbor_list({from_hex("f6"), from_hex("f5"), from_hex("f7")})}})));
  for (const char* meaning :
       {"name 'b'", "key 'Bool'", "false", "float 1", "number -100", "key 'other'", "ignored"}) {
    EXPECT_NE(fields.find(std::string(" ") + meaning + "\n"), std::string::npos) << meaning;
  }
}

TEST(BurnpackFields, LabelIndefiniteLengthsChunksAndWhatIsIgnored) {
  const Cbor metadata = from_hex("bf 67") + "tensors" + from_hex("bf 7f 6161 6162 ff") +
                        pack_u8("", 0, 1).descriptor() + from_hex("ff ff") + "tail";
  const std::string fields = fields_of(burnpack_file(metadata, "x"));
  EXPECT_NE(fields.find("map of any length\n"), std::string::npos);
  EXPECT_NE(fields.find("+6 name 'ab'\n"), std::string::npos);
  EXPECT_NE(fields.find("+1 end\n"), std::string::npos);
  EXPECT_NE(fields.find("+4 ignored\n"), std::string::npos);
}

TEST(BurnpackFields, LabelEverythingThatTheReaderPassesOver) {
  // Bytes, tags, simple values, numbers beyond 64 bits, and keys that are no text.
  for (const char* value :
       {"43 010203", "5f 41 01 ff", "c1 00", "c2 49 010000000000000000", "c3 48 ffffffffffffffff",
        "3bffffffffffffffff", "f820", "e0", "a1 01 02", "bf 80 f6 ff", "a1 41 61 00",
        "82 a1 f5 f4 9f ff", "c0 c0 7f 6161 ff", "a1 c2 41 01 c0 a0"}) {
    const std::string file =
        burnpack_file(pack_metadata({pack_u8("t", 0, 1)}, {{"x", from_hex(value)}}), "x");
    EXPECT_NE(fields_of(file)[0], '<') << value << fields_of(file);
  }
  // As deep as the reader goes.
  const Cbor deep = std::string(127, '\x81') + cbor_number(0);
  EXPECT_NE(fields_of(burnpack_file(pack_metadata({}, {{"deep", deep}})))[0], '<');
  // Keys of fields may be bytes.
  const Cbor bytes_key = from_hex("a1 47") + "tensors" + from_hex("a0");
  EXPECT_NE(fields_of(burnpack_file(bytes_key))[0], '<');
}

TEST(BurnpackFields, HoldTextAsTheFileHasIt) {
  const std::string fields =
      fields_of(burnpack_file(pack_metadata({pack_u8("\x1b[31m", 0, 1)}), "x"));
  EXPECT_NE(fields.find("'\x1b[31m'"), std::string::npos);
}

TEST(BurnpackFields, HaveNoPaddingInFilesOf0_19) {
  const std::string file =
      burnpack_file(pack_metadata({pack_u8("t", 0, 5)}), counting(5), PackLayout::unaligned);
  EXPECT_EQ(fields_of(file).find("padding"), std::string::npos);
}

}  // namespace
}  // namespace andiron::test
