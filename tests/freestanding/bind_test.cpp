// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/bind.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "andiron/write.h"
#include "src/freestanding/copy_elements.h"
#include "tests/support/archive_writing.h"
#include "tests/support/burnpack_writing.h"
#include "tests/support/safetensors_file.h"

namespace andiron {
namespace {

using test::archive_of;
using test::for_release;
using test::safetensors_file;

struct Linear {
  TensorView<float, 2, 3> weight;
  TensorView<float, 2> bias;
  ANDIRON_MODULE(Linear, weight, bias)
};

struct Net {
  std::array<Linear, 2> blocks;
  Linear tails[1];
  TensorView<std::int64_t> steps;
  int heads = 4;
  Constant<std::array<int, 2>> table = {};
  ANDIRON_MODULE(Net, blocks, heads, table, tails, steps)
};

Tensor counting(Shape shape, float first) {
  std::vector<float> values(shape.element_count().value());
  for (float& value : values) value = first++;
  return Tensor::from_values<float>(std::move(shape), values).value();
}

Tensor steps() { return Tensor::from_values<std::int64_t>({}, {77}).value(); }

Archive net_archive() {
  return archive_of({{"blocks.0.weight", counting({2, 3}, 0)},
                     {"blocks.0.bias", counting({2}, 10)},
                     {"blocks.1.weight", counting({2, 3}, 20)},
                     {"blocks.1.bias", counting({2}, 30)},
                     {"tails.0.weight", counting({2, 3}, 40)},
                     {"tails.0.bias", counting({2}, 50)},
                     {"steps", steps()}});
}

// A file in memory of its own, at an address that suits every type.
class FileInMemory {
 public:
  explicit FileInMemory(const std::string& bytes, std::size_t shift = 0)
      : memory_((bytes.size() + shift) / 8 + 1), shift_(shift), size_(bytes.size()) {
    std::memcpy(reinterpret_cast<char*>(memory_.data()) + shift, bytes.data(), bytes.size());
  }
  std::span<const std::byte> span() const {
    return std::as_bytes(std::span(memory_)).subspan(shift_, size_);
  }

 private:
  std::vector<std::uint64_t> memory_;
  std::size_t shift_;
  std::size_t size_;
};

SafetensorsView safetensors_in(const FileInMemory& file) {
  SafetensorsView view;
  const ViewStatus status = SafetensorsView::open(file.span(), view);
  EXPECT_TRUE(status.ok()) << status.what;
  return view;
}

BurnpackView burnpack_in(const FileInMemory& file) {
  BurnpackView view;
  const ViewStatus status = BurnpackView::open(file.span(), view);
  EXPECT_TRUE(status.ok()) << status.what;
  return view;
}

FileInMemory as_safetensors(const Archive& archive) {
  return FileInMemory(test::written(archive, {}));
}
FileInMemory as_burnpack(const Archive& archive) {
  return FileInMemory(test::written(archive, for_release()));
}

std::string text_of(const BindResult& result) {
  char text[400];
  return std::string(result.describe(text));
}

bool is_inside(const void* data, const FileInMemory& file) {
  const auto* at = static_cast<const std::byte*>(data);
  return at >= file.span().data() && at < file.span().data() + file.span().size();
}

void expect_bound(const Net& net, const FileInMemory& file) {
  EXPECT_EQ(net.blocks[0].weight(1, 2), 5);
  EXPECT_EQ(net.blocks[0].weight[3], 3);
  EXPECT_EQ(net.blocks[1].weight(0, 1), 21);
  EXPECT_EQ(net.blocks[1].bias[1], 31);
  EXPECT_EQ(net.tails[0].bias.elements()[0], 50);
  EXPECT_EQ(net.steps[0], 77);
  EXPECT_EQ(net.steps.size(), 1u);
  EXPECT_TRUE(net.steps.shape().empty());
  EXPECT_TRUE(is_inside(net.blocks[0].weight.data(), file));
  EXPECT_TRUE(is_inside(net.steps.data(), file));
}

TEST(Bind, PointsTheFieldsAtTheBytesOfEitherFormat) {
  const FileInMemory safetensors = as_safetensors(net_archive());
  Net net;
  BindResult result = bind(net, safetensors_in(safetensors));
  ASSERT_TRUE(result.ok()) << text_of(result);
  EXPECT_EQ(result.bound, 7u);
  EXPECT_EQ(result.unused, 0u);
  EXPECT_EQ(result.arena_bytes, 0u);
  expect_bound(net, safetensors);

  const FileInMemory burnpack = as_burnpack(net_archive());
  result = bind(net, burnpack_in(burnpack));
  ASSERT_TRUE(result.ok()) << text_of(result);
  expect_bound(net, burnpack);
}

TEST(Bind, IsPreferredToStdBindForAnArray) {
  const FileInMemory memory =
      as_burnpack(archive_of({{"0", counting({2}, 1)}, {"1", counting({2}, 3)}}));
  BurnpackView file = burnpack_in(memory);
  std::array<TensorView<float, 2>, 2> model;
  const BindResult result = bind(model, file);
  ASSERT_TRUE(result.ok()) << text_of(result);
  EXPECT_EQ(model[1][1], 4);
}

TEST(Bind, AViewIsOnePointerAndTheResultIsOfFixedSize) {
  EXPECT_EQ(sizeof(TensorView<float, 2, 3>), sizeof(void*));
  EXPECT_EQ(sizeof(Linear), 2 * sizeof(void*));
  EXPECT_LE(sizeof(BindResult), 320u);
}

TEST(Bind, CountsTensorsWithoutAField) {
  Archive archive = net_archive();
  archive.add({"blocks.0.weights", counting({1}, 0)}).value();
  archive.add({"blocks.0", counting({1}, 0)}).value();
  archive.add({"blocks.00.bias", counting({1}, 0)}).value();
  archive.add({"blocks.2.bias", counting({1}, 0)}).value();
  archive.add({"blocks.0.bias.more", counting({1}, 0)}).value();
  archive.add({"heads", counting({1}, 0)}).value();
  archive.add({"b", counting({1}, 0)}).value();
  archive.add({"", counting({1}, 0)}).value();
  const FileInMemory file = as_safetensors(archive);
  Net net;
  const BindResult result = bind(net, safetensors_in(file));
  EXPECT_TRUE(result.ok()) << text_of(result);
  EXPECT_EQ(result.unused, 8u);
  EXPECT_EQ(result.bound, 7u);
}

TEST(Bind, SaysWhatIsMissing) {
  Archive archive = archive_of({{"blocks.0.weight", counting({2, 3}, 0)}});
  const FileInMemory file = as_safetensors(archive);
  Net net;
  BindResult result = bind(net, safetensors_in(file));
  EXPECT_EQ(result.code, ErrorCode::missing_tensor);
  EXPECT_STREQ(result.path, "blocks.0.bias");
  EXPECT_EQ(result.missing, 6u);
  EXPECT_EQ(result.bound, 0u);
  EXPECT_EQ(text_of(result), "blocks.0.bias: the file does not have it (missing: 6, misfits: 0)");
  EXPECT_FALSE(net.blocks[0].weight.is_bound());

  result = bind(net, safetensors_in(file), {.allow_partial = true});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.missing, 6u);
  EXPECT_EQ(result.bound, 1u);
  EXPECT_TRUE(net.blocks[0].weight.is_bound());
  EXPECT_FALSE(net.blocks[0].bias.is_bound());
}

TEST(Bind, SaysWhichShapeAndDTypeDoNotFit) {
  struct Small {
    Linear layer;
    ANDIRON_MODULE(Small, layer)
  };
  const FileInMemory shape = as_burnpack(
      archive_of({{"layer.weight", counting({3, 2}, 0)}, {"layer.bias", counting({2, 1}, 0)}}));
  Small net;
  BindResult result = bind(net, burnpack_in(shape));
  EXPECT_EQ(result.code, ErrorCode::shape_mismatch);
  EXPECT_EQ(result.misfits, 2u);
  EXPECT_EQ(result.missing, 0u);
  EXPECT_EQ(text_of(result),
            "layer.bias: the shape is another: found f32 [2, 1], expected f32 [2] (missing: 0, "
            "misfits: 2)");
  EXPECT_FALSE(net.layer.weight.is_bound());

  const FileInMemory dtype = as_safetensors(archive_of(
      {{"layer.weight", test::filled(DType::f64, {2, 3})}, {"layer.bias", counting({2}, 0)}}));
  result = bind(net, safetensors_in(dtype), {.allow_partial = true});
  EXPECT_EQ(result.code, ErrorCode::dtype_mismatch);
  EXPECT_EQ(text_of(result),
            "layer.weight: the dtype is another: found f64 [2, 3], expected f32 [2, 3]");
  EXPECT_EQ(result.offset, 9u);
  EXPECT_FALSE(net.layer.bias.is_bound());
}

TEST(Bind, AnErrorThatIsTooLongIsCutOff) {
  const FileInMemory file = as_safetensors(Archive());
  Net net;
  const BindResult result = bind(net, safetensors_in(file));
  char text[10];
  EXPECT_EQ(result.describe(text), "blocks.0.w");
  EXPECT_EQ(result.describe({}), "");
}

TEST(Bind, ATensorThatComesTwiceIsAnError) {
  struct One {
    TensorView<std::uint8_t, 2> a;
    ANDIRON_MODULE(One, a)
  };
  const std::string entry = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  const FileInMemory file(safetensors_file("{" + entry + "," + entry + "}", 2));
  One net;
  const BindResult result = bind(net, safetensors_in(file));
  EXPECT_EQ(result.code, ErrorCode::duplicate_key);
  EXPECT_EQ(text_of(result), "a: the name comes twice");
  EXPECT_FALSE(net.a.is_bound());
}

TEST(Bind, NamesAreComparedDecoded) {
  struct One {
    TensorView<std::uint8_t, 2> weight;
    ANDIRON_MODULE(One, weight)
  };
  const auto file_with = [](const std::string& name) {
    return FileInMemory(safetensors_file(
        "{\"" + name + R"(":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2));
  };
  One net;
  const FileInMemory escaped = file_with("w\\u0065ight");
  EXPECT_TRUE(bind(net, safetensors_in(escaped)).ok());
  const FileInMemory long_name = file_with("w\\u0065ight" + std::string(300, 'x'));
  EXPECT_EQ(bind(net, safetensors_in(long_name)).code, ErrorCode::limit_exceeded);
}

struct Wide {
  TensorView<float, 2, 2> half;
  TensorView<float, 3> brain;
  ANDIRON_MODULE(Wide, half, brain)
};

Archive half_archive() {
  const auto f16 = [](double value) { return to_float16(value); };
  return archive_of(
      {{"half", Tensor::from_values<Float16>({2, 2}, {f16(1.5), f16(-0.25), f16(65504), f16(6e-8)})
                    .value()},
       {"brain",
        Tensor::from_values<BFloat16>({3}, {to_bfloat16(1), to_bfloat16(-3.5), to_bfloat16(1e38)})
            .value()}});
}

TEST(Bind, WidensHalfPrecisionInTheArena) {
  const FileInMemory file = as_burnpack(half_archive());
  Wide net;
  alignas(8) std::byte arena[28];
  const BindResult result = bind(net, burnpack_in(file), {.arena = arena});
  ASSERT_TRUE(result.ok()) << text_of(result);
  EXPECT_EQ(result.arena_bytes, 28u);
  EXPECT_EQ(net.half(0, 0), 1.5f);
  EXPECT_EQ(net.half(0, 1), -0.25f);
  EXPECT_EQ(net.half(1, 0), 65504.f);
  EXPECT_EQ(net.half(1, 1), to_float(to_float16(6e-8)));
  EXPECT_EQ(net.brain[1], -3.5f);
  EXPECT_EQ(net.brain[2], to_float(to_bfloat16(1e38)));
}

TEST(Bind, SaysHowLargeTheArenaMustBe) {
  const FileInMemory file = as_burnpack(half_archive());
  Wide net;
  BindResult result = bind(net, burnpack_in(file));
  EXPECT_EQ(result.code, ErrorCode::out_of_memory);
  EXPECT_EQ(result.arena_bytes, 28u);
  EXPECT_EQ(text_of(result), "brain: a wider type needs an arena: it needs 28 bytes");
  alignas(8) std::byte arena[27];
  result = bind(net, burnpack_in(file), {.arena = arena});
  EXPECT_EQ(result.code, ErrorCode::out_of_memory);
  EXPECT_EQ(result.arena_bytes, 28u);
  EXPECT_EQ(result.misfits, 0u);
  EXPECT_EQ(result.missing, 0u);
  EXPECT_EQ(text_of(result), "half: the arena is too small: it needs 28 bytes");
  EXPECT_FALSE(net.brain.is_bound());
}

TEST(Bind, EveryHalfBecomesTheFloatOfTheSameValue) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float wide = std::bit_cast<float>(detail::f32_bits_of_f16(bits));
    const double exact = decode_float(DType::f16, bits);
    if (std::isnan(exact)) {
      ASSERT_TRUE(std::isnan(wide)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide),
                std::bit_cast<std::uint32_t>(static_cast<float>(exact)))
          << bits;
    }
  }
}

TEST(Bind, TransposesIntoTheArena) {
  struct Turned {
    Transposed<float, 3, 2> weight;
    Transposed<float, 2, 2> half;
    ANDIRON_MODULE(Turned, weight, half)
  };
  Archive archive = archive_of({{"weight", counting({2, 3}, 0)}});
  archive.add({"half", half_archive().snapshot(0).read().value()}).value();
  const FileInMemory file = as_safetensors(archive);
  Turned net;
  alignas(8) std::byte arena[40];
  BindResult result = bind(net, safetensors_in(file), {.arena = arena});
  ASSERT_TRUE(result.ok()) << text_of(result);
  EXPECT_EQ(result.arena_bytes, 40u);
  EXPECT_EQ(net.weight(2, 0), 2);
  EXPECT_EQ(net.weight(0, 1), 3);
  EXPECT_EQ(net.half(0, 1), 65504.f);
  EXPECT_EQ(text_of(bind(net, safetensors_in(file))),
            "weight: a transposed field needs an arena: it needs 40 bytes");

  const FileInMemory other = as_safetensors(archive_of({{"weight", counting({3, 2}, 0)}}));
  EXPECT_EQ(text_of(bind(net, safetensors_in(other), {.arena = arena})),
            "weight: the shape is another: found f32 [3, 2], expected f32 [2, 3] (missing: 1, "
            "misfits: 1)");
}

TEST(Bind, CopiesMisalignedDataIntoTheArena) {
  const FileInMemory file(test::written(net_archive(), {}), 1);
  Net net;
  BindResult result = bind(net, safetensors_in(file));
  EXPECT_EQ(result.code, ErrorCode::misaligned);
  EXPECT_EQ(result.arena_bytes, 104u);
  EXPECT_EQ(text_of(result), "steps: misaligned data needs an arena: it needs 104 bytes");
  alignas(8) std::byte arena[104];
  result = bind(net, safetensors_in(file), {.arena = arena});
  ASSERT_TRUE(result.ok()) << text_of(result);
  EXPECT_EQ(net.blocks[1].weight(1, 2), 25);
  EXPECT_EQ(net.steps[0], 77);
}

TEST(Bind, ChecksBooleans) {
  struct One {
    TensorView<bool, 2> mask;
    ANDIRON_MODULE(One, mask)
  };
  const std::string header = R"({"mask":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
  One net;
  const FileInMemory right(safetensors_file(header, std::string_view("\1\0", 2)));
  EXPECT_TRUE(bind(net, safetensors_in(right)).ok());
  EXPECT_TRUE(net.mask[0]);
  const FileInMemory wrong(safetensors_file(header, "\1\2"));
  EXPECT_EQ(bind(net, safetensors_in(wrong)).code, ErrorCode::value_mismatch);
}

TEST(Bind, AViewOfAnyShapeTellsItsShape) {
  struct Any {
    TensorView<float> matrix;
    TensorView<float> nothing;
    ANDIRON_MODULE(Any, matrix, nothing)
  };
  const FileInMemory file = as_safetensors(
      archive_of({{"matrix", counting({2, 3}, 0)}, {"nothing", counting({0, 4}, 0)}}));
  Any net;
  EXPECT_TRUE(net.matrix.elements().empty());
  const BindResult result = bind(net, safetensors_in(file));
  ASSERT_TRUE(result.ok()) << text_of(result);
  EXPECT_EQ(net.matrix.shape().size(), 2u);
  EXPECT_EQ(net.matrix.size(), 6u);
  EXPECT_EQ(net.nothing.size(), 0u);

  const FileInMemory deep = as_safetensors(
      archive_of({{"matrix", counting({1, 1, 1, 1, 1, 1, 1}, 0)}, {"nothing", counting({0}, 0)}}));
  EXPECT_EQ(text_of(bind(net, safetensors_in(deep), {})),
            "matrix: the shape is another: found f32 [1, 1, 1, 1, 1, 1, ...], expected f32 []");
}

TEST(Bind, AViewCanLookAtNumbersOfTheProgram) {
  static constexpr float numbers[2] = {1, 2};
  Linear layer;
  layer.bias = TensorView<float, 2>(numbers);
  EXPECT_EQ(layer.bias.data(), numbers);
}

// Whatever the file, each view is unbound or its elements can be read.
void expect_safe(const FileInMemory& file) {
  const auto read = [](const Net& net, const BindResult& result) {
    if (!result.ok()) {
      EXPECT_FALSE(text_of(result).empty());
      EXPECT_FALSE(net.steps.is_bound() || net.tails[0].bias.is_bound());
      return;
    }
    float sum = 0;
    for (const Linear& layer : {net.blocks[0], net.blocks[1], net.tails[0]}) {
      for (const float x : layer.weight.elements()) sum += x;
      for (const float x : layer.bias.elements()) sum += x;
    }
    for (const std::int64_t x : net.steps.elements()) sum += static_cast<float>(x);
    volatile float kept = sum;  // all elements were read
    static_cast<void>(kept);
  };
  alignas(8) std::byte arena[64];
  Net net;
  SafetensorsView safetensors;
  if (SafetensorsView::open(file.span(), safetensors).ok()) {
    read(net, bind(net, safetensors, {.arena = arena}));
  }
  BurnpackView burnpack;
  if (BurnpackView::open(file.span(), burnpack).ok()) {
    read(net, bind(net, burnpack, {.arena = arena}));
  }
}

TEST(Bind, TruncatedAndFlippedFilesGiveErrorsOrWholeModels) {
  for (const WriteOptions& options : {WriteOptions(), for_release()}) {
    const std::string whole = test::written(net_archive(), options);
    for (std::size_t size = 0; size < whole.size(); size += 3) {
      expect_safe(FileInMemory(whole.substr(0, size)));
    }
    for (std::size_t i = 0; i < whole.size() && i < 1000; ++i) {
      for (const int bit : {0, 2, 5, 7}) {
        std::string flipped = whole;
        flipped[i] = static_cast<char>(flipped[i] ^ 1 << bit);
        expect_safe(FileInMemory(flipped));
      }
    }
  }
}

}  // namespace
}  // namespace andiron
