// SPDX-License-Identifier: MIT OR Apache-2.0
// Which tensors of an archive are the same bytes in the same arrangement.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "andiron/archive.h"
#include "src/core/archive_builder.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using Ties = std::vector<std::optional<std::size_t>>;

class ArchiveTies : public testing::Test {
 protected:
  // A run of bytes in the file.
  void add_run(std::uint64_t offset, const std::vector<std::uint64_t>& shape,
               DType dtype = DType::u8) {
    std::uint64_t bytes = bit_width(dtype) / 8;
    for (const std::uint64_t dim : shape) bytes *= dim;
    ASSERT_TRUE(builder.add({name(), dtype, "", shape, file, offset, bytes}));
  }
  // A strided view of the same bytes.
  void add_view(std::uint64_t offset, Shape shape, const std::vector<std::int64_t>& strides) {
    add_snapshot(
        TensorSnapshot::from_strided("", source, offset, DType::u8, std::move(shape), strides)
            .value());
  }
  void add_snapshot(TensorSnapshot snapshot) {
    const std::string_view stored = name();
    snapshot.set_full_path(std::string(stored));
    ASSERT_TRUE(builder.add(stored, "", std::move(snapshot)));
  }
  std::string_view name() { return builder.store(std::to_string(builder.size())); }
  Ties ties() {
    EXPECT_TRUE(builder.index_names());
    return builder.finish().ties();
  }

  std::shared_ptr<test::TestSource> source =
      std::make_shared<test::TestSource>(std::vector<std::byte>(1000));
  detail::ArchiveBuilder builder{"test source", "pytorch", "zip"};
  std::uint32_t file = builder.add_file(source);
};

TEST_F(ArchiveTies, AreNoneInAnEmptyArchive) { EXPECT_TRUE(Archive().ties().empty()); }

TEST_F(ArchiveTies, JoinRunsThatAreTheSame) {
  add_run(8, {2, 4});
  add_run(0, {8});
  add_run(8, {2, 4});
  add_run(0, {8});
  add_run(8, {2, 4});
  EXPECT_EQ(ties(), (Ties{{}, {}, 0, 1, 0}));
}

TEST_F(ArchiveTies, TellOtherShapesSizesAndTypesApart) {
  add_run(0, {2, 4});
  add_run(0, {4, 2});
  add_run(0, {8});
  add_run(0, {4});
  add_run(0, {4}, DType::u16);
  add_run(1, {8});
  EXPECT_EQ(ties(), (Ties(6)));
}

TEST_F(ArchiveTies, TellFilesApart) {
  add_run(0, {8});
  file = builder.add_file(std::make_shared<test::TestSource>(std::vector<std::byte>(1000)));
  add_run(0, {8});
  EXPECT_EQ(ties(), (Ties(2)));
}

TEST_F(ArchiveTies, JoinViewsOfOneGeometry) {
  add_view(0, {3, 2}, {1, 3});
  add_view(0, {3, 2}, {2, 1});
  add_view(0, {3, 2}, {1, 3});
  add_view(1, {3, 2}, {1, 3});
  EXPECT_EQ(ties(), (Ties{{}, {}, 0, {}}));
}

TEST_F(ArchiveTies, AreNoneBetweenTensorsWithoutElements) {
  add_run(0, {0});
  add_run(0, {0});
  add_view(0, {0, 3}, {1, 1});
  add_view(0, {0, 3}, {1, 1});
  EXPECT_EQ(ties(), (Ties(4)));
}

TEST_F(ArchiveTies, AreNoneBetweenTensorsThatAreJoined) {
  const TensorSnapshot part = TensorSnapshot::from_source("", source, 0, 8, DType::u8, {8}).value();
  const std::vector<TensorSnapshot> parts = {part, part};
  add_snapshot(TensorSnapshot::concat(parts, 0).value());
  add_snapshot(TensorSnapshot::concat(parts, 0).value());
  EXPECT_EQ(ties(), (Ties(2)));
}

TEST_F(ArchiveTies, JoinCopiesOfOneTensorInMemory) {
  const Tensor tensor = Tensor::from_values<float>({2}, {1, 2}).value();
  const TensorSnapshot snapshot("", tensor);
  add_snapshot(snapshot);
  add_snapshot(snapshot);
  add_snapshot(snapshot.cast(DType::f16).value());
  EXPECT_EQ(ties(), (Ties{{}, 0, {}}));
}

TEST_F(ArchiveTies, AreFoundAmongManyTensorsOfOnePlace) {
  // More arrangements of one place than are told apart: those beyond are of their own.
  for (std::uint64_t size = 1; size <= 500; ++size) add_run(0, {size});
  add_run(0, {1});
  add_run(0, {500});
  const Ties found = ties();
  EXPECT_EQ(found[500], 0u);
  EXPECT_EQ(found[501], std::nullopt);
}

}  // namespace
}  // namespace andiron
