// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole modules in files: named as their own state_dict() would name them. And walks that go on for
// as long as they are let.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/format/pytorch/pickle_walk.h"
#include "tests/support/torch_file.h"

namespace andiron {
namespace {

using namespace test;

constexpr char not_in_state_dict[] = ": an attribute of a module, not part of its state_dict";

class PytorchModules : public testing::Test {
 protected:
  Py next() { return file.tensor({static_cast<float>(count++)}); }
  Py parameter() { return py::rebuild("_rebuild_parameter", {next(), true, py::ordered_dict()}); }
  Py linear() {
    return py::module("Linear", {{"weight", parameter()}, {"bias", parameter()}}, {}, {},
                      {{"in_features", 2}});
  }

  TorchFile file;
  int count = 0;
};

TEST_F(PytorchModules, GiveParametersThenBuffersThenSubmodules) {
  const Py root = py::module("Net", {{"scale", parameter()}}, {{"mean", next()}},
                             {{"fc", linear()}, {"act", py::module("ReLU", {}, {}, {})}});
  const Archive archive = file.open(root).value();
  EXPECT_EQ(names_of(archive), (Names{"scale", "mean", "fc.weight", "fc.bias"}));
  EXPECT_TRUE(archive.skipped().empty());
}

TEST_F(PytorchModules, LieUnderTheKeysOfADict) {
  const Archive archive =
      file.open(py::dict({{"epoch", 3}, {"model", linear()}, {"ema", nullptr}})).value();
  EXPECT_EQ(names_of(archive), (Names{"model.weight", "model.bias"}));
}

TEST_F(PytorchModules, LackParametersThatAreNone) {
  const Archive archive =
      file.open(py::module("Linear", {{"weight", parameter()}, {"bias", nullptr}}, {}, {})).value();
  EXPECT_EQ(names_of(archive), (Names{"weight"}));
}

TEST_F(PytorchModules, DoNotSaveAllOfTheirBuffers) {
  const py::Pairs buffers = {{"kept", next()}, {"cache", next()}, {"mask", next()}};
  const Py unsaved = py::set_of({"cache", "mask"});
  const Py of_protocol_4 = Py::raw("\x8f(" + Py("cache").code + Py("mask").code + "\x90");
  for (const Py& set : {unsaved, of_protocol_4}) {
    const Archive archive =
        file.open(py::module("Net", {}, buffers, {}, {{"_non_persistent_buffers_set", set}}))
            .value();
    EXPECT_EQ(names_of(archive), (Names{"kept"}));
    EXPECT_EQ(skipped_in(archive), (Names{"cache: a buffer that its module does not save",
                                          "mask: a buffer that its module does not save"}));
  }
}

TEST_F(PytorchModules, HaveAttributesThatTheirStateDictLacks) {
  const Py root = py::module("Net", {{"weight", parameter()}}, {}, {{"fc", linear()}},
                             {{"anchors", next()},
                              {"cache", py::dict({{"k", py::list({next()})}})},
                              {"helper", linear()},
                              {"names", py::list({"a", "b"})}});
  const Archive archive = file.open(py::dict({{"model", root}})).value();
  EXPECT_EQ(names_of(archive), (Names{"model.weight", "model.fc.weight", "model.fc.bias"}));
  EXPECT_EQ(skipped_in(archive), (Names{"model.anchors" + std::string(not_in_state_dict),
                                        "model.cache.k.0" + std::string(not_in_state_dict),
                                        "model.helper.weight" + std::string(not_in_state_dict),
                                        "model.helper.bias" + std::string(not_in_state_dict)}));
}

TEST_F(PytorchModules, MayHaveTablesThatArePlainDicts) {
  // As torch has them since 2.0.
  const Py state = py::dict({{"_parameters", py::dict({{"w", parameter()}})},
                             {"_buffers", py::dict({})},
                             {"_modules", py::dict({{"fc", linear()}})}});
  const Py root = py::with_state(py::new_object(py::global("models", "Net")), state);
  EXPECT_EQ(names_of(file.open(root).value()), (Names{"w", "fc.weight", "fc.bias"}));
}

TEST_F(PytorchModules, OfPython2HaveTheirTablesAsPairs) {
  const auto table = [](const py::Values& pairs) {
    return py::call(py::global("collections", "OrderedDict"), {py::list(pairs)});
  };
  const Py state =
      py::dict({{py::old_text("_parameters"), table({py::list({py::old_text("w"), parameter()})})},
                {py::old_text("_buffers"), table({})},
                {py::old_text("_modules"), table({})}});
  const Py root = py::with_state(py::new_object(py::global("models", "Net")), state);
  EXPECT_EQ(names_of(file.open(root).value()), (Names{"w"}));
}

TEST_F(PytorchModules, AreObjectsLikeAnyOtherWithoutTheirTables) {
  const Py state = py::dict({{"_parameters", py::dict({{"w", next()}})}, {"_modules", nullptr}});
  const Py root = py::with_state(py::new_object(py::global("models", "Net")), state);
  EXPECT_EQ(names_of(file.open(root).value()), (Names{"_parameters.w"}));
}

TEST_F(PytorchModules, ThatAreSharedAreListedForEachPlace) {
  const Py root =
      py::module("Net", {}, {}, {{"encoder", py::put(0, linear())}, {"decoder", py::get(0)}});
  const Archive archive = file.open(root).value();
  EXPECT_EQ(names_of(archive),
            (Names{"encoder.weight", "encoder.bias", "decoder.weight", "decoder.bias"}));
  EXPECT_EQ(archive.ties()[2], 0u);
  EXPECT_EQ(archive.ties()[3], 1u);
}

TEST_F(PytorchModules, ThatPointBackToTheirParentComeToAnEnd) {
  Py root = py::module("Net", {{"w", parameter()}}, {}, {{"fc", py::get(0)}});
  const std::string made = py::new_object(py::global("models", "Net")).code;
  root.code.insert(made.size(), py::put(0, Py::raw("")).code);
  EXPECT_EQ(names_of(file.open(root).value()), (Names{"w"}));
}

TEST_F(PytorchModules, OfAClassInThePickleItselfAreRead) {
  // Before 1.6, classes of modules came with their source.
  Py root = linear();
  const std::string name = py::global("models", "Linear").code;
  const Py id =
      py::persistent(py::tuple({"module", py::global("models", "Linear"), "m.py", "..."}));
  root.code.replace(0, name.size(), id.code);
  EXPECT_EQ(names_of(file.open(root).value()), (Names{"weight", "bias"}));
}

class PytorchWalk : public PytorchModules {
 protected:
  // How many tensors and skipped ones there are when no more than `repeats` steps are walked again.
  struct Walked {
    std::size_t tensors;
    std::size_t skipped;
  };
  Walked walk(const Py& root, std::uint64_t repeats) {
    OpenOptions options;
    options.limits.pickle_repeats = repeats;
    const Archive archive = file.open(root, options).value();
    for (const Skipped& skipped : archive.skipped()) {
      EXPECT_EQ(skipped.reason,
                "shared by too many names; raise Limits::pickle_repeats if you trust the file");
    }
    return {archive.size(), archive.skipped().size()};
  }
};

TEST_F(PytorchWalk, OfTenBillionNamesComesToAnEnd) {
  // Each list has the one before it ten times.
  Py laughs = py::put(0, py::list({next()}));
  for (unsigned i = 0; i < 10; ++i) {
    py::Values ten(10, py::get(i));
    ten[0] = laughs;
    laughs = py::put(i + 1, py::list(ten));
  }
  const Walked walked = walk(laughs, 1000);
  EXPECT_GT(walked.tensors, 100u);
  EXPECT_LT(walked.tensors, 1000u);
  EXPECT_GT(walked.skipped, 0u);
  EXPECT_LT(walked.skipped, 1000u);
}

TEST_F(PytorchWalk, OfWhatSeveralNamesShareIsCountedByItsSize) {
  py::Values content(100, 5);
  content[0] = next();
  const Py shared = py::put(0, py::list(content));
  const py::Values again = {shared, py::get(0), py::get(0), py::get(0)};
  EXPECT_EQ(walk(py::list(again), 303).skipped, 0u);
  EXPECT_EQ(walk(py::list(again), 302).skipped, 1u);
  EXPECT_EQ(walk(py::list(again), 0).skipped, 3u);
}

TEST_F(PytorchWalk, OfWhatHasNoTensorsHappensOnce) {
  py::Values again(1000, py::get(0));
  again[0] = py::put(0, py::list({py::dict({{"a", py::list({1, 2})}})}));
  EXPECT_EQ(walk(py::list(again), 0).skipped, 0u);
}

TEST_F(PytorchWalk, CountsTheContentThatObjectsShare) {
  py::Pairs pairs;
  for (int i = 0; i < 1000; ++i) pairs.emplace_back(i, 1);
  const Py state = py::dict(pairs);
  const Py list = py::list(py::Values(1000, 5));
  for (const char* table : {"_parameters", "_buffers", "_modules"}) {
    pairs.emplace_back(table, py::dict({}));
  }
  const Py module_state = py::dict(pairs);
  struct Case {
    const char* what;
    Py content;
    Py (*make)(const Py& content);
  };
  const Case cases[] = {
      {"a state", state,
       [](const Py& content) {
         return py::with_state(py::new_object(py::global("mine", "Thing")), content);
       }},
      {"slots", state,
       [](const Py& content) {
         return py::with_state(py::new_object(py::global("mine", "Thing")),
                               py::tuple({nullptr, content}));
       }},
      {"a set's list", list,
       [](const Py& content) { return py::call(py::global("builtins", "set"), {content}); }},
      {"a counter's dict", state,
       [](const Py& content) { return py::call(py::global("collections", "Counter"), {content}); }},
      {"an object's base", list,
       [](const Py& content) {
         return py::call(py::global("copyreg", "_reconstructor"), {1, 2, content});
       }},
      {"arguments", py::tuple(py::Values(1000, 5)),
       [](const Py& content) {
         return Py::raw(py::global("mine", "make").code + content.code + "R" +
                        py::dict({{"w", 1}}).code + "b");
       }},
      {"a table of modules", state,
       [](const Py& content) {
         return py::with_state(py::new_object(py::global("mine", "Net")),
                               py::dict({{"_parameters", content},
                                         {"_buffers", py::dict({})},
                                         {"_modules", py::dict({})}}));
       }},
      {"a module's state among arguments", module_state,
       [](const Py& content) { return py::call(py::global("mine", "Net"), {content}); }},
  };
  for (const Case& shared : cases) {
    py::Values objects = {shared.make(py::put(0, shared.content))};
    for (int i = 0; i < 5; ++i) objects.push_back(shared.make(py::get(0)));
    EXPECT_EQ(walk(py::list(objects), 1'000'000).skipped, 0u) << shared.what;
    EXPECT_EQ(walk(py::list(objects), 900).skipped, 5u) << shared.what;
  }
}

TEST_F(PytorchWalk, OfAttributesThatTensorsShareHappensOnce) {
  const Py state = py::dict({{"extra", next()}});
  const auto tensor = [&](const Py& attributes) {
    return py::rebuild("_rebuild_parameter_with_state",
                       {next(), true, py::ordered_dict(), attributes});
  };
  const Archive archive =
      file.open(py::list({tensor(py::put(0, state)), tensor(py::get(0))})).value();
  EXPECT_EQ(archive.size(), 2u);
  EXPECT_EQ(skipped_in(archive), (Names{"0.extra: an attribute of a tensor"}));
}

}  // namespace
}  // namespace andiron
