// SPDX-License-Identifier: MIT OR Apache-2.0
// Data that a source has once is read once, however many parameters take it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "andiron/apply.h"
#include "andiron/module.h"
#include "andiron/param.h"
#include "tests/support/param_numbers.h"
#include "tests/support/progress_steps.h"
#include "tests/support/sample_net.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using test::fingerprint;

using Floats = std::vector<float>;
using Names = std::vector<std::string>;

struct Model {
  Param embedding;
  Param head;
  ANDIRON_MODULE(Model, embedding, head)
};

// With a parameter between the two.
struct ScaledModel {
  Param embedding;
  Param scale;
  Param head;
  ANDIRON_MODULE(ScaledModel, embedding, scale, head)
};

// Changes the sign of what goes to the places of some names.
class Negates final : public Chainable<Negates> {
 public:
  explicit Negates(Names names) : names_(std::move(names)) {}

 protected:
  Result<TensorSnapshot> adapt(Direction, const Place& place,
                               TensorSnapshot tensor) const override {
    for (const std::string& name : names_) {
      if (place.name() == name) return tensor.negate();
    }
    return tensor;
  }

 private:
  Names names_;
};

class SharedReads : public testing::Test {
 protected:
  static TensorSnapshot view_of(const ByteSourcePtr& source, const char* name,
                                std::uint64_t offset) {
    return TensorSnapshot::from_source(name, source, offset, 16, DType::f32, {4}).value();
  }
  TensorSnapshot view(const char* name, std::uint64_t offset) const {
    return view_of(source, name, offset);
  }
  Snapshots tied() const { return Snapshots({view("embedding", 0), view("head", 0)}); }
  Snapshots apart() const { return Snapshots({view("embedding", 0), view("head", 16)}); }
  Snapshots all_tied() const {
    return Snapshots({view("embedding", 0), view("scale", 0), view("head", 0)});
  }

  // Each parameter has memory of its own.
  static Param zeros() { return Param(Tensor::zeros(DType::f32, {4}).value()); }
  static Model model() { return {zeros(), zeros()}; }
  static ScaledModel scaled_model() { return {zeros(), zeros(), zeros()}; }

  // What is written to one of the parameters is not in the other.
  static void expect_apart(Model& loaded) {
    EXPECT_FALSE(loaded.embedding.is_tied_with(loaded.head));
    const Floats head = test::numbers(loaded.head);
    loaded.embedding.as_mutable<float>().value()[0] = 90;
    EXPECT_EQ(test::numbers(loaded.head), head);
    const Floats embedding = test::numbers(loaded.embedding);
    EXPECT_EQ(embedding[0], 90);
    loaded.head.as_mutable<float>().value()[1] = 91;
    EXPECT_EQ(test::numbers(loaded.embedding), embedding);
  }

  const Floats first_four = {1, 2, 3, 4};
  const Floats last_four = {5, 6, 7, 8};
  const Floats first_negated = {-1, -2, -3, -4};
  const Floats none = {0, 0, 0, 0};
  std::shared_ptr<test::TestSource> source =
      std::make_shared<test::TestSource>(test::bytes_of<float>({1, 2, 3, 4, 5, 6, 7, 8}));
};

TEST_F(SharedReads, OfTiedTensorsThereIsOne) {
  Model loaded = model();
  ASSERT_TRUE(apply(loaded, tied()));
  EXPECT_EQ(source->bytes_read(), 16U);
  EXPECT_EQ(test::numbers(loaded.embedding), first_four);
  EXPECT_EQ(test::numbers(loaded.head), first_four);
}

TEST_F(SharedReads, OfOthersThereIsOneEach) {
  Model loaded = model();
  ASSERT_TRUE(apply(loaded, apart()));
  EXPECT_EQ(source->bytes_read(), 32U);
  EXPECT_EQ(test::numbers(loaded.embedding), first_four);
  EXPECT_EQ(test::numbers(loaded.head), last_four);
}

TEST_F(SharedReads, DoNotTieWhatTheModuleHasApart) {
  Model loaded = model();
  ASSERT_TRUE(apply(loaded, tied()));
  expect_apart(loaded);
}

TEST_F(SharedReads, CountForTheProgressOfEachParameter) {
  Model loaded = model();
  std::vector<std::uint64_t> steps;
  ApplyOptions options;
  options.progress = test::steps_into(steps, 32);
  ASSERT_TRUE(apply(loaded, tied(), options));
  EXPECT_EQ(source->bytes_read(), 16U);
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{16, 32}));
  EXPECT_EQ(test::numbers(loaded.head), first_four);
}

TEST_F(SharedReads, TakeMemoryOnce) {
  Model loaded = model();
  ApplyOptions options;
  options.limits.load_bytes = 16;
  EXPECT_TRUE(apply(loaded, tied(), options));
  EXPECT_EQ(apply(loaded, apart(), options).error().code, ErrorCode::out_of_memory);
}

// ---- In place ----

TEST_F(SharedReads, AreNoneInPlaceWhereEachParameterHasMemory) {
  Model loaded = model();
  const float* embedding = loaded.embedding.as<float>().value().data();
  const float* head = loaded.head.as<float>().value().data();
  ASSERT_TRUE(apply(loaded, tied(), {.in_place = true}));
  EXPECT_EQ(source->bytes_read(), 32U);
  EXPECT_EQ(loaded.embedding.as<float>().value().data(), embedding);
  EXPECT_EQ(loaded.head.as<float>().value().data(), head);
  EXPECT_EQ(test::numbers(loaded.embedding), first_four);
  EXPECT_EQ(test::numbers(loaded.head), first_four);
  expect_apart(loaded);
}

TEST_F(SharedReads, ServeInPlaceParametersThatAreNotSet) {
  Model loaded;
  ASSERT_TRUE(apply(loaded, tied(), {.in_place = true}));
  EXPECT_EQ(source->bytes_read(), 16U);
  EXPECT_EQ(test::numbers(loaded.embedding), first_four);
  EXPECT_EQ(test::numbers(loaded.head), first_four);
  expect_apart(loaded);
}

TEST_F(SharedReads, InPlaceLeaveAParameterTheMemoryThatItHas) {
  for (const bool first_has_memory : {true, false}) {
    Model loaded;
    Param& set = first_has_memory ? loaded.embedding : loaded.head;
    set = zeros();
    const float* memory = set.as<float>().value().data();
    ASSERT_TRUE(apply(loaded, tied(), {.in_place = true}));
    EXPECT_EQ(set.as<float>().value().data(), memory);
    EXPECT_EQ(test::numbers(loaded.embedding), first_four);
    EXPECT_EQ(test::numbers(loaded.head), first_four);
    expect_apart(loaded);
  }
}

// Memory that two parameters share is neither's to write to.
TEST_F(SharedReads, LetALaterLoadInPlaceTellTheParametersApart) {
  Model loaded = model();
  ASSERT_TRUE(apply(loaded, tied()));
  ASSERT_TRUE(apply(loaded, apart(), {.in_place = true}));
  EXPECT_EQ(test::numbers(loaded.embedding), first_four);
  EXPECT_EQ(test::numbers(loaded.head), last_four);
  const Snapshots swapped({view("embedding", 16), view("head", 0)});
  ASSERT_TRUE(apply(loaded, tied()));
  ASSERT_TRUE(apply(loaded, swapped, {.in_place = true}));
  EXPECT_EQ(test::numbers(loaded.embedding), last_four);
  EXPECT_EQ(test::numbers(loaded.head), first_four);
  expect_apart(loaded);
}

// ---- Without a copy ----

TEST_F(SharedReads, WithoutACopyAreOfWhatTheSourceLends) {
  const Bytes lent = Bytes::copy(test::bytes_of<float>({1, 2, 3, 4})).value();
  const ByteSourcePtr lender = memory_source(lent);
  for (const bool in_place : {false, true}) {
    Model loaded = model();
    const Snapshots borrowed({view_of(lender, "embedding", 0), view_of(lender, "head", 0)});
    ASSERT_TRUE(apply(loaded, borrowed, {.zero_copy = true, .in_place = in_place}));
    EXPECT_EQ(loaded.embedding.val().value().bytes().data(), lent.data());
    EXPECT_EQ(loaded.head.val().value().bytes().data(), lent.data());
    expect_apart(loaded);
    EXPECT_TRUE(borrowed[0].read().value().to_vector<float>().value() == first_four)
        << "the source is as it was";
  }
}

TEST_F(SharedReads, WithoutACopyThereIsOneWhereTheSourceLendsNothing) {
  Model loaded = model();
  ASSERT_TRUE(apply(loaded, tied(), {.zero_copy = true}));
  EXPECT_EQ(source->bytes_read(), 16U);
  EXPECT_EQ(test::numbers(loaded.embedding), first_four);
  EXPECT_EQ(test::numbers(loaded.head), first_four);
  expect_apart(loaded);
}

// ---- Places that are changed on the way ----

TEST_F(SharedReads, LeaveATiedPlaceItsNumbersWhereAnAdapterChangesTheOther) {
  for (const bool changes_first : {true, false}) {
    Model loaded = model();
    const Negates adapter({changes_first ? "embedding" : "head"});
    ASSERT_TRUE(apply(loaded, tied(), {.adapter = adapter}));
    EXPECT_EQ(test::numbers(loaded.embedding), changes_first ? first_negated : first_four);
    EXPECT_EQ(test::numbers(loaded.head), changes_first ? first_four : first_negated);
  }
}

TEST_F(SharedReads, LeaveThePlacesAroundAChangedOneTheirNumbers) {
  ScaledModel loaded = scaled_model();
  ASSERT_TRUE(apply(loaded, all_tied(), {.adapter = Negates({"scale"})}));
  EXPECT_EQ(test::numbers(loaded.embedding), first_four);
  EXPECT_EQ(test::numbers(loaded.scale), first_negated);
  EXPECT_EQ(test::numbers(loaded.head), first_four);
}

TEST_F(SharedReads, OfPlacesThatAreChangedAlikeThereIsOne) {
  Model loaded = model();
  ASSERT_TRUE(apply(loaded, tied(), {.adapter = Negates({"embedding", "head"})}));
  EXPECT_EQ(source->bytes_read(), 16U);
  EXPECT_EQ(test::numbers(loaded.embedding), first_negated);
  EXPECT_EQ(test::numbers(loaded.head), first_negated);
  expect_apart(loaded);
}

TEST_F(SharedReads, LeaveATiedPlaceItsDtypeWhereTheOtherIsConverted) {
  Model loaded{zeros(), Param(Tensor::zeros(DType::f64, {4}).value())};
  ASSERT_TRUE(apply(loaded, tied(), {.dtype_policy = DTypePolicy::cast_to_module}));
  EXPECT_EQ(test::numbers(loaded.embedding), first_four);
  EXPECT_EQ(loaded.head.val().value().to_vector<double>().value(),
            (std::vector<double>{1, 2, 3, 4}));
}

// ---- Reads that fail ----

TEST_F(SharedReads, ThatFailLeaveTheModuleAsItWas) {
  Model loaded = model();
  const std::string before = fingerprint(loaded);
  source->fail_reads_past(0);
  const Result<ApplyResult> failed = apply(loaded, tied());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::io);
  EXPECT_EQ(failed.error().tensor, "embedding");
  EXPECT_EQ(fingerprint(loaded), before);
  source->fail_reads_past(std::numeric_limits<std::uint64_t>::max());
  ASSERT_TRUE(apply(loaded, tied()));
  EXPECT_EQ(test::numbers(loaded.head), first_four);
}

TEST_F(SharedReads, LeaveTheModuleAsItWasWhenAnotherReadFails) {
  ScaledModel loaded = scaled_model();
  const std::string before = fingerprint(loaded);
  source->fail_reads_past(16);
  const Snapshots tensors({view("embedding", 0), view("scale", 16), view("head", 0)});
  const Result<ApplyResult> failed = apply(loaded, tensors);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().tensor, "scale");
  EXPECT_EQ(fingerprint(loaded), before);
}

// There is nothing to share: the second parameter fails on its own.
TEST_F(SharedReads, ThatFailAreNoNumbersForTheOthers) {
  Model loaded = model();
  const std::string before = fingerprint(loaded);
  source->fail_reads_past(0);
  const ApplyResult result = apply(loaded, tied(), {.validate = false}).value();
  EXPECT_TRUE(result.applied.empty());
  ASSERT_EQ(result.errors.size(), 2U);
  EXPECT_EQ(result.errors[0].tensor, "embedding");
  EXPECT_EQ(result.errors[1].tensor, "head");
  EXPECT_EQ(fingerprint(loaded), before);
}

// ---- Loads of a part ----

TEST_F(SharedReads, InAPartialLoadPassOverWhatIsMissing) {
  ScaledModel loaded = scaled_model();
  const ApplyResult result = apply(loaded, tied(), {.allow_partial = true}).value();
  EXPECT_EQ(result.applied, (Names{"embedding", "head"}));
  EXPECT_EQ(source->bytes_read(), 16U);
  EXPECT_EQ(test::numbers(loaded.embedding), first_four);
  EXPECT_EQ(test::numbers(loaded.scale), none);
  EXPECT_EQ(test::numbers(loaded.head), first_four);
}

TEST_F(SharedReads, InAPartialLoadFeedNoParameterOfAnotherName) {
  Model loaded = model();
  const Snapshots tensors({view("lm_head", 0), view("head", 0)});
  const ApplyResult result = apply(loaded, tensors, {.allow_partial = true}).value();
  EXPECT_EQ(result.applied, Names{"head"});
  EXPECT_EQ(result.unused, Names{"lm_head"});
  EXPECT_EQ(source->bytes_read(), 16U);
  EXPECT_EQ(test::numbers(loaded.embedding), none);
  EXPECT_EQ(test::numbers(loaded.head), first_four);
}

TEST_F(SharedReads, ServeWhatTheFilterTakesWhereItLeavesTheFirstOut) {
  Model loaded = model();
  const PathFilter only_head = PathFilter().with_full_path("head");
  const ApplyResult result = apply(loaded, tied(), {.filter = only_head}).value();
  EXPECT_EQ(result.applied, Names{"head"});
  EXPECT_EQ(source->bytes_read(), 16U);
  EXPECT_EQ(test::numbers(loaded.embedding), none);
  EXPECT_EQ(test::numbers(loaded.head), first_four);
}

// ---- the order of reads ----

// Writes down who is read.
class Record final : public ByteSource {
 public:
  Record(char letter, std::string& log) : letter_(letter), log_(log) {}
  std::uint64_t size() const noexcept override { return 64; }
  const std::string& name() const noexcept override { return name_; }

 private:
  Status do_read_at(std::uint64_t, std::span<std::byte> out) const override {
    log_ += letter_;
    std::fill(out.begin(), out.end(), std::byte{0});
    return {};
  }
  char letter_;
  std::string& log_;
  std::string name_ = "record";
};

// A deflated record is inflated whole for the first of several reads.
TEST(ReadingOrder, WhatLiesInOneRecordIsReadTogether) {
  std::string log;
  const ByteSourcePtr records[] = {std::make_shared<Record>('a', log),
                                   std::make_shared<Record>('b', log),
                                   std::make_shared<Record>('c', log)};
  std::vector<Param> model(9);
  Snapshots tensors;
  for (std::size_t i = 0; i < model.size(); ++i) {
    tensors.push_back(
        TensorSnapshot::from_source(std::to_string(i), records[i % 3], i * 4, 4, DType::f32, {1})
            .value());
  }
  const ApplyResult result = apply(model, tensors).value();
  EXPECT_EQ(log, "aaabbbccc");
  EXPECT_EQ(result.applied, (Names{"0", "1", "2", "3", "4", "5", "6", "7", "8"}));
  // In place, each that was read counts as soon as it was.
  log.clear();
  ASSERT_TRUE(apply(model, tensors, {.in_place = true}));
  EXPECT_EQ(log, "abcabcabc");
}

}  // namespace
}  // namespace andiron
