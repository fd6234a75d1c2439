# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cases of layers_interop.py: attention, transformers and encodings of positions."""

import inspect
import math

import torch
from torch import nn

from layers_common import Case, module_case, pick_batch, pick_dtype
from layers_function_cases import ACTIVATIONS


# ---- Masks ----

def random_masks(rng, batch, queries, keys, prefix=""):
    """Inputs, settings, and what is hidden as [batch, queries, keys]. Each query sees a key."""
    inputs, settings = {}, {}
    hidden = torch.zeros(batch, queries, keys, dtype=torch.bool)
    if rng.random() < 0.4:
        pad = torch.rand(batch, keys) < 0.4
        pad[:, 0] = False
        inputs[prefix + "pad"] = pad
        hidden = hidden | pad[:, None, :]
    if rng.random() < 0.5:
        attn = torch.rand(*([batch] if rng.random() < 0.5 else []), queries, keys) < 0.4
        attn[..., 0] = False
        inputs[prefix + "attn"] = attn
        hidden = hidden | attn
    if rng.random() < 0.3:
        settings[prefix + "causal"] = True
        hidden = hidden | above_diagonal(queries, keys)
    return inputs, settings, hidden


def above_diagonal(queries, keys):
    return torch.ones(queries, keys, dtype=torch.bool).triu(1)


def for_torch(masks, settings, heads, queries, keys, prefix=""):
    """The masks as PyTorch's modules take them: padding, and the rest with one for each head."""
    attn = masks.get(prefix + "attn")
    if settings.get(prefix + "causal"):
        causal = above_diagonal(queries, keys)
        attn = causal if attn is None else attn | causal
    if attn is not None and attn.dim() == 3:
        attn = attn.repeat_interleave(heads, 0)
    return masks.get(prefix + "pad"), attn


def softmax(scores, quiet):
    if not quiet:
        return scores.softmax(-1)
    most = scores.amax(-1, keepdim=True)
    raised = (scores - most).exp()
    return raised / (raised.sum(-1, keepdim=True) + (-most).exp())


def attend(query, key, value, hidden, scale=None, quiet=False):
    """By hand, [batch, heads, length, size], with fewer heads of keys where they are grouped."""
    times = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
    scores = query @ key.transpose(-1, -2) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    return softmax(scores.masked_fill(hidden[:, None], -1e4), quiet) @ value


# ---- Attention ----

def multi_head(rng):
    heads = rng.randint(1, 4)
    size = heads * rng.choice([1, 2, 3, 8, 16])
    batch, queries, dtype = pick_batch(rng), rng.randint(1, 7), pick_dtype(rng)
    is_self = rng.random() < 0.4
    keys = queries if is_self else rng.randint(1, 7)
    weights, bias = not is_self and rng.random() < 0.5, rng.random() < 0.7
    x = torch.randn(batch, queries, size, dtype=dtype)
    key, value = (x if is_self else torch.randn(batch, keys, size, dtype=dtype) for _ in range(2))
    masks, settings, _ = random_masks(rng, batch, queries, keys)
    pad, attn = for_torch(masks, settings, heads, queries, keys)
    config = {"size": size, "heads": heads, "bias": bias, "weights": weights, **settings}
    inputs = {"x": x, **({} if is_self else {"key": key, "value": value}), **masks}

    def call(m):
        with torch.enable_grad():  # PyTorch's plain path
            y, seen = m(x, key, value, key_padding_mask=pad, attn_mask=attn, need_weights=weights,
                        average_attn_weights=False)
        return [y.detach(), seen.detach()] if weights else [y.detach()]
    return module_case(rng, "MultiHeadAttention", config,
                       nn.MultiheadAttention(size, heads, bias=bias, batch_first=True), inputs, call)


class Projections(nn.Module):
    def __init__(self, size, context, heads, kv_heads, head_size, bias):
        super().__init__()
        self.query = nn.Linear(size, heads * head_size, bias)
        self.key = nn.Linear(context, kv_heads * head_size, bias)
        self.value = nn.Linear(context, kv_heads * head_size, bias)
        self.output = nn.Linear(heads * head_size, size, bias)


def split(x, heads):
    return x.reshape(x.shape[0], x.shape[1], heads, x.shape[2] // heads).transpose(1, 2)


def join(x):
    x = x.transpose(1, 2)
    return x.reshape(x.shape[0], x.shape[1], x.shape[2] * x.shape[3])


def cross_attention(rng):
    kv_heads = rng.randint(1, 3)
    heads = kv_heads * rng.randint(1, 3)
    size, context, head_size = rng.randint(1, 12), rng.randint(1, 12), rng.choice([1, 2, 3, 8])
    batch, queries, keys, dtype = pick_batch(rng), rng.randint(1, 6), rng.randint(1, 6), pick_dtype(rng)
    x = torch.randn(batch, queries, size, dtype=dtype)
    other = torch.randn(batch, keys, context, dtype=dtype)
    masks, settings, hidden = random_masks(rng, batch, queries, keys)
    quiet, bias = rng.random() < 0.2, rng.random() < 0.7
    config = {"size": size, "context": context, "heads": heads, "kv_heads": kv_heads, "head_size": head_size,
              "bias": bias, "quiet_softmax": quiet, **settings}

    def call(m):
        return m.output(join(attend(split(m.query(x), heads), split(m.key(other), kv_heads),
                                    split(m.value(other), kv_heads), hidden, quiet=quiet)))
    return module_case(rng, "CrossAttention", config, Projections(size, context, heads, kv_heads, head_size, bias),
                       {"x": x, "context": other, **masks}, call)


def dot_product(rng):
    kv_heads = rng.randint(1, 3)
    heads, size, batch = kv_heads * rng.randint(1, 3), rng.choice([1, 2, 3, 8, 32]), pick_batch(rng)
    queries, keys, dtype = rng.randint(1, 9), rng.randint(1, 9), pick_dtype(rng)
    x = torch.randn(batch, heads, queries, size, dtype=dtype)
    key, value = (torch.randn(batch, kv_heads, keys, size, dtype=dtype) for _ in range(2))
    masks, settings, hidden = random_masks(rng, batch, queries, keys)
    config = {"quiet_softmax": rng.random() < 0.3, **settings}
    if rng.random() < 0.4:
        config["scale"] = rng.choice([0.1, 1.0, 2.0])
    return Case("scaled_dot_product_attention", config, {"x": x, "key": key, "value": value, **masks},
                [attend(x, key, value, hidden, config.get("scale"), config["quiet_softmax"])])


def attention_functions(rng):
    batch, length, heads = pick_batch(rng), rng.randint(1, 6), rng.randint(1, 4)
    kind = rng.choice(["split_heads", "join_heads", "generate_autoregressive_mask", "generate_padding_mask"])
    if kind == "split_heads":
        x = torch.randn(batch, length, heads * rng.randint(1, 4), dtype=pick_dtype(rng))
        return Case(kind, {"heads": heads}, {"x": x}, [split(x, heads)])
    if kind == "join_heads":
        x = torch.randn(batch, heads, length, rng.randint(1, 4), dtype=pick_dtype(rng))
        return Case(kind, {}, {"x": x}, [join(x)])
    if kind == "generate_autoregressive_mask":
        batch = max(batch, 1)
        return Case(kind, {"batch": batch, "length": length}, {},
                    [above_diagonal(length, length).expand(batch, length, length)])
    tokens = [[rng.randint(1, 99) for _ in range(rng.randint(1, 8))] for _ in range(max(batch, 1))]
    config = {"tokens": tokens, "pad_token": rng.choice([0, -1, 7])}
    longest = max(map(len, tokens))
    if rng.random() < 0.5:
        config["max_length"] = rng.randint(1, 9)
        longest = min(longest, config["max_length"])
    cut = [one[:longest] for one in tokens]
    return Case(kind, config, {}, [
        torch.tensor([one + [config["pad_token"]] * (longest - len(one)) for one in cut]),
        torch.tensor([[token == config["pad_token"] for token in one] + [True] * (longest - len(one)) for one in cut])])


# ---- Transformers ----

def transformer(decodes):
    def make(rng):
        heads = rng.randint(1, 3)
        size, inner = heads * rng.choice([4, 5, 8]), rng.choice([3, 8, 20])
        layers, alone = rng.randint(1, 3), rng.random() < 0.2
        norm_first, final = rng.random() < 0.5, not alone and rng.random() < 0.4
        activation, eps = rng.choice(["relu", "gelu"]), rng.choice([1e-5, 1e-3])
        batch, length, dtype = pick_batch(rng), rng.randint(1, 6), pick_dtype(rng)
        x = torch.randn(batch, length, size, dtype=dtype)
        masks, settings, _ = random_masks(rng, batch, length, length)
        inputs = {"x": x, **masks}
        kind = "Decoder" if decodes else "Encoder"
        layer = getattr(nn, f"Transformer{kind}Layer")(size, heads, inner, 0.0, activation, eps, batch_first=True,
                                                       norm_first=norm_first)
        if alone:
            layers, module = 1, layer
        else:
            module = getattr(nn, f"Transformer{kind}")(layer, layers, nn.LayerNorm(size, eps) if final else None,
                                                       **({} if decodes else {"enable_nested_tensor": False}))
        config = {"size": size, "inner": inner, "heads": heads, "layers": layers, "norm_first": norm_first,
                  "final_norm": final, "activation": activation, "eps": eps, **settings}
        pad, attn = for_torch(masks, settings, heads, length, length)
        if decodes:
            keys = rng.randint(1, 6)
            memory = torch.randn(batch, keys, size, dtype=dtype)
            more, other_settings, _ = random_masks(rng, batch, length, keys, "memory_")
            inputs.update(memory=memory, **more)
            config.update(other_settings)
            memory_pad, memory_attn = for_torch(more, other_settings, heads, length, keys, "memory_")

        def call(m):
            # With gradients PyTorch takes its plain path, which leaves padding as it is.
            with torch.enable_grad():
                if decodes:
                    return m(x, memory, attn, memory_attn, pad, memory_pad).detach()
                names = inspect.signature(m.forward).parameters
                return m(x, **{"src_mask" if "src_mask" in names else "mask": attn},
                         src_key_padding_mask=pad).detach()
        return module_case(rng, f"Transformer{kind}{'Layer' if alone else ''}", config, module, inputs, call)
    return make


class FeedForward(nn.Module):
    def __init__(self, size, inner, out, bias=True):
        super().__init__()
        self.linear_inner = nn.Linear(size, inner, bias)
        self.linear_outer = nn.Linear(inner if out else size, out or inner, bias)


def feed_forward(rng):
    size, inner = rng.randint(1, 20), rng.randint(1, 20)
    activation = rng.choice(sorted(ACTIVATIONS))
    x = torch.randn(pick_batch(rng), rng.randint(1, 5), size, dtype=pick_dtype(rng))
    return module_case(rng, "PositionWiseFeedForward", {"size": size, "inner": inner, "activation": activation},
                       FeedForward(size, inner, size), {"x": x},
                       lambda m: m.linear_outer(ACTIVATIONS[activation](m.linear_inner(x))))


def swiglu(rng):
    into, out, bias = rng.randint(1, 33), rng.randint(1, 33), rng.random() < 0.4
    sizes = [rng.randint(1, 4) for _ in range(rng.randint(0, 3))]
    x = torch.randn(*sizes, into, dtype=pick_dtype(rng))
    return module_case(rng, "SwiGlu", {"in": into, "out": out, "bias": bias},
                       FeedForward(into, out, None, bias), {"x": x},
                       lambda m: nn.functional.silu(m.linear_inner(x)) * m.linear_outer(x))


# ---- Positions ----

def positional(rng):
    size, length = 2 * rng.randint(1, 10), rng.randint(1, 40)
    longest = length + rng.randint(0, 20)
    timescale = rng.choice([10000, 100, 500000])
    x = torch.randn(pick_batch(rng), length, size, dtype=pick_dtype(rng))
    angles = torch.arange(length, dtype=torch.float64)[:, None] * torch.exp(
        torch.arange(0, size, 2, dtype=torch.float64) * (-math.log(timescale) / size))
    table = torch.stack([angles.sin(), angles.cos()], -1).reshape(length, size)
    return Case("PositionalEncoding", {"size": size, "longest": longest, "timescale": timescale}, {"x": x},
                [x + table.to(x.dtype)])


def rotary(rng):
    size, length, start = 2 * rng.randint(1, 10), rng.randint(1, 20), rng.choice([None, 0, 1, 17, 300])
    theta, halves = rng.choice([10000.0, 500000.0, 100.0]), rng.random() < 0.5
    lead = [rng.randint(1, 3) for _ in range(rng.randint(0, 3))]
    x = torch.randn(*lead, length, size, dtype=pick_dtype(rng))
    # In floats, as Meta and Hugging Face compute them; the power in f64, since that of torch is off by a bit at times.
    powers = (theta ** (torch.arange(0, size, 2).float() / size).double()).float()
    angles = torch.outer(torch.arange(start or 0, (start or 0) + length).float(), 1.0 / powers).double()
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = (x[..., :size // 2], x[..., size // 2:]) if halves else (x[..., 0::2], x[..., 1::2])
    turned = [a * cos - b * sin, a * sin + b * cos]
    y = torch.cat(turned, -1) if halves else torch.stack(turned, -1).reshape(x.shape)
    config = {"size": size, "longest": (start or 0) + length + rng.choice([0, 5]), "theta": theta, "halves": halves}
    if start is not None:
        config["start"] = start
    return Case("RotaryEncoding", config, {"x": x}, [y])


FAMILIES = {"multi-head attention": multi_head, "cross attention": cross_attention,
            "scaled dot product attention": dot_product, "functions of attention": attention_functions,
            "transformer encoder": transformer(False), "transformer decoder": transformer(True),
            "feed-forward": feed_forward, "SwiGlu": swiglu, "positional encoding": positional,
            "rotary encoding": rotary}
