// SPDX-License-Identifier: MIT OR Apache-2.0
// The options of the commands, and stores that follow them.

use burn_store::{KeyRemapper, PathFilter};
use std::error::Error;

pub struct Settings {
    pub pytorch: bool,
    pub half: bool,
    pub skip_enum_variants: bool,
    pub contiguous: bool,
    pub remapper: KeyRemapper,
    pub filter: Option<PathFilter>,
    pub partial: bool,
    pub validate: bool,
    pub metadata: Vec<(String, String)>,
    pub precision: String,
}

impl Settings {
    pub fn parse(options: &[String]) -> Result<Self, Box<dyn Error>> {
        let mut settings = Self {
            pytorch: false,
            half: false,
            skip_enum_variants: false,
            contiguous: false,
            remapper: KeyRemapper::new(),
            filter: None,
            partial: false,
            validate: true,
            metadata: Vec::new(),
            precision: "full".into(),
        };
        let mut words = options.iter();
        while let Some(option) = words.next() {
            let mut argument = || words.next().ok_or(format!("{option} lacks an argument"));
            match option.as_str() {
                "--pytorch" => settings.pytorch = true,
                "--half" => settings.half = true,
                "--skip-enum-variants" => settings.skip_enum_variants = true,
                "--contiguous" => settings.contiguous = true,
                "--remap" => {
                    let (from, to) = (argument()?, argument()?);
                    let remapper = settings.remapper.add_pattern(from, to);
                    settings.remapper = remapper.map_err(|error| error.to_string())?;
                }
                "--regex" => {
                    let filter = settings.filter.unwrap_or_default();
                    settings.filter = Some(filter.with_regex(argument()?));
                }
                "--linear" => {
                    let filter = settings.filter.unwrap_or_default();
                    settings.filter =
                        Some(filter.with_predicate(|_, path| path.ends_with("Struct:Linear")));
                }
                "--partial" => settings.partial = true,
                "--no-validate" => settings.validate = false,
                "--metadata" => {
                    let (key, text) = (argument()?, argument()?);
                    settings.metadata.push((key.clone(), text.clone()));
                }
                "--precision" => settings.precision = argument()?.clone(),
                _ => return Err(format!("no option {option}").into()),
            }
        }
        Ok(settings)
    }
}

/// What stores of every kind and release have.
macro_rules! with_settings {
    ($store:expr, $settings:expr) => {{
        let mut store = $store
            .overwrite(true)
            .remap($settings.remapper.clone())
            .allow_partial($settings.partial)
            .validate($settings.validate);
        if let Some(filter) = &$settings.filter {
            store = store.filter(filter.clone());
        }
        for (key, text) in &$settings.metadata {
            store = store.metadata(key, text);
        }
        store
    }};
}
pub(crate) use with_settings;

/// What stores have since 0.21.
#[allow(unused_macros)]
macro_rules! with_adapters {
    ($store:expr, $settings:expr) => {{
        use burn_store::*;
        let store = $store;
        let cast = HalfPrecisionAdapter::new();
        match ($settings.pytorch, $settings.half) {
            (false, false) => store,
            (false, true) => store.with_from_adapter(cast.clone()).with_to_adapter(cast),
            (true, false) => store
                .with_from_adapter(PyTorchToBurnAdapter)
                .with_to_adapter(BurnToPyTorchAdapter),
            (true, true) => store
                .with_from_adapter(PyTorchToBurnAdapter.chain(cast.clone()))
                .with_to_adapter(BurnToPyTorchAdapter.chain(cast)),
        }
    }};
}
#[allow(unused_imports)]
pub(crate) use with_adapters;
