// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/load/gap_notes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/apply.h"
#include "andiron/names.h"
#include "andiron/nn/linear.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;
using Strings = std::vector<std::string>;

struct GapNet {
  std::vector<nn::Linear> layers;
  ANDIRON_MODULE(GapNet, layers)
};

GapNet gap_net(std::size_t count) {
  GapNet net;
  net.layers.assign(count, nn::Linear{Param(f32({2, 2}, 1)), std::nullopt});
  return net;
}

Archive closed_list(const std::vector<int>& numbers) {
  Archive file;
  for (const int number : numbers) {
    const std::string name = "layers." + std::to_string(number) + ".weight";
    file.add(TensorSnapshot(name, f32({2, 2}, 1))).value();
  }
  return apply_names(file, {.close_gaps = true}).value();
}

std::vector<Message> gap_notes(GapNet net, const Archive& source, const ApplyOptions& options) {
  return apply(net, source, options).value().notes;
}

const ApplyOptions partial_load = {.allow_partial = true, .propose = false};

TEST(GapNotes, TellWhichNumbersAListGotThatIsLongerThanInTheFile) {
  EXPECT_EQ(gap_notes(gap_net(3), closed_list({0, 4}), partial_load),
            std::vector<Message>{
                "the module's list 'layers' has 3 elements, the source 2; closing index gaps "
                "gave them other numbers: 1 is 4 in the file; .map_indices_contiguous(false) "
                "keeps the source's numbers"});
  EXPECT_NE(gap_notes(gap_net(9), closed_list({0, 4, 7, 9}), partial_load)[0].find(
                ": 1 is 4 in the file, 2 is 7, 3 is 9; "),
            std::string::npos);
}

TEST(GapNotes, TellItOfElementsThatTheFilterLeavesOut) {
  const ApplyOptions first_two = {.filter = PathFilter().exclude_glob("layers.2.*")};
  EXPECT_EQ(gap_notes(gap_net(3), closed_list({0, 4}), first_two).size(), 1u);
}

TEST(GapNotes, AreNotMadeOfListsThatAreAsLongOrHaveTheSameNumbers) {
  EXPECT_TRUE(gap_notes(gap_net(2), closed_list({0, 4}), partial_load).empty());
  EXPECT_TRUE(gap_notes(gap_net(3), closed_list({0, 1}), partial_load).empty());
}

TEST(GapNotes, AreOneForAllOfManyLists) {
  struct Nested {
    std::vector<GapNet> blocks = std::vector<GapNet>(20, gap_net(3));
    ANDIRON_MODULE(Nested, blocks)
  } module;
  Archive file;
  for (int i = 0; i < 20; ++i) {
    for (const char* number : {"0", "4"}) {
      const std::string name = "blocks." + std::to_string(i) + ".layers." + number + ".weight";
      file.add(TensorSnapshot(name, f32({2, 2}, 1))).value();
    }
  }
  const Archive source = apply_names(file, {.close_gaps = true}).value();
  const std::vector<Message> notes = apply(module, source, partial_load).value().notes;
  EXPECT_EQ(notes.size(), 11u);
  EXPECT_EQ(notes.back(), "so it is in 10 other lists");
}

}  // namespace
}  // namespace andiron
