// SPDX-License-Identifier: MIT OR Apache-2.0
// Checkpoints of PyTorch put together by hand, of which only names, shapes and a few numbers
// matter.
//
//   StateDict dict = StateDict().add("fc.weight", {3, 2}).add("fc.bias", {3}, 10);
//   write_file("checkpoint.pt", dict.file({"state_dict"}, {{"epoch", 3}}));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "andiron/bytes.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {

/// Tensors that count up: {"name": shape}, each with a storage of its own.
class StateDict {
 public:
  Py tensor(const std::vector<std::int64_t>& shape, float first = 0) {
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) elements *= size;
    std::vector<float> values;
    for (std::int64_t i = 0; i < elements; ++i) values.push_back(first + static_cast<float>(i));
    const std::string key = std::to_string(storages_.size());
    storages_.emplace_back(key, memory_of(values));
    return torch_tensor({.shape = shape, .key = key, .elements = elements});
  }
  StateDict& add(const std::string& name, const std::vector<std::int64_t>& shape, float first = 0) {
    entries_.emplace_back(name, tensor(shape, first));
    return *this;
  }
  StateDict& add_value(const std::string& name, const Py& value) {
    entries_.emplace_back(name, value);
    return *this;
  }
  /// The bytes of a file that holds the dict below these keys, and these values beside the first.
  std::string file(const std::vector<std::string>& below = {}, const py::Pairs& beside = {}) const {
    Py object = py::dict(entries_);
    for (auto key = below.rbegin(); key != below.rend(); ++key) {
      py::Pairs pairs = {{*key, object}};
      if (key + 1 == below.rend()) pairs.insert(pairs.end(), beside.begin(), beside.end());
      object = py::dict(pairs);
    }
    return zip_file(torch_records(object, storages_));
  }
  Bytes bytes() const { return bytes_of_text(file()); }

 private:
  py::Pairs entries_;
  Storages storages_;
};

}  // namespace andiron::test
