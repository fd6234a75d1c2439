// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the data of a Burnpack file lies, and which releases may have written it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "andiron/burnpack_view.h"
#include "tests/freestanding/burnpack_entries.h"
#include "tests/support/burnpack_file.h"

namespace andiron::test {
namespace {

using Generation = BurnpackGeneration;

// The layout that is found for a file.
BurnpackLayout layout_of(const std::string& file) { return view_of(file).layout(); }

// Tensors of these sizes as a release lays them out, whether or not it says who it is.
struct Pack {
  std::vector<std::uint64_t> sizes;
  std::vector<std::pair<std::string, Cbor>> parts = {};

  std::string file(PackLayout layout) const {
    std::vector<PackTensor> tensors;
    std::string data;
    for (const std::uint64_t size : sizes) {
      if (layout == PackLayout::aligned) data.resize((data.size() + 255) / 256 * 256, '\0');
      tensors.push_back(pack_u8(std::string(1, static_cast<char>('a' + tensors.size())),
                                data.size(), data.size() + size));
      data += counting(static_cast<std::size_t>(size));
    }
    return burnpack_file(pack_metadata(tensors, parts), data, layout);
  }
};

const std::vector<std::uint64_t> sizes_of_packs[] = {
    {5},           {256},           {512},     {1},
    {255},         {257},           {5, 7, 9}, {256, 256, 512},
    {256, 5},      {5, 256},        {0, 5},    {5, 0},
    {256, 0, 256}, {1, 1, 1, 1, 1}, {300, 4},  {1024, 1024, 100},
};

std::vector<std::pair<std::string, Cbor>> parts_of(const char* version, const char* producer) {
  if (version == nullptr) return {};
  return {pack_producer(version, producer)};
}

TEST(BurnpackLayout, TellsTheOldLayoutFromTheNew) {
  struct Said {
    const char* version;
    const char* producer;
  };
  for (const auto& sizes : sizes_of_packs) {
    // As written by each, by a user who set the version, or without any metadata.
    for (const Said& said : {Said{nullptr, nullptr}, {"1.0", "burn"}, {"0.19.1", "mine"}}) {
      for (const PackLayout layout : {PackLayout::aligned, PackLayout::unaligned}) {
        const std::string file = Pack{sizes, parts_of(said.version, said.producer)}.file(layout);
        EXPECT_EQ(layout_of(file).is_aligned, layout == PackLayout::aligned);
      }
    }
    EXPECT_TRUE(
        layout_of(Pack{sizes, parts_of("0.21.0", "burn")}.file(PackLayout::aligned)).is_aligned);
    EXPECT_FALSE(
        layout_of(Pack{sizes, parts_of("0.19.1", "burn")}.file(PackLayout::unaligned)).is_aligned);
    // The wrong version on an intact file misleads nobody.
    EXPECT_TRUE(
        layout_of(Pack{sizes, parts_of("0.19.1", "burn")}.file(PackLayout::aligned)).is_aligned);
    EXPECT_FALSE(
        layout_of(Pack{sizes, parts_of("0.21.0", "burn")}.file(PackLayout::unaligned)).is_aligned);
  }
}

TEST(BurnpackLayout, MetadataThatEndsOnAMultipleOf256HasBothLayouts) {
  for (std::size_t extra = 0; extra < 512; ++extra) {
    const Pack pack{{5, 7}, {{"x", cbor_text(std::string(extra, 'x'))}}};
    const std::string file = pack.file(PackLayout::unaligned);
    const bool is_multiple = (file.size() - 12) % 256 == 0;
    const BurnpackLayout layout = layout_of(file);
    EXPECT_EQ(layout.is_aligned, is_multiple) << extra;
    EXPECT_EQ(layout.data_begin, file.size() - 12);
    EXPECT_EQ(layout.earliest, Generation::burn_0_19);
  }
}

TEST(BurnpackLayout, AppendedBytesDoNotChangeTheLayout) {
  for (const auto& sizes : sizes_of_packs) {
    for (std::size_t appended = 1; appended <= 600; ++appended) {
      for (const char* version : {static_cast<const char*>(nullptr), "1.0", "0.19.1"}) {
        const std::string old = Pack{sizes, parts_of(version, "burn")}.file(PackLayout::unaligned);
        const BurnpackLayout intact = layout_of(old);
        // One tensor with as many bytes after it as there would be before it: only the version
        // tells.
        const std::uint64_t padding = 256 - intact.data_begin % 256;
        if (padding == appended && (version == nullptr || version != std::string_view("0.19.1")))
          continue;
        ASSERT_FALSE(layout_of(old + counting(appended)).is_aligned) << appended;
      }
      for (const char* version : {static_cast<const char*>(nullptr), "1.0", "0.20.1"}) {
        const std::string file = Pack{sizes, parts_of(version, "burn")}.file(PackLayout::aligned);
        ASSERT_TRUE(layout_of(file + counting(appended)).is_aligned) << appended;
      }
    }
  }
}

TEST(BurnpackLayout, AByteInThePaddingDoesNotChangeTheLayout) {
  for (const auto& sizes : sizes_of_packs) {
    for (const char* version : {static_cast<const char*>(nullptr), "1.0", "0.20.1"}) {
      std::string file = Pack{sizes, parts_of(version, "burn")}.file(PackLayout::aligned);
      file[static_cast<std::size_t>(layout_of(file).data_begin) - 1] = 1;
      EXPECT_TRUE(layout_of(file).is_aligned);
    }
  }
}

TEST(BurnpackLayout, TellsWhichReleasesMayHaveWrittenAFile) {
  using enum BurnpackGeneration;
  const auto expect = [](const std::vector<PackTensor>& tensors, PackLayout kind,
                         BurnpackGeneration earliest, BurnpackGeneration latest,
                         std::vector<std::pair<std::string, Cbor>> parts = {}) {
    const std::string file =
        burnpack_file(pack_metadata(tensors, std::move(parts)), counting(68), kind);
    const BurnpackLayout layout = layout_of(file);
    EXPECT_EQ(layout.earliest, earliest);
    EXPECT_EQ(layout.latest, latest);
  };
  const auto quantized_as = [](const Cbor& scheme) {
    return PackTensor{"t", cbor_map({{"QFloat", scheme}}), {2, 32}, 0, 68};
  };
  const PackTensor plain = pack_u8("t", 0, 68);
  const PackTensor old_bool{"t", cbor_text("Bool"), {68}, 0, 68};
  const PackTensor new_bool{"t", cbor_map({{"Bool", cbor_text("Native")}}), {68}, 0, 68};
  expect({plain}, PackLayout::unaligned, burn_0_19, burn_0_19);
  expect({plain}, PackLayout::aligned, burn_0_20, burn_0_22);
  expect({old_bool}, PackLayout::unaligned, burn_0_19, burn_0_19);
  expect({old_bool}, PackLayout::aligned, burn_0_20, burn_0_20);
  expect({new_bool}, PackLayout::aligned, burn_0_21, burn_0_22);
  expect({plain}, PackLayout::aligned, burn_0_22_pre, burn_0_22,
         {{"scalars", cbor_map({{"n", cbor_map({{"Int", cbor_number(1)}})}})}});
  const Cbor with_levels = cbor_map({{"value", cbor_text("Q8S")},
                                     {"param", cbor_text("F32")},
                                     {"store", cbor_text("Native")},
                                     {"level", cbor_text("Tensor")},
                                     {"mode", cbor_text("Symmetric")}});
  expect({quantized_as(with_levels)}, PackLayout::aligned, burn_0_20, burn_0_22_pre);
  const Cbor newest = cbor_map({{"value", cbor_text("Q8S")},
                                {"store", cbor_text("Native")},
                                {"mode", cbor_text("Symmetric")},
                                {"tensor", cbor_text("F32")},
                                {"block", from_hex("f6")}});
  expect({quantized_as(newest)}, PackLayout::aligned, burn_0_22, burn_0_22);
}

TEST(BurnpackGenerationNames, FollowTheReleasesOfBurn) {
  const auto generation = [](std::string_view release) {
    Generation found{};
    return burnpack_generation_of(release, found) ? std::string(name_of(found)) : "none";
  };
  EXPECT_EQ(generation("0.19.0"), "0.19");
  EXPECT_EQ(generation("0.19.1"), "0.19");
  EXPECT_EQ(generation("0.20.0-pre.1"), "0.19");
  EXPECT_EQ(generation("0.20.0-pre.4"), "0.19");
  EXPECT_EQ(generation("0.20.0-pre.5"), "0.20");
  EXPECT_EQ(generation("0.20.0-pre.10"), "0.20");
  EXPECT_EQ(generation("0.20.1"), "0.20");
  EXPECT_EQ(generation("0.21.0-pre.1"), "0.21");
  EXPECT_EQ(generation("0.21.0"), "0.21");
  EXPECT_EQ(generation("0.22.0-pre.1"), "0.22-pre");
  EXPECT_EQ(generation("0.22.0-pre.2"), "0.22-pre");
  EXPECT_EQ(generation("0.22.0-pre.3"), "0.22");
  EXPECT_EQ(generation("0.22.1"), "0.22");
  EXPECT_EQ(generation("0.23.0-pre.1"), "0.22");
  for (const char* other : {"", "1.0", "0.18.0", "0.190", "0.2", "burn"}) {
    EXPECT_EQ(generation(other), "none") << other;
  }
}

TEST(BurnpackLayout, AFileCutAnywhereIsRefused) {
  for (const auto& sizes : sizes_of_packs) {
    for (const char* version : {static_cast<const char*>(nullptr), "1.0", "right"}) {
      for (const PackLayout layout : {PackLayout::aligned, PackLayout::unaligned}) {
        const bool is_old = layout == PackLayout::unaligned;
        const char* said = version == nullptr              ? nullptr
                           : std::string(version) == "1.0" ? "1.0"
                           : is_old                        ? "0.19.1"
                                                           : "0.20.1";
        const std::string file = Pack{sizes, parts_of(said, "burn")}.file(layout);
        ASSERT_TRUE(open_file(file).ok());
        for (std::size_t size = 0; size < file.size(); ++size) {
          ASSERT_FALSE(open_file(file.substr(0, size)).ok()) << size << " of " << file.size();
        }
      }
    }
  }
}

TEST(BurnpackLayout, AFileCutInItsGapsIsNotTakenForAnOldOne) {
  const Cbor metadata = pack_metadata({pack_u8("a", 4, 8)});
  const std::string whole = burnpack_file(metadata, counting(8), PackLayout::aligned);
  EXPECT_TRUE(layout_of(whole).is_aligned);
  EXPECT_EQ(open_file(whole.substr(0, whole.size() - 4)).code, ErrorCode::truncated);
}

}  // namespace
}  // namespace andiron::test
