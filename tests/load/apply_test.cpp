// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "andiron/apply.h"
#include "andiron/module.h"
#include "tests/support/progress_steps.h"
#include "tests/support/sample_net.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using test::f32;
using test::fingerprint;
using test::sample_net;
using test::SampleNet;

using Names = std::vector<std::string>;

struct TwoParams {
  Param weight;
  Param bias;
  ANDIRON_MODULE(TwoParams, weight, bias)
};

TwoParams two_params() { return {Param(f32({2, 3}, 1)), Param(f32({3}, 10))}; }

TensorSnapshot named(std::string path, const Tensor& tensor) {
  return TensorSnapshot(std::move(path), tensor);
}

Snapshots list(std::initializer_list<TensorSnapshot> tensors) {
  return Snapshots(std::vector<TensorSnapshot>(tensors));
}

TEST(Apply, MovesAllTensorsOfOneModelIntoAnother) {
  const SampleNet from = sample_net(1);
  SampleNet to = sample_net(1000);
  const ApplyResult result = apply(to, collect(from).value()).value();
  EXPECT_EQ(result.applied.size(), 11U);
  EXPECT_EQ(result.applied.front(), "blocks.0.linear.weight");
  EXPECT_TRUE(result.is_success());
  EXPECT_TRUE(result.missing.empty());
  EXPECT_TRUE(result.unused.empty());
  EXPECT_EQ(fingerprint(to), fingerprint(from));
}

TEST(Apply, TakesIdsThatSnapshotsCarryAndKeepsThoseOfParametersWithout) {
  TwoParams module = two_params();
  const ParamId own = module.bias.id();
  module.weight.set_requires_grad(false);
  const Snapshots source = list(
      {named("weight", f32({2, 3}, 5)).with_param_id(ParamId{42}), named("bias", f32({3}, 5))});
  apply(module, source).value();
  EXPECT_EQ(module.weight.id(), ParamId{42});
  EXPECT_EQ(module.bias.id(), own);
  EXPECT_FALSE(module.weight.requires_grad());
  EXPECT_TRUE(module.bias.requires_grad());
}

TEST(Apply, DoesNotComputeLazyParametersThatItReplacesOrLeavesAlone) {
  int calls = 0;
  const auto init = [&calls]() -> Result<Tensor> {
    ++calls;
    return f32({3}, 0);
  };
  TwoParams module{Param(f32({2, 3}, 1)), Param::lazy(DType::f32, {3}, init)};
  ApplyOptions partial;
  partial.allow_partial = true;
  apply(module, list({named("weight", f32({2, 3}, 5))}), partial).value();
  EXPECT_FALSE(module.bias.is_initialized());
  const Snapshots misfit = list({named("bias", f32({4}, 5))});
  EXPECT_FALSE(apply(module, misfit, partial));
  EXPECT_FALSE(module.bias.is_initialized());
  apply(module, list({named("bias", f32({3}, 5))}), partial).value();
  EXPECT_EQ(module.bias.as<float>().value()[0], 5);
  EXPECT_EQ(calls, 0);
}

TEST(Apply, FillsParametersThatAreNotSetWithAnyShapeAndDtype) {
  TwoParams module;
  const Tensor integers = Tensor::from_values<std::int32_t>({2}, {1, 2}).value();
  apply(module, list({named("weight", f32({5, 1, 2}, 0)), named("bias", integers)})).value();
  EXPECT_EQ(module.weight.shape(), (Shape{5, 1, 2}));
  EXPECT_EQ(module.bias.dtype(), DType::i32);
}

TEST(Apply, ReportsMissingUnusedAndSkipped) {
  TwoParams module = two_params();
  const Snapshots source = list({named("weight", f32({2, 3}, 5)), named("extra", f32({1}, 0))});
  const Result<ApplyResult> refused = apply(module, source);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tensor);
  EXPECT_EQ(refused.error().tensor, "bias");
  ASSERT_NE(refused.error().report, nullptr);
  EXPECT_EQ(refused.error().report->missing.front().path, "bias");
  EXPECT_EQ(refused.error().report->missing.front().container.path(), "Struct:TwoParams");
  EXPECT_EQ(refused.error().report->unused, Names{"extra"});

  const ApplyResult result = apply(module, source, {.allow_partial = true}).value();
  EXPECT_EQ(result.applied, Names{"weight"});
  EXPECT_TRUE(result.is_success());
}

TEST(Apply, SkipsWhatTheFilterLeavesOutWhetherOrNotTheSourceHasIt) {
  TwoParams module = two_params();
  const PathFilter only_weight = PathFilter().with_full_path("weight");
  const ApplyResult lacking =
      apply(module, list({named("weight", f32({2, 3}, 5))}), {.filter = only_weight}).value();
  EXPECT_EQ(lacking.skipped, Names{"bias"});
  EXPECT_TRUE(lacking.missing.empty());
  const Snapshots both = list({named("weight", f32({2, 3}, 5)), named("bias", f32({3}, 9))});
  const ApplyResult having = apply(module, both, {.filter = only_weight}).value();
  EXPECT_EQ(having.skipped, Names{"bias"});
  EXPECT_TRUE(having.unused.empty());
  EXPECT_EQ(module.bias.as<float>().value()[0], 10);
}

TEST(Apply, AFilterSeesContainers) {
  SampleNet to = sample_net(1000);
  const PathFilter norms = PathFilter().with_predicate(
      [](std::string_view, const Container& container) { return container.is("LayerNorm"); });
  const ApplyResult result = apply(to, collect(sample_net(1)).value(), {.filter = norms}).value();
  EXPECT_EQ(result.applied, (Names{"blocks.0.norm.gamma", "blocks.0.norm.beta",
                                   "blocks.1.norm.gamma", "blocks.1.norm.beta"}));
}

TEST(Apply, OfTwoTensorsOfOneNameTheLaterCountsAndANoteSaysSo) {
  TwoParams module = two_params();
  Snapshots source = collect(module).value();
  source.push_back(named("bias", f32({3}, 77)));
  const ApplyResult result = apply(module, source).value();
  EXPECT_EQ(module.bias.as<float>().value()[0], 77);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_NE(result.notes.front().find("'bias'"), std::string::npos);
}

TEST(Apply, WithoutValidationLeavesOutWhatDoesNotFitAndReportsIt) {
  TwoParams module = two_params();
  const Snapshots source = list({named("weight", f32({3, 3}, 5)), named("bias", f32({3}, 9))});
  const ApplyResult result =
      apply(module, source, {.allow_partial = true, .validate = false}).value();
  EXPECT_EQ(result.applied, Names{"bias"});
  ASSERT_EQ(result.errors.size(), 1U);
  EXPECT_FALSE(result.is_success());
  EXPECT_TRUE(result.missing.empty());
  EXPECT_EQ(result.errors[0].code, ErrorCode::shape_mismatch);
  EXPECT_EQ(result.errors[0].tensor, "weight");
  EXPECT_EQ(result.errors[0].found, "[3, 3]");
  EXPECT_EQ(result.errors[0].expected, "[2, 3]");
  EXPECT_EQ(module.weight.as<float>().value()[0], 1);
  EXPECT_EQ(module.bias.as<float>().value()[0], 9);
}

TEST(Apply, WithoutValidationATensorThatCannotBeReadLeavesItsParameterAlone) {
  TwoParams module = two_params();
  auto broken = std::make_shared<test::TestSource>(std::vector<std::byte>(24));
  broken->fail_reads_past(0);
  const Snapshots source =
      list({TensorSnapshot::from_source("weight", broken, 0, 24, DType::f32, {2, 3}).value(),
            named("bias", f32({3}, 9))});
  const ApplyResult result = apply(module, source, {.validate = false}).value();
  EXPECT_EQ(result.applied, Names{"bias"});
  ASSERT_EQ(result.errors.size(), 1U);
  EXPECT_EQ(result.errors[0].code, ErrorCode::io);
  EXPECT_EQ(module.weight.as<float>().value()[0], 1);
  EXPECT_EQ(module.bias.as<float>().value()[0], 9);
}

TEST(Apply, StrictlyRefusesTensorsWithoutAPlace) {
  TwoParams module = two_params();
  Snapshots source = collect(module).value();
  source.push_back(named("extra", f32({1}, 0)));
  const Result<ApplyResult> refused = apply(module, source, {.allow_unused = false});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unused_tensor);
  EXPECT_EQ(refused.error().tensor, "extra");
}

// ---- dtypes ----

Tensor halves(Shape shape) {
  return named("", f32(std::move(shape), 1)).cast(DType::f16).value().read().value();
}

TEST(Apply, ByDefaultTakesTheDtypeOfTheSource) {
  for (const DType dtype : {DType::f64, DType::f16, DType::bf16, DType::f32}) {
    TwoParams module = two_params();
    const TensorSnapshot weight = named("weight", f32({2, 3}, 5)).cast(dtype).value();
    apply(module, list({weight}), {.allow_partial = true}).value();
    EXPECT_EQ(module.weight.dtype(), dtype);
  }
}

TEST(Apply, CastsToTheModuleWhenAskedTo) {
  TwoParams module = two_params();
  apply(module, list({named("bias", halves({3}))}),
        {.allow_partial = true, .dtype_policy = DTypePolicy::cast_to_module})
      .value();
  EXPECT_EQ(module.bias.dtype(), DType::f32);
  EXPECT_EQ(module.bias.as<float>().value()[2], 3);
}

TEST(Apply, RefusesAnotherDtypeWhenStrict) {
  TwoParams module = two_params();
  const Result<ApplyResult> refused =
      apply(module, list({named("bias", halves({3}))}),
            {.allow_partial = true, .dtype_policy = DTypePolicy::strict});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::dtype_mismatch);
  EXPECT_EQ(refused.error().found, "f16");
  EXPECT_EQ(refused.error().expected, "f32");
}

struct Kinds {
  Param number;
  Param count;
  Param flag;
  ANDIRON_MODULE(Kinds, number, count, flag)
};

Kinds kinds() {
  return {Param(f32({2}, 1)), Param(Tensor::zeros(DType::i32, {2}).value()),
          Param(Tensor::zeros(DType::boolean, {2}).value())};
}

// The dtype that a parameter has after a load, or nothing when the load is refused.
std::optional<DType> after_load(Param Kinds::* param, const std::string& path, DType source) {
  Kinds module = kinds();
  const Tensor tensor = Tensor::zeros(source, {2}).value();
  const Result<ApplyResult> result =
      apply(module, list({named(path, tensor)}), {.allow_partial = true});
  if (result) return (module.*param).dtype();
  EXPECT_EQ(result.error().code, ErrorCode::dtype_mismatch);
  return std::nullopt;
}

TEST(Apply, AFloatParameterTakesFloatsOnly) {
  for (const DType dtype : {DType::f64, DType::f16, DType::bf16, DType::f8e4m3fn}) {
    EXPECT_EQ(after_load(&Kinds::number, "number", dtype), dtype);
  }
  for (const DType dtype : {DType::i64, DType::u8, DType::boolean, DType::c64}) {
    EXPECT_EQ(after_load(&Kinds::number, "number", dtype), std::nullopt);
  }
}

TEST(Apply, AnIntegerParameterTakesIntegersInTheirOwnWidth) {
  for (const DType dtype : {DType::i64, DType::i8, DType::u8, DType::u64}) {
    EXPECT_EQ(after_load(&Kinds::count, "count", dtype), dtype);
  }
  for (const DType dtype : {DType::f32, DType::boolean}) {
    EXPECT_EQ(after_load(&Kinds::count, "count", dtype), std::nullopt);
  }
}

TEST(Apply, ABoolParameterTakesBoolsAndTheWidthsTheyAreStoredIn) {
  for (const DType dtype : {DType::boolean, DType::u8, DType::u32}) {
    EXPECT_EQ(after_load(&Kinds::flag, "flag", dtype), DType::boolean);
  }
  for (const DType dtype : {DType::i64, DType::u64, DType::i8, DType::f32}) {
    EXPECT_EQ(after_load(&Kinds::flag, "flag", dtype), std::nullopt);
  }
}

TEST(Apply, DoesNotReadDataOfAnotherKind) {
  Kinds module = kinds();
  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(16));
  const Snapshots tensors =
      list({TensorSnapshot::from_source("number", source, 0, 16, DType::i64, {2}).value()});
  EXPECT_FALSE(apply(module, tensors, {.allow_partial = true}));
  EXPECT_EQ(source->reads(), 0U);
}

// ---- where the bytes land ----

TEST(Apply, GivesParametersMemoryOfTheirOwn) {
  const TwoParams from = two_params();
  TwoParams to;
  apply(to, collect(from).value()).value();
  EXPECT_NE(to.weight.as<float>().value().data(), from.weight.as<float>().value().data());
}

TEST(Apply, BorrowsWhenAskedToAndCopiesWhenWritten) {
  const TwoParams from = two_params();
  TwoParams to;
  apply(to, collect(from).value(), {.zero_copy = true}).value();
  EXPECT_EQ(to.weight.as<float>().value().data(), from.weight.as<float>().value().data());
  to.weight.as_mutable<float>().value()[0] = -1;
  EXPECT_EQ(from.weight.as<float>().value()[0], 1);
}

TEST(Apply, CopiesBorrowedDataThatIsNotAligned) {
  const Bytes bytes = Bytes::copy(std::as_bytes(std::span("0123456789abcdef"))).value();
  const TensorSnapshot odd =
      TensorSnapshot::from_source("bias", memory_source(bytes), 1, 12, DType::f32, {3}).value();
  TwoParams to = two_params();
  apply(to, list({odd}), {.allow_partial = true, .zero_copy = true}).value();
  EXPECT_TRUE(to.bias.as<float>());
  EXPECT_EQ(to.bias.val().value().bytes().text(), "123456789abc");
}

TEST(Apply, InPlaceReusesTheMemoryThatIsThere) {
  TwoParams to = two_params();
  const float* before = to.weight.as<float>().value().data();
  Snapshots source = collect(two_params()).value();
  source[0] = source[0].with_param_id(ParamId{5});
  apply(to, source, {.in_place = true}).value();
  EXPECT_EQ(to.weight.as<float>().value().data(), before);
  EXPECT_EQ(to.weight.id(), ParamId{5});
  EXPECT_EQ(to.weight.as<float>().value()[5], 6);
  EXPECT_FALSE(to.weight.val().value().bytes().empty());
}

TEST(Apply, InPlaceLeavesCopiesAlone) {
  TwoParams to = two_params();
  const TwoParams copy = to;
  apply(to, list({named("weight", f32({2, 3}, 50))}), {.allow_partial = true, .in_place = true})
      .value();
  EXPECT_EQ(copy.weight.as<float>().value()[0], 1);
  EXPECT_EQ(to.weight.as<float>().value()[0], 50);
}

// ---- ties ----

TEST(Apply, FeedsEveryTiedPlaceWhenTheSourceHasOne) {
  for (const std::string& present : {std::string("weight"), std::string("bias")}) {
    TwoParams module{Param(f32({3}, 1)), Param()};
    tie(module.weight, module.bias);
    const ApplyResult result = apply(module, list({named(present, f32({3}, 7))})).value();
    EXPECT_EQ(result.applied, (Names{"weight", "bias"}));
    EXPECT_TRUE(result.missing.empty());
    EXPECT_EQ(module.weight.as<float>().value()[0], 7);
    EXPECT_TRUE(module.weight.is_tied_with(module.bias));
    EXPECT_EQ(result.notes.size(), 1U);
  }
}

TEST(Apply, ReadsTheTensorOfATieOnce) {
  TwoParams module{Param(f32({3}, 1)), Param()};
  tie(module.weight, module.bias);
  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(24));
  const Snapshots tensors =
      list({TensorSnapshot::from_source("weight", source, 0, 12, DType::f32, {3}).value(),
            TensorSnapshot::from_source("bias", source, 12, 12, DType::f32, {3}).value()});
  const ApplyResult result = apply(module, tensors).value();
  EXPECT_EQ(result.applied.size(), 2U);
  EXPECT_TRUE(result.unused.empty());
  EXPECT_EQ(source->bytes_read(), 12U);
}

// ---- a load that fails changes nothing ----

struct Fault {
  std::string name;
  ErrorCode code;
  std::function<void(Snapshots&, ApplyOptions&)> inject;

  friend void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }
};

class FaultyApply : public testing::TestWithParam<Fault> {};

TEST_P(FaultyApply, LeavesTheModuleAsItWas) {
  SampleNet module = sample_net(1000);
  module.blocks[0].norm.gamma =
      Param::lazy(DType::f32, {4}, []() -> Result<Tensor> { return f32({4}, -5); });
  const SampleNet twin = module;
  Snapshots source = collect(sample_net(1)).value();
  ApplyOptions options;
  GetParam().inject(source, options);
  const Result<ApplyResult> result = apply(module, source, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, GetParam().code) << result.error().to_string();
  EXPECT_FALSE(module.blocks[0].norm.gamma.is_initialized());
  EXPECT_EQ(fingerprint(module), fingerprint(twin));
}

TensorSnapshot unreadable(const TensorSnapshot& tensor) {
  auto source = std::make_shared<test::TestSource>(
      std::vector<std::byte>(static_cast<std::size_t>(tensor.byte_size())));
  source->fail_reads_past(8);
  return TensorSnapshot::from_source(tensor.full_path(), source, 0, tensor.byte_size(),
                                     tensor.dtype(), tensor.shape())
      .value();
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FaultyApply,
    testing::Values(
        Fault{"AMissingName", ErrorCode::missing_tensor,
              [](Snapshots& tensors, ApplyOptions&) { tensors[9].set_full_path("other"); }},
        Fault{"AWrongShape", ErrorCode::shape_mismatch,
              [](Snapshots& tensors, ApplyOptions&) {
                tensors[8] = tensors[8].transpose(0, 1).value();
              }},
        Fault{"AWrongKind", ErrorCode::dtype_mismatch,
              [](Snapshots& tensors, ApplyOptions&) {
                tensors[10] = tensors[10].cast(DType::f32).value();
              }},
        Fault{"AFailingReadInTheMiddle", ErrorCode::io,
              [](Snapshots& tensors, ApplyOptions&) { tensors[5] = unreadable(tensors[5]); }},
        Fault{"AFailingReadAtTheEnd", ErrorCode::io,
              [](Snapshots& tensors, ApplyOptions&) {
                tensors[10] = unreadable(tensors[10]).slice(0, 0, 1).value();
                tensors[8] = unreadable(tensors[8]);
              }},
        Fault{"ACancelAtOnce", ErrorCode::cancelled,
              [](Snapshots&, ApplyOptions& options) {
                options.progress = [](std::uint64_t, std::uint64_t) { return false; };
              }},
        Fault{"ACancelAtTheVeryEnd", ErrorCode::cancelled,
              [](Snapshots&, ApplyOptions& options) {
                options.progress = [](std::uint64_t done, std::uint64_t total) {
                  return done < total;
                };
              }},
        Fault{"TooLittleMemory", ErrorCode::out_of_memory,
              [](Snapshots&, ApplyOptions& options) { options.limits.load_bytes = 100; }},
        Fault{"ATensorWithoutAPlace", ErrorCode::unused_tensor,
              [](Snapshots& tensors, ApplyOptions& options) {
                tensors.push_back(TensorSnapshot("extra", f32({1}, 0)));
                options.allow_unused = false;
              }},
        Fault{"ABadFilter", ErrorCode::invalid_pattern,
              [](Snapshots&, ApplyOptions& options) { options.filter.with_regex("("); }},
        Fault{"ABadAdapter", ErrorCode::invalid_argument,
              [](Snapshots&, ApplyOptions& options) {
                options.adapter = FloatCastAdapter::to(DType::i32);
              }}),
    testing::PrintToStringParamName());

TEST(Apply, AFailureLeavesEveryKindOfLeafAndTiesAsTheyWere) {
  test::SampleHolders module = test::sample_holders(1);
  module.tied.set_requires_grad(false);
  const std::string before = fingerprint(module);
  Snapshots source = collect(test::sample_holders(100)).value();
  // The last leaf refuses its tensor after all others were made.
  source[4] = named("buffer", f32({2}, 20'000));
  const Result<ApplyResult> result = apply(module, source);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(result.error().tensor, "buffer");
  EXPECT_EQ(fingerprint(module), before);
  EXPECT_TRUE(module.tied.is_tied_with(module.tied_too));
  EXPECT_FALSE(module.tied.requires_grad());
  source[4] = named("buffer", f32({2}, 7));
  EXPECT_EQ(apply(module, source).value().applied.size(), 5U);
  EXPECT_EQ(module.buffer.values[0], 7);
  EXPECT_EQ(module.tied_too.as<float>().value()[0], 120);
  EXPECT_TRUE(module.tied.is_tied_with(module.tied_too));
}

TEST(Apply, ALeafOfOneDtypeTakesAnotherOnlyByCasting) {
  test::SampleHolders module = test::sample_holders(1);
  const Snapshots halves_for_buffer = list({named("buffer", halves({2}))});
  const auto load = [&](DTypePolicy policy) {
    return apply(module, halves_for_buffer, {.allow_partial = true, .dtype_policy = policy});
  };
  EXPECT_EQ(load(DTypePolicy::from_file).error().code, ErrorCode::dtype_mismatch);
  EXPECT_EQ(load(DTypePolicy::strict).error().code, ErrorCode::dtype_mismatch);
  EXPECT_TRUE(load(DTypePolicy::cast_to_module));
  EXPECT_EQ(module.buffer.values, (std::vector<float>{1, 2}));
}

TEST(Apply, TheReportOfALoadThatStoppedClaimsNothing) {
  TwoParams module = two_params();
  ApplyOptions options;
  options.progress = [](std::uint64_t done, std::uint64_t total) { return done < total; };
  const Result<ApplyResult> stopped = apply(module, collect(two_params()).value(), options);
  ASSERT_NE(stopped.error().report, nullptr);
  EXPECT_TRUE(stopped.error().report->applied.empty());
  EXPECT_NE(stopped.error().report->notes.front().find("changed nothing"), std::string::npos);
  options.in_place = true;
  const Result<ApplyResult> half_way = apply(module, collect(two_params()).value(), options);
  EXPECT_EQ(half_way.error().report->applied, Names{"weight"});
}

TEST(Apply, TheMemoryLimitCountsWhatIsTaken) {
  ApplyOptions options;
  options.limits.load_bytes = 8;
  TwoParams module;
  const Snapshots source = collect(two_params()).value();
  const Result<ApplyResult> refused = apply(module, source, options);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(refused.error().hint,
            "raise Limits::load_bytes, or load fewer tensors with a filter; "
            ".zero_copy(true) may borrow some instead");
  ASSERT_NE(refused.error().report, nullptr);
  options.zero_copy = true;  // nothing is taken
  EXPECT_TRUE(apply(module, source, options));
  options.dtype_policy = DTypePolicy::cast_to_module;
  TwoParams wide{Param(Tensor::zeros(DType::f64, {2, 3}).value()),
                 Param(Tensor::zeros(DType::f64, {3}).value())};
  EXPECT_EQ(apply(wide, source, options).error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(apply(wide, source, options).error().hint,
            "raise Limits::load_bytes, or load fewer tensors with a filter");
  options = {};
  options.limits.load_bytes = 8;
  options.in_place = true;  // their own memory is used
  TwoParams set = two_params();
  EXPECT_TRUE(apply(set, source, options));
}

TEST(Apply, OfTwoTensorsForATieTheFirstIsTakenAndANoteSaysSo) {
  TwoParams module{Param(f32({3}, 1)), Param()};
  tie(module.weight, module.bias);
  const Snapshots source =
      list({named("weight", f32({3}, 7)),
            named("bias", f32({3}, 9)).cast(DType::f16).value().with_path("bias")});
  const Plan planned = plan(module, source).value();
  EXPECT_EQ(planned.tensors[1].sources, Names{"weight"});
  EXPECT_EQ(planned.tensors[1].dtype, DType::f32);
  const ApplyResult result = apply(module, source).value();
  EXPECT_EQ(module.bias.as<float>().value()[0], 7);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_NE(result.notes[0].find("'bias' is tied to 'weight'"), std::string::npos);
  EXPECT_TRUE(result.unused.empty());
}

TEST(Apply, ATieThatTheFilterLeavesOutChangesAllTheSameAndANoteSaysSo) {
  TwoParams module{Param(f32({3}, 1)), Param()};
  tie(module.weight, module.bias);
  const ApplyResult result = apply(module, list({named("weight", f32({3}, 7))}),
                                   {.filter = PathFilter().with_full_path("weight")})
                                 .value();
  EXPECT_EQ(result.skipped, Names{"bias"});
  ASSERT_EQ(result.notes.size(), 1U);
}

TEST(Apply, RefusesAModuleWithTwoParametersOfOnePath) {
  std::map<std::string, std::map<std::string, Param>> keys_with_dots;
  keys_with_dots["a.b"]["c"] = Param(f32({1}, 1));
  keys_with_dots["a"]["b.c"] = Param(f32({1}, 2));
  EXPECT_EQ(andiron::apply(keys_with_dots, list({named("a.b.c", f32({1}, 3))})).error().code,
            ErrorCode::name_collision);
  EXPECT_EQ(collect(keys_with_dots).error().code, ErrorCode::name_collision);
}

TEST(Apply, GivesAParameterThatWasMovedFromAnIdOfItsOwn) {
  TwoParams module = two_params();
  const Param elsewhere = std::move(module.weight);
  const Param too = std::move(module.bias);
  apply(module, collect(two_params(), {.adapter = IdentityAdapter()}).value()).value();
  EXPECT_NE(module.weight.id(), module.bias.id());
  apply(module, list({named("weight", f32({2, 3}, 1))}), {.allow_partial = true}).value();
}

TEST(Apply, InPlaceAFailureLeavesTheTensorsBeforeItReplaced) {
  SampleNet module = sample_net(1000);
  Snapshots source = collect(sample_net(1)).value();
  source[5] = unreadable(source[5]);
  const Result<ApplyResult> result = apply(module, source, {.in_place = true});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().hint,
            "'" + source[5].full_path() +
                "' is half written (in_place); the tensors before it are already replaced "
                "(in_place)");
  EXPECT_EQ(module.blocks[0].linear.weight.as<float>().value()[0], 1);
  EXPECT_EQ(module.head.weight.as<float>().value()[0], 1200);
}

TEST(Apply, TellsItsProgressInBytes) {
  TwoParams to;
  std::vector<std::uint64_t> done;
  ApplyOptions options;
  options.limits.window_bytes = 16;
  options.progress = test::steps_into(done, 36);
  apply(to, collect(two_params()).value(), options).value();
  EXPECT_EQ(done, (std::vector<std::uint64_t>{16, 24, 36}));
  EXPECT_EQ(to.weight.as<float>().value()[5], 6);
}

// std::apply is found by the arguments, too, where the model is a standard container.
TEST(Apply, TakesModelsThatAreStandardContainers) {
  using namespace std;  // NOLINT(google-build-using-namespace): as users do
  vector<Param> numbered(2);
  tuple<Param, Param> pair;
  map<string, Param> named = {{"0", Param()}, {"1", Param()}};
  Snapshots tensors;
  tensors.push_back(TensorSnapshot("0", Tensor::from_values<float>({1}, {1}).value()));
  tensors.push_back(TensorSnapshot("1", Tensor::from_values<float>({1}, {2}).value()));
  const Archive archive = to_archive(tensors).value();
  EXPECT_TRUE(apply(numbered, tensors).ok());
  EXPECT_TRUE(apply(pair, archive).ok());
  EXPECT_TRUE(apply(named, archive, {.allow_partial = true}).ok());
  EXPECT_EQ(get<1>(pair).at<float>({0}).value(), 2);
  EXPECT_EQ(numbered[1].at<float>({0}).value(), 2);
}

}  // namespace
}  // namespace andiron
