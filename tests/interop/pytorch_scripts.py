# SPDX-License-Identifier: MIT OR Apache-2.0
"""Archives of TorchScript and torch.export: programs with their weights."""

import torch
from torch import nn

from pytorch_cases import Trained
from pytorch_truth import Listing


class Scripted(nn.Module):
    """Tensors in every kind of attribute that a script can have."""

    def __init__(self):
        super().__init__()
        inner = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3), inner])
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.layers[0].weight
        self.turned = nn.Parameter(torch.rand(3, 4).t())
        self.register_buffer("mask", torch.ones(3, dtype=torch.bool))
        self.register_buffer("lost", torch.ones(2), persistent=False)
        self.register_buffer("row", torch.rand(5, 3)[2])
        self.plain = torch.rand(2)
        self.several = [torch.rand(1), torch.rand(2)]
        self.named = {"x": torch.rand(1)}
        self.pair = (torch.rand(1), 3)
        self.scale: float = 0.5
        self.counts = [1, 2, 3]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        x = self.tied(x) + self.plain.sum() + self.several[0] + self.named["x"] + self.pair[0]
        x = x + self.turned.sum() + self.lost.sum() + self.row.sum() + float(self.counts[0])
        return x * torch.tensor([1.0, 2.0, 3.0]) * self.scale * self.mask.float()


def script_listing(path, script, skipped=()):
    """The state_dict() that the file gives back, which has all buffers; sharing as it was in memory."""
    listing = Listing(script.state_dict())
    assert list(listing.tensors) == list(torch.jit.load(path).state_dict())
    listing.skipped |= set(skipped)
    return listing


def scripts(make):
    model = Scripted().eval()
    attributes = ["plain", "several.0", "several.1", "named.x", "pair.0"]
    constants = [f"constants.{i}" for i in range(7)]
    for what, script, skipped in (("scripted", torch.jit.script(model), attributes),
                                  ("traced", torch.jit.trace(model, torch.rand(2, 3)), constants)):
        path = make.place(f"{what}.pt")
        torch.jit.save(script, path)
        listing = script_listing(path, script, skipped)
        make.add(f"a {what} module", path, "torchscript", listing)
        path = make.place(f"{what}.ptl")
        script._save_for_lite_interpreter(str(path))
        make.add(f"a {what} module for mobile devices", path, "torchscript", listing)
    small = torch.jit.script(nn.Sequential(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.ReLU()))
    path = make.place("extra.pt")
    torch.jit.save(small, path, _extra_files={"config.json": "{}", "data/0": "misleading"})
    make.add("a scripted module with files of its own", path, "torchscript", script_listing(path, small))
    for what, module, skipped in (
            ("an LSTM", nn.LSTM(3, 2, 2), [f"_flat_weights.{i}" for i in range(8)]),
            ("lists of parameters", Parameters(), ()), ("half precision", nn.Linear(2, 2).bfloat16(), ()),
            ("complex", Complex(), ())):
        path = make.place("model.pt")
        script = torch.jit.script(module)
        torch.jit.save(script, path)
        make.add(f"a scripted module: {what}", path, "torchscript", script_listing(path, script, skipped))
    library_archive(make)


class Parameters(nn.Module):
    def __init__(self):
        super().__init__()
        self.all = nn.ParameterList([nn.Parameter(torch.rand(2)) for _ in range(3)])

    def forward(self, x):
        for parameter in self.all:
            x = x + parameter
        return x


class Complex(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3, dtype=torch.complex64))
        self.register_buffer("wide", torch.rand(3, dtype=torch.complex128))

    def forward(self, x):
        return x * self.weight * self.wide


def library_archive(make):
    """As torch::save of the library in C++ writes it: a module that has no class in Python."""
    builder = torch._C.ConcreteModuleTypeBuilder(nn.Module)
    tensors = {"0": torch.rand(2), "weight": torch.rand(3, 2).t(), "count": torch.tensor(7)}
    for name in tensors:
        builder.add_attribute(name, torch._C.TensorType.get(), name == "weight", name != "weight")
    module = torch._C._create_module_with_type(builder.build().jit_type)
    for name, tensor in tensors.items():
        module.setattr(name, tensor)
    path = make.place("library.pt")
    module.save(str(path))
    make.add("an archive of the library in C++", path, "torchscript", tensors)


def exported(make):
    model = Trained()
    model.register_buffer("steps", torch.arange(3))
    model.register_buffer("lost", torch.rand(2), persistent=False)
    model.head = nn.Linear(2, 2, dtype=torch.bfloat16)
    model.turned = nn.Parameter(torch.rand(3, 4).t())
    model.tied = model.head.weight
    model.register_buffer("part", torch.rand(9)[2:5])
    model.register_buffer("small", torch.rand(3).to(torch.float8_e4m3fn))
    path = make.place("model.pt2")
    torch.export.save(torch.export.export(model, (torch.rand(2, 3),)), path)
    listing = Listing(model.state_dict())
    listing.skipped.add("lost")
    make.add("an exported program", path, "pt2", listing)
