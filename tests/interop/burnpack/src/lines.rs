// SPDX-License-Identifier: MIT OR Apache-2.0
// A file as lines of JSON, which every program of the Burnpack suites reads and writes:
//
//   {"metadata": {"key": "text"}}
//   {"scalars": {"key": {"Int": -1}}}       UInt and Bool likewise; of a Float, its bits in hex
//   {"name": "a.weight", "dtype": "F32", "shape": [2, 3], "param_id": 7, "data": "hex"}
//
// A dtype is what the crate at hand makes of its own; a param_id may be null. Parts that are empty
// may be left out.

use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::error::Error;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub dtype: Value,
    pub shape: Vec<usize>,
    pub param_id: Option<u64>,
    pub data: Vec<u8>,
}

#[derive(Default)]
pub struct Lines {
    pub metadata: BTreeMap<String, String>,
    pub scalars: BTreeMap<String, Value>,
    pub tensors: Vec<Line>,
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Result<Vec<u8>> {
    (0..text.len())
        .step_by(2)
        .map(|at| Ok(u8::from_str_radix(&text[at..at + 2], 16)?))
        .collect()
}

pub fn read(file: &str) -> Result<Lines> {
    let mut lines = Lines::default();
    for line in std::fs::read_to_string(file)?.lines() {
        let mut line: Value = serde_json::from_str(line)?;
        if let Some(metadata) = line.get_mut("metadata") {
            lines.metadata = serde_json::from_value(metadata.take())?;
        } else if let Some(scalars) = line.get_mut("scalars") {
            lines.scalars = serde_json::from_value(scalars.take())?;
        } else {
            lines.tensors.push(Line {
                name: serde_json::from_value(line["name"].take())?,
                dtype: line["dtype"].take(),
                shape: serde_json::from_value(line["shape"].take())?,
                param_id: serde_json::from_value(line["param_id"].take())?,
                data: from_hex(line["data"].as_str().ok_or("data is no text")?)?,
            });
        }
    }
    Ok(lines)
}

pub fn print(lines: &Lines) {
    println!("{}", json!({"metadata": lines.metadata}));
    println!("{}", json!({"scalars": lines.scalars}));
    for tensor in &lines.tensors {
        let line = json!({
            "name": tensor.name,
            "dtype": tensor.dtype,
            "shape": tensor.shape,
            "param_id": tensor.param_id,
            "data": to_hex(&tensor.data),
        });
        println!("{line}");
    }
}
