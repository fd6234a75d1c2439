// SPDX-License-Identifier: MIT OR Apache-2.0
// The model in records, whose kind is told by a file's extension.

use burn::module::Module;
use burn::record::{
    BinFileRecorder, BinGzFileRecorder, DoublePrecisionSettings, FullPrecisionSettings,
    HalfPrecisionSettings, JsonGzFileRecorder, NamedMpkFileRecorder, NamedMpkGzFileRecorder,
    PrecisionSettings, PrettyJsonFileRecorder, RecorderError,
};
use serde_json::{json, Value};
use std::error::Error;

use crate::{answers, Zoo};

/// Recorders put their extension after the path that they are given.
macro_rules! with_recorder {
    ($file:expr, $settings:ty, |$stem:ident, $recorder:ident| $answer:expr) => {
        with_recorder!($file, $settings, |$stem, $recorder| $answer,
            ".mpk" NamedMpkFileRecorder, ".mpk.gz" NamedMpkGzFileRecorder,
            ".bin" BinFileRecorder, ".bin.gz" BinGzFileRecorder,
            ".json" PrettyJsonFileRecorder, ".json.gz" JsonGzFileRecorder)
    };
    ($file:expr, $settings:ty, |$stem:ident, $recorder:ident| $answer:expr,
     $($extension:literal $kind:ident),*) => {
        $(if let Some($stem) = $file.strip_suffix($extension) {
            let $recorder = $kind::<$settings>::new();
            $answer
        } else)* {
            Err(RecorderError::Unknown(format!("no recorder for {}", $file)))
        }
    };
}

pub(crate) use with_recorder;

fn save_with<S: PrecisionSettings>(file: &str) -> Result<(), RecorderError> {
    with_recorder!(file, S, |stem, recorder| Zoo::filled()
        .save_file(stem, &recorder))
}

fn load_with<S: PrecisionSettings>(file: &str) -> Result<Zoo, RecorderError> {
    let device = Default::default();
    with_recorder!(file, S, |stem, recorder| Zoo::zeros()
        .load_file(stem, &recorder, &device))
}

fn refusal(error: RecorderError) -> Value {
    json!({"ok": false, "error": error.to_string()})
}

pub fn save(file: &str, precision: &str) -> Value {
    let saved = match precision {
        "half" => save_with::<HalfPrecisionSettings>(file),
        "double" => save_with::<DoublePrecisionSettings>(file),
        _ => save_with::<FullPrecisionSettings>(file),
    };
    saved.map_or_else(refusal, |()| json!({"ok": true}))
}

pub fn load(file: &str, precision: &str) -> Result<Value, Box<dyn Error>> {
    let loaded = match precision {
        "half" => load_with::<HalfPrecisionSettings>(file),
        "double" => load_with::<DoublePrecisionSettings>(file),
        _ => load_with::<FullPrecisionSettings>(file),
    };
    Ok(match loaded {
        Err(error) => refusal(error),
        Ok(zoo) => json!({
            "ok": true,
            "tensors": answers::contents(&zoo)?,
            "ids": answers::ids(&zoo),
        }),
    })
}
