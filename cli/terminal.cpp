// SPDX-License-Identifier: MIT OR Apache-2.0
// Questions to the terminal, and the progress bar.
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "andiron/text.h"
#include "cli/quantities.h"
#include "cli/text_layout.h"

namespace andiron::cli {
namespace {

constexpr std::size_t usual_width = 80;
// Tables need some room; a narrower terminal wraps them.
constexpr std::size_t least_width = 40;

std::size_t width_of(int descriptor) {
  winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual_width;
  return std::max<std::size_t>(size.ws_col, least_width);
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool is_capable_terminal(int descriptor) {
  return isatty(descriptor) != 0 && environment("TERM") != "dumb";
}

}  // namespace

void Page::append_bold(std::string& out, std::string_view text) const {
  if (color) out += "\x1b[1m";
  out += text;
  if (color) out += "\x1b[0m";
}

Page page_for_standard_output(ColorChoice color, bool wide) {
  Page page;
  page.width = wide                         ? Page::unlimited
               : isatty(STDOUT_FILENO) != 0 ? width_of(STDOUT_FILENO)
                                            : usual_width;
  page.color = color == ColorChoice::always ||
               (color == ColorChoice::automatic && is_capable_terminal(STDOUT_FILENO) &&
                environment("NO_COLOR").empty());
  return page;
}

ProgressBar::ProgressBar(std::string_view label, std::uint64_t total_bytes)
    : visible_(total_bytes > 0 && is_capable_terminal(STDERR_FILENO)),
      label_(display_text(label)),
      total_(total_bytes) {
  if (visible_) draw(0);
}

ProgressBar::~ProgressBar() {
  if (visible_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::show(std::uint64_t done, std::uint64_t total) {
  total_ = total;
  if (!visible_ || Clock::now() < next_draw_) return;
  draw(done);
  next_draw_ = Clock::now() + std::chrono::milliseconds(100);
}

void ProgressBar::draw(std::uint64_t done) const {
  constexpr std::size_t bar_width = 20;
  const double fraction = static_cast<double>(done) / static_cast<double>(total_);
  const auto filled = std::min(bar_width, static_cast<std::size_t>(fraction * bar_width));
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f%%", 100 * fraction);

  std::string status = " [";
  status.append(filled, '#').append(bar_width - filled, '.').append("] ").append(percent);
  status.append(" of ").append(format_size(total_));
  // The last column stays free: some terminals wrap as soon as it is filled.
  const std::size_t room = width_of(STDERR_FILENO) - 1;
  const std::size_t label_width = room - std::min(room, status.size());
  std::fputs(("\r\x1b[K" + shorten_middle(label_, label_width) + status).c_str(), stderr);
}

}  // namespace andiron::cli
