// SPDX-License-Identifier: MIT OR Apache-2.0
// What an archive says of itself, in a form that is easy to compare.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"

namespace andiron::test {

inline std::vector<std::string> names_of(const Archive& archive) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < archive.size(); ++i) names.emplace_back(archive.info(i).name);
  return names;
}

/// Whether one of its notes says this.
inline bool has_note(const Archive& archive, std::string_view part) {
  for (const Message& note : archive.notes()) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

/// The same tensors under the same names, in whatever order.
inline void expect_same_tensors(const Archive& actual, const Archive& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const TensorSnapshot theirs = expected.snapshot(i);
    const TensorSnapshot ours = actual.get(theirs.full_path()).value();
    EXPECT_EQ(ours.dtype(), theirs.dtype());
    EXPECT_EQ(ours.shape(), theirs.shape());
    EXPECT_EQ(ours.param_id(), theirs.param_id());
    EXPECT_EQ(ours.read().value().bytes().text(), theirs.read().value().bytes().text());
  }
}

}  // namespace andiron::test
