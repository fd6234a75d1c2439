// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/namings.h"

#include <gtest/gtest.h>

#include "src/proposals/differences.h"

namespace andiron {
namespace {

using detail::difference_between;
using detail::naming_of;
using detail::TreeTensor;

TEST(Namings, AreKnownBelowAnyWrapper) {
  const std::vector<TreeTensor> tensors = {{"m.tok_embeddings.weight", {8, 4}, 1},
                                           {"m.layers.0.attention.wq.weight", {4, 4}, 1},
                                           {"m.layers.0.feed_forward.w1.weight", {8, 4}, 1},
                                           {"m.layers.0.ffn_norm.weight", {4}, 1}};
  EXPECT_EQ(naming_of(tensors), "LLaMA as Meta names it");
  EXPECT_EQ(naming_of(std::span(tensors).first(2)), "");
}

TEST(Namings, OfMetaAndHuggingFaceDifferInTheRowsOfQueriesAndKeys) {
  const std::string_view meta = "LLaMA as Meta names it";
  const std::string_view hugging_face = "LLaMA as Hugging Face names it";
  EXPECT_NE(detail::caveat_between(meta, hugging_face).find("rotary"), std::string_view::npos);
  EXPECT_EQ(detail::caveat_between(hugging_face, meta), detail::caveat_between(meta, hugging_face));
  EXPECT_EQ(detail::caveat_between(meta, meta), "");
  EXPECT_EQ(detail::caveat_between("", hugging_face), "");
}

std::vector<TreeTensor> blocks_of_width(int count, std::uint64_t width) {
  std::vector<TreeTensor> tensors;
  for (int i = 0; i < count; ++i) {
    const std::string path = "layers." + std::to_string(i);
    tensors.push_back({path + ".a.weight", {width, width}, 1});
    tensors.push_back({path + ".b.weight", {4 * width, width}, 1});
  }
  return tensors;
}

TEST(Differences, AreToldWithTheNumbers) {
  EXPECT_EQ(difference_between(blocks_of_width(4, 8), blocks_of_width(6, 8), true),
            "the source has 4 blocks at 'layers', the module 6 at 'layers'");
  EXPECT_EQ(difference_between(blocks_of_width(4, 8), blocks_of_width(4, 16), true),
            "most matrices of the source have a dimension of 8, most of the module "
            "one of 16");
  EXPECT_EQ(difference_between(blocks_of_width(4, 8), blocks_of_width(4, 8), true), "");
  const std::vector<TreeTensor> other = {{"a", {1}, 1}, {"b", {2}, 1}, {"c", {3}, 1}};
  EXPECT_EQ(difference_between(blocks_of_width(1, 8), other, true),
            "only 0 of 3 parameters have a tensor of their shape in the source");
  // A sample of the names cannot be counted.
  EXPECT_EQ(difference_between(blocks_of_width(4, 8), blocks_of_width(6, 8), false), "");
  EXPECT_EQ(difference_between(blocks_of_width(1, 8), other, false), "");
}

std::vector<TreeTensor> joined_gates(std::uint64_t gates, std::uint64_t inputs,
                                     std::uint64_t hidden) {
  std::vector<TreeTensor> tensors;
  for (const char* layer : {"a", "b"}) {
    const std::string path(layer);
    tensors.push_back({path + ".weight_ih_l0", {gates * hidden, inputs}, 1});
    tensors.push_back({path + ".weight_hh_l0", {gates * hidden, hidden}, 1});
  }
  return tensors;
}

std::vector<TreeTensor> gates_apart(const std::vector<const char*>& gates, std::uint64_t inputs,
                                    std::uint64_t hidden) {
  std::vector<TreeTensor> tensors;
  for (const char* gate : gates) {
    const std::string path = "a." + std::string(gate) + "_gate.";
    tensors.push_back({path + "input_transform.weight", {inputs, hidden}, 1});
    tensors.push_back({path + "hidden_transform.weight", {hidden, hidden}, 1});
  }
  return tensors;
}

TEST(Differences, OfGatesAreToldAndNotTakenForWidths) {
  const std::string of_gru =
      "the recurrent layers of the source have 3 gates, as a GRU's, those of the module 4, as an "
      "LSTM's";
  const std::vector<TreeTensor> lstm = gates_apart({"input", "forget", "cell", "output"}, 10, 16);
  EXPECT_EQ(difference_between(joined_gates(3, 10, 16), joined_gates(4, 10, 16), true), of_gru);
  EXPECT_EQ(difference_between(joined_gates(3, 10, 16), lstm, true), of_gru);
  EXPECT_EQ(difference_between(joined_gates(4, 10, 16),
                               gates_apart({"update", "reset", "new"}, 10, 16), true),
            "the recurrent layers of the source have 4 gates, as an LSTM's, those of the module 3, "
            "as a GRU's");
  EXPECT_EQ(difference_between(joined_gates(4, 10, 16), lstm, false), "");
  EXPECT_EQ(difference_between(joined_gates(4, 10, 8), lstm, false),
            "most matrices of the source have a dimension of 8, most of the module one of 16");
}

}  // namespace
}  // namespace andiron
