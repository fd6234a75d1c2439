# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes safetensors-VERSION/ with the package safetensors, and what it reads in it.

usage: make_safetensors.py FOLDER
"""

import hashlib
import json
import pathlib
import random
import shutil
import sys

import numpy as np
import safetensors
import safetensors.numpy

from truth import entry, write_truth

# The package's name: the bits of an element.
DTYPES = {
    "bool": 8, "uint8": 8, "int8": 8, "uint16": 16, "int16": 16, "uint32": 32, "int32": 32, "uint64": 64,
    "int64": 64, "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64, "complex64": 64,
    "float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e8m0fnu": 8, "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8,
    "float4_e2m1fn_x2": 4,
}
NAMES = ["", "a.b", "with space", "\u00fcml\u00e4ut", "\U0001F525", 'quote"', "back\\slash", "line\nbreak",
         "\x01"]


def read_back(path):
    """Of each tensor the dtype as the file spells it."""
    return {name: entry(part["dtype"], part["shape"], hashlib.sha256(bytes(part["data"])).hexdigest())
            for name, part in safetensors.deserialize(path.read_bytes())}


def with_every_dtype(rng):
    tensors = {}
    for dtype, bits in DTYPES.items():
        for shape in ([], [3], [2, 4], [0, 2]):
            count = int(np.prod(shape))
            if count * bits % 8:
                continue
            data = bytes(rng.getrandbits(1) for _ in range(count)) if dtype == "bool" else rng.randbytes(
                count * bits // 8)
            tensors[f"{dtype}.{len(shape)}{'x'.join(map(str, shape))}"] = {
                "dtype": dtype, "shape": shape, "data": data}
    return tensors


def serialize(tensors, metadata=None):
    """Data that is as long as it says, also of two elements to a byte."""
    specs = {name: safetensors.TensorSpec(dtype=part["dtype"], shape=shape_of(part), data_ptr=address(part),
                                          data_len=len(part["data"])) for name, part in tensors.items()}
    return safetensors.serialize(specs, metadata)


def shape_of(part):
    # Of types with two elements to a byte the package counts the bytes, as torch does.
    if part["dtype"].endswith("_x2") and part["shape"]:
        return [*part["shape"][:-1], part["shape"][-1] // 2]
    return part["shape"]


def address(part):
    part["kept"] = np.frombuffer(part["data"], np.uint8)
    return part["kept"].ctypes.data


def write_shards(folder, generator):
    """As the Hugging Face hub holds models."""
    folder.mkdir()
    state = {f"layers.{layer}.{name}": generator.random(shape, "f4") for layer in range(5)
             for name, shape in (("weight", (4, 3)), ("bias", (4,)))}
    names = list(state)
    parts = [names[start:start + 4] for start in range(0, len(names), 4)]
    weight_map, tensors = {}, {}
    for number, part in enumerate(parts, start=1):
        path = folder / f"model-{number:05d}-of-{len(parts):05d}.safetensors"
        safetensors.numpy.save_file({name: state[name] for name in part}, path, {"format": "pt"})
        tensors |= read_back(path)
        weight_map |= {name: path.name for name in part}
    total = sum(array.nbytes for array in state.values())
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1))
    return tensors


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    release = ".".join(safetensors.__version__.split(".")[:2])
    folder = pathlib.Path(sys.argv[1]) / f"safetensors-{release}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    generator = np.random.default_rng(7)
    files = {
        "dtypes": serialize(with_every_dtype(random.Random(7))),
        "empty": serialize({}),
        "metadata": serialize({"w": {"dtype": "float32", "shape": [1], "data": bytes(4)}},
                              {"format": "pt", "note": 'with "quotes" and \u00fcml\u00e4uts'}),
        "names": serialize({name: {"dtype": "uint8", "shape": [1], "data": bytes([i])}
                            for i, name in enumerate(NAMES)}),
        "many": safetensors.numpy.save({f"layers.{i}.weight": np.full(2, i, "f4") for i in range(150)}),
        "ranks": safetensors.numpy.save({f"rank{rank}": np.array(generator.random([2] * rank, "f4"))
                                         for rank in range(8)}),
    }
    truth = {}
    for name, data in files.items():
        path = folder / f"{name}.safetensors"
        path.write_bytes(data)
        truth[path.name] = {"tensors": read_back(path)}
    truth["sharded/model.safetensors.index.json"] = {"tensors": write_shards(folder / "sharded", generator)}
    write_truth(folder, truth)
    print(f"{folder.name}: {len(truth)} files, safetensors {safetensors.__version__}")


if __name__ == "__main__":
    main()
