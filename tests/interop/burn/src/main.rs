// SPDX-License-Identifier: MIT OR Apache-2.0
// The burn-store crate as a program, for comparison with it. Every command answers in JSON.
//
//   collect [--skip-enum-variants]   the parameters of the model, in the order of its fields
//   save FILE [options]              the model with values in it
//   load FILE [options]              into a model of zeros: what happened, and what it holds then
//   keys FILE [options]              the names in a file
//
// The format is told by the file's extension: .safetensors, .bpk or one of the recorders'.
// Options: --pytorch, --half, --skip-enum-variants, --contiguous, --remap FROM TO, --regex RE,
// --linear (the parameters of linear layers), --partial, --no-validate, --metadata KEY VALUE; of
// records, --precision full|half|double.
//
// Files as lines of JSON (lines.rs), Burnpack's but for what is said:
//
//   list FILE              what the store reads, without metadata; of a SafeTensors file as well
//   pack LINES OUT         the file that the crate writes
//   quantize LINES OUT     writes numbers, each quantized by the scheme that is its dtype; says what
//                          Burn takes them for
//   dequantize FILE        what Burn takes the quantized tensors of a file for
//
//   records FOLDER         writes small modules by every recorder; says what is in each file
//
// Models of layers (layers.rs), whose parameters, inputs and outputs are Burnpack files:
//
//   create NAME MODEL INPUTS             random parameters and inputs
//   forward NAME MODEL INPUTS OUTPUTS    loads the first two and computes

mod answers;
mod forward;
mod layers;
#[path = "../../burnpack/src/lines.rs"]
mod lines;
mod packs;
mod quantized;
mod records;
mod report;
mod samples;
mod settings;
mod snapshots;
mod zoo;

use burn_flex::Flex;
use burn_store::{BurnpackStore, ModuleSnapshot, ModuleStore, SafetensorsStore, TensorSnapshot};
use serde_json::{json, Value};
use settings::{with_adapters, with_settings, Settings};
use std::error::Error;
use std::ffi::OsStr;
use std::path::Path;

type Zoo = zoo::Zoo<Flex>;

fn collect(zoo: &Zoo, skip_enum_variants: bool) -> Vec<TensorSnapshot> {
    zoo.collect(None, None, skip_enum_variants)
}

fn safetensors(file: &str, settings: &Settings) -> SafetensorsStore {
    let store = SafetensorsStore::from_file(file)
        .skip_enum_variants(settings.skip_enum_variants)
        .map_indices_contiguous(settings.contiguous);
    with_adapters!(with_settings!(store, settings), settings)
}

fn burnpack(file: &str, settings: &Settings) -> BurnpackStore {
    with_adapters!(
        with_settings!(BurnpackStore::from_file(file), settings),
        settings
    )
}

fn answer(arguments: &[String]) -> Result<Value, Box<dyn Error>> {
    let usage = "usage: collect [options] | save|load|keys FILE [options]\
                 | list|dequantize FILE | pack|quantize LINES OUT | records FOLDER";
    let (command, rest) = arguments.split_first().ok_or(usage)?;
    if command == "collect" {
        let settings = Settings::parse(rest)?;
        return Ok(answers::list(&Zoo::zeros(), settings.skip_enum_variants));
    }
    let (file, rest) = rest.split_first().ok_or(usage)?;
    let settings = Settings::parse(rest)?;
    let extension = Path::new(file).extension().and_then(OsStr::to_str);
    match (command.as_str(), extension) {
        ("save", Some("safetensors")) => Ok(answers::save(safetensors(file, &settings))),
        ("load", Some("safetensors")) => answers::load(safetensors(file, &settings)),
        ("keys", Some("safetensors")) => Ok(json!(safetensors(file, &settings).keys()?)),
        ("save", Some("bpk")) => Ok(answers::save(burnpack(file, &settings))),
        ("load", Some("bpk")) => answers::load(burnpack(file, &settings)),
        ("keys", Some("bpk")) => Ok(json!(burnpack(file, &settings).keys()?)),
        ("save", _) => Ok(records::save(file, &settings.precision)),
        ("load", _) => records::load(file, &settings.precision),
        _ => Err(usage.into()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["list", file] if file.ends_with(".safetensors") => {
            lines::print(&packs::read_from(SafetensorsStore::from_file(*file))?)
        }
        ["list", file] => lines::print(&packs::read(file)?),
        ["records", folder] => println!("{}", samples::write(Path::new(folder))?),
        ["create", name, model, inputs] => {
            layers::run(name, &forward::Task::Create { model, inputs })?
        }
        ["forward", name, model, inputs, outputs] => {
            let task = forward::Task::Forward {
                model,
                inputs,
                outputs,
            };
            layers::run(name, &task)?
        }
        ["pack", lines, out] => packs::write(lines::read(lines)?, out)?,
        ["quantize", lines, out] => lines::print(&quantized::quantize(lines::read(lines)?, out)?),
        ["dequantize", file] => lines::print(&quantized::dequantize(file)?),
        _ => println!("{}", answer(&arguments)?),
    }
    Ok(())
}
