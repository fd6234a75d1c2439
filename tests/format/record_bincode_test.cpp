// SPDX-License-Identifier: MIT OR Apache-2.0
// Records without names (.bin), read into modules through a store.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/nn/conv.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/open.h"
#include "andiron/sha256.h"
#include "andiron/stores.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/fixture_truth.h"
#include "tests/support/gzip_writing.h"
#include "tests/support/module_fingerprint.h"
#include "tests/support/sample_net.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

using Json = nlohmann::json;
using test::bytes_by_path;
using test::f32;
using test::fingerprint;
using test::gzipped;

constexpr std::string_view some_id = "72d17eukbtkma";
constexpr std::uint64_t some_id_value = 7307477237661669944U;

// Bincode put together by hand.
class Bincode {
 public:
  explicit Bincode(std::string_view version = "0.19.0") {
    for (const std::string_view text :
         {std::string_view("f32"), std::string_view("i32"),
          std::string_view("burn_core::record::file::BinFileRecorder<FullPrecisionSettings>"),
          version, std::string_view("FullPrecisionSettings")}) {
      this->text(text);
    }
  }

  Bincode& count(std::uint64_t value) {
    const int size = value <= 250 ? 0 : value <= 0xffff ? 2 : value <= 0xffffffff ? 4 : 8;
    if (size != 0) text_ += static_cast<char>(size == 2 ? 251 : size == 4 ? 252 : 253);
    for (int i = 0; i < (size == 0 ? 1 : size); ++i) {
      text_ += static_cast<char>(value >> 8 * i & 0xff);
    }
    return *this;
  }
  Bincode& text(std::string_view text) {
    count(text.size());
    text_ += text;
    return *this;
  }
  Bincode& raw(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  Bincode& param(std::string_view id, std::string_view bytes,
                 std::initializer_list<std::uint64_t> shape, unsigned dtype) {
    text(id).text(bytes).count(shape.size());
    for (const std::uint64_t dim : shape) count(dim);
    return count(dtype);
  }
  Bincode& floats(std::string_view id, const Tensor& tensor) {
    text(id).text(tensor.bytes().text()).count(tensor.shape().rank());
    for (const std::uint64_t dim : tensor.shape()) count(dim);
    return count(1);
  }

  const std::string& file() const { return text_; }
  BurnpackStore store() const { return store_of(text_); }
  static BurnpackStore store_of(std::string_view file) {
    return BurnpackStore::from_bytes(test::bytes_of_text(file));
  }

 private:
  std::string text_;
};

struct One {
  Param w;
  ANDIRON_MODULE(One, w)
};

struct Net {
  nn::Linear stem;
  std::optional<nn::Linear> extra;
  std::vector<nn::LayerNorm> norms;
  Param tail;
  ANDIRON_MODULE(Net, stem, extra, norms, tail)
};

Net net_of(float first) {
  Net net;
  net.stem = {Param(f32({2, 3}, first)), Param(f32({3}, first + 10))};
  for (const float more : {20.0F, 30.0F}) {
    nn::LayerNorm& norm = net.norms.emplace_back();
    norm.gamma = Param(f32({3}, first + more));
    norm.beta = Param(f32({3}, first + more + 5));
  }
  net.tail = Param(f32({}, first + 40));
  return net;
}

// The record of a Net: what Rust's encoder writes of such a struct, with ids of one letter.
Bincode record_of(const Net& net) {
  Bincode record;
  const auto add = [&](char letter, const Param& param) {
    record.floats(std::string(12, letter) + '0', param.val().value());
  };
  add('a', net.stem.weight);
  record.count(1);  // Some bias
  add('b', *net.stem.bias);
  record.count(0);  // no extra
  record.count(net.norms.size());
  char letter = 'c';
  for (const nn::LayerNorm& norm : net.norms) {
    add(letter++, norm.gamma);
    record.count(1);  // Some beta
    add(letter++, *norm.beta);
    record.count(0);  // epsilon, a constant
  }
  add(letter, net.tail);
  record.count(0).count(0);  // two constants at the end
  return record;
}

// ---- What a record holds ----

TEST(RecordBincode, FillsTheFieldsOfAModuleInOrder) {
  const Net from = net_of(1);
  Net to = net_of(1000);
  const ApplyResult result = load_from(to, record_of(from).store()).value();
  EXPECT_EQ(result.applied.size(), 7u);
  EXPECT_TRUE(result.unused.empty());
  EXPECT_EQ(bytes_by_path(to), bytes_by_path(from));
  EXPECT_EQ(to.stem.weight.id().to_text(), "aaaaaaaaaaaa0");
  EXPECT_EQ(to.tail.id().to_text(), "gggggggggggg0");
}

TEST(RecordBincode, FillsParametersThatAreNotSetWithWhateverComes) {
  One to;
  load_from(to, Bincode().floats(some_id, f32({2, 2}, 1)).store()).value();
  EXPECT_EQ(to.w.shape(), (Shape{2, 2}));
  EXPECT_EQ(to.w.id().value, some_id_value);
}

TEST(RecordBincode, IsReadFromAFileAndSavedUnderNames) {
  const test::TempDir dir;
  const Net from = net_of(1);
  test::write_file(dir.file("m.bin"), record_of(from).file());
  Net to = net_of(1000);
  load_from(to, BurnpackStore::from_file(dir.file("m.bin"))).value();
  save_into(to, BurnpackStore::from_file(dir.file("m"))).value();
  EXPECT_EQ(BurnpackStore::from_file(dir.file("m")).keys().value().front(), "norms.0.beta");
  Net again = net_of(1000);
  load_from(again, BurnpackStore::from_file(dir.file("m.bpk"))).value();
  EXPECT_EQ(fingerprint(again), fingerprint(to));
}

TEST(RecordBincode, MayBeCompressed) {
  const Net from = net_of(1);
  Net to = net_of(1000);
  load_from(to, Bincode::store_of(gzipped(record_of(from).file()))).value();
  EXPECT_EQ(bytes_by_path(to), bytes_by_path(from));
}

TEST(RecordBincode, MayBePlannedFilteredAndCast) {
  const BurnpackStore store = record_of(net_of(1)).store();
  EXPECT_EQ(plan(net_of(1000), store).value().tensors.size(), 7u);
  Net to = net_of(1000);
  const ApplyResult result = load_from(to, BurnpackStore(store).with_regex("^stem")).value();
  EXPECT_EQ(result.applied.size(), 2u);
  EXPECT_EQ(result.skipped.size(), 5u);
  EXPECT_EQ(to.stem.weight.as<float>().value()[0], 1);
  EXPECT_EQ(to.tail.as<float>().value()[0], 1040);
  to.tail = Param(Tensor::zeros(DType::f64, {}).value());
  load_from(to, BurnpackStore(store).dtype_policy(DTypePolicy::cast_to_module)).value();
  EXPECT_EQ(to.tail.as<double>().value()[0], 41);
}

TEST(RecordBincode, GivesAlignedNumbersWhereverTheyLie) {
  const BurnpackStore store = record_of(net_of(1)).store().zero_copy(true);
  Net to = net_of(1000);
  load_from(to, store).value();
  EXPECT_EQ(bytes_by_path(to), bytes_by_path(net_of(1)));
  EXPECT_TRUE(to.stem.weight.as<float>());
  EXPECT_TRUE(to.tail.as<float>());
}

TEST(RecordBincode, ReadsLengthsOfEveryWidth) {
  for (const std::uint64_t size : {62u, 63u, 100u, 20'000u}) {
    const Tensor large = f32({size}, 1);
    One to;
    load_from(to, Bincode().floats(some_id, large).store()).value();
    EXPECT_EQ(to.w.val().value().bytes().text(), large.bytes().text());
  }
  // Eight bytes where one would do.
  Bincode wide;
  wide.text(some_id).raw(std::string_view("\xfd\x04\0\0\0\0\0\0\0", 9)).raw("abcd");
  wide.count(1).count(1).count(1);
  One to;
  load_from(to, wide.store()).value();
  EXPECT_EQ(to.w.val().value().bytes().text(), "abcd");
}

TEST(RecordBincode, ReadsTheIdsOfEveryRelease) {
  const auto id_of = [](std::string_view id) {
    One to;
    load_from(to, Bincode().param(id, "abcd", {1}, 1).store()).value();
    return to.w.id().value;
  };
  EXPECT_EQ(id_of(some_id), some_id_value);
  EXPECT_EQ(id_of(ParamId{0x060504030201U}.to_text().substr(0, 10)), 0x060504030201U);
  EXPECT_EQ(id_of("30b82c23-788d-4d63-a743-ada258d5f13c"), 3660534592299406267U);
}

TEST(RecordBincode, ReadsEveryDtype) {
  constexpr DType dtypes[] = {DType::f64, DType::f32, DType::f32, DType::f16,    DType::bf16,
                              DType::i64, DType::i32, DType::i16, DType::i8,     DType::u64,
                              DType::u32, DType::u16, DType::u8,  DType::boolean};
  for (unsigned code = 0; code < std::size(dtypes); ++code) {
    const std::string bytes(2 * bit_width(dtypes[code]) / 8, '\1');
    One to;
    load_from(to, Bincode("0.20.1").param(some_id, bytes, {2}, code).store()).value();
    EXPECT_EQ(to.w.dtype(), dtypes[code]) << code;
    EXPECT_EQ(to.w.val().value().bytes().text(), bytes);
  }
}

TEST(RecordBincode, ReadsHowBooleansAreStoredSince021) {
  struct Two {
    Param mask, after;
    ANDIRON_MODULE(Two, mask, after)
  };
  for (const unsigned kept_as : {0u, 1u}) {
    Bincode record("0.21.0");
    record.param(some_id, std::string_view("\1\0\1", 3), {3}, 13).count(kept_as);
    record.floats("0000000000000", f32({2}, 5));
    Two to;
    load_from(to, record.store()).value();
    EXPECT_EQ(to.mask.val().value().to_vector<bool>().value(), (std::vector<bool>{1, 0, 1}));
    EXPECT_EQ(to.after.as<float>().value()[0], 5);
  }
  Bincode wide("0.21.0");
  wide.param(some_id, std::string(8, '\0'), {2}, 13).count(2);
  One to;
  load_from(to, wide.store()).value();
  EXPECT_EQ(to.w.val().value().dtype_text(), "raw:Bool(U32)");
}

TEST(RecordBincode, PassesOverConstantsHoweverMany) {
  Bincode record;
  record.raw(std::string(100'000, '\0')).floats(some_id, f32({2}, 1));
  record.raw(std::string(100'000, '\1'));
  One to;
  load_from(to, record.store()).value();
  EXPECT_EQ(to.w.as<float>().value()[1], 2);
}

TEST(RecordBincode, ReadsMetadataOfAnyLength) {
  Bincode record("0.19.0-" + std::string(30'000, 'x'));
  One to;
  load_from(to, record.floats(some_id, f32({2}, 1)).store()).value();
  EXPECT_EQ(to.w.as<float>().value()[1], 2);
  const auto refused = load_from(to, BurnpackStore(record.store()).limits({.metadata_bytes = 100}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
}

TEST(RecordBincode, PassesOverWhatLooksLikeAParameterWithoutAnEnd) {
  Bincode record;
  record.text(some_id).count(1'000'000);
  record.floats("0000000000000", f32({2}, 1));
  One to;
  load_from(to, record.store()).value();
  EXPECT_EQ(to.w.as<float>().value()[1], 2);
}

TEST(RecordBincode, PassesOverManyThingsThatLookLikeParameters) {
  // Each claims bytes up to a place of its own, where there is no description.
  Bincode record;
  for (int i = 0; i < 1000; ++i) record.text(some_id).count(static_cast<unsigned>(90'000 + i));
  record.raw(std::string(100'000, '\xff'));
  const test::TempDir dir;
  test::write_file(dir.file("m.bin"), record.floats(some_id, f32({1}, 3)).file());
  One to;
  load_from(to, BurnpackStore::from_file(dir.file("m.bin"))).value();
  EXPECT_EQ(to.w.as<float>().value()[0], 3);
}

// ---- What does not fit ----

TEST(RecordBincode, StopsAtOneTensorMoreThanTheModuleHas) {
  Bincode record;
  record.floats(some_id, f32({2}, 1)).floats(some_id, f32({2}, 1));
  record.param(some_id, "abcd", {1}, 14);  // quantized, which would be refused
  One to;
  const auto refused = load_from(to, record.store());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::shape_mismatch);
  EXPECT_EQ(refused.error().expected, "1, as in the module");
}

TEST(RecordBincode, SaysSoWhenATensorIsCut) {
  const std::string file = Bincode().floats(some_id, f32({100}, 1)).file();
  One to;
  for (const std::size_t missing : {std::size_t{10}, std::size_t{300}}) {
    const auto refused = load_from(to, Bincode::store_of(file.substr(0, file.size() - missing)));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::truncated);
    EXPECT_EQ(refused.error().expected, "400");
  }
  // Even where the module has no place for it.
  const std::string two =
      Bincode().floats(some_id, f32({2}, 1)).floats(some_id, f32({100}, 1)).file();
  const auto refused = load_from(to, Bincode::store_of(two.substr(0, two.size() - 100)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::truncated);
}

TEST(RecordBincode, BooleansOf32BitsHaveTheirSize) {
  for (const std::size_t size : {std::size_t{7}, std::size_t{2}, std::size_t{0}}) {
    Bincode record("0.21.0");
    record.param(some_id, std::string(size, '\0'), {2}, 13).count(2);
    One to;
    EXPECT_FALSE(load_from(to, record.store())) << size;
  }
}

TEST(RecordBincode, OpensOnlyWithAModuleAndSaysWhy) {
  const test::TempDir dir;
  const std::string file = record_of(net_of(1)).file();
  test::write_file(dir.file("m.bin"), file);
  test::write_file(dir.file("m.bin.gz"), gzipped(file));
  for (const char* name : {"m.bin", "m.bin.gz"}) {
    const auto opened = open(dir.file(name));
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
    EXPECT_EQ(opened.error().file, dir.file(name));
    EXPECT_NE(opened.error().message.find("have no names"), std::string::npos);
    EXPECT_EQ(BurnpackStore::from_file(dir.file(name)).keys().error().code, ErrorCode::unsupported);
  }
}

TEST(RecordBincode, RefusesAModuleOfAnotherShape) {
  Net to = net_of(1000);
  to.norms[1].gamma = Param(f32({4}, 1));
  const std::string before = fingerprint(to);
  const auto refused = load_from(to, record_of(net_of(1)).store());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::shape_mismatch);
  EXPECT_EQ(refused.error().tensor, "norms.1.gamma");
  EXPECT_EQ(refused.error().found, "tensor 5 of the file, of shape [3]");
  EXPECT_EQ(refused.error().expected, "[4]");
  EXPECT_EQ(fingerprint(to), before);
}

TEST(RecordBincode, RefusesAModuleWithMoreOrFewerParameters) {
  Net fewer = net_of(1000);
  fewer.norms.pop_back();
  fewer.tail = Param();  // takes the gamma of the norm that is left out
  const auto too_many = load_from(fewer, record_of(net_of(1)).store());
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().code, ErrorCode::shape_mismatch);
  EXPECT_EQ(too_many.error().found, "more tensors in the file");
  EXPECT_EQ(too_many.error().expected, "5, as in the module");

  struct More {
    Net net = net_of(1000);
    Param another;
    ANDIRON_MODULE(More, net, another)
  } more;
  const auto too_few = load_from(more, record_of(net_of(1)).store());
  ASSERT_FALSE(too_few);
  EXPECT_EQ(too_few.error().code, ErrorCode::shape_mismatch);
  EXPECT_EQ(too_few.error().tensor, "another");
}

TEST(RecordBincode, RefusesQuantizedTensorsByName) {
  One to;
  const auto refused = load_from(to, Bincode().param(some_id, "abcdefgh", {4}, 14).store());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
}

TEST(RecordBincode, KeepsToTheLimits) {
  One to;
  const Bincode record = Bincode().floats(some_id, f32({64}, 1)).floats(some_id, f32({2}, 1));
  Limits little;
  little.tensors = 1;
  EXPECT_EQ(load_from(to, record.store().limits(little)).error().code, ErrorCode::limit_exceeded);
  little = {};
  little.inflated_bytes = 100;
  EXPECT_EQ(load_from(to, Bincode::store_of(gzipped(record.file())).limits(little)).error().code,
            ErrorCode::limit_exceeded);
  const Bincode endless = Bincode().raw(std::string((1 << 20) + 10, '\0'));
  EXPECT_EQ(load_from(to, endless.store()).error().code, ErrorCode::bad_header);
}

// ---- Damaged files ----

// The module is loaded whole or left as it was.
void expect_all_or_nothing(const std::string& file, const Net& record) {
  Net to = net_of(1000);
  const std::string before = fingerprint(to);
  const Result<ApplyResult> result = load_from(to, Bincode::store_of(file));
  if (!result) {
    EXPECT_EQ(fingerprint(to), before);
    EXPECT_FALSE(result.error().message.empty());
    return;
  }
  EXPECT_EQ(result->applied.size(), 7u);
  for (const TensorSnapshot& tensor : collect(to).value()) {
    EXPECT_EQ(tensor.shape(), collect(record).value().find(tensor.full_path())->shape());
  }
}

TEST(RecordBincode, ThatIsCutAnywhereIsRefused) {
  const Net from = net_of(1);
  const std::string file = record_of(from).file();
  constexpr std::size_t constants = 2;
  for (std::size_t size = 0; size < file.size(); ++size) {
    SCOPED_TRACE(size);
    Net to = net_of(1000);
    const std::string before = fingerprint(to);
    const bool is_whole = size >= file.size() - constants;
    ASSERT_EQ(load_from(to, Bincode::store_of(file.substr(0, size))).ok(), is_whole);
    if (!is_whole) {
      ASSERT_EQ(fingerprint(to), before);
    }
  }
}

TEST(RecordBincode, ThatIsCompressedAndCutAnywhereIsRefused) {
  const std::string file = gzipped(record_of(net_of(1)).file());
  for (std::size_t size = 0; size < file.size(); ++size) {
    Net to = net_of(1000);
    ASSERT_FALSE(load_from(to, Bincode::store_of(file.substr(0, size))).ok()) << size;
  }
}

TEST(RecordBincode, WithAnyByteChangedIsReadWholeOrRefused) {
  const Net from = net_of(1);
  const std::string file = record_of(from).file();
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      SCOPED_TRACE(std::to_string(at) + " ^ " + std::to_string(flip));
      std::string changed = file;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      expect_all_or_nothing(changed, from);
    }
  }
}

TEST(RecordBincode, WithHostileSizesIsRefused) {
  constexpr std::uint64_t huge = std::uint64_t{1} << 62;
  const Bincode hostile[] = {
      Bincode().text(some_id).count(huge),
      Bincode().text(some_id).count(~std::uint64_t{0}).raw("abcd"),
      Bincode().text(some_id).text("abcd").count(huge),
      Bincode().param(some_id, "abcd", {huge, 4}, 1),
      Bincode().param(some_id, "", {huge, huge, 0}, 1),
      Bincode().param(some_id, "abcd", {1}, 99),
      Bincode().param(some_id, "abcd", {2}, 1),
      Bincode().param("0000000000000000000000000000000000000", "abcd", {1}, 1),
  };
  for (const Bincode& record : hostile) {
    One to{Param(f32({1}, 7))};
    const std::string before = fingerprint(to);
    EXPECT_FALSE(load_from(to, record.store()).ok());
    EXPECT_EQ(fingerprint(to), before);
  }
}

// ---- Files that Burn wrote ----

// Loads the file of every release, with the module's dtypes as Burn does, and compares.
template <class M>
void expect_as_burn_loads(const M& made, const std::string& name) {
  std::size_t files = 0;
  test::for_each_fixture("mpk-", [&](const std::string& file, const Json& about) {
    if (!file.ends_with("/" + name)) return;
    ++files;
    const Json& truth = about.at("tensors");
    M module = made;
    const ApplyResult result =
        load_from(module, BurnpackStore::from_file(file).dtype_policy(DTypePolicy::cast_to_module))
            .value();
    EXPECT_EQ(result.applied.size(), truth.size());
    for (const TensorSnapshot& tensor : collect(module).value()) {
      SCOPED_TRACE(tensor.full_path());
      const Json& expected = truth.at(tensor.full_path());
      EXPECT_EQ(to_hex(sha256(tensor).value()), expected.at("sha256").get<std::string>());
      EXPECT_EQ(std::to_string(tensor.param_id().value().value),
                expected.at("param_id").get<std::string>());
    }
  });
  EXPECT_GE(files, 1u);
}

TEST(RecordBincode, OfALinearIsWhatBurnLoads) {
  const nn::Linear linear = nn::LinearConfig(4, 8).init();
  for (const char* name : {"linear.bin", "linear.bin.gz", "linear.half.bin"}) {
    expect_as_burn_loads(linear, name);
  }
}

TEST(RecordBincode, OfNestedModulesIsWhatBurnLoads) {
  struct Block {
    nn::Conv2d conv = nn::Conv2dConfig({2, 3}, {2, 3}).init();
    nn::LayerNorm norm = nn::LayerNormConfig(5).init();
    ANDIRON_MODULE(Block, conv, norm)
  };
  struct Nested {
    nn::Linear stem = nn::LinearConfig(3, 4).init();
    Block block;
    nn::Linear head = nn::LinearConfig(4, 2).with_bias(false).init();
    ANDIRON_MODULE(Nested, stem, block, head)
  };
  expect_as_burn_loads(Nested(), "nested.bin");
}

TEST(RecordBincode, WithConstantsIsWhatBurnLoads) {
  struct Constants {
    nn::Linear lin = nn::LinearConfig(2, 3).init();
    Param tail = f32({2}, 0);
    ANDIRON_MODULE(Constants, lin, tail)
  };
  expect_as_burn_loads(Constants(), "constants.bin");
}

TEST(RecordBincode, WithoutAnOptionalModuleIsWhatBurnLoads) {
  struct OptionNone {
    std::optional<nn::Linear> first = nn::LinearConfig(3, 3).init();
    std::optional<nn::Linear> second;
    nn::Linear tail = nn::LinearConfig(3, 3).with_bias(false).init();
    ANDIRON_MODULE(OptionNone, first, second, tail)
  };
  expect_as_burn_loads(OptionNone(), "option_none.bin");
}

TEST(RecordBincode, OfManyDtypesIsWhatBurnLoads) {
  struct Typed {
    Param mask = Tensor::zeros(DType::boolean, {3, 5}).value();
    Param index = Tensor::zeros(DType::i64, {7}).value();
    Param table = Tensor::zeros(DType::i64, {2, 3}).value();
    Param scale = f32({3}, 0);
    Param flags = Tensor::zeros(DType::boolean, {1}).value();
    ANDIRON_MODULE(Typed, mask, index, table, scale, flags)
  };
  expect_as_burn_loads(Typed(), "typed_small.bin");
}

}  // namespace
}  // namespace andiron
