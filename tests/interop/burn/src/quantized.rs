// SPDX-License-Identifier: MIT OR Apache-2.0
// Quantized tensors and the numbers that Burn takes them for.

use burn::module::ParamId;
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use burn_store::{BurnpackStore, BurnpackWriter, ModuleStore, TensorSnapshot};

use crate::lines::{Line, Lines, Result};

fn numbers(name: &str, data: TensorData) -> Line {
    Line {
        name: name.into(),
        dtype: "F32".into(),
        shape: data.shape.to_vec(),
        param_id: None,
        data: data.as_bytes().to_vec(),
    }
}

fn quantize_one<const D: usize>(line: Line) -> Result<(TensorSnapshot, Line)> {
    let DType::QFloat(scheme) = serde_json::from_value(line.dtype)? else {
        return Err("a scheme is wanted".into());
    };
    let data = TensorData::from_bytes_vec(line.data, line.shape, DType::F32);
    let device = Default::default();
    let tensor = Tensor::<Flex, D>::from_data(data, &device).quantize_dynamic(&scheme);
    let path = vec![line.name.clone()];
    let snapshot = TensorSnapshot::from_float(&tensor, path, vec![], ParamId::new());
    Ok((
        snapshot,
        numbers(&line.name, tensor.dequantize().into_data()),
    ))
}

fn dequantize_one<const D: usize>(name: &str, data: TensorData) -> Line {
    let tensor = Tensor::<Flex, D>::from_data(data, &Default::default());
    numbers(name, tensor.dequantize().into_data())
}

/// Quantizes lines whose data are f32 and whose dtypes are schemes. Writes the file and gives the
/// numbers that Burn makes of it.
pub fn quantize(lines: Lines, out: &str) -> Result<Lines> {
    let mut snapshots = Vec::new();
    let mut answer = Lines::default();
    for line in lines.tensors {
        let (snapshot, numbers) = match line.shape.len() {
            1 => quantize_one::<1>(line)?,
            2 => quantize_one::<2>(line)?,
            3 => quantize_one::<3>(line)?,
            _ => quantize_one::<4>(line)?,
        };
        snapshots.push(snapshot);
        answer.tensors.push(numbers);
    }
    BurnpackWriter::new(snapshots).write_to_file(out)?;
    Ok(answer)
}

/// The numbers of a file's quantized tensors.
pub fn dequantize(file: &str) -> Result<Lines> {
    let mut answer = Lines::default();
    for (name, tensor) in BurnpackStore::from_file(file).get_all_snapshots()? {
        let data = tensor.to_data()?;
        answer.tensors.push(match data.shape.len() {
            1 => dequantize_one::<1>(name, data),
            2 => dequantize_one::<2>(name, data),
            3 => dequantize_one::<3>(name, data),
            _ => dequantize_one::<4>(name, data),
        });
    }
    Ok(answer)
}
