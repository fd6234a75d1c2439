// SPDX-License-Identifier: MIT OR Apache-2.0
// Errors are values.
#include "andiron/error.h"

#include <gtest/gtest.h>
#include <optional>
#include <sstream>

#include <memory>
#include <set>
#include <string>

#include "src/core/try.h"

namespace andiron {
namespace {

Error full_error() {
  return Error{.code = ErrorCode::size_mismatch,
               .message = "the data does not fit",
               .file = "model.safetensors",
               .tensor = "conv1.weight",
               .found = "12 bytes",
               .expected = "24 bytes",
               .hint = "download it again"};
}

TEST(Error, ReadsAsOneLine) {
  EXPECT_EQ(full_error().to_string(),
            "model.safetensors: tensor 'conv1.weight': the data does not fit: 12 bytes; "
            "expected 24 bytes; download it again");
  EXPECT_EQ(full_error().description(),
            "tensor 'conv1.weight': the data does not fit: 12 bytes; expected 24 bytes; "
            "download it again");
}

TEST(Error, LeavesOutWhatDoesNotApply) {
  EXPECT_EQ((Error{.code = ErrorCode::io, .message = "no"}.to_string()), "no");
  EXPECT_EQ((Error{.code = ErrorCode::io, .message = "no", .file = "f"}.to_string()), "f: no");
  EXPECT_EQ((Error{.code = ErrorCode::io, .message = "no", .hint = "try"}.to_string()), "no; try");
}

TEST(Error, EscapesNamesFromFiles) {
  const Error error{
      .code = ErrorCode::io, .message = "no", .file = "a\nb", .tensor = "\x1b[31mred\xff"};
  EXPECT_EQ(error.to_string(), "a\\nb: tensor '\\x1b[31mred\\xff': no");
}

TEST(ErrorCode, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (unsigned code = 0; code <= static_cast<unsigned>(ErrorCode::checksum_mismatch); ++code) {
    const std::string_view name = code_name(static_cast<ErrorCode>(code));
    EXPECT_NE(name, "Unknown");
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(code_name(ErrorCode::duplicate_key), "DuplicateKey");
  EXPECT_EQ(code_name(ErrorCode::dtype_mismatch), "DTypeMismatch");
}

TEST(Result, HoldsAValue) {
  Result<std::string> result = std::string("text");
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, "text");
  EXPECT_EQ(result->size(), 4u);
  EXPECT_EQ(result.value(), "text");
  result.value() += "!";
  EXPECT_EQ(*std::move(result), "text!");
}

TEST(Result, HoldsAnError) {
  const Result<int> result = full_error();
  ASSERT_FALSE(result.ok());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.error().code, ErrorCode::size_mismatch);
  EXPECT_EQ(result.error().tensor, "conv1.weight");
}

TEST(Result, HoldsWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 7);
}

#if defined(__cpp_exceptions)
TEST(Result, ValueThrowsTheErrorForThoseWhoWantThat) {
  const Result<int> result = full_error();
  try {
    static_cast<void>(result.value());
    FAIL() << "nothing was thrown";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::size_mismatch);
    EXPECT_EQ(std::string(exception.what()), full_error().to_string());
  }
  EXPECT_THROW(Status(full_error()).value(), Exception);
}
#endif

TEST(Result, ErrorsCanBeMovedOut) {
  Result<int> result = full_error();
  const Error error = std::move(result).error();
  EXPECT_EQ(error.hint, "download it again");
}

TEST(Result, ErrorsArePassedOnWhereTheyAreKept) {
  Status inner = full_error();
  const Error* const kept = &inner.error();
  const auto middle = [&]() -> Result<int> {
    ANDIRON_TRY(std::move(inner));
    return 1;
  };
  const auto outer = [&]() -> Result<std::string> {
    ANDIRON_ASSIGN(const int number, middle());
    return std::to_string(number);
  };
  const Result<std::string> result = outer();
  ASSERT_FALSE(result);
  EXPECT_EQ(&result.error(), kept);
  EXPECT_EQ(result.error().hint, "download it again");
}

TEST(Status, IsFineByDefault) {
  const Status status;
  EXPECT_TRUE(status.ok());
  status.value();
}

TEST(Status, HoldsAnError) {
  const Status status = full_error();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.error().file, "model.safetensors");
}

TEST(Result, TakesWhatConvertsToItsValue) {
  const Result<std::optional<std::string>> present = std::string("here");
  EXPECT_EQ(present.value().value(), "here");
  const Result<std::string> text = "literal";
  EXPECT_EQ(text.value(), "literal");
  const Result<std::optional<std::string>> failed = Error{.code = ErrorCode::io};
  EXPECT_FALSE(failed);
}

TEST(Error, IsPrintedAsItsText) {
  std::ostringstream out;
  out << Error{.code = ErrorCode::io, .message = "no", .file = "f"};
  EXPECT_EQ(out.str(), "f: no");
}

}  // namespace
}  // namespace andiron
