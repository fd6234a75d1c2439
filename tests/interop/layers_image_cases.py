# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cases of layers_interop.py: convolutions, pooling, windows and other sizes of images."""

import torch
import torch.nn.functional as F
from torch import nn

from layers_common import Case, module_case, pick_batch, pick_dtype

CONVOLUTIONS = [nn.Conv1d, nn.Conv2d, nn.Conv3d]
TRANSPOSED = [nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d]


def plain(sizes):
    """As configs have them: a number in one dimension."""
    return sizes[0] if len(sizes) == 1 else list(sizes)


def channels_of(rng):
    """Groups, channels in and out."""
    kind = rng.random()
    if kind < 0.2:  # each channel by itself
        groups = rng.randint(2, 6)
        return groups, groups, groups * rng.randint(1, 2)
    groups = rng.choice([1, 1, 1, 2, 3])
    if kind < 0.35:
        return groups, groups * rng.choice([8, 16, 20]), groups * rng.choice([8, 16, 17])
    return groups, groups * rng.randint(1, 5), groups * rng.randint(1, 5)


def padded(x, before, after, value=0.0):
    pairs = [one for pair in zip(reversed(before), reversed(after)) for one in pair]
    return F.pad(x, pairs, value=value)


def same_padding(sizes, kernel, stride, dilation):
    """Before and after, with more after."""
    total = [max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
             for n, k, s, d in zip(sizes, kernel, stride, dilation)]
    return [one // 2 for one in total], [one - one // 2 for one in total]


def convolution(dims, same_with_stride=False):
    kind = f"Conv{dims}d"

    def make(rng):
        groups, into, out = channels_of(rng)
        kernel = [rng.randint(1, 5 if dims < 3 else 3) for _ in range(dims)]
        stride = [rng.randint(1, 3) for _ in range(dims)]
        dilation = [rng.choice([1, 1, 2, 3]) for _ in range(dims)]
        sizes = [rng.randint(1, 20 if dims < 3 and rng.random() < 0.2 else 9) for _ in range(dims)]
        bias = rng.random() < 0.7
        x = torch.randn(pick_batch(rng), into, *sizes, dtype=pick_dtype(rng))
        way = "strided same" if same_with_stride else \
            rng.choice(["valid", "same", "same", "symmetric", "explicit", "explicit"])
        if way == "same":
            stride = [1] * dims
        given = [rng.randint(0, 3) for _ in range(dims)]
        before, after = given, given
        module = CONVOLUTIONS[dims - 1](into, out, kernel, stride, dilation=dilation, groups=groups,
                                        bias=bias, padding="same" if way == "same" else
                                        given if way == "symmetric" else 0)
        if way == "valid":
            padding = "valid"
        elif way in ("same", "strided same"):
            padding = "same"
            before, after = same_padding(sizes, kernel, stride, dilation)
        elif dims == 3:
            padding = given
        else:
            if way == "explicit":
                after = [rng.randint(0, 3) for _ in range(dims)]
            padding = before if way == "symmetric" and dims == 2 else [*before, *after]
        config = {"channels": [into, out], "kernel": plain(kernel), "stride": plain(stride),
                  "dilation": plain(dilation), "groups": groups, "bias": bias, "padding": padding}
        by_hand = way in ("explicit", "strided same")
        return module_case(rng, kind, config, module, {"x": x},
                           lambda m: m(padded(x, before, after)) if by_hand else m(x))
    return make


def transposed(dims):
    def make(rng):
        groups, into, out = channels_of(rng)
        kernel = [rng.randint(1, 5 if dims < 3 else 3) for _ in range(dims)]
        stride = [rng.randint(1, 3) for _ in range(dims)]
        dilation = [rng.choice([1, 1, 2]) for _ in range(dims)]
        padding = [rng.randint(0, 2) for _ in range(dims)]
        padding_out = [rng.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation)]
        sizes = [rng.randint(1, 12 if dims < 3 and rng.random() < 0.2 else 5) for _ in range(dims)]
        bias = rng.random() < 0.7
        x = torch.randn(pick_batch(rng), into, *sizes, dtype=pick_dtype(rng))
        module = TRANSPOSED[dims - 1](into, out, kernel, stride, padding, padding_out, groups, bias, dilation)
        config = {"channels": [into, out], "kernel": plain(kernel), "stride": plain(stride),
                  "dilation": plain(dilation), "groups": groups, "bias": bias,
                  "padding": plain(padding), "padding_out": plain(padding_out)}
        case = module_case(rng, f"ConvTranspose{dims}d", config, module, {"x": x})
        if 0 in case.expected[0].shape[2:]:
            raise ValueError("padding leaves nothing, which only some releases of PyTorch accept")
        return case
    return make


def image(rng, dims, most=14):
    x = torch.randn(pick_batch(rng), rng.choice([1, 2, 3, 16]), *[rng.randint(1, most) for _ in range(dims)],
                    dtype=pick_dtype(rng))
    if x.numel() and rng.random() < 0.06:
        x.flatten()[rng.randrange(x.numel())] = rng.choice([float("nan"), float("inf"), -float("inf")])
    return x


def pooling(dims, is_max):
    kind = f"{'Max' if is_max else 'Avg'}Pool{dims}d"
    pool = {("Max", 1): F.max_pool1d, ("Max", 2): F.max_pool2d, ("Avg", 1): F.avg_pool1d,
            ("Avg", 2): F.avg_pool2d}["Max" if is_max else "Avg", dims]

    def make(rng):
        x = image(rng, dims)
        kernel = [rng.randint(1, 4) for _ in range(dims)]
        stride = [rng.randint(1, 4) for _ in range(dims)]
        has_stride = rng.random() < 0.7
        if not has_stride:
            stride = kernel
        dilation = [rng.choice([1, 1, 2]) if is_max else 1 for _ in range(dims)]
        way = rng.choice(["valid", "symmetric", "symmetric", "same", "explicit"])
        ceil_mode = way in ("valid", "symmetric") and rng.random() < 0.5
        count = rng.random() < 0.5
        before = [rng.randint(0, one // 2) for one in kernel]
        after = before if way == "symmetric" else [rng.randint(0, one // 2) for one in kernel]
        padding = [*before, *after]
        if way == "valid":
            padding, before, after = "valid", [0] * dims, [0] * dims
        elif way == "same":
            if has_stride:
                stride = [1] * dims
            if any(one != 1 for one in stride):
                raise ValueError("same needs a stride of 1")
            padding = "same"
            before, after = same_padding(list(x.shape[2:]), kernel, stride, dilation)
        config = {"kernel": plain(kernel), "padding": padding, "ceil_mode": ceil_mode}
        if has_stride:
            config["stride"] = plain(stride)
        if is_max:
            config["dilation"] = plain(dilation)
            if way in ("valid", "symmetric"):
                y = pool(x, kernel, stride, before, dilation, ceil_mode)
            else:
                y = pool(padded(x, before, after, -float("inf")), kernel, stride, 0, dilation)
            if 0 in y.shape[2:]:
                raise ValueError("smaller than the kernel, which older releases of PyTorch accept")
            return Case(kind, config, {"x": x}, [y])
        config["count_include_pad"] = count
        if way in ("valid", "symmetric"):
            y = pool(x, kernel, stride, before, ceil_mode, count)
        else:
            y = pool(padded(x, before, after), kernel, stride)
            if not count:
                y = y / pool(padded(torch.ones_like(x), before, after), kernel, stride)
        return Case(kind, config, {"x": x}, [y])
    return make


def adaptive(rng):
    dims = rng.randint(1, 2)
    is_max = rng.random() < 0.5
    x = image(rng, dims)
    sizes = [rng.randint(1, 8) for _ in range(dims)]
    pool = [[F.adaptive_avg_pool1d, F.adaptive_avg_pool2d], [F.adaptive_max_pool1d, F.adaptive_max_pool2d]]
    kind = f"Adaptive{'Max' if is_max else 'Avg'}Pool{dims}d"
    return Case(kind, {"size": plain(sizes)}, {"x": x}, [pool[is_max][dims - 1](x, plain(sizes))])


def unfold(rng):
    kernel, stride, dilation = ([rng.randint(1, most) for _ in range(2)] for most in (4, 3, 3))
    padding = [rng.randint(0, 3) for _ in range(2)]
    x = image(rng, 2)
    config = {"kernel": kernel, "stride": stride, "dilation": dilation, "padding": padding}
    return Case("Unfold4d", config, {"x": x}, [F.unfold(x, kernel, dilation, padding, stride)])


def resized(x, mode, align, **how):
    """By PyTorch. It has no cubic mode in one dimension, so a second one of size 1 is added."""
    flat = x.dim() == 3 and mode == "cubic"
    if flat:
        x = x.unsqueeze(2)
        how = {key: (1, *value) if key in ("size", "scale_factor") else value for key, value in how.items()}
    name = {"nearest": "nearest", "linear": "linear" if x.dim() == 3 else "bilinear", "cubic": "bicubic"}[mode]
    y = F.interpolate(x, mode=name, align_corners=None if mode == "nearest" else align, **how)
    return y.squeeze(2) if flat else y


def is_unclear(size, scale):
    """Whether PyTorch's nearest element depends on the layout in memory or on the last bit."""
    copied = any(int(size * scale) == times * size and scale != times for times in (1, 2))
    places = [i / scale for i in range(int(size * scale))]
    return copied or any(0 < abs(one - round(one)) < 1e-5 for one in places)


def interpolated(by_scale, decimal=False):
    scales = (0.1, 0.3, 0.6, 0.7, 1.1, 1.3, 1.7, 2.2, 3.3) if decimal else (0.5, 0.75, 1.25, 1.5, 2.0, 2.5, 3.0, 0.375)

    def make(rng):
        dims = rng.randint(1, 2)
        most = 40 if rng.random() < 0.3 else 9
        x = torch.randn(pick_batch(rng), rng.randint(1, 3), *[rng.randint(1, most) for _ in range(dims)],
                        dtype=pick_dtype(rng))
        mode = rng.choice(["nearest", "linear", "cubic"])
        align = rng.random() < 0.5
        config = {"mode": mode, "align_corners": align}
        if not by_scale:
            sizes = [rng.randint(1, most) for _ in range(dims)]
            config["size"] = plain(sizes)
            return Case(f"Interpolate{dims}d", config, {"x": x}, [resized(x, mode, align, size=tuple(sizes))])
        # Ours are floats.
        scale = [rng.choice(scales) for _ in range(dims)]
        config["scale"] = plain(scale)
        if decimal:  # the newest PyTorch keeps their inverse as a float, also for f64
            x = x.float()
        if mode == "nearest" and any(is_unclear(n, s) for n, s in zip(x.shape[2:], scale)):
            raise ValueError("not the same everywhere in PyTorch")
        case = Case(f"Interpolate{dims}d", config, {"x": x}, [resized(x, mode, align, scale_factor=tuple(scale))])
        case.other = resized(x, mode, align, scale_factor=tuple(scale), recompute_scale_factor=True)
        return case
    return make


FAMILIES = {
    **{f"conv{dims}d": convolution(dims) for dims in (1, 2, 3)},
    **{f"conv{dims}d, same with a stride": convolution(dims, True) for dims in (1, 2, 3)},
    **{f"transposed conv{dims}d": transposed(dims) for dims in (1, 2, 3)},
    **{f"{name} pooling {dims}d": pooling(dims, name == "max") for name in ("max", "average") for dims in (1, 2)},
    "adaptive pooling": adaptive,
    "unfold": unfold,
    "interpolate to a size": interpolated(False),
    "interpolate by a scale": interpolated(True),
    "interpolate by a decimal scale": interpolated(True, decimal=True),
}
