// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/pytorch/distributed_items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/test_source.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

using detail::ItemPlace;
using detail::ItemSource;
using Floats = std::vector<float>;

struct Item {
  explicit Item(const std::string& content)
      : file(std::make_shared<TestSource>("before" + content + "after")),
        place{file, 6, content.size()} {}
  std::shared_ptr<TestSource> file;
  ItemPlace place;
};

// Opens an item as a reader of checkpoints does.
std::shared_ptr<detail::PickledFile> opened(const Item& item) {
  const OpenOptions options;
  const auto fetched = ItemSource::fetch(item.place, options.limits).value();
  detail::MemoryBudget budget(item.file->size(), options.limits, "test");
  return detail::open_item(fetched, options, budget).value();
}

const Floats many(100'000, 1.5F);

Py tensor_of_many() {
  const auto count = static_cast<std::int64_t>(many.size());
  return torch_tensor({.shape = {count}, .elements = count});
}

TEST(DistributedItems, AShortItemIsReadOnce) {
  const Item item(zip_file(torch_records(py::dict({{"n", 1}}), {})));
  opened(item);
  EXPECT_EQ(item.file->reads(), 1u);
}

TEST(DistributedItems, ALongPickleIsFetchedBeforeTheItemIsOpened) {
  const Py object = py::dict({{"text", std::string(50'000, 'x')}, {"t", tensor_of_many()}});
  const Item item(zip_file(torch_records(object, {{"0", memory_of(many)}})));
  opened(item);
  EXPECT_EQ(item.file->reads(), 2u);
  EXPECT_LT(item.file->bytes_read(), 200'000u);
}

TEST(DistributedItems, ALongDirectoryIsFetchedBeforeTheItemIsOpened) {
  Storages storages;
  for (int i = 0; i < 2000; ++i) storages.push_back({std::to_string(i), memory_of<float>({1})});
  const Item item(zip_file(torch_records(py::dict({{"n", 1}}), storages)));
  const auto fetched = ItemSource::fetch(item.place, {}).value();
  const std::uint64_t reads = item.file->reads();
  detail::MemoryBudget budget(item.file->size(), {}, "test");
  EXPECT_TRUE(detail::open_item(fetched, {}, budget));
  EXPECT_EQ(item.file->reads(), reads);
}

TEST(DistributedItems, AnItemWithoutDataOfTensorsIsFetchedWhole) {
  const Item item(zip_file(torch_records(py::dict({{"text", std::string(200'000, 'x')}}), {})));
  opened(item);
  EXPECT_EQ(item.file->reads(), 2u);
}

TEST(DistributedItems, ALongPieceIsOpenedFromItsEnds) {
  const Item item(zip_file(torch_records(tensor_of_many(), {{"0", memory_of(many)}})));
  const ByteSourcePtr piece =
      detail::piece_source(item.place, DType::f32, Shape{many.size()}, 4 * many.size(), {});
  Floats values(many.size());
  ASSERT_TRUE(piece->read_at(0, std::as_writable_bytes(std::span(values))));
  EXPECT_EQ(values, many);
  EXPECT_EQ(item.file->reads(), 3u);  // the end, the beginning, the data
}

TEST(DistributedItems, ADeflatedPieceIsReadFromMemory) {
  std::vector<ZipItem> records = torch_records(tensor_of_many(), {{"0", memory_of(many)}});
  std::string noise(300'000, ' ');  // so that the item is long though its data shrinks
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * i >> 7);
  const auto data = std::find_if(records.begin(), records.end(), [](const ZipItem& record) {
    return record.name.ends_with("/data/0");
  });
  data->deflate = true;
  records.insert(data + 1, {.name = "archive/data/1", .content = noise});
  const Item item(zip_file(records));
  const ByteSourcePtr piece =
      detail::piece_source(item.place, DType::f32, Shape{many.size()}, 4 * many.size(), {});
  Floats values(many.size());
  const std::span<std::byte> all = std::as_writable_bytes(std::span(values));
  for (std::size_t at = 0; at < all.size(); at += 50'000) {
    ASSERT_TRUE(piece->read_at(at, all.subspan(at, 50'000)));
  }
  EXPECT_EQ(values, many);
  EXPECT_EQ(item.file->reads(), 3u);  // the end, the beginning, the rest
}

TEST(DistributedItems, AnItemThatIsNoArchiveIsAnErrorOfItsOwn) {
  const Item item(std::string(100'000, 'x'));
  const auto fetched = ItemSource::fetch(item.place, {});
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::bad_archive);
}

}  // namespace
}  // namespace andiron::test
