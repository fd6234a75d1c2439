// SPDX-License-Identifier: MIT OR Apache-2.0
// What a PyTorch file holds as one Value, with tensors as their numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "andiron/value.h"
#include "src/format/pytorch/pickled_file.h"
#include "src/format/pytorch/repeated_tensors.h"
#include "src/format/pytorch/structure.h"

namespace andiron::inline v1::detail {

// Numbers tensors in the order of the walk, as the archive does; one that is listed as its parts is
// a dict of them. Of what is no plain value, text tells what it was: classes and functions by name,
// dates and paths as the calls that make them. What was not taken is null. So are text and bytes
// for which there is no room, and plain values beyond it are left out: a pickle can repeat them
// without end.
class ValueTree : public StructureVisitor {
 public:
  // For the second walk over a file, whose first tensor has the number `first` in the archive. The
  // tree takes up to `room` bytes, which it counts down.
  ValueTree(const PickledFile& file, const Limits& limits, std::size_t first, std::uint64_t& room)
      : file_(file), content_(file.content), limits_(limits), tensors_(first), room_(room) {}

  Status tensor(std::string_view name, std::string_view key, std::string_view part,
                const TorchTensor& tensor) override;
  void enter(std::string_view key, bool is_list) override;
  void leave() override;
  Status leaf(std::string_view key, PickleValue value) override;

  Value take() {
    close_parts();
    return std::move(root_);
  }

 private:
  struct Open {
    std::string key;
    bool is_list;
    ValueList items;  // of a list
    ValueDict entries;
  };
  void put(std::string key, Value value);
  // The key, or "..." of a long one when there is no more room.
  std::string kept(std::string_view key);
  void close_parts();
  Result<Value> value_of(PickleValue value);
  Result<Value> long_text(const PickleBlob& blob);
  // Whether there is room for so many bytes more.
  bool spend(std::uint64_t bytes);

  const PickledFile& file_;
  const PickleContent& content_;
  const Limits& limits_;
  RepeatedTensors repeated_;
  std::vector<Open> open_;
  Value root_;
  std::size_t tensors_;
  std::optional<std::string> parts_of_;  // the tensor whose parts are being put
  std::uint64_t& room_;
};

}  // namespace andiron::inline v1::detail
