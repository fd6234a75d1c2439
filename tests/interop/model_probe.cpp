// SPDX-License-Identifier: MIT OR Apache-2.0
// Typed models as a program, for comparison with burn-store. The model and the commands are those
// of burn/src, and so are the answers, in JSON.
//
//   collect [--skip-enum-variants]   the parameters of the model, in the order of its fields
//   save FILE [options]              the model with values in it
//   load FILE [options]              into a model of zeros: what happened, and what it holds then
//   keys FILE [options]              the names in a file
//
// The store is told by the file's extension: .safetensors, or any that BurnpackStore takes.
// Options: --pytorch, --half, --skip-enum-variants, --contiguous, --remap FROM TO, --regex RE,
// --linear (the parameters of linear layers), --partial, --no-validate, --metadata KEY VALUE.
// A save without a store, for older releases of Burn: --release 0.19|0.20|... for Burnpack,
// --precision full|half|double for records.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/module.h"
#include "andiron/nn/activation.h"
#include "andiron/nn/conv.h"
#include "andiron/nn/embedding.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/sha256.h"
#include "andiron/stores.h"
#include "andiron/value.h"
#include "andiron/write.h"

namespace {

namespace nn = andiron::nn;
using andiron::Case;
using andiron::DType;
using andiron::Param;
using andiron::Result;
using andiron::Snapshots;
using andiron::Tensor;
using andiron::TensorSnapshot;
using andiron::Value;
using andiron::ValueDict;
using andiron::ValueList;

struct Layer : std::variant<Case<"Convolution", nn::Conv1d>, Case<"Dense", nn::Linear>> {
  using variant::variant;
};

struct Inner {
  nn::LayerNorm norm;
  Param scale;
  ANDIRON_MODULE(Inner, norm, scale)
};

struct Block {
  Inner inner;
  nn::Linear out;
  ANDIRON_MODULE(Block, inner, out)
};

template <class M>
struct Wrapper {
  M inner;
  ANDIRON_MODULE(Wrapper, inner)
};

Param zeros(DType dtype, andiron::Shape shape) {
  return Tensor::zeros(dtype, std::move(shape)).value();
}

nn::Linear make_linear(std::uint64_t inputs, std::uint64_t outputs) {
  return nn::LinearConfig(inputs, outputs).init();
}

nn::Conv1d make_conv1d() { return nn::Conv1dConfig(2, 3, 3).init(); }

struct Zoo {
  nn::Linear linear = make_linear(3, 4);
  nn::Linear linear_plain = nn::LinearConfig(4, 2).with_bias(false).init();
  nn::Conv1d conv1d = make_conv1d();
  nn::Conv2d conv2d = nn::Conv2dConfig({2, 4}, {3, 2}).with_groups(2).init();
  nn::ConvTranspose1d conv_transpose1d = nn::ConvTranspose1dConfig({2, 3}, 4).init();
  nn::ConvTranspose2d conv_transpose2d =
      nn::ConvTranspose2dConfig({2, 3}, {2, 3}).with_bias(false).init();
  nn::Embedding embedding = nn::EmbeddingConfig(5, 3).init();
  nn::BatchNorm batch_norm = nn::BatchNormConfig(4).init();
  nn::LayerNorm layer_norm = nn::LayerNormConfig(4).init();
  nn::GroupNorm group_norm = nn::GroupNormConfig(2, 4).init();
  nn::InstanceNorm instance_norm = nn::InstanceNormConfig(3).init();
  nn::RmsNorm rms_norm = nn::RmsNormConfig(4).init();
  std::vector<nn::Linear> list = std::vector<nn::Linear>(11, make_linear(2, 3));
  std::array<nn::Linear, 2> array = {make_linear(2, 2), make_linear(2, 2)};
  std::tuple<nn::Linear, nn::LayerNorm> pair = {make_linear(4, 3), nn::LayerNormConfig(3).init()};
  std::optional<nn::Linear> present = make_linear(3, 1);
  std::optional<nn::Linear> absent;
  Layer convolution = Case<"Convolution", nn::Conv1d>(make_conv1d());
  Layer dense = Case<"Dense", nn::Linear>(make_linear(3, 2));
  std::vector<Layer> stages = {Case<"Dense", nn::Linear>(make_linear(2, 4)),
                               Case<"Convolution", nn::Conv1d>(make_conv1d())};
  Block block = {{nn::LayerNormConfig(4).init(), zeros(DType::f32, {4})}, make_linear(4, 2)};
  Wrapper<nn::Linear> wrapper = {make_linear(2, 3)};
  std::vector<std::array<nn::Linear, 1>> grid = {{make_linear(1, 2)}, {make_linear(1, 2)}};
  std::vector<Param> scales = {zeros(DType::f32, {3})};
  Param scale = zeros(DType::f32, {6});
  Param cube = zeros(DType::f32, {2, 3, 4});
  Param counts = zeros(DType::i32, {5});
  Param mask = zeros(DType::boolean, {2, 5});
  nn::Dropout dropout = nn::DropoutConfig(0.5).init();
  nn::Relu relu;
  int depth = 3;
  ANDIRON_MODULE(Zoo, linear, linear_plain, conv1d, conv2d, conv_transpose1d, conv_transpose2d,
                 embedding, batch_norm, layer_norm, group_norm, instance_norm, rms_norm, list,
                 array, pair, present, absent, convolution, dense, stages, block, wrapper, grid,
                 scales, scale, cube, counts, mask, dropout, relu, depth)
};

std::uint64_t fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// An element of a parameter as a number from -1001 to 1001.
std::int32_t number_of(std::string_view path, std::uint64_t index) {
  std::uint64_t number = (fnv1a64(path) % 2003 + index * 7919) % 2003;
  return static_cast<std::int32_t>(number) - 1001;
}

template <class T, class Convert>
Tensor tensor_of(const TensorSnapshot& snapshot, bool filled, Convert convert) {
  Tensor tensor = Tensor::zeros(snapshot.dtype(), snapshot.shape()).value();
  std::span<T> elements = tensor.as_mutable<T>().value();
  for (std::size_t i = 0; filled && i < elements.size(); ++i) {
    elements[i] = convert(number_of(snapshot.full_path(), i));
  }
  return tensor;
}

/// Zeros, or numbers that follow from paths: integers as they are, floats divided by 1001, of
/// booleans whether the number is odd.
Tensor values_of(const TensorSnapshot& snapshot, bool filled) {
  switch (snapshot.dtype()) {
    case DType::i32:
      return tensor_of<std::int32_t>(snapshot, filled, [](std::int32_t number) { return number; });
    case DType::boolean:
      return tensor_of<bool>(snapshot, filled, [](std::int32_t number) { return number % 2 != 0; });
    default:
      return tensor_of<float>(snapshot, filled, [](std::int32_t number) {
        return static_cast<float>(number / 1001.0);
      });
  }
}

Zoo make_zoo(bool filled) {
  Zoo zoo;
  Snapshots values;
  for (const TensorSnapshot& snapshot : andiron::collect(zoo).value()) {
    values.push_back(TensorSnapshot(snapshot.full_path(), values_of(snapshot, filled)));
  }
  andiron::apply(zoo, values).value();
  return zoo;
}

ValueList shape_of(const andiron::Shape& shape) {
  ValueList dims;
  for (std::uint64_t dim : shape.dims()) dims.push_back(static_cast<std::int64_t>(dim));
  return dims;
}

Value collect(const Zoo& zoo, bool skip_enum_variants) {
  ValueList list;
  Snapshots snapshots = andiron::collect(zoo, {.skip_enum_variants = skip_enum_variants}).value();
  for (const TensorSnapshot& snapshot : snapshots) {
    list.push_back(ValueDict{{"path", snapshot.full_path()},
                             {"container", snapshot.container().path()},
                             {"dtype", snapshot.dtype_text()},
                             {"shape", shape_of(snapshot.shape())}});
  }
  return list;
}

Value contents(const Zoo& zoo) {
  ValueList list;
  for (const TensorSnapshot& snapshot : andiron::collect(zoo).value()) {
    list.push_back(ValueDict{{"path", snapshot.full_path()},
                             {"dtype", snapshot.dtype_text()},
                             {"shape", shape_of(snapshot.shape())},
                             {"sha256", andiron::to_hex(andiron::sha256(snapshot).value())}});
  }
  return list;
}

/// The parameters' ids by path, as text: numbers of JSON are not that long everywhere.
Value ids(const Zoo& zoo) {
  ValueDict dict;
  for (const TensorSnapshot& snapshot : andiron::collect(zoo).value()) {
    const std::optional<andiron::ParamId> id = snapshot.param_id();
    dict.emplace_back(snapshot.full_path(), id ? Value(std::to_string(id->value)) : Value());
  }
  return dict;
}

ValueList texts(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }

void add_report(ValueDict& answer, const andiron::ApplyResult& result) {
  ValueList missing, errors;
  for (const andiron::MissingTensor& tensor : result.missing) missing.push_back(tensor.path);
  for (const andiron::Error& error : result.errors) errors.push_back(error.tensor);
  answer.emplace_back("applied", texts(result.applied));
  answer.emplace_back("skipped", texts(result.skipped));
  answer.emplace_back("missing", std::move(missing));
  answer.emplace_back("unused", texts(result.unused));
  answer.emplace_back("errors", std::move(errors));
}

ValueDict refusal(const andiron::Error& error) {
  return {{"ok", false},
          {"error", error.to_string()},
          {"code", std::string(andiron::code_name(error.code))}};
}

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(4);
}

struct Options {
  bool skip_enum_variants = false;
  std::optional<andiron::WriteOptions> write;  ///< without a store
};

template <class Store>
void set_adapters(Store& store, bool pytorch, bool half) {
  andiron::AnyAdapter from, to;
  if (pytorch) {
    from = andiron::PyTorchToBurnAdapter();
    to = andiron::BurnToPyTorchAdapter();
  }
  if (half) {
    from = andiron::ChainAdapter(from, andiron::HalfPrecisionAdapter());
    to = andiron::ChainAdapter(to, andiron::HalfPrecisionAdapter());
  }
  store.with_from_adapter(from).with_to_adapter(to);
}

andiron::BurnpackGeneration generation(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(andiron::BurnpackGeneration::burn_0_22); ++i) {
    const auto candidate = static_cast<andiron::BurnpackGeneration>(i);
    if (name_of(candidate) == name) return candidate;
  }
  fail("no release " + name);
}

andiron::RecordPrecision precision(const std::string& name) {
  if (name == "half") return andiron::RecordPrecision::half;
  if (name == "double") return andiron::RecordPrecision::doubled;
  return andiron::RecordPrecision::full;
}

template <class Store>
Options parse(Store& store, std::span<const std::string> words) {
  Options options;
  store.overwrite(true).sync(false).choose_variants(false);
  bool pytorch = false;
  bool half = false;
  std::size_t at = 0;
  const auto argument = [&] {
    if (at == words.size()) fail(words[at - 1] + " lacks an argument");
    return words[at++];
  };
  while (at < words.size()) {
    const std::string option = argument();
    if (option == "--pytorch") {
      pytorch = true;
    } else if (option == "--half") {
      half = true;
    } else if (option == "--skip-enum-variants") {
      options.skip_enum_variants = true;
      store.skip_enum_variants();
    } else if (option == "--contiguous") {
      store.map_indices_contiguous();
    } else if (option == "--remap") {
      const std::string from = argument();
      store.with_key_remapping(from, argument());
    } else if (option == "--regex") {
      store.with_regex(argument());
    } else if (option == "--linear") {
      store.with_predicate([](std::string_view, const andiron::Container& container) {
        return container.is("Linear");
      });
    } else if (option == "--partial") {
      store.allow_partial();
    } else if (option == "--no-validate") {
      store.validate(false);
    } else if (option == "--metadata") {
      const std::string key = argument();
      store.metadata(key, argument());
    } else if (option == "--release") {
      options.write.emplace().settings = andiron::BurnpackSettings{generation(argument())};
    } else if (option == "--precision") {
      options.write.emplace().settings = andiron::MpkSettings{precision(argument())};
    } else {
      fail("no option " + option);
    }
  }
  set_adapters(store, pytorch, half);
  return options;
}

Result<andiron::WriteReport> write(const std::string& path, andiron::WriteOptions options) {
  andiron::Archive archive;
  for (const TensorSnapshot& snapshot : andiron::collect(make_zoo(true)).value()) {
    archive.add(snapshot).value();
  }
  options.overwrite = true;
  options.sync = false;
  return andiron::write(archive, path, options);
}

template <class Store>
Value save(Store& store, const Options& options) {
  Result<andiron::WriteReport> saved = options.write ? write(store.path(), *options.write)
                                                     : andiron::save_into(make_zoo(true), store);
  return saved ? ValueDict{{"ok", true}} : refusal(saved.error());
}

Value load(const andiron::Store& store) {
  Zoo zoo = make_zoo(false);
  Result<andiron::ApplyResult> result = andiron::load_from(zoo, store);
  ValueDict answer = result ? ValueDict{{"ok", true}} : refusal(result.error());
  if (result) {
    add_report(answer, *result);
  } else if (result.error().report) {
    add_report(answer, *result.error().report);
  }
  answer.emplace_back("tensors", contents(zoo));
  answer.emplace_back("ids", ids(zoo));
  return answer;
}

const std::string usage = "usage: collect [options] | save|load|keys FILE [options]";

template <class Store>
Value answer_with(Store store, std::span<const std::string> arguments) {
  const std::string& command = arguments[0];
  const Options options = parse(store, arguments.subspan(2));
  if (command == "save") return save(store, options);
  if (command == "load") return load(store);
  if (command == "keys") {
    Result<std::vector<std::string>> keys = store.keys();
    if (!keys) fail(keys.error().to_string());
    return texts(*keys);
  }
  fail(usage);
}

Value answer(std::span<const std::string> arguments) {
  if (arguments.empty()) fail(usage);
  if (arguments[0] == "collect") {
    andiron::SafetensorsStore store;
    return collect(make_zoo(false), parse(store, arguments.subspan(1)).skip_enum_variants);
  }
  if (arguments.size() < 2) fail(usage);
  if (arguments[1].ends_with(".safetensors")) {
    return answer_with(andiron::SafetensorsStore::from_file(arguments[1]), arguments);
  }
  return answer_with(andiron::BurnpackStore::from_file(arguments[1]), arguments);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::puts(andiron::to_json(answer(arguments)).c_str());
}
