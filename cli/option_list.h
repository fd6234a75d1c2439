// SPDX-License-Identifier: MIT OR Apache-2.0
// The options of a verb as data. The command line and its help are made from it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace andiron::cli {

/// Thrown by an option that cannot take a value. The option's name comes before its message.
struct WrongValue {
  std::string message;
};

/// Values as text, or a WrongValue.
std::uint64_t size_argument(const std::string& text);
unsigned count_argument(const std::string& text, unsigned most);  ///< from 1
std::size_t index_argument(const std::string& text, const std::vector<std::string>& words);

std::string in_quotes(const std::string& text);
/// "auto|always|never"
std::string alternatives(const std::vector<std::string>& words);

struct Option {
  /// What follows the name. Of `values` and `pairs` there is one each time that it is repeated.
  enum class Takes : std::uint8_t { nothing, value, values, pairs };
  using Take = std::function<void(const std::string& value, const std::string& second)>;

  Takes takes;
  std::string names;  ///< "-o,--output"
  std::string value;  ///< as help shows it: "OUT", "PATTERN REPLACEMENT", "name|size"
  std::string help;
  Take take;
  std::string group = {};
  std::vector<std::string> words = {};  ///< all values that there are, if they are few
  std::string excludes = {};            ///< the name of an option before it
  bool is_required = false;
};

/// The inputs of a verb.
struct Inputs {
  std::vector<std::string>* target = nullptr;  ///< none for a verb without inputs
  std::string help = {};
  std::size_t count = 0;         ///< 0 for one or more
  std::string other_count = {};  ///< the message for another count
};

template <class Choice>
using Choices = std::vector<std::pair<std::string, Choice>>;

class OptionList {
 public:
  using Take = std::function<void(const std::string& value)>;

  Inputs inputs;

  /// The heading of the options that follow.
  void begin_group(std::string heading) { group_ = std::move(heading); }

  // A reference is good until the next option is added.
  Option& flag(std::string names, std::function<void()> set, std::string help);
  Option& flag(std::string names, bool& target, std::string help);
  Option& value(std::string names, std::string shown, Take take, std::string help);
  Option& value(std::string names, std::string shown, std::string& target, std::string help);
  Option& values(std::string names, std::string shown, Take take, std::string help);
  Option& pairs(std::string names, std::string shown, Option::Take take, std::string help);

  /// An option whose value is one of a few words.
  template <class Choice, class Target>
  Option& choice(std::string names, Target& target, const Choices<Choice>& choices,
                 std::string help) {
    std::vector<std::string> words;
    for (const auto& [word, meaning] : choices) words.push_back(word);
    const auto take = [=, &target](const std::string& text) {
      target = choices[index_argument(text, words)].second;
    };
    Option& option = value(std::move(names), alternatives(words), take, std::move(help));
    option.words = std::move(words);
    return option;
  }

  const std::vector<Option>& all() const { return options_; }

 private:
  Option& add(Option option);

  std::string group_ = "Options";
  std::vector<Option> options_;
};

}  // namespace andiron::cli
