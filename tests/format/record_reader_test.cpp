// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests src/format/record/tree_reader.cpp and what it reads with.
#include <gtest/gtest.h>

#include "andiron/value.h"
#include "tests/format/record_samples.h"
#include "tests/support/archive_reading.h"
#include "tests/support/file_head.h"
#include "tests/support/gzip_writing.h"
#include "tests/support/record_file.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

using namespace std::string_literals;

TEST(RecordReader, NamesTensorsByTheirPlace) {
  const Archive archive = read_record(sample_record()).value();
  EXPECT_EQ(archive.format(), "mpk");
  EXPECT_EQ(archive.packaging(), "msgpack");
  EXPECT_EQ(names_of(archive),
            (std::vector<std::string>{"linear.weight", "layers.0", "layers.1.Dense", "moment"}));
  const TensorInfo weight = archive.info(0);
  EXPECT_EQ(weight.dtype, DType::i32);
  EXPECT_EQ(weight.file_dtype, "I32");
  EXPECT_EQ(weight.param_id, sample_id);
  EXPECT_EQ(Shape(weight.shape), Shape({1, 2}));
  EXPECT_EQ(archive.snapshot(0).read().value().to_vector<std::int32_t>().value(),
            (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(archive.info(2).dtype, DType::boolean);
  EXPECT_FALSE(archive.info(3).param_id);
  EXPECT_EQ(archive.metadata().at("version"), "0.13.2");
}

TEST(RecordReader, KeepsTheStructureWithTensorsAsIndices) {
  const Archive archive = read_record(sample_record()).value();
  EXPECT_EQ(to_json(*archive.value()),
            R"({"linear":{"weight":{"tensor":0},"bias":null},"layers":[{"tensor":1},)"
            R"({"Dense":{"tensor":2}}],"stride":[null,null],"moment":{"tensor":3}})");
}

TEST(RecordReader, TensorsAreRunsOfTheFile) {
  const std::string file = sample_record();
  const Archive archive = read_record(file).value();
  const auto offset = static_cast<std::size_t>(archive.info(0).offset.value());
  EXPECT_EQ(file.substr(offset, 8), "\1\0\0\0\2\0\0\0"s);
  EXPECT_EQ(archive.file_bytes(), file.size());
  EXPECT_TRUE(archive.snapshot(0).is_in_memory());
}

TEST(RecordReader, OpensWithoutReadingTensors) {
  const std::string data(10'000'000, 'x');
  const std::string file = record([&](Msgpack& out) {
    out.write.begin_list(5);
    for (int i = 0; i < 5; ++i) out.tensor(data, {data.size()}, "U8");
  });
  const auto source = std::make_shared<TestSource>(file);
  const Archive archive = detail::read_record({source, {}}).value();
  EXPECT_EQ(archive.size(), 5u);
  EXPECT_LT(source->bytes_read(), 64 * 1024u);
  EXPECT_EQ(archive.snapshot(4).read().value().byte_size(), data.size());
}

TEST(RecordReader, ReadsManySmallTensorsWindowByWindow) {
  constexpr std::size_t count = 20'000;
  const std::string file = record([&](Msgpack& out) {
    out.write.begin_list(count);
    for (std::size_t i = 0; i < count; ++i)
      out.param(sample_id_text, std::string(1, 'x'), {1}, "U8");
  });
  const auto source = std::make_shared<TestSource>(file);
  const Archive archive = detail::read_record({source, {}}).value();
  EXPECT_EQ(archive.size(), count);
  EXPECT_EQ(archive.info(count - 1).name, std::to_string(count - 1));
  EXPECT_LT(source->reads(), file.size() / (32 * 1024) + 8);
}

TEST(RecordReader, ReadsJson) {
  const Archive archive = read_record(to_json_record(R"({
    "linear": {"weight": {"id": "72d17eukbtkma", "param": {
      "bytes": [0, 0, 128, 63, 255, 255, 255, 255], "shape": [2], "dtype": "F32"}}, "bias": null},
    "\u006dask": {"bytes": [], "shape": [0], "dtype": {"Bool": "Native"}}})"))
                              .value();
  EXPECT_EQ(archive.packaging(), "json");
  EXPECT_EQ(names_of(archive), (std::vector<std::string>{"linear.weight", "mask"}));
  EXPECT_EQ(archive.info(0).param_id, sample_id);
  EXPECT_FALSE(archive.info(0).offset);
  EXPECT_EQ(archive.snapshot(0).read().value().bytes().text(), "\0\0\x80\x3f\xff\xff\xff\xff"s);
  EXPECT_EQ(archive.info(1).dtype, DType::boolean);
}

TEST(RecordReader, ReadsCompressedRecords) {
  const Archive plain = read_record(sample_record()).value();
  const std::string file = write_record(plain, {}, true).value();
  const Archive archive = read_record(file).value();
  EXPECT_EQ(archive.packaging(), "msgpack.gz");
  EXPECT_EQ(archive.file_bytes(), file.size());
  EXPECT_EQ(names_of(archive), names_of(plain));
  EXPECT_FALSE(archive.info(0).offset);
  EXPECT_EQ(archive.info(0).param_id, sample_id);
  EXPECT_EQ(to_json(*archive.value()), to_json(*plain.value()));
  expect_error(read_record(file, {.limits = {.inflated_bytes = 100}}), ErrorCode::limit_exceeded);
}

TEST(RecordReader, LooksAtCompressedContentBeforeItInflatesIt) {
  const std::pair<std::string, const char*> cases[] = {
      {"\x7d\0\0\0\0\0\0\0{\"t\":"s, "a SafeTensors file"},
      {"NRUB\1\0"s, "a Burnpack file"},
      {R"({"weight_map":{}})", "JSON"},
      {"hello", "unknown content"},
  };
  for (const auto& [head, what] : cases) {
    // What follows would be beyond the limit, and ends too soon.
    const std::string file = gzipped(head + std::string(10'000'000, '\0'));
    const Result<Archive> refused =
        open(bytes_of_text(file.substr(0, file.size() - 9)), {.limits = {.inflated_bytes = 1000}});
    expect_error(refused, ErrorCode::not_a_weight_file);
    EXPECT_NE(refused.error().found.find("a gzip file that contains "s + what), std::string::npos)
        << refused.error().found;
    EXPECT_EQ(refused.error().hint, "unpack it first");
  }
  const std::string tensor = R"({"bytes":[1],"shape":[1],"dtype":"U8"})";
  EXPECT_TRUE(read_record(gzipped(R"( { "item":{"a":)" + tensor + "}}")));
  // Whoever names the format may have trees without a record around them.
  const std::string bare = gzipped(R"({"a":)" + tensor + "}");
  expect_error(open(bytes_of_text(bare)), ErrorCode::not_a_weight_file);
  EXPECT_TRUE(open(bytes_of_text(bare), {.format = Format::mpk}));
}

TEST(RecordReader, ARecordThatCouldAlsoBeReadAsBincodeIsMessagePack) {
  std::string text(117, 'x');
  text +=
      "\0\x13"
      "burn_core::record::"s;
  Msgpack file;
  file.write.begin_map(3);
  file.write.text("metadata");
  file.write.begin_map(1);
  file.write.text("f");
  file.write.text(text);
  file.write.text("item");
  file.tensor("x", {1}, "U8");
  file.write.text("_b");
  file.write.begin_list(0);
  ASSERT_EQ(file.text().find("\x13"
                             "burn"),
            133u);
  EXPECT_TRUE(read_record(file.text()));
  EXPECT_TRUE(open(bytes_of_text(file.text())));
}

TEST(RecordReader, KnowsTheDTypesOfEveryRelease) {
  const auto dtype_of = [](const std::string& dtype, int bytes) {
    std::string list;
    for (int i = 0; i < bytes; ++i) list += i == 0 ? "0" : ",0";
    const Archive archive = read_record(to_json_record(R"({"t":{"bytes":[)" + list +
                                                       R"(],"shape":[1],"dtype":)" + dtype + "}}"))
                                .value();
    return archive.snapshot(0).dtype_text() + " " + archive.snapshot(0).raw_name();
  };
  EXPECT_EQ(dtype_of(R"("F64")", 8), "f64 ");
  EXPECT_EQ(dtype_of(R"("BF16")", 2), "bf16 ");
  EXPECT_EQ(dtype_of(R"("Flex32")", 4), "f32 ");
  EXPECT_EQ(dtype_of(R"("U64")", 8), "u64 ");
  EXPECT_EQ(dtype_of(R"("Bool")", 1), "bool ");
  EXPECT_EQ(dtype_of(R"({"Bool":"Native"})", 1), "bool ");
  EXPECT_EQ(dtype_of(R"({"Bool":"U8"})", 1), "bool ");
  EXPECT_EQ(dtype_of(R"({"Bool":"U32"})", 4), "raw:Bool(U32) Bool(U32)");
  EXPECT_EQ(dtype_of(R"("F7")", 3), "raw:F7 F7");
  // 0.19
  EXPECT_EQ(dtype_of(R"({"QFloat":{"value":"Q8F","param":"F32","store":"U32","level":"Tensor",)"
                     R"("mode":"Symmetric"}})",
                     8),
            "qfloat QFloat(Q8F,PackedU32(0),Symmetric,tensor=F32)");
  // 0.20 and 0.21
  EXPECT_EQ(dtype_of(R"({"QFloat":{"value":"Q4S","param":"F16","store":{"PackedU32":0},)"
                     R"("level":{"Block":{"storage":[2,16,1,1,1],"len":2}},"mode":"Symmetric"}})",
                     6),
            "qfloat QFloat(Q4S,PackedU32(0),Symmetric,block=[2,16]:F16)");
}

TEST(RecordReader, RefusesUnknownDTypesOnlyWhenStrict) {
  const std::string file = record([](Msgpack& out) { out.tensor("abc", {1}, "F7"); });
  const Archive archive = read_record(file).value();
  EXPECT_EQ(names_of(archive), std::vector<std::string>{"item"});
  ASSERT_EQ(archive.notes().size(), 1u);
  EXPECT_NE(archive.notes()[0].find("unknown dtype"), std::string::npos);
  expect_error(read_record(file, {.strictness = Strictness::strict}), ErrorCode::unsupported_dtype);
}

TEST(RecordReader, ReadsRecordsFromBeforeTensorsWereBytes) {
  Msgpack file;
  // {"value": [...], "shape": [...]}
  const auto begin_values = [&](std::size_t count) {
    file.write.begin_map(2);
    file.write.text("value");
    file.write.begin_list(count);
  };
  const auto write_dims = [&](std::uint64_t dim) {
    file.write.begin_list(1);
    file.write.unsigned_integer(dim);
  };
  file.begin_record("f32", "i32");
  file.write.begin_map(4);
  file.write.text("weight");
  file.write.begin_map(2);
  file.write.text("id");
  file.write.text("30b82c23-788d-4d63-a743-ada258d5f13c");
  file.write.text("param");
  begin_values(2);
  file.write.floating(1.5);
  file.write.floating(-2);
  file.write.text("shape");
  write_dims(2);
  file.write.text("counts");
  begin_values(2);
  file.write.integer(-70000);
  file.write.integer(3);
  file.write.text("shape");
  file.write.begin_map(1);
  file.write.text("dims");
  write_dims(2);
  file.write.text("mask");
  begin_values(1);
  file.write.boolean(true);
  file.write.text("shape");
  write_dims(1);
  file.write.text("none");
  begin_values(0);
  file.write.text("shape");
  write_dims(0);
  const Archive archive = read_record(file.text()).value();
  EXPECT_EQ(names_of(archive), (std::vector<std::string>{"weight", "counts", "mask", "none"}));
  const auto read = [&](const char* name) { return archive.get(name).value().read().value(); };
  EXPECT_EQ(read("weight").to_vector<float>().value(), (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(archive.info(0).param_id, ParamId{3660534592299406267U});
  EXPECT_EQ(read("counts").to_vector<std::int32_t>().value(), (std::vector{-70000, 3}));
  EXPECT_EQ(read("mask").to_vector<bool>().value(), std::vector<bool>{true});
  EXPECT_EQ(read("none").dtype(), DType::f32);
}

TEST(RecordReader, OlderRecordsOfHalfPrecisionHoldTheBitsOfFloats) {
  Msgpack file;
  file.begin_record("half::binary16::f16", "i16", "HalfPrecisionSettings");
  file.write.begin_map(2);
  for (const int first : {0x3c00, -5}) {
    file.write.text(first < 0 ? "int" : "float");
    file.write.begin_map(2);
    file.write.text("value");
    file.write.begin_list(2);
    file.write.integer(first);
    file.write.integer(7);
    file.write.text("shape");
    file.write.begin_list(1);
    file.write.unsigned_integer(2);
  }
  const Archive archive = read_record(file.text()).value();
  EXPECT_EQ(archive.info(0).dtype, DType::f16);
  EXPECT_EQ(archive.snapshot(0).read().value().bytes().text(), "\x00\x3c\x07\x00"s);
  EXPECT_EQ(archive.info(1).dtype, DType::i16);
  EXPECT_EQ(archive.snapshot(1).read().value().to_vector<std::int16_t>().value(),
            (std::vector<std::int16_t>{-5, 7}));
}

TEST(RecordReader, NumbersThatDoNotFitTheirTypeAreRefused) {
  for (const char* value : {"[1, 2147483648]", "[1, 0.5]", "[true, 1]", "[0.5, true]", "[1, null]",
                            "[1, \"x\"]", "[1, []]"}) {
    expect_error(
        read_record(to_json_record(R"({"t":{"value":)" + std::string(value) + R"(,"shape":[2]}})")),
        ErrorCode::bad_header);
  }
}

TEST(RecordReader, NumberTypesThatRecordsDoNotHaveAreTheUsualOnes) {
  for (const char* name : {"f4e2m1", "c64", "raw", "bool", "i64", "f8e4m3fn", "", "::"}) {
    Msgpack file;
    file.begin_record(name, name == "i64"s ? "f64" : name);
    file.write.begin_list(2);
    for (const double first : {0.5, 7.0}) {
      file.write.begin_map(2);
      file.write.text("value");
      file.write.begin_list(1);
      first == 7 ? file.write.integer(7) : file.write.floating(first);
      file.write.text("shape");
      file.write.begin_list(0);
    }
    const Archive archive = read_record(file.text()).value();
    EXPECT_EQ(archive.info(0).dtype, DType::f32) << name;
    EXPECT_EQ(archive.info(1).dtype, DType::i32) << name;
  }
  Msgpack file;
  file.begin_record("half::bfloat::bf16", "u8");
  file.write.begin_map(2);
  file.write.text("value");
  file.write.begin_list(1);
  file.write.floating(1);
  file.write.text("shape");
  file.write.begin_list(0);
  EXPECT_EQ(read_record(file.text()).value().info(0).dtype, DType::bf16);
}

TEST(RecordReader, NumbersThatAreNoTensorStayAsTheyAre) {
  for (const char* value : {"[4294967296,-5,0.1,true]", "[0.1,1e+300,18446744073709551615]",
                            "[true,1]", R"([1,"x",[2]])", "[-9223372036854775808,null]", "[]"}) {
    const std::string item = R"({"t":{"bytes":[1],"shape":[1],"dtype":"U8"},"x":{"value":)" +
                             std::string(value) + R"(,"y":1}})";
    const Archive archive = read_record(to_json_record(item)).value();
    EXPECT_EQ(to_json(*archive.value()->find("x")),
              R"({"value":)" + std::string(value) + R"(,"y":1})");
  }
}

TEST(RecordReader, DictsMayLieInDictsBesideListsOfNumbers) {
  constexpr int levels = 100;
  std::string item = R"({"bytes":[7],"shape":[1],"dtype":"U8"})";
  std::string path = "param";
  for (int i = 0; i < levels; ++i) {
    const bool is_param = i == 0;
    item = R"({"value":[1],")" + std::string(is_param ? "param" : "x") + R"(":)" + item + "}";
    if (!is_param) path = "x." + path;
  }
  const Archive archive = read_record(to_json_record(item)).value();
  EXPECT_EQ(names_of(archive), std::vector<std::string>{path});
  EXPECT_NE(to_json(*archive.value()).find(R"({"value":[1],"param":{"tensor":0}})"),
            std::string::npos);
}

TEST(RecordReader, BytesMayBeAListInMessagePackToo) {
  const std::string file = record([](Msgpack& out) {
    out.write.begin_map(3);
    out.write.text("bytes");
    out.write.begin_list(5000);
    for (std::uint64_t i = 0; i < 5000; ++i) out.write.unsigned_integer(i % 256);
    out.write.text("shape");
    out.write.begin_list(1);
    out.write.unsigned_integer(5000);
    out.write.text("dtype");
    out.write.text("U8");
  });
  const Archive archive = read_record(file).value();
  const auto values = archive.snapshot(0).read().value().to_vector<std::uint8_t>().value();
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i % 256);
}

TEST(RecordReader, FieldsThatAreCalledLikePartsOfTensorsStayFields) {
  const Archive archive =
      read_record(
          to_json_record(R"({"bytes":[1,2],"value":[0.5,2],"shape":{"id":"72d17eukbtkma","param":)"
                         R"({"bytes":[7],"shape":[],"dtype":"U8"}},)"
                         R"("param":{"bytes":[8],"shape":[],"dtype":"U8"}})"))
          .value();
  EXPECT_EQ(names_of(archive), (std::vector<std::string>{"shape", "param"}));
  EXPECT_EQ(to_json(*archive.value()),
            R"({"bytes":[1,2],"value":[0.5,2],"shape":{"tensor":0},"param":{"tensor":1}})");
  const Archive lists =
      read_record(to_json_record(R"({"value":[{"bytes":[7],"shape":[],"dtype":"U8"}],"bytes":"x",)"
                                 R"("a":{"value":[true,false]}})"))
          .value();
  EXPECT_EQ(to_json(*lists.value()),
            R"({"value":[{"tensor":0}],"bytes":"x","a":{"value":[true,false]}})");
  EXPECT_EQ(names_of(lists), std::vector<std::string>{"value.0"});
}

TEST(RecordReader, BytesThatAreNoTensorsAreReadIntoTheStructure) {
  std::string file = record([](Msgpack& out) {
    out.write.begin_map(2);
    out.write.text("a");
    out.tensor("x", {1}, "U8");
    out.write.text("b");
  });
  // The first could be a tensor's elements until the dict has ended.
  file +=
      "\x82\xa5"
      "bytes\xc4\x05"
      "first";
  file += "\xa4list\x92\xc4\0\xc4\x06second"s;
  const Archive archive = detail::read_record({std::make_shared<TestSource>(file), {}}).value();
  const Value* fields = archive.value()->find("b");
  ASSERT_NE(fields, nullptr);
  EXPECT_EQ(fields->find("bytes")->get<Bytes>()->text(), "first");
  const ValueList& list = *fields->find("list")->get<ValueList>();
  EXPECT_EQ(list.at(0).get<Bytes>()->text(), "");
  EXPECT_EQ(list.at(1).get<Bytes>()->text(), "second");
}

TEST(RecordReader, IdsOfOtherSpellingsStayInTheStructure) {
  const Archive archive = read_record(record([](Msgpack& out) {
                            out.write.begin_map(2);
                            out.write.text("old");
                            out.param("5l6lqbd5l4", "x", {1}, "U8");
                            out.write.text("bad");
                            out.param("not an id", "x", {1}, "U8");
                          })).value();
  EXPECT_EQ(archive.info(0).param_id, ParamId{186526895787309U});
  EXPECT_FALSE(archive.info(1).param_id);
  EXPECT_EQ(to_json(*archive.value()), R"({"old":{"id":"5l6lqbd5l4","param":{"tensor":0}},)"
                                       R"("bad":{"id":"not an id","param":{"tensor":1}}})");
  ASSERT_EQ(archive.notes().size(), 1u);
  EXPECT_NE(archive.notes()[0].find("'bad'"), std::string::npos);
}

TEST(RecordReader, ReadsTreesWithoutARecordAroundThem) {
  Msgpack file;
  file.write.begin_map(1);
  file.write.text("weight");
  file.tensor("x", {1}, "U8");
  const Archive archive = read_record(file.text()).value();
  EXPECT_EQ(names_of(archive), std::vector<std::string>{"weight"});
  EXPECT_TRUE(archive.metadata().empty());
  // In another order, as some tools leave it.
  EXPECT_EQ(names_of(read_record(R"({"_b":null,"item":{"a":{"bytes":[1],"shape":[1],"dtype":"U8"}},
                                    "metadata":{"float":"f32"}})")
                         .value()),
            std::vector<std::string>{"a"});
}

TEST(RecordReader, AFileWithoutTensorsIsARecordOnlyWhenItSaysSo) {
  EXPECT_TRUE(read_record(to_json_record("{}")));
  EXPECT_TRUE(read_record(record([](Msgpack& out) { out.write.nil(); })));
  for (const std::string& file :
       {"{}"s, R"({"item":{}})"s, R"({"metadata":{"a":"b"}})"s, R"({"metadata":3,"item":{}})"s,
        "\x80"s, "\xc0"s, "\x05"s, "\x93\x01\x02\x03"s}) {
    expect_error(read_record(file), ErrorCode::not_a_weight_file);
  }
}

TEST(IsRecord, AsksForAMapWhoseFirstKeyIsARecords) {
  const auto is_record = [](const std::string& head) {
    return test::is_taken_for(detail::is_record, head);
  };
  EXPECT_TRUE(is_record(sample_record()));
  EXPECT_TRUE(is_record("\x82\xa4itemxxx"));
  EXPECT_TRUE(is_record("\xde\x00\x03\xa8metadata"s));
  EXPECT_TRUE(is_record("\xdf\x00\x00\x00\x03\xa8metadata"s));
  EXPECT_TRUE(is_record(R"( { "item": {)"));
  EXPECT_TRUE(is_record(R"({"metadata":{"format":"burn_core::record::file::X)"));
  EXPECT_FALSE(is_record(R"({"items": "item"})"));
  EXPECT_FALSE(is_record("burn_core::record::"));
  EXPECT_FALSE(is_record(" { "));
  for (const std::string& other :
       {""s, "\x80"s, "\x82"s, "\x82\xa5other"s, "\x92\xa4item"s, "\x82\xa4ite"s, "\xde\x00"s}) {
    EXPECT_FALSE(is_record(other));
  }
}

}  // namespace
}  // namespace andiron::test
