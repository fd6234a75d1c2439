// SPDX-License-Identifier: MIT OR Apache-2.0
// TorchScript archives: which of their tensors state_dict() would give.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/codec/pickle/machine.h"
#include "src/format/pytorch/script_classes.h"
#include "tests/support/torch_containers.h"
#include "tests/support/zip_reading.h"

namespace andiron::test {
namespace {

using Floats = std::vector<float>;

constexpr char net_code[] = R"(class Net(Module):
  __parameters__ = ["p", "tied", ]
  __buffers__ = ["kept", ]
  p : Tensor
  training : bool
  sub : __torch__.torch.nn.modules.linear.Linear
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    return torch.add(x, 1)
class Box:
  t : Tensor
)";

constexpr char linear_code[] = R"(class Linear(Module):
  __parameters__ = ["weight", "bias", ]
  __buffers__ = []
  weight : Tensor
  def forward(self: __torch__.torch.nn.modules.linear.Linear,
    input: Tensor) -> Tensor:
    weight = self.weight
    return weight
)";

Py number(int value) {
  return torch_tensor({.shape = {1}, .key = std::to_string(value), .elements = 1});
}

Py script_object(const std::string& module, const std::string& name, const py::Pairs& attributes) {
  return py::with_state(py::new_object(py::global(module, name)), py::dict(attributes));
}

Py linear(const py::Pairs& attributes) {
  return script_object("__torch__.torch.nn.modules.linear", "Linear", attributes);
}

// The archive of a program: `attributes` are those of its Net; storage N holds the number N.
std::string script_file(const py::Pairs& attributes, const Py& constants = py::tuple({}),
                        bool with_code = true) {
  Storages storages;
  for (int i = 0; i < 10; ++i) {
    storages.emplace_back(std::to_string(i), memory_of<float>({static_cast<float>(i)}));
  }
  std::vector<ZipItem> items =
      torch_records(script_object("__torch__", "Net", attributes), storages, "net/");
  if (with_code) {
    items.push_back({.name = "net/code/__torch__.py", .content = net_code, .deflate = true});
    items.push_back({.name = "net/code/__torch__/torch/nn/modules/linear.py",
                     .content = linear_code,
                     .deflate = true});
  }
  items.push_back(torch_item("net/constants/0", memory_of<float>({9})));
  items.push_back(torch_item("net/constants.pkl", py::pickle(constants)));
  return zip_file(items);
}

TEST(ScriptClasses, AreReadFromTheirLists) {
  const auto classes = detail::script_classes_in(net_code, {"Net", "Box", "Other"});
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_TRUE(classes.at("Net").is_module);
  EXPECT_EQ(classes.at("Net").tensors, (std::set<std::string, std::less<>>{"p", "tied", "kept"}));
  EXPECT_FALSE(classes.at("Box").is_module);
  EXPECT_TRUE(classes.at("Box").tensors.empty());
}

TEST(ScriptClasses, OnlyThoseThatAreWantedAreKept) {
  const auto classes = detail::script_classes_in(net_code, {"Box"});
  ASSERT_EQ(classes.size(), 1u);
  EXPECT_TRUE(classes.at("Box").tensors.empty());
}

TEST(ScriptClasses, CodeThatSaysNothingGivesNothing) {
  const auto classes_in = [](std::string_view code) {
    return detail::script_classes_in(code, {"A", ""});
  };
  for (const char* code : {"", "\n\n", "def f(x):\n  return x\n", "  __parameters__ = [\"p\"]\n",
                           "class", "import torch"}) {
    EXPECT_TRUE(classes_in(code).empty()) << code;
  }
  const auto broken = classes_in("class A(Module):\n  __parameters__ = [\"a\", \"b");
  EXPECT_EQ(broken.at("A").tensors, (std::set<std::string, std::less<>>{"a"}));
  EXPECT_TRUE(classes_in("class A").contains("A"));
  EXPECT_FALSE(classes_in("class A(NamedTuple):\n").at("A").is_module);
  // What a method has is no list of the class.
  EXPECT_TRUE(
      classes_in("class A(Module):\n    __parameters__ = [\"a\"]\n").at("A").tensors.empty());
}

// The code of a model is small: what is beyond 16 MiB in all is not looked at, nor is what fails.
TEST(ScriptClasses, CodeBeyondReasonIsLeftAlone) {
  const std::string long_code = net_code + std::string(9 << 20, '\n');
  const auto script = [](const std::string& module) { return script_object(module, "Net", {}); };
  const Py object = py::list({script("__torch__.a"), script("__torch__.b"), script("__torch__.c"),
                              script("__torch__.d"), script("__torch__/a"), script("other")});
  const Bytes pickle = bytes_of_text(py::pickle(object));
  const auto graph = detail::read_pickle(*memory_source(pickle), 0, pickle.size(), {}).value();
  const auto zip =
      open_zip(zip_file({{.name = "code/__torch__/a.py", .content = long_code, .deflate = true},
                         {.name = "code/__torch__/b.py", .content = long_code, .deflate = true},
                         {.name = "code/__torch__/c.py", .content = net_code},
                         {.name = "code/__torch__/d.py", .content = net_code, .local = {.crc = 1}},
                         {.name = "code/other.py", .content = net_code}}));
  detail::MemoryBudget budget(0, {.memory_bytes = std::uint64_t{1} << 30}, "test.pt");
  const auto classes = detail::ScriptClasses::read(*zip, "", graph, budget).value();
  EXPECT_NE(classes.find({"__torch__.a", "Net"}), nullptr);
  EXPECT_EQ(classes.find({"__torch__.a", "Box"}), nullptr) << "the pickle does not name it";
  EXPECT_EQ(classes.find({"__torch__.b", "Net"}), nullptr) << "no room for it";
  EXPECT_NE(classes.find({"__torch__.c", "Net"}), nullptr);
  EXPECT_EQ(classes.find({"__torch__.d", "Net"}), nullptr) << "it is damaged";
  EXPECT_EQ(classes.find({"__torch__/a", "Net"}), nullptr);
  EXPECT_EQ(classes.find({"other", "Net"}), nullptr);
}

TEST(PytorchTorchScript, GivesParametersAndBuffersOfItsModules) {
  const Archive archive =
      open_text(script_file({{"p", number(1)},
                             {"tied", number(1)},
                             {"kept", number(2)},
                             {"training", true},
                             {"n", 5},
                             {"sub", linear({{"weight", number(3)}, {"bias", nullptr}})}}))
          .value();
  EXPECT_EQ(archive.format(), "pytorch");
  EXPECT_EQ(archive.packaging(), "torchscript");
  EXPECT_EQ(names_of(archive), (Names{"p", "tied", "kept", "sub.weight"}));
  EXPECT_EQ(floats(archive, "sub.weight"), Floats{3});
  EXPECT_EQ(archive.ties()[1], std::optional<std::size_t>(0));
  EXPECT_TRUE(archive.skipped().empty());
  EXPECT_EQ(*archive.value()->find("n")->get<std::int64_t>(), 5);
}

TEST(PytorchTorchScript, OtherTensorsOfAModuleAreSkippedWithAReason) {
  const Py typed_list =
      py::call(py::global("torch.jit._pickle", "build_tensorlist"), {py::list({number(4)})});
  const Py typed_dict = py::call(py::global("torch.jit._pickle", "restore_type_tag"),
                                 {py::dict({{"a", number(5)}}), "Dict[str, Tensor]"});
  const Archive archive =
      open_text(script_file({{"p", number(1)},
                             {"plain", number(2)},
                             {"pair", py::tuple({number(3), 2})},
                             {"list", typed_list},
                             {"dict", typed_dict},
                             {"box", script_object("__torch__", "Box", {{"t", number(6)}})}}))
          .value();
  EXPECT_EQ(names_of(archive), Names{"p"});
  for (const char* name : {"plain", "pair.0", "list.0", "dict.a", "box.t"}) {
    EXPECT_NE(reason_for(archive, name).find("state_dict"), std::string::npos) << name;
  }
}

TEST(PytorchTorchScript, ConstantsOfTheProgramAreSkipped) {
  const Py constants = py::tuple({torch_tensor({.shape = {1}, .elements = 1}), 7,
                                  torch_tensor({.shape = {1}, .elements = 1})});
  const Archive archive = open_text(script_file({{"p", number(1)}}, constants)).value();
  EXPECT_EQ(names_of(archive), Names{"p"});
  ASSERT_EQ(archive.skipped().size(), 2u);
  EXPECT_NE(reason_for(archive, "constants.0").find("constant"), std::string::npos);
  EXPECT_NE(reason_for(archive, "constants.2").find("constant"), std::string::npos);
}

TEST(PytorchTorchScript, OfManyConstantsTheFirstAreNamed) {
  const Py constants = py::tuple(py::Values(1500, torch_tensor({.shape = {1}, .elements = 1})));
  const Archive archive = open_text(script_file({{"p", number(1)}}, constants)).value();
  EXPECT_EQ(archive.skipped().size(), 1001u);
  EXPECT_EQ(archive.skipped().back().reason, "500 more constants of the program");
}

TEST(PytorchTorchScript, BrokenConstantsDoNotHideTheWeights) {
  std::vector<ZipItem> items = torch_records(script_object("__torch__", "Net", {{"p", number(1)}}),
                                             {{"1", memory_of<float>({1})}}, "net/");
  items.push_back(torch_item("net/constants.pkl", "\x80\x02"));
  const Archive archive = open_text(zip_file(items)).value();
  EXPECT_EQ(floats(archive, "p"), Floats{1});
  EXPECT_FALSE(reason_for(archive, "constants").empty());
}

TEST(PytorchTorchScript, WithoutCodeAllTensorsAreGiven) {
  const Archive archive =
      open_text(script_file({{"p", number(1)}, {"plain", number(2)}}, py::tuple({}), false))
          .value();
  EXPECT_EQ(names_of(archive), (Names{"p", "plain"}));
}

TEST(PytorchTorchScript, AClassThatTheCodeDoesNotHaveIsWalkedByItsAttributes) {
  const Py other = script_object("__torch__.___torch_mangle_5", "Other", {{"w", number(4)}});
  const Archive archive = open_text(script_file({{"p", number(1)}, {"sub", other}})).value();
  EXPECT_EQ(names_of(archive), (Names{"p", "sub.w"}));
}

TEST(PytorchTorchScript, AStateThatIsNoDictGivesTensorsByIndex) {
  const Py packed =
      py::with_state(py::new_object(py::global("__torch__.torch.nn.modules.linear", "Linear")),
                     py::tuple({number(3), number(4), true}));
  const Archive archive = open_text(script_file({{"p", number(1)}, {"packed", packed}})).value();
  EXPECT_EQ(names_of(archive), (Names{"p", "packed.0", "packed.1"}));
}

TEST(PytorchTorchScript, CodeThatCannotBeInflatedIsAsGoodAsNone) {
  std::vector<ZipItem> items =
      torch_records(script_object("__torch__", "Net", {{"plain", number(1)}}),
                    {{"1", memory_of<float>({1})}}, "net/");
  items.push_back({.name = "net/code/__torch__.py",
                   .content = net_code,
                   .deflate = true,
                   .stored = std::string("\xff\xff")});
  items.push_back(torch_item("net/constants.pkl", py::pickle(py::tuple({}))));
  EXPECT_EQ(names_of(open_text(zip_file(items)).value()), Names{"plain"});
}

}  // namespace
}  // namespace andiron::test
