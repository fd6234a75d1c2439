// SPDX-License-Identifier: MIT OR Apache-2.0
// The burn-pack crate as a program, for comparison with it.
//
//   list FILE         the file as lines (lines.rs), tensors sorted by name
//   pack LINES OUT    the file that the crate writes for such lines
//   rewrite IN OUT    the file that the crate writes for what it reads

mod lines;

use burn_pack::{Bytes, Reader, Scalar, Tensor, Writer};
use lines::{Line, Lines, Result};
use serde_json::{json, Value};

fn scalar_of(value: &Value) -> Result<Scalar> {
    match value["Float"].as_str() {
        Some(bits) => Ok(Scalar::Float(f64::from_bits(u64::from_str_radix(
            bits, 16,
        )?))),
        None => Ok(serde_json::from_value(value.clone())?),
    }
}

fn value_of(scalar: &Scalar) -> Result<Value> {
    match scalar {
        Scalar::Float(number) => Ok(json!({"Float": format!("{:016x}", number.to_bits())})),
        other => Ok(serde_json::to_value(other)?),
    }
}

fn read(file: &str) -> Result<Lines> {
    let reader = Reader::from_file_exact(file)?;
    let mut lines = Lines {
        metadata: reader.metadata().clone(),
        ..Default::default()
    };
    for (key, scalar) in reader.scalars() {
        lines.scalars.insert(key.clone(), value_of(scalar)?);
    }
    for tensor in reader.into_tensors()? {
        let (name, dtype, shape, param_id, bytes) = tensor.into_parts()?;
        lines.tensors.push(Line {
            name,
            dtype: serde_json::to_value(dtype)?,
            shape: shape.to_vec(),
            param_id,
            data: bytes.to_vec(),
        });
    }
    Ok(lines)
}

fn write(lines: Lines, out: &str) -> Result<()> {
    let mut tensors = Vec::new();
    for line in lines.tensors {
        let dtype = serde_json::from_value(line.dtype)?;
        let bytes = Bytes::from_bytes_vec(line.data);
        tensors.push(Tensor::new(
            line.name,
            dtype,
            line.shape,
            line.param_id,
            bytes,
        ));
    }
    let mut writer = Writer::new(tensors).auto_extension(false);
    for (key, text) in &lines.metadata {
        writer = writer.with_metadata(key, text);
    }
    for (key, value) in &lines.scalars {
        writer = writer.with_scalar(key, scalar_of(value)?);
    }
    Ok(writer.write_to_file_in_place(out)?)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["list", file] => lines::print(&read(file)?),
        ["pack", lines, out] => write(lines::read(lines)?, out)?,
        ["rewrite", input, out] => write(read(input)?, out)?,
        _ => return Err("usage: list FILE | pack LINES OUT | rewrite IN OUT".into()),
    }
    Ok(())
}
