// SPDX-License-Identifier: MIT OR Apache-2.0
// The models of the examples in the documents on model weights, and files for them.
#pragma once

#include <string>
#include <vector>

#include "andiron/andiron.h"
#include "tests/support/places.h"
#include "tests/support/temp_dir.h"

namespace andiron::test::scope {

using Names = std::vector<std::string>;
using Floats = std::vector<float>;

/// The two convolutions that the documents export from PyTorch.
struct Net {
  nn::Conv2d conv1 = nn::Conv2dConfig({2, 2}, {2, 2}).init();
  nn::Conv2d conv2 = nn::Conv2dConfig({2, 2}, {2, 2}).with_bias(false).init();
  ANDIRON_MODULE(Net, conv1, conv2)
};

struct Encoder {
  nn::Linear layer0 = nn::LinearConfig(3, 4).init();
  nn::Linear layer1 = nn::LinearConfig(4, 4).init();
  nn::LayerNorm norm = nn::LayerNormConfig(4).init();
  ANDIRON_MODULE(Encoder, layer0, layer1, norm)
};

struct Decoder {
  nn::Linear output = nn::LinearConfig(4, 2).init();
  Param scale = Tensor::from_values<float>({2}, {1, 1}).value();
  ANDIRON_MODULE(Decoder, output, scale)
};

/// A model of parts that can be loaded and saved alone.
struct Model {
  Encoder encoder;
  Decoder decoder;
  ANDIRON_MODULE(Model, encoder, decoder)
};

inline const Names encoder_names = {"encoder.layer0.bias", "encoder.layer0.weight",
                                    "encoder.layer1.bias", "encoder.layer1.weight",
                                    "encoder.norm.beta",   "encoder.norm.gamma"};

/// Two projections of a transformer's layer, under the names of the model.
struct Attention {
  nn::Linear query = nn::LinearConfig(2, 2).init();
  nn::Linear output = nn::LinearConfig(2, 2).init();
  ANDIRON_MODULE(Attention, query, output)
};
struct Layer {
  Attention attention;
  nn::LayerNorm norm_1 = nn::LayerNormConfig(2).init();
  ANDIRON_MODULE(Layer, attention, norm_1)
};
struct Transformer {
  Layer layer0;
  Layer layer1;
  ANDIRON_MODULE(Transformer, layer0, layer1)
};
struct TransformerModel {
  Transformer transformer;
  ANDIRON_MODULE(TransformerModel, transformer)
};

/// A file of torch.save(Net().state_dict()).
inline std::string conv2d_pt() { return test_data() + "/torch-2.15/layers/conv2d/conv2d.pt"; }

/// The same tensors as SafeTensors.
inline std::string conv2d_safetensors(const TempDir& folder) {
  const std::string path = folder.file("conv2d.safetensors");
  write(open(conv2d_pt()).value(), path).value();
  return path;
}

inline Floats stored(const Store& store, std::string_view name) {
  return store.get_snapshot(name).value().value().read().value().to_vector<float>().value();
}

}  // namespace andiron::test::scope
