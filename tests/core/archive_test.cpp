// SPDX-License-Identifier: MIT OR Apache-2.0
// A flat index of named tensors: the archive and how a format fills it.
#include "andiron/archive.h"
#include "andiron/value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "src/core/archive_builder.h"
#include "tests/support/archive_reading.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using test::names_of;
using Names = std::vector<std::string>;

TensorSnapshot tensor(std::string name, std::vector<float> values) {
  const Shape shape({values.size()});
  return TensorSnapshot(std::move(name),
                        Tensor::from_values<float>(shape, std::span<const float>(values)).value());
}

// The i-th tensor holds i + 1 and so is known under any name.
Archive archive_of(const Names& names) {
  Archive archive;
  for (const std::string& name : names) {
    archive.add(tensor(name, {static_cast<float>(archive.size() + 1)})).value();
  }
  return archive;
}

float first_value(const TensorSnapshot& snapshot) {
  return snapshot.read().value().to_vector<float>().value()[0];
}

TEST(Archive, IsEmptyByDefault) {
  const Archive archive;
  EXPECT_TRUE(archive.empty());
  EXPECT_EQ(archive.size(), 0u);
  EXPECT_EQ(archive.format(), "");
  EXPECT_EQ(archive.file_bytes(), 0u);
  EXPECT_EQ(archive.find("a"), std::nullopt);
  EXPECT_EQ(archive.find({}), std::nullopt);
  EXPECT_TRUE(archive.metadata().empty());
  EXPECT_TRUE(archive.value()->is_null());
  EXPECT_TRUE(archive.natural_order().empty());
  EXPECT_EQ(archive.get("a").error().code, ErrorCode::missing_tensor);
}

TEST(Archive, KeepsTensorsInTheOrderOfAdding) {
  const Archive archive = archive_of({"b", "a", "", "c.weight"});
  EXPECT_EQ(names_of(archive), (Names{"b", "a", "", "c.weight"}));
  EXPECT_EQ(archive.find("a"), 1u);
  EXPECT_EQ(archive.find(""), 2u);
  EXPECT_EQ(archive.find("c"), std::nullopt);
  EXPECT_EQ(first_value(archive.snapshot(3)), 4.0f);
  EXPECT_EQ(archive.snapshot(3).full_path(), "c.weight");
}

TEST(Archive, DescribesTensorsWithoutReadingThem) {
  Archive archive;
  const Tensor data = Tensor::zeros(DType::i16, Shape({2, 3})).value();
  ASSERT_TRUE(archive.add(TensorSnapshot("x", data).with_param_id(ParamId{7})).ok());
  ASSERT_TRUE(
      archive.add(TensorSnapshot("y", Tensor::raw("quint8", Shape({4}), Bytes()).value())).ok());
  const TensorInfo info = archive.info(0);
  EXPECT_EQ(info.name, "x");
  EXPECT_EQ(info.dtype, DType::i16);
  EXPECT_EQ(info.file_dtype, "");
  EXPECT_EQ(Shape(info.shape), Shape({2, 3}));
  EXPECT_EQ(info.byte_size, 12u);
  EXPECT_EQ(info.offset, std::nullopt);
  EXPECT_EQ(info.file, "");
  EXPECT_EQ(info.param_id, ParamId{7});
  EXPECT_EQ(archive.info(1).file_dtype, "quint8");
  EXPECT_EQ(archive.snapshot(1).dtype_text(), "raw:quint8");
  EXPECT_EQ(archive.snapshot(0).param_id(), ParamId{7});
}

TEST(Archive, RefusesANameTwiceAndStaysAsItWas) {
  Archive archive = archive_of({"a", "b"});
  const Status status = archive.add(tensor("a", {9}));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::duplicate_key);
  EXPECT_EQ(status.error().tensor, "a");
  EXPECT_EQ(archive.size(), 2u);
  EXPECT_EQ(first_value(archive.get("a").value()), 1.0f);
  ASSERT_TRUE(archive.add(tensor("c", {3})).ok());
  EXPECT_EQ(first_value(archive.get("c").value()), 3.0f);
  EXPECT_EQ(Shape(archive.info(2).shape), Shape({1}));
}

TEST(Archive, SuggestsTheNearestName) {
  const Archive archive = archive_of({"conv1.weight", "conv2.bias"});
  const Result<TensorSnapshot> missing = archive.get("conv1.wieght");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::missing_tensor);
  EXPECT_EQ(missing.error().tensor, "conv1.wieght");
  EXPECT_EQ(missing.error().hint, "did you mean 'conv1.weight'?");
  EXPECT_EQ(archive.get("something.else.entirely").error().hint, "");
}

TEST(Archive, FindsTensorsByTheNamesTiedToThem) {
  Archive archive = archive_of({"embed", "other"});
  archive.set_aliases({{"head", "embed"}, {"lost", "nowhere"}, {"other", "embed"}});
  EXPECT_EQ(archive.find("head"), 0u);
  EXPECT_EQ(archive.find("other"), 1u) << "a tensor's own name comes first";
  EXPECT_EQ(archive.find("lost"), std::nullopt);
  const TensorSnapshot head = archive.get("head").value();
  EXPECT_EQ(head.full_path(), "head");
  EXPECT_EQ(first_value(head), 1.0f);
  EXPECT_EQ(archive.aliases().size(), 3u);
}

TEST(Archive, HoldsMetadataAndNotes) {
  Archive archive;
  archive.set_metadata({{"format", "pt"}, {"a", "b"}});
  archive.add_note("first");
  archive.add_note("second");
  EXPECT_EQ(archive.metadata().begin()->first, "a");
  EXPECT_EQ(archive.notes(), (std::vector<Message>{"first", "second"}));
}

TEST(Archive, SelectsTensorsInTheGivenOrder) {
  const Archive archive = archive_of({"a", "b", "c", "d"});
  const Archive selected = archive.select(std::vector<std::size_t>{3, 1}).value();
  EXPECT_EQ(names_of(selected), (Names{"d", "b"}));
  EXPECT_EQ(selected.find("d"), 0u);
  EXPECT_EQ(selected.find("a"), std::nullopt);
  EXPECT_EQ(first_value(selected.get("b").value()), 2.0f);
  EXPECT_EQ(names_of(archive), (Names{"a", "b", "c", "d"}));
  EXPECT_TRUE(archive.select({}).value().empty());
}

TEST(Archive, SelectingATensorTwiceIsRefused) {
  const Archive archive = archive_of({"a", "b"});
  const Result<Archive> selected = archive.select(std::vector<std::size_t>{1, 0, 1});
  ASSERT_FALSE(selected.ok());
  EXPECT_EQ(selected.error().code, ErrorCode::duplicate_key);
  EXPECT_EQ(selected.error().tensor, "b");
}

TEST(Archive, SelectKeepsMetadataAndTheAliasesOfWhatIsLeft) {
  Archive archive = archive_of({"a", "b"});
  archive.set_aliases({{"x", "a"}, {"y", "b"}});
  archive.set_metadata({{"k", "v"}});
  archive.add_note("n");
  const Archive selected = archive.select(std::vector<std::size_t>{1}).value();
  EXPECT_EQ(selected.aliases(), (Aliases{{"y", "b"}}));
  EXPECT_EQ(selected.metadata(), (Metadata{{"k", "v"}, {"y", "b"}}))
      << "with the ties that are left";
  EXPECT_EQ(selected.notes(), archive.notes());
  EXPECT_EQ(archive.aliases().size(), 2u);
}

TEST(Archive, TensorsCanBeAddedToASelection) {
  const Archive archive = archive_of({"a", "b", "c"});
  Archive selected = archive.select(std::vector<std::size_t>{2}).value();
  ASSERT_TRUE(selected.add(tensor("a", {9})).ok()) << "the name is free again";
  EXPECT_FALSE(selected.add(tensor("c", {9})).ok());
  EXPECT_EQ(names_of(selected), (Names{"c", "a"}));
  EXPECT_EQ(first_value(selected.get("a").value()), 9.0f);
  EXPECT_EQ(first_value(selected.get("c").value()), 3.0f);
  EXPECT_EQ(first_value(archive.get("a").value()), 1.0f);
}

TEST(Archive, RenamesEveryTensor) {
  const Archive archive = archive_of({"a", "b", "c"});
  const Archive renamed = archive.rename(Names{"b", "a", "c"}).value();
  EXPECT_EQ(names_of(renamed), (Names{"b", "a", "c"}));
  EXPECT_EQ(first_value(renamed.get("a").value()), 2.0f);
  EXPECT_EQ(first_value(renamed.get("b").value()), 1.0f);
  EXPECT_EQ(renamed.snapshot(0).full_path(), "b");
  EXPECT_EQ(names_of(archive), (Names{"a", "b", "c"}));
  EXPECT_EQ(first_value(archive.get("a").value()), 1.0f);
}

TEST(Archive, ANewNameOutlivesTheListItCameFrom) {
  Archive renamed;
  {
    const Archive archive = archive_of({"a"});
    const Names names = {std::string(100'000, 'n')};
    renamed = archive.rename(names).value();
  }
  EXPECT_EQ(renamed.info(0).name, std::string(100'000, 'n'));
}

TEST(Archive, TwoTensorsUnderOneNameAreRefusedByBothOldNames) {
  const Archive archive = archive_of({"old.a", "old.b", "c"});
  const Result<Archive> renamed = archive.rename(Names{"x", "x", "c"});
  ASSERT_FALSE(renamed.ok());
  EXPECT_EQ(renamed.error().code, ErrorCode::name_collision);
  EXPECT_EQ(renamed.error().tensor, "x");
  EXPECT_EQ(renamed.error().found, "'old.a' and 'old.b'");
}

TEST(Archive, RenameWantsOneNameForEach) {
  const Archive archive = archive_of({"a", "b"});
  EXPECT_EQ(archive.rename(Names{"x"}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(archive.rename(Names{"x", "y", "z"}).error().code, ErrorCode::invalid_argument);
}

TEST(Archive, AliasesFollowTheirTensorsToNewNames) {
  Archive archive = archive_of({"a", "b"});
  archive.set_aliases({{"tied", "a"}});
  const Archive renamed = archive.rename(Names{"model.a", "model.b"}).value();
  EXPECT_EQ(renamed.aliases(), (Aliases{{"tied", "model.a"}}));
  EXPECT_EQ(renamed.find("tied"), 0u);
  EXPECT_EQ(archive.aliases(), (Aliases{{"tied", "a"}}));
}

TEST(Archive, GivesTheNaturalOrderOfNames) {
  const Archive archive = archive_of({"layers.10", "layers.2", "a", "layers.1"});
  EXPECT_EQ(archive.natural_order(), (std::vector<std::size_t>{2, 3, 1, 0}));
}

TEST(Archive, AddingToACopyLeavesTheOriginal) {
  const Archive original = archive_of({"a", "b"});
  Archive copy = original;
  ASSERT_TRUE(copy.add(tensor("c", {3})).ok());
  EXPECT_EQ(names_of(original), (Names{"a", "b"}));
  EXPECT_EQ(original.find("c"), std::nullopt);
  EXPECT_EQ(names_of(copy), (Names{"a", "b", "c"}));
  EXPECT_EQ(first_value(copy.get("c").value()), 3.0f);
}

TEST(Archive, AddingToTheOriginalLeavesACopy) {
  Archive original = archive_of({"a"});
  const Archive copy = original;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(original.add(tensor("n" + std::to_string(i), {0})).ok());
  }
  EXPECT_EQ(original.size(), 101u);
  EXPECT_EQ(names_of(copy), (Names{"a"}));
  EXPECT_EQ(copy.find("n0"), std::nullopt);
}

TEST(Archive, CopiesThatGrowApartDoNotSeeEachOther) {
  Archive first = archive_of({"a"});
  Archive second = first;
  Archive third = first;
  ASSERT_TRUE(first.add(tensor("x", {10})).ok());
  ASSERT_TRUE(second.add(tensor("x", {20})).ok());
  ASSERT_TRUE(third.add(tensor("y", {30})).ok());
  EXPECT_EQ(first_value(first.get("x").value()), 10.0f);
  EXPECT_EQ(first_value(second.get("x").value()), 20.0f);
  EXPECT_EQ(third.find("x"), std::nullopt);
  EXPECT_EQ(first_value(third.get("y").value()), 30.0f);
  EXPECT_EQ(second.find("y"), std::nullopt);
}

TEST(Archive, MetadataNotesAndAliasesOfACopyAreItsOwn) {
  Archive original = archive_of({"a"});
  original.set_metadata({{"k", "v"}});
  original.add_note("shared");
  Archive copy = original;
  copy.set_metadata({{"k", "other"}});
  copy.add_note("mine");
  copy.set_aliases({{"x", "a"}});
  EXPECT_EQ(original.metadata(), (Metadata{{"k", "v"}}));
  EXPECT_EQ(original.notes().size(), 1u);
  EXPECT_TRUE(original.aliases().empty());
  EXPECT_EQ(copy.metadata(), (Metadata{{"k", "other"}, {"x", "a"}}));
  EXPECT_EQ(copy.notes().size(), 2u);
  // The index is still shared below the changed metadata, and must not be written through.
  ASSERT_TRUE(original.add(tensor("b", {2})).ok());
  ASSERT_TRUE(copy.add(tensor("c", {3})).ok());
  EXPECT_EQ(names_of(original), (Names{"a", "b"}));
  EXPECT_EQ(names_of(copy), (Names{"a", "c"}));
  EXPECT_EQ(original.find("c"), std::nullopt);
  EXPECT_EQ(copy.find("b"), std::nullopt);
}

TEST(Archive, NamesOfACopyOutliveTheOriginal) {
  Archive copy;
  {
    Archive original = archive_of({"some.rather.long.name.of.a.tensor"});
    copy = original;
    ASSERT_TRUE(original.add(tensor("b", {2})).ok());
  }
  ASSERT_TRUE(copy.add(tensor("c", {3})).ok());
  EXPECT_EQ(names_of(copy), (Names{"some.rather.long.name.of.a.tensor", "c"}));
}

TEST(Archive, HoldsManyTensors) {
  constexpr std::size_t count = 100'000;
  const Tensor data = Tensor::from_values<float>(Shape({1}), {1.0f}).value();
  Archive archive;
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(archive.add(TensorSnapshot("layers." + std::to_string(i), data)).ok());
  }
  EXPECT_EQ(archive.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(archive.find("layers." + std::to_string(i)), i);
  }
  EXPECT_FALSE(archive.add(TensorSnapshot("layers.77777", data)).ok());
}

class ArchiveBuilderTest : public testing::Test {
 protected:
  static std::vector<std::byte> counting(std::size_t size) {
    std::vector<std::byte> data(size);
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i);
    return data;
  }
  static detail::ArchiveBuilder::TensorRun run(std::string_view name, std::uint32_t file,
                                               std::uint64_t offset,
                                               std::span<const std::uint64_t> shape) {
    return {name, DType::u8, "U8", shape, file, offset, shape[0]};
  }
  static constexpr std::uint64_t four[] = {4};
};

TEST_F(ArchiveBuilderTest, FillsAnArchiveFromFiles) {
  detail::ArchiveBuilder builder("test source", "safetensors", "sharded");
  const std::uint32_t first =
      builder.add_file(std::make_shared<test::TestSource>(counting(10)), "1.safetensors");
  const std::uint32_t second =
      builder.add_file(std::make_shared<test::TestSource>(counting(20)), "2.safetensors");
  const Bytes header = Bytes::copy(std::as_bytes(std::span(std::string_view("ab")))).value();
  builder.keep(header);
  ASSERT_TRUE(builder.add(run(header.text().substr(0, 1), first, 0, four)));
  ASSERT_TRUE(builder.add(run(header.text().substr(1, 1), second, 8, four)));
  ASSERT_TRUE(builder.add(run(builder.store("c"), second, 16, four)));
  EXPECT_EQ(builder.size(), 3u);
  EXPECT_EQ(builder.index_names().value(), std::nullopt);
  EXPECT_EQ(builder.find("b"), 1u);
  EXPECT_EQ(builder.find("d"), std::nullopt);

  const Archive archive = builder.finish();
  EXPECT_EQ(archive.format(), "safetensors");
  EXPECT_EQ(archive.packaging(), "sharded");
  EXPECT_EQ(archive.file_bytes(), 30u);
  EXPECT_EQ(names_of(archive), (Names{"a", "b", "c"}));
  const TensorInfo info = archive.info(1);
  EXPECT_EQ(info.offset, 8u);
  EXPECT_EQ(info.file, "2.safetensors");
  EXPECT_EQ(info.file_dtype, "U8");
  EXPECT_EQ(info.param_id, std::nullopt);
  const Tensor data = archive.get("b").value().read().value();
  EXPECT_EQ(data.bytes().span()[0], std::byte{8});
}

TEST_F(ArchiveBuilderTest, TellsTheFirstNameThatComesAgain) {
  detail::ArchiveBuilder builder("test source", "safetensors", "single");
  const std::uint32_t file = builder.add_file(std::make_shared<test::TestSource>(counting(4)));
  for (const char* name : {"a", "b", "c", "b", "a"}) {
    ASSERT_TRUE(builder.add(run(builder.store(name), file, 0, four)));
  }
  EXPECT_EQ(builder.index_names().value(), 3u);
}

TEST_F(ArchiveBuilderTest, MissingTensorsNameTheFile) {
  detail::ArchiveBuilder builder("test source", "safetensors", "single");
  builder.add_file(std::make_shared<test::TestSource>(counting(1)));
  EXPECT_EQ(builder.finish().get("x").error().file, "test source");
}

TEST_F(ArchiveBuilderTest, ReservedRoomTakesThatManyAndMore) {
  detail::ArchiveBuilder builder("test source", "safetensors", "single");
  const std::uint32_t file = builder.add_file(std::make_shared<test::TestSource>(counting(4)));
  ASSERT_TRUE(builder.reserve(10, 10).ok());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(builder.add(run(builder.store(std::to_string(i)), file, 0, four)));
  }
  ASSERT_TRUE(builder.index_names());
  const Archive archive = builder.finish();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(archive.find(std::to_string(i)), static_cast<std::size_t>(i));
  }
}

TEST_F(ArchiveBuilderTest, TakesTensorsOverFromAnArchiveAndKeepsItsNamesAlive) {
  detail::ArchiveBuilder whole("test source", "safetensors", "sharded");
  {
    detail::ArchiveBuilder shard("test source", "safetensors", "single");
    const auto source = std::make_shared<test::TestSource>(counting(8));
    const std::uint32_t file = shard.add_file(source);
    ASSERT_TRUE(shard.add(run(shard.store("a"), file, 0, four)));
    ASSERT_TRUE(shard.add(run(shard.store("b"), file, 4, four)));
    ASSERT_TRUE(shard.index_names());
    const Archive archive = shard.finish();
    const std::uint32_t number = whole.add_file(source, "1.safetensors");
    whole.keep_names_of(archive);
    ASSERT_TRUE(whole.add_from(archive, 1, number));
    ASSERT_TRUE(whole.add_from(archive, 0, number));
  }
  ASSERT_TRUE(whole.index_names());
  const Archive archive = whole.finish();
  EXPECT_EQ(names_of(archive), (Names{"b", "a"}));
  EXPECT_EQ(archive.info(0).offset, 4u);
  EXPECT_EQ(archive.info(0).file, "1.safetensors");
}

TEST_F(ArchiveBuilderTest, AnArchiveFromAFileTakesTensorsFromMemory) {
  detail::ArchiveBuilder builder("test source", "safetensors", "single");
  const std::uint32_t file = builder.add_file(std::make_shared<test::TestSource>(counting(4)));
  ASSERT_TRUE(builder.add(run(builder.store("a"), file, 0, four)));
  ASSERT_TRUE(builder.index_names());
  Archive archive = builder.finish();
  const Archive before = archive;
  EXPECT_FALSE(archive.add(tensor("a", {1})).ok());
  ASSERT_TRUE(archive.add(tensor("b", {2})).ok());
  EXPECT_EQ(first_value(archive.get("b").value()), 2.0f);
  EXPECT_EQ(archive.get("a").value().read().value().byte_size(), 4u);
  EXPECT_EQ(before.size(), 1u);
}

TEST(Archive, ValuesFollowTheirTensors) {
  Archive archive;
  for (const char* name : {"a", "b"}) {
    archive.add({name, Tensor::from_values<float>({1}, {1}).value()}).value();
  }
  archive.set_value(ValueDict{{"lr", Value(0.5)},
                              {"list", ValueList{TensorIndex{0}, TensorIndex{1}}},
                              {"lost", TensorIndex{7}}});
  const std::vector<std::size_t> second = {1};
  const Archive selected = archive.select(second).value();
  const ValueList& list = *selected.value()->find("list")->get<ValueList>();
  EXPECT_TRUE(list[0].is_null());
  EXPECT_EQ(*list[1].get<TensorIndex>(), TensorIndex{0});
  EXPECT_TRUE(selected.value()->find("lost")->is_null());
  EXPECT_EQ(*selected.value()->find("lr")->get<double>(), 0.5);

  // Renamed tensors are the same tensors.
  const std::vector<std::string> names = {"x", "y"};
  EXPECT_EQ(to_json(*archive.rename(names).value().value()), to_json(*archive.value()));
}

TEST(Archive, ATensorIsReplacedUnderItsName) {
  Archive archive;
  archive.add(TensorSnapshot("a", Tensor::from_values<float>({2}, {1, 2}).value())).value();
  archive.add(TensorSnapshot("b", Tensor::from_values<float>({1}, {3}).value())).value();
  const Archive before = archive;
  const Tensor other = Tensor::from_values<std::int32_t>({3}, {7, 8, 9}).value();
  ASSERT_TRUE(archive.replace(0, TensorSnapshot("another name", other)).ok());
  EXPECT_EQ(archive.info(0).name, "a");
  EXPECT_EQ(archive.get("a").value().dtype(), DType::i32);
  EXPECT_EQ(archive.get("a").value().shape(), Shape{3});
  EXPECT_EQ(archive.get("b").value().shape(), Shape{1});
  EXPECT_EQ(before.get("a").value().dtype(), DType::f32) << "a copy made before keeps the old one";
}

}  // namespace
}  // namespace andiron
