// SPDX-License-Identifier: MIT OR Apache-2.0
// How each release of Burn spells its types.
#include "src/format/burnpack/dtype.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/open.h"
#include "andiron/tensor.h"
#include "andiron/write.h"
#include "src/codec/cbor_writer.h"
#include "tests/support/burnpack_file.h"
#include "tests/support/burnpack_writing.h"

namespace andiron::test {
namespace {

using Generation = BurnpackGeneration;

TEST(BurnpackDType, BooleansAreSpelledAsTheReleaseDoes) {
  const auto dtype_in = [](Generation generation, const Archive& archive) {
    const std::string file = written(archive, for_release(generation));
    const std::size_t at = file.find("dtype") + 5;
    return file.substr(at, file.find("\x65shape") - at);
  };
  const Archive plain = archive_of({{"t", filled(DType::boolean, {2})}});
  EXPECT_EQ(dtype_in(Generation::burn_0_19, plain), cbor_text("Bool"));
  EXPECT_EQ(dtype_in(Generation::burn_0_20, plain), cbor_text("Bool"));
  const Cbor native = cbor_map({{"Bool", cbor_text("Native")}});
  EXPECT_EQ(dtype_in(Generation::burn_0_21, plain), native);
  EXPECT_EQ(dtype_in(Generation::burn_0_22_pre, plain), native);
  EXPECT_EQ(dtype_in(Generation::burn_0_22, plain), native);

  // The store that a file had is kept where the release has it.
  const Cbor eight = cbor_map({{"Bool", cbor_text("U8")}});
  const Archive u8 =
      open_burnpack(burnpack_file(pack_metadata({{"t", eight, {2}, 0, 2}}), "\1\1")).value();
  EXPECT_EQ(dtype_in(Generation::burn_0_22, u8), eight);
  EXPECT_EQ(dtype_in(Generation::burn_0_20, u8), cbor_text("Bool"));
  const Cbor wide = cbor_map({{"Bool", cbor_text("U32")}});
  const Archive u32 =
      open_burnpack(burnpack_file(pack_metadata({{"t", wide, {2}, 0, 8}}), std::string(8, '\1')))
          .value();
  EXPECT_EQ(dtype_in(Generation::burn_0_21, u32), wide);
  EXPECT_EQ(refusal(u32, for_release(Generation::burn_0_20)).code, ErrorCode::unsupported_dtype);
  const Archive old =
      open_burnpack(burnpack_file(pack_metadata({{"t", cbor_text("Bool"), {2}, 0, 2}}), "\1\1"))
          .value();
  EXPECT_EQ(dtype_in(Generation::burn_0_22, old), native);
}

TEST(BurnpackDType, Flex32StaysFlex32) {
  const std::string file =
      burnpack_file(pack_metadata({{"t", cbor_text("Flex32"), {1}, 0, 4}}), from_hex("0000803f"));
  const Archive archive = open_burnpack(file).value();
  EXPECT_EQ(archive.snapshot(0).dtype(), DType::f32);
  EXPECT_EQ(written(archive), file);
  // Numbers that were converted are no longer what the file said.
  const Archive cast = archive_of({archive.snapshot(0).cast(DType::f16).value()});
  EXPECT_EQ(open_burnpack(written(cast)).value().info(0).file_dtype, "F16");
}

// The dtype of a scheme as a release spells it, or "" where it has none.
Cbor quantized_dtype(const std::string& scheme, Generation generation) {
  std::string cbor;
  detail::CborWriter out(cbor);
  TensorInfo info;
  info.name = "q";
  info.dtype = DType::qfloat;
  info.file_dtype = scheme;
  const Status status = detail::write_burnpack_dtype(out, info, generation);
  if (status) return cbor;
  EXPECT_EQ(status.error().code, ErrorCode::unsupported_dtype);
  EXPECT_EQ(status.error().tensor, "q");
  EXPECT_NE(status.error().expected.find(name_of(generation)), std::string::npos);
  return "";
}

TEST(BurnpackDType, SpellsSchemesOf0_22ToTheByte) {
  EXPECT_EQ(quantized_dtype("QFloat(Q8S,Native,Symmetric,block=[32]:F16)", Generation::burn_0_22),
            from_hex("a1 66") + "QFloat" + from_hex("a5 65") + "value" + from_hex("63") + "Q8S" +
                from_hex("65") + "store" + from_hex("66") + "Native" + from_hex("64") + "mode" +
                from_hex("69") + "Symmetric" + from_hex("66") + "tensor" + from_hex("f6 65") +
                "block" + from_hex("a2 64") + "size" + from_hex("a2 67") + "storage" +
                from_hex("85 1820 01 01 01 01 63") + "len" + from_hex("01 65") + "dtype" +
                from_hex("63") + "F16");
  const Cbor nvfp4 = quantized_dtype(
      "QFloat(E2M1,PackedNative(0),Symmetric,tensor=F32,block=[16]:UE4M3)", Generation::burn_0_22);
  EXPECT_EQ(nvfp4.size(), 111u);
  EXPECT_EQ(
      nvfp4,
      cbor_map({{"QFloat", cbor_map({{"value", cbor_text("E2M1")},
                                     {"store", cbor_map({{"PackedNative", cbor_number(0)}})},
                                     {"mode", cbor_text("Symmetric")},
                                     {"tensor", cbor_text("F32")},
                                     {"block", cbor_map({{"size", cbor_block({16})},
                                                         {"dtype", cbor_text("UE4M3")}})}})}}));
  EXPECT_EQ(quantized_dtype("QFloat(Q4F,PackedU32(0),Lookup)", Generation::burn_0_22),
            cbor_map({{"QFloat", cbor_map({{"value", cbor_text("Q4F")},
                                           {"store", cbor_map({{"PackedU32", cbor_number(0)}})},
                                           {"mode", cbor_text("Lookup")},
                                           {"tensor", from_hex("f6")},
                                           {"block", from_hex("f6")}})}}));
  // Leading ones of a block say nothing, and are left out.
  EXPECT_EQ(
      quantized_dtype("QFloat(Q8S,Native,Symmetric,block=[1,1,32]:F32)", Generation::burn_0_22),
      quantized_dtype("QFloat(Q8S,Native,Symmetric,block=[32]:F32)", Generation::burn_0_22));
  EXPECT_NE(quantized_dtype("QFloat(Q8S,Native,Symmetric,block=[1]:F32)", Generation::burn_0_22)
                .find(from_hex("63 6c656e 01")),
            std::string::npos);
}

TEST(BurnpackDType, SpellsSchemesOfOlderReleases) {
  const auto old = [](const char* value, const char* param, const Cbor& store, const Cbor& level) {
    return cbor_map({{"QFloat", cbor_map({{"value", cbor_text(value)},
                                          {"param", cbor_text(param)},
                                          {"store", store},
                                          {"level", level},
                                          {"mode", cbor_text("Symmetric")}})}});
  };
  const std::string per_tensor = "QFloat(Q8S,Native,Symmetric,tensor=F16)";
  for (const Generation generation : {Generation::burn_0_19, Generation::burn_0_20,
                                      Generation::burn_0_21, Generation::burn_0_22_pre}) {
    EXPECT_EQ(quantized_dtype(per_tensor, generation),
              old("Q8S", "F16", cbor_text("Native"), cbor_text("Tensor")));
    // Without any scale named there is one, an f32.
    EXPECT_EQ(quantized_dtype("QFloat(Q8S,Native,Symmetric)", generation),
              old("Q8S", "F32", cbor_text("Native"), cbor_text("Tensor")));
    EXPECT_EQ(quantized_dtype("QFloat(Q8S,Native,Symmetric,block=[1,32]:BF16)", generation),
              old("Q8S", "BF16", cbor_text("Native"), cbor_map({{"Block", cbor_block({1, 32})}})));
    EXPECT_EQ(quantized_dtype("QFloat(Q4F,PackedU32(0),Lookup)", generation), "");
  }
  const std::string packed = "QFloat(Q4S,PackedU32(0),Symmetric,tensor=F32)";
  EXPECT_EQ(quantized_dtype(packed, Generation::burn_0_19),
            old("Q4S", "F32", cbor_text("U32"), cbor_text("Tensor")));
  EXPECT_EQ(quantized_dtype(packed, Generation::burn_0_20),
            old("Q4S", "F32", cbor_map({{"PackedU32", cbor_number(0)}}), cbor_text("Tensor")));
  const std::string outer = "QFloat(Q4S,PackedU32(1),Symmetric,tensor=F32)";
  EXPECT_EQ(quantized_dtype(outer, Generation::burn_0_19), "");
  EXPECT_NE(quantized_dtype(outer, Generation::burn_0_20), "");
  EXPECT_EQ(
      quantized_dtype("QFloat(E2M1,PackedNative(0),Symmetric,tensor=F32)", Generation::burn_0_19),
      "");
  const std::string two_levels = "QFloat(Q8S,Native,Symmetric,tensor=F32,block=[32]:F16)";
  EXPECT_EQ(quantized_dtype(two_levels, Generation::burn_0_21), "");
  EXPECT_EQ(quantized_dtype(two_levels, Generation::burn_0_22_pre),
            old("Q8S", "F16", cbor_text("Native"),
                cbor_map({{"BlockTensor", cbor_map({{"block", cbor_block({32})},
                                                    {"global", cbor_text("F32")}})}})));
}

TEST(BurnpackDType, QuantizedTensorsComeBackInEveryReleaseThatHasThem) {
  for (const char* text :
       {"QFloat(Q8S,Native,Symmetric,tensor=F32)", "QFloat(Q8S,Native,Symmetric,block=[4]:F16)",
        "QFloat(Q8S,Native,Symmetric,tensor=F32,block=[4]:F16)",
        "QFloat(Q4F,PackedU32(0),Symmetric,tensor=BF16)", "QFloat(Q4F,PackedU32(0),Lookup)",
        "QFloat(E2M1,PackedNative(1),Symmetric,tensor=UE8M0)"}) {
    const QuantScheme scheme = quant_scheme_from_text(text).value();
    std::uint64_t bytes = 0;
    ASSERT_TRUE(quantized_byte_count(scheme, Shape({2, 8}).dims(), bytes));
    const Bytes payload = Bytes::own(std::vector<std::byte>(bytes, std::byte{3}));
    const Archive archive = archive_of({{"q", Tensor::qfloat(scheme, {2, 8}, payload).value()}});
    for (const Generation generation : generations) {
      if (quantized_dtype(text, generation).empty()) continue;
      const Archive again =
          open_burnpack(written(archive, for_release(generation)), Strictness::strict).value();
      EXPECT_EQ(again.info(0).file_dtype, text);
      EXPECT_EQ(again.snapshot(0).read().value().bytes().text(), payload.text());
    }
  }
}

TEST(BurnpackDType, QuantizedPayloadsAreTakenAsTheyAreUnlessStrict) {
  // Releases of Burn differ in how they count the bytes.
  const Bytes payload = Bytes::own(std::vector<std::byte>(11, std::byte{5}));
  const Archive archive = archive_of({{"q", Tensor::qfloat({}, {3, 3}, payload).value()}});
  const Archive again = open_burnpack(written(archive)).value();
  EXPECT_EQ(again.snapshot(0).read().value().bytes().text(), payload.text());
  EXPECT_EQ(again.notes().size(), 1u);
  EXPECT_EQ(open_burnpack(written(archive), Strictness::strict).error().code,
            ErrorCode::size_mismatch);
}

TEST(BurnpackDType, TypesThatTheFormatLacksAreRefusedByName) {
  const auto expect_refused = [](TensorSnapshot tensor) {
    for (const Generation generation : generations) {
      const Error error =
          refusal(archive_of({{"fine", filled(DType::u8, {1})}, tensor}), for_release(generation));
      EXPECT_EQ(error.code, ErrorCode::unsupported_dtype);
      EXPECT_EQ(error.tensor, "bad");
      EXPECT_NE(error.expected.find(name_of(generation)), std::string::npos);
    }
  };
  expect_refused({"bad", filled(DType::c64, {1})});
  expect_refused({"bad", filled(DType::f8e4m3fn, {1})});
  expect_refused({"bad", filled(DType::f4e2m1, {2})});
  expect_refused({"bad", Tensor::raw("quint8", {1}, Bytes()).value()});
  // A known name over other bytes would make a file that says what is not so.
  expect_refused({"bad", Tensor::raw("F32", {2}, Bytes::own(std::vector<std::byte>(5))).value()});
  expect_refused(
      {"bad", Tensor::raw("Bool(U32)", {2}, Bytes::own(std::vector<std::byte>(5))).value()});
  expect_refused({"bad", Tensor::raw("QFloat", {2}, Bytes()).value()});
}

}  // namespace
}  // namespace andiron::test
