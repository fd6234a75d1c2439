// SPDX-License-Identifier: MIT OR Apache-2.0
// Activations and the functions on tensors.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "layers_probe.h"

namespace andiron::layers_probe {
namespace {

constexpr std::array<std::string_view, 13> activations = {
    "identity", "relu",         "leaky_relu", "gelu", "gelu_tanh", "silu", "sigmoid",
    "tanh",     "hard_sigmoid", "hard_swish", "mish", "softplus",  "elu"};

// Without arguments.
template <Result<Tensor> (*function)(const Result<Tensor>&)>
Result<Outputs> plain(const Case& it) {
  return one(function(it.input("x")));
}
template <Result<Tensor> (*function)(const Result<Tensor>&, double)>
Result<Outputs> with_number(const Case& it) {
  return one(function(it.input("x"), it.get<double>("number")));
}
template <Result<Tensor> (*function)(const Result<Tensor>&, const Result<Tensor>&)>
Result<Outputs> of_two(const Case& it) {
  return one(function(it.input("x"), it.input("y")));
}
template <Result<Tensor> (*function)(const Result<Tensor>&, std::int64_t)>
Result<Outputs> along(const Case& it) {
  return one(function(it.input("x"), it.get<std::int64_t>("dim")));
}
template <Result<Tensor> (*function)(const Result<Tensor>&, std::int64_t, bool)>
Result<Outputs> over(const Case& it) {
  return one(function(it.input("x"), it.get<std::int64_t>("dim"), it.get<bool>("keep_dim")));
}

void add_activations(Kinds& kinds) {
  kinds["activate"] = [](const Case& it) {
    return one(nn::activate(activation_of(it.get<std::string>("activation")), it.input("x")));
  };
  kinds["relu"] = plain<nn::relu>;
  kinds["leaky_relu"] = with_number<nn::leaky_relu>;
  kinds["gelu"] = plain<nn::gelu>;
  kinds["gelu_tanh"] = plain<nn::gelu_tanh>;
  kinds["silu"] = plain<nn::silu>;
  kinds["sigmoid"] = plain<nn::sigmoid>;
  kinds["tanh"] = plain<nn::tanh>;
  kinds["hard_sigmoid"] = [](const Case& it) {
    return one(nn::hard_sigmoid(it.input("x"), it.get<double>("alpha"), it.get<double>("beta")));
  };
  kinds["hard_swish"] = plain<nn::hard_swish>;
  kinds["mish"] = plain<nn::mish>;
  kinds["softplus"] = with_number<nn::softplus>;
  kinds["elu"] = with_number<nn::elu>;
  kinds["prelu"] = of_two<nn::prelu>;
  kinds["softmax"] = along<nn::softmax>;
  kinds["log_softmax"] = along<nn::log_softmax>;
  kinds["quiet_softmax"] = along<nn::quiet_softmax>;
  kinds["glu"] = along<nn::glu>;
  // The layers, with their own defaults.
  kinds["Relu"] = [](const Case& it) { return forward(it, nn::Relu{}); };
  kinds["LeakyRelu"] = [](const Case& it) { return forward(it, nn::LeakyRelu{}); };
  kinds["Gelu"] = [](const Case& it) { return forward(it, nn::Gelu{}); };
  kinds["Silu"] = [](const Case& it) { return forward(it, nn::Silu{}); };
  kinds["Sigmoid"] = [](const Case& it) { return forward(it, nn::Sigmoid{}); };
  kinds["Tanh"] = [](const Case& it) { return forward(it, nn::Tanh{}); };
  kinds["HardSigmoid"] = [](const Case& it) { return forward(it, nn::HardSigmoid{1.0 / 6, 0.5}); };
  kinds["HardSwish"] = [](const Case& it) { return forward(it, nn::HardSwish{}); };
  kinds["Mish"] = [](const Case& it) { return forward(it, nn::Mish{}); };
  kinds["Softplus"] = [](const Case& it) { return forward(it, nn::Softplus{}); };
  kinds["Elu"] = [](const Case& it) { return forward(it, nn::Elu{}); };
  kinds["Dropout"] = [](const Case& it) { return forward(it, nn::Dropout{}); };
}

Result<Outputs> joined(const Case& it) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < it.size("count"); ++i) {
    tensors.push_back(it.input("x" + std::to_string(i)).value());
  }
  const auto dim = it.get<std::int64_t>("dim");
  if (tensors.size() == 2) return one(nn::concat({tensors[0], tensors[1]}, dim));
  return one(nn::concat(tensors, dim));
}

void add_rearranging(Kinds& kinds) {
  kinds["reshape"] = [](const Case& it) {
    return one(nn::reshape(it.input("x"), it.get<std::vector<std::int64_t>>("shape")));
  };
  kinds["flatten"] = along<nn::flatten>;
  kinds["permute"] = [](const Case& it) {
    return one(nn::permute(it.input("x"), it.get<std::vector<std::int64_t>>("dims")));
  };
  kinds["swap_dims"] = [](const Case& it) {
    return one(nn::swap_dims(it.input("x"), it.get<std::int64_t>("a"), it.get<std::int64_t>("b")));
  };
  kinds["slice"] = [](const Case& it) {
    const auto dim = it.get<std::int64_t>("dim");
    const auto start = it.get<std::int64_t>("start");
    if (!it.config.contains("end")) return one(nn::slice(it.input("x"), dim, start));
    return one(nn::slice(it.input("x"), dim, start, it.get<std::int64_t>("end")));
  };
  kinds["concat"] = joined;
  kinds["pad"] = [](const Case& it) {
    // JSON has no infinity.
    const double value = it.get<bool>("lowest", false) ? -std::numeric_limits<double>::infinity()
                                                       : it.get<double>("value", 0.0);
    return one(
        nn::pad(it.input("x"), it.get<std::int64_t>("dim"), it.size("before"), it.size("after"),
                it.get<bool>("reflect") ? nn::PadMode::reflect : nn::PadMode::constant, value));
  };
  kinds["cast"] = [](const Case& it) -> Result<Outputs> {
    DType dtype = DType::f32;
    const std::string name = it.get<std::string>("dtype");
    if (!dtype_from_name(name, dtype)) {
      return Error{.code = ErrorCode::invalid_argument, .message = "no such dtype"};
    }
    return one(nn::cast(it.input("x"), dtype));
  };
}

}  // namespace

nn::Activation activation_of(std::string_view name) {
  std::size_t index = 0;
  while (activations.at(index) != name) ++index;
  return static_cast<nn::Activation>(index);
}

void add_functions(Kinds& kinds) {
  add_activations(kinds);
  add_rearranging(kinds);
  kinds["add"] = of_two<nn::add>;
  kinds["subtract"] = of_two<nn::subtract>;
  kinds["multiply"] = of_two<nn::multiply>;
  kinds["divide"] = of_two<nn::divide>;
  kinds["add_number"] = with_number<nn::add>;
  kinds["multiply_number"] = with_number<nn::multiply>;
  kinds["maximum"] = of_two<nn::maximum>;
  kinds["minimum"] = of_two<nn::minimum>;
  kinds["sqrt"] = plain<nn::sqrt>;
  kinds["exp"] = plain<nn::exp>;
  kinds["log"] = plain<nn::log>;
  kinds["clamp"] = [](const Case& it) {
    return one(nn::clamp(it.input("x"), it.get<double>("least"), it.get<double>("most")));
  };
  kinds["matmul"] = of_two<nn::matmul>;
  kinds["sum"] = over<nn::sum>;
  kinds["mean"] = over<nn::mean>;
  kinds["max"] = over<nn::max>;
  kinds["argmax"] = over<nn::argmax>;
}

}  // namespace andiron::layers_probe
