// SPDX-License-Identifier: MIT OR Apache-2.0
// The safetensors crate as a program, for comparison with it.
//
//   list FILE         one JSON line for the metadata, then one for each tensor with its bytes in hex
//   pack LINES OUT    the file that the crate writes for such lines
//   rewrite IN OUT    the file that the crate writes for what it reads

use safetensors::tensor::{serialize_to_file, Dtype, TensorView};
use safetensors::SafeTensors;
use serde_json::{json, Value};
use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    (0..text.len())
        .step_by(2)
        .map(|at| Ok(u8::from_str_radix(&text[at..at + 2], 16)?))
        .collect()
}

fn list(file: &str) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let (_, header) = SafeTensors::read_metadata(&bytes)?;
    println!("{}", json!({"metadata": header.metadata()}));
    for (name, view) in SafeTensors::deserialize(&bytes)?.tensors() {
        let data = to_hex(view.data());
        let line =
            json!({"name": name, "dtype": view.dtype(), "shape": view.shape(), "data": data});
        println!("{line}");
    }
    Ok(())
}

fn pack(lines: &str, out: &str) -> Result<(), Box<dyn Error>> {
    let mut metadata: Option<HashMap<String, String>> = None;
    let mut tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = Vec::new();
    for line in std::fs::read_to_string(lines)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        if line.get("metadata").is_some() {
            metadata = serde_json::from_value(line["metadata"].clone())?;
            continue;
        }
        tensors.push((
            serde_json::from_value(line["name"].clone())?,
            serde_json::from_value(line["dtype"].clone())?,
            serde_json::from_value(line["shape"].clone())?,
            from_hex(line["data"].as_str().ok_or("data is no text")?)?,
        ));
    }
    let mut views = Vec::new();
    for (name, dtype, shape, data) in &tensors {
        views.push((name, TensorView::new(*dtype, shape.clone(), data)?));
    }
    Ok(serialize_to_file(views, metadata, Path::new(out))?)
}

fn rewrite(input: &str, out: &str) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(input)?;
    let (_, header) = SafeTensors::read_metadata(&bytes)?;
    let tensors = SafeTensors::deserialize(&bytes)?.tensors();
    Ok(serialize_to_file(
        tensors,
        header.metadata().clone(),
        Path::new(out),
    )?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["list", file] => list(file),
        ["pack", lines, out] => pack(lines, out),
        ["rewrite", input, out] => rewrite(input, out),
        _ => Err("usage: list FILE | pack LINES OUT | rewrite IN OUT".into()),
    }
}
