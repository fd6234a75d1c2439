// SPDX-License-Identifier: MIT OR Apache-2.0
// The burn-store crate as a program, for comparison with it. Every command answers in JSON.
//
//   collect [--skip-enum-variants]   the parameters of the model, in the order of its fields
//   save FILE [options]              the model with values in it
//   load FILE [options]              into a model of zeros: what happened, and what it holds then
//   keys FILE [options]              the names in a file
//
// Options: --pytorch, --half, --skip-enum-variants, --contiguous, --remap FROM TO, --regex RE,
// --linear (the parameters of linear layers), --partial, --no-validate, --metadata KEY VALUE.

mod zoo;

use burn::tensor::DType;
use burn_flex::Flex;
use burn_store::{
    ApplyError, BurnToPyTorchAdapter, HalfPrecisionAdapter, ModuleAdapter, ModuleSnapshot,
    ModuleStore, PyTorchToBurnAdapter, SafetensorsStore, TensorSnapshot,
};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use std::error::Error;

type Zoo = zoo::Zoo<Flex>;

fn dtype_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool(_) => "bool",
        other => other.name(),
    }
}

fn collect(zoo: &Zoo, skip_enum_variants: bool) -> Vec<TensorSnapshot> {
    zoo.collect(None, None, skip_enum_variants)
}

fn list(zoo: &Zoo, skip_enum_variants: bool) -> Value {
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

fn contents(zoo: &Zoo) -> Result<Value, Box<dyn Error>> {
    collect(zoo, false)
        .into_iter()
        .map(|tensor| {
            let data = tensor.to_data()?;
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

fn with_adapters(store: SafetensorsStore, pytorch: bool, half: bool) -> SafetensorsStore {
    let cast = HalfPrecisionAdapter::new();
    match (pytorch, half) {
        (false, false) => store,
        (false, true) => store.with_from_adapter(cast.clone()).with_to_adapter(cast),
        (true, false) => store
            .with_from_adapter(PyTorchToBurnAdapter)
            .with_to_adapter(BurnToPyTorchAdapter),
        (true, true) => store
            .with_from_adapter(PyTorchToBurnAdapter.chain(cast.clone()))
            .with_to_adapter(BurnToPyTorchAdapter.chain(cast)),
    }
}

struct Options {
    store: SafetensorsStore,
    skip_enum_variants: bool,
}

fn store_of(file: &str, options: &[String]) -> Result<Options, Box<dyn Error>> {
    let mut store = SafetensorsStore::from_file(file).overwrite(true);
    let (mut pytorch, mut half, mut skip_enum_variants) = (false, false, false);
    let mut words = options.iter();
    while let Some(option) = words.next() {
        let mut argument = || words.next().ok_or(format!("{option} lacks an argument"));
        store = match option.as_str() {
            "--pytorch" => {
                pytorch = true;
                store
            }
            "--half" => {
                half = true;
                store
            }
            "--skip-enum-variants" => {
                skip_enum_variants = true;
                store.skip_enum_variants(true)
            }
            "--contiguous" => store.map_indices_contiguous(true),
            "--remap" => store.with_key_remapping(argument()?, argument()?.clone()),
            "--regex" => store.with_regex(argument()?),
            "--linear" => store.with_predicate(|_, container| container.ends_with("Struct:Linear")),
            "--partial" => store.allow_partial(true),
            "--no-validate" => store.validate(false),
            "--metadata" => store.metadata(argument()?.clone(), argument()?.clone()),
            _ => return Err(format!("no option {option}").into()),
        };
    }
    Ok(Options {
        store: with_adapters(store, pytorch, half),
        skip_enum_variants,
    })
}

fn path_of(error: &ApplyError) -> &str {
    match error {
        ApplyError::ShapeMismatch { path, .. }
        | ApplyError::DTypeMismatch { path, .. }
        | ApplyError::AdapterError { path, .. }
        | ApplyError::LoadError { path, .. } => path,
    }
}

fn load(mut store: SafetensorsStore) -> Result<Value, Box<dyn Error>> {
    let mut zoo = Zoo::zeros();
    Ok(match zoo.load_from(&mut store) {
        Err(error) => json!({"ok": false, "error": error.to_string(), "tensors": contents(&zoo)?}),
        Ok(result) => json!({
            "ok": true,
            "applied": result.applied,
            "skipped": result.skipped,
            "missing": result.missing.iter().map(|(path, _)| path).collect::<Vec<_>>(),
            "unused": result.unused,
            "errors": result.errors.iter().map(path_of).collect::<Vec<_>>(),
            "tensors": contents(&zoo)?,
        }),
    })
}

fn answer(arguments: &[String]) -> Result<Value, Box<dyn Error>> {
    let usage = "usage: collect [options] | save|load|keys FILE [options]";
    let (command, rest) = arguments.split_first().ok_or(usage)?;
    if command == "collect" {
        let options = store_of("", rest)?;
        return Ok(list(&Zoo::zeros(), options.skip_enum_variants));
    }
    let (file, rest) = rest.split_first().ok_or(usage)?;
    let mut store = store_of(file, rest)?.store;
    match command.as_str() {
        "save" => Ok(match Zoo::filled().save_into(&mut store) {
            Ok(()) => json!({"ok": true}),
            Err(error) => json!({"ok": false, "error": error.to_string()}),
        }),
        "load" => load(store),
        "keys" => Ok(json!(store.keys()?)),
        _ => Err(usage.into()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!("{}", answer(&arguments)?);
    Ok(())
}
