// SPDX-License-Identifier: MIT OR Apache-2.0
// Regular expressions in Rust's dialect, globs, and replacement text, with each engine.
#include "andiron/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/pattern_engines.h"

namespace andiron {
namespace {

using namespace std::literals;

class Patterns : public testing::TestWithParam<test::PatternEngine> {
 protected:
  static Result<Pattern> try_regex(std::string_view text) { return GetParam().regex(text); }
  static Result<Pattern> try_glob(std::string_view text) { return GetParam().glob(text); }

  static Pattern regex(std::string_view text) {
    Result<Pattern> pattern = try_regex(text);
    EXPECT_TRUE(pattern.ok()) << text << ": " << pattern.error().description();
    return pattern ? *pattern : try_regex("").value();
  }

  static Pattern glob(std::string_view text) { return try_glob(text).value(); }

  // What replacing every match by <it> gives: shows where the matches are.
  static std::string marked(std::string_view pattern, std::string_view text) {
    return regex(pattern).replace_all(text, "<$0>");
  }

  static std::string refusal(std::string_view pattern) {
    const Result<Pattern> result = try_regex(pattern);
    if (result) return "(accepted)";
    EXPECT_EQ(result.error().code, ErrorCode::invalid_pattern);
    EXPECT_NE(result.error().found.find("pattern '"), std::string::npos);
    return result.error().message;
  }
};
class Globs : public Patterns {};

INSTANTIATE_TEST_SUITE_P(Engine, Patterns, testing::ValuesIn(test::pattern_engines()),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Engine, Globs, testing::ValuesIn(test::pattern_engines()),
                         testing::PrintToStringParamName());

// ---- matching

TEST_P(Patterns, MatchesAnywhereInTheName) {
  EXPECT_TRUE(regex("layer").matches("encoder.layer.0"));
  EXPECT_TRUE(regex(R"(\.bias$)").matches("a.bias"));
  EXPECT_FALSE(regex(R"(\.bias$)").matches("a.bias.x"));
  EXPECT_TRUE(regex("").matches(""));
  EXPECT_TRUE(regex("^$").matches({}));
}

TEST_P(Patterns, PrefersTheLeftmostFirstAlternative) {
  EXPECT_EQ(marked("a|ab", "ab"), "<a>b");
  EXPECT_EQ(marked("ab|a", "ab"), "<ab>");
  EXPECT_EQ(marked("a+?", "aaa"), "<a><a><a>");
}

TEST_P(Patterns, KeepsItsText) {
  EXPECT_EQ(regex(R"(\d+)").text(), R"(\d+)");
  EXPECT_EQ(glob("a.**").text(), "a.**");
}

TEST_P(Patterns, DotLeavesNewlinesOutUnlessToldOtherwise) {
  EXPECT_EQ(marked(".+", "a\nb"), "<a>\n<b>");
  EXPECT_EQ(marked("(?s).+", "a\nb"), "<a\nb>");
  EXPECT_EQ(marked("^.", "a\nb"), "<a>\nb");
  EXPECT_EQ(marked("(?m)^.", "a\nb"), "<a>\n<b>");
  EXPECT_FALSE(regex("a$").matches("a\n"));
}

TEST_P(Patterns, FlagsHoldToTheEndOfTheirGroup) {
  EXPECT_TRUE(regex("(?i)WEIGHT").matches("a.weight"));
  EXPECT_TRUE(regex("(?i:W)eight").matches("weight"));
  EXPECT_FALSE(regex("(?i:W)EIGHT").matches("weight"));
  EXPECT_FALSE(regex("(?i)a(?-i)b").matches("AB"));
  EXPECT_EQ(marked("(?U)a+", "aa"), "<a><a>");
  EXPECT_TRUE(regex("(?u)a").matches("a"));
  EXPECT_TRUE(regex("(?iu:a)").matches("A"));
}

// ---- Unicode

constexpr const char* arabic_three = "\xd9\xa3";
constexpr const char* e_acute = "\xc3\xa9";
constexpr const char* no_break_space = "\xc2\xa0";
constexpr const char* zero_width_joiner = "\xe2\x80\x8d";
constexpr const char* circled_a = "\xe2\x92\xb6";
constexpr const char* superscript_two = "\xc2\xb2";
constexpr const char* roman_four = "\xe2\x85\xa3";
constexpr const char* undertie = "\xe2\x80\xbf";

TEST_P(Patterns, PerlClassesAreUnicode) {
  EXPECT_TRUE(regex(R"(^\d$)").matches(arabic_three));
  EXPECT_FALSE(regex(R"(^\d$)").matches(superscript_two));
  EXPECT_FALSE(regex(R"(^\D$)").matches(arabic_three));
  EXPECT_TRUE(regex(R"(^\D$)").matches(e_acute));
  for (const char* text : {"a", "Z", "0", "_", e_acute, arabic_three, roman_four, undertie,
                           zero_width_joiner, circled_a}) {
    EXPECT_TRUE(regex(R"(^\w$)").matches(text)) << text;
    EXPECT_FALSE(regex(R"(^\W$)").matches(text)) << text;
  }
  for (const char* text : {"-", " ", ".", superscript_two, no_break_space, "\n"}) {
    EXPECT_FALSE(regex(R"(^\w$)").matches(text)) << text;
    EXPECT_TRUE(regex(R"(^\W$)").matches(text)) << text;
  }
  for (const char* text : {" ", "\t", "\n", "\v", "\f", "\r", "\xc2\x85", no_break_space,
                           "\xe1\x9a\x80", "\xe2\x80\x8a", "\xe2\x80\xa8", "\xe3\x80\x80"}) {
    EXPECT_TRUE(regex(R"(^\s$)").matches(text)) << text;
    EXPECT_FALSE(regex(R"(^\S$)").matches(text)) << text;
  }
  for (const char* text : {"a", e_acute, "\xe2\x80\x8b", "\x1f", "\xf0\x9f\x98\x80"}) {
    EXPECT_FALSE(regex(R"(^\s$)").matches(text)) << text;
    EXPECT_TRUE(regex(R"(^\S$)").matches(text)) << text;
  }
}

TEST_P(Patterns, PerlClassesAreUnicodeBetweenBracketsToo) {
  EXPECT_TRUE(regex(R"(^[\d.]+$)").matches("1."s + arabic_three));
  EXPECT_TRUE(regex(R"(^[^\d]$)").matches("x"));
  EXPECT_FALSE(regex(R"(^[^\d]$)").matches(arabic_three));
  EXPECT_TRUE(regex(R"(^[\D]$)").matches("x"));
  EXPECT_TRUE(regex(R"(^[\D5]+$)").matches("x5"));
  EXPECT_FALSE(regex(R"(^[^\D]$)").matches("x"));
  EXPECT_TRUE(regex(R"(^[\w-]+$)").matches("a-"s + e_acute));
  EXPECT_FALSE(regex(R"(^[^\w]$)").matches(e_acute));
  EXPECT_TRUE(regex(R"(^[^\w]$)").matches("-"));
  EXPECT_TRUE(regex(R"(^[\W]$)").matches("-"));
  EXPECT_TRUE(regex(R"(^[\Wx]+$)").matches("-x-"));
  EXPECT_FALSE(regex(R"(^[\Wx]+$)").matches("-y"));
  EXPECT_TRUE(regex(R"(^[^\W]$)").matches(e_acute));
  EXPECT_TRUE(regex(R"(^[\w\W]+$)").matches("a -\n"));
  EXPECT_FALSE(regex(R"(^[\S]$)").matches(no_break_space));
  EXPECT_TRUE(regex(R"(^[\S ]+$)").matches("a b"));
  EXPECT_TRUE(regex(R"(^[^\S]$)").matches(no_break_space));
  EXPECT_TRUE(regex(R"(^[\s\S]+$)").matches("a \n"));
  EXPECT_EQ(refusal(R"([^\W_])"), "\\W with other items in a negated class is not supported");
}

TEST_P(Patterns, TakesCharacterCodesInEverySpelling) {
  for (const char* text :
       {R"(^\x41$)", R"(^\x{41}$)", R"(^\u0041$)", R"(^\u{41}$)", R"(^\U00000041$)",
        R"(^\U{0041}$)", R"(^[\u0041]$)", R"(^[\x40-\x42]$)"}) {
    EXPECT_TRUE(regex(text).matches("A")) << text;
    EXPECT_FALSE(regex(text).matches("C")) << text;
  }
  EXPECT_TRUE(regex(R"(^\u{1F600}$)").matches("\xf0\x9f\x98\x80"));
  EXPECT_EQ(refusal(R"(\u004)"), "the character code is incomplete");
  EXPECT_EQ(refusal(R"(\x{})"), "the character code is incomplete");
  EXPECT_EQ(refusal(R"(\x{4)"), "the character code is incomplete");
  EXPECT_EQ(refusal(R"(\uD800)"), "no such character in Unicode");
  EXPECT_EQ(refusal(R"(\x{110000})"), "no such character in Unicode");
  EXPECT_EQ(refusal(R"(\x{100000041})"), "no such character in Unicode");
}

TEST_P(Patterns, TakesCategoriesAndScripts) {
  EXPECT_TRUE(regex(R"(^\p{Greek}+$)").matches("\xce\xb1\xce\xb2"));
  EXPECT_TRUE(regex(R"(^\pL[\pN\p{Lu}]$)").matches("a7"));
  EXPECT_TRUE(regex(R"(^\PL$)").matches("7"));
  const Result<Pattern> unknown = try_regex(R"(a\p{Klingon})");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().found, R"(pattern 'a\p{Klingon}' at byte 1)");
  EXPECT_FALSE(unknown.error().hint.empty());
  EXPECT_EQ(refusal(R"(\p{L)"), "the class name is never closed");
  EXPECT_EQ(refusal(R"(\p)"), "the class has no name");
}

// ---- the dialect's edges

TEST_P(Patterns, TakesBracketsAsRustDoes) {
  EXPECT_TRUE(regex("^[]a]+$").matches("]a"));
  EXPECT_TRUE(regex("^[^]a]$").matches("b"));
  EXPECT_TRUE(regex("^[-a]+$").matches("-a"));
  EXPECT_TRUE(regex("^[a-]+$").matches("-a"));
  EXPECT_TRUE(regex("^[a-c-9]+$").matches("b-9"));
  EXPECT_TRUE(regex(R"(^[\[\]\-\^\\]+$)").matches("[]-^\\"));
  EXPECT_TRUE(regex("^[a^]+$").matches("a^"));
  EXPECT_TRUE(regex("^[.*+?(){}|$&~]+$").matches("$&~|.(*)"));
  EXPECT_TRUE(regex("^[[:alpha:]_[:digit:]]+$").matches("a_1"));
  EXPECT_TRUE(regex("^[[:^alpha:]]+$").matches("1."));
  EXPECT_TRUE(regex("^[\xc3\xa0-\xc3\xbf]+$").matches(e_acute));
  EXPECT_TRUE(regex("^]}$").matches("]}"));
}

TEST_P(Patterns, TakesPunctuationAfterABackslash) {
  EXPECT_TRUE(regex(R"(^\.\*\+\?\(\)\[\]\{\}\|\^\$\\\/\-\#\&\~\_\ \:\"\'$)")
                  .matches(R"(.*+?()[]{}|^$\/-#&~_ :"')"));
  EXPECT_TRUE(regex(R"(^\a\f\t\n\r\v$)").matches("\a\f\t\n\r\v"));
  EXPECT_TRUE(regex(R"(\Aab\z)").matches("ab"));
  EXPECT_EQ(marked(R"(\b)", "a b"), "<>a<> <>b<>");
}

TEST_P(Patterns, TakesCountedRepetitions) {
  EXPECT_EQ(marked("a{2}", "aaaaa"), "<aa><aa>a");
  EXPECT_EQ(marked("a{02,003}", "aaaaa"), "<aaa><aa>");
  EXPECT_EQ(marked("a{2,}?", "aaaaa"), "<aa><aa>a");
}

TEST_P(Patterns, TakesNamedGroupsInBothSpellings) {
  EXPECT_EQ(regex("(?<n>a)").replace_all("a", "[$n]"), "[a]");
  EXPECT_EQ(regex("(?P<n_1>a)").replace_all("a", "[$n_1]"), "[a]");
  EXPECT_EQ(refusal("(?<1>a)"), "the group name is invalid");
  EXPECT_EQ(refusal("(?P<>a)"), "the group name is invalid");
  EXPECT_EQ(refusal("(?<n"), "the group name is invalid");
  EXPECT_EQ(refusal("(?<n>a)(?<n>b)"), "another group has this name");
}

TEST_P(Patterns, RefusesWhatTheDialectDoesNotHave) {
  const std::string look = "look-around is not supported";
  EXPECT_EQ(refusal("a(?=b)"), look);
  EXPECT_EQ(refusal("a(?!b)"), look);
  EXPECT_EQ(refusal("(?<=a)b"), look);
  EXPECT_EQ(refusal("(?<!a)b"), look);
  const std::string back = "back-references are not supported";
  EXPECT_EQ(refusal(R"((a)\1)"), back);
  EXPECT_EQ(refusal(R"((a)\9)"), back);
  EXPECT_EQ(refusal(R"((?<n>a)\k<n>)"), back);
  EXPECT_EQ(refusal("(?P<n>a)(?P=n)"), back);
  const std::string operators = "class operators are not supported";
  EXPECT_EQ(refusal("[a-z&&[^x]]"), operators);
  EXPECT_EQ(refusal("[a-z--[x]]"), operators);
  EXPECT_EQ(refusal("[a-z~~x]"), operators);
  EXPECT_EQ(refusal("[a[b]]"), "a class within a class is not supported");
  EXPECT_EQ(refusal("[[a]"), "a class within a class is not supported");
  EXPECT_EQ(refusal("(?x)a b"), "the flag x is not supported");
  EXPECT_EQ(refusal("(?ix:a b)"), "the flag x is not supported");
  EXPECT_EQ(refusal("(?-u)a"), "the flag u cannot be switched off");
}

TEST_P(Patterns, RefusesWhatOnlyOtherDialectsHave) {
  EXPECT_EQ(refusal(R"(\Qa.b\E)"), "no such escape");
  EXPECT_EQ(refusal(R"(\C)"), "no such escape");
  EXPECT_EQ(refusal(R"(a\Z)"), "no such escape");
  EXPECT_EQ(refusal("\\\xc3\xa9"), "no such escape");
  EXPECT_EQ(refusal("(?>a)"), "no such flag or kind of group");
  EXPECT_EQ(refusal("(?#note)"), "no such flag or kind of group");
  EXPECT_EQ(refusal("a++"), "a repetition follows another");
  EXPECT_EQ(refusal("a{2}{3}"), "a repetition follows another");
  EXPECT_EQ(refusal("{"), "nothing to repeat");
  EXPECT_EQ(refusal("a{"), "a brace does not start a repetition");
  EXPECT_EQ(refusal("a{,3}"), "a brace does not start a repetition");
  EXPECT_EQ(refusal("a{x}"), "a brace does not start a repetition");
  EXPECT_EQ(refusal(R"(\b{start}a)"), "a brace does not start a repetition");
}

TEST_P(Patterns, RefusesWhatDoesNotParse) {
  EXPECT_EQ(refusal("(a"), "the group is never closed");
  EXPECT_EQ(refusal("(?:a"), "the group is never closed");
  EXPECT_EQ(refusal("(?i"), "the group is never closed");
  EXPECT_EQ(refusal("a)"), "unmatched closing parenthesis");
  EXPECT_EQ(refusal("[a"), "the bracket is never closed");
  EXPECT_EQ(refusal("[]"), "the bracket is never closed");
  EXPECT_EQ(refusal("a\\"), "the pattern ends in a backslash");
  EXPECT_EQ(refusal("[a\\"), "the pattern ends in a backslash");
  EXPECT_EQ(refusal("*a"), "nothing to repeat");
  EXPECT_EQ(refusal("a|+"), "nothing to repeat");
  EXPECT_EQ(refusal("(?i)*"), "nothing to repeat");
  EXPECT_EQ(refusal("(?)"), "a flag is missing");
  EXPECT_EQ(refusal("(?i-)"), "a flag is missing");
  EXPECT_EQ(refusal(R"([a-\d])"), "a range needs a character on each side");
  EXPECT_EQ(refusal(R"([\w-.])"), "a range needs a character on each side");
  EXPECT_EQ(refusal(R"([\b])"), "an assertion is not allowed in a class");
  EXPECT_EQ(refusal("[z-a]"), "the range runs backwards");
  EXPECT_EQ(refusal(R"([\x{42}-A])"), "the range runs backwards");
  EXPECT_NE(refusal("[[:nonsense:]]"), "(accepted)");
  EXPECT_NE(refusal("a{1001}"), "(accepted)");
  EXPECT_NE(refusal("a{3,2}"), "(accepted)");
}

TEST_P(Patterns, SaysWhereItIsWrongAndWhatToTry) {
  const Error error = try_regex(R"(^a\.(?=b))").error();
  EXPECT_EQ(error.found, R"(pattern '^a\.(?=b)' at byte 4)");
  EXPECT_FALSE(error.hint.empty());
  EXPECT_EQ(try_regex("ab[z-a]").error().found, "pattern 'ab[z-a]' at byte 3");
  EXPECT_EQ(try_regex("\x1b[").error().found, "pattern '\x1b[' at byte 1");
}

// ---- replacing

TEST_P(Patterns, ExpandsReplacementsAsRustDoes) {
  struct {
    const char *replacement, *expected;
  } const cases[] = {
      {"$1", "ab"},
      {"$0", "ab.7"},
      {"$2$1", "7ab"},
      {"${1}", "ab"},
      {"${1}_x", "ab_x"},
      {"$1_x", ""},
      {"$1x", ""},
      {"$1.x", "ab.x"},
      {"x_$1", "x_ab"},
      {"$num", "7"},
      {"${num}s", "7s"},
      {"$nums", ""},
      {"$$1", "$1"},
      {"$$$1", "$ab"},
      {"$", "$"},
      {"a$", "a$"},
      {"$ 1", "$ 1"},
      {"$-", "$-"},
      {"\\1", "\\1"},
      {"$3", ""},
      {"$99999999999999999999", ""},
      {"${", "${"},
      {"${1", "${1"},
      {"${}", ""},
      {"${no such}", ""},
      {"$01", "ab"},
      {"${+1}", "ab"},
      {"$word-$num", "-7"},
      {"${1}${2}", "ab7"},
      {"$1$2", "ab7"},
      {"", ""},
      {"$$", "$"},
      {"$$$", "$$"},
      {"{$1}", "{ab}"},
      {"${ 1}", ""},
      {"\xc3\xa9$1\xc3\xa9",
       "\xc3\xa9"
       "ab\xc3\xa9"},
  };
  const Pattern pattern = regex(R"((\w+)\.(?<num>\d))");
  for (const auto& c : cases) {
    EXPECT_EQ(pattern.replace_all("<ab.7>", c.replacement), "<"s + c.expected + ">")
        << c.replacement;
  }
}

TEST_P(Patterns, ReplacesGroupsThatTookNoPartByNothing) {
  EXPECT_EQ(regex("(a)|(b)").replace_all("ab", "[$1$2]"), "[a][b]");
  EXPECT_EQ(regex("(a)|(b)").replace_all("b", "[$1]"), "[]");
}

TEST_P(Patterns, ReplacesEveryMatchThatDoesNotOverlap) {
  EXPECT_EQ(regex("aa").replace_all("aaaaa", "b"), "bba");
  EXPECT_EQ(regex("^a").replace_all("aaa", "b"), "baa");
  EXPECT_EQ(regex("x").replace_all("abc", "$0$0"), "abc");
  EXPECT_EQ(regex("x").replace_all({}, "y"), "");
}

TEST_P(Patterns, TreatsEmptyMatchesAsRustDoes) {
  EXPECT_EQ(marked("", "abc"), "<>a<>b<>c<>");
  EXPECT_EQ(marked("x*", "abc"), "<>a<>b<>c<>");
  EXPECT_EQ(marked("x*", "axxb"), "<>a<xx>b<>");
  EXPECT_EQ(marked("b*", "abb"), "<>a<bb>");
  EXPECT_EQ(marked(".*", "abc"), "<abc>");
  EXPECT_EQ(marked("|a", "ab"), "<>a<>b<>");
  EXPECT_EQ(marked("a|", "ab"), "<a>b<>");
  EXPECT_EQ(marked("$", "ab"), "ab<>");
  EXPECT_EQ(marked("^", "ab"), "<>ab");
  EXPECT_EQ(marked("", ""), "<>");
  EXPECT_EQ(marked(".*", {}), "<>");
}

TEST_P(Patterns, NeverMatchesInsideACharacter) {
  const std::string text = "\xc3\xa9\xe2\x82\xac";
  EXPECT_EQ(marked("", text), "<>\xc3\xa9<>\xe2\x82\xac<>");
  EXPECT_EQ(marked(R"(\B)", text), "<>\xc3\xa9<>\xe2\x82\xac<>");
  EXPECT_EQ(marked(".", text), "<\xc3\xa9><\xe2\x82\xac>");
}

TEST_P(Patterns, WarnsOfReplacementsThatNameUnknownGroups) {
  const Pattern pattern = regex(R"(h\.(\d)(?<rest>.*))");
  for (const char* fine : {"", "$1", "$0", "${1}x", "$rest", "$$9", "a$", "$1.$rest"}) {
    EXPECT_EQ(pattern.check_replacement(fine), "") << fine;
  }
  EXPECT_EQ(
      pattern.check_replacement("l$1x"),
      R"(replacement 'l$1x' names the group '1x', which pattern 'h\.(\d)(?<rest>.*)' does not )"
      R"(have; it becomes empty text; for group 1 write ${1}x)");
  EXPECT_NE(pattern.check_replacement("$3"), "");
  EXPECT_NE(pattern.check_replacement("${}"), "");
  EXPECT_NE(pattern.check_replacement("$resting"), "");
}

// ---- globs

TEST_P(Globs, MatchesTheWholeName) {
  EXPECT_TRUE(glob("a.weight").matches("a.weight"));
  EXPECT_FALSE(glob("a.weight").matches("a.weights"));
  EXPECT_FALSE(glob("a.weight").matches("xa.weight"));
  EXPECT_TRUE(glob("").matches(""));
  EXPECT_FALSE(glob("").matches("a"));
}

TEST_P(Globs, StarStaysWithinOneSegment) {
  const Pattern pattern = glob("layers.*.weight");
  EXPECT_TRUE(pattern.matches("layers.0.weight"));
  EXPECT_TRUE(pattern.matches("layers..weight"));
  EXPECT_FALSE(pattern.matches("layers.0.1.weight"));
  EXPECT_FALSE(pattern.matches("layers.weight"));
  EXPECT_TRUE(glob("*_proj").matches("q_proj"));
  EXPECT_TRUE(glob("*").matches("line\nbreak"));
}

TEST_P(Globs, TwoStarsReachAnyDepth) {
  EXPECT_TRUE(glob("**").matches(""));
  EXPECT_TRUE(glob("**").matches("a.b.c"));
  EXPECT_TRUE(glob("**").matches("a\nb"));
  EXPECT_TRUE(glob("**").matches("not UTF-8: \xff\xfe"));
  EXPECT_TRUE(glob("**.weight").matches("weight"));
  EXPECT_TRUE(glob("**.weight").matches("a.b.weight"));
  EXPECT_FALSE(glob("**.weight").matches("a.myweight"));
  EXPECT_TRUE(glob("a.**.b").matches("a.b"));
  EXPECT_TRUE(glob("a.**.b").matches("a.x.y.b"));
  EXPECT_FALSE(glob("a.**.b").matches("ab"));
  EXPECT_TRUE(glob("a.**").matches("a.x.y"));
  EXPECT_FALSE(glob("a.**").matches("a"));
  EXPECT_TRUE(glob("**.**.c").matches("c"));
  EXPECT_TRUE(glob("enc**.w").matches("encoder.0.w"));
  EXPECT_FALSE(glob("enc**.w").matches("encw"));
}

TEST_P(Globs, QuestionMarkIsOneCharacterButNoDot) {
  EXPECT_TRUE(glob("h.?.w").matches("h.1.w"));
  EXPECT_TRUE(glob("h.?.w").matches("h.\xc3\xa9.w"));
  EXPECT_FALSE(glob("h.?.w").matches("h.12.w"));
  EXPECT_FALSE(glob("h.?.w").matches("h...w"));
  EXPECT_FALSE(glob("h.?.w").matches("h..w"));
}

TEST_P(Globs, TakesAllElseLiterally) {
  std::string every;
  for (int c = 0; c < 128; ++c) {
    if (c != '*' && c != '?') every += static_cast<char>(c);
  }
  every += "\xc3\xa9";
  EXPECT_TRUE(glob(every).matches(every));
  EXPECT_FALSE(glob("[ab]").matches("a"));
  EXPECT_FALSE(glob("a+").matches("aa"));
  EXPECT_EQ(try_glob("a\xff").error().found, "pattern 'a\xff' at byte 1");
}

// ---- hostile input

TEST_P(Patterns, TakesLinearTimeOverNestedRepetition) {
  const std::string text(100000, 'a');
  EXPECT_TRUE(regex("^(a+)+$").matches(text));
  EXPECT_FALSE(regex("^(a+)+$").matches(text + "b"));
  EXPECT_FALSE(regex("^(a|a)*b$").matches(text));
  EXPECT_FALSE(glob("*a*a*a*a*a*a*a*a*b").matches(text));
  EXPECT_EQ(regex("(a+)+").replace_all(text, "x"), "x");
}

TEST_P(Patterns, TakesLinearTimeToReplaceManyMatches) {
  const std::string text(480'000, 'a');
  EXPECT_EQ(regex("a(.*b)?").replace_all(text, "x"), std::string(text.size(), 'x'));
  EXPECT_EQ(regex("a(.*b)?").replace_all("c" + text + "b" + text, "x"),
            "cx" + std::string(text.size(), 'x'));
  EXPECT_EQ(regex("(?:a.*b|)").replace_all(text, "-").size(), 2 * text.size() + 1);
}

TEST_P(Patterns, RefusesDeepNestingAndTakesLongAlternations) {
  const auto repeated = [](std::string_view text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  EXPECT_EQ(refusal(repeated("(", 100000)), "groups nest too deeply");
  EXPECT_EQ(refusal(repeated("(", 251) + repeated(")", 251)), "groups nest too deeply");
  EXPECT_TRUE(regex(repeated("(", 250) + "a" + repeated(")", 250)).matches("a"));
  EXPECT_NE(refusal(repeated("(?:", 200) + "a" + repeated("){9}", 200)), "(accepted)");
  EXPECT_NE(refusal(repeated(R"(\w{500})", 2000)), "(accepted)");

  std::string alternation = "layer0";
  for (int i = 1; i < 20000; ++i) alternation += "|layer" + std::to_string(i);
  EXPECT_TRUE(regex("^(?:" + alternation + ")$").matches("layer19999"));
  EXPECT_FALSE(regex("^(?:" + alternation + ")$").matches("layer20000"));
}

TEST_P(Patterns, ShowsOnlyTheStartOfALongPattern) {
  const Error error = try_regex(std::string(100000, 'a') + "(").error();
  EXPECT_LT(error.found.size(), 300u);
  EXPECT_NE(error.found.find("at byte 100000"), std::string::npos);
}

TEST_P(Patterns, RefusesPatternsThatAreNotUtf8) {
  for (const char* bad : {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "[\xff]", "\\\xff"}) {
    EXPECT_EQ(refusal(bad), "the pattern is not UTF-8");
  }
}

TEST_P(Patterns, SurvivesNamesThatAreNotUtf8) {
  EXPECT_EQ(marked("b",
                   "a\xff"
                   "b\xc3"),
            "a\xff<b>\xc3");
  EXPECT_FALSE(regex("^.*$").matches("\xff"));
  const std::string broken =
      "\x80\x80"
      "a\xff\xc3";
  EXPECT_EQ(regex("").replace_all(broken, ""), broken);
  EXPECT_EQ(regex("a").replace_all(broken, "\xff"), "\x80\x80\xff\xff\xc3");
}

TEST_P(Patterns, TakesBytesOfZero) {
  EXPECT_TRUE(regex("a\0b"sv).matches("a\0b"sv));
  EXPECT_FALSE(regex("^a$").matches("a\0b"sv));
  EXPECT_EQ(regex(R"(\x00)").replace_all("a\0b"sv, "0"), "a0b");
}

// Every short string over the characters that mean something: nothing may crash, and what is
// accepted must run.
TEST_P(Patterns, AnswersEveryShortPattern) {
  const std::string_view alphabet = "a\\[](){}?*+|^$-&:<P1wW,.";
  std::size_t accepted = 0;
  std::string text(4, ' ');
  for (std::size_t n = 0; n < alphabet.size() * alphabet.size() * alphabet.size() * alphabet.size();
       n += 7) {
    std::size_t rest = n;
    for (char& c : text) {
      c = alphabet[rest % alphabet.size()];
      rest /= alphabet.size();
    }
    if (const Result<Pattern> pattern = try_regex(text)) {
      ++accepted;
      pattern->replace_all("a1-\xc3\xa9", "$0$1$w");
    }
  }
  EXPECT_GT(accepted, 0u);
}

}  // namespace
}  // namespace andiron
