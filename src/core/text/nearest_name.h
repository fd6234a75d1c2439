// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the name that was probably meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace andiron::inline v1 {

// Picks, among the names offered to it, the one nearest to a wanted name, if any is near enough to
// be worth suggesting: a few typing errors away, or the same but for leading dotted segments
// (conv1.weight for model.conv1.weight). Of equally near names the first wins. The work is bounded
// over all offers together, so it may run over every name of a large file; when it is spent, the
// best so far stands.
class NearestName {
 public:
  // Cells of edit-distance tables: some tens of milliseconds.
  static constexpr std::uint64_t most_work = 40'000'000;

  explicit NearestName(std::string_view wanted, std::uint64_t work = most_work);

  void offer(std::string_view name);
  // Which offer was nearest, counted from 0.
  std::optional<std::size_t> index() const noexcept { return best_index_; }

 private:
  std::size_t edits_up_to(std::string_view a, std::string_view b, std::size_t limit);

  std::string wanted_;
  std::size_t offered_ = 0;
  std::size_t closest_;  // offers must be nearer than this
  std::optional<std::size_t> best_index_;
  std::uint64_t work_left_;
  std::vector<std::size_t> row_;
};

// Nearest of the names that `name_at` gives for 0, 1, ... count - 1.
template <class NameAt>
std::optional<std::size_t> nearest_name(std::string_view wanted, std::size_t count,
                                        NameAt name_at) {
  NearestName nearest(wanted);
  for (std::size_t i = 0; i < count; ++i) nearest.offer(name_at(i));
  return nearest.index();
}

// Jaro's measure of how much two names have in common, in order: 0 nothing, 1 all. For reports,
// where a guess that is often right beats none.
double jaro_similarity(std::string_view a, std::string_view b);

}  // namespace andiron::inline v1
