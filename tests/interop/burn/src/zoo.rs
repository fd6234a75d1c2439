// SPDX-License-Identifier: MIT OR Apache-2.0
// A model with every kind of module, and the values that its parameters are given.

use burn::module::{Module, ModuleMapper, Param, ParamId};
use burn::tensor::backend::Backend;
use burn::tensor::{BasicOps, Bool, Int, Shape, Tensor, TensorData, TensorKind};
use burn_nn::conv::{
    Conv1d, Conv1dConfig, Conv2d, Conv2dConfig, ConvTranspose1d, ConvTranspose1dConfig,
    ConvTranspose2d, ConvTranspose2dConfig,
};
use burn_nn::{
    BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Embedding, EmbeddingConfig, GroupNorm,
    GroupNormConfig, InstanceNorm, InstanceNormConfig, LayerNorm, LayerNormConfig, Linear,
    LinearConfig, Relu, RmsNorm, RmsNormConfig,
};
use std::marker::PhantomData;

#[derive(Module, Debug)]
pub enum Layer<B: Backend> {
    Convolution(Conv1d<B>),
    Dense(Linear<B>),
}

#[derive(Module, Debug)]
pub struct Inner<B: Backend> {
    norm: LayerNorm<B>,
    scale: Param<Tensor<B, 1>>,
}

#[derive(Module, Debug)]
pub struct Block<B: Backend> {
    inner: Inner<B>,
    out: Linear<B>,
}

#[derive(Module, Debug)]
pub struct Wrapper<B: Backend, M: Module<B>> {
    inner: M,
    backend: PhantomData<B>,
}

#[derive(Module, Debug)]
pub struct Zoo<B: Backend> {
    linear: Linear<B>,
    linear_plain: Linear<B>,
    conv1d: Conv1d<B>,
    conv2d: Conv2d<B>,
    conv_transpose1d: ConvTranspose1d<B>,
    conv_transpose2d: ConvTranspose2d<B>,
    embedding: Embedding<B>,
    batch_norm: BatchNorm<B>,
    layer_norm: LayerNorm<B>,
    group_norm: GroupNorm<B>,
    instance_norm: InstanceNorm<B>,
    rms_norm: RmsNorm<B>,
    list: Vec<Linear<B>>,
    array: [Linear<B>; 2],
    pair: (Linear<B>, LayerNorm<B>),
    present: Option<Linear<B>>,
    absent: Option<Linear<B>>,
    convolution: Layer<B>,
    dense: Layer<B>,
    stages: Vec<Layer<B>>,
    block: Block<B>,
    wrapper: Wrapper<B, Linear<B>>,
    grid: Vec<[Linear<B>; 1]>,
    scales: Vec<Param<Tensor<B, 1>>>,
    scale: Param<Tensor<B, 1>>,
    cube: Param<Tensor<B, 3>>,
    counts: Param<Tensor<B, 1, Int>>,
    mask: Param<Tensor<B, 2, Bool>>,
    dropout: Dropout,
    relu: Relu,
    depth: usize,
}

impl<B: Backend> Zoo<B> {
    pub fn zeros() -> Self {
        let device = &B::Device::default();
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        let conv1d = || Conv1dConfig::new(2, 3, 3).init(device);
        let zoo = Zoo {
            linear: linear(3, 4),
            linear_plain: LinearConfig::new(4, 2).with_bias(false).init(device),
            conv1d: conv1d(),
            conv2d: Conv2dConfig::new([2, 4], [3, 2])
                .with_groups(2)
                .init(device),
            conv_transpose1d: ConvTranspose1dConfig::new([2, 3], 4).init(device),
            conv_transpose2d: ConvTranspose2dConfig::new([2, 3], [2, 3])
                .with_bias(false)
                .init(device),
            embedding: EmbeddingConfig::new(5, 3).init(device),
            batch_norm: BatchNormConfig::new(4).init(device),
            layer_norm: LayerNormConfig::new(4).init(device),
            group_norm: GroupNormConfig::new(2, 4).init(device),
            instance_norm: InstanceNormConfig::new(3).init(device),
            rms_norm: RmsNormConfig::new(4).init(device),
            list: (0..11).map(|_| linear(2, 3)).collect(),
            array: [linear(2, 2), linear(2, 2)],
            pair: (linear(4, 3), LayerNormConfig::new(3).init(device)),
            present: Some(linear(3, 1)),
            absent: None,
            convolution: Layer::Convolution(conv1d()),
            dense: Layer::Dense(linear(3, 2)),
            stages: vec![Layer::Dense(linear(2, 4)), Layer::Convolution(conv1d())],
            block: Block {
                inner: Inner {
                    norm: LayerNormConfig::new(4).init(device),
                    scale: Param::from_tensor(Tensor::zeros([4], device)),
                },
                out: linear(4, 2),
            },
            wrapper: Wrapper {
                inner: linear(2, 3),
                backend: PhantomData,
            },
            grid: vec![[linear(1, 2)], [linear(1, 2)]],
            scales: vec![Param::from_tensor(Tensor::zeros([3], device))],
            scale: Param::from_tensor(Tensor::zeros([6], device)),
            cube: Param::from_tensor(Tensor::zeros([2, 3, 4], device)),
            counts: Param::initialized(Default::default(), Tensor::from_data([0i32; 5], device)),
            mask: Param::initialized(
                Default::default(),
                Tensor::from_data([[false; 5]; 2], device),
            ),
            dropout: DropoutConfig::new(0.5).init(),
            relu: Relu::new(),
            depth: 3,
        };
        zoo.map(&mut Filler::new(|_, _| 0))
    }

    /// With other values in every parameter and element.
    pub fn filled() -> Self {
        Self::zeros().map(&mut filler())
    }
}

/// Gives every parameter numbers and an id that follow from its path.
pub fn filler() -> Filler<fn(&str, usize) -> i32> {
    Filler {
        has_ids: true,
        ..Filler::new(value_of)
    }
}

fn fnv1a64(text: &str) -> u64 {
    text.bytes().fold(0xcbf29ce484222325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3)
    })
}

/// An element of a parameter as a number from -1001 to 1001.
fn value_of(path: &str, index: usize) -> i32 {
    let number = (fnv1a64(path) % 2003 + index as u64 * 7919) % 2003;
    number as i32 - 1001
}

/// Gives a module's elements numbers: integers as they are, floats divided by 1001, of booleans
/// whether the number is odd. Paths have the variants of enums in them.
pub struct Filler<F> {
    number_of: F,
    has_ids: bool,
    path: Vec<String>,
}

impl<F: Fn(&str, usize) -> i32> Filler<F> {
    fn new(number_of: F) -> Self {
        Self {
            number_of,
            has_ids: false,
            path: Vec::new(),
        }
    }

    fn id_of(&self, id: ParamId) -> ParamId {
        match self.has_ids {
            true => ParamId::from(fnv1a64(&self.path.join("."))),
            false => id,
        }
    }

    fn fill<B: Backend, const D: usize, K, E: burn::tensor::Element>(
        &self,
        shape: Shape,
        element: impl Fn(i32) -> E,
    ) -> Tensor<B, D, K>
    where
        K: TensorKind<B> + BasicOps<B>,
    {
        let path = self.path.join(".");
        let values: Vec<E> = (0..shape.num_elements())
            .map(|index| element((self.number_of)(&path, index)))
            .collect();
        Tensor::from_data(TensorData::new(values, shape), &B::Device::default())
    }
}

impl<B: Backend, F: Fn(&str, usize) -> i32> ModuleMapper<B> for Filler<F> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let shape = param.lazy_shape();
        let mut param =
            param.map(|_| self.fill(shape, |number| (f64::from(number) / 1001.0) as f32));
        param.id = self.id_of(param.id);
        param
    }

    fn map_int<const D: usize>(
        &mut self,
        param: Param<Tensor<B, D, Int>>,
    ) -> Param<Tensor<B, D, Int>> {
        let shape = param.lazy_shape();
        let mut param = param.map(|_| self.fill(shape, |number| number));
        param.id = self.id_of(param.id);
        param
    }

    fn map_bool<const D: usize>(
        &mut self,
        param: Param<Tensor<B, D, Bool>>,
    ) -> Param<Tensor<B, D, Bool>> {
        let shape = param.lazy_shape();
        let mut param = param.map(|_| self.fill(shape, |number| number % 2 != 0));
        param.id = self.id_of(param.id);
        param
    }
}
