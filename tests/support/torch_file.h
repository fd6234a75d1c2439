// SPDX-License-Identifier: MIT OR Apache-2.0
// Files of torch.save put together by hand, and what is read from them.
//
//   TorchFile file;
//   const Py weight = file.tensor({1, 2, 3});
//   const Archive archive = file.open(py::dict({{"weight", weight}})).value();
//   EXPECT_EQ(floats(archive, "weight"), (std::vector<float>{1, 2, 3}));
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/archive.h"
#include "andiron/open.h"
#include "tests/support/archive_reading.h"
#include "tests/support/pickle_writing.h"
#include "tests/support/zip_writing.h"

namespace andiron::test {

/// The elements of most tensors here.
inline const std::vector<float> six = {0, 1, 2, 3, 4, 5};

/// The bytes of numbers as they lie in memory.
template <class T>
std::string memory_of(const std::vector<T>& values) {
  std::string content(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(content.data(), values.data(), content.size());
  return content;
}

class TorchFile {
 public:
  /// A storage with this content; the size that the pickle tells counts elements.
  Py storage(std::string_view class_name, std::string content, std::int64_t elements) {
    const std::string key = std::to_string(storages_.size());
    storages_.push_back(std::move(content));
    return py::storage(class_name, key, elements);
  }
  Py storage(const std::vector<float>& values) {
    return storage("FloatStorage", memory_of(values), static_cast<std::int64_t>(values.size()));
  }

  /// A tensor of one dimension.
  Py tensor(const std::vector<float>& values) {
    return py::rebuild_tensor_v2(storage(values), 0, {static_cast<std::int64_t>(values.size())},
                                 {1});
  }

  /// The archive's bytes.
  std::string zip(const Py& root, std::string_view byte_order = "little") const {
    return zip_of_pickle(py::pickle(root), byte_order);
  }
  std::string zip_of_pickle(const std::string& pickle,
                            std::string_view byte_order = "little") const {
    std::vector<ZipItem> items = {torch_item("archive/data.pkl", pickle),
                                  torch_item("archive/byteorder", std::string(byte_order))};
    for (std::size_t i = 0; i < storages_.size(); ++i) {
      items.push_back(torch_item("archive/data/" + std::to_string(i), storages_[i]));
    }
    items.push_back(torch_item("archive/version", "3\n"));
    return zip_file(items);
  }

  Result<Archive> open(const Py& root, const OpenOptions& options = {}) const {
    return andiron::open(source_of(zip(root), "test.pt"), options);
  }

 private:
  std::vector<std::string> storages_;
};

/// Opens a pickle that is a file by itself.
inline Result<Archive> open_pickle(const Py& root, const OpenOptions& options = {}) {
  return open(source_of(py::pickle(root), "test.pkl"), options);
}

using Names = std::vector<std::string>;

/// "NAME: REASON" of what was not taken.
inline Names skipped_in(const Archive& archive) {
  Names names;
  for (const Skipped& skipped : archive.skipped()) {
    names.push_back(skipped.name + ": " + skipped.reason);
  }
  return names;
}

inline Tensor read(const Archive& archive, std::string_view name) {
  return archive.get(name).value().read().value();
}

template <class T>
std::vector<T> values_of(const Archive& archive, std::string_view name) {
  return read(archive, name).to_vector<T>().value();
}

inline std::vector<float> floats(const Archive& archive, std::string_view name) {
  return values_of<float>(archive, name);
}

}  // namespace andiron::test
