// SPDX-License-Identifier: MIT OR Apache-2.0
// Lines as the tensors that stores save.

use burn::module::ParamId;
use burn::tensor::TensorData;
use burn_store::TensorSnapshot;

use crate::lines::{Line, Result};

pub fn snapshot(line: Line) -> Result<TensorSnapshot> {
    let dtype = serde_json::from_value(line.dtype)?;
    let data = TensorData::from_bytes_vec(line.data, line.shape, dtype);
    let mut snapshot = TensorSnapshot::from_data(data, vec![line.name], vec![], ParamId::new());
    snapshot.tensor_id = line.param_id.map(ParamId::from);
    Ok(snapshot)
}
