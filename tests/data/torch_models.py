# SPDX-License-Identifier: MIT OR Apache-2.0
"""Small models whose state the tests of typed modules load. Their sizes are those of the tests."""

import torch
from torch import nn


def named(**parts):
    model = nn.Module()
    for name, part in parts.items():
        if isinstance(part, nn.Module):
            model.add_module(name, part)
        else:
            model.register_buffer(name, part)
    return model


def noisy(model):
    """Nothing is left at ones and zeros, where a norm could be taken for another."""
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if tensor.is_floating_point():
                tensor.copy_(torch.rand_like(tensor))
    return model


def conv_block(inputs, outputs):
    return named(conv=nn.Conv2d(inputs, outputs, (3, 2)), norm=nn.BatchNorm2d(outputs))


def residual_block():
    return named(block=nn.Sequential(nn.Conv2d(6, 6, 1, bias=False), nn.BatchNorm2d(6)))


def pair(kind):
    return named(conv1=kind(2, 2, 2), conv2=kind(2, 2, 2, bias=False))


def models():
    return {
        "linear/linear": named(fc1=nn.Linear(2, 3), fc2=nn.Linear(3, 4, bias=False)),
        "linear/linear_with_bias": named(fc1=nn.Linear(2, 3)),
        "conv1d/conv1d": pair(nn.Conv1d),
        "conv2d/conv2d": pair(nn.Conv2d),
        "conv_transpose1d/conv_transpose1d": pair(nn.ConvTranspose1d),
        "conv_transpose2d/conv_transpose2d": pair(nn.ConvTranspose2d),
        "batch_norm/batch_norm2d": named(norm1=nn.BatchNorm2d(5)),
        "group_norm/group_norm": named(norm1=nn.GroupNorm(2, 6)),
        "layer_norm/layer_norm": named(norm1=nn.LayerNorm(2)),
        "embedding/embedding": named(embed=nn.Embedding(10, 3)),
        "complex_nested/complex_nested": named(
            conv_blocks=nn.Sequential(conv_block(2, 4), conv_block(4, 6)), norm1=nn.BatchNorm2d(6),
            fc1=nn.Linear(120, 12), fc2=nn.Linear(12, 10)),
        "key_remap/key_remap": named(conv=pair(nn.Conv2d)),
        "key_remap_chained/key_remap": named(
            conv=nn.Conv2d(3, 6, 3, bias=False), bn=nn.BatchNorm2d(6),
            layer=nn.Sequential(residual_block(), residual_block())),
        "enum_module/enum_depthwise_false": named(conv=nn.Conv2d(2, 2, 3)),
        "enum_module/enum_depthwise_true": named(
            conv=named(dconv=nn.Conv2d(2, 2, 3, groups=2), pconv=nn.Conv2d(2, 2, 1))),
        "missing_module_field/missing_module_field": named(conv1=nn.Conv2d(2, 2, 2)),
        # Every other layer has no parameters.
        "non_contiguous_indexes/non_contiguous_indexes": named(fc=nn.Sequential(
            *[layer for _ in range(5) for layer in (nn.Conv2d(2, 2, 3), nn.ReLU())])),
    }


def states():
    files = {name: noisy(model).state_dict() for name, model in models().items()}
    files["integer/integer"] = named(buffer=torch.tensor([1, 2, 3])).state_dict()
    files["boolean/boolean"] = named(buffer=torch.tensor([True, False, True])).state_dict()
    files["buffer/buffer"] = named(buffer=torch.ones(3, 3)).state_dict()
    files["top_level_key/top_level_key"] = {"my_state_dict": named(conv1=nn.Conv2d(2, 2, 2)).state_dict()}
    linear = named(fc1=nn.Linear(2, 3), fc2=nn.Linear(3, 4, bias=False))
    files["config/weights_with_config"] = {
        "my_model": linear.state_dict(), "my_config": {"layers": 2, "rate": 0.5, "names": ["fc1", "fc2"]}}
    return files


def without_variants():
    return named(feature=nn.Linear(3, 64), classifier=nn.Linear(64, 10)).state_dict()


class Images(nn.Module):
    """Tells apart images of 10 by 10."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.conv3 = nn.Conv2d(16, 24, 3)
        self.norm1 = nn.BatchNorm2d(24)
        self.fc1 = nn.Linear(24 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, 10)
        self.norm2 = nn.BatchNorm1d(10)

    def forward(self, x):
        x = torch.relu(self.norm1(self.conv3(torch.relu(self.conv2(torch.relu(self.conv1(x)))))))
        return self.norm2(self.fc2(torch.relu(self.fc1(x.flatten(1)))))


def trained_images():
    model = Images()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    labels = torch.arange(40) % 10
    images = torch.rand(10, 1, 10, 10)[labels] + 0.1 * torch.rand(40, 1, 10, 10)
    for _ in range(20):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    return model


class Whole(nn.Module):
    """A module with another name for one of its parts, and attributes that are not state."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.head = nn.Linear(3, 2, bias=False)
        self.blocks = nn.ModuleList([nn.Linear(2, 2), nn.BatchNorm1d(2)])
        self.tied = self.fc
        self.register_buffer("running_mean", torch.rand(3))
        self.register_buffer("mask", torch.ones(2, 2), persistent=False)
        self.scale = torch.tensor([0.5])


class Dense(nn.Module):
    """A linear layer of ours: archives of scripts hold the source of their layers."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(outputs, inputs))
        self.bias = nn.Parameter(torch.rand(outputs))

    def forward(self, x):
        return x @ self.weight.t() + self.bias


class Scripted(nn.Module):
    """Tensors in every kind of attribute that a script can have."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Dense(3, 3), Dense(3, 3)])
        self.tied = Dense(3, 3)
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
        return x * self.scale * self.mask.float()
