// SPDX-License-Identifier: MIT OR Apache-2.0
// Schemes of quantization as each release of Burn has them.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "andiron/burnpack_view.h"
#include "tests/freestanding/burnpack_entries.h"
#include "tests/support/burnpack_file.h"

namespace andiron::test {
namespace {

using Generation = BurnpackGeneration;

BurnpackEntry quantized(const std::vector<std::pair<std::string, Cbor>>& scheme) {
  const PackTensor tensor{"q", cbor_map({{"QFloat", cbor_map(scheme)}}), {2, 32}, 0, 68};
  const std::string file = burnpack_file(pack_metadata({tensor}), counting(68));
  BurnpackEntry entry = entry_of(view_of(file), "q");
  entry.name = {};
  entry.dtype_name = entry.dtype_name == "QFloat" ? "QFloat" : "?";
  return entry;
}

TEST(BurnpackView, ReadsTheSchemaOfQuantizationOf0_22) {
  BurnpackEntry entry =
      quantized({{"value", cbor_text("Q8S")},
                 {"store", cbor_text("Native")},
                 {"mode", cbor_text("Symmetric")},
                 {"tensor", cbor_null},
                 {"block", cbor_map({{"size", cbor_block({32})}, {"dtype", cbor_text("F16")}})}});
  EXPECT_EQ(entry.dtype, DType::qfloat);
  EXPECT_EQ(entry.dtype_name, "QFloat");
  EXPECT_EQ(entry.scheme.value, QuantValue::q8s);
  EXPECT_EQ(entry.scheme.store, QuantStore::native);
  EXPECT_EQ(entry.scheme.mode, QuantMode::symmetric);
  EXPECT_FALSE(entry.scheme.has_tensor_scale);
  EXPECT_TRUE(entry.scheme.has_blocks);
  EXPECT_EQ(entry.scheme.block.rank, 1u);
  EXPECT_EQ(entry.scheme.block.size[0], 32u);
  EXPECT_EQ(entry.scheme.block_param, QuantParam::f16);
  EXPECT_EQ(entry.earliest, Generation::burn_0_22);
  EXPECT_EQ(entry.latest, Generation::burn_0_22);

  entry = quantized({{"block", cbor_null},
                     {"mode", cbor_text("Lookup")},
                     {"more", cbor_list({})},
                     {"store", cbor_map({{"PackedU32", cbor_number(1)}})},
                     {"tensor", cbor_text("BF16")},
                     {"value", cbor_text("Q4F")}});
  EXPECT_EQ(entry.dtype, DType::qfloat);
  EXPECT_EQ(entry.scheme.store, QuantStore::packed_u32);
  EXPECT_EQ(entry.scheme.packed_dim, 1u);
  EXPECT_EQ(entry.scheme.mode, QuantMode::lookup);
  EXPECT_TRUE(entry.scheme.has_tensor_scale);
  EXPECT_EQ(entry.scheme.tensor_param, QuantParam::bf16);
  EXPECT_FALSE(entry.scheme.has_blocks);
}

TEST(BurnpackView, ReadsTheOlderSchemasOfQuantization) {
  const auto old = [](const Cbor& store, const Cbor& level) {
    return quantized({{"value", cbor_text("Q8S")},
                      {"param", cbor_text("F16")},
                      {"store", store},
                      {"level", level},
                      {"mode", cbor_text("Symmetric")}});
  };
  BurnpackEntry entry = old(cbor_text("U32"), cbor_text("Tensor"));
  EXPECT_EQ(entry.dtype, DType::qfloat);
  EXPECT_EQ(entry.scheme.store, QuantStore::packed_u32);
  EXPECT_EQ(entry.scheme.packed_dim, 0u);
  EXPECT_TRUE(entry.scheme.has_tensor_scale);
  EXPECT_EQ(entry.scheme.tensor_param, QuantParam::f16);
  EXPECT_EQ(entry.earliest, Generation::burn_0_19);
  EXPECT_EQ(entry.latest, Generation::burn_0_19);

  entry = old(cbor_text("Native"), cbor_map({{"Block", cbor_block({2, 16})}}));
  EXPECT_EQ(entry.dtype, DType::qfloat);
  EXPECT_EQ(entry.scheme.level(), QuantLevel::block);
  EXPECT_EQ(entry.scheme.block.rank, 2u);
  EXPECT_EQ(entry.scheme.block_param, QuantParam::f16);
  EXPECT_EQ(entry.earliest, Generation::burn_0_19);
  EXPECT_EQ(entry.latest, Generation::burn_0_22_pre);

  entry = old(cbor_map({{"PackedNative", cbor_number(0)}}), cbor_text("Tensor"));
  EXPECT_EQ(entry.scheme.store, QuantStore::packed_native);
  EXPECT_EQ(entry.earliest, Generation::burn_0_20);
  EXPECT_EQ(entry.latest, Generation::burn_0_22_pre);

  entry = old(cbor_text("Native"),
              cbor_map({{"BlockTensor",
                         cbor_map({{"block", cbor_block({32})}, {"global", cbor_text("F32")}})}}));
  EXPECT_EQ(entry.scheme.level(), QuantLevel::block_and_tensor);
  EXPECT_EQ(entry.scheme.tensor_param, QuantParam::f32);
  EXPECT_EQ(entry.scheme.block_param, QuantParam::f16);
  EXPECT_EQ(entry.earliest, Generation::burn_0_22_pre);
  EXPECT_EQ(entry.latest, Generation::burn_0_22_pre);

  // Of no release: the old way to pack with the new levels.
  entry = quantized({{"value", cbor_text("Q8S")},
                     {"store", cbor_text("U32")},
                     {"mode", cbor_text("Symmetric")},
                     {"tensor", cbor_null},
                     {"block", cbor_null}});
  EXPECT_EQ(entry.dtype, DType::raw);
}

}  // namespace
}  // namespace andiron::test
