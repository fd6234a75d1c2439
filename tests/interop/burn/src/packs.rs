// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack files by name and bytes, without a model.

use burn_store::{BurnpackStore, BurnpackWriter, ModuleStore};

use crate::lines::{Line, Lines, Result};
use crate::snapshots::snapshot;

/// Without metadata, which a store does not show. A tensor without an id gets a random one.
pub fn read(file: &str) -> Result<Lines> {
    read_from(BurnpackStore::from_file(file))
}

pub fn read_from(mut store: impl ModuleStore<Error: std::error::Error + 'static>) -> Result<Lines> {
    let mut lines = Lines::default();
    for (name, tensor) in store.get_all_snapshots()? {
        let data = tensor.to_data()?;
        lines.tensors.push(Line {
            name: name.clone(),
            dtype: serde_json::to_value(data.dtype)?,
            shape: data.shape.to_vec(),
            param_id: tensor.tensor_id.map(|id| id.val()),
            data: data.as_bytes().to_vec(),
        });
    }
    Ok(lines)
}

pub fn write(lines: Lines, out: &str) -> Result<()> {
    let tensors: Result<Vec<_>> = lines.tensors.into_iter().map(snapshot).collect();
    let mut writer = BurnpackWriter::new(tensors?);
    for (key, text) in &lines.metadata {
        writer = writer.with_metadata(key, text);
    }
    Ok(writer.write_to_file(out)?)
}
