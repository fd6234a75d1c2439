# SPDX-License-Identifier: MIT OR Apache-2.0
"""Load, change, save: PyTorch takes what a save writes that is based on the file it was loaded from.

usage: based_on_interop.py [--long]

based_on_probe.cpp adds 1 to what its models have. PyTorch loads the result with strict=True.
"""

import json
import os
import pathlib
import sys
import tempfile

import torch
from torch import nn

from suite import Suite, run

PROBE = os.environ.get("ANDIRON_BASED_ON_PROBE", "andiron_based_on_probe")
DTYPES = {"F32": torch.float32, "I64": torch.int64}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.up = nn.ConvTranspose2d(4, 2, 2)
        self.group = nn.GroupNorm(1, 2)
        self.layer = nn.LayerNorm(5)


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.query = nn.Linear(4, 4)
        self.output = nn.Linear(4, 4)


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2)


def write_safetensors(path, tensors):
    """Written by hand: not every torch has the package beside it."""
    header, data = {"__metadata__": {"format": "pt", "author": "torch"}}, b""
    for name, tensor in tensors.items():
        plain = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(plain)]}
        data += plain
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def read_safetensors(path):
    """The tensors of a file, and its metadata."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, stop = entry["data_offsets"]
        data = bytearray(content[end + begin:end + stop])
        tensor = torch.frombuffer(data, dtype=DTYPES[entry["dtype"]]) if data else torch.empty(0)
        tensors[name] = tensor.reshape(entry["shape"])
    return tensors, metadata


def flat(prefix, state):
    return {prefix + name: tensor for name, tensor in state.items()}


def check_model(suite, what, make, prefix, folder):
    torch.manual_seed(len(what))
    model = make()
    state = model.state_dict()
    # A checkpoint has more than the model.
    others = {"optimizer.momentum": torch.arange(5.0)} if prefix else {}
    pickled = state
    for key in reversed([key for key in prefix.split(".") if key and key != "module"]):
        pickled = {key: flat("module.", state) if pickled is state else pickled}
    if prefix:
        pickled.update({"optimizer": {"momentum": others["optimizer.momentum"]}, "epoch": 7})
    torch.save(pickled, folder / f"{what}.pt")
    write_safetensors(folder / f"{what}.safetensors", {**flat(prefix, state), **others})
    for ending in ("pt", "safetensors"):
        label = f"{what}.{ending}"
        with suite.case(label):
            saved = folder / f"{what}-from-{ending}.safetensors"
            run(PROBE, what, folder / label, saved)
            tensors, metadata = read_safetensors(saved)
            suite.equal(f"{label}: names", sorted(tensors), sorted([*flat(prefix, state), *others]))
            if ending == "safetensors":
                suite.equal(f"{label}: metadata", metadata, {"format": "pt", "author": "torch"})
            for name, tensor in others.items():
                suite.check(f"{label}: {name}", torch.equal(tensors.pop(name), tensor))
            fresh = make()
            fresh.load_state_dict({name[len(prefix):]: one for name, one in tensors.items()}, strict=True)
            for name, tensor in fresh.state_dict().items():
                before = state[name]
                wanted = before if name.endswith("num_batches_tracked") else before + 1
                suite.check(f"{label}: {name}", torch.equal(tensor, wanted))


def main():
    suite = Suite()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_model(suite, "gaps", lambda: nn.Sequential(
            nn.Linear(4, 6), nn.ReLU(), nn.Dropout(), nn.Linear(6, 3, bias=False)), "", folder)
        check_model(suite, "convolutions", Convolutions, "", folder)
        check_model(suite, "wrapped", Wrapped, "checkpoint.model.module.", folder)
        check_model(suite, "fused", Fused, "", folder)
    suite.finish()


if __name__ == "__main__":
    sys.exit(main())
