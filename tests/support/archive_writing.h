// SPDX-License-Identifier: MIT OR Apache-2.0
// Archives put together by hand, and what they are written to.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "andiron/open.h"
#include "andiron/write.h"

namespace andiron::test {

inline Archive archive_of(std::vector<TensorSnapshot> tensors) {
  Archive archive;
  for (TensorSnapshot& tensor : tensors) archive.add(std::move(tensor)).value();
  return archive;
}

/// Bytes that differ from their neighbours, of which only these bits are set.
inline Tensor filled_with_bits(std::byte bits, DType dtype, Shape shape) {
  std::vector<std::byte> data(shape.byte_count(dtype).value());
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 37 + 1) & bits;
  return Tensor::from_bytes(dtype, std::move(shape), Bytes::own(std::move(data))).value();
}

/// Booleans are 0 or 1.
inline Tensor filled(DType dtype, Shape shape) {
  const std::byte bits = dtype == DType::boolean ? std::byte{0x01} : std::byte{0xff};
  return filled_with_bits(bits, dtype, std::move(shape));
}

/// Booleans are whatever a byte can be.
inline Tensor filled_with_any_bits(DType dtype, Shape shape) {
  return filled_with_bits(std::byte{0xff}, dtype, std::move(shape));
}

inline std::string written(const Archive& archive, const WriteOptions& options) {
  Result<Bytes> bytes = write_to_memory(archive, options);
  EXPECT_TRUE(bytes) << bytes.error().to_string();
  return bytes ? std::string(bytes->text()) : "";
}

/// Writes an archive to `path`, then over itself in every way of reading it.
inline void expect_can_be_written_over_itself(const std::string& path) {
  ASSERT_TRUE(write(archive_of({{"t", filled(DType::u8, {100})}}), path));
  for (IoMode mode : {IoMode::automatic, IoMode::mmap, IoMode::pread, IoMode::direct}) {
    Archive archive = open(path, {.io = mode}).value();
    const Tensor borrowed = archive.snapshot(0).borrow().value();
    archive.set_metadata({{"round", "again"}});
    ASSERT_TRUE(write(archive, path, {.overwrite = true}));
    EXPECT_EQ(borrowed.bytes().text(), filled(DType::u8, {100}).bytes().text());
    EXPECT_EQ(open(path).value().metadata().at("round"), "again");
  }
}

}  // namespace andiron::test
