// SPDX-License-Identifier: MIT OR Apache-2.0
// PyTorch files whose tensors lie in deflated records in turn, while memory has room for one record
// or two: read in the order of names, each tensor would have its record inflated again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/archive.h"
#include "andiron/open.h"
#include "tests/support/deflating.h"
#include "tests/support/noise.h"
#include "tests/support/pickle_writing.h"
#include "tests/support/test_source.h"
#include "tests/support/zip_writing.h"

namespace andiron::test {

struct TurnsFile {
  std::vector<std::size_t> record_floats;
  std::size_t tensors_of_each = 50;
  std::string prefix = "t";  ///< of names
  char xored = 0;            ///< with the last byte of each record

  /// The bytes of the file. Its tensors are PREFIX.0, PREFIX.1 ..., of one record after the other.
  std::string zip() const {
    const std::string pattern = noise(8192);
    py::Pairs tensors;
    std::vector<ZipItem> items;
    for (std::size_t turn = 0; turn < tensors_of_each; ++turn) {
      for (std::size_t record = 0; record < record_floats.size(); ++record) {
        const auto floats = static_cast<std::int64_t>(record_floats[record]);
        const std::int64_t count = floats / static_cast<std::int64_t>(tensors_of_each);
        tensors.emplace_back(
            prefix + "." + std::to_string(tensors.size()),
            py::rebuild_tensor_v2(py::storage("FloatStorage", std::to_string(record), floats),
                                  count * static_cast<std::int64_t>(turn), {count}, {1}));
      }
    }
    items.push_back(torch_item("archive/data.pkl", py::pickle(py::dict(tensors))));
    for (std::size_t record = 0; record < record_floats.size(); ++record) {
      ZipItem item{.name = "archive/data/" + std::to_string(record), .deflate = true};
      const std::size_t bytes = record_floats[record] * sizeof(float);
      while (item.content.size() < bytes) item.content += pattern.substr(record);
      item.content.resize(bytes);
      item.content.back() ^= xored;
      item.stored = deflated_as_it_is(item.content);
      items.push_back(std::move(item));
    }
    items.push_back(torch_item("archive/version", "3\n"));
    return zip_file(items);
  }
};

/// The same open, with a count of the bytes that are read.
struct OpenTurns {
  explicit OpenTurns(const TurnsFile& file, std::uint64_t inflated_bytes)
      : source(std::make_shared<TestSource>(file.zip())),
        archive(open(source, {.limits = {.inflated_bytes = inflated_bytes}}).value()) {
    opened_ = source->bytes_read();
  }

  /// How often the data of the file was read since it was opened.
  double times_read() const {
    return static_cast<double>(source->bytes_read() - opened_) /
           static_cast<double>(source->size());
  }

  std::shared_ptr<TestSource> source;
  Archive archive;

 private:
  std::uint64_t opened_ = 0;
};

/// Four records, of which memory has room for one at a time.
inline const TurnsFile four_records = {.record_floats = {100'000, 100'000, 150'000, 100'000}};
inline constexpr std::uint64_t room_for_one = 2'000'000;

}  // namespace andiron::test
