// SPDX-License-Identifier: MIT OR Apache-2.0
// An error passes through every layer and function as it is.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "andiron/nn/activation.h"
#include "andiron/nn/attention.h"
#include "andiron/nn/conv.h"
#include "andiron/nn/embedding.h"
#include "andiron/nn/encoding.h"
#include "andiron/nn/functions.h"
#include "andiron/nn/interpolate.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/nn/pool.h"
#include "andiron/nn/recurrent.h"
#include "andiron/nn/swiglu.h"
#include "andiron/nn/transformer.h"
#include "andiron/nn/unfold.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

using Failed = Result<Tensor>;

struct Passage {
  std::string name;
  std::function<Result<Tensor>(const Failed&)> pass;
};

// Layers need no parameters to pass an error on.
template <class Layer>
Passage through(std::string name) {
  return {std::move(name), [](const Failed& x) { return Layer().forward(x); }};
}

std::vector<Passage> layer_passages() {
  return {through<Linear>("Linear"),
          through<Conv1D>("Conv1D"),
          through<SwiGlu>("SwiGlu"),
          through<Embedding>("Embedding"),
          through<Conv1d>("Conv1d"),
          through<Conv2d>("Conv2d"),
          through<Conv3d>("Conv3d"),
          through<ConvTranspose1d>("ConvTranspose1d"),
          through<ConvTranspose2d>("ConvTranspose2d"),
          through<ConvTranspose3d>("ConvTranspose3d"),
          through<MaxPool1d>("MaxPool1d"),
          through<MaxPool2d>("MaxPool2d"),
          through<AvgPool1d>("AvgPool1d"),
          through<AvgPool2d>("AvgPool2d"),
          through<AdaptiveAvgPool1d>("AdaptiveAvgPool1d"),
          through<AdaptiveAvgPool2d>("AdaptiveAvgPool2d"),
          through<AdaptiveMaxPool1d>("AdaptiveMaxPool1d"),
          through<AdaptiveMaxPool2d>("AdaptiveMaxPool2d"),
          through<Unfold4d>("Unfold4d"),
          through<Interpolate1d>("Interpolate1d"),
          through<Interpolate2d>("Interpolate2d"),
          through<BatchNorm>("BatchNorm"),
          through<LayerNorm>("LayerNorm"),
          through<GroupNorm>("GroupNorm"),
          through<InstanceNorm>("InstanceNorm"),
          through<RmsNorm>("RmsNorm"),
          through<Relu>("Relu"),
          through<LeakyRelu>("LeakyRelu"),
          through<Gelu>("Gelu"),
          through<Silu>("Silu"),
          through<Sigmoid>("Sigmoid"),
          through<Tanh>("Tanh"),
          through<HardSigmoid>("HardSigmoid"),
          through<HardSwish>("HardSwish"),
          through<Mish>("Mish"),
          through<Softplus>("Softplus"),
          through<Elu>("Elu"),
          through<Glu>("Glu"),
          through<Softmax>("Softmax"),
          through<PRelu>("PRelu"),
          through<Dropout>("Dropout"),
          through<PositionalEncoding>("PositionalEncoding"),
          through<RotaryEncoding>("RotaryEncoding"),
          through<Lstm>("Lstm"),
          through<Gru>("Gru"),
          through<BiLstm>("BiLstm"),
          through<BiGru>("BiGru"),
          through<LstmStack>("LstmStack"),
          through<BiGruStack>("BiGruStack"),
          through<MultiHeadAttention>("MultiHeadAttention"),
          through<PositionWiseFeedForward>("PositionWiseFeedForward"),
          through<TransformerEncoderLayer>("TransformerEncoderLayer"),
          through<TransformerEncoder>("TransformerEncoder")};
}

std::vector<Passage> function_passages() {
  const Tensor x = test::counting({1, 2, 2});
  const Tensor heads = test::counting({1, 1, 2, 2});
  return {
      {"add to", [=](const Failed& e) { return add(e, x); }},
      {"add", [=](const Failed& e) { return add(x, e); }},
      {"subtract from", [=](const Failed& e) { return subtract(e, x); }},
      {"subtract", [=](const Failed& e) { return subtract(x, e); }},
      {"multiply", [=](const Failed& e) { return multiply(x, e); }},
      {"divide", [=](const Failed& e) { return divide(e, x); }},
      {"divide by", [=](const Failed& e) { return divide(x, e); }},
      {"add a number", [](const Failed& e) { return add(e, 1); }},
      {"multiply by a number", [](const Failed& e) { return multiply(e, 2); }},
      {"maximum", [=](const Failed& e) { return maximum(e, x); }},
      {"minimum", [=](const Failed& e) { return minimum(x, e); }},
      {"sqrt", [](const Failed& e) { return nn::sqrt(e); }},
      {"exp", [](const Failed& e) { return nn::exp(e); }},
      {"log", [](const Failed& e) { return nn::log(e); }},
      {"clamp", [](const Failed& e) { return clamp(e, 1, 0); }},
      {"matmul first", [=](const Failed& e) { return matmul(e, x); }},
      {"matmul second", [=](const Failed& e) { return matmul(x, e); }},
      {"sum", [](const Failed& e) { return nn::sum(e, 0); }},
      {"mean", [](const Failed& e) { return mean(e, 0); }},
      {"max", [](const Failed& e) { return nn::max(e, 0); }},
      {"argmax", [](const Failed& e) { return argmax(e); }},
      {"reshape", [](const Failed& e) { return reshape(e, {1}); }},
      {"flatten", [](const Failed& e) { return flatten(e); }},
      {"permute", [](const Failed& e) { return permute(e, {0}); }},
      {"swap_dims", [](const Failed& e) { return swap_dims(e, 0, 1); }},
      {"slice", [](const Failed& e) { return slice(e, 0, 0); }},
      {"slice to", [](const Failed& e) { return slice(e, 0, 0, 1); }},
      {"concat first", [=](const Failed& e) { return concat({e, x}, 0); }},
      {"concat second", [=](const Failed& e) { return concat({x, e}, 0); }},
      {"pad", [](const Failed& e) { return pad(e, 0, 1, 1); }},
      {"cast", [](const Failed& e) { return cast(e, DType::f32); }},
      {"forward_through",
       [](const Failed& e) { return forward_through(std::tuple(Relu(), Linear()), e); }},
      {"softmax", [](const Failed& e) { return softmax(e); }},
      {"log_softmax", [](const Failed& e) { return log_softmax(e); }},
      {"quiet_softmax", [](const Failed& e) { return quiet_softmax(e); }},
      {"glu", [](const Failed& e) { return glu(e); }},
      {"gelu_tanh", [](const Failed& e) { return gelu_tanh(e); }},
      {"activate", [](const Failed& e) { return activate(Activation::identity, e); }},
      {"prelu", [=](const Failed& e) { return prelu(e, x); }},
      {"prelu's alpha", [=](const Failed& e) { return prelu(x, e); }},
      {"split_heads", [](const Failed& e) { return split_heads(e, 2); }},
      {"join_heads", [](const Failed& e) { return join_heads(e); }},
      {"attention's query",
       [=](const Failed& e) { return scaled_dot_product_attention(e, heads, heads); }},
      {"attention's key",
       [=](const Failed& e) { return scaled_dot_product_attention(heads, e, heads); }},
      {"attention's value",
       [=](const Failed& e) { return scaled_dot_product_attention(heads, heads, e); }},
      {"MultiHeadAttention's key",
       [=](const Failed& e) { return MultiHeadAttentionConfig(2, 1).init().forward(x, e, x); }},
      {"MultiHeadAttention's value",
       [=](const Failed& e) { return MultiHeadAttentionConfig(2, 1).init().forward(x, x, e); }},
      {"CrossAttention's query", [=](const Failed& e) { return CrossAttention().forward(e, x); }},
      {"CrossAttention's context",
       [=](const Failed& e) { return CrossAttentionConfig(2, 2, 1, 1, 2).init().forward(x, e); }},
      {"decoder's target", [=](const Failed& e) { return TransformerDecoder().forward(e, x); }},
      {"decoder's memory",
       [=](const Failed& e) { return TransformerDecoderConfig(2, 2, 1, 1).init().forward(x, e); }},
      {"decoder layer's target",
       [=](const Failed& e) { return TransformerDecoderLayer().forward(e, x); }},
      {"RotaryEncoding's apply", [](const Failed& e) { return RotaryEncoding().apply(e, 7); }},
  };
}

const Error& some_error() {
  static const Error error = {.code = ErrorCode::bad_header,
                              .message = "of a file",
                              .file = "weights.bin",
                              .tensor = "a.b",
                              .found = "this",
                              .expected = "that",
                              .hint = "try again"};
  return error;
}

TEST(Errors, PassThroughEveryLayerAndFunction) {
  std::vector<Passage> all = layer_passages();
  for (Passage& one : function_passages()) all.push_back(std::move(one));
  for (const Passage& one : all) {
    SCOPED_TRACE(one.name);
    const Result<Tensor> found = one.pass(some_error());
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, some_error().code);
    EXPECT_EQ(found.error().to_string(), some_error().to_string());
    // Through another one too.
    EXPECT_EQ(one.pass(relu(found)).error().to_string(), some_error().to_string());
  }
}

TEST(Errors, PassThroughLayersWithStates) {
  const Failed failed = some_error();
  const std::string text = some_error().to_string();
  EXPECT_EQ(Lstm().forward_with_state(failed).error().to_string(), text);
  EXPECT_EQ(Gru().forward_with_state(failed).error().to_string(), text);
  EXPECT_EQ(BiLstm().forward_with_state(failed).error().to_string(), text);
  EXPECT_EQ(BiGru().forward_with_state(failed).error().to_string(), text);
  EXPECT_EQ(LstmStack().forward_with_state(failed).error().to_string(), text);
  EXPECT_EQ(GruConfig(1, 1).init_stack(2).forward_with_state(failed).error().to_string(), text);
}

TEST(Errors, OfDtypesAndUnsetParametersNameTheLayer) {
  const Tensor tokens = Tensor::zeros(DType::i64, {1, 2}).value();
  const Tensor floats = Tensor::zeros(DType::f32, {1, 2}).value();
  const auto text = [](const Result<Tensor>& result) {
    return result ? "no error" : result.error().to_string();
  };
  EXPECT_NE(text(LinearConfig(2, 2).init().forward(tokens)).find("Linear"), std::string::npos);
  EXPECT_NE(text(relu(tokens)).find("relu"), std::string::npos);
  const std::string unset = text(Linear().forward(floats));
  EXPECT_NE(unset.find("Linear: its weight"), std::string::npos) << unset;
  EXPECT_NE(text(BatchNorm().forward(floats)).find("BatchNorm: its gamma"), std::string::npos);
}

// The layer that fails first is the one to tell about.
TEST(Errors, PassThroughLayersWithBadSettings) {
  const Failed failed = some_error();
  const std::string text = some_error().to_string();
  EXPECT_EQ((MaxPool2d{.kernel_size = {0, 0}}.forward(failed).error().to_string()), text);
  EXPECT_EQ((Unfold4d{.stride = {0, 0}}.forward(failed).error().to_string()), text);
  EXPECT_EQ(ConvTranspose1d{.padding_out = 9}.forward(failed).error().to_string(), text);
  EXPECT_EQ(PositionalEncoding{.d_model = 3}.forward(failed).error().to_string(), text);
  EXPECT_EQ(RotaryEncoding{.d_model = 3}.forward(failed).error().to_string(), text);
}

}  // namespace
}  // namespace andiron::nn
