// SPDX-License-Identifier: MIT OR Apache-2.0
// Statistics, hashes and comparisons when memory is short.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "andiron/compare.h"
#include "andiron/sha256.h"
#include "andiron/statistics.h"
#include "tests/allocation/sweep.h"
#include "tests/support/records_in_turn.h"

namespace andiron::test {
namespace {

Tensor numbers(float last) {
  return Tensor::from_values<float>({2, 3}, {1, 2, 3, 4, 5, last}).value();
}

Archive model(const std::string& prefix, float last) {
  Archive archive;
  const TensorSnapshot turned = TensorSnapshot("", numbers(last)).transpose(0, 1).value();
  archive.add({"the same long name in both archives", numbers(6)}).value();
  archive.add({"a changed tensor with a long name", numbers(last)}).value();
  archive.add(turned.with_path(prefix + " a renamed tensor with a long name")).value();
  archive.add({prefix, Tensor::zeros(DType::i64, {5}).value()}).value();
  archive.set_metadata({{"a long key of the metadata", prefix}});
  archive.set_value(ValueDict{{"a long key of the values", prefix}});
  return archive;
}

// Helpers of a second thread have memory: each thread counts for itself.
constexpr unsigned thread_counts[] = {1, 2};

TEST(AllocationSweep, Statistics) {
  const Archive archive = model("a", 7);
  for (const unsigned threads : thread_counts) {
    sweep(
        "statistics of an archive",
        [&] { return statistics(archive, {.histogram_bins = 4, .threads = threads}); },
        [](const Result<std::vector<Statistics>>& all) {
          std::string text;
          for (const Statistics& one : *all) text += std::to_string(one.l2) + " ";
          return text;
        });
  }
  const TensorSnapshot one = archive.snapshot(2);
  sweep(
      "statistics of a tensor", [&] { return statistics(one, {.threads = 1}); },
      [](const Result<Statistics>& result) { return std::to_string(result->mean); });
}

TEST(AllocationSweep, Hashes) {
  const OpenTurns turns({.record_floats = {600, 600, 600}, .tensors_of_each = 3}, 5000);
  for (const Archive& archive : {model("a", 7), turns.archive}) {
    for (const unsigned threads : thread_counts) {
      sweep(
          "hashes of an archive", [&] { return sha256(archive, {.threads = threads}); },
          [](const Result<std::vector<Sha256Digest>>& all) {
            std::string text;
            for (const Sha256Digest& one : *all) text += to_hex(one) + " ";
            return text;
          });
    }
  }
}

TEST(AllocationSweep, Comparisons) {
  const Archive a = model("the first one", 7);
  const Archive b = model("the second one", 8);
  for (const unsigned threads : thread_counts) {
    sweep(
        "compare", [&] { return compare(a, b, {.metadata = true, .threads = threads}); },
        [](const Result<Comparison>& found) {
          std::string text = std::to_string(found->equal);
          for (const TensorDifference& one : found->differences) {
            text += std::string(difference_name(one.kind)) + one.name();
          }
          for (const EntryDifference& one : found->values) text += one.key;
          return text;
        });
  }
}

}  // namespace
}  // namespace andiron::test
