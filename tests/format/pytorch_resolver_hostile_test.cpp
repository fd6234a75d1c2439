// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that cannot be: each is refused with its name and a reason.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "src/format/pytorch/tensor_resolver.h"
#include "tests/support/torch_containers.h"

namespace andiron {
namespace {

using test::six;

using namespace test;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

class HostileTensor : public testing::Test {
 protected:
  // What is said of a tensor "t".
  Error refusal(const Py& value, const OpenOptions& options = {}) {
    const Result<Archive> result =
        file.open(py::dict({{"ok", file.tensor({1})}, {"t", value}}), options);
    EXPECT_FALSE(result);
    if (result) return Error{.message = "accepted"};
    EXPECT_EQ(result.error().tensor, "t");
    EXPECT_EQ(result.error().file, "test.pt");
    return result.error();
  }
  ErrorCode code(const Py& value) { return refusal(value).code; }
  std::string message(const Py& value) {
    const Error error = refusal(value);
    EXPECT_EQ(error.code, ErrorCode::bad_pickle);
    return error.message;
  }

  // A tensor of a storage with six numbers.
  Py view(const Py& offset, const Py& size, const Py& stride) {
    return py::rebuild("_rebuild_tensor", {file.storage(six), offset, size, stride});
  }
  // A tensor whose storage has this id.
  static Py of_storage(const py::Values& id) {
    return py::rebuild("_rebuild_tensor",
                       {py::persistent(py::tuple(id)), 0, py::sizes({6}), py::sizes({1})});
  }

  TorchFile file;
};

TEST_F(HostileTensor, WithTooFewArguments) {
  const std::string lacks = "a tensor lacks its storage, offset, size or stride";
  py::Values args = {file.storage(six), 0, py::sizes({6}), py::sizes({1})};
  for (std::size_t count = 0; count < 4; ++count) {
    const py::Values some(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(count));
    EXPECT_EQ(message(py::rebuild("_rebuild_tensor", some)), lacks);
    EXPECT_EQ(message(py::rebuild("_rebuild_tensor_v2", some)), lacks);
    EXPECT_EQ(message(py::rebuild("_rebuild_tensor_v3", some)), "a tensor has no dtype");
    EXPECT_EQ(message(py::rebuild("_rebuild_qtensor", some)), lacks);
  }
  EXPECT_EQ(message(py::rebuild("_rebuild_tensor_v3",
                                {args[0], 0, args[2], args[3], false, nullptr, "float32"})),
            "a tensor has no dtype");
  EXPECT_EQ(message(py::rebuild("_rebuild_parameter", {})), "a parameter has no tensor");
  EXPECT_EQ(message(py::rebuild("_rebuild_parameter", {5})),
            "a parameter is not made from a tensor");
  EXPECT_EQ(message(py::rebuild("_rebuild_device_tensor_from_numpy", {})), "a tensor has no array");
  EXPECT_EQ(message(py::rebuild("_rebuild_device_tensor_from_numpy", {py::list({1.0})})),
            "a tensor is not made from an array");
  EXPECT_EQ(message(py::call(py::global("torch._tensor", "_rebuild_from_type_v2"),
                             {py::global("torch._utils", "_rebuild_tensor_v2")})),
            "a tensor subclass has no arguments");
}

TEST_F(HostileTensor, WithArgumentsThatAreNoTuple) {
  // Such calls are made by TorchScript alone, for enums.
  const Py call = Py::raw(py::global("torch._utils", "_rebuild_tensor_v2").code + Py(5).code + "R");
  EXPECT_EQ(code(call), ErrorCode::bad_pickle);
}

TEST_F(HostileTensor, WithoutAStorage) {
  for (const Py& storage : {Py(nullptr), Py("0"), py::list({}), py::dict({})}) {
    EXPECT_EQ(message(py::rebuild("_rebuild_tensor", {storage, 0, py::sizes({6}), py::sizes({1})})),
              "a tensor has no storage");
  }
}

TEST_F(HostileTensor, WithAStorageThatIsNotThere) {
  for (const char* key : {"99", "../data/0", "", "0/../0", "/etc/passwd"}) {
    const Error error =
        refusal(py::rebuild_tensor_v2(py::storage("FloatStorage", key, 6), 0, {6}, {1}));
    EXPECT_EQ(error.code, ErrorCode::missing_storage) << key;
    EXPECT_EQ(error.found, "no record 'archive/data/" + std::string(key) + "'");
  }
}

TEST_F(HostileTensor, WithAStorageOfAnotherSize) {
  const std::string content = memory_of(six);
  for (const std::int64_t elements : {std::int64_t{5}, std::int64_t{7}, std::int64_t{0}, largest}) {
    const Error error = refusal(
        py::rebuild_tensor_v2(file.storage("FloatStorage", content, elements), 0, {1}, {1}));
    EXPECT_EQ(error.code, ErrorCode::size_mismatch);
    EXPECT_EQ(error.expected, std::to_string(elements) + " elements of float32");
    EXPECT_TRUE(error.found.starts_with("24 bytes for storage")) << error.found;
  }
}

TEST_F(HostileTensor, WithAStorageThatIsNamedWrong) {
  const Py kind = py::global("torch", "FloatStorage");
  const std::string names_none = "a persistent id does not name a storage";
  EXPECT_EQ(message(of_storage({"storage", kind, "0", "cpu"})), names_none);
  EXPECT_EQ(message(of_storage({"module", kind, "0", "cpu", 6})), names_none);
  EXPECT_EQ(message(of_storage({})), names_none);
  EXPECT_EQ(message(of_storage({"storage", kind, "0", "cpu", -6})), "a storage has no size");
  EXPECT_EQ(message(of_storage({"storage", kind, "0", "cpu", 6.0})), "a storage has no size");
  EXPECT_EQ(
      message(of_storage({"storage", kind, "0", "cpu", py::big_integer(std::string(9, '\x01'))})),
      "a storage has no size");
  EXPECT_EQ(message(of_storage({"storage", "FloatStorage", "0", "cpu", 6})),
            "a storage of an unknown class");
  const Error unknown = refusal(of_storage({"storage", py::global("os", "system"), "0", "cpu", 6}));
  EXPECT_EQ(unknown.message, "a storage of an unknown class");
  EXPECT_EQ(unknown.found, "os.system");
  EXPECT_EQ(message(py::rebuild("_rebuild_tensor",
                                {py::persistent("0"), 0, py::sizes({6}), py::sizes({1})})),
            "a storage id is not a tuple");
}

TEST_F(HostileTensor, WithSizesThatAreNone) {
  const std::string no_tuple = "the size or stride of a tensor is not a tuple";
  const std::string no_size = "a tensor has an invalid dimension";
  EXPECT_EQ(message(view(0, nullptr, py::sizes({1}))), no_tuple);
  EXPECT_EQ(message(view(0, py::sizes({6}), 1)), no_tuple);
  EXPECT_EQ(message(view(-1, py::sizes({6}), py::sizes({1}))), no_tuple);
  EXPECT_EQ(message(view("0", py::sizes({6}), py::sizes({1}))), no_tuple);
  EXPECT_EQ(message(view(0, py::sizes({-6}), py::sizes({1}))), no_size);
  EXPECT_EQ(message(view(0, py::tuple({6.0}), py::sizes({1}))), no_size);
  EXPECT_EQ(message(view(0, py::sizes({6}), py::tuple({"1"}))), no_size);
  const Py huge = py::tuple({py::big_integer(std::string(9, '\x01'))});
  EXPECT_EQ(message(view(0, huge, py::sizes({1}))), no_size);
}

TEST_F(HostileTensor, WithAnotherNumberOfStridesThanOfSizes) {
  EXPECT_EQ(message(view(0, py::sizes({2, 3}), py::sizes({1}))),
            "a tensor has 2 dimensions and 1 strides");
  EXPECT_EQ(message(view(0, py::sizes({}), py::sizes({1}))),
            "a tensor has 0 dimensions and 1 strides");
  const std::vector<std::int64_t> many(65, 1);
  EXPECT_EQ(message(view(0, py::sizes(many), py::sizes(many))),
            "a tensor has 65 dimensions and 65 strides");
}

TEST_F(HostileTensor, ThatLeavesItsStorage) {
  EXPECT_EQ(code(view(0, py::sizes({7}), py::sizes({1}))), ErrorCode::bad_offsets);
  EXPECT_EQ(code(view(1, py::sizes({6}), py::sizes({1}))), ErrorCode::bad_offsets);
  EXPECT_EQ(code(view(0, py::sizes({2, 3}), py::sizes({4, 1}))), ErrorCode::bad_offsets);
  EXPECT_EQ(code(view(6, py::sizes({}), py::sizes({}))), ErrorCode::bad_offsets);
  EXPECT_EQ(code(view(largest, py::sizes({1}), py::sizes({1}))), ErrorCode::bad_offsets);
  EXPECT_EQ(code(view(0, py::sizes({largest}), py::sizes({1}))), ErrorCode::bad_offsets);
  EXPECT_EQ(code(view(0, py::sizes({largest, largest}), py::sizes({0, 0}))),
            ErrorCode::bad_offsets);
  EXPECT_EQ(code(view(0, py::sizes({2, 2}), py::sizes({largest, largest}))),
            ErrorCode::bad_offsets);
  EXPECT_EQ(message(view(5, py::sizes({6}), py::sizes({-1}))), "a tensor has a negative stride");
}

TEST_F(HostileTensor, ThatRepeatsItsDataTooOften) {
  OpenOptions options;
  options.limits.expanded_bytes = 1 << 20;
  const Py repeated = view(0, py::sizes({1 << 20}), py::sizes({0}));
  const Error error = refusal(repeated, options);
  EXPECT_EQ(error.code, ErrorCode::limit_exceeded);
  EXPECT_EQ(error.found, "4194304 bytes from a storage of 24");
  EXPECT_EQ(error.hint, "raise Limits::expanded_bytes if you trust the file");
  EXPECT_EQ(code(view(0, py::sizes({1 << 15, 1 << 15, 1 << 15}), py::sizes({0, 0, 0}))),
            ErrorCode::limit_exceeded);
  // Of which the bits do not fit 64 bits.
  const Py endless = view(0, py::sizes({std::int64_t{1} << 61}), py::sizes({0}));
  EXPECT_EQ(code(endless), ErrorCode::limit_exceeded);
  options.strictness = Strictness::lenient;
  const Archive without = file.open(py::list({repeated, endless}), options).value();
  EXPECT_TRUE(without.empty());
  ASSERT_EQ(without.skipped().size(), 2u);
  for (const Skipped& skipped : without.skipped()) {
    EXPECT_TRUE(skipped.reason.starts_with("the tensor repeats its data too often"));
  }
  options.limits.expanded_bytes = 4 << 20;
  EXPECT_TRUE(file.open(repeated, options));
}

TEST_F(HostileTensor, ThatIsFilledLikeAListOrADict) {
  const std::string filled = "a tensor is filled like a list or a dict";
  EXPECT_EQ(message(py::with_pairs(file.tensor({1}), {{"a", 1}})), filled);
  EXPECT_EQ(message(py::with_items(file.tensor({1}), {1})), filled);
  EXPECT_EQ(message(py::with_pairs(py::rebuild("_rebuild_parameter", {file.tensor({1})}),
                                   {{"a", 1}, {"b", 2}})),
            filled);
}

TEST_F(HostileTensor, WhoseBitsAreADictWithoutEnd) {
  py::Pairs many;
  for (int i = 0; i < 1000; ++i) many.emplace_back(i, true);
  EXPECT_EQ(
      message(py::rebuild("_rebuild_tensor_v2", {file.storage(six), 0, py::sizes({6}),
                                                 py::sizes({1}), false, nullptr, py::dict(many)})),
      "a tensor has too many metadata bits");
}

TEST_F(HostileTensor, ThatIsWrappedTooDeeply) {
  Py tensor = file.tensor({1});
  for (int i = 0; i < 100; ++i) tensor = py::rebuild("_rebuild_parameter", {tensor, true, nullptr});
  EXPECT_EQ(message(tensor), "tensors are wrapped too deeply");
  Py typed = py::tuple({file.storage(six), 0, py::sizes({6}), py::sizes({1})});
  Py function = py::global("torch._utils", "_rebuild_tensor");
  const Py from_type = py::global("torch._tensor", "_rebuild_from_type_v2");
  for (int i = 0; i < 100; ++i) {
    typed = py::tuple({function, py::global("mine", "Special"), typed, nullptr});
    function = from_type;
  }
  EXPECT_EQ(message(Py::raw(from_type.code + typed.code + "R")), "tensors are wrapped too deeply");
}

TEST_F(HostileTensor, ThatWrapsItself) {
  // The list of arguments is a part of what it makes.
  const Py self = Py::raw(py::put(0, py::call(py::global("torch.nn.parameter", "Parameter"))).code +
                          py::tuple({py::get(0)}).code + "b");
  EXPECT_EQ(message(self), "tensors are wrapped too deeply");
}

TEST_F(HostileTensor, WithBytesThatAreNoFile) {
  const Py load = py::global("torch.storage", "_load_from_bytes");
  const auto of = [&](const py::Values& args) {
    return py::rebuild_tensor_v2(py::call(load, args), 0, {1}, {1});
  };
  EXPECT_EQ(message(of({})), "a storage has no bytes");
  EXPECT_EQ(message(of({5})), "a storage has no bytes");
  EXPECT_EQ(code(of({py::encoded_bytes("")})), ErrorCode::bad_pickle);
  EXPECT_EQ(code(of({py::encoded_bytes("no pickle")})), ErrorCode::bad_pickle);
  EXPECT_EQ(message(of({py::encoded_bytes(py::pickle(5))})),
            "not a PyTorch file: the magic number is missing");
  EXPECT_EQ(message(of({py::encoded_bytes(legacy_file(py::dict({}), {}))})),
            "bytes in a pickle do not contain a storage");
}

TEST_F(HostileTensor, OfAViewThatLeavesItsStorage) {
  const auto opened = [](const Py& view) {
    const Py tensor = torch_tensor({.shape = {1}, .elements = 6, .storage_view = view});
    return open_text(legacy_file(tensor, {{"0", memory_of(six)}}));
  };
  EXPECT_TRUE(opened(py::tuple({"v", 5, 1})));
  for (const Py& view :
       {py::tuple({"v", 6, 1}), py::tuple({"v", 0, 7}), py::tuple({"v", largest, largest}),
        py::tuple({"v", -1, 1}), py::tuple({"v", 0}), Py(5)}) {
    expect_refused(opened(view), ErrorCode::bad_pickle);
  }
}

TEST_F(HostileTensor, IsPassedOverInALenientReading) {
  const Archive archive = file.open(py::dict({{"bad", view(0, py::sizes({7}), py::sizes({1}))},
                                              {"good", file.tensor({1})}}),
                                    {.strictness = Strictness::lenient})
                              .value();
  EXPECT_EQ(names_of(archive), (Names{"good"}));
  ASSERT_EQ(archive.skipped().size(), 1u);
  EXPECT_EQ(archive.skipped()[0].name, "bad");
  EXPECT_NE(archive.skipped()[0].reason.find("the tensor extends past its storage"),
            std::string::npos);
  ASSERT_NE(archive.value()->find("bad"), nullptr);
  EXPECT_TRUE(archive.value()->find("bad")->is_null());
}

TEST_F(HostileTensor, OfAnUnknownTypeIsRefusedInAStrictReading) {
  const Py bits = py::rebuild_tensor_v2(file.storage("Bits8Storage", "x", 1), 0, {1}, {1});
  EXPECT_EQ(refusal(bits, {.strictness = Strictness::strict}).code, ErrorCode::unsupported_dtype);
  EXPECT_EQ(file.open(bits).value().snapshot(0).dtype_text(), "raw:bits8");
}

TEST_F(HostileTensor, WithoutElementsButWithASizeBeyondSixtyFourBits) {
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(code(view(0, py::tuple({huge, huge, 0}), py::tuple({1, 1, 1}))), ErrorCode::overflow);
}

// Four parts each, level below level, would be four to the power of the levels.
TEST_F(HostileTensor, WhosePartsHaveParts) {
  const Py plain = file.tensor({1});
  const Py inner = py::rebuild("_rebuild_nested_tensor", {plain, plain, plain, plain});
  const Py outer = py::rebuild("_rebuild_nested_tensor", {inner, plain, plain, plain});
  EXPECT_EQ(message(outer), "a part of a tensor has parts itself");
}

TEST_F(HostileTensor, IsNotMadeByReinterpretingAStorage) {
  // The same record under another type: the bytes are the same, if there are as many.
  const Py floats = file.storage(six);
  const Archive archive =
      file.open(py::list({py::rebuild_tensor_v2(floats, 0, {6}, {1}),
                          py::rebuild_tensor_v2(py::storage("IntStorage", "0", 6), 0, {6}, {1})}))
          .value();
  EXPECT_EQ(archive.info(1).dtype, DType::i32);
  EXPECT_EQ(archive.ties()[1], std::nullopt);
  EXPECT_EQ(code(py::rebuild_tensor_v2(py::storage("LongStorage", "0", 6), 0, {6}, {1})),
            ErrorCode::size_mismatch);
}

}  // namespace
}  // namespace andiron
