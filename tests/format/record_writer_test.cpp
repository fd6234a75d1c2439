// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests src/format/record/writer.cpp and what it writes with.
#include <gtest/gtest.h>

#include <complex>

#include <limits>

#include "andiron/tensor.h"
#include "andiron/value.h"
#include "src/codec/gzip.h"
#include "tests/support/archive_writing.h"
#include "tests/support/progress_steps.h"
#include "tests/support/record_file.h"

namespace andiron {
namespace {

using test::archive_of;
using test::Msgpack;
using test::read_record;
using test::write_record;
using namespace std::string_literals;

template <class T>
TensorSnapshot tensor(const std::string& name, std::initializer_list<T> values,
                      std::optional<ParamId> id = ParamId{1}) {
  return TensorSnapshot(name, Tensor::from_values<T>({values.size()}, values).value())
      .with_param_id(id);
}

Archive with_names(std::initializer_list<const char*> names) {
  Archive archive;
  for (const char* name : names) archive.add(tensor<float>(name, {1})).value();
  return archive;
}

Archive written_again(const Archive& archive, const WriteOptions& options = {}) {
  return read_record(write_record(archive, options).value()).value();
}

void expect_error(const Result<std::string>& result, ErrorCode code, const std::string& named) {
  ASSERT_FALSE(result);
  EXPECT_EQ(code_name(result.error().code), code_name(code)) << result.error().to_string();
  EXPECT_EQ(result.error().tensor, named);
}

TEST(RecordWriter, WritesTheBytesThatBurnWrites) {
  const Archive archive =
      archive_of({tensor<float>("weight", {1.0f}, ParamId{7307477237661669944U})});
  EXPECT_EQ(write_record(archive).value(),
            "\x83\xa8metadata\x85\xa5"
            "float\xa3"
            "f32\xa3int\xa3i32\xa6"
            "format\xd9\x61"
            "burn_core::record::file::NamedMpkFileRecorder<burn_core::record::settings::"
            "FullPrecisionSettings>\xa7version\xa6"
            "0.21.0\xa8settings\xb5"
            "FullPrecisionSettings"
            "\xa4item\x81\xa6weight\x82\xa2id\xad"
            "72d17eukbtkma\xa5param\x83\xa5"
            "bytes\xc4\x04"
            "\x00\x00\x80\x3f"s
            "\xa5shape\x91\x01\xa5"
            "dtype\xa3"
            "F32\xa2_b\x90");
}

TEST(RecordWriter, BuildsTheStructureFromNames) {
  const Archive archive = with_names(
      {"a.weight", "layers.1.x", "layers.0", "gap.0", "gap.2", "zero.00", "a.bias", "single.0"});
  EXPECT_EQ(to_json(*written_again(archive).value()),
            R"({"a":{"weight":{"tensor":0},"bias":{"tensor":1}},"layers":[{"tensor":2},)"
            R"({"x":{"tensor":3}}],"gap":{"0":{"tensor":4},"2":{"tensor":5}},)"
            R"("zero":{"00":{"tensor":6}},"single":[{"tensor":7}]})");
}

TEST(RecordWriter, ListsHaveTheirNumericOrder) {
  Archive archive;
  for (const int i : {11, 3, 0, 7, 1, 10, 2, 9, 4, 8, 5, 6}) {
    archive.add(tensor<float>("p." + std::to_string(i), {static_cast<float>(i)})).value();
  }
  const Archive again = written_again(archive);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(again.info(i).name, "p." + std::to_string(i));
    EXPECT_EQ(again.snapshot(i).read().value().at<float>({0}).value(), static_cast<float>(i));
  }
}

TEST(RecordWriter, RefusesATensorThatHoldsOthers) {
  for (const auto& names : {std::initializer_list<const char*>{"a.b", "a.b.c"}, {"a.b.c", "a.b"}}) {
    const Result<std::string> refused = write_record(with_names(names));
    expect_error(refused, ErrorCode::name_collision, "a.b");
    EXPECT_EQ(refused.error().found, "'a.b' and 'a.b.c'");
  }
}

TEST(RecordWriter, RefusesNamesThatARecordCannotHold) {
  expect_error(write_record(with_names({"a\xff"})), ErrorCode::bad_header, "a\xff");
  std::string deep = "a";
  for (int i = 0; i < 200; ++i) deep += ".a";
  expect_error(write_record(with_names({deep.c_str()})), ErrorCode::limit_exceeded, deep);
  std::string deepest = "a";
  for (int i = 0; i < 119; ++i) deepest += ".a";
  EXPECT_EQ(written_again(with_names({deepest.c_str()})).info(0).name, deepest);
  Archive archive = with_names({"a"});
  archive.set_metadata({{"k\xff", "v"}});
  expect_error(write_record(archive), ErrorCode::bad_header, "");
}

TEST(RecordWriter, ConvertsNumbersToThePrecision) {
  const Archive archive =
      archive_of({tensor<double>("d", {0.1}), tensor<Float16>("h", {Float16()}),
                  tensor<std::uint8_t>("u", {200}), tensor<std::int64_t>("i", {-5, 7}),
                  tensor<bool>("b", {true})});
  struct Expected {
    RecordPrecision precision;
    DType floats, ints;
    const char* float_name;
    const char* settings;
  };
  for (const Expected& expected :
       {Expected{RecordPrecision::full, DType::f32, DType::i32, "f32", "FullPrecisionSettings"},
        {RecordPrecision::half, DType::f16, DType::i16, "half::binary16::f16",
         "HalfPrecisionSettings"},
        {RecordPrecision::doubled, DType::f64, DType::i64, "f64", "DoublePrecisionSettings"}}) {
    const Archive again = written_again(archive, {.settings = MpkSettings{expected.precision}});
    EXPECT_EQ(again.metadata().at("float"), expected.float_name);
    EXPECT_EQ(again.metadata().at("int"), dtype_name(expected.ints));
    EXPECT_EQ(again.metadata().at("settings"), expected.settings);
    EXPECT_NE(again.metadata().at("format").find(expected.settings), std::string::npos);
    for (const char* name : {"d", "h"}) EXPECT_EQ(again.get(name)->dtype(), expected.floats);
    for (const char* name : {"u", "i"}) EXPECT_EQ(again.get(name)->dtype(), expected.ints);
    const auto number = [&](const char* name, std::uint64_t at) {
      return again.get(name)->cast(DType::f64)->read()->at<double>({at}).value();
    };
    EXPECT_NEAR(number("d", 0), 0.1, 1e-4);
    EXPECT_EQ(number("u", 0), 200);
    EXPECT_EQ(number("i", 0), -5);
    EXPECT_EQ(again.get("b")->dtype(), DType::boolean);
    EXPECT_EQ(again.info(4).file_dtype, "Bool(Native)");
  }
}

TEST(RecordWriter, RefusesIntegersThatDoNotFit) {
  const auto too_large = std::numeric_limits<std::uint64_t>::max();
  struct Case {
    TensorSnapshot tensor;
    RecordPrecision precision;
    const char* found;
  };
  for (const Case& each :
       {Case{tensor<std::int64_t>("t", {1, 2147483648}), RecordPrecision::full, "2147483648"},
        {tensor<std::int64_t>("t", {-2147483649}), RecordPrecision::full, "-2147483649"},
        {tensor<std::uint32_t>("t", {4294967295}), RecordPrecision::full, "4294967295"},
        {tensor<std::uint16_t>("t", {32768}), RecordPrecision::half, "32768"},
        {tensor<std::uint64_t>("t", {too_large}), RecordPrecision::doubled,
         "18446744073709551615"}}) {
    const Result<std::string> refused =
        write_record(archive_of({each.tensor}), {.settings = MpkSettings{each.precision}});
    expect_error(refused, ErrorCode::overflow, "t");
    EXPECT_EQ(refused.error().found, each.found);
  }
  EXPECT_TRUE(write_record(archive_of({tensor<std::int64_t>("t", {-2147483648, 2147483647})})));
}

TEST(RecordWriter, ChecksIntegersOfLargeTensorsWindowByWindow) {
  std::vector<std::int64_t> values(10'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i) - 5000;
  const auto large = [&] {
    return archive_of({TensorSnapshot(
        "t", Tensor::from_values<std::int64_t>({values.size()}, std::span(values)).value())});
  };
  WriteOptions options;
  options.limits.window_bytes = 4096;
  const Archive again = read_record(write_record(large(), options).value()).value();
  EXPECT_EQ(again.snapshot(0).cast(DType::i64)->read()->to_vector<std::int64_t>().value(), values);
  values.back() = std::int64_t{1} << 40;
  expect_error(write_record(large(), options), ErrorCode::overflow, "t");
}

TEST(RecordWriter, RefusesTypesThatRecordsLack) {
  expect_error(write_record(archive_of({tensor<std::complex<float>>("t", {{1, 2}})})),
               ErrorCode::unsupported_dtype, "t");
  const Tensor raw = Tensor::raw("F7", {1}, test::bytes_of_text("abc")).value();
  expect_error(write_record(archive_of({TensorSnapshot("t", raw)})), ErrorCode::unsupported_dtype,
               "t");
  const Tensor f6 = Tensor::from_bytes(DType::f6e2m3, {4}, test::bytes_of_text("abc")).value();
  expect_error(write_record(archive_of({TensorSnapshot("t", f6)})), ErrorCode::unsupported_dtype,
               "t");
}

TEST(RecordWriter, LeavesQuantizedTensorsAsTheyAre) {
  for (const char* text :
       {"QFloat(Q8S,Native,Symmetric,tensor=F32)", "QFloat(Q4F,PackedU32(0),Symmetric,tensor=BF16)",
        "QFloat(Q8F,PackedU32(0),Symmetric,block=[4]:F16)"}) {
    const QuantScheme scheme = quant_scheme_from_text(text).value();
    std::uint64_t bytes = 0;
    const std::uint64_t shape[] = {8};
    ASSERT_TRUE(quantized_byte_count(scheme, shape, bytes));
    const std::string payload(static_cast<std::size_t>(bytes), 'q');
    const Tensor quantized = Tensor::qfloat(scheme, {8}, test::bytes_of_text(payload)).value();
    const Archive again = written_again(archive_of({TensorSnapshot("q", quantized)}),
                                        {.settings = MpkSettings{RecordPrecision::half}});
    EXPECT_EQ(again.info(0).dtype, DType::qfloat);
    EXPECT_EQ(again.info(0).file_dtype, text);
    EXPECT_EQ(again.snapshot(0).read().value().bytes().text(), payload);
  }
  const QuantScheme both =
      quant_scheme_from_text("QFloat(Q8S,Native,Symmetric,tensor=F32,block=[4]:F16)").value();
  const Tensor quantized =
      Tensor::qfloat(both, {8}, test::bytes_of_text(std::string(16, 'q'))).value();
  expect_error(write_record(archive_of({TensorSnapshot("q", quantized)})),
               ErrorCode::unsupported_dtype, "q");
}

TEST(RecordWriter, GivesAnIdToEveryParameter) {
  const Archive archive =
      archive_of({tensor<float>("a", {1}, std::nullopt), tensor<float>("b", {1}, ParamId{42})});
  const Archive again = written_again(archive);
  EXPECT_TRUE(again.info(0).param_id);
  EXPECT_EQ(again.info(1).param_id, ParamId{42});
}

TEST(RecordWriter, TensorsOfARecordWithoutIdStaySo) {
  Msgpack file;
  file.begin_record();
  file.write.begin_map(1);
  file.write.text("moment");
  file.tensor("x", {1}, "U8");
  const Archive archive = read_record(file.text()).value();
  EXPECT_FALSE(written_again(archive).info(0).param_id);
  const std::string names[] = {"other"};
  EXPECT_FALSE(written_again(archive.rename(names).value()).info(0).param_id);
}

TEST(RecordWriter, WritesACopyForEveryTiedName) {
  Archive archive = archive_of({tensor<float>("embed.weight", {1, 2}, std::nullopt)});
  archive.set_aliases({{"head.weight", "embed.weight"}});
  const Archive again = written_again(archive);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again.info(1).name, "head.weight");
  EXPECT_EQ(again.info(1).param_id, again.info(0).param_id);
  EXPECT_FALSE(again.metadata().contains("head.weight"));
}

// A record of 0.19 with constants, an id of ten characters, a scalar of each kind.
Archive old_record() {
  Msgpack file;
  file.write.begin_map(3);
  file.write.text("metadata");
  file.write.begin_map(5);
  for (const auto& [key, value] : {std::pair{"float", "f32"},
                                   {"int", "i32"},
                                   {"format", "x::NamedMpkFileRecorder<y>"},
                                   {"version", "0.19.1"},
                                   {"settings", "FullPrecisionSettings"}}) {
    file.write.text(key);
    file.write.text(value);
  }
  file.write.text("item");
  file.write.begin_map(9);
  file.write.text("mask");
  file.param("5l6lqbd5l4", "\1"s, {1}, "Bool");
  file.write.text("stride");
  file.write.begin_list(2);
  file.write.nil();
  file.write.nil();
  file.write.text("none");
  file.write.nil();
  file.write.text("list");
  file.write.begin_list(0);
  file.write.text("step");
  file.write.unsigned_integer(70000);
  file.write.text("rate");
  file.write.floating(0.25);
  file.write.text("offset");
  file.write.integer(-3);
  file.write.text("name");
  file.write.text("adam");
  file.write.text("on");
  file.write.boolean(true);
  file.write.text("_b");
  file.write.begin_list(0);
  Archive archive = read_record(file.text()).value();
  EXPECT_EQ(write_record(archive).value(), file.text());
  return archive;
}

TEST(RecordWriter, ARecordKeepsItsStructureMetadataAndSpelling) { old_record(); }

TEST(RecordWriter, ARecordOfAnotherPrecisionKeepsItsStructureAlone) {
  const Archive archive = old_record();
  const Archive again = written_again(archive, {.settings = MpkSettings{RecordPrecision::half}});
  EXPECT_EQ(again.metadata().at("version"), "0.21.0");
  EXPECT_EQ(again.metadata().at("settings"), "HalfPrecisionSettings");
  EXPECT_EQ(again.info(0).file_dtype, "Bool(Native)");
  EXPECT_EQ(to_json(*again.value()), to_json(*archive.value()));
}

TEST(RecordWriter, ListsOfNumbersAreTheSameInEveryPrecision) {
  Msgpack file;
  file.begin_record("f64", "i64", "DoublePrecisionSettings");
  file.write.begin_map(2);
  file.write.text("t");
  file.tensor("x", {1}, "U8");
  file.write.text("rates");
  file.write.begin_map(1);
  file.write.text("value");
  file.write.begin_list(3);
  file.write.unsigned_integer(std::uint64_t{1} << 40);
  file.write.floating(0.1);
  file.write.integer(-70000);
  const Archive archive = read_record(file.text()).value();
  for (const auto precision :
       {RecordPrecision::full, RecordPrecision::half, RecordPrecision::doubled}) {
    const Archive again = written_again(archive, {.settings = MpkSettings{precision}});
    EXPECT_EQ(to_json(*again.value()), to_json(*archive.value()));
  }
}

TEST(RecordWriter, ADryRunDoesNotTellHowFarARecordCompresses) {
  MemorySink sink;
  const Archive archive = with_names({"a"});
  EXPECT_EQ(detail::write_record({archive, sink, {.dry_run = true}, ".mpk.gz"}).value(), 0u);
  EXPECT_EQ(sink.take().size(), 0u);
  const auto refused =
      detail::write_record({with_names({"a", "a.b"}), sink, {.dry_run = true}, ".mpk.gz"});
  EXPECT_EQ(refused.error().code, ErrorCode::name_collision);
}

TEST(RecordWriter, ARecordWhoseTensorsWereRenamedIsANewOne) {
  const std::string names[] = {"other.mask"};
  const Archive again = written_again(old_record().rename(names).value());
  EXPECT_EQ(to_json(*again.value()), R"({"other":{"mask":{"tensor":0}}})");
  EXPECT_EQ(again.metadata().at("version"), "0.21.0");
  EXPECT_EQ(again.info(0).file_dtype, "Bool(Native)");
}

TEST(RecordWriter, ARecordHasNullsInPlaceOfTensorsThatAreLeftOut) {
  const Archive archive = written_again(with_names({"a", "b", "c"}));
  const std::size_t some[] = {2, 0};
  const Archive again = written_again(archive.select(some).value());
  EXPECT_EQ(to_json(*again.value()), R"({"a":{"tensor":0},"b":null,"c":{"tensor":1}})");
}

TEST(RecordWriter, OtherMetadataFollowsThatOfTheRecord) {
  Archive archive = with_names({"a"});
  archive.set_metadata({{"author", "me"}, {"format", "pt"}, {"version", "7"}});
  const Archive again = written_again(archive);
  EXPECT_EQ(again.metadata().at("author"), "me");
  EXPECT_EQ(again.metadata().at("version"), "0.21.0");
  EXPECT_EQ(again.metadata().size(), 6u);
}

TEST(RecordWriter, CompressedRecordsNameTheirRecorder) {
  const Archive archive = with_names({"a", "b.c"});
  const std::string file = write_record(archive, {}, true).value();
  EXPECT_TRUE(detail::is_gzip(file));
  const Archive again = read_record(file).value();
  EXPECT_NE(again.metadata().at("format").find("::NamedMpkGzFileRecorder<"), std::string::npos);
  const Archive plain = written_again(again);
  EXPECT_NE(plain.metadata().at("format").find("::NamedMpkFileRecorder<"), std::string::npos);
}

TEST(RecordWriter, AnArchiveWithoutTensorsIsAnEmptyRecord) {
  const Archive again = written_again(Archive());
  EXPECT_TRUE(again.empty());
  EXPECT_EQ(to_json(*again.value()), "{}");
}

TEST(RecordWriter, SaysHowFarItIs) {
  const Archive archive = with_names({"a", "b"});
  std::vector<std::uint64_t> seen;
  WriteOptions options;
  options.progress = test::steps_into(seen, 8);
  ASSERT_TRUE(write_record(archive, options));
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{4, 8}));
  options.progress = [](std::uint64_t, std::uint64_t) { return false; };
  EXPECT_EQ(write_record(archive, options).error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace andiron
