// SPDX-License-Identifier: MIT OR Apache-2.0
// Files in another layout than the module's, where no shape tells.
#include "src/load/layout_notes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/nn/conv.h"
#include "andiron/nn/linear.h"
#include "andiron/stores.h"
#include "tests/support/state_dict.h"

namespace andiron::test {
namespace {

struct Square {
  nn::Conv2d conv = nn::Conv2dConfig({1, 2}, {3, 3}).init();
  nn::Linear fc = nn::LinearConfig(4, 4).init();
  nn::Linear one = nn::LinearConfig(1, 1).init();
  ANDIRON_MODULE(Square, conv, fc, one)
};

// With a matrix whose shape tells the layout.
struct Mixed {
  nn::Linear fc = nn::LinearConfig(4, 4).init();
  nn::Linear head = nn::LinearConfig(4, 2).init();
  ANDIRON_MODULE(Mixed, fc, head)
};

template <class M, class S>
Bytes saved(S store) {
  save_into(M(), store).value();
  return store.get_bytes().value();
}

// As Python's save_file() writes it.
template <class M>
Bytes without_metadata() {
  return saved<M>(SafetensorsStore::from_bytes().clear_metadata());
}

template <class M>
std::vector<Message> notes_of(const Store& store) {
  M model;
  return load_from(model, store).value().notes;
}

bool is_one_note(const std::vector<Message>& notes, std::string_view begin, std::string_view part) {
  return notes.size() == 1 && notes[0].starts_with(begin) &&
         notes[0].find(part) != std::string::npos;
}

TEST(LayoutNotes, ASquareMatrixOfAFileThatTellsNothingIsNamed) {
  const auto store = SafetensorsStore::from_bytes(without_metadata<Square>());
  const std::vector<Message> notes = notes_of<Square>(store);
  EXPECT_TRUE(is_one_note(notes, "nothing tells the layout of 'fc.weight':",
                          ".with_from_adapter(PyTorchToBurnAdapter())"))
      << testing::PrintToString(notes);
  for (const AnyAdapter& given :
       {AnyAdapter(PyTorchToBurnAdapter()), AnyAdapter(IdentityAdapter())}) {
    EXPECT_TRUE(notes_of<Square>(SafetensorsStore(store).with_from_adapter(given)).empty());
  }
  EXPECT_EQ(
      notes_of<Square>(SafetensorsStore(store).dtype_policy(DTypePolicy::cast_to_module)).size(),
      1u);
}

TEST(LayoutNotes, AMatrixThatFitsOneWayTellsForTheOthers) {
  EXPECT_TRUE(notes_of<Mixed>(SafetensorsStore::from_bytes(without_metadata<Mixed>())).empty());
}

TEST(LayoutNotes, ThereAreNoneForFilesThatBurnOrWeWrote) {
  EXPECT_TRUE(
      notes_of<Square>(SafetensorsStore::from_bytes(saved<Square>(SafetensorsStore::from_bytes())))
          .empty());
  EXPECT_TRUE(
      notes_of<Square>(BurnpackStore::from_bytes(saved<Square>(BurnpackStore::from_bytes())))
          .empty());
}

TEST(LayoutNotes, APytorchAdapterOnAFileOfBurnsGetsOne) {
  const std::string why = "but the adapter transposes 'fc.weight'; load it without ";
  const auto pack = BurnpackStore::from_bytes(saved<Square>(
      BurnpackStore::from_bytes().clear_metadata().metadata("producer", "burn-onnx")));
  EXPECT_TRUE(
      is_one_note(notes_of<Square>(BurnpackStore(pack).with_from_adapter(PyTorchToBurnAdapter())),
                  "the metadata says that burn-onnx wrote this file in Burn's layout, ", why));
  const auto ours = SafetensorsStore::from_bytes(saved<Square>(SafetensorsStore::from_bytes()));
  EXPECT_TRUE(is_one_note(notes_of<Square>(SafetensorsStore(ours).with_from_adapter(
                              PyTorchToBurnAdapter().chain(HalfPrecisionAdapter()))),
                          "the metadata says that andiron wrote this file in Burn's layout, ",
                          why));
  // The reverse is for modules in PyTorch's layout.
  EXPECT_TRUE(
      notes_of<Square>(BurnpackStore(pack).with_from_adapter(BurnToPyTorchAdapter())).empty());
}

// As a conversion from a SafeTensors file that says nothing makes it: whoever wrote that, the
// layout is still theirs.
TEST(LayoutNotes, ABurnpackFileThatTellsNothingIsNotTakenForBurns) {
  const auto pack =
      BurnpackStore::from_bytes(saved<Square>(BurnpackStore::from_bytes().clear_metadata()));
  EXPECT_TRUE(
      notes_of<Square>(BurnpackStore(pack).with_from_adapter(PyTorchToBurnAdapter())).empty());
  EXPECT_TRUE(is_one_note(notes_of<Square>(pack), "nothing tells the layout of 'fc.weight':", ""));
}

TEST(LayoutNotes, TheReportOfARefusedLoadNamesTheAdapterThatSpoilsIt) {
  const auto pack = BurnpackStore::from_bytes(saved<Mixed>(BurnpackStore::from_bytes()));
  Mixed model;
  const Error refused =
      load_from(model, BurnpackStore(pack).with_from_adapter(PyTorchToBurnAdapter())).error();
  EXPECT_EQ(refused.code, ErrorCode::shape_mismatch);
  ASSERT_FALSE(refused.report->notes.empty());
  const std::string all = testing::PrintToString(refused.report->notes);
  EXPECT_NE(all.find("but the adapter transposes 'fc.weight' and 1 other"), std::string::npos)
      << all;
}

TEST(LayoutNotes, AFileOfBurnsThatWasSavedForPytorchGetsNone) {
  const Bytes file =
      saved<Mixed>(BurnpackStore::from_bytes().with_to_adapter(BurnToPyTorchAdapter()));
  EXPECT_TRUE(
      notes_of<Mixed>(BurnpackStore::from_bytes(file).with_from_adapter(PyTorchToBurnAdapter()))
          .empty());
  // A SafeTensors file says whose layout it has.
  const Bytes marked =
      saved<Square>(SafetensorsStore::from_bytes().with_to_adapter(BurnToPyTorchAdapter()));
  EXPECT_TRUE(notes_of<Square>(
                  SafetensorsStore::from_bytes(marked).with_from_adapter(PyTorchToBurnAdapter()))
                  .empty());
}

TEST(LayoutNotes, AFileOfPytorchsWithoutItsAdapterGetsOne) {
  StateDict dict;
  dict.add("conv.weight", {2, 1, 3, 3}).add("conv.bias", {2});
  dict.add("fc.weight", {4, 4}).add("fc.bias", {4});
  dict.add("one.weight", {1, 1}).add("one.bias", {1});
  const auto file = SafetensorsStore::from_bytes(dict.bytes());
  const std::string why = "which stores 'fc.weight' transposed; use .with_from_adapter(";
  EXPECT_TRUE(is_one_note(notes_of<Square>(file), "this is a PyTorch file, ", why));
  EXPECT_TRUE(
      notes_of<Square>(SafetensorsStore(file).with_from_adapter(PyTorchToBurnAdapter())).empty());
  // One that converts numbers does not turn matrices. Its own note comes first.
  const std::vector<Message> notes =
      notes_of<Square>(SafetensorsStore(file).with_from_adapter(FloatCastAdapter::to(DType::f16)));
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_TRUE(is_one_note({notes[1]}, "this is a PyTorch file, ", why));
}

}  // namespace
}  // namespace andiron::test
