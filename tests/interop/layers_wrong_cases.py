# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cases of layers_interop.py: inputs that do not fit. They must give an error that names the layer
and both shapes."""

import torch

from layers_common import Case

# The dimension that must have one size, or None; and whether the number of dimensions is fixed.
RULES = {
    **{f"{name}{dims}d": (1, True) for name in ("Conv", "ConvTranspose") for dims in (1, 2, 3)},
    "Linear": (-1, False), "Conv1D": (-1, False), "SwiGlu": (-1, False), "BatchNorm": (1, False),
    "LayerNorm": (-1, False), "GroupNorm": (1, False), "InstanceNorm": (1, False), "RmsNorm": (-1, False),
    **{name: (-1, True) for name in (
        "Lstm", "Gru", "BiLstm", "BiGru", "MultiHeadAttention", "CrossAttention", "TransformerEncoder",
        "TransformerDecoder", "TransformerEncoderLayer", "TransformerDecoderLayer", "PositionalEncoding")},
    "RotaryEncoding": (-1, False), "PositionWiseFeedForward": (-1, False),
    **{f"{name}Pool{dims}d": (None, True) for name in ("Max", "Avg", "AdaptiveAvg", "AdaptiveMax")
       for dims in (1, 2)},
    "Unfold4d": (None, True), "Interpolate1d": (None, True), "Interpolate2d": (None, True),
}
# A layer may name the part of it that refuses an input.
PARTS = {
    **{name: ["Linear"] for name in ("SwiGlu", "PositionWiseFeedForward", "MultiHeadAttention", "CrossAttention")},
    "BiLstm": ["Lstm"], "BiGru": ["Gru"],
    **{f"Transformer{name}": ["MultiHeadAttention", "Linear", "LayerNorm"]
       for name in ("Encoder", "Decoder", "EncoderLayer", "DecoderLayer")},
}


def wrong_input(rng, case):
    """The case with another input, or None if there is none that is wrong."""
    if case.kind not in RULES:
        return None
    dim, fixed_rank = RULES[case.kind]
    shape = [max(one, 1) for one in case.inputs["x"].shape]
    way = rng.choice(["more", "fewer", "longer", "shorter"])
    if way == "more" and fixed_rank:
        shape = [1, *shape]
    elif way == "fewer" and fixed_rank:
        shape = shape[1:]
    elif way == "longer" and dim is not None:
        shape[dim] += 1
    elif way == "shorter" and dim is not None:
        shape[dim] -= 1
    else:
        return None
    return Case(case.kind, case.config, {**case.inputs, "x": torch.randn(shape, dtype=case.inputs["x"].dtype)},
                None, case.state, words=[(case.kind, *PARTS.get(case.kind, [])), str(shape), "["])


def wrong_mask(rng, case):
    """A mask or a state of another length."""
    names = [name for name in case.inputs if name != "x" and name != "y"]
    if case.kind not in RULES or not names:
        return None
    name = rng.choice(names)
    shape = [max(one, 1) for one in case.inputs[name].shape]
    shape[rng.randrange(len(shape))] += 1
    if name in ("key", "value", "context", "memory") and shape[-1] == case.inputs[name].shape[-1]:
        # Keys and values of one length, or all items of one number, would fit.
        return None
    other = torch.zeros(shape, dtype=case.inputs[name].dtype)
    return Case(case.kind, case.config, {**case.inputs, name: other}, None, case.state,
                words=[(case.kind, *PARTS.get(case.kind, [])), str(shape), "["])


def wrong_function(rng):
    """Functions on tensors name both shapes."""
    kind = rng.choice(["add", "subtract", "multiply", "divide", "matmul"])
    shape = [rng.randint(2, 4) for _ in range(rng.randint(2, 4))]
    other = list(shape)
    if kind == "matmul":
        other[-2] = shape[-1] + 1
    else:
        other[rng.randrange(len(other))] += 5
    return Case(kind, {}, {"x": torch.randn(shape), "y": torch.randn(other)}, None, words=[str(shape), str(other)])


def out_of_table(rng):
    count = rng.randint(1, 9)
    x = torch.randint(0, count, [rng.randint(1, 4), 3])
    x[-1, 1] = rng.choice([count, -1, 2 ** 40, -2 ** 40])
    return Case("Embedding", {"count": count, "size": 2}, {"x": x}, None, {"weight": torch.randn(count, 2)},
                words=["Embedding", str([count, 2])])
