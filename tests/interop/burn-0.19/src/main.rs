// SPDX-License-Identifier: MIT OR Apache-2.0
// The burn-store crate of 0.19 as a program: of the commands of burn/src/main.rs, save, load and
// pack, for Burnpack files.
// Each release is a crate of its own, which must declare the modules that all share.

#[path = "../../burn/src/answers.rs"]
mod answers;
mod bag;
#[path = "../../burnpack/src/lines.rs"]
#[allow(dead_code)]
mod lines;
#[path = "../../burn/src/report.rs"]
mod report;
#[path = "../../burn/src/settings.rs"]
mod settings;
#[path = "../../burn/src/snapshots.rs"]
mod snapshots;
#[path = "../../burn/src/zoo.rs"]
mod zoo;

use burn_ndarray::NdArray;
use burn_store::{BurnpackStore, ModuleSnapshot, TensorSnapshot};
use settings::{with_settings, Settings};
use std::error::Error;

type Zoo = zoo::Zoo<NdArray<f32, i32>>;

fn collect(zoo: &Zoo, _skip_enum_variants: bool) -> Vec<TensorSnapshot> {
    zoo.collect(None, None)
}

fn burnpack(file: &str, options: &[String]) -> Result<BurnpackStore, Box<dyn Error>> {
    let settings = Settings::parse(options)?;
    Ok(with_settings!(BurnpackStore::from_file(file), settings))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["pack", lines, out] => bag::write(lines::read(lines)?, out)?,
        ["save", file, ..] => println!("{}", answers::save(burnpack(file, &arguments[2..])?)),
        ["load", file, ..] => println!("{}", answers::load(burnpack(file, &arguments[2..])?)?),
        _ => return Err("usage: save|load FILE [options] | pack LINES OUT".into()),
    }
    Ok(())
}
