// SPDX-License-Identifier: MIT OR Apache-2.0
// Models of layers: their parameters, inputs and outputs as Burnpack files.

use burn::module::{Module, ModuleMapper, Param, ParamId};
use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Distribution, Tensor, TensorData};
use burn_flex::Flex;
use burn_store::{BurnpackStore, BurnpackWriter, ModuleSnapshot, ModuleStore, TensorSnapshot};
use std::collections::BTreeMap;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
pub type Outputs = Vec<TensorData>;

/// By name. Those whose name starts with "mask" are booleans, the others floats.
pub struct Inputs(BTreeMap<String, TensorData>);

impl Inputs {
    pub fn get<const D: usize>(&self, name: &str) -> Tensor<Flex, D> {
        Tensor::from_data(self.0[name].clone(), &Default::default())
    }

    pub fn mask<const D: usize>(&self, name: &str) -> Tensor<Flex, D, Bool> {
        Tensor::from_data(self.0[name].clone(), &Default::default())
    }

    fn random(shapes: &[(&str, &[usize])]) -> Self {
        let random = |name: &str, shape: &[usize]| {
            let elements = Tensor::<Flex, 1>::random(
                [shape.iter().product::<usize>()],
                Distribution::Uniform(-3.0, 3.0),
                &Default::default(),
            );
            let mut data = match name.starts_with("mask") {
                true => elements.greater_elem(0.0).into_data(),
                false => elements.into_data(),
            };
            data.shape = shape.to_vec().into();
            data
        };
        let named = |&(name, shape): &(&str, &[usize])| (name.to_string(), random(name, shape));
        Self(shapes.iter().map(named).collect())
    }
}

/// Adds random numbers to all parameters, so that norms are not ones and zeros.
struct Shaker;

impl<B: Backend> ModuleMapper<B> for Shaker {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        param.map(|tensor| {
            let noise = tensor.random_like(Distribution::Uniform(-0.4, 0.4));
            tensor + noise
        })
    }
}

/// What is to be done with a model.
pub enum Task<'a> {
    /// Writes random parameters and random inputs.
    Create { model: &'a str, inputs: &'a str },
    /// Loads both and writes the outputs.
    Forward {
        model: &'a str,
        inputs: &'a str,
        outputs: &'a str,
    },
}

fn write(tensors: impl Iterator<Item = (String, TensorData)>, file: &str) -> Result<()> {
    let snapshot = |(name, data)| {
        let mut snapshot = TensorSnapshot::from_data(data, vec![name], vec![], ParamId::new());
        snapshot.tensor_id = None;
        snapshot
    };
    Ok(BurnpackWriter::new(tensors.map(snapshot).collect()).write_to_file(file)?)
}

fn read(file: &str) -> Result<Inputs> {
    let mut tensors = BTreeMap::new();
    for (name, tensor) in BurnpackStore::from_file(file).get_all_snapshots()? {
        tensors.insert(name.clone(), tensor.to_data()?);
    }
    Ok(Inputs(tensors))
}

impl Task<'_> {
    pub fn run<M: Module<Flex>>(
        &self,
        make: impl Fn() -> M,
        shapes: &[(&str, &[usize])],
        forward: impl Fn(&M, &Inputs) -> Outputs,
    ) -> Result<()> {
        Flex::seed(&Default::default(), 20);
        match self {
            Task::Create { model, inputs } => {
                let mut store = BurnpackStore::from_file(model).overwrite(true);
                make().map(&mut Shaker).save_into(&mut store)?;
                write(Inputs::random(shapes).0.into_iter(), inputs)
            }
            Task::Forward {
                model,
                inputs,
                outputs,
            } => {
                let mut module = make();
                module.load_from(&mut BurnpackStore::from_file(model))?;
                let results = forward(&module, &read(inputs)?).into_iter().enumerate();
                write(results.map(|(i, data)| (i.to_string(), data)), outputs)
            }
        }
    }
}
