// SPDX-License-Identifier: MIT OR Apache-2.0
// Leaves that say where the data of a new value is to lie.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "andiron/apply.h"

namespace andiron {

// Memory of a device that the processor can write to. Counts what is held.
struct Device {
  static inline int blocks = 0;
  static std::shared_ptr<std::vector<float>> take(std::size_t count) {
    ++blocks;
    return {new std::vector<float>(count), [](std::vector<float>* block) {
              delete block;
              --blocks;
            }};
  }
};

struct DeviceTensor {
  Tensor data;
  bool refuses = false;
};

template <>
struct Leaf<DeviceTensor> {
  static LeafInfo info(const DeviceTensor& leaf) { return {DType::f32, leaf.data.shape()}; }
  static Result<Tensor> get(const DeviceTensor& leaf) { return leaf.data; }
  static Result<DeviceTensor> make(const DeviceTensor&, const Tensor& tensor) {
    return DeviceTensor{tensor};
  }
  static Result<Bytes> allocate(const DeviceTensor& leaf, DType, const Shape& shape) {
    if (leaf.refuses)
      return Error{.code = ErrorCode::out_of_memory, .message = "the device is full"};
    auto block = Device::take(shape.element_count().value());
    const std::span<float> room(*block);
    return Bytes::adopt(std::move(block), std::as_writable_bytes(room));
  }
};

namespace {

DeviceTensor on_device(std::initializer_list<float> values) {
  return {Tensor::from_values<float>({values.size()}, values).value()};
}

struct LeafNet {
  DeviceTensor first = on_device({0, 0});
  DeviceTensor second = on_device({0, 0, 0});
  ANDIRON_MODULE(LeafNet, first, second)
};

std::vector<float> values(const DeviceTensor& leaf) { return leaf.data.to_vector<float>().value(); }

Archive numbers() {
  Archive archive;
  archive.add(TensorSnapshot("first", Tensor::from_values<float>({2}, {1, 2}).value())).value();
  archive.add(TensorSnapshot("second", Tensor::from_values<float>({3}, {3, 4, 5}).value())).value();
  return archive;
}

TEST(LeafMemory, ALoadReadsIntoWhatTheLeafGives) {
  LeafNet net;
  EXPECT_EQ(apply(net, numbers()).value().applied.size(), 2u);
  EXPECT_EQ(values(net.second), (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(Device::blocks, 2);
  // Borrowing is not for a leaf that wants memory of its own.
  apply(net, numbers(), {.zero_copy = true}).value();
  EXPECT_EQ(Device::blocks, 2);
  net = LeafNet();
  EXPECT_EQ(Device::blocks, 0);
}

TEST(LeafMemory, AFailedLoadGivesItBackAndLeavesTheModelAlone) {
  LeafNet net;
  net.second.refuses = true;
  const Result<ApplyResult> result = apply(net, numbers());
  EXPECT_EQ(result.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(result.error().tensor, "second");
  EXPECT_EQ(values(net.first), (std::vector<float>{0, 0}));
  EXPECT_EQ(Device::blocks, 0);
}

struct WrongMemory {
  Tensor data = Tensor::zeros(DType::f32, {2}).value();
};

}  // namespace

template <>
struct Leaf<WrongMemory> {
  static LeafInfo info(const WrongMemory& leaf) { return {DType::f32, leaf.data.shape()}; }
  static Result<Tensor> get(const WrongMemory& leaf) { return leaf.data; }
  static Result<WrongMemory> make(const WrongMemory&, const Tensor& tensor) {
    return WrongMemory{tensor};
  }
  static Result<Bytes> allocate(const WrongMemory&, DType, const Shape&) {
    return Bytes::allocate(3);
  }
  static std::span<std::byte> buffer(WrongMemory& leaf, DType, const Shape&) {
    return leaf.data.writable().first(4);
  }
};

namespace {

struct WrongNet {
  WrongMemory first;
  ANDIRON_MODULE(WrongNet, first)
};

TEST(LeafMemory, MemoryOfAnotherSizeIsRefused) {
  WrongNet net;
  const Error error = apply(net, numbers(), {.allow_partial = true}).error();
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_NE(error.hint.find("allocate()"), std::string::npos);
  // Half of a tensor in place would be worse than none.
  const ApplyOptions in_place = {.allow_partial = true, .in_place = true};
  EXPECT_EQ(apply(net, numbers(), in_place).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(net.first.data.to_vector<float>().value(), (std::vector<float>{0, 0}));
}

TEST(Bytes, AdoptedMemoryIsWritableForItsOnlyOwner) {
  auto owner = std::make_shared<std::vector<float>>(2);
  const std::span<std::byte> room = std::as_writable_bytes(std::span(*owner));
  Bytes shared = Bytes::adopt(owner, room);
  EXPECT_TRUE(shared.writable().empty());
  owner.reset();
  EXPECT_EQ(shared.writable().size(), 8u);
  const Bytes copy = shared;
  EXPECT_TRUE(shared.writable().empty());
}

}  // namespace
}  // namespace andiron
