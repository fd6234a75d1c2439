// SPDX-License-Identifier: MIT OR Apache-2.0
// Quantized tensors and the numbers that Burn takes them for, as in burn/src/quantized.rs.

use burn::tensor::{Bytes, DType, Tensor, TensorData};
use burn_store::bridge;
use burn_store::burn_pack::{Reader, Tensor as PackTensor, Writer};

use crate::lines::{Line, Lines, Result};

fn numbers(name: &str, data: TensorData) -> Line {
    Line {
        name: name.into(),
        dtype: "F32".into(),
        shape: data.shape().to_vec(),
        param_id: None,
        data: data.as_bytes().to_vec(),
    }
}

fn quantize_one<const D: usize>(line: Line) -> Result<(PackTensor, Line)> {
    let DType::QFloat(scheme) = serde_json::from_value(line.dtype)? else {
        return Err("a scheme is wanted".into());
    };
    let data = TensorData::from_bytes(Bytes::from_bytes_vec(line.data), line.shape, DType::F32);
    let tensor = Tensor::<D>::from_data(data, &Default::default()).quantize_dynamic(&scheme);
    let packed = bridge::from_tensor(&tensor, line.name.clone(), None);
    Ok((packed, numbers(&line.name, tensor.dequantize().into_data())))
}

fn dequantize_one<const D: usize>(name: &str, data: TensorData) -> Line {
    let tensor = Tensor::<D>::from_data(data, &Default::default());
    numbers(name, tensor.dequantize().into_data())
}

pub fn quantize(lines: Lines, out: &str) -> Result<Lines> {
    let mut packed = Vec::new();
    let mut answer = Lines::default();
    for line in lines.tensors {
        let (tensor, numbers) = match line.shape.len() {
            1 => quantize_one::<1>(line)?,
            2 => quantize_one::<2>(line)?,
            3 => quantize_one::<3>(line)?,
            _ => quantize_one::<4>(line)?,
        };
        packed.push(tensor);
        answer.tensors.push(numbers);
    }
    Writer::new(packed).write_to_file_in_place(out)?;
    Ok(answer)
}

pub fn dequantize(file: &str) -> Result<Lines> {
    let mut answer = Lines::default();
    for tensor in Reader::from_file_exact(file)?.into_tensors()? {
        let name = tensor.name.clone();
        let data = bridge::into_data(tensor)?;
        answer.tensors.push(match data.shape().len() {
            1 => dequantize_one::<1>(&name, data),
            2 => dequantize_one::<2>(&name, data),
            3 => dequantize_one::<3>(&name, data),
            _ => dequantize_one::<4>(&name, data),
        });
    }
    Ok(answer)
}
