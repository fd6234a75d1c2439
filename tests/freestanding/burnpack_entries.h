// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack files looked at in memory.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "andiron/burnpack_view.h"

namespace andiron::test {

inline std::span<const std::byte> span_of(const std::string& bytes) {
  return std::as_bytes(std::span(bytes));
}

inline ViewStatus open_file(const std::string& file) {
  BurnpackView view;
  return BurnpackView::open(span_of(file), view);
}

/// `file` must outlive the view.
inline BurnpackView view_of(const std::string& file) {
  BurnpackView view;
  const ViewStatus status = BurnpackView::open(span_of(file), view);
  EXPECT_TRUE(status.ok()) << status.what << " at " << status.offset;
  return view;
}

inline BurnpackEntry entry_of(const BurnpackView& view, std::string_view name) {
  BurnpackEntry entry;
  const ViewStatus status = view.find(name, entry);
  EXPECT_TRUE(status.ok()) << status.what;
  return entry;
}

}  // namespace andiron::test
