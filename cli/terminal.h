// SPDX-License-Identifier: MIT OR Apache-2.0
// What standard output and standard error can show.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace andiron::cli {

/// The choice of --color.
enum class ColorChoice : std::uint8_t { automatic, always, never };

/// How text for standard output is laid out.
struct Page {
  static constexpr std::size_t unlimited = 1'000'000;

  std::size_t width = 80;
  bool color = false;

  /// Appends `text` in bold where there is color.
  void append_bold(std::string& out, std::string_view text) const;
};

/// The terminal's width, or 80 columns when standard output is none; no limit when `wide`.
/// Automatic color needs a terminal that is not "dumb" and no NO_COLOR.
Page page_for_standard_output(ColorChoice color, bool wide);

/// A line on standard error that shows how far the work is and vanishes when it ends. Silent unless
/// standard error is a terminal. Used from one thread.
class ProgressBar {
 public:
  ProgressBar(std::string_view label, std::uint64_t total_bytes);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// What the library tells of its progress, of which the total may grow.
  void show(std::uint64_t done, std::uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  void draw(std::uint64_t done) const;

  const bool visible_;
  const std::string label_;
  std::uint64_t total_;
  Clock::time_point next_draw_ = Clock::now();
};

}  // namespace andiron::cli
