// SPDX-License-Identifier: MIT OR Apache-2.0
// A list of tensors on their way from one model or file to another.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1 {

/// Named tensors in an order, to look through, rename, thin out and join before they are applied.
/// Names may repeat: where such a list is applied, the later tensor counts.
///
///   Snapshots merged = collect(base).value();
///   merged.extend(collect(specialised, {.filter = encoder}).value());
///   for (TensorSnapshot& tensor : merged) tensor.set_full_path("model." + tensor.full_path());
class Snapshots {
 public:
  using iterator = std::vector<TensorSnapshot>::iterator;
  using const_iterator = std::vector<TensorSnapshot>::const_iterator;
  using value_type = TensorSnapshot;

  Snapshots() = default;
  explicit Snapshots(std::vector<TensorSnapshot> list) : list_(std::move(list)) {}

  std::size_t size() const noexcept { return list_.size(); }
  bool empty() const noexcept { return list_.empty(); }
  TensorSnapshot& operator[](std::size_t index) { return list_[index]; }
  const TensorSnapshot& operator[](std::size_t index) const { return list_[index]; }
  iterator begin() noexcept { return list_.begin(); }
  iterator end() noexcept { return list_.end(); }
  const_iterator begin() const noexcept { return list_.begin(); }
  const_iterator end() const noexcept { return list_.end(); }

  void reserve(std::size_t count) { list_.reserve(count); }
  void push_back(TensorSnapshot snapshot) { list_.push_back(std::move(snapshot)); }
  /// Appends all of `others`.
  void extend(Snapshots others) {
    for (TensorSnapshot& other : others) list_.push_back(std::move(other));
  }
  /// Drops the tensors for which `test` is true.
  template <class Test>
  void remove_if(Test test) {
    std::erase_if(list_, test);
  }
  /// The last tensor of that name, which is the one that counts; nullptr when there is none.
  /// Linear.
  const TensorSnapshot* find(std::string_view full_path) const noexcept {
    for (std::size_t i = list_.size(); i > 0; --i) {
      if (list_[i - 1].full_path() == full_path) return &list_[i - 1];
    }
    return nullptr;
  }
  /// The names, in order.
  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    names.reserve(list_.size());
    for (const TensorSnapshot& snapshot : list_) names.push_back(snapshot.full_path());
    return names;
  }

 private:
  std::vector<TensorSnapshot> list_;
};

/// The list as an archive. Of equal names the later one is taken, and a note says so.
Result<Archive> to_archive(const Snapshots& snapshots);

}  // namespace andiron::inline v1
