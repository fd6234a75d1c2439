// SPDX-License-Identifier: MIT OR Apache-2.0
// Every builder and every operation, on each store and from each source. What a combination cannot
// mean is an error, and which one is said here.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/nn/linear.h"
#include "andiron/open.h"
#include "andiron/stores.h"
#include "andiron/write.h"
#include "tests/support/param_numbers.h"
#include "tests/support/sample_net.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_containers.h"

namespace andiron {
namespace {

using test::f32;
using test::numbers;
using Names = std::vector<std::string>;

// Fed by a.weight and b.weight, of shape [2], in every format.
struct Part {
  Param weight = Param(f32({2}, 0));
  ANDIRON_MODULE(Part, weight)
};
struct Parts {
  Part a;
  Part b;
  ANDIRON_MODULE(Parts, a, b)
};

Parts saved_parts() {
  Parts parts;
  parts.a.weight = Param(f32({2}, 1));
  parts.b.weight = Param(f32({2}, 11));
  return parts;
}

// What a file of PyTorch's looks like that has the same tensors.
Bytes torch_bytes() {
  using namespace test;
  std::string storages;
  for (const float value : {1.0F, 2.0F, 11.0F, 12.0F}) {
    storages.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  const auto tensor = [](const char* key) {
    return torch_tensor({.shape = {2}, .key = key, .elements = 2});
  };
  const Py object = py::dict({{"a.weight", tensor("0")}, {"b.weight", tensor("1")}});
  return Bytes::own(
      zip_file(torch_records(object, {{"0", storages.substr(0, 8)}, {"1", storages.substr(8)}})));
}

template <class S>
Bytes file_bytes() {
  if constexpr (std::is_same_v<S, PytorchStore>) {
    return torch_bytes();
  } else {
    S store;
    save_into(saved_parts(), store).value();
    return store.get_bytes().value();
  }
}

template <class S>
std::string extension() {
  if constexpr (std::is_same_v<S, SafetensorsStore>) return ".safetensors";
  if constexpr (std::is_same_v<S, PytorchStore>) return ".pt";
  if constexpr (std::is_same_v<S, BurnpackStore>) return ".bpk";
  if constexpr (std::is_same_v<S, MpkStore>) return ".mpk";
  return ".npz";
}

template <class S>
class EveryStore : public testing::Test {
 protected:
  // The same model from each source that a store can have, by name.
  std::map<std::string, S> sources() {
    const std::string path = dir_.file("model" + extension<S>());
    const std::span<const std::byte> all = bytes_.span();
    test::write_file(path, {reinterpret_cast<const char*>(all.data()), all.size()});
    return {{"file", S::from_file(path)},
            {"memory", S::from_bytes(bytes_)},
            {"static", S::from_static(bytes_.span())},
            {"files", S::from_files(memory_files({{"model" + extension<S>(), bytes_}}))}};
  }

  static void expect_loaded(Parts& parts, const ApplyResult& result) {
    EXPECT_EQ(result.applied, (Names{"a.weight", "b.weight"}));
    EXPECT_EQ(numbers(parts.a.weight), (std::vector<float>{1, 2}));
    EXPECT_EQ(numbers(parts.b.weight), (std::vector<float>{11, 12}));
  }

  test::TempDir dir_;
  Bytes bytes_ = file_bytes<S>();
};

using Stores = testing::Types<SafetensorsStore, PytorchStore, BurnpackStore, MpkStore, NumpyStore>;
TYPED_TEST_SUITE(EveryStore, Stores);

TYPED_TEST(EveryStore, ReadsFromEverySource) {
  for (auto& [source, store] : this->sources()) {
    SCOPED_TRACE(source);
    EXPECT_TRUE(store.status());
    EXPECT_EQ(store.keys().value(), (Names{"a.weight", "b.weight"}));
    EXPECT_EQ(store.get_snapshot("b.weight").value()->shape(), Shape({2}));
    EXPECT_FALSE(store.get_snapshot("c").value());
    EXPECT_EQ(store.get_all_snapshots().value().size(), 2u);
    EXPECT_EQ(store.archive().value().size(), 2u);
    EXPECT_EQ(store.file().value().size(), 2u);
    EXPECT_EQ(store.key_map().value().tensors.size(), 2u);
    EXPECT_TRUE(store.get_metadata());
    EXPECT_FALSE(store.suggest_top_level_key().value());
    EXPECT_EQ(store.path().empty(), source != "file");
    EXPECT_EQ(store.get_bytes().ok(), source == "memory" || source == "static");
    Parts parts;
    EXPECT_EQ(plan(parts, store).value().tensors.size(), 2u);
    EXPECT_EQ(key_map(parts, store).value().tensors.size(), 2u);
    EXPECT_TRUE(choose_variants(parts, store).value().empty());
    EXPECT_TRUE(grow_to_fit(parts, store).value().empty());
    this->expect_loaded(parts, load_from(parts, store).value());
  }
}

TYPED_TEST(EveryStore, SettingsThatChangeNothingHereLoadTheSame) {
  using S = TypeParam;
  const std::vector<std::pair<const char*, std::function<void(S&)>>> settings = {
      {"match_all", [](S& s) { s.match_all(); }},
      {"map_indices_contiguous", [](S& s) { s.map_indices_contiguous(true); }},
      {"except", [](S& s) { s.map_indices_contiguous(true).map_indices_contiguous_except("a"); }},
      {"skip_enum_variants", [](S& s) { s.skip_enum_variants(true); }},
      {"choose_variants", [](S& s) { s.choose_variants(false); }},
      {"fold_weight_norm", [](S& s) { s.fold_weight_norm(true); }},
      {"split_tensors", [](S& s) { s.split_tensors("qkv", {"q", "k", "v"}); }},
      {"join_tensors", [](S& s) { s.join_tensors("q", {"k", "v"}, "qkv"); }},
      {"transpose_tensors", [](S& s) { s.transpose_tensors("c_fc"); }},
      {"with_from_adapter", [](S& s) { s.with_from_adapter(PyTorchToBurnAdapter()); }},
      {"with_to_adapter", [](S& s) { s.with_to_adapter(BurnToPyTorchAdapter()); }},
      {"strict dtypes", [](S& s) { s.dtype_policy(DTypePolicy::strict); }},
      {"zero_copy", [](S& s) { s.zero_copy(true); }},
      {"in_place", [](S& s) { s.in_place(true); }},
      {"allow_partial", [](S& s) { s.allow_partial(true); }},
      {"validate", [](S& s) { s.validate(false); }},
      {"allow_unused", [](S& s) { s.allow_unused(false); }},
      {"progress", [](S& s) { s.progress([](auto, auto) { return true; }); }},
      {"limits", [](S& s) { s.limits(Limits()); }},
      {"io", [](S& s) { s.io(IoMode::pread); }},
      {"strictness", [](S& s) { s.strictness(Strictness::lenient); }},
      {"verify", [](S& s) { s.verify(true); }},
      {"auto_extension", [](S& s) { s.auto_extension(true); }},
      {"write settings", [](S& s) {
         s.metadata("k", "v").overwrite(true).sync(false).write_ties_once(true).max_shard_bytes(9);
       }}};
  for (const auto& [name, set] : settings) {
    for (auto& [source, store] : this->sources()) {
      SCOPED_TRACE(std::string(name) + " " + source);
      set(store);
      Parts parts;
      const Result<ApplyResult> result = load_from(parts, store);
      ASSERT_TRUE(result) << result.error().to_string();
      this->expect_loaded(parts, *result);
    }
  }
}

TYPED_TEST(EveryStore, FiltersSelectParameters) {
  using S = TypeParam;
  const PathFilter::Predicate is_b = [](std::string_view path, const Container&) {
    return path.starts_with("b");
  };
  const PathFilter::Predicate is_a = [](std::string_view path, const Container&) {
    return path.starts_with("a");
  };
  const std::vector<std::pair<const char*, std::function<void(S&)>>> filters = {
      {"filter", [](S& s) { s.filter(PathFilter().with_glob("b.*")); }},
      {"with_regex", [](S& s) { s.with_regex("^b"); }},
      {"with_regexes", [](S& s) { s.with_regexes({"^b", "^c"}); }},
      {"with_glob", [](S& s) { s.with_glob("b.**"); }},
      {"with_full_path", [](S& s) { s.with_full_path("b.weight"); }},
      {"with_full_paths", [](S& s) { s.with_full_paths({"b.weight"}); }},
      {"with_predicate", [&](S& s) { s.with_predicate(is_b); }},
      {"with_predicates", [&](S& s) { s.with_predicates({is_b}); }},
      {"exclude_regex", [](S& s) { s.exclude_regex("^a"); }},
      {"exclude_full_path", [](S& s) { s.exclude_full_path("a.weight"); }},
      {"exclude_predicate", [&](S& s) { s.exclude_predicate(is_a); }},
      {"exclude_glob", [](S& s) { s.exclude_glob("a.*"); }}};
  for (const auto& [name, set] : filters) {
    for (auto& [source, store] : this->sources()) {
      SCOPED_TRACE(std::string(name) + " " + source);
      set(store);
      Parts parts;
      EXPECT_EQ(load_from(parts, store).value().applied, Names{"b.weight"});
    }
  }
}

TYPED_TEST(EveryStore, NamesAreChangedBeforeTheyAreMatched) {
  struct Renamed {
    Part one;
    ANDIRON_MODULE(Renamed, one)
  };
  for (auto& [source, store] : this->sources()) {
    SCOPED_TRACE(source);
    Renamed by_rule;
    EXPECT_EQ(load_from(by_rule, TypeParam(store).with_key_remapping("^a", "one")).value().unused,
              Names{"b.weight"});
    Renamed by_remapper;
    EXPECT_TRUE(load_from(by_remapper,
                          TypeParam(store).remap(KeyRemapper::from_patterns({{"^b", "one"}}))));
    EXPECT_EQ(numbers(by_remapper.one.weight), (std::vector<float>{11, 12}));
    Part below;
    EXPECT_TRUE(load_from(below, TypeParam(store).with_top_level_key("b")));
    EXPECT_EQ(numbers(below.weight), (std::vector<float>{11, 12}));
    EXPECT_EQ(load_from(below, TypeParam(store).with_top_level_key("c")).error().code,
              ErrorCode::missing_tensor);
  }
}

TYPED_TEST(EveryStore, BadArgumentsAreReportedByEveryOperation) {
  for (auto& [source, store] : this->sources()) {
    SCOPED_TRACE(source);
    Parts parts;
    for (TypeParam bad : {TypeParam(store).with_regex("("), TypeParam(store).exclude_regex("("),
                          TypeParam(store).with_key_remapping("(", ""),
                          TypeParam(store).map_indices_contiguous_except("(")}) {
      EXPECT_EQ(bad.status().error().code, ErrorCode::invalid_pattern);
      EXPECT_EQ(bad.keys().error().code, ErrorCode::invalid_pattern);
      EXPECT_EQ(load_from(parts, bad).error().code, ErrorCode::invalid_pattern);
      EXPECT_FALSE(save_into(parts, bad));
    }
  }
}

TYPED_TEST(EveryStore, SavesWhereItCan) {
  constexpr bool is_pytorch = std::is_same_v<TypeParam, PytorchStore>;
  for (auto& [source, store] : this->sources()) {
    SCOPED_TRACE(source);
    TypeParam target = TypeParam(store).overwrite(true).sync(false);
    const Result<WriteReport> report = save_into(saved_parts(), target);
    if (is_pytorch || source == "files") {
      // PyTorch's files are not written, and a set of files is for loads.
      EXPECT_EQ(report.error().code, ErrorCode::unsupported);
      continue;
    }
    ASSERT_TRUE(report) << report.error().to_string();
    Parts parts;
    this->expect_loaded(parts, load_from(parts, target).value());
    if (source == "file") {
      EXPECT_EQ(save_into(saved_parts(), TypeParam(store)).error().code, ErrorCode::already_exists);
    }
  }
}

TYPED_TEST(EveryStore, OnlySafetensorsHasShards) {
  if constexpr (!std::is_same_v<TypeParam, PytorchStore>) {
    auto sharded = TypeParam::from_file(this->dir_.file("sharded" + extension<TypeParam>()))
                       .max_shard_bytes(8);
    const Result<WriteReport> report = save_into(saved_parts(), sharded);
    if constexpr (std::is_same_v<TypeParam, SafetensorsStore>) {
      EXPECT_EQ(report.value().files.size(), 3u);
      Parts parts;
      this->expect_loaded(parts, load_from(parts, sharded).value());
      // Shards need names, which memory does not have.
      EXPECT_EQ(save_into(saved_parts(), SafetensorsStore().max_shard_bytes(8)).error().code,
                ErrorCode::invalid_argument);
    } else {
      EXPECT_EQ(report.error().code, ErrorCode::unsupported);
    }
  }
}

TYPED_TEST(EveryStore, IsABasisForASave) {
  for (auto& [source, store] : this->sources()) {
    SCOPED_TRACE(source);
    Parts parts;
    load_from(parts, store).value();
    SafetensorsStore saved = SafetensorsStore().based_on(store);
    const Result<WriteReport> report = save_into(parts, saved);
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(saved.keys().value(), (Names{"a.weight", "b.weight"}));
    if (std::is_same_v<TypeParam, PytorchStore>) {
      EXPECT_EQ(saved.get_metadata().value(), (Metadata{{"format", "pt"}}));
      for (const Message& note : report->notes) {
        EXPECT_EQ(note.find("top_level_key"), std::string::npos) << note;
      }
    }
  }
}

}  // namespace
}  // namespace andiron
