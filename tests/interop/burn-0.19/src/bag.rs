// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack files by name and bytes. This release shows its writer to nobody, and a store saves
// modules alone: one that has any tensors.

use burn::module::{ConstantRecord, Devices, Module, ModuleMapper, ModuleVisitor};
use burn_ndarray::NdArray;
use burn_store::{BurnpackStore, Collector, ModuleSnapshot};

use crate::lines::{Line, Lines, Result};
use crate::snapshots::snapshot;

type Backend = NdArray<f32, i32>;

#[derive(Clone, Debug)]
struct Bag {
    tensors: Vec<Line>,
}

impl Module<Backend> for Bag {
    type Record = ConstantRecord;

    fn visit<V: ModuleVisitor<Backend>>(&self, visitor: &mut V) {
        // SAFETY: a bag is saved and nothing else, for which stores visit modules with a Collector.
        let collector = unsafe { &mut *(visitor as *mut V).cast::<Collector>() };
        let tensors = self.tensors.iter().cloned();
        collector
            .tensors
            .extend(tensors.map(|line| snapshot(line).expect("a tensor")));
    }

    fn map<M: ModuleMapper<Backend>>(self, _: &mut M) -> Self {
        self
    }

    fn load_record(self, _: ConstantRecord) -> Self {
        self
    }

    fn into_record(self) -> ConstantRecord {
        ConstantRecord::new()
    }

    fn collect_devices(&self, devices: Devices<Backend>) -> Devices<Backend> {
        devices
    }

    fn fork(self, _: &burn::tensor::Device<Backend>) -> Self {
        self
    }

    fn to_device(self, _: &burn::tensor::Device<Backend>) -> Self {
        self
    }
}

pub fn write(lines: Lines, out: &str) -> Result<()> {
    let mut store = BurnpackStore::from_file(out)
        .overwrite(true)
        .clear_metadata();
    for (key, text) in &lines.metadata {
        store = store.metadata(key, text);
    }
    let bag = Bag {
        tensors: lines.tensors,
    };
    Ok(bag
        .save_into(&mut store)
        .map_err(|error| error.to_string())?)
}
