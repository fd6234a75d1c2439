# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cases of layers_interop.py: linear layers, embeddings and norms."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from layers_common import Case, module_case, pick_batch, pick_dtype


def some_sizes(rng, low, high, most=5):
    return [rng.randint(1, most) for _ in range(rng.randint(low, high))]


def check_spread(x, count):
    """Refuses f32 whose neighbors are nearly equal: their norm is a matter of the last bit, in PyTorch too."""
    if count > 1 and x.numel() and x.reshape(-1, count).std(-1, unbiased=False).min() < 0.1:
        raise ValueError("nearly equal")


def linear(rng):
    into, out = (rng.choice([1, 2, 3, 5, 8, 31, 64, 300]) for _ in range(2))
    bias = rng.random() < 0.6
    sizes = some_sizes(rng, 0, 3)
    if sizes and rng.random() < 0.05:
        sizes[0] = 0
    x = torch.randn(*sizes, into, dtype=pick_dtype(rng))
    config = {"in": into, "out": out, "bias": bias}
    if rng.random() < 0.15:  # the layer of GPT-2, whose weight is not transposed
        module = nn.Linear(out, into, bias=False)
        if bias:
            module.bias = nn.Parameter(torch.randn(out))
        return module_case(rng, "Conv1D", config, module, {"x": x},
                           lambda m: F.linear(x, m.weight.t(), m.bias))
    return module_case(rng, "Linear", config, nn.Linear(into, out, bias), {"x": x})


def embedding(rng):
    count, size = rng.randint(1, 40), rng.randint(1, 20)
    dtype = rng.choice([torch.int64, torch.int64, torch.int32, torch.uint8])
    sizes = some_sizes(rng, 0, 3)
    if sizes and rng.random() < 0.05:
        sizes[-1] = 0
    x = torch.randint(0, count, sizes, dtype=dtype)
    return module_case(rng, "Embedding", {"count": count, "size": size}, nn.Embedding(count, size),
                       {"x": x}, lambda m: m(x.long()),
                       stored=rng.choice([torch.float32, torch.float32, torch.float16, torch.bfloat16]))


def embedding_f64(rng):
    case = embedding(rng)
    weight = torch.randn(case.config["count"], case.config["size"], dtype=torch.float64)
    case.state, case.expected = {"weight": weight}, [F.embedding(case.inputs["x"].long(), weight)]
    return case


def batch_norm(rng):
    channels = rng.choice([1, 2, 3, 5, 16, 24])
    eps = rng.choice([1e-5, 1e-3])
    sizes = some_sizes(rng, 0, 3)
    x = torch.randn(pick_batch(rng), channels, *sizes, dtype=pick_dtype(rng)) * 2 + rng.choice([0, 0.5, 8])
    kind = {0: nn.BatchNorm1d, 1: nn.BatchNorm1d, 2: nn.BatchNorm2d, 3: nn.BatchNorm3d}[len(sizes)]
    return module_case(rng, "BatchNorm", {"channels": channels, "eps": eps}, kind(channels, eps), {"x": x})


def layer_norm(rng):
    shape = some_sizes(rng, 1, 3, 6) if rng.random() < 0.5 else [rng.choice([2, 3, 7, 16, 33, 128])]
    eps, bias = rng.choice([1e-5, 1e-3]), rng.random() < 0.7
    lead = some_sizes(rng, 0, 3)
    if lead and rng.random() < 0.05:
        lead[0] = 0
    x = torch.randn(*lead, *shape, dtype=pick_dtype(rng)) * 2 + rng.choice([0, 0.5, 8])
    check_spread(x, math.prod(shape))
    module = nn.LayerNorm(shape, eps)
    if not bias:
        module.bias = None
    return module_case(rng, "LayerNorm", {"shape": shape, "eps": eps, "bias": bias}, module, {"x": x})


def group_norm(rng):
    groups = rng.choice([1, 2, 3, 4])
    channels = groups * rng.choice([1, 2, 3, 8])
    eps, affine = rng.choice([1e-5, 1e-3]), rng.random() < 0.7
    x = torch.randn(pick_batch(rng), channels, *some_sizes(rng, 0, 3), dtype=pick_dtype(rng)) * 2 + rng.choice([0, 0.5, 8])
    check_spread(x, math.prod(x.shape[1:]) // groups)
    config = {"groups": groups, "channels": channels, "eps": eps, "affine": affine}
    return module_case(rng, "GroupNorm", config, nn.GroupNorm(groups, channels, eps, affine), {"x": x})


def instance_norm(rng):
    channels = rng.choice([1, 2, 3, 16])
    eps, affine = rng.choice([1e-5, 1e-3]), rng.random() < 0.7
    sizes = some_sizes(rng, 1, 3)
    x = torch.randn(pick_batch(rng), channels, *sizes, dtype=pick_dtype(rng)) * 2 + rng.choice([0, 0.5, 8])
    kind = [nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d][len(sizes) - 1]
    check_spread(x, math.prod(sizes))
    config = {"channels": channels, "eps": eps, "affine": affine}
    return module_case(rng, "InstanceNorm", config, kind(channels, eps, affine=affine), {"x": x})


class ByFormula(nn.Module):
    """The RMS norm, which older releases of PyTorch do not have."""

    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rms_norm(rng):
    size, eps = rng.choice([1, 2, 3, 7, 16, 33, 128]), rng.choice([1e-6, 1e-5, 1e-3])
    x = torch.randn(*some_sizes(rng, 0, 3), size, dtype=pick_dtype(rng)) * 2
    return module_case(rng, "RmsNorm", {"size": size, "eps": eps}, getattr(nn, "RMSNorm", ByFormula)(size, eps=eps),
                       {"x": x})


def prelu(rng):
    channels = rng.randint(1, 5)
    count = rng.choice([1, channels])
    x = torch.randn(pick_batch(rng), channels, *some_sizes(rng, 0, 3), dtype=pick_dtype(rng))
    if rng.random() < 0.3:
        slope = torch.randn(count, dtype=x.dtype)
        return Case("prelu", {}, {"x": x, "y": slope}, [F.prelu(x, slope)])
    return module_case(rng, "PRelu", {"count": count}, nn.PReLU(count), {"x": x})


FAMILIES = {"linear": linear, "embedding": embedding,
            "embedding f64": embedding_f64, "batch norm": batch_norm,
            "layer norm": layer_norm, "group norm": group_norm, "instance norm": instance_norm,
            "RMS norm": rms_norm, "PReLU": prelu}
