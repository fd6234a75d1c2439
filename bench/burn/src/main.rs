// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forward passes with Burn's NdArray backend, of the sizes that bench/forward.py measures. Weights
//! are random: only the time counts. Prints the fastest of some passes.
use burn::module::Module;
use burn::prelude::*;
use burn::tensor::activation::relu;
use burn::tensor::{Distribution, Int};
use burn_ndarray::{NdArray, NdArrayDevice as Device};
use burn_nn::attention::generate_autoregressive_mask;
use burn_nn::conv::{Conv2d, Conv2dConfig};
use burn_nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn_nn::transformer::{TransformerEncoderConfig, TransformerEncoderInput};
use burn_nn::{
    BatchNorm, BatchNormConfig, BiLstmConfig, EmbeddingConfig, Linear, LinearConfig,
    PaddingConfig2d,
};
use std::time::Instant;

type Cpu = NdArray<f32>;

fn conv(from: usize, to: usize, size: usize, stride: usize, device: &Device) -> Conv2d<Cpu> {
    let pad = size / 2;
    Conv2dConfig::new([from, to], [size, size])
        .with_stride([stride, stride])
        .with_padding(PaddingConfig2d::Explicit(pad, pad, pad, pad))
        .with_bias(false)
        .init(device)
}

fn norm(channels: usize, device: &Device) -> BatchNorm<Cpu> {
    BatchNormConfig::new(channels).init(device)
}

#[derive(Module, Debug)]
struct Block<B: Backend> {
    conv1: Conv2d<B>,
    norm1: BatchNorm<B>,
    conv2: Conv2d<B>,
    norm2: BatchNorm<B>,
    shortcut: Option<(Conv2d<B>, BatchNorm<B>)>,
}

impl Block<Cpu> {
    fn new(from: usize, to: usize, stride: usize, device: &Device) -> Self {
        let changes = stride != 1 || from != to;
        Block {
            conv1: conv(from, to, 3, stride, device),
            norm1: norm(to, device),
            conv2: conv(to, to, 3, 1, device),
            norm2: norm(to, device),
            shortcut: changes.then(|| (conv(from, to, 1, stride, device), norm(to, device))),
        }
    }

    fn forward(&self, input: Tensor<Cpu, 4>) -> Tensor<Cpu, 4> {
        let hidden = relu(self.norm1.forward(self.conv1.forward(input.clone())));
        let hidden = self.norm2.forward(self.conv2.forward(hidden));
        let around = match &self.shortcut {
            Some((conv, norm)) => norm.forward(conv.forward(input)),
            None => input,
        };
        relu(hidden + around)
    }
}

struct ResNet18 {
    stem: Conv2d<Cpu>,
    norm: BatchNorm<Cpu>,
    pool: MaxPool2d,
    blocks: Vec<Block<Cpu>>,
    head: Linear<Cpu>,
}

impl ResNet18 {
    fn new(device: &Device) -> Self {
        let sizes = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)];
        let blocks = sizes.iter().flat_map(|&(from, to, stride)| {
            [
                Block::new(from, to, stride, device),
                Block::new(to, to, 1, device),
            ]
        });
        ResNet18 {
            stem: conv(3, 64, 7, 2, device),
            norm: norm(64, device),
            pool: MaxPool2dConfig::new([3, 3])
                .with_strides([2, 2])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                .init(),
            blocks: blocks.collect(),
            head: LinearConfig::new(512, 1000).init(device),
        }
    }

    fn forward(&self, images: Tensor<Cpu, 4>) -> Tensor<Cpu, 2> {
        let batch = images.dims()[0];
        let hidden = relu(self.norm.forward(self.stem.forward(images)));
        let hidden = self
            .blocks
            .iter()
            .fold(self.pool.forward(hidden), |x, block| block.forward(x));
        self.head
            .forward(hidden.mean_dim(3).mean_dim(2).reshape([batch, 512]))
    }
}

fn measure(name: String, mut run: impl FnMut()) {
    const SECONDS: f64 = 6.0;
    run();
    let begin = Instant::now();
    let mut best = f64::MAX;
    let mut passes = 0;
    while passes < 3 || (begin.elapsed().as_secs_f64() < SECONDS && passes < 50) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
        passes += 1;
    }
    println!("{name}: {:.1} ms", best * 1e3);
}

fn main() {
    let device = Device::default();

    let resnet = ResNet18::new(&device);
    for batch in [1, 8] {
        let images = Tensor::random([batch, 3, 224, 224], Distribution::Default, &device);
        measure(format!("ResNet-18, batch {batch}"), || {
            resnet.forward(images.clone()).into_data();
        });
    }

    // GPT-2: 12 layers of 768.
    let embedding = EmbeddingConfig::new(50257, 768).init::<Cpu>(&device);
    let layers = TransformerEncoderConfig::new(768, 3072, 12, 12)
        .with_norm_first(true)
        .with_dropout(0.0)
        .init::<Cpu>(&device);
    let head = LinearConfig::new(768, 50257)
        .with_bias(false)
        .init::<Cpu>(&device);
    for tokens in [1, 64] {
        let words = Tensor::<Cpu, 2, Int>::zeros([1, tokens], &device);
        measure(format!("GPT-2, {tokens} tokens"), || {
            let mask = generate_autoregressive_mask::<Cpu>(1, tokens, &device);
            let input = TransformerEncoderInput::new(embedding.forward(words.clone()));
            head.forward(layers.forward(input.mask_attn(mask)))
                .into_data();
        });
    }

    // Two bidirectional LSTM of 256.
    let lower = BiLstmConfig::new(128, 256, true).init::<Cpu>(&device);
    let upper = BiLstmConfig::new(512, 256, true).init::<Cpu>(&device);
    for batch in [1, 16] {
        let steps = Tensor::<Cpu, 3>::random([batch, 100, 128], Distribution::Default, &device);
        measure(format!("LSTM, 100 steps, batch {batch}"), || {
            upper
                .forward(lower.forward(steps.clone(), None).0, None)
                .0
                .into_data();
        });
    }
}
