# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cases of layers_interop.py: recurrent layers."""

import torch
from torch import nn

from layers_common import module_case, pick_batch, pick_dtype
from layers_function_cases import ACTIVATIONS


def by_layer(state, layers, both):
    """PyTorch's [layers * directions, batch, hidden] as one tensor for each layer."""
    parts = state.reshape(layers, 2 if both else 1, *state.shape[1:])
    return [part if both else part[0] for part in parts]


def recurrent(kind, stacked):
    """`kind` is Lstm, Gru, BiLstm or BiGru."""
    is_lstm, both = kind.endswith("Lstm"), kind.startswith("Bi")

    def make(rng):
        large = rng.random() < 0.1
        into, hidden = (rng.randint(1, 40 if large else 6) for _ in range(2))
        layers = rng.randint(1, 3) if stacked else 1
        bias, batch_first = rng.random() < 0.7, rng.random() < 0.6
        batch, time = pick_batch(rng), rng.randint(1, 12 if large else 6)
        reverse = not both and not stacked and rng.random() < 0.3
        dtype = pick_dtype(rng)
        x = torch.randn(*((batch, time) if batch_first else (time, batch)), into, dtype=dtype)
        with_state = rng.random() < 0.7
        starts = [torch.randn(layers * (2 if both else 1), batch, hidden, dtype=dtype) * 0.7
                  for _ in range(2 if is_lstm else 1)] if rng.random() < 0.5 else []
        if not with_state:
            starts = []
        module = (nn.LSTM if is_lstm else nn.GRU)(into, hidden, layers, bias, batch_first, bidirectional=both)
        inputs = {"x": x}
        for name, start in zip(("h0", "c0"), starts):
            for i, part in enumerate(by_layer(start, layers, both)):
                inputs[f"{name}.{i}" if stacked else name] = part
        config = {"in": into, "hidden": hidden, "bias": bias, "batch_first": batch_first,
                  "with_state": with_state}
        if stacked:
            config["layers"] = layers
        if reverse:
            config["reverse"] = True

        def call(m):
            flip = (lambda one: one.flip(1 if batch_first else 0)) if reverse else (lambda one: one)
            y, last = m(flip(x), (tuple(starts) if is_lstm else starts[0]) if starts else None)
            results = [flip(y)]
            if with_state:
                parts = [by_layer(one, layers, both) for one in (last if is_lstm else [last])]
                results += [one for layer in zip(*parts) for one in layer]
            return results
        return module_case(rng, kind, config, module, inputs, call)
    return make


def lstm_variant(rng):
    """Limits, other activations, and an input gate that is the forget gate too: by formula."""
    into, hidden, batch, time = (rng.randint(1, 6) for _ in range(4))
    x = torch.randn(batch, time, into, dtype=pick_dtype(rng))
    names = [rng.choice(["sigmoid", "tanh", "relu", "hard_sigmoid", "softplus"]) for _ in range(3)]
    clip, both = rng.choice([None, 0.3, 1.0]), rng.random() < 0.4
    config = {"in": into, "hidden": hidden, "bias": True, "batch_first": True, "with_state": True,
              "gate_activation": names[0], "cell_activation": names[1], "hidden_activation": names[2],
              "input_forget": both}
    if clip is not None:
        config["clip"] = clip

    def call(m):
        gate, candidate, out = (ACTIVATIONS[name] for name in names)
        h, c, steps = torch.zeros(batch, hidden, dtype=x.dtype), torch.zeros(batch, hidden, dtype=x.dtype), []
        for t in range(time):
            sums = x[:, t] @ m.weight_ih_l0.t() + m.bias_ih_l0 + h @ m.weight_hh_l0.t() + m.bias_hh_l0
            i, f, g, o = sums.chunk(4, 1)
            i, o = gate(i), gate(o)
            f = 1 - i if both else gate(f)
            c = f * c + i * candidate(g)
            if clip is not None:
                c = c.clamp(-clip, clip)
            h = o * out(c)
            steps.append(h)
        return [torch.stack(steps, 1), h, c]
    return module_case(rng, "Lstm", config, nn.LSTM(into, hidden), {"x": x}, call)


def gru_variant(rng):
    """Limits, other activations, and a reset before the product: by formula."""
    into, hidden, batch, time = (rng.randint(1, 6) for _ in range(4))
    x = torch.randn(batch, time, into, dtype=pick_dtype(rng))
    names = [rng.choice(["sigmoid", "tanh", "relu", "hard_sigmoid", "softplus"]) for _ in range(2)]
    clip, after = rng.choice([None, 0.3, 1.0]), rng.random() < 0.5
    config = {"in": into, "hidden": hidden, "bias": True, "batch_first": True, "with_state": True,
              "gate_activation": names[0], "hidden_activation": names[1], "reset_after": after}
    if clip is not None:
        config["clip"] = clip

    def call(m):
        gate, out = (ACTIVATIONS[name] for name in names)
        h, steps = torch.zeros(batch, hidden, dtype=x.dtype), []
        w, b = m.weight_hh_l0[2 * hidden:], m.bias_hh_l0[2 * hidden:]
        for t in range(time):
            ir, iz, i_new = (x[:, t] @ m.weight_ih_l0.t() + m.bias_ih_l0).chunk(3, 1)
            hr, hz, h_new = (h @ m.weight_hh_l0.t() + m.bias_hh_l0).chunk(3, 1)
            r, z = gate(ir + hr), gate(iz + hz)
            n = out(i_new + (r * h_new if after else (r * h) @ w.t() + b))
            h = (1 - z) * n + z * h
            if clip is not None:
                h = h.clamp(-clip, clip)
            steps.append(h)
        return [torch.stack(steps, 1), h]
    return module_case(rng, "Gru", config, nn.GRU(into, hidden), {"x": x}, call)


FAMILIES = {
    **{f"{kind}{', stacked' if stacked else ''}": recurrent(kind, stacked)
       for kind in ("Lstm", "Gru", "BiLstm", "BiGru") for stacked in (False, True)},
    "variants of Lstm": lstm_variant,
    "variants of Gru": gru_variant,
}
