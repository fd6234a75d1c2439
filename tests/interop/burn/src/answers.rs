// SPDX-License-Identifier: MIT OR Apache-2.0
// What the programs say about the model.

use burn::tensor::DType;
use burn_store::{ModuleSnapshot, ModuleStore, TensorSnapshot};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use std::error::Error;

use crate::report::report;
use crate::{collect, Zoo};

fn dtype_name(dtype: DType) -> &'static str {
    match dtype.name() {
        name if name.starts_with("bool") => "bool",
        name => name,
    }
}

#[allow(dead_code)]
pub fn list(zoo: &Zoo, skip_enum_variants: bool) -> Value {
    let entry = |tensor: TensorSnapshot| {
        json!({
            "path": tensor.full_path(),
            "container": tensor.container_path(),
            "dtype": dtype_name(tensor.dtype),
            "shape": tensor.shape.to_vec(),
        })
    };
    collect(zoo, skip_enum_variants)
        .into_iter()
        .map(entry)
        .collect()
}

pub fn contents(zoo: &Zoo) -> Result<Value, Box<dyn Error>> {
    collect(zoo, false)
        .into_iter()
        .map(|tensor| {
            let data = tensor.to_data().map_err(|error| format!("{error:?}"))?;
            let hash: String = Sha256::digest(data.as_bytes())
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            Ok(json!({
                "path": tensor.full_path(),
                "dtype": dtype_name(data.dtype),
                "shape": data.shape.to_vec(),
                "sha256": hash,
            }))
        })
        .collect()
}

/// The parameters' ids by path, as text: numbers of JSON are not that long everywhere.
pub fn ids(zoo: &Zoo) -> Value {
    collect(zoo, false)
        .into_iter()
        .map(|tensor| {
            let id = tensor.tensor_id.map(|id| id.val().to_string());
            (tensor.full_path(), json!(id))
        })
        .collect()
}

pub fn save(mut store: impl ModuleStore) -> Value {
    match Zoo::filled().save_into(&mut store) {
        Ok(()) => json!({"ok": true}),
        Err(error) => json!({"ok": false, "error": error.to_string()}),
    }
}

pub fn load(mut store: impl ModuleStore) -> Result<Value, Box<dyn Error>> {
    let mut zoo = Zoo::zeros();
    let mut answer = report(zoo.load_from(&mut store));
    answer["tensors"] = contents(&zoo)?;
    answer["ids"] = ids(&zoo);
    Ok(answer)
}
