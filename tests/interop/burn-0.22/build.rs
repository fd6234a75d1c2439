// SPDX-License-Identifier: MIT OR Apache-2.0
// The model of burn/src/zoo.rs without the backend, which this release has taken out of all types.

use std::path::Path;

const MODEL: &str = "../burn/src/zoo.rs";

const REPLACEMENTS: [(&str, &str); 12] = [
    ("use burn::tensor::backend::Backend;\n", ""),
    ("use std::marker::PhantomData;\n", ""),
    ("BasicOps, ", "kind::Basic, "),
    (", TensorKind}", "}"),
    ("TensorKind<B> + BasicOps<B>", "Basic"),
    ("    backend: PhantomData<B>,\n", ""),
    ("backend: PhantomData,\n", ""),
    ("<B: Backend>", ""),
    ("<B: Backend, ", "<"),
    ("<B, ", "<"),
    ("<B>", ""),
    ("B::Device::default()", "Default::default()"),
];

fn main() {
    println!("cargo:rerun-if-changed={MODEL}");
    let mut source = std::fs::read_to_string(MODEL).expect("the model");
    for (from, to) in REPLACEMENTS {
        assert!(source.contains(from), "nothing to replace: {from}");
        source = source.replace(from, to);
    }
    let out = std::env::var("OUT_DIR").expect("a folder");
    std::fs::write(Path::new(&out).join("zoo.rs"), source).expect("the model without a backend");
}
