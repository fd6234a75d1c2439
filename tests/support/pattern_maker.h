// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <random>
#include <string>

namespace andiron::test {

/// Patterns as strangers might write them, over few characters, so that many match.
/// The same everywhere.
class PatternMaker {
 public:
  static constexpr unsigned usual_seed = 20240229;

  explicit PatternMaker(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return random_() % count; }

  std::string pattern(int depth = 3) {
    std::string out = sequence(depth);
    while (below(4) == 0) out += "|" + sequence(depth - 1);
    return out;
  }

  std::string name() {
    std::string out;
    for (std::size_t count = below(12); count > 0; --count) {
      out += one_of({"a",
                     "b",
                     "c",
                     ".",
                     "-",
                     "1",
                     "k",
                     "K",
                     "s",
                     "A",
                     "_",
                     " ",
                     "\n",
                     "\xc3\xa9",
                     "\xce\xa3",
                     "\xcf\x83",
                     "\xc5\xbf",
                     "\xe2\x82\xac",
                     "\xe2\x84\xaa",
                     "\xf0\x9f\x98\x80",
                     "\xff",
                     "\x80",
                     "\xc3"});
    }
    return out;
  }

 private:
  std::string one_of(std::initializer_list<const char*> choices) {
    return std::data(choices)[below(choices.size())];
  }

  std::string sequence(int depth) {
    std::string out;
    for (std::size_t count = below(5); count > 0; --count) {
      if (below(20) == 0) {
        out += one_of({"(?i)", "(?s)", "(?m)", "(?U)", "(?-i)", "(?i-s)", "(?sm)"});
        continue;
      }
      out += unit(depth);
      if (below(3) != 0) continue;
      out += one_of({"*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}", "{0}", "{0,}", "{1}"});
      if (below(3) == 0) out += "?";
    }
    return out;
  }

  std::string unit(int depth) {
    const std::size_t kind = below(10);
    if (kind == 0) return one_of({"^", "$", R"(\b)", R"(\B)", R"(\A)", R"(\z)"});
    if (kind < 4 && depth > 0) {
      std::string out = one_of({"(", "(?:", "(", "(?i:", "(?U:", "(?s-i:"});
      out += pattern(depth - 1);
      return out + ")";
    }
    if (kind < 6) {
      return one_of({R"(\d)",       R"(\w)",    R"(\s)",        R"(\W)",        R"(\D)",
                     R"(\S)",       "[ab]",     "[^a]",         "[a-c1]",       R"([^\w])",
                     R"(\p{L})",    R"(\PL)",   "[[:alpha:]]",  "[[:^space:]]", R"([\p{Lu}\-])",
                     ".",           R"([^\n])", R"(\p{Greek})", R"([\P{Lu}])",  "[k]",
                     "[[:lower:]]", R"([\Wa])"});
    }
    return one_of({"a", "b", "c", "-", "1", R"(\.)", "k", "S", "_", R"(\n)", R"(\x{212a})",
                   "\xc3\xa9", "\xce\xa3", "\xe2\x82\xac", "\xf0\x9f\x98\x80"});
  }

  std::mt19937 random_;
};

}  // namespace andiron::test
