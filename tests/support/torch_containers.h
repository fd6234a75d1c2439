// SPDX-License-Identifier: MIT OR Apache-2.0
// The containers of PyTorch put together by hand, right or wrong.
//
//   const Py object = py::dict({{"w", torch_tensor({.shape = {2}, .elements = 2})}});
//   const std::string file = zip_file(torch_records(object, {{"0", memory_of<float>({1, 2})}}));
//   EXPECT_EQ(floats(open_text(file).value(), "w"), (std::vector<float>{1, 2}));
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/open.h"
#include "tests/support/torch_file.h"

namespace andiron::test {

/// A tensor as a view of a storage.
struct TorchView {
  std::vector<std::int64_t> shape = {};
  std::optional<std::vector<std::int64_t>> strides = {};  ///< row by row where not given
  std::int64_t offset = 0;
  std::string key = "0";
  std::int64_t elements = 0;  ///< of the storage
  std::string type = "Float";
  std::string device = "cpu";
  /// Sixth item of the id, which stacked pickles have.
  std::optional<Py> storage_view = {};
};

inline Py torch_storage(const TorchView& view) {
  py::Values id = {"storage", py::global("torch", view.type + "Storage"), view.key, view.device,
                   view.elements};
  if (view.storage_view) id.push_back(*view.storage_view);
  return py::persistent(py::tuple(id));
}

inline Py torch_tensor(const TorchView& view) {
  std::vector<std::int64_t> strides(view.shape.size());
  std::uint64_t step = 1;  // of shapes that cannot be it wraps
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    strides[d] = static_cast<std::int64_t>(step);
    step *= static_cast<std::uint64_t>(view.shape[d]);
  }
  return py::rebuild_tensor_v2(torch_storage(view), view.offset, view.shape,
                               view.strides.value_or(strides));
}

/// Key and data.
using Storages = std::vector<std::pair<std::string, std::string>>;

/// The records of torch.save, in its order.
inline std::vector<ZipItem> torch_records(const Py& object, const Storages& storages,
                                          const std::string& folder = "archive/") {
  std::vector<ZipItem> items = {torch_item(folder + "data.pkl", py::pickle(object))};
  for (const auto& [key, data] : storages) {
    items.push_back(torch_item(folder + "data/" + key, data));
  }
  items.push_back(torch_item(folder + "version", "3\n"));
  return items;
}

/// {"w": [[1, 2], [3, 4]], "b": [5, 6]}, of two storages.
inline Py sample_object(const std::optional<Py>& storage_view = {}) {
  return py::dict(
      {{"w", torch_tensor({.shape = {2, 2}, .elements = 4, .storage_view = storage_view})},
       {"b",
        torch_tensor({.shape = {2}, .key = "1", .elements = 2, .storage_view = storage_view})}});
}
inline Storages sample_storages() {
  return {{"0", memory_of<float>({1, 2, 3, 4})}, {"1", memory_of<float>({5, 6})}};
}
inline std::vector<ZipItem> sample_records(const std::string& folder = "archive/") {
  return torch_records(sample_object(), sample_storages(), folder);
}

inline const std::string legacy_magic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// What stands in front of the object in a file of stacked pickles.
inline std::string legacy_head() {
  return legacy_magic + py::pickle(1001) +
         py::pickle(py::dict(
             {{"protocol_version", 1001}, {"little_endian", true}, {"type_sizes", py::dict({})}}));
}

/// The id of a storage that is no view of another.
inline const Py no_view = nullptr;

/// A file of stacked pickles, with elements of `width` bytes.
inline std::string legacy_file(const Py& object, const Storages& storages, std::size_t width = 4) {
  py::Values keys;
  std::string data;
  for (const auto& [key, bytes] : storages) {
    keys.emplace_back(key);
    data += little_endian(static_cast<std::uint64_t>(bytes.size() / width)) + bytes;
  }
  return legacy_head() + py::pickle(object) + py::pickle(py::list(keys)) + data;
}
inline std::string sample_legacy_file() {
  return legacy_file(sample_object(no_view), sample_storages());
}

inline Result<Archive> open_text(std::string_view file, const OpenOptions& options = {}) {
  return open(source_of(file, "test.pt"), options);
}

/// The file was refused with this code, and the message says so much.
template <class T>
void expect_refused(const Result<T>& result, ErrorCode code, std::string_view said = "") {
  ASSERT_FALSE(result);
  const std::string message = result.error().to_string();
  EXPECT_EQ(code_name(result.error().code), code_name(code)) << message;
  EXPECT_NE(message.find(said), std::string::npos) << message;
  EXPECT_NE(message.find("test.pt"), std::string::npos) << message;
}

/// One of the archive's notes has this in it.
inline void expect_note(const Archive& archive, std::string_view said) {
  std::string all;
  for (const Message& note : archive.notes()) all += note + "\n";
  EXPECT_NE(all.find(said), std::string::npos) << "notes: " << all;
}

/// What was skipped under a name; "" where it was not.
inline std::string reason_for(const Archive& archive, std::string_view name) {
  for (const Skipped& skipped : archive.skipped()) {
    if (skipped.name == name) return skipped.reason;
  }
  return "";
}

}  // namespace andiron::test
