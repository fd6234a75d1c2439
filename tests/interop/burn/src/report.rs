// SPDX-License-Identifier: MIT OR Apache-2.0
// What a store says of a load.

use burn_store::{ApplyError, ApplyResult};
use serde_json::{json, Value};

/// A missing parameter: its path, and since 0.20 where it is missing.
trait Missing {
    fn path(&self) -> &str;
}

impl Missing for String {
    fn path(&self) -> &str {
        self
    }
}

impl Missing for (String, String) {
    fn path(&self) -> &str {
        &self.0
    }
}

fn path_of(error: &ApplyError) -> &str {
    match error {
        ApplyError::ShapeMismatch { path, .. }
        | ApplyError::DTypeMismatch { path, .. }
        | ApplyError::AdapterError { path, .. }
        | ApplyError::LoadError { path, .. } => path,
    }
}

pub fn report<E: std::fmt::Display>(loaded: Result<ApplyResult, E>) -> Value {
    match loaded {
        Err(error) => json!({"ok": false, "error": error.to_string()}),
        Ok(result) => json!({
            "ok": true,
            "applied": result.applied,
            "skipped": result.skipped,
            "missing": result.missing.iter().map(Missing::path).collect::<Vec<_>>(),
            "unused": result.unused,
            "errors": result.errors.iter().map(path_of).collect::<Vec<_>>(),
        }),
    }
}
