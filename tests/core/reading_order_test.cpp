// SPDX-License-Identifier: MIT OR Apache-2.0
// Which compressed record a tensor is made of, and the order that follows.
#include "src/core/reading_order.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "src/core/slice_source.h"
#include "tests/support/archive_writing.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

using detail::compressed_data_of;
using detail::CompressedInputs;
using detail::reading_order;
using Order = std::vector<std::size_t>;

// A source of 64 bytes that says it is compressed.
class CompressedRecord final : public TestSource {
 public:
  CompressedRecord() : TestSource(std::string(64, 'x')) {}
  CompressedData compressed_data() const noexcept override { return {this, 64, 100}; }
};

class RecordOrder : public ::testing::Test {
 protected:
  static TensorSnapshot tensor_in(const ByteSourcePtr& source, std::uint64_t offset = 0) {
    return TensorSnapshot::from_source("t", source, offset, 16, DType::f32, {2, 2}).value();
  }
  CompressedInputs reads(const CompressedRecord& record) const {
    return {record.compressed_data()};
  }
  CompressedInputs reads(const CompressedRecord& x, const CompressedRecord& y) const {
    return {x.compressed_data(), y.compressed_data()};
  }

  const std::shared_ptr<const CompressedRecord> record_ = std::make_shared<CompressedRecord>();
  const std::shared_ptr<const CompressedRecord> other_ = std::make_shared<CompressedRecord>();
};

TEST_F(RecordOrder, ViewsAndCastsAreMadeOfTheRecordThatTheyLieIn) {
  const TensorSnapshot tensor = tensor_in(record_, 16);
  const auto loss = std::make_shared<CastLoss>();
  const TensorSnapshot turned = tensor.transpose(0, 1).value();
  const TensorSnapshot part = tensor_in(detail::slice_source(record_, 8, 32));
  for (const TensorSnapshot& one :
       {tensor, turned, turned.reshape({4}).value(), part, tensor.cast(DType::f16).value(),
        tensor.cast(DType::f16, loss).value(), turned.cast(DType::bf16, loss).value()}) {
    EXPECT_EQ(compressed_data_of(one).source, record_.get());
    EXPECT_EQ(compressed_data_of(one).memory, 64U);
    EXPECT_EQ(compressed_data_of(one).most_memory, 100U);
  }
}

TEST_F(RecordOrder, JoinedTensorsAreMadeOfTheFirstRecordAmongThem) {
  const auto plain = std::make_shared<TestSource>(std::string(64, 'x'));
  const std::vector<TensorSnapshot> parts = {tensor_in(plain), tensor_in(record_),
                                             tensor_in(other_)};
  const TensorSnapshot joined = TensorSnapshot::concat(parts, 0).value();
  EXPECT_EQ(compressed_data_of(joined).source, record_.get());
}

TEST_F(RecordOrder, TensorsInFilesAndInMemoryAreNotCompressed) {
  const TensorSnapshot memory("m", filled(DType::f32, {4}));
  const TensorSnapshot file = tensor_in(std::make_shared<TestSource>(std::string(64, 'x')));
  EXPECT_EQ(compressed_data_of(memory).source, nullptr);
  EXPECT_EQ(compressed_data_of(file).source, nullptr);
  const Archive archive = archive_of({memory, tensor_in(record_)});
  EXPECT_EQ(compressed_data_of(archive, 0).source, nullptr);
  EXPECT_EQ(compressed_data_of(archive, 1).source, record_.get());
}

TEST_F(RecordOrder, WhatLiesInOneRecordFollowsTheFirstOfIt) {
  const CompressedInputs a = reads(*record_);
  const CompressedInputs b = reads(*other_);
  EXPECT_EQ(reading_order(std::vector<CompressedInputs>{a, b, a, {}, b, a}),
            (Order{0, 2, 5, 1, 4, 3}));
  EXPECT_EQ(reading_order(std::vector<CompressedInputs>{{}, b, {}, b}), (Order{0, 1, 3, 2}));
  EXPECT_EQ(reading_order(std::vector<CompressedInputs>(3)), (Order{0, 1, 2}));
  EXPECT_EQ(reading_order({}), Order{});
}

TEST_F(RecordOrder, PairsFollowTheirFirstTensorAndThenTheirSecond) {
  const CompressedRecord a;
  const CompressedRecord b;
  const std::vector<CompressedInputs> pairs = {reads(a, *record_), reads(b, *other_),
                                               reads(a, *other_), reads(b, *record_),
                                               reads(a, *record_)};
  EXPECT_EQ(reading_order(pairs), (Order{0, 4, 2, 3, 1}));
}

TEST_F(RecordOrder, PairsOfWhichOneIsCompressedFollowThatOne) {
  const auto second = [](const CompressedRecord& record) {
    return CompressedInputs{CompressedData(), record.compressed_data()};
  };
  EXPECT_EQ(reading_order(
                std::vector<CompressedInputs>{second(*record_), second(*other_), second(*record_)}),
            (Order{0, 2, 1}));
}

}  // namespace
}  // namespace andiron::test
