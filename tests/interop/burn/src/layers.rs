// SPDX-License-Identifier: MIT OR Apache-2.0
// The models of burn_forward_probe.cpp, which has the same with the same settings.

use burn::module::Module;
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use burn_flex::Flex;
use burn_nn::activation::{ActivationConfig, HardSwish};
use burn_nn::attention::*;
use burn_nn::conv::*;
use burn_nn::interpolate::*;
use burn_nn::pool::*;
use burn_nn::transformer::*;
use burn_nn::*;

use crate::forward::{Inputs, Outputs, Result, Task};

type Floats<const D: usize> = Tensor<Flex, D>;

fn data<const D: usize>(tensor: Floats<D>) -> TensorData {
    tensor.into_data()
}

fn one<const D: usize>(tensor: Floats<D>) -> Outputs {
    vec![data(tensor)]
}

fn device() -> <Flex as burn::tensor::backend::BackendTypes>::Device {
    Default::default()
}

/// A small network for images.
#[derive(Module, Debug)]
struct Cnn<B: Backend> {
    stem: Conv2d<B>,
    norm: BatchNorm<B>,
    act: PRelu<B>,
    pool: MaxPool2d,
    blocks: Vec<CnnBlock<B>>,
    mean: AdaptiveAvgPool2d,
    head: Linear<B>,
}

#[derive(Module, Debug)]
struct CnnBlock<B: Backend> {
    depthwise: Conv2d<B>,
    norm: GroupNorm<B>,
    pointwise: Conv2d<B>,
}

impl Cnn<Flex> {
    fn new() -> Self {
        let device = &device();
        let block = || CnnBlock {
            depthwise: Conv2dConfig::new([6, 6], [3, 3])
                .with_groups(6)
                .with_padding(PaddingConfig2d::Same)
                .init(device),
            norm: GroupNormConfig::new(3, 6).init(device),
            pointwise: Conv2dConfig::new([6, 6], [1, 1])
                .with_bias(false)
                .init(device),
        };
        Self {
            stem: Conv2dConfig::new([3, 6], [3, 3])
                .with_stride([2, 2])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                .init(device),
            norm: BatchNormConfig::new(6).init(device),
            act: PReluConfig::new().with_num_parameters(6).init(device),
            pool: MaxPool2dConfig::new([2, 2]).init(),
            blocks: vec![block(), block()],
            mean: AdaptiveAvgPool2dConfig::new([2, 2]).init(),
            head: LinearConfig::new(24, 5).init(device),
        }
    }

    fn forward(&self, x: Floats<4>) -> Floats<2> {
        let x = self.act.forward(self.norm.forward(self.stem.forward(x)));
        let mut x = self.pool.forward(x);
        for block in &self.blocks {
            let y = Gelu::new().forward(block.norm.forward(block.depthwise.forward(x.clone())));
            x = x + block.pointwise.forward(y);
        }
        self.head.forward(self.mean.forward(x).flatten(1, 3))
    }
}

/// A small classifier of texts.
#[derive(Module, Debug)]
struct Text<B: Backend> {
    embedding: Embedding<B>,
    positions: PositionalEncoding<B>,
    encoder: TransformerEncoder<B>,
    head: Linear<B>,
}

impl Text<Flex> {
    fn new() -> Self {
        let device = &device();
        Self {
            embedding: EmbeddingConfig::new(10, 8).init(device),
            positions: PositionalEncodingConfig::new(8).init(device),
            encoder: TransformerEncoderConfig::new(8, 16, 2, 2).init(device),
            head: LinearConfig::new(8, 3).init(device),
        }
    }

    fn forward(&self, most: Option<usize>) -> Outputs {
        let tokens = vec![vec![1, 2, 3], vec![4, 5, 6, 7, 8], vec![9, 0, 3]];
        let padded = generate_padding_mask::<Flex>(0, tokens, most, &device());
        let x = self
            .positions
            .forward(self.embedding.forward(padded.tensor.clone()));
        let input = TransformerEncoderInput::new(x).mask_pad(padded.mask.clone());
        let y = self.head.forward(self.encoder.forward(input));
        vec![
            data(padded.tensor.float()),
            data(padded.mask.float()),
            data(y),
        ]
    }
}

fn recurrent(name: &str, task: &Task) -> Option<Result<()>> {
    let lstm = |config: LstmConfig, x: &[usize]| {
        let state = [
            if config.batch_first { x[0] } else { x[1] },
            config.d_hidden,
        ];
        task.run(
            || config.init::<Flex>(&device()),
            &[("x", x), ("h0", &state), ("c0", &state)],
            |model, inputs| {
                let state = LstmState::new(inputs.get("c0"), inputs.get("h0"));
                let (output, state) = model.forward(inputs.get("x"), Some(state));
                let (zeros, _) = model.forward(inputs.get("x"), None);
                vec![
                    data(output),
                    data(state.hidden),
                    data(state.cell),
                    data(zeros),
                ]
            },
        )
    };
    let bilstm = |config: BiLstmConfig, x: &[usize]| {
        task.run(
            || config.init::<Flex>(&device()),
            &[("x", x), ("h0", &[2, 2, 4]), ("c0", &[2, 2, 4])],
            |model, inputs| {
                let state = LstmState::new(inputs.get("c0"), inputs.get("h0"));
                let (output, state) = model.forward(inputs.get("x"), Some(state));
                vec![data(output), data(state.hidden), data(state.cell)]
            },
        )
    };
    let gru = |config: GruConfig, x: &[usize]| {
        task.run(
            || config.init::<Flex>(&device()),
            &[("x", x), ("h0", &[x[0], config.d_hidden])],
            |model, inputs| {
                vec![
                    data(model.forward(inputs.get("x"), Some(inputs.get("h0")))),
                    data(model.forward(inputs.get("x"), None)),
                ]
            },
        )
    };
    let bigru = |config: BiGruConfig, x: &[usize]| {
        task.run(
            || config.init::<Flex>(&device()),
            &[("x", x), ("h0", &[2, 2, 4])],
            |model, inputs| {
                let (output, state) = model.forward(inputs.get("x"), Some(inputs.get("h0")));
                vec![data(output), data(state)]
            },
        )
    };
    let (rows, steps) = (&[2, 5, 3], &[5, 2, 3]);
    let long = LstmConfig::new(3, 4, true);
    let both = BiLstmConfig::new(3, 4, true);
    let gated = GruConfig::new(3, 4, true);
    let both_gated = BiGruConfig::new(3, 4, true);
    Some(match name {
        "Lstm" => lstm(long, rows),
        "Lstm without bias" => lstm(LstmConfig::new(3, 4, false), rows),
        "Lstm reverse" => lstm(long.with_reverse(true), rows),
        "Lstm clip" => lstm(long.with_clip(Some(0.3)), rows),
        "Lstm input_forget" => lstm(long.with_input_forget(true), rows),
        "Lstm steps first" => lstm(long.with_batch_first(false).with_reverse(true), steps),
        "Lstm activations" => lstm(
            long.with_gate_activation(ActivationConfig::HardSwish)
                .with_cell_activation(ActivationConfig::Gelu)
                .with_hidden_activation(ActivationConfig::Relu),
            rows,
        ),
        "Lstm large" => lstm(LstmConfig::new(48, 80, true), &[8, 30, 48]),
        "BiLstm" => bilstm(both, rows),
        "BiLstm clip" => bilstm(both.with_clip(Some(0.3)).with_input_forget(true), rows),
        "BiLstm steps first" => bilstm(both.with_batch_first(false), steps),
        "Gru" => gru(gated, rows),
        "Gru reset before" => gru(gated.with_reset_after(false), rows),
        "Gru without bias" => gru(GruConfig::new(3, 4, false).with_reset_after(false), rows),
        "Gru large" => gru(
            GruConfig::new(48, 80, true).with_reset_after(false),
            &[8, 30, 48],
        ),
        "Gru clip" => gru(gated.with_clip(Some(0.3)), rows),
        "Gru activations" => gru(
            gated
                .with_gate_activation(ActivationConfig::Tanh)
                .with_hidden_activation(ActivationConfig::Softplus(SoftplusConfig::new())),
            rows,
        ),
        "BiGru" => bigru(both_gated, rows),
        "BiGru reset before" => bigru(both_gated.with_reset_after(false), rows),
        "BiGru steps first" => bigru(both_gated.with_batch_first(false), steps),
        _ => return None,
    })
}

fn attention(name: &str, task: &Task) -> Option<Result<()>> {
    let mha = |config: MultiHeadAttentionConfig, masks: &str| {
        task.run(
            || config.init::<Flex>(&device()),
            &[
                ("query", &[2, 4, 8]),
                ("key", &[2, 5, 8]),
                ("value", &[2, 5, 8]),
                ("mask_pad", &[2, 5]),
                ("mask_attn", &[2, 4, 5]),
            ],
            |model, inputs| {
                let query = inputs.get("query");
                let mut input =
                    match masks {
                        "causal" => MhaInput::self_attn(query)
                            .mask_attn(generate_autoregressive_mask(2, 4, &device())),
                        _ => MhaInput::new(query, inputs.get("key"), inputs.get("value")),
                    };
                if masks.contains("pad") {
                    input = input.mask_pad(inputs.mask("mask_pad"));
                }
                if masks.contains("attn") {
                    input = input.mask_attn(inputs.mask("mask_attn"));
                }
                let output = model.forward(input);
                vec![data(output.context), data(output.weights)]
            },
        )
    };
    let cross = |config: CrossAttentionConfig, masked: bool| {
        task.run(
            || config.init::<Flex>(&device()),
            &[
                ("query", &[2, 4, 8]),
                ("context", &[2, 5, 6]),
                ("mask_pad", &[2, 5]),
            ],
            |model, inputs| {
                let mask = masked.then(|| inputs.mask("mask_pad"));
                one(model.forward(inputs.get("query"), inputs.get("context"), mask))
            },
        )
    };
    let encoder = |config: TransformerEncoderConfig, length: usize| {
        task.run(
            || config.init::<Flex>(&device()),
            &[
                ("x", &[2, length, config.d_model]),
                ("mask_pad", &[2, length]),
                ("mask_attn", &[2, length, length]),
            ],
            |model, inputs| {
                let plain = TransformerEncoderInput::new(inputs.get("x"));
                let masked = TransformerEncoderInput::new(inputs.get("x"))
                    .mask_pad(inputs.mask("mask_pad"))
                    .mask_attn(inputs.mask("mask_attn"));
                vec![data(model.forward(plain)), data(model.forward(masked))]
            },
        )
    };
    let decoder = |config: TransformerDecoderConfig| {
        task.run(
            || config.init::<Flex>(&device()),
            &[
                ("x", &[2, 4, 8]),
                ("memory", &[2, 5, 8]),
                ("mask_pad", &[2, 4]),
                ("mask_memory_pad", &[2, 5]),
                ("mask_memory_attn", &[2, 4, 5]),
            ],
            |model, inputs| {
                let input = || TransformerDecoderInput::new(inputs.get("x"), inputs.get("memory"));
                let masked = input()
                    .target_mask_pad(inputs.mask("mask_pad"))
                    .target_mask_attn(generate_autoregressive_mask(2, 4, &device()))
                    .memory_mask_pad(inputs.mask("mask_memory_pad"))
                    .memory_mask_attn(inputs.mask("mask_memory_attn"));
                vec![data(model.forward(input())), data(model.forward(masked))]
            },
        )
    };
    let heads = MultiHeadAttentionConfig::new(8, 2);
    let grouped = CrossAttentionConfig::new(8, 6, 4, 2, 3);
    let encoding = TransformerEncoderConfig::new(8, 16, 2, 2);
    let decoding = TransformerDecoderConfig::new(8, 16, 2, 2);
    Some(match name {
        "MultiHeadAttention" => mha(heads, ""),
        "MultiHeadAttention pad" => mha(heads, "pad"),
        "MultiHeadAttention attn" => mha(heads, "attn"),
        "MultiHeadAttention both masks" => mha(heads, "pad attn"),
        "MultiHeadAttention causal" => mha(heads, "causal"),
        "MultiHeadAttention quiet" => mha(heads.with_quiet_softmax(true), "pad attn"),
        "MultiHeadAttention min_float" => mha(heads.with_min_float(-2.0), "pad attn"),
        "CrossAttention" => cross(grouped, false),
        "CrossAttention pad" => cross(grouped, true),
        "CrossAttention quiet" => cross(grouped.with_quiet_softmax(true), true),
        "TransformerEncoder" => encoder(encoding, 4),
        "TransformerEncoder norm_first" => encoder(encoding.with_norm_first(true), 4),
        "TransformerEncoder settings" => encoder(
            encoding
                .with_quiet_softmax(true)
                .with_activation(ActivationConfig::Relu)
                .with_layer_norm_eps(0.1),
            4,
        ),
        "TransformerEncoder large" => encoder(
            TransformerEncoderConfig::new(64, 256, 4, 3).with_norm_first(true),
            50,
        ),
        "TransformerDecoder" => decoder(decoding),
        "TransformerDecoder norm_first" => decoder(decoding.with_norm_first(true)),
        "TransformerDecoder settings" => decoder(
            decoding
                .with_quiet_softmax(true)
                .with_activation(ActivationConfig::GeluApproximate)
                .with_layer_norm_eps(0.1),
        ),
        "PositionWiseFeedForward" => task.run(
            || PositionWiseFeedForwardConfig::new(8, 16).init::<Flex>(&device()),
            &[("x", &[2, 4, 8])],
            |model, inputs| one(model.forward(inputs.get::<3>("x"))),
        ),
        "PositionalEncoding" => task.run(
            || PositionalEncodingConfig::new(8).init::<Flex>(&device()),
            &[("x", &[2, 30, 8])],
            |model, inputs| one(model.forward(inputs.get("x"))),
        ),
        "PositionalEncoding sizes" => task.run(
            || {
                PositionalEncodingConfig::new(6)
                    .with_max_sequence_size(20)
                    .with_max_timescale(100)
                    .init::<Flex>(&device())
            },
            &[("x", &[2, 20, 6])],
            |model, inputs| one(model.forward(inputs.get("x"))),
        ),
        "RotaryEncoding" => task.run(
            || RotaryEncodingConfig::new(32, 8).init::<Flex>(&device()),
            &[("x", &[2, 3, 10, 8])],
            |model, inputs| {
                vec![
                    data(model.forward(inputs.get::<4>("x"))),
                    data(model.apply(inputs.get::<4>("x"), 7)),
                ]
            },
        ),
        "RotaryEncoding theta" => task.run(
            || {
                RotaryEncodingConfig::new(32, 8)
                    .with_theta(500.0)
                    .init::<Flex>(&device())
            },
            &[("x", &[2, 10, 8])],
            |model, inputs| one(model.forward(inputs.get::<3>("x"))),
        ),
        "Text" => task.run(Text::new, &[], |model, _| model.forward(None)),
        "Text cut" => task.run(Text::new, &[], |model, _| model.forward(Some(4))),
        _ => return None,
    })
}

/// A layer that takes and returns one tensor.
macro_rules! layer {
    ($task:expr, $layer:expr, $shape:expr) => {
        $task.run(
            || $layer,
            &[("x", &$shape)],
            |model, inputs: &Inputs| one(model.forward(inputs.get::<{ $shape.len() }>("x"))),
        )
    };
}

fn activations(name: &str, task: &Task) -> Option<Result<()>> {
    Some(match name {
        "HardSigmoid" => layer!(task, HardSigmoidConfig::new().init(), [4, 9]),
        "HardSwish" => layer!(task, HardSwish::new(), [4, 9]),
        "LeakyRelu" => layer!(task, LeakyReluConfig::new().init(), [4, 9]),
        "Softplus" => layer!(task, SoftplusConfig::new().with_beta(2.0).init(), [4, 9]),
        "Elu" => layer!(task, EluConfig::new().with_alpha(0.7).init(), [4, 9]),
        "Gelu" => layer!(task, Gelu::new(), [4, 9]),
        "Gelu tanh" => layer!(task, Gelu::new_approximate(), [4, 9]),
        "Glu" => layer!(task, GLU::new(1), [4, 6, 3]),
        "PRelu" => layer!(task, PReluConfig::new().init::<Flex>(&device()), [2, 3, 4]),
        "PRelu channels" => layer!(
            task,
            PReluConfig::new()
                .with_num_parameters(3)
                .init::<Flex>(&device()),
            [2, 3, 4, 5]
        ),
        "SwiGlu" => layer!(
            task,
            SwiGluConfig::new(6, 5).init::<Flex>(&device()),
            [2, 3, 6]
        ),
        "SwiGlu bias" => layer!(
            task,
            SwiGluConfig::new(6, 5)
                .with_bias(true)
                .init::<Flex>(&device()),
            [4, 6]
        ),
        "BatchNorm" => layer!(
            task,
            BatchNormConfig::new(3).init::<Flex>(&device()),
            [2, 3, 4, 5]
        ),
        "LayerNorm" => layer!(
            task,
            LayerNormConfig::new(6).init::<Flex>(&device()),
            [2, 3, 6]
        ),
        "GroupNorm" => layer!(
            task,
            GroupNormConfig::new(2, 6).init::<Flex>(&device()),
            [2, 6, 4]
        ),
        "InstanceNorm" => layer!(
            task,
            InstanceNormConfig::new(3).init::<Flex>(&device()),
            [2, 3, 4, 5]
        ),
        "InstanceNorm plain" => layer!(
            task,
            InstanceNormConfig::new(3)
                .with_affine(false)
                .with_epsilon(0.1)
                .init::<Flex>(&device()),
            [2, 3, 7]
        ),
        "RmsNorm" => layer!(
            task,
            RmsNormConfig::new(6).init::<Flex>(&device()),
            [2, 3, 6]
        ),
        "RmsNorm epsilon" => layer!(
            task,
            RmsNormConfig::new(6)
                .with_epsilon(0.5)
                .init::<Flex>(&device()),
            [4, 6]
        ),
        _ => return None,
    })
}

fn convolutions(name: &str, task: &Task) -> Option<Result<()>> {
    macro_rules! conv {
        ($config:expr, $shape:expr) => {
            layer!(task, $config.init::<Flex>(&device()), $shape)
        };
    }
    let odd = || Conv2dConfig::new([3, 4], [3, 5]).with_padding(PaddingConfig2d::Same);
    let even = || Conv2dConfig::new([3, 4], [4, 2]).with_padding(PaddingConfig2d::Same);
    let up = || ConvTranspose2dConfig::new([4, 6], [3, 2]);
    Some(match name {
        "Conv1d" => conv!(
            Conv1dConfig::new(3, 4, 3)
                .with_padding(PaddingConfig1d::Explicit(2, 1))
                .with_dilation(2),
            [2, 3, 11]
        ),
        "Conv1d same" => conv!(
            Conv1dConfig::new(3, 4, 4)
                .with_padding(PaddingConfig1d::Same)
                .with_stride(2),
            [2, 3, 11]
        ),
        "Conv2d" => conv!(
            Conv2dConfig::new([4, 6], [3, 2])
                .with_padding(PaddingConfig2d::Explicit(1, 2, 0, 3))
                .with_stride([1, 2])
                .with_dilation([2, 1])
                .with_groups(2),
            [2, 4, 9, 8]
        ),
        "Conv2d same" => conv!(odd(), [2, 3, 8, 9]),
        "Conv2d same stride 2" => conv!(odd().with_stride([2, 2]), [2, 3, 8, 9]),
        "Conv2d same even" => conv!(even(), [2, 3, 8, 9]),
        "Conv2d same even stride 2" => conv!(even().with_stride([2, 2]), [2, 3, 8, 9]),
        "Conv2d same stride 3" => conv!(even().with_stride([3, 3]), [2, 3, 8, 9]),
        "Conv2d same dilated" => conv!(odd().with_dilation([2, 2]), [2, 3, 8, 9]),
        "Conv2d large" => conv!(
            Conv2dConfig::new([32, 48], [3, 3]).with_padding(PaddingConfig2d::Same),
            [2, 32, 28, 30]
        ),
        "Conv3d" => conv!(
            Conv3dConfig::new([4, 6], [3, 2, 3])
                .with_padding(PaddingConfig3d::Explicit(1, 0, 2))
                .with_stride([2, 1, 2])
                .with_dilation([1, 2, 1])
                .with_groups(2),
            [2, 4, 6, 7, 5]
        ),
        "Conv3d same" => conv!(
            Conv3dConfig::new([2, 3], [3, 1, 5]).with_padding(PaddingConfig3d::Same),
            [2, 2, 6, 7, 5]
        ),
        "ConvTranspose1d" => conv!(
            ConvTranspose1dConfig::new([3, 4], 3)
                .with_stride(2)
                .with_padding(1)
                .with_padding_out(1),
            [2, 3, 7]
        ),
        "ConvTranspose2d" => conv!(up(), [2, 4, 5, 6]),
        "ConvTranspose2d settings" => conv!(
            up().with_stride([2, 3])
                .with_dilation([1, 2])
                .with_groups(2)
                .with_padding([1, 1])
                .with_padding_out([1, 2]),
            [2, 4, 5, 6]
        ),
        "ConvTranspose3d" => conv!(
            ConvTranspose3dConfig::new([2, 3], [2, 3, 2])
                .with_stride([2, 1, 2])
                .with_padding([0, 1, 1]),
            [2, 2, 3, 4, 5]
        ),
        _ => return None,
    })
}

fn images(name: &str, task: &Task) -> Option<Result<()>> {
    let average = || AvgPool2dConfig::new([3, 2]).with_strides([2, 2]);
    let padded = || average().with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1));
    let square = || {
        AvgPool2dConfig::new([3, 3])
            .with_strides([2, 2])
            .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
            .with_ceil_mode(true)
    };
    let largest = || MaxPool2dConfig::new([3, 2]).with_strides([2, 2]);
    let to_size = |mode| {
        Interpolate2dConfig::new()
            .with_output_size(Some([9, 4]))
            .with_mode(mode)
    };
    let by_scale = |mode| {
        Interpolate2dConfig::new()
            .with_scale_factor(Some([1.7, 2.5]))
            .with_mode(mode)
    };
    let image = [2, 3, 6, 7];
    macro_rules! on_image {
        ($layer:expr) => {
            task.run(
                || $layer,
                &[("x", &image)],
                |model, inputs: &Inputs| one(model.forward(inputs.get::<4>("x"))),
            )
        };
    }
    macro_rules! on_row {
        ($layer:expr) => {
            layer!(task, $layer, [2, 3, 7])
        };
    }
    let linear = || InterpolateMode::Linear;
    let cubic = || InterpolateMode::Cubic;
    let nearest = || InterpolateMode::Nearest;
    Some(match name {
        "AvgPool1d" => on_row!(AvgPool1dConfig::new(3)
            .with_stride(2)
            .with_padding(PaddingConfig1d::Explicit(1, 1))
            .init()),
        "AvgPool2d" => on_image!(padded().init()),
        "AvgPool2d without padding" => on_image!(padded().with_count_include_pad(false).init()),
        "AvgPool2d ceil" => on_image!(square().init()),
        "AvgPool2d ceil without padding" => {
            on_image!(square().with_count_include_pad(false).init())
        }
        "AvgPool2d ceil outside" => on_image!(padded().with_ceil_mode(true).init()),
        "AvgPool2d same" => on_image!(average().with_padding(PaddingConfig2d::Same).init()),
        "AvgPool2d same without padding" => on_image!(average()
            .with_padding(PaddingConfig2d::Same)
            .with_count_include_pad(false)
            .init()),
        "AvgPool2d uneven without padding" => on_image!(average()
            .with_padding(PaddingConfig2d::Explicit(0, 1, 1, 0))
            .with_count_include_pad(false)
            .init()),
        "MaxPool2d" => on_image!(largest()
            .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
            .init()),
        "MaxPool2d same" => on_image!(largest().with_padding(PaddingConfig2d::Same).init()),
        "MaxPool2d ceil" => on_image!(largest().with_dilation([1, 2]).with_ceil_mode(true).init()),
        "MaxPool2d ceil outside" => on_image!(largest()
            .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
            .with_ceil_mode(true)
            .init()),
        "AdaptiveAvgPool2d" => on_image!(AdaptiveAvgPool2dConfig::new([4, 3]).init()),
        "Unfold4d" => on_image!(Unfold4dConfig::new([3, 2]).init()),
        "Unfold4d settings" => on_image!(Unfold4dConfig::new([2, 3])
            .with_stride([2, 1])
            .with_dilation([1, 2])
            .with_padding([1, 2])
            .init()),
        "Interpolate2d" => on_image!(to_size(nearest()).init()),
        "Interpolate2d linear" => on_image!(to_size(linear()).init()),
        "Interpolate2d cubic" => on_image!(to_size(cubic()).init()),
        "Interpolate2d linear not aligned" => {
            on_image!(to_size(linear()).with_align_corners(false).init())
        }
        "Interpolate2d cubic not aligned" => {
            on_image!(to_size(cubic()).with_align_corners(false).init())
        }
        "Interpolate2d scale" => on_image!(by_scale(nearest()).init()),
        "Interpolate2d scale linear" => on_image!(by_scale(linear()).init()),
        "Interpolate2d scale linear not aligned" => {
            on_image!(by_scale(linear()).with_align_corners(false).init())
        }
        "Interpolate2d scale cubic" => on_image!(by_scale(cubic()).init()),
        "Interpolate1d linear" => on_row!(Interpolate1dConfig::new()
            .with_output_size(Some(12))
            .with_mode(linear())
            .init()),
        "Interpolate1d nearest" => on_row!(Interpolate1dConfig::new()
            .with_scale_factor(Some(1.5))
            .init()),
        "Interpolate1d cubic" => on_row!(Interpolate1dConfig::new()
            .with_output_size(Some(12))
            .with_mode(cubic())
            .init()),
        "Cnn" => task.run(Cnn::new, &[("x", &[2, 3, 24, 20])], |model, inputs| {
            one(model.forward(inputs.get("x")))
        }),
        _ => return None,
    })
}

pub fn run(name: &str, task: &Task) -> Result<()> {
    [recurrent, attention, activations, convolutions, images]
        .iter()
        .find_map(|models| models(name, task))
        .ok_or(format!("no model {name}"))?
}
