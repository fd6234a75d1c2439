// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack files in memory.
#include "andiron/burnpack_view.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/freestanding/burnpack_entries.h"
#include "tests/support/burnpack_file.h"
#include "tests/support/decoded_text.h"

namespace andiron::test {
namespace {

using Generation = BurnpackGeneration;
using Item = BurnpackHeader::Item;

ViewStatus open_metadata(const Cbor& metadata, std::size_t data_bytes = 0) {
  return open_file(burnpack_file(metadata, counting(data_bytes)));
}

// Metadata with one tensor, u8 [4] at 0, whose descriptor is this.
Cbor one_tensor(const Cbor& descriptor) {
  return cbor_map({{"tensors", cbor_map({{"t", descriptor}})}});
}

const Cbor dtype_u8 = cbor_text("dtype") + cbor_text("U8");
const Cbor shape_4 = cbor_text("shape") + cbor_list({cbor_number(4)});
const Cbor offsets_4 = cbor_text("data_offsets") + cbor_list({cbor_number(0), cbor_number(4)});

bool reads_as_u8_of_4(const Cbor& metadata) {
  const std::string file = burnpack_file(metadata, counting(4));
  BurnpackView view;
  BurnpackEntry entry;
  return BurnpackView::open(span_of(file), view).ok() && view.find("t", entry).ok() &&
         entry.dtype == DType::u8 && entry.rank == 1 && entry.shape[0] == 4 && entry.begin == 0 &&
         entry.end == 4;
}

TEST(BurnpackView, ReadsTheWorkedExample) {
  const std::string file = worked_example();
  ASSERT_EQ(file.size(), 770u);
  const BurnpackView view = view_of(file);
  EXPECT_EQ(view.tensor_count(), 3u);
  EXPECT_TRUE(view.layout().is_aligned);
  EXPECT_EQ(view.layout().data_begin, 256u);
  EXPECT_EQ(view.layout().data_bytes, 514u);

  const BurnpackEntry weight = entry_of(view, "weight");
  EXPECT_EQ(weight.dtype, DType::f32);
  EXPECT_EQ(weight.dtype_name, "F32");
  EXPECT_EQ(weight.rank, 2u);
  EXPECT_EQ(weight.dims()[1], 2u);
  EXPECT_TRUE(weight.has_param_id);
  EXPECT_EQ(weight.param_id, 42u);
  EXPECT_EQ(view.data(weight).data(), span_of(file).data() + 256);
  EXPECT_EQ(view.data(weight).size(), 16u);

  const BurnpackEntry mask = entry_of(view, "mask");
  EXPECT_EQ(mask.dtype, DType::boolean);
  EXPECT_EQ(mask.dtype_name, "Bool(Native)");
  EXPECT_FALSE(mask.has_param_id);
  EXPECT_EQ(view.data(mask)[2], std::byte{1});
  EXPECT_EQ(entry_of(view, "bias").begin, 512u);
  EXPECT_EQ(entry_of(view, "bias").param_id, 7u);
}

TEST(BurnpackView, ReadsTheSmallestExample) {
  const std::string file = smallest_example();
  ASSERT_EQ(file.size(), 264u);
  const BurnpackView view = view_of(file);
  const BurnpackEntry entry = entry_of(view, "w");
  EXPECT_EQ(entry.dtype, DType::f32);
  EXPECT_EQ(entry.param_id, 42u);
  EXPECT_EQ(entry.header_offset, 20u);
  EXPECT_EQ(view.data(entry).size(), 8u);
}

TEST(BurnpackView, WalksTensorsMetadataAndScalarsInTheOrderOfTheFile) {
  const std::string file = worked_example();
  const BurnpackView view = view_of(file);
  BurnpackHeader header = view.header();
  BurnpackEntry entry;
  std::string walk;
  for (Item item = header.next(entry); item != Item::end; item = header.next(entry)) {
    ASSERT_NE(item, Item::error);
    if (item == Item::tensor) walk += decode_text(entry.name) + " ";
    if (item == Item::metadata)
      walk += decode_text(header.key()) + "=" + decode_text(header.value()) + " ";
    if (item == Item::scalar) walk += decode_text(header.key()) + " ";
  }
  EXPECT_EQ(walk, "bias mask weight producer=burn lr step ");
  EXPECT_EQ(header.announced_tensors(), 3u);
  EXPECT_EQ(header.trailing_bytes(), 0u);
  EXPECT_EQ(header.unknown_keys(), 0u);
  EXPECT_EQ(header.next(entry), Item::end);
}

TEST(BurnpackView, ReadsScalarsOfEveryKind) {
  const auto scalar = [](const char* kind, const char* value) {
    const Cbor cbor =
        cbor_map({{"tensors", cbor_map({})},
                  {"scalars", cbor_map({{"s", cbor_map({{kind, from_hex(value)}})}})}});
    BurnpackHeader header(span_of(cbor));
    BurnpackEntry entry;
    EXPECT_EQ(header.next(entry), Item::scalar) << kind << value;
    return header.scalar();
  };
  EXPECT_EQ(scalar("Int", "3b7fffffffffffffff").integer, INT64_MIN);
  EXPECT_EQ(scalar("Int", "05").integer, 5);
  EXPECT_EQ(scalar("UInt", "1bffffffffffffffff").unsigned_integer, UINT64_MAX);
  EXPECT_EQ(scalar("Float", "f93c00").floating, 1.0);
  EXPECT_EQ(scalar("Float", "fb3f50624dd2f1a9fc").floating, 0.001);
  EXPECT_TRUE(scalar("Bool", "f5").boolean);
  EXPECT_EQ(scalar("Bool", "f4").kind, BurnpackScalar::Kind::boolean);
  // Tags and bignums are numbers too.
  EXPECT_EQ(scalar("UInt", "c2 41 2a").unsigned_integer, 42u);
  EXPECT_EQ(scalar("Int", "c3 41 29").integer, -42);
}

TEST(BurnpackView, RefusesScalarsOfAnotherType) {
  const auto code = [](const Cbor& scalar) {
    return open_metadata(
        cbor_map({{"tensors", cbor_map({})}, {"scalars", cbor_map({{"s", scalar}})}}));
  };
  EXPECT_TRUE(code(cbor_map({{"Float", from_hex("f93c00")}})).ok());
  EXPECT_FALSE(code(cbor_map({{"Float", cbor_number(1)}})).ok());
  EXPECT_FALSE(code(cbor_map({{"Int", from_hex("f93c00")}})).ok());
  EXPECT_FALSE(code(cbor_map({{"Int", from_hex("1bffffffffffffffff")}})).ok());
  EXPECT_FALSE(code(cbor_map({{"UInt", from_hex("20")}})).ok());
  EXPECT_FALSE(code(cbor_map({{"Bool", cbor_number(1)}})).ok());
  EXPECT_FALSE(code(cbor_map({{"Text", cbor_text("x")}})).ok());
  EXPECT_FALSE(code(cbor_map({})).ok());
  EXPECT_FALSE(code(cbor_map({{"Int", cbor_number(1)}, {"UInt", cbor_number(1)}})).ok());
  EXPECT_FALSE(code(from_hex("bf 63496e74 01 ff")).ok());
  EXPECT_FALSE(code(cbor_number(1)).ok());
}

TEST(BurnpackView, ReadsEveryTypeOfEveryRelease) {
  struct Known {
    Cbor cbor;
    DType dtype;
    std::string_view name;
    std::uint64_t bytes;
    Generation earliest;
    Generation latest;
  };
  const Generation first = Generation::burn_0_19;
  const Generation last = Generation::burn_0_22;
  const Known known[] = {
      {cbor_text("F64"), DType::f64, "F64", 8, first, last},
      {cbor_text("F32"), DType::f32, "F32", 4, first, last},
      {cbor_text("Flex32"), DType::f32, "Flex32", 4, first, last},
      {cbor_text("F16"), DType::f16, "F16", 2, first, last},
      {cbor_text("BF16"), DType::bf16, "BF16", 2, first, last},
      {cbor_text("I64"), DType::i64, "I64", 8, first, last},
      {cbor_text("I32"), DType::i32, "I32", 4, first, last},
      {cbor_text("I16"), DType::i16, "I16", 2, first, last},
      {cbor_text("I8"), DType::i8, "I8", 1, first, last},
      {cbor_text("U64"), DType::u64, "U64", 8, first, last},
      {cbor_text("U32"), DType::u32, "U32", 4, first, last},
      {cbor_text("U16"), DType::u16, "U16", 2, first, last},
      {cbor_text("U8"), DType::u8, "U8", 1, first, last},
      {cbor_text("Bool"), DType::boolean, "Bool", 1, first, Generation::burn_0_20},
      {cbor_map({{"Bool", cbor_text("Native")}}), DType::boolean, "Bool(Native)", 1,
       Generation::burn_0_21, last},
      {cbor_map({{"Bool", cbor_text("U8")}}), DType::boolean, "Bool(U8)", 1, Generation::burn_0_21,
       last},
      {cbor_map({{"Bool", cbor_text("U32")}}), DType::raw, "Bool(U32)", 4, Generation::burn_0_21,
       last},
  };
  for (const Known& type : known) {
    SCOPED_TRACE(type.name);
    const PackTensor tensor{"t", type.cbor, {3}, 0, 3 * type.bytes};
    const std::string file = burnpack_file(pack_metadata({tensor}), counting(3 * type.bytes));
    const BurnpackEntry entry = entry_of(view_of(file), "t");
    EXPECT_EQ(entry.dtype, type.dtype);
    EXPECT_EQ(entry.dtype_name, type.name);
    EXPECT_EQ(entry.earliest, type.earliest);
    EXPECT_EQ(entry.latest, type.latest);
    // A byte more or less than shape and type ask for is refused.
    for (const std::uint64_t bytes : {3 * type.bytes - 1, 3 * type.bytes + 1}) {
      const PackTensor wrong{"t", type.cbor, {3}, 0, bytes};
      EXPECT_EQ(open_metadata(pack_metadata({wrong}), bytes).code, ErrorCode::size_mismatch);
    }
  }
}

TEST(BurnpackView, NamesOfPlainTypesGoBothWays) {
  for (unsigned i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string_view name = burnpack_dtype_name(dtype);
    if (name.empty()) continue;
    EXPECT_EQ(burnpack_dtype(name), dtype) << name;
  }
  EXPECT_EQ(burnpack_dtype("Flex32"), DType::f32);
  EXPECT_EQ(burnpack_dtype_name(DType::f32), "F32");
  EXPECT_EQ(burnpack_dtype("Bool"), DType::raw);
  EXPECT_EQ(burnpack_dtype("f32"), DType::raw);
  EXPECT_EQ(burnpack_dtype_name(DType::boolean), "");
  EXPECT_EQ(burnpack_dtype_name(DType::c64), "");
  EXPECT_EQ(burnpack_dtype_name(DType::qfloat), "");
}

TEST(BurnpackView, CarriesUnknownTypesAsRawBytes) {
  const Cbor types[] = {cbor_text("F8E4M3"),
                        cbor_map({{"Complex", cbor_text("C64")}}),
                        cbor_map({{"Bool", cbor_text("U16")}}),
                        cbor_map({{"Bool", cbor_number(1)}}),
                        cbor_map({{"QFloat", cbor_map({{"value", cbor_text("Q9Z")}})}}),
                        cbor_map({{"QFloat", cbor_text("?")}})};
  for (const Cbor& type : types) {
    const PackTensor tensor{"t", type, {3}, 0, 7};
    const std::string file = burnpack_file(pack_metadata({tensor}), counting(7));
    const BurnpackEntry entry = entry_of(view_of(file), "t");
    EXPECT_EQ(entry.dtype, DType::raw);
    EXPECT_EQ(entry.earliest, Generation::burn_0_19);
    EXPECT_EQ(entry.latest, Generation::burn_0_22);
  }
}

TEST(BurnpackView, RefusesWhatIsNoType) {
  const Cbor types[] = {cbor_number(1),
                        cbor_list({cbor_text("F32")}),
                        cbor_map({}),
                        cbor_map({{"F32", cbor_text("x")}}),
                        cbor_map({{"Bool", cbor_text("U8")}, {"x", cbor_text("U8")}}),
                        from_hex("bf 64426f6f6c 625538 ff"),  // of indefinite length
                        from_hex("7f 625538 ff"),             // a name in chunks
                        cbor_text(std::string(5000, 'T')),
                        from_hex("f6")};
  for (const Cbor& type : types) {
    const PackTensor tensor{"t", type, {3}, 0, 3};
    EXPECT_FALSE(open_metadata(pack_metadata({tensor}), 3).ok());
  }
}

TEST(BurnpackView, FieldsComeInAnyOrderAndUnknownOnesAreIgnored) {
  const auto map = [](std::size_t count, const Cbor& content) {
    return cbor_head(5, count) + content;
  };
  EXPECT_TRUE(reads_as_u8_of_4(one_tensor(map(3, dtype_u8 + shape_4 + offsets_4))));
  EXPECT_TRUE(reads_as_u8_of_4(one_tensor(map(3, offsets_4 + shape_4 + dtype_u8))));
  EXPECT_TRUE(reads_as_u8_of_4(
      one_tensor(map(5, cbor_text("new") + cbor_map({{"a", cbor_list({cbor_number(1)})}}) +
                            shape_4 + offsets_4 + dtype_u8 + cbor_text("newer") + cbor_null))));
  // Parts of the metadata, too.
  const Cbor tensors = cbor_map({{"t", map(3, dtype_u8 + shape_4 + offsets_4)}});
  EXPECT_TRUE(reads_as_u8_of_4(cbor_map({{"scalars", cbor_map({})},
                                         {"checksums", cbor_list({cbor_number(7)})},
                                         {"metadata", cbor_map({})},
                                         {"tensors", tensors},
                                         {"z", cbor_null}})));
  const Cbor unknown = cbor_map({{"tensors", tensors}, {"x", cbor_null}, {"y", cbor_null}});
  BurnpackHeader header(span_of(unknown));
  BurnpackEntry entry;
  EXPECT_EQ(header.next(entry), Item::tensor);
  EXPECT_EQ(entry.unknown_keys, 0u);
  EXPECT_EQ(header.next(entry), Item::end);
  EXPECT_EQ(header.unknown_keys(), 2u);
}

TEST(BurnpackView, AFieldGivenTwiceIsRefused) {
  const Cbor fields[] = {dtype_u8, shape_4, offsets_4, cbor_text("param_id") + cbor_number(1)};
  for (const Cbor& twice : fields) {
    Cbor descriptor = cbor_head(5, 5) + fields[0] + fields[1] + fields[2] + fields[3] + twice;
    EXPECT_EQ(open_metadata(one_tensor(descriptor), 4).code, ErrorCode::duplicate_key);
  }
  for (const char* part : {"tensors", "metadata", "scalars"}) {
    const Cbor metadata =
        cbor_map({{"tensors", cbor_map({})}, {part, cbor_map({})}, {part, cbor_map({})}});
    EXPECT_EQ(open_metadata(metadata).code, ErrorCode::duplicate_key);
  }
}

TEST(BurnpackView, AMissingFieldIsRefused) {
  const Cbor two[] = {dtype_u8 + shape_4, dtype_u8 + offsets_4, shape_4 + offsets_4};
  for (const Cbor& fields : two) {
    EXPECT_EQ(open_metadata(one_tensor(cbor_head(5, 2) + fields), 4).code, ErrorCode::bad_header);
  }
  EXPECT_FALSE(open_metadata(cbor_map({})).ok());
  EXPECT_FALSE(open_metadata(cbor_map({{"metadata", cbor_map({})}})).ok());
  EXPECT_TRUE(open_metadata(cbor_map({{"tensors", cbor_map({})}})).ok());
}

TEST(BurnpackView, AnIdMayBeNullUndefinedOrABignum) {
  const auto with_id = [](const Cbor& id) {
    const Cbor descriptor =
        cbor_head(5, 4) + dtype_u8 + shape_4 + offsets_4 + cbor_text("param_id") + id;
    const std::string file = burnpack_file(one_tensor(descriptor), counting(4));
    const BurnpackEntry entry = entry_of(view_of(file), "t");
    return entry.has_param_id ? std::to_string(entry.param_id) : "none";
  };
  EXPECT_EQ(with_id(from_hex("f6")), "none");
  EXPECT_EQ(with_id(from_hex("f7")), "none");
  EXPECT_EQ(with_id(cbor_number(0)), "0");
  EXPECT_EQ(with_id(cbor_number(~std::uint64_t{0})), "18446744073709551615");
  EXPECT_EQ(with_id(from_hex("c2 48 8000000000000000")), "9223372036854775808");
  EXPECT_EQ(with_id(from_hex("c9 07")), "7");
  const Cbor negative =
      cbor_head(5, 4) + dtype_u8 + shape_4 + offsets_4 + cbor_text("param_id") + from_hex("20");
  EXPECT_FALSE(open_metadata(one_tensor(negative), 4).ok());
}

TEST(BurnpackView, LengthsMayBeIndefinite) {
  const Cbor descriptor = from_hex("bf") + dtype_u8 + cbor_text("shape") + from_hex("9f 04 ff") +
                          cbor_text("data_offsets") + from_hex("9f 00 04 ff") + from_hex("ff");
  const Cbor tensors = from_hex("bf 7f 61 74 ff") + descriptor + from_hex("ff");
  const Cbor metadata = from_hex("bf") + cbor_text("tensors") + tensors + cbor_text("metadata") +
                        from_hex("bf 7f 61 6b 60 61 6b ff 7f ff ff") + from_hex("ff");
  EXPECT_TRUE(reads_as_u8_of_4(metadata));
  BurnpackHeader header(span_of(metadata));
  BurnpackEntry entry;
  ASSERT_EQ(header.next(entry), Item::tensor);
  EXPECT_TRUE(entry.name.is_chunked);
  EXPECT_EQ(header.announced_tensors(), 0u);
  ASSERT_EQ(header.next(entry), Item::metadata);
  EXPECT_EQ(decode_text(header.key()), "kk");
  EXPECT_EQ(decode_text(header.value()), "");
  EXPECT_EQ(header.next(entry), Item::end);
}

TEST(BurnpackView, KeysOfFieldsMayNotBeChunkedOrLong) {
  const Cbor chunked =
      from_hex("a3 7f 65") + "dtype" + from_hex("ff") + cbor_text("U8") + shape_4 + offsets_4;
  EXPECT_FALSE(open_metadata(one_tensor(chunked), 4).ok());
  const Cbor long_key = cbor_head(5, 4) + dtype_u8 + shape_4 + offsets_4 +
                        cbor_text(std::string(4097, 'k')) + cbor_null;
  EXPECT_FALSE(open_metadata(one_tensor(long_key), 4).ok());
  EXPECT_FALSE(open_metadata(from_hex("a1 7f 67") + "tensors" + from_hex("ff a0")).ok());
}

TEST(BurnpackView, TagsInFrontOfValuesAreSkipped) {
  const Cbor tag = from_hex("d9 d9f7");
  const Cbor descriptor = tag + from_hex("a3") + tag + cbor_text("dtype") + tag + cbor_text("U8") +
                          cbor_text("shape") + tag + from_hex("81") + tag + cbor_number(4) +
                          cbor_text("data_offsets") + tag + from_hex("82 c2 40 c2 41 04");
  const Cbor metadata = tag + from_hex("a1") + cbor_text("tensors") + tag + from_hex("a1") + tag +
                        cbor_text("t") + descriptor;
  EXPECT_TRUE(reads_as_u8_of_4(metadata));
}

TEST(BurnpackView, NumbersMayTakeMoreBytesThanTheyNeed) {
  const Cbor descriptor = from_hex("a3") + dtype_u8 + cbor_text("shape") +
                          from_hex("9b 0000000000000001 1b 0000000000000004") +
                          cbor_text("data_offsets") + from_hex("82 1800 1a 00000004");
  EXPECT_TRUE(reads_as_u8_of_4(one_tensor(descriptor)));
}

TEST(BurnpackView, BytesAfterTheMetadataAreIgnoredButTold) {
  const Cbor metadata = one_tensor(cbor_head(5, 3) + dtype_u8 + shape_4 + offsets_4);
  for (const char* trailing : {"ff", "a0", "garbage"}) {
    EXPECT_TRUE(reads_as_u8_of_4(metadata + trailing));
    const Cbor longer = metadata + trailing;
    BurnpackHeader header(span_of(longer));
    BurnpackEntry entry;
    EXPECT_EQ(header.next(entry), Item::tensor);
    EXPECT_EQ(header.next(entry), Item::end);
    EXPECT_EQ(header.trailing_bytes(), std::string_view(trailing).size());
  }
}

TEST(BurnpackView, OfANameGivenTwiceTheLastIsFound) {
  const std::string file =
      burnpack_file(pack_metadata({pack_u8("t", 0, 1), pack_u8("t", 256, 258)}), counting(258));
  const BurnpackView view = view_of(file);
  EXPECT_EQ(view.tensor_count(), 2u);
  EXPECT_EQ(entry_of(view, "t").begin, 256u);
}

TEST(BurnpackView, NestingStopsAt128Levels) {
  const auto nested = [](std::size_t levels) {
    return cbor_map(
        {{"tensors", cbor_map({})}, {"deep", std::string(levels, '\x81') + cbor_number(0)}});
  };
  EXPECT_TRUE(open_metadata(nested(127)).ok());
  EXPECT_EQ(open_metadata(nested(128)).code, ErrorCode::limit_exceeded);
  EXPECT_EQ(open_metadata(nested(200'000)).code, ErrorCode::limit_exceeded);
  // In a descriptor and in an unknown type the levels around them count.
  const auto descriptor = [](std::size_t levels) {
    return one_tensor(cbor_head(5, 4) + dtype_u8 + shape_4 + offsets_4 + cbor_text("deep") +
                      std::string(levels, '\x81') + cbor_number(0));
  };
  EXPECT_TRUE(open_metadata(descriptor(125), 4).ok());
  EXPECT_EQ(open_metadata(descriptor(126), 4).code, ErrorCode::limit_exceeded);
  const auto type = [](std::size_t levels) {
    const PackTensor tensor{
        "t", cbor_map({{"New", std::string(levels, '\x81') + cbor_number(0)}}), {1}, 0, 4};
    return pack_metadata({tensor});
  };
  EXPECT_TRUE(open_metadata(type(124), 4).ok());
  EXPECT_EQ(open_metadata(type(125), 4).code, ErrorCode::limit_exceeded);
}

TEST(BurnpackView, RefusesHeadersThatAreNoBurnpack) {
  const std::string file = burnpack_file(cbor_map({{"tensors", cbor_map({})}}));
  for (std::size_t size = 0; size < 10; ++size) {
    EXPECT_EQ(open_file(file.substr(0, size)).code, ErrorCode::truncated) << size;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    std::string other = file;
    other[i] = static_cast<char>(other[i] + 1);
    EXPECT_EQ(open_file(other).code, ErrorCode::not_a_weight_file);
  }
  EXPECT_EQ(open_file("BURN" + file.substr(4)).code, ErrorCode::not_a_weight_file);
}

TEST(BurnpackView, VersionsUpTo1AreRead) {
  std::string file = burnpack_file(cbor_map({{"tensors", cbor_map({})}}));
  file[4] = 0;
  EXPECT_TRUE(open_file(file).ok());
  file[4] = 2;
  EXPECT_EQ(open_file(file).code, ErrorCode::unsupported);
  file[4] = 1;
  file[5] = 1;
  EXPECT_EQ(open_file(file).code, ErrorCode::unsupported);
}

TEST(BurnpackView, TheHeaderIsTenBytes) {
  const std::string head = from_hex("4e525542 0100 d2040000");
  std::uint64_t metadata_bytes = 0;
  EXPECT_TRUE(read_burnpack_header(span_of(head), metadata_bytes).ok());
  EXPECT_EQ(metadata_bytes, 1234u);
  EXPECT_EQ(burnpack_header_bytes, 10u);
  EXPECT_FALSE(read_burnpack_header(span_of(head).first(9), metadata_bytes).ok());
}

TEST(BurnpackView, RefusesMetadataThatIsTooLargeOrPassesTheEnd) {
  const std::string fixed("NRUB\1\0", 6);
  EXPECT_EQ(open_file(fixed + from_hex("01004006")).code, ErrorCode::header_too_large);
  EXPECT_EQ(open_file(fixed + from_hex("ffffffff")).code, ErrorCode::header_too_large);
  EXPECT_EQ(open_file(fixed + from_hex("00004006")).code, ErrorCode::truncated);
  EXPECT_EQ(open_file(fixed + from_hex("00100000")).code, ErrorCode::truncated);
  EXPECT_FALSE(open_file(fixed + from_hex("00000000")).ok());
  EXPECT_EQ(open_file(fixed + from_hex("40000000") + std::string(64, '\xff')).code,
            ErrorCode::bad_header);
}

TEST(BurnpackView, RefusesDataThatIsNotThere) {
  const auto code = [](std::uint64_t begin, std::uint64_t end, std::size_t data_bytes) {
    return open_metadata(pack_metadata({pack_u8("t", begin, end)}), data_bytes).code;
  };
  EXPECT_EQ(code(0, 4, 3), ErrorCode::truncated);
  EXPECT_EQ(code(256, 260, 259), ErrorCode::truncated);
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(code(0, most / 8, 4), ErrorCode::truncated);
  EXPECT_EQ(code(most - 4, most, 4), ErrorCode::truncated);
  EXPECT_EQ(code(most - 4, most - 2, 4), ErrorCode::truncated);
  // A tensor without elements that begins beyond the end.
  EXPECT_EQ(code(most, most, 4), ErrorCode::truncated);
  EXPECT_EQ(code(5, 5, 4), ErrorCode::truncated);
  EXPECT_EQ(open_metadata(pack_metadata({pack_u8("t", 4, 4)}), 4).ok(), true);
}

TEST(BurnpackView, RefusesReversedOffsetsAndShapesBeyond64Bits) {
  const auto code = [](const std::vector<std::uint64_t>& shape, std::uint64_t begin,
                       std::uint64_t end) {
    return open_metadata(pack_metadata({{"t", cbor_text("F32"), shape, begin, end}}), 8).code;
  };
  EXPECT_EQ(code({1}, 8, 4), ErrorCode::bad_offsets);
  EXPECT_EQ(code({1}, ~std::uint64_t{0}, 3), ErrorCode::bad_offsets);
  EXPECT_EQ(code({std::uint64_t{1} << 32, std::uint64_t{1} << 32}, 0, 0), ErrorCode::overflow);
  EXPECT_EQ(code({std::uint64_t{1} << 62}, 0, 0), ErrorCode::overflow);
  EXPECT_EQ(code({~std::uint64_t{0}, ~std::uint64_t{0}, 0}, 0, 0), ErrorCode::overflow);
  EXPECT_EQ(code({~std::uint64_t{0}}, 0, 4), ErrorCode::overflow);
}

TEST(BurnpackView, RefusesFieldsOfAnotherType) {
  const auto with = [](const Cbor& shape, const Cbor& offsets) {
    return open_metadata(one_tensor(from_hex("a3") + dtype_u8 + cbor_text("shape") + shape +
                                    cbor_text("data_offsets") + offsets),
                         8)
        .ok();
  };
  const Cbor shape = from_hex("81 04");
  const Cbor offsets = from_hex("82 00 04");
  EXPECT_TRUE(with(shape, offsets));
  EXPECT_FALSE(with(from_hex("04"), offsets));
  EXPECT_FALSE(with(from_hex("81 23"), offsets));
  EXPECT_FALSE(with(from_hex("81 f94400"), offsets));
  EXPECT_FALSE(with(from_hex("81 6134"), offsets));
  EXPECT_FALSE(with(from_hex("f6"), offsets));
  EXPECT_FALSE(with(from_hex("a0"), offsets));
  EXPECT_FALSE(with(shape, from_hex("81 04")));
  EXPECT_FALSE(with(shape, from_hex("83 00 04 08")));
  EXPECT_FALSE(with(shape, from_hex("9f 00 04 08 ff")));
  EXPECT_FALSE(with(shape, from_hex("9f 00 ff")));
  EXPECT_FALSE(with(shape, from_hex("82 00 24")));
  EXPECT_FALSE(open_metadata(cbor_map({{"tensors", cbor_list({})}})).ok());
  EXPECT_FALSE(open_metadata(cbor_map({{"tensors", cbor_map({{"t", cbor_list({})}})}})).ok());
  EXPECT_FALSE(open_metadata(cbor_map({{"tensors", cbor_map({})}, {"metadata", cbor_null}})).ok());
  EXPECT_FALSE(open_metadata(cbor_map({{"tensors", cbor_map({})},
                                       {"metadata", cbor_map({{"k", cbor_number(1)}})}}))
                   .ok());
  EXPECT_FALSE(open_metadata(cbor_list({})).ok());
  EXPECT_FALSE(open_metadata(from_hex("a1 07 a0")).ok());
}

TEST(BurnpackView, ReadsShapesUpToTheMostDimensions) {
  const auto shape_of = [](std::size_t rank) {
    return open_metadata(
        pack_metadata({{"t", cbor_text("U8"), std::vector<std::uint64_t>(rank, 1), 0, 1}}), 1);
  };
  EXPECT_TRUE(shape_of(0).ok());
  EXPECT_TRUE(shape_of(10).ok());
  EXPECT_TRUE(shape_of(max_rank).ok());
  EXPECT_EQ(shape_of(max_rank + 1).code, ErrorCode::limit_exceeded);
  EXPECT_EQ(open_metadata(one_tensor(from_hex("a3") + dtype_u8 + cbor_text("shape") +
                                     from_hex("9bffffffffffffffff 01") + offsets_4))
                .code,
            ErrorCode::bad_header);
}

TEST(BurnpackView, WrongSizesCanBeAllowed) {
  const Cbor cbor = pack_metadata({{"t", cbor_text("F32"), {3}, 0, 13},
                                   {"u", cbor_text("F32"), {~std::uint64_t{0}}, 0, 4},
                                   {"v", cbor_map({{"Bool", cbor_text("U32")}}), {3}, 0, 3}});
  BurnpackHeader header(span_of(cbor));
  header.allow_wrong_sizes();
  BurnpackEntry entry;
  for (const std::string_view name : {"F32", "F32", "Bool(U32)"}) {
    ASSERT_EQ(header.next(entry), Item::tensor);
    EXPECT_EQ(entry.dtype, DType::raw);
    EXPECT_EQ(entry.dtype_name, name);
  }
  const Cbor reversed = pack_metadata({{"t", cbor_text("F32"), {3}, 4, 0}});
  BurnpackHeader strict(span_of(reversed));
  strict.allow_wrong_sizes();
  EXPECT_EQ(strict.next(entry), Item::error);
}

TEST(BurnpackView, AFailureSticksAndTellsWhere) {
  const Cbor good = pack_metadata({pack_u8("t", 0, 4)});
  const Cbor cbor = good.substr(0, good.size() - 3) + from_hex("82 04 00");
  BurnpackHeader header(span_of(cbor));
  BurnpackEntry entry;
  EXPECT_EQ(header.next(entry), Item::error);
  EXPECT_EQ(header.status().code, ErrorCode::bad_offsets);
  EXPECT_EQ(header.status().offset, burnpack_header_bytes + cbor.size());
  EXPECT_EQ(decode_text(entry.name), "t");
  EXPECT_EQ(header.next(entry), Item::error);
  EXPECT_EQ(header.status().code, ErrorCode::bad_offsets);
}

TEST(BurnpackView, FindTellsWhatIsMissing) {
  const std::string file = worked_example();
  BurnpackEntry entry;
  EXPECT_EQ(view_of(file).find("absent", entry).code, ErrorCode::missing_tensor);
  EXPECT_EQ(view_of(file).find("", entry).code, ErrorCode::missing_tensor);
}

TEST(BurnpackView, FindsNamesInChunksAndTheEmptyName) {
  const Cbor descriptor = cbor_head(5, 3) + dtype_u8 + shape_4 + offsets_4;
  const Cbor metadata = from_hex("a1") + cbor_text("tensors") + from_hex("a2 7f 60 ff") +
                        descriptor + from_hex("7f 61 61 60 61 62 ff") + descriptor;
  const std::string file = burnpack_file(metadata, counting(4));
  const BurnpackView view = view_of(file);
  BurnpackEntry entry;
  EXPECT_TRUE(view.find({}, entry).ok());
  EXPECT_TRUE(view.find("ab", entry).ok());
  EXPECT_FALSE(view.find("a", entry).ok());
  EXPECT_FALSE(view.find("abc", entry).ok());
}

TEST(BurnpackView, AFileWithoutTensorsMayEndAfterItsMetadata) {
  const std::string file = burnpack_file(cbor_map({{"tensors", cbor_map({})}}));
  EXPECT_EQ(file.size(), 256u);
  EXPECT_EQ(file.substr(10, 10), from_hex("a1 67 74 65 6e 73 6f 72 73 a0"));
  EXPECT_TRUE(open_file(file).ok());
  EXPECT_TRUE(open_file(file.substr(0, 20)).ok());
  EXPECT_TRUE(open_file(file.substr(0, 100)).ok());
  EXPECT_FALSE(open_file(file.substr(0, 19)).ok());
}

}  // namespace
}  // namespace andiron::test
