// SPDX-License-Identifier: MIT OR Apache-2.0
// The regular-expression engine behind Pattern.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "andiron/text.h"

namespace andiron::inline v1 {

// A compiled expression and the text the user wrote for it. Safe from several threads.
class Pattern::Engine {
 public:
  // Finds one match of a text after the other, in time linear in the text for all together.
  class LongSearch {
   public:
    LongSearch() = default;
    virtual ~LongSearch() = default;
    LongSearch(const LongSearch&) = delete;
    LongSearch& operator=(const LongSearch&) = delete;
    // As Engine::find(), but finds nothing between the bytes of a character. REQUIRES: `from` is
    // not less than the time before.
    virtual bool find(std::size_t from, std::span<std::string_view> groups) = 0;
  };

  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Compiles `syntax`, which pattern_syntax.h made of `text`, with the engine of this build.
  // InvalidPattern when the engine refuses it.
  static Result<std::shared_ptr<const Engine>> compile(std::string_view text,
                                                       const std::string& syntax);
  // The pattern that runs on an engine.
  static Pattern pattern(std::shared_ptr<const Engine> engine) {
    return Pattern(std::move(engine));
  }

  const std::string& text() const noexcept { return text_; }
  // Whether there is a match anywhere.
  virtual bool matches(std::string_view subject) const = 0;
  // Finds the leftmost match that starts at or after byte `from`; what lies before still counts for
  // ^ and \b. Fills as many groups as are asked for, the whole match first; one that took no part
  // has a null data(). REQUIRES: from <= subject.size(), 1 <= groups.size() <= group_count().
  virtual bool find(std::string_view subject, std::size_t from,
                    std::span<std::string_view> groups) const = 0;
  // A search for all matches in a long text, which find() could read to its end for each. Null if
  // the pattern is too large for it. The text must outlive the search.
  virtual std::unique_ptr<LongSearch> search_long(std::string_view subject,
                                                  std::size_t groups) const = 0;
  // Groups, the whole match included.
  virtual std::size_t group_count() const = 0;
  virtual std::optional<std::size_t> group_named(std::string_view name) const = 0;

 protected:
  explicit Engine(std::string text) : text_(std::move(text)) {}

 private:
  std::string text_;
};

// Two engines that agree. Ours is smaller (docs/adr/0034) and finds many matches in a long text;
// RE2, where a build has it, is faster otherwise.
Result<std::shared_ptr<const Pattern::Engine>> compile_with_re2(std::string_view text,
                                                                const std::string& syntax);
Result<std::shared_ptr<const Pattern::Engine>> compile_with_automaton(std::string_view text,
                                                                      const std::string& syntax);

}  // namespace andiron::inline v1
