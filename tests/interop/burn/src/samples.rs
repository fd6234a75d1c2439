// SPDX-License-Identifier: MIT OR Apache-2.0
// Small modules in files of every recorder, with what is in each.

use burn::module::{Module, Param, Quantizer};
use burn::record::{
    BinFileRecorder, BinGzFileRecorder, BurnRecord, DoublePrecisionSettings, FullPrecisionSettings,
    HalfPrecisionSettings, JsonGzFileRecorder, NamedMpkFileRecorder, NamedMpkGzFileRecorder,
    PrecisionSettings, PrettyJsonFileRecorder, Record, Recorder, RecorderError,
};
use burn::tensor::backend::Backend;
use burn::tensor::quantization::{Calibration, QuantLevel, QuantScheme, QuantValue};
use burn::tensor::{Bool, Int, Tensor};
use burn_flex::Flex;
use burn_nn::conv::{Conv2d, Conv2dConfig};
use burn_nn::{BatchNorm, BatchNormConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn_store::ModuleSnapshot;
use serde_json::{json, Map, Value};
use sha2::{Digest, Sha256};
use std::error::Error;
use std::path::Path;

use crate::records::with_recorder;
use crate::zoo::{filler, Zoo};

#[derive(Module, Debug)]
struct Block<B: Backend> {
    conv: Conv2d<B>,
    norm: LayerNorm<B>,
}

#[derive(Module, Debug)]
struct Nested<B: Backend> {
    stem: Linear<B>,
    block: Block<B>,
    head: Linear<B>,
}

#[derive(Module, Debug)]
struct Constants<B: Backend> {
    lin: Linear<B>,
    is_causal: bool,
    heads: usize,
    rate: f64,
    tail: Param<Tensor<B, 1>>,
}

#[derive(Module, Debug)]
struct OptionNone<B: Backend> {
    first: Option<Linear<B>>,
    second: Option<Linear<B>>,
    tail: Linear<B>,
}

#[derive(Module, Debug)]
struct Typed<B: Backend> {
    mask: Param<Tensor<B, 2, Bool>>,
    index: Param<Tensor<B, 1, Int>>,
    table: Param<Tensor<B, 2, Int>>,
    scale: Param<Tensor<B, 1>>,
    flags: Param<Tensor<B, 1, Bool>>,
}

#[derive(Module, Debug)]
struct Shapes<B: Backend> {
    before: Param<Tensor<B, 1>>,
    none: Param<Tensor<B, 1>>,
    row: Param<Tensor<B, 2>>,
    cube: Param<Tensor<B, 3>>,
    five: Param<Tensor<B, 5>>,
    list: Vec<Param<Tensor<B, 1>>>,
}

fn linear(inputs: usize, outputs: usize, bias: bool) -> Linear<Flex> {
    let config = LinearConfig::new(inputs, outputs).with_bias(bias);
    config.init(&Default::default())
}

fn zeros<const D: usize>(shape: [usize; D]) -> Param<Tensor<Flex, D>> {
    Param::from_tensor(Tensor::zeros(shape, &Default::default()))
}

fn integers<const D: usize>(shape: [usize; D]) -> Param<Tensor<Flex, D, Int>> {
    let tensor = Tensor::zeros(shape, &Default::default());
    Param::initialized(Default::default(), tensor)
}

fn booleans<const D: usize>(shape: [usize; D]) -> Param<Tensor<Flex, D, Bool>> {
    let tensor = Tensor::<Flex, D, Int>::zeros(shape, &Default::default());
    Param::initialized(Default::default(), tensor.bool())
}

fn nested() -> Nested<Flex> {
    let device = &Default::default();
    Nested {
        stem: linear(3, 4, true),
        block: Block {
            conv: Conv2dConfig::new([2, 3], [2, 3]).init(device),
            norm: LayerNormConfig::new(5).init(device),
        },
        head: linear(4, 2, false),
    }
}

fn constants() -> Constants<Flex> {
    Constants {
        lin: linear(2, 3, true),
        is_causal: true,
        heads: 4,
        rate: 0.5,
        tail: zeros([2]),
    }
}

fn option_none() -> OptionNone<Flex> {
    OptionNone {
        first: Some(linear(3, 3, true)),
        second: None,
        tail: linear(3, 3, false),
    }
}

fn typed() -> Typed<Flex> {
    Typed {
        mask: booleans([3, 5]),
        index: integers([7]),
        table: integers([2, 3]),
        scale: zeros([3]),
        flags: booleans([1]),
    }
}

fn shapes() -> Shapes<Flex> {
    Shapes {
        before: zeros([3]),
        none: zeros([0]),
        row: zeros([3, 0]),
        cube: zeros([2, 1, 4]),
        five: zeros([2, 2, 1, 2, 1]),
        list: (0..17).map(|_| zeros([2])).collect(),
    }
}

/// Filled, and with its numbers in eight bits.
fn quantized() -> Linear<Flex> {
    let scheme = QuantScheme::default()
        .with_value(QuantValue::Q8S)
        .with_level(QuantLevel::Tensor);
    let mut quantizer = Quantizer {
        calibration: Calibration::MinMax,
        scheme,
    };
    linear(4, 8, true)
        .map(&mut filler())
        .quantize_weights(&mut quantizer)
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The parameters of a record's item, which says what is stored: their id, type, shape and bytes.
fn parameters(
    item: &Value,
    path: &str,
    found: &mut Map<String, Value>,
) -> Result<(), Box<dyn Error>> {
    let below = |key: &str| match path {
        "" => key.to_string(),
        _ => format!("{path}.{key}"),
    };
    match item {
        Value::Object(fields) if fields.contains_key("id") && fields.contains_key("param") => {
            let data = &fields["param"];
            let bytes: Vec<u8> = serde_json::from_value(data["bytes"].clone())?;
            let id = fields["id"].as_str().ok_or("an id that is not text")?;
            let number = burn::module::ParamId::deserialize(id).val().to_string();
            let mut entry = json!({"dtype": data["dtype"], "shape": data["shape"], "id": id,
                "param_id": number, "bytes": bytes.len(), "sha256": hash(&bytes)});
            if let Some((kind, _)) = data["dtype"]
                .as_object()
                .and_then(|kind| kind.iter().next())
            {
                entry["dtype"] = kind.as_str().into();
                entry["dtype_detail"] = data["dtype"].clone();
            }
            found.insert(path.to_string(), entry);
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                parameters(value, &below(key), found)?;
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                parameters(value, &below(&index.to_string()), found)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// What a module has in memory, its integers as long as other backends of Burn have them.
fn contents<M: ModuleSnapshot<Flex>>(module: &M) -> Result<Value, Box<dyn Error>> {
    let mut found = Map::new();
    for tensor in module.collect(None, None, false) {
        let mut data = tensor.to_data().map_err(|error| format!("{error:?}"))?;
        if data.dtype.is_int() {
            data = data.convert::<i64>();
        }
        let id = tensor.tensor_id.map(|id| id.val().to_string());
        let entry = json!({"dtype": data.dtype.name(), "shape": data.shape.to_vec(), "param_id": id,
            "bytes": data.as_bytes().len(), "sha256": hash(data.as_bytes())});
        found.insert(tensor.full_path(), entry);
    }
    Ok(found.into())
}

fn recorded<M: Module<Flex>, S: PrecisionSettings, R: Recorder<Flex>>(
    module: M,
    _: &R,
) -> Result<Value, RecorderError> {
    let item = module.into_record().into_item::<S>();
    let record = BurnRecord::<_, Flex>::new::<R>(item);
    serde_json::to_value(record).map_err(|error| RecorderError::Unknown(error.to_string()))
}

struct Files<'a> {
    folder: &'a Path,
    about: Map<String, Value>,
}

impl Files<'_> {
    /// Writes a module as it is, and asks Burn what it reads then.
    fn write<M: ModuleSnapshot<Flex> + Clone, S: PrecisionSettings>(
        &mut self,
        name: &str,
        ending: &str,
        module: M,
        empty: M,
    ) -> Result<(), Box<dyn Error>> {
        // A recorder takes what follows the last dot for an ending of its own.
        let file = self.folder.join("work").to_string_lossy().into_owned() + ending;
        let device = Default::default();
        let (record, loaded, again) = with_recorder!(file, S, |stem, recorder| {
            module.clone().save_file(stem, &recorder)?;
            let record = recorded::<M, S, _>(module, &recorder)?;
            let loaded = empty.load_file(stem, &recorder, &device)?;
            let again = recorded::<M, S, _>(loaded.clone(), &recorder)?;
            Ok((record, loaded, again))
        })?;
        assert_eq!(record, again, "{name}{ending} is not what was written");
        let mut about = json!({"version": record["metadata"]["version"]});
        if ending.starts_with(".bin") {
            about["tensors"] = contents(&loaded)?;
        } else {
            let mut tensors = Map::new();
            parameters(&record["item"], "", &mut tensors)?;
            about["tensors"] = tensors.into();
            about["record_metadata"] = record["metadata"].clone();
        }
        let name = format!("{name}{ending}");
        std::fs::rename(&file, self.folder.join(&name))?;
        self.about.insert(name, about);
        Ok(())
    }

    fn full<M: ModuleSnapshot<Flex> + Clone>(
        &mut self,
        name: &str,
        endings: &[&str],
        make: impl Fn() -> M,
    ) -> Result<(), Box<dyn Error>> {
        for ending in endings {
            let module = make().map(&mut filler());
            self.write::<M, FullPrecisionSettings>(name, ending, module, make())?;
        }
        Ok(())
    }

    fn half<M: ModuleSnapshot<Flex> + Clone>(
        &mut self,
        name: &str,
        endings: &[&str],
        make: impl Fn() -> M,
    ) -> Result<(), Box<dyn Error>> {
        for ending in endings {
            let module = make().map(&mut filler());
            let name = format!("{name}.half");
            self.write::<M, HalfPrecisionSettings>(&name, ending, module, make())?;
        }
        Ok(())
    }

    fn double<M: ModuleSnapshot<Flex> + Clone>(
        &mut self,
        name: &str,
        make: impl Fn() -> M,
    ) -> Result<(), Box<dyn Error>> {
        let module = make().map(&mut filler());
        let name = format!("{name}.double");
        self.write::<M, DoublePrecisionSettings>(&name, ".mpk", module, make())
    }
}

/// Writes the files; answers with what is in each.
pub fn write(folder: &Path) -> Result<Value, Box<dyn Error>> {
    let about = Map::new();
    let mut files = Files { folder, about };
    let four_by_eight = || linear(4, 8, true);
    let every = [".mpk", ".mpk.gz", ".bin", ".bin.gz", ".json", ".json.gz"];
    files.full("linear", &every, four_by_eight)?;
    files.half("linear", &[".mpk", ".bin", ".json"], four_by_eight)?;
    files.double("linear", four_by_eight)?;
    files.full("nested", &[".mpk", ".bin"], nested)?;
    files.half("nested", &[".mpk"], nested)?;
    files.full("constants", &[".mpk", ".bin", ".json"], constants)?;
    files.full("option_none", &[".mpk", ".bin"], option_none)?;
    files.full("typed_small", &[".mpk", ".bin", ".json"], typed)?;
    files.half("typed_small", &[".mpk"], typed)?;
    files.double("typed_small", typed)?;
    files.full("shapes", &[".mpk"], shapes)?;
    files.full("zoo", &[".mpk", ".json.gz", ".bin.gz"], Zoo::zeros)?;
    files.half("zoo", &[".mpk"], Zoo::zeros)?;
    let norm = || -> BatchNorm<Flex> { BatchNormConfig::new(3).init(&Default::default()) };
    files.full("batch_norm", &[".mpk"], norm)?;
    let (name, empty) = ("quantized", quantized);
    files.write::<_, FullPrecisionSettings>(name, ".mpk", quantized(), empty())?;
    let name = "quantized.half";
    files.write::<_, HalfPrecisionSettings>(name, ".mpk", quantized(), empty())?;
    Ok(files.about.into())
}
