// SPDX-License-Identifier: MIT OR Apache-2.0
// Errors, tensors, archives and names when memory is short.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "andiron/andiron.h"
#include "src/core/text/pattern_syntax.h"
#include "src/core/text/regex_engine.h"
#include "tests/allocation/sweep.h"
#include "tests/support/repeated_text.h"
#include "tests/support/sample_net.h"

namespace andiron::test {
namespace {

TEST(AllocationSweep, AnErrorThatCannotBeKeptIsOutOfMemory) {
  Error error{.code = ErrorCode::bad_header, .message = "a message that is long enough to be kept"};
  const FailingMemory failing(1, Failing::onwards);
  Status first = std::move(error);
  Result<int> second = Error{.code = ErrorCode::io};
  ASSERT_FALSE(first.ok());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(first.error().code, ErrorCode::out_of_memory);
  // Taking the error out of one leaves the other's.
  EXPECT_EQ(std::move(first).error().message, "out of memory");
  EXPECT_EQ(std::move(second).error().message, "out of memory");
  EXPECT_EQ(first.error().message, "out of memory");
}

TEST(AllocationSweep, ALengthThatNoContainerHasIsOutOfMemory) {
  const PathFilter filter = PathFilter().with_predicate(
      [](std::string_view, const Container&) -> bool { throw std::length_error("too long"); });
  const Archive archive = collect_archive(sample_net(0)).value();
  const Result<Archive> filtered = andiron::filter(archive, filter);
  ASSERT_FALSE(filtered.ok());
  EXPECT_EQ(filtered.error().code, ErrorCode::out_of_memory);
}

std::string data_of(const Result<TensorSnapshot>& snapshot) {
  return snapshot->shape().to_string() + std::string(snapshot->read().value().bytes().text());
}

TEST(AllocationSweep, Snapshots) {
  const TensorSnapshot tensor("a path that is longer than a short string", f32({2, 3, 4}, 0));
  const TensorSnapshot raised = tensor.unsqueeze(0).value();
  sweep("transpose", [&] { return tensor.transpose(0, 2); }, data_of);
  sweep("permute", [&] { return tensor.permute({2, 0, 1}); }, data_of);
  sweep("slice", [&] { return tensor.slice(1, 0, 3, 2); }, data_of);
  sweep("reshape", [&] { return tensor.reshape({4, 6}); }, data_of);
  sweep("squeeze", [&] { return raised.squeeze(0); }, data_of);
  sweep("expand", [&] { return raised.expand({5, 2, 3, 4}); }, data_of);
  sweep("cast", [&] { return tensor.cast(DType::f16); }, data_of);
  sweep("negate", [&] { return tensor.negate(); }, data_of);
  const std::vector<TensorSnapshot> parts = {tensor,
                                             tensor.transpose(0, 2)->transpose(0, 2).value()};
  sweep("concat", [&] { return TensorSnapshot::concat(parts, 1); }, data_of);
  sweep("stack", [&] { return TensorSnapshot::stack(parts, 1); }, data_of);
  sweep("a bad reshape", [&] { return tensor.reshape({7}); }, data_of);
  const TensorSnapshot cast = tensor.transpose(0, 2)->cast(DType::bf16).value();
  sweep(
      "read", [&] { return cast.read(); },
      [](const Result<Tensor>& read) { return std::string(read->bytes().text()); });
  sweep(
      "sha256", [&] { return sha256(cast); },
      [](const Result<Sha256Digest>& digest) { return to_hex(*digest); });
}

TEST(AllocationSweep, Tensors) {
  const Tensor original = f32({2, 3}, 0);
  const auto text = [](const Result<Tensor>& made) { return std::string(made->bytes().text()); };
  const std::vector<float> numbers = {1, 2, 3};
  sweep("zeros", [&] { return Tensor::zeros(DType::f32, {7, 7}); }, text);
  sweep("from_values", [&] { return Tensor::from_values<float>({3}, numbers); }, text);
  sweep("a wrong size", [&] { return Tensor::from_values<float>({4}, numbers); }, text);
  sweep(
      "to_vector", [&] { return original.to_vector<float>(); },
      [](const Result<std::vector<float>>& all) { return std::to_string(all->size()); });
  Tensor shared = original;
  sweep(
      "as_mutable", [&] { return shared.as_mutable<float>(); },
      [](const Result<std::span<float>>& all) { return std::to_string(all->size()); },
      {.restore = [&] { shared = original; },
       .state = [&] { return std::string(shared.bytes().text()); }});
  sweep(
      "a wrong type", [&] { return original.as<std::int64_t>(); },
      [](const auto&) { return std::string(); });
}

TEST(AllocationSweep, AnArchiveThatCannotGrowStaysWhole) {
  const Archive original = collect_archive(sample_net(0)).value();
  Archive archive = original;
  std::vector<TensorSnapshot> more;
  const auto names = [&] {
    std::string text;
    for (std::size_t i = 0; i < archive.size(); ++i) {
      const std::string_view name = archive.info(i).name;
      text += std::string(name) + (archive.find(name) == i ? "\n" : " is lost\n");
    }
    return text;
  };
  const auto restore = [&] {
    archive = original;
    more.clear();
    for (char c = 'a'; c <= 'z'; ++c) {
      more.emplace_back("one more tensor with a long name: " + std::string(1, c), f32({2}, 0));
    }
  };
  const auto described = [&](const Status&) { return names(); };
  sweep("add", [&] { return archive.add(std::move(more[0])); }, described, {restore, names});
  sweep("replace", [&] { return archive.replace(0, std::move(more[0])); }, described,
        {restore, names});
  sweep("add many",
        [&]() -> Status {
          for (TensorSnapshot& tensor : more) {
            if (Status status = archive.add(std::move(tensor)); !status) {
              return status;
            }
          }
          return {};
        },
        described, {.restore = restore});
}

TEST(AllocationSweep, Names) {
  Archive archive = collect_archive(sample_net(0)).value();
  const auto text = [](const Result<Archive>& renamed) {
    std::string names;
    for (std::size_t i = 0; i < renamed->size(); ++i) {
      names += std::string(renamed->info(i).name) + " " + std::string(renamed->name_in_file(i));
    }
    for (const Message& note : renamed->notes()) names += note;
    return names;
  };
  const KeyRemapper remapper =
      KeyRemapper::from_patterns({{"^blocks\\.(\\d+)", "a.list.of.layers.$1"}, {"norm", "$2x"}});
  const PathFilter filter =
      PathFilter().with_regex("^blocks\\.[0-9]").with_glob("head.**").exclude_regex("beta$");
  const NameOptions options = {.remapper = remapper, .close_gaps = true, .except = {"^none"}};
  sweep("remap", [&] { return remap(archive, remapper); }, text);
  sweep("filter", [&] { return andiron::filter(archive, filter); }, text);
  sweep("top-level key", [&] { return at_top_level_key(archive, "blocks"); }, text);
  sweep("no such key", [&] { return at_top_level_key(archive, "a key that is not there"); }, text);
  sweep("close gaps", [&] { return close_index_gaps(archive); }, text);
  sweep("apply_names", [&] { return apply_names(archive, options); }, text);
  const std::vector<std::string> one_name(archive.size(), "the same name for all of them");
  sweep("a collision", [&] { return archive.rename(one_name); }, text);
  archive.set_aliases({{"an alias of the head's weight", "head.weight"}});
  sweep("untie", [&] { return archive.with_ties_as_copies(); }, text);
  sweep(
      "no such tensor", [&] { return archive.get("heat.weight"); },
      [](const auto&) { return std::string(); });
}

// The engine of the build may be RE2, in which nothing fails.
TEST(AllocationSweep, OurOwnRegularExpressions) {
  const std::string syntax = translate_regex("^a{2,5}(?P<name>b|c)[^d]*|\\w\\b(.*x)?").value();
  const auto none = [](const auto&) { return std::string(); };
  const Surroundings around = {.may_throw = true};
  sweep("compile", [&] { return compile_with_automaton("a", syntax); }, none, around);
  sweep("refuse", [&] { return compile_with_automaton("a{1001}", "a{1001}"); }, none, around);
  const Pattern pattern = Pattern::Engine::pattern(compile_with_automaton("a", syntax).value());
  // The second is long enough for a search of all matches.
  for (const std::string& name : {std::string("aaab-aac-z"), repeated("ab ", 200)}) {
    sweep(
        "replace", [&]() -> Result<std::string> { return pattern.replace_all(name, "<$name>"); },
        [](const Result<std::string>& replaced) { return *replaced; }, around);
  }
}

TEST(AllocationSweep, MallocFailsWhereItIsAskedTo) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers have a malloc of their own";
  const FailingMemory failing(2, Failing::onwards, Allocator::malloc);
  std::free(std::malloc(8));
  void* const none = std::malloc(8);
  void* const again = std::calloc(2, 8);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(again, nullptr);
  EXPECT_THROW(static_cast<void>(std::string(100, 'a')), std::bad_alloc);
}

TEST(AllocationSweep, Texts) {
  const auto none = [](const auto&) { return std::string(); };
  sweep("regex", [] { return Pattern::regex("^a{2,5}(b|c)[^d]*$"); }, none);
  sweep("a bad regex", [] { return Pattern::regex("an open group ("); }, none);
  sweep("glob", [] { return Pattern::glob("encoder.**.weight"); }, none);
  sweep(
      "parse_json",
      [] {
        return parse_json(R"({"a long key of an object": [1, 2.5, "a long text in a list"]})");
      },
      [](const Result<Value>& value) { return to_json(*value); });
  sweep("bad json", [] { return parse_json("[1, 2, 3, a word that is none]"); }, none);
}

}  // namespace
}  // namespace andiron::test
