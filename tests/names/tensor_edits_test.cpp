// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "andiron/names.h"
#include "andiron/open.h"
#include "andiron/stores.h"
#include "andiron/write.h"
#include "tests/names/named_archive.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;

struct EditedTensor {
  std::string name;
  Shape shape;
};

// The numbers of the i-th tensor count up from 100 * i.
Archive archive_to_edit(const std::vector<EditedTensor>& tensors) {
  Archive archive;
  for (const auto& [name, shape] : tensors) {
    const auto first = static_cast<float>(100 * archive.size());
    archive.add(TensorSnapshot(name, f32(shape, first))).value();
  }
  return archive;
}

std::vector<float> numbers_of(const Archive& archive, std::string_view name) {
  return archive.get(name).value().read().value().to_vector<float>().value();
}

Shape shape_of(const Archive& archive, std::string_view name) {
  return archive.get(name).value().shape();
}

using Floats = std::vector<float>;

const TensorEdit split_qkv =
    TensorEdit::split(R"(\.qkv\.(weight|bias)$)", {".q.$1", ".k.$1", ".v.$1"});
const TensorEdit join_qkv =
    TensorEdit::join(R"(\.q\.(weight|bias)$)", {".k.$1", ".v.$1"}, ".qkv.$1");

TEST(TensorEdits, WithoutAnyTheArchiveIsAsItWas) {
  Archive archive = archive_to_edit({{"a", {2}}});
  archive.set_aliases({{"b", "a"}});
  const Archive edited = edit_tensors(archive, {}).value();
  EXPECT_EQ(names_of(edited), Names{"a"});
  EXPECT_EQ(edited.aliases(), archive.aliases());
  EXPECT_TRUE(edited.notes().empty());
}

TEST(TensorEdits, ASplitMakesEqualParts) {
  const Archive archive =
      archive_to_edit({{"0.qkv.weight", {6, 2}}, {"0.qkv.bias", {6}}, {"head.weight", {6}}});
  const Archive edited = edit_tensors(archive, {split_qkv}).value();
  EXPECT_EQ(names_of(edited), (Names{"head.weight", "0.q.weight", "0.k.weight", "0.v.weight",
                                     "0.q.bias", "0.k.bias", "0.v.bias"}));
  EXPECT_EQ(shape_of(edited, "0.k.weight"), Shape({2, 2}));
  EXPECT_EQ(numbers_of(edited, "0.q.weight"), (Floats{0, 1, 2, 3}));
  EXPECT_EQ(numbers_of(edited, "0.k.weight"), (Floats{4, 5, 6, 7}));
  EXPECT_EQ(numbers_of(edited, "0.v.weight"), (Floats{8, 9, 10, 11}));
  EXPECT_EQ(numbers_of(edited, "0.v.bias"), (Floats{104, 105}));
  EXPECT_TRUE(edited.notes().empty());
}

TEST(TensorEdits, ASplitFollowsItsShares) {
  const Archive archive = archive_to_edit({{"qkv", {8}}});
  const Archive edited =
      edit_tensors(archive, {TensorEdit::split("^qkv$", {"q", "k", "v"}, 0, {2, 1, 1})}).value();
  EXPECT_EQ(numbers_of(edited, "q"), (Floats{0, 1, 2, 3}));
  EXPECT_EQ(numbers_of(edited, "k"), (Floats{4, 5}));
  EXPECT_EQ(numbers_of(edited, "v"), (Floats{6, 7}));
}

TEST(TensorEdits, ASplitCutsTheDimensionThatItIsGiven) {
  const Archive archive = archive_to_edit({{"both", {2, 4}}});
  const Archive edited =
      edit_tensors(archive, {TensorEdit::split("^both$", {"left", "right"}, 1)}).value();
  EXPECT_EQ(shape_of(edited, "left"), Shape({2, 2}));
  EXPECT_EQ(numbers_of(edited, "left"), (Floats{0, 1, 4, 5}));
  EXPECT_EQ(numbers_of(edited, "right"), (Floats{2, 3, 6, 7}));
}

TEST(TensorEdits, AJoinPutsTensorsTogetherInOrder) {
  const Archive archive = archive_to_edit(
      {{"0.v.weight", {1, 2}}, {"0.k.weight", {1, 2}}, {"0.q.weight", {2, 2}}, {"other", {1}}});
  const Archive edited = edit_tensors(archive, {join_qkv}).value();
  EXPECT_EQ(names_of(edited), (Names{"other", "0.qkv.weight"}));
  EXPECT_EQ(shape_of(edited, "0.qkv.weight"), Shape({4, 2}));
  EXPECT_EQ(numbers_of(edited, "0.qkv.weight"), (Floats{200, 201, 202, 203, 100, 101, 0, 1}));
  EXPECT_TRUE(edited.notes().empty());
}

TEST(TensorEdits, AJoinTakesTheDimensionThatItIsGiven) {
  const Archive archive = archive_to_edit({{"left", {2, 1}}, {"right", {2, 2}}});
  const Archive edited =
      edit_tensors(archive, {TensorEdit::join("^left$", {"right"}, "both", 1)}).value();
  EXPECT_EQ(names_of(edited), Names{"both"});
  EXPECT_EQ(numbers_of(edited, "both"), (Floats{0, 100, 101, 1, 102, 103}));
}

TEST(TensorEdits, AJoinUndoesASplit) {
  const Archive archive = archive_to_edit({{"0.qkv.weight", {6, 2}}, {"0.qkv.bias", {6}}});
  const Archive edited = edit_tensors(archive, {split_qkv, join_qkv}).value();
  test::expect_same_tensors(edited, archive);
}

TEST(TensorEdits, ATensorThatLacksAnotherIsNotJoined) {
  const Archive archive = archive_to_edit({{"0.q.weight", {2}},
                                           {"0.k.weight", {2}},
                                           {"1.q.weight", {2}},
                                           {"1.k.weight", {2}},
                                           {"1.v.weight", {2}}});
  const Archive edited = edit_tensors(archive, {join_qkv}).value();
  EXPECT_EQ(names_of(edited), (Names{"0.q.weight", "0.k.weight", "1.qkv.weight"}));
  EXPECT_EQ(edited.notes(),
            std::vector<Message>{"not joined, for lack of another tensor: '0.q.weight'"});
}

TEST(TensorEdits, ATensorIsJoinedOnce) {
  const Archive archive = archive_to_edit({{"a", {1}}, {"b", {1}}, {"shared", {1}}});
  const Archive edited =
      edit_tensors(archive, {TensorEdit::join("^(a|b)$", {"shared"}, "${1}_all")}).value();
  EXPECT_EQ(names_of(edited), (Names{"b", "a_all"}));
  EXPECT_EQ(edited.notes(), std::vector<Message>{"not joined, for lack of another tensor: 'b'"});
  // Nor with itself.
  EXPECT_EQ(names_of(edit_tensors(archive, {TensorEdit::join("^a$", {"a"}, "aa")}).value()),
            names_of(archive));
}

TEST(TensorEdits, ATransposeSwapsTheDimensionsOfMatrices) {
  const Archive archive =
      archive_to_edit({{"c_fc.weight", {2, 3}}, {"c_fc.bias", {3}}, {"c_fc.filter", {1, 2, 3}}});
  const Archive edited = edit_tensors(archive, {TensorEdit::transpose(R"(^c_fc\.)")}).value();
  EXPECT_EQ(edited.size(), 3u);
  EXPECT_EQ(shape_of(edited, "c_fc.weight"), Shape({3, 2}));
  EXPECT_EQ(numbers_of(edited, "c_fc.weight"), (Floats{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(shape_of(edited, "c_fc.bias"), Shape({3}));
  EXPECT_EQ(shape_of(edited, "c_fc.filter"), Shape({1, 2, 3}));
  EXPECT_TRUE(edited.notes().empty());
}

TEST(TensorEdits, TiedNamesBecomeCopies) {
  Archive archive = archive_to_edit({{"embedding", {2, 3}}});
  archive.set_aliases({{"output", "embedding"}});
  const Archive edited = edit_tensors(archive, {TensorEdit::transpose("^output$")}).value();
  EXPECT_EQ(names_of(edited), (Names{"embedding", "output"}));
  EXPECT_TRUE(edited.aliases().empty());
  EXPECT_EQ(shape_of(edited, "embedding"), Shape({2, 3}));
  EXPECT_EQ(shape_of(edited, "output"), Shape({3, 2}));
}

TEST(TensorEdits, ThatMatchNothingGiveNotes) {
  const Archive archive = archive_to_edit({{"a", {2}}});
  const Archive edited =
      edit_tensors(archive, {TensorEdit::split("^x$", {"y", "z"}),
                             TensorEdit::join("^x$", {"y"}, "z"), TensorEdit::transpose("^x$")})
          .value();
  EXPECT_EQ(names_of(edited), Names{"a"});
  EXPECT_EQ(edited.notes(), (std::vector<Message>{"no name matches '^x$': nothing to split",
                                                  "no name matches '^x$': nothing to join",
                                                  "no name matches '^x$': nothing to transpose"}));
}

TEST(TensorEdits, WithABadPatternFail) {
  const Archive archive = archive_to_edit({{"a", {2}}});
  const TensorEdit bad = TensorEdit::transpose("(");
  EXPECT_EQ(edit_tensors(archive, {bad}).error().code, ErrorCode::invalid_pattern);
  const NameOptions options{.edits = {bad}};
  EXPECT_EQ(options.status().error().code, ErrorCode::invalid_pattern);
  EXPECT_EQ(apply_names(archive, options).error().code, ErrorCode::invalid_pattern);
}

TEST(TensorEdits, NameATensorThatCannotBeCut) {
  const Archive archive = archive_to_edit({{"other", {6}}, {"a.qkv.weight", {4, 6}}});
  const auto error_of = [&](std::size_t dim, std::vector<std::uint64_t> shares) {
    const TensorEdit edit = TensorEdit::split("qkv", {"q", "k", "v"}, dim, std::move(shares));
    return edit_tensors(archive, {edit}).error();
  };
  for (const Error& error : {error_of(0, {}), error_of(2, {}), error_of(1, {4, 2, 1}),
                             error_of(1, {0, 0, 0}), error_of(1, {UINT64_MAX, UINT64_MAX, 8})}) {
    EXPECT_EQ(error.code, ErrorCode::shape_mismatch);
    EXPECT_EQ(error.tensor, "a.qkv.weight");
    EXPECT_EQ(error.found, "[4, 6]");
  }
  EXPECT_EQ(error_of(0, {}).message, "cannot split a tensor");
  EXPECT_EQ(error_of(0, {}).expected, "a dimension 0 that can be cut into 3 parts");
  EXPECT_EQ(error_of(2, {}).expected, "a dimension 2");
  EXPECT_EQ(error_of(1, {4, 2, 1}).expected,
            "a dimension 1 that can be cut into 3 parts in proportion to the shares");
  EXPECT_EQ(error_of(1, {1, 2}).code, ErrorCode::invalid_argument);
}

TEST(TensorEdits, NameATensorThatCannotBeJoined) {
  const Archive archive = archive_to_edit({{"a", {2, 3}}, {"b", {2, 4}}});
  const Error error = edit_tensors(archive, {TensorEdit::join("^a$", {"b"}, "both")}).error();
  EXPECT_EQ(error.code, ErrorCode::shape_mismatch);
  EXPECT_EQ(error.tensor, "a");
}

TEST(TensorEdits, APartMayHaveTheNameOfTheWhole) {
  const Archive archive = archive_to_edit({{"a", {4}}, {"b", {4}}});
  const Archive edited = edit_tensors(archive, {TensorEdit::split("^a$", {"a", "c"})}).value();
  EXPECT_EQ(names_of(edited), (Names{"b", "a", "c"}));
  EXPECT_EQ(numbers_of(edited, "a"), (Floats{0, 1}));
}

TEST(TensorEdits, RunInOrderOnTheResultOfTheOneBefore) {
  const Archive archive = archive_to_edit({{"whole", {2, 4}}});
  const TensorEdit turn = TensorEdit::transpose("^(whole|half1)$");
  const TensorEdit halve = TensorEdit::split("^whole$", {"half1", "half2"});
  const Archive turned_first = edit_tensors(archive, {turn, halve}).value();
  EXPECT_EQ(shape_of(turned_first, "half1"), Shape({2, 2}));
  EXPECT_EQ(numbers_of(turned_first, "half1"), (Floats{0, 4, 1, 5}));
  const Archive halved_first = edit_tensors(archive, {halve, turn}).value();
  EXPECT_EQ(shape_of(halved_first, "half1"), Shape({4, 1}));
  EXPECT_EQ(shape_of(halved_first, "half2"), Shape({1, 4}));
}

TEST(TensorEdits, ComeAfterTheRulesAndBeforeTheGaps) {
  const Archive archive = archive_to_edit({{"net.fused.bias", {4}}});
  NameOptions options{.top_level_key = "net",
                      .edits = {TensorEdit::split(R"(^both\.(\w+)$)", {"fc.0.$1", "fc.3.$1"})},
                      .close_gaps = true};
  options.remapper.add_pattern("^fused", "both");
  EXPECT_EQ(names_of(apply_names(archive, options).value()), (Names{"fc.0.bias", "fc.1.bias"}));
}

TEST(TensorEdits, MakeTensorsThatAreNotInTheFile) {
  const Archive archive = archive_to_edit({{"kept", {2}}, {"fused", {4}}, {"turned", {2, 3}}});
  const NameOptions options{
      .edits = {TensorEdit::split("^fused$", {"a", "b"}), TensorEdit::transpose("^turned$")}};
  const Archive named = apply_names(archive, options).value();
  ASSERT_EQ(names_of(named), (Names{"kept", "a", "b", "turned"}));
  EXPECT_EQ(named.index_in_file(0), 0u);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_FALSE(named.index_in_file(i));

  Archive kept;
  kept.add(TensorSnapshot("kept", f32({2}, 7))).value();
  const Archive back = put_back(kept, named).value();
  EXPECT_EQ(names_of(back), names_of(archive));
  EXPECT_EQ(numbers_of(back, "kept"), (Floats{7, 8}));
  for (const char* name : {"a", "turned"}) {
    Archive made;
    made.add(TensorSnapshot(name, shape_of(named, name).rank() == 1 ? f32({2}, 7) : f32({3, 2}, 7)))
        .value();
    EXPECT_EQ(put_back(made, named).error().code, ErrorCode::missing_tensor);
  }
}

TEST(TensorEdits, AreCallsOfAStore) {
  const Archive archive = archive_to_edit({{"qkv", {4}}, {"a", {1}}, {"b", {1}}, {"m", {2, 3}}});
  const Bytes file = write_to_memory(archive, {.format = Format::safetensors}).value();
  auto store = SafetensorsStore::from_bytes(file)
                   .split_tensors("^qkv$", {"q", "kv"}, 0, {1, 3})
                   .join_tensors("^a$", {"b"}, "ab")
                   .transpose_tensors("^m$");
  const Archive named = store.archive().value();
  EXPECT_EQ(numbers_of(named, "kv"), (Floats{1, 2, 3}));
  EXPECT_EQ(numbers_of(named, "ab"), (Floats{100, 200}));
  EXPECT_EQ(shape_of(named, "m"), Shape({3, 2}));
}

TEST(TensorEdits, AreIgnoredBySaves) {
  auto store = SafetensorsStore().transpose_tensors("head").split_tensors("norm", {"a", "b"});
  save_into(test::sample_net(1), store).value();
  const Archive file = open(store.get_bytes().value()).value();
  EXPECT_EQ(shape_of(file, "head.weight"), Shape({4, 2}));
  EXPECT_TRUE(file.find("blocks.0.norm.gamma"));
}

TEST(TensorEdits, CopeWithManyTensors) {
  constexpr std::size_t count = 100'000;
  Archive archive;
  const Tensor tensor = f32({2, 2}, 1);
  for (std::size_t i = 0; i < count; ++i) {
    archive.add(TensorSnapshot("layers." + std::to_string(i) + ".ab", tensor)).value();
  }
  const Archive edited =
      edit_tensors(archive, {TensorEdit::transpose("ab$"), TensorEdit::split("ab$", {"a", "b"}),
                             TensorEdit::join("a$", {"b"}, "ab")})
          .value();
  EXPECT_EQ(edited.size(), count);
  EXPECT_EQ(numbers_of(edited, "layers.99999.ab"), (Floats{1, 3, 2, 4}));
}

TEST(TensorEdits, RefuseToGiveOneNameToTwoTensors) {
  const Archive archive = archive_to_edit({{"a", {4}}, {"b", {4}}});
  for (const TensorEdit& edit :
       {TensorEdit::split("^a$", {"x", "x"}), TensorEdit::split("^a$", {"x", "b"}),
        TensorEdit::split("^[ab]$", {"x", "y"})}) {
    EXPECT_EQ(edit_tensors(archive, {edit}).error().code, ErrorCode::name_collision);
  }
}

}  // namespace
}  // namespace andiron
