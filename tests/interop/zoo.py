# SPDX-License-Identifier: MIT OR Apache-2.0
"""The model of model_probe.cpp and burn/src/zoo.rs: its values, and what files and loads must be.

It has every kind of module. Its numbers follow from the paths of its parameters (see number_of).
"""

import hashlib
import json
import os

import numpy as np

from safetensors_interop import DTYPES
from suite import run

MODEL_PROBE = os.environ.get("ANDIRON_MODEL_PROBE", "andiron_model_probe")
BURN_PEER = os.environ.get("ANDIRON_BURN_PEER")  # absent where there is no Rust

HALVED = {"Linear", "Embedding", "Conv1d", "Conv2d", "ConvTranspose1d", "ConvTranspose2d", "LayerNorm",
          "GroupNorm", "InstanceNorm", "RmsNorm"}
RENAMED_BY_BURN = {"BatchNorm", "LayerNorm", "GroupNorm"}
RENAMED_BY_US = RENAMED_BY_BURN | {"InstanceNorm", "RmsNorm"}
PYTORCH_NAMES = {"gamma": "weight", "beta": "bias"}

KINDS = {"f32": "float", "i32": "integer", "bool": "boolean"}


class Program:
    """Saves and loads the model."""

    def __init__(self, name, path, renamed):
        self.name = name
        self.path = path
        self.renamed = renamed

    def __call__(self, *arguments):
        return json.loads(run(self.path, *arguments))


OURS = Program("us", MODEL_PROBE, RENAMED_BY_US)
BURN = Program("Burn", BURN_PEER, RENAMED_BY_BURN)
PROGRAMS = [OURS, BURN] if BURN_PEER else [OURS]


def number_of(path, index):
    """An element of a parameter as a number from -1001 to 1001."""
    hashed = 0xCBF29CE484222325
    for byte in path.encode():
        hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
    return (hashed % 2003 + index * 7919) % 2003 - 1001


class Parameter:
    """One of the model, with its values."""

    def __init__(self, entry, short_path):
        self.path = entry["path"]
        self.short_path = short_path
        self.container = entry["container"].rpartition(":")[2]
        self.kind = KINDS[entry["dtype"]]
        count = int(np.prod(entry["shape"]))
        numbers = np.array([number_of(self.path, index) for index in range(count)])
        if self.kind == "float":
            values = (numbers / 1001).astype(np.float32)
        else:
            values = numbers.astype(np.int32) if self.kind == "integer" else numbers % 2 != 0
        self.values = values.reshape(entry["shape"])

    def place(self, options):
        return self.short_path if "--skip-enum-variants" in options else self.path

    def name(self, options, renamed):
        """In a file."""
        module, _, last = self.place(options).rpartition(".")
        if "--pytorch" in options and self.container in renamed and last in PYTORCH_NAMES:
            return f"{module}.{PYTORCH_NAMES[last]}"
        return self.place(options)

    def stored(self, options):
        """What a file has of it."""
        values = self.values
        if "--half" in options and self.container in HALVED:
            values = values.astype(np.float16)
        if "--pytorch" in options and self.container == "Linear" and self.path.endswith(".weight"):
            values = values.T
        return np.ascontiguousarray(values)

    def loaded(self, options):
        """What a model has of it after a save and a load with these options."""
        if "--half" in options and self.container in HALVED:
            return self.values.astype(np.float16).astype(np.float32)
        return self.values


def parameters():
    return [Parameter(entry, short["path"])
            for entry, short in zip(OURS("collect"), OURS("collect", "--skip-enum-variants"), strict=True)]


# The names that numpy, the file and the programs have for a dtype.
FILE_DTYPES = {python: name for name, (_, _, python) in DTYPES.items() if python}


def file_entry(values):
    return FILE_DTYPES[values.dtype.name], list(values.shape), values.tobytes()


def file_of(model, options, renamed):
    """The file of a model: name -> (dtype, shape, bytes)."""
    return {parameter.name(options, renamed): file_entry(parameter.stored(options))
            for parameter in model}


def contents_of(arrays):
    """What a program should say that a model holds."""
    return [{"path": path, "dtype": DTYPES[FILE_DTYPES[values.dtype.name]][1],
             "shape": list(values.shape), "sha256": hashlib.sha256(values.tobytes()).hexdigest()}
            for path, values in arrays]


def zeros(model):
    return contents_of((parameter.path, np.zeros_like(parameter.values)) for parameter in model)
