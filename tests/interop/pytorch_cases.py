# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checkpoints, each with what is in it: random ones, the kinds that people have, and what is rare."""

import argparse
import collections
import dataclasses
import io
import pathlib
import random
import types

import numpy as np
import torch
from torch import nn

from pytorch_random import DTYPES, Checkpoint
from pytorch_truth import SINCE_2_0, Listing, NamesCollide, torch_name

STEMS = ["model", "a.b.c", "with space", "\u00fcml\u00e4ut", "no-extension", "UPPER", "data", "x" * 100,
         "archive.tar", "\U0001F525", "quote'\"", "-", "100%"]
ENDINGS = [".pt", ".pth", ".bin", ".ckpt", ""]


@dataclasses.dataclass
class Case:
    what: str
    path: pathlib.Path
    container: str
    tensors: dict
    skipped: set
    note: str = ""  # that there must be


class Maker:
    """Writes files into folders of their own, and remembers what is in them."""

    def __init__(self, folder):
        self.folder = folder
        self.cases = []

    def place(self, name):
        """A path of that name where there is nothing else."""
        folder = self.folder / str(len(self.cases))
        folder.mkdir()
        return folder / name

    def add(self, what, path, container, listing):
        if not isinstance(listing, Listing):
            listing = Listing(listing)
        self.cases.append(Case(what, path, container, listing.tensors, listing.skipped))

    def save(self, what, value, legacy=False, **options):
        path = self.place("model.pt")
        torch.save(value, path, _use_new_zipfile_serialization=not legacy, **options)
        self.add(what, path, "legacy" if legacy else "zip", value)

    def save_both(self, what, value):
        self.save(f"{what}, zip", value)
        self.save(f"{what}, legacy", value, legacy=True)


# Random checkpoints

def save_by(value, path, in_memory, protocol, legacy):
    target = io.BytesIO() if in_memory else path
    torch.save(value, target, pickle_protocol=protocol, _use_new_zipfile_serialization=not legacy)
    if in_memory:
        path.write_bytes(target.getvalue())


def random_checkpoints(make, count):
    for seed in range(count):
        value = Checkpoint(seed).make()
        try:
            listing = Listing(value)
        except NamesCollide:
            continue
        rng = random.Random(seed)
        protocol, legacy = rng.choice((2, 2, 1, 3, 4, 5)), rng.random() < 0.4
        path = make.place(rng.choice(STEMS) + rng.choice(ENDINGS))
        in_memory = rng.random() < 0.3
        try:
            save_by(value, path, in_memory, protocol, legacy)
        except TypeError:  # not everything can be pickled with protocol 1
            save_by(value, path, in_memory, 2, legacy)
        make.add(f"random checkpoint {seed}, protocol {protocol}", path, "legacy" if legacy else "zip",
                 listing)


# Modules

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 2)
        self.norm = nn.BatchNorm2d(3)
        self.cache = torch.rand(3)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mask", torch.ones(2, 2, dtype=torch.bool), persistent=False)
        self.register_buffer("nothing", None)
        self.register_parameter("no_bias", None)


class Net(nn.Module):
    """Something of everything that a module can hold."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.heads = nn.ModuleDict({"a": nn.Linear(3, 4), "b": nn.Linear(4, 3, bias=False)})
        self.free = nn.ParameterList([nn.Parameter(torch.rand(2)), nn.Parameter(torch.rand(3))])
        self.named = nn.ParameterDict({"x": nn.Parameter(torch.rand(2)), "y": nn.Parameter(torch.rand(3))})
        self.table = nn.Embedding(5, 4, padding_idx=0)
        self.tied = nn.Linear(4, 5)
        self.tied.weight = self.table.weight
        self.again = self.heads["a"]
        self.recurrent = nn.LSTM(3, 2, num_layers=2, bidirectional=True)
        self.attention = nn.MultiheadAttention(4, 2)
        self.turned = nn.Parameter(torch.rand(3, 4).t())
        self.frozen = nn.Parameter(torch.rand(2), requires_grad=False)
        self.complex = nn.Parameter(torch.rand(2, dtype=torch.complex64))
        self.half = nn.Linear(2, 2).half()
        self.anchors = [torch.rand(2), {"grid": torch.rand(1)}]
        self.hidden = [nn.Linear(2, 2)]
        self.settings = argparse.Namespace(names=["a"], stride=torch.tensor([8.0]))


class Trained(nn.Module):
    """A small one with an optimizer."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        self.norm = nn.LayerNorm(2)

    def forward(self, x):
        return self.norm(self.layers(x))


def trained(optimizer_class=torch.optim.Adam):
    model = Trained()
    optimizer = optimizer_class(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.rand(5, 3)).sum().backward()
        optimizer.step()
    return model, optimizer


def modules(make):
    make.save_both("a whole module", Net())
    make.save("a whole module, protocol 4", Net(), pickle_protocol=4)
    make.save("a state_dict", Net().state_dict())
    make.save_both("a module in half", Net().half())
    make.save("modules in a list", [nn.Linear(2, 2), {"deep": Block()}])
    make.save("a wrapped module", nn.DataParallel(Block()))
    make.save("a module without weights", nn.ReLU())
    make.save("a module with weight norm", nn.utils.weight_norm(nn.Linear(3, 2)))
    make.save("a module with spectral norm", nn.utils.spectral_norm(nn.Linear(3, 2)))
    make.save("a lazy module", nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d()))
    make.save("a state_dict of a lazy module", nn.LazyLinear(3).state_dict())
    make.save("a module without data", nn.Sequential(nn.Linear(2, 3, device="meta"), nn.Linear(3, 2)))
    make.save("a transformer", nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2))
    tagged = nn.Linear(2, 2)
    tagged.weight.note = torch.rand(2)
    make.save("a parameter with attributes", tagged)
    quantized = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(3, 4)), {nn.Linear})
    make.save("a state_dict of quantized layers", quantized.state_dict())
    if SINCE_2_0:
        make.save("a state_dict with parametrizations",
                  nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)).state_dict())
        buffered = nn.Module()
        buffered.kept, buffered.lost = nn.Buffer(torch.rand(2)), nn.Buffer(torch.rand(3), persistent=False)
        make.save("a module with buffers of a class", buffered)


def checkpoints(make):
    model, optimizer = trained()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    lightning = {
        "epoch": 3, "global_step": 120, "pytorch-lightning_version": "2.1.0",
        "state_dict": collections.OrderedDict((f"model.{name}", value)
                                              for name, value in model.state_dict().items()),
        "loops": {"fit_loop": {"state_dict": {}, "epoch_progress": {"current": {"ready": 1}}}},
        "callbacks": {"EarlyStopping{'monitor': 'val'}": {"best_score": torch.tensor(0.5), "patience": 3}},
        "optimizer_states": [optimizer.state_dict()], "lr_schedulers": [scheduler.state_dict()],
        "hparams_name": "config",
        "hyper_parameters": argparse.Namespace(lr=0.1, path=pathlib.PurePosixPath("a")),
    }
    make.save_both("a Lightning-like checkpoint", lightning)
    make.save_both("an Ultralytics-like checkpoint", {
        "date": "2024-01-01", "epoch": -1, "best_fitness": np.float64(0.5), "model": Net().half(),
        "ema": Net(), "updates": 7, "optimizer": None, "train_args": {"lr": 0.1, "names": ["a", "b"]},
        "train_results": {"loss": [1.0, 0.5]}})
    for kind in (torch.optim.SGD, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad):
        make.save(f"the state of {kind.__name__}", trained(kind)[1].state_dict())
    make.save("a whole optimizer", {"optimizer": trained()[1]})
    make.save("a trainer's checkpoint", {
        "model": model.state_dict(), "rng_state": torch.get_rng_state(),
        "np_rng": np.random.RandomState(1).get_state(), "scaler": {"scale": 65536.0},
        "args": types.SimpleNamespace(lr=0.1), "config": {"a": {"b": [1, 2]}}})
    module_names = {f"module.{name}": value for name, value in model.state_dict().items()}
    make.save("a checkpoint of DataParallel", {"state_dict": module_names})


def particular_objects(make):
    """What is rare in random checkpoints."""
    make.save_both("one tensor", torch.rand(3, 4))
    make.save_both("one parameter", nn.Parameter(torch.rand(3).expand(2, 3)))
    make.save_both("an empty dict", {})
    make.save_both("no tensor at all", {"lr": 0.1, "names": ["a"]})
    make.save_both("a number", 5)
    holding_itself = {"w": torch.rand(2), "list": []}
    holding_itself["self"] = holding_itself
    holding_itself["list"].append(holding_itself["list"])
    make.save_both("a dict that holds itself", holding_itself)
    make.save_both("the result of torch.max", {"max": torch.max(torch.rand(3, 4), 1)})
    make.save_both("keys that are numbers of NumPy",
                   {np.int64(3): torch.rand(1), np.float32(0.5): torch.rand(1)})
    make.save_both("keys that are dtypes", {torch.float32: torch.rand(1), torch.int8: torch.rand(1)})
    every = {torch_name(dtype): Checkpoint(1).dense(dtype, [3, 4]) for dtype in DTYPES}
    make.save_both("every dtype", every)
    make.save_both("every dtype, transposed", {name: tensor.t() for name, tensor in every.items()})
    make.save_both("every dtype, empty", {name: tensor[:0] for name, tensor in every.items()})
    make.save_both("every dtype, of no dimensions", {name: tensor[1, 1] for name, tensor in every.items()})
    shared = torch.rand(4, 4)
    make.save_both("one storage", {
        "a": shared, "b": shared, "c": shared[1:], "d": shared.view(16), "e": shared[1:], "f": shared.t(),
        "g": nn.Parameter(shared), "h": shared.storage()})
    make.save_both("deep", nested_lists(150, torch.rand(2)))
    make.save("many", {f"layers.{i}.weight": torch.full((2,), float(i)) for i in range(5000)})
    make.save("a large one", {"w": torch.rand(1 << 18), "row": torch.rand(512, 512)[3]})
    make.save("a large one, legacy", {"w": torch.rand(1 << 18)}, legacy=True)
    if SINCE_2_0:
        jagged = torch.nested.nested_tensor([torch.rand(2, 3), torch.rand(4, 3)], layout=torch.jagged)
        make.save("a jagged tensor", {"x": jagged})
        wrapped(make)


def nested_lists(depth, value):
    for _ in range(depth):
        value = [value]
    return value


def wrapped(make):
    from torch.testing._internal.two_tensor import TwoTensor
    make.save("a tensor made of two", {"x": TwoTensor(torch.rand(2), torch.rand(2))})
    distributed = torch.distributed
    if not distributed.is_available():
        return
    from torch.distributed.tensor import Shard, distribute_tensor
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    mesh = distributed.device_mesh.init_device_mesh("cpu", (1,))
    make.save("a DTensor", {"x": distribute_tensor(torch.rand(4, 3), mesh, [Shard(0)])})
    make.cases[-1].note = "distributed"
    distributed.destroy_process_group()
