# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cases of layers_interop.py: activations and the functions on tensors."""

import torch
import torch.nn.functional as F

from layers_common import Case, pick_dtype

EXTREME = [float("inf"), -float("inf"), float("nan"), 1e4, -1e4, 0.0, -0.0, 88.8, -88.8, 20.5, -20.5, 3.0, -3.0, 1e-30,
           -1e-30, 710.0, -710.0, 12.0, -12.0]


def gelu(x):
    """The newest PyTorch returns NaN for infinity where it computes several f32 at once."""
    return torch.where(x == float("inf"), x, F.gelu(x))


# As settings of other layers.
ACTIVATIONS = {
    "identity": lambda x: x, "relu": F.relu, "leaky_relu": F.leaky_relu, "gelu": gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "sigmoid": torch.sigmoid,
    "tanh": torch.tanh, "hard_sigmoid": F.hardsigmoid, "hard_swish": F.hardswish, "mish": F.mish,
    "softplus": F.softplus, "elu": F.elu}
LAYERS = {"Relu": "relu", "LeakyRelu": "leaky_relu", "Gelu": "gelu", "Silu": "silu", "Sigmoid": "sigmoid",
          "Tanh": "tanh", "HardSigmoid": "hard_sigmoid", "HardSwish": "hard_swish", "Mish": "mish",
          "Softplus": "softplus", "Elu": "elu", "Dropout": "identity"}


def some_shape(rng, low=1, high=4, most=5):
    shape = [rng.randint(1, most) for _ in range(rng.randint(low, high))]
    if shape and rng.random() < 0.04:
        shape[rng.randrange(len(shape))] = 0
    return shape


def activation(name):
    def make(rng):
        shape = some_shape(rng, 0)
        x = torch.randn(shape, dtype=pick_dtype(rng)) * rng.choice([1, 4, 20])
        if rng.random() < 0.3:
            x = torch.tensor(EXTREME, dtype=x.dtype)
        given = x
        if x.dtype == torch.float32 and rng.random() < 0.15:
            given = x.to(rng.choice([torch.float16, torch.bfloat16]))
            x = given.float()
        kind, config, function = name, {}, ACTIVATIONS[name]
        way = rng.random()
        layers = [layer for layer, its in LAYERS.items() if its == name]
        if way < 0.25 or (name == "identity" and way < 0.6):
            kind, config = "activate", {"activation": name}
        elif layers and (way < 0.5 or name == "identity"):
            kind = layers[0]
            if kind == "Dropout":
                given = x
        elif name == "hard_sigmoid":
            config = {"alpha": rng.choice([0.2, 1 / 6]), "beta": 0.5}
            function = lambda one: (config["alpha"] * one + config["beta"]).clamp(0, 1)
        elif name in ("leaky_relu", "elu", "softplus"):
            config = {"number": rng.choice([0.01, 0.3, 1.0, 2.0])}
            function = {"leaky_relu": lambda one: F.leaky_relu(one, config["number"]),
                        "elu": lambda one: F.elu(one, config["number"]),
                        "softplus": lambda one: F.softplus(one, config["number"])}[name]
        return Case(kind, config, {"x": given}, [function(x)], elementwise=True)
    return make


def along_a_dimension(rng):
    kind = rng.choice(["softmax", "log_softmax", "quiet_softmax", "glu"])
    shape = some_shape(rng, 1, 4, 7)
    dim = rng.randrange(len(shape))
    if kind == "glu":
        shape[dim] *= 2
    x = torch.randn(shape, dtype=pick_dtype(rng)) * rng.choice([1, 5, 100])
    if x.numel() and rng.random() < 0.15:
        x.flatten()[rng.randrange(x.numel())] = rng.choice([-float("inf"), 1e4, -1e4, float("nan")])
    # Without an element there is no largest one.
    if kind == "quiet_softmax" and shape[dim] == 0:
        raise ValueError("empty")
    if kind == "quiet_softmax":
        most = x.amax(dim, keepdim=True)
        raised = (x - most).exp()
        y = raised / (raised.sum(dim, keepdim=True) + (-most).exp())
    else:
        y = {"softmax": torch.softmax, "log_softmax": torch.log_softmax, "glu": F.glu}[kind](x, dim)
    return Case(kind, {"dim": dim - (len(shape) if rng.random() < 0.5 else 0)}, {"x": x}, [y])


def arithmetic(rng):
    kind = rng.choice(["add", "subtract", "multiply", "divide", "add_number", "multiply_number", "sqrt",
                       "maximum", "minimum", "exp", "log", "clamp"])
    shape = some_shape(rng, 0)
    x = torch.randn(shape, dtype=pick_dtype(rng))
    if kind in ("sqrt", "exp", "log"):
        return Case(kind, {}, {"x": x}, [getattr(x, kind)()], elementwise=True)
    if kind == "clamp":
        least, most = sorted(rng.choice([-1.5, -0.25, 0, 0.5, 6]) for _ in range(2))
        if x.numel() and rng.random() < 0.2:
            x.flatten()[0] = float("nan")
        return Case(kind, {"least": least, "most": most}, {"x": x}, [x.clamp(least, most)], elementwise=True)
    if kind.endswith("number"):
        number = rng.choice([0.5, -3.25, 1e-3, 7])
        return Case(kind, {"number": number}, {"x": x}, [x + number if kind[0] == "a" else x * number],
                    elementwise=True)
    other = [1 if rng.random() < 0.3 else one for one in shape[rng.randint(0, len(shape)):]]
    shape = [1 if rng.random() < 0.2 else one for one in shape]
    x, y = torch.randn(shape, dtype=x.dtype), torch.randn(other, dtype=x.dtype)
    if y.numel() and rng.random() < 0.1:
        y.flatten()[0] = 0
    if rng.random() < 0.5:
        x, y = y, x
    if kind.endswith("imum"):
        for one in (x, y):
            if one.numel() and rng.random() < 0.3:
                one.flatten()[-1] = float("nan")
    function = {"add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "divide": torch.div,
                "maximum": torch.maximum, "minimum": torch.minimum}[kind]
    given = [x, y]
    if x.dtype == torch.float32 and rng.random() < 0.15:
        given = [one.to(torch.float16) for one in given]
        x, y = (one.float() for one in given)
    return Case(kind, {}, dict(zip("xy", given)), [function(x, y)], elementwise=True)


def matmul(rng):
    rows, inner, columns = (rng.choice([1, 2, 3, 5, 8, 17, 33]) for _ in range(3))
    if rng.random() < 0.03:
        rows = 0
    batch = [rng.randint(1, 4) for _ in range(rng.randint(0, 3))]
    lead = [[1 if rng.random() < 0.3 else one for one in batch[rng.randint(0, len(batch)):]] for _ in range(2)]
    dtype = pick_dtype(rng)
    x, y = torch.randn(*lead[0], rows, inner, dtype=dtype), torch.randn(*lead[1], inner, columns, dtype=dtype)
    return Case("matmul", {}, {"x": x, "y": y}, [x @ y])


def over_a_dimension(rng):
    kind = rng.choice(["sum", "mean", "max", "argmax", "argmax"])
    shape = [rng.randint(1, 9) for _ in range(rng.randint(1, 4))]
    x = torch.randn(shape, dtype=pick_dtype(rng))
    if "max" in kind and rng.random() < 0.6:
        x = x.round()
        x[torch.rand(shape) < 0.1] = rng.choice([float("nan"), float("inf"), -float("inf")])
    dim, keep = rng.randrange(len(shape)), rng.random() < 0.5
    if kind == "argmax":  # PyTorch does not say which of equal ones it returns
        nan = torch.isnan(x)
        best = torch.where(nan.any(dim, keepdim=True), nan, x == x.amax(dim, keepdim=True))
        places = torch.arange(shape[dim]).reshape([-1 if i == dim else 1 for i in range(len(shape))])
        y = torch.where(best, places.expand(shape), torch.tensor(shape[dim])).amin(dim, keepdim=keep)
    elif kind == "max":
        y = torch.amax(x, dim, keep)
    else:
        y = (torch.sum if kind == "sum" else torch.mean)(x, dim, keep)
    return Case(kind, {"dim": dim - (len(shape) if rng.random() < 0.5 else 0), "keep_dim": keep}, {"x": x}, [y])


def any_tensor(rng, shape):
    dtype = rng.choice([torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
                        torch.uint8, torch.bool, torch.int8])
    if dtype == torch.bool:
        return torch.rand(shape) < 0.5
    return (torch.randn(shape) * 10).abs().to(dtype) if dtype == torch.uint8 else (torch.randn(shape) * 10).to(dtype)


def rearranging(rng):
    kind = rng.choice(["reshape", "flatten", "permute", "swap_dims", "slice", "concat", "pad"])
    shape = some_shape(rng, 1, 5)
    rank = len(shape)
    x = any_tensor(rng, shape)
    signed = lambda one: one - (rank if rng.random() < 0.5 else 0)
    dim = rng.randrange(rank)
    if kind == "reshape":
        wanted = list(shape)
        rng.shuffle(wanted)
        if rng.random() < 0.5:
            wanted = [x.numel()] if rng.random() < 0.5 else [*wanted, 1]
        if rng.random() < 0.6 and x.numel():
            wanted[rng.randrange(len(wanted))] = -1
        return Case(kind, {"shape": wanted}, {"x": x}, [x.reshape(wanted)])
    if kind == "flatten":
        return Case(kind, {"dim": signed(dim)}, {"x": x}, [x.flatten(dim)])
    if kind == "permute":
        dims = list(range(rank))
        rng.shuffle(dims)
        return Case(kind, {"dims": [signed(one) for one in dims]}, {"x": x}, [x.permute(dims).contiguous()])
    if kind == "swap_dims":
        other = rng.randrange(rank)
        return Case(kind, {"a": signed(dim), "b": signed(other)}, {"x": x}, [x.transpose(dim, other).contiguous()])
    if kind == "slice":
        size = shape[dim]
        start = rng.randint(0, size)
        end = rng.randint(start, size)
        config = {"dim": signed(dim), "start": start}
        if start < size and rng.random() < 0.5:
            config["start"] -= size
        if rng.random() < 0.7:
            config["end"] = end - (size if end < size and rng.random() < 0.5 else 0)
        else:
            end = size
        return Case(kind, config, {"x": x}, [x.narrow(dim, start, end - start).contiguous()])
    if kind == "concat":
        count = rng.randint(1, 4)
        parts = []
        for _ in range(count):
            other = list(shape)
            other[dim] = rng.randint(0, 4)
            parts.append((torch.randn(other) * 10).to(x.dtype))
        return Case(kind, {"count": count, "dim": signed(dim)}, {f"x{i}": one for i, one in enumerate(parts)},
                    [torch.cat(parts, dim)])
    return padding(rng, torch.randn(shape, dtype=pick_dtype(rng)) if rng.random() < 0.6 else x, dim, signed(dim))


def padding(rng, x, dim, named):
    size = x.shape[dim]
    if rng.random() < 0.5 and size > 0:
        before, after = rng.randint(0, size - 1), rng.randint(0, size - 1)
        places = [*range(before, 0, -1), *range(size), *range(size - 2, size - 2 - after, -1)]
        y = x.index_select(dim, torch.tensor(places))
        return Case("pad", {"dim": named, "before": before, "after": after, "reflect": True}, {"x": x}, [y])
    before, after = rng.randint(0, 4), rng.randint(0, 4)
    config = {"dim": named, "before": before, "after": after, "reflect": False}
    value = rng.choice([0, 0, 1] if x.dtype == torch.bool else [0, 0, 1, 5])
    if x.is_floating_point():
        value = rng.choice([0, 0.5, -2.25, -float("inf")])
    if value == -float("inf"):
        config["lowest"] = True
    elif value:
        config["value"] = value
    parts = [torch.full([size if i == dim else one for i, one in enumerate(x.shape)], value).to(x.dtype)
             for size in (before, after)]
    return Case("pad", config, {"x": x}, [torch.cat([parts[0], x, parts[1]], dim)])


def cast(rng):
    to = rng.choice([torch.float16, torch.bfloat16, torch.float32, torch.float64])
    x = any_tensor(rng, some_shape(rng, 0))
    if x.is_floating_point() and rng.random() < 0.5:
        x = torch.tensor([*EXTREME, 65504.0, 65520.0, 65519.0, 1e-8, 6e-8, 3e38, 1.0009765625, 1.00048828125,
                          1.00390625, 1.001953125, 3.14159]).to(x.dtype)
    if x.dtype == torch.float64 and rng.random() < 0.5:
        x = torch.randn(x.shape, dtype=torch.float64) * 10 ** rng.uniform(-9, 9)
    name = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64"}[to]
    return Case("cast", {"dtype": name}, {"x": x}, [x.to(to)], elementwise=True)


FAMILIES = {**{name: activation(name) for name in ACTIVATIONS}, "softmax and glu": along_a_dimension,
            "arithmetic": arithmetic, "matmul": matmul, "sum, mean and argmax": over_a_dimension,
            "rearranging": rearranging, "cast": cast}
