// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/message.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "andiron/error.h"

namespace andiron {
namespace {

TEST(Message, IsWordedForEachFrontEnd) {
  const Message hint = "bytes follow; " + Message(Advice::lenient) + " ignores them";
  EXPECT_EQ(hint.to_string(), "bytes follow; Strictness::lenient ignores them");
  EXPECT_EQ(hint.to_string(Wording::cpp), hint.to_string());
  EXPECT_EQ(hint.to_string(Wording::flags), "bytes follow; --lenient ignores them");
  EXPECT_EQ(hint.to_string(Wording::javascript),
            "bytes follow; { strictness: \"lenient\" } ignores them");
}

TEST(Message, ArgumentsAreQuotedAsTheLanguageDoes) {
  const Message hint(Advice::top_level_key, "it's \"a\\b\"");
  EXPECT_EQ(hint, "use .with_top_level_key(\"it's \\\"a\\\\b\\\"\")");
  EXPECT_EQ(hint.to_string(Wording::flags), "use --top-level-key 'it'\\''s \"a\\b\"'");
  EXPECT_EQ(hint.to_string(Wording::javascript),
            "use { names: { topLevelKey: \"it's \\\"a\\\\b\\\"\" } }");
}

TEST(Message, AnArgumentMayHoldWhatMarksIt) {
  EXPECT_EQ(Message(Advice::raise_limit, "*\"*\""), "raise Limits::*\"*\" if you trust the file");
}

TEST(Message, AdviceThatAFrontEndDoesNotHaveIsLeftOut) {
  const Message note = "2 parameter ids were left out" + Message(Advice::keep_param_ids, "them");
  EXPECT_EQ(note, "2 parameter ids were left out; set SafetensorsSettings::param_ids to keep them");
  EXPECT_EQ(note.to_string(Wording::javascript), "2 parameter ids were left out");
}

TEST(Message, PartsAreAdviceAndTheTextBetween) {
  EXPECT_TRUE(Message().parts().empty());
  EXPECT_TRUE(Message("").parts().empty());
  const std::vector<MessagePart> plain = Message("try again").parts();
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain[0].advice, Advice::text);
  EXPECT_EQ(plain[0].argument, "try again");

  Message hint = "split it: ";
  hint += Message(Advice::raise_limit, "tensors");
  hint += " or not";
  const std::vector<MessagePart> parts = hint.parts();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].argument, "split it: ");
  EXPECT_EQ(parts[1].advice, Advice::raise_limit);
  EXPECT_EQ(parts[2].argument, " or not");
  EXPECT_TRUE(hint.advises(Advice::raise_limit));
  EXPECT_FALSE(hint.advises(Advice::lenient));
  EXPECT_EQ(hint.argument_of(Advice::raise_limit), "tensors");
  EXPECT_EQ(hint.argument_of(Advice::lenient), std::nullopt);
}

TEST(Message, ReadsLikeAString) {
  const Message note = "the key " + Message(Advice::text, "is new");
  const std::string& text = note;
  EXPECT_EQ(text, "the key is new");
  EXPECT_TRUE(note.starts_with("the key"));
  EXPECT_EQ(note.find("is"), 8u);
  EXPECT_FALSE(note.empty());
  std::ostringstream out;
  out << Message("a\x1b[31m");
  EXPECT_EQ(out.str(), "a\\x1b[31m");
}

TEST(Message, NoAdviceIsSilentInCpp) {
  for (int i = 0; i < static_cast<int>(Advice::count); ++i) {
    EXPECT_FALSE(Message(static_cast<Advice>(i), "x").empty()) << i;
  }
}

TEST(Message, AnErrorIsWordedWithItsHint) {
  const Error error{.code = ErrorCode::already_exists,
                    .message = "the file exists",
                    .file = "a b",
                    .hint = Advice::overwrite};
  EXPECT_EQ(error.to_string(), "a b: the file exists; pass .overwrite(true) to replace it");
  EXPECT_EQ(error.to_string(Wording::flags), "a b: the file exists; use --force to replace it");
  EXPECT_EQ(error.description(Wording::flags), "the file exists; use --force to replace it");
}

}  // namespace
}  // namespace andiron
