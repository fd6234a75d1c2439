// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/byte_source.h"

#include <gtest/gtest.h>

#include "tests/support/bytes_of_text.h"
#include "tests/support/safetensors_file.h"

namespace andiron {
namespace {

TEST(MemoryFiles, GivesFilesByNameAndListsThem) {
  const FileSetPtr files = memory_files({{"b", test::bytes_of_text("two")},
                                         {"a", test::bytes_of_text("one")},
                                         {"sub/c", test::bytes_of_text("3")}});
  EXPECT_EQ(files->names().value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(files->open("a").value()->size(), 3u);
  EXPECT_EQ(files->open("a").value()->name(), "a");
  EXPECT_EQ(files->open("sub/c").value()->size(), 1u);
  EXPECT_EQ(files->open("d").error().code, ErrorCode::not_found);
}

TEST(MemoryFiles, AFileOutlivesTheSet) {
  ByteSourcePtr source;
  {
    const FileSetPtr files = memory_files({{"a", test::bytes_of_text("one")}});
    source = files->open("a").value();
  }
  std::array<std::byte, 3> bytes{};
  EXPECT_TRUE(source->read_at(0, bytes));
  EXPECT_EQ(bytes[0], std::byte{'o'});
}

TEST(FileSet, NeedNotBeAbleToList) {
  class Unlisted : public FileSet {
   public:
    std::string name() const override { return "somewhere"; }
    Result<ByteSourcePtr> open(const std::string&) const override {
      return Error{.code = ErrorCode::not_found};
    }
  };
  const Error error = Unlisted().names().error();
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_EQ(error.file, "somewhere");
}

}  // namespace
}  // namespace andiron
