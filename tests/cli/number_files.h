// SPDX-License-Identifier: MIT OR Apache-2.0
// Files of chosen numbers, for tests of the tool.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "andiron/open.h"
#include "andiron/write.h"
#include "tests/cli/sample_files.h"

namespace andiron::test {

/// A test that writes tensors of numbers; the ending of a name chooses the format.
class NumberFileTest : public ToolTest {
 protected:
  static TensorSnapshot floats(std::string name, const std::vector<float>& values,
                               Shape shape = {}) {
    if (shape.rank() == 0) shape = {values.size()};
    return {std::move(name),
            Tensor::from_values<float>(std::move(shape), std::span<const float>(values)).value()};
  }

  std::string write_tensors(const std::string& name, const std::vector<TensorSnapshot>& tensors,
                            const Metadata& metadata = {}) const {
    Archive archive;
    for (const TensorSnapshot& tensor : tensors) archive.add(tensor).value();
    archive.set_metadata(metadata);
    andiron::write(archive, path(name), {.overwrite = true, .sync = false}).value();
    return path(name);
  }

  /// Changes a byte of a tensor's data where it lies in its file.
  static void flip_byte(const std::string& file, const std::string& tensor, std::size_t byte) {
    const Archive archive = open(file).value();
    const TensorInfo info = archive.info(archive.find(tensor).value());
    std::string content = read_file(file);
    char& flipped = content.at(static_cast<std::size_t>(*info.offset) + byte);
    flipped = static_cast<char>(flipped ^ 0x55);
    write_file(file, content);
  }
};

}  // namespace andiron::test
