// SPDX-License-Identifier: MIT OR Apache-2.0
// The burn-store crate of 0.22 as a program: of the commands of burn/src/main.rs, save and load for
// Burnpack files, quantize and dequantize.

#[path = "../../burnpack/src/lines.rs"]
mod lines;
mod quantized;
#[path = "../../burn/src/report.rs"]
mod report;
#[path = "../../burn/src/settings.rs"]
mod settings;
mod zoo {
    include!(concat!(env!("OUT_DIR"), "/zoo.rs"));
}

use burn_store::{BurnpackStore, ModuleSnapshot};
use serde_json::{json, Map, Value};
use settings::{with_adapters, with_settings, Settings};
use sha2::{Digest, Sha256};
use std::error::Error;
use zoo::Zoo;

fn burnpack(file: &str, options: &[String]) -> Result<BurnpackStore, Box<dyn Error>> {
    let settings = Settings::parse(options)?;
    let store = with_settings!(BurnpackStore::from_file(file), settings);
    Ok(with_adapters!(store, settings))
}

fn save(mut store: BurnpackStore) -> Value {
    match Zoo::filled().save_into(&mut store) {
        Ok(()) => json!({"ok": true}),
        Err(error) => json!({"ok": false, "error": error.to_string()}),
    }
}

fn load(mut store: BurnpackStore) -> Result<Value, Box<dyn Error>> {
    let mut zoo = Zoo::zeros();
    let mut answer = report::report(zoo.load_from(&mut store));
    let mut tensors = Vec::new();
    let mut ids = Map::new();
    for tensor in zoo.collect(None, None, false) {
        let (name, dtype, shape, id, bytes) = tensor.into_parts()?;
        let hash: String = Sha256::digest(&*bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let dtype = dtype.name().split('(').next();
        tensors
            .push(json!({"path": name, "dtype": dtype, "shape": shape.to_vec(), "sha256": hash}));
        ids.insert(name, json!(id.map(|id| id.to_string())));
    }
    answer["tensors"] = tensors.into();
    answer["ids"] = ids.into();
    Ok(answer)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["save", file, ..] => println!("{}", save(burnpack(file, &arguments[2..])?)),
        ["load", file, ..] => println!("{}", load(burnpack(file, &arguments[2..])?)?),
        ["quantize", lines, out] => lines::print(&quantized::quantize(lines::read(lines)?, out)?),
        ["dequantize", file] => lines::print(&quantized::dequantize(file)?),
        _ => {
            let usage = "usage: save|load FILE [options] | quantize LINES OUT | dequantize FILE";
            return Err(usage.into());
        }
    }
    Ok(())
}
