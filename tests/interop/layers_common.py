# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cases of layers_interop.py: how they are made, stored, run and compared."""

import json
import os
import re
import subprocess

import torch

PROBE = os.environ.get("ANDIRON_LAYERS_PROBE", "andiron_layers_probe")
NAMES = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16",
         torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8",
         torch.bool: "BOOL"}
DTYPES = {name: dtype for dtype, name in NAMES.items()}
# Largest difference, relative to the largest element (or 1).
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


class Case:
    """`expected` is a list of tensors; or None, if there must be an error with all of `words` in it, or
    one of each tuple."""

    def __init__(self, kind, config, inputs, expected, state=None, elementwise=False, words=()):
        self.kind = kind
        self.config = config
        self.inputs = inputs
        self.expected = expected
        self.state = state
        # Every element is compared by its own size.
        self.elementwise = elementwise
        self.words = words
        # What PyTorch computes by another of its rules, which is counted only.
        self.other = None
        # What PyTorch computes in f64 from f32, where that is known.
        self.truth = None
        self.wrapped = False
        self.zero_copy = False

    def __str__(self):
        shapes = {name: f"{NAMES[one.dtype]}{list(one.shape)}" for name, one in self.inputs.items()}
        stored = sorted({NAMES[one.dtype] for one in (self.state or {}).values() if one.is_floating_point()})
        return f"{self.kind} {self.config} of {shapes}" + (f" with weights {stored}" if stored else "") + \
            (" in a module" if self.wrapped else "") + (" borrowed" if self.zero_copy else "")


# ---- Making ----

def pick_dtype(rng):
    return torch.float32 if rng.random() < 0.7 else torch.float64


def pick_batch(rng, most=3):
    return 0 if rng.random() < 0.03 else rng.randint(1, most)


def stored_dtype(rng, dtype):
    """That of the weights in the file."""
    number = rng.random()
    if dtype == torch.float32:
        return torch.float16 if number < 0.1 else torch.bfloat16 if number < 0.2 else \
            torch.float64 if number < 0.23 else dtype
    return torch.float32 if number < 0.1 else torch.float16 if number < 0.15 else dtype


def randomized(module):
    """The same with values where PyTorch starts with ones, zeros or a constant."""
    with torch.no_grad():
        for one in module.parameters():
            if one.numel() > 0 and (one.dim() == 1 or bool((one == one.flatten()[0]).all())):
                one.normal_(0, 0.5)
        for name, one in module.named_buffers():
            if name.endswith("running_mean"):
                one.normal_()
            elif name.endswith("running_var"):
                one.uniform_(0.2, 2)
    return module


def module_case(rng, kind, config, module, inputs, call=None, stored=None):
    """A case of a module: `call` gets it, with the weights as we compute with them."""
    dtype = next(iter(inputs.values())).dtype
    if not dtype.is_floating_point:
        dtype = torch.float32
    module = randomized(module).to(stored or stored_dtype(rng, dtype)).eval()
    state = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    module = module.to(dtype)
    with torch.no_grad():
        results = call(module) if call else module(inputs["x"])
        truth = [module.double()(inputs["x"].double())] if not call and dtype == torch.float32 else None
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    case = Case(kind, config, inputs, results, state)
    case.truth = truth
    return case


def of_16_bits(rng, make):
    """A case whose inputs are f16 or bf16, which we widen to f32; or None where that is not possible."""
    half = rng.choice([torch.float16, torch.bfloat16])
    exact = torch.randn
    torch.randn = lambda *sizes, dtype=torch.float32: exact(*sizes, dtype=dtype).to(half).to(dtype)
    try:
        case = make(rng)
    finally:
        torch.randn = exact
    for name, one in case.inputs.items():
        if one.dtype == torch.float64 or (one.is_floating_point() and difference(one.to(half).float(), one, True) != 0):
            return None
    case.inputs = {name: one.to(half) if one.is_floating_point() else one for name, one in case.inputs.items()}
    return case


# ---- Files ----

def raw_bytes(tensor):
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.view(torch.int16)
    return tensor.numpy().tobytes()


def write_safetensors(path, tensors):
    """Written by hand: not every torch has the package beside it."""
    header, parts, at = {}, [], 0
    for name, tensor in tensors.items():
        parts.append(raw_bytes(tensor))
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [at, at + len(parts[-1])]}
        at += len(parts[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


def read_safetensors(path):
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, stop = entry["data_offsets"]
        data, dtype = bytearray(content[end + begin:end + stop]), DTYPES[entry["dtype"]]
        tensor = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
        tensors[name] = tensor.reshape(entry["shape"])
    return tensors


def write_cases(cases, folder):
    (folder / "cases.json").write_text(json.dumps([
        {"kind": case.kind, "config": case.config, "parameters": bool(case.state),
         "wrapped": case.wrapped, "zero_copy": case.zero_copy} for case in cases]))
    write_safetensors(folder / "inputs.safetensors", {
        f"{i}.{name}": tensor for i, case in enumerate(cases) for name, tensor in case.inputs.items()})
    for i, case in enumerate(cases):
        if case.state:
            prefix = "layer." if case.wrapped else ""
            torch.save({prefix + name: one for name, one in case.state.items()}, folder / f"{i}.pt")


# ---- Running ----

def run_range(folder, first, end, outputs, errors):
    """Adds the results of some cases. Where the program ends early, the case is left out and has an error."""
    if first == end:
        return
    try:
        done = subprocess.run([PROBE, folder, str(first), str(end)], capture_output=True, check=False,
                              timeout=600)
        code, text, printed = done.returncode, done.stderr.decode(errors="replace"), done.stdout
    except subprocess.TimeoutExpired as late:
        code, text, printed = "none", "it did not end", late.stdout or b""
    if code == 0:
        for name, tensor in read_safetensors(folder / "outputs.safetensors").items():
            outputs.setdefault(int(name.split(".")[0]), {})[int(name.split(".")[1])] = tensor
        for name, error in json.loads((folder / "errors.json").read_text()).items():
            errors[int(name)] = error
        return
    if not printed:
        raise RuntimeError(f"{PROBE}: exit code {code}: {text}")
    last = int(printed.split()[-1])
    errors[last] = f"CRASH: exit code {code}: {text[-300:]}"
    run_range(folder, first, last, outputs, errors)
    run_range(folder, last + 1, end, outputs, errors)


def run_cases(cases, folder):
    """For each case, its tensors or the text of its error."""
    write_cases(cases, folder)
    outputs, errors = {}, {}
    run_range(folder, 0, len(cases), outputs, errors)
    return [errors[i] if i in errors else [one for _, one in sorted(outputs.get(i, {}).items())]
            for i in range(len(cases))]


# ---- Comparing ----

def difference(got, expected, elementwise):
    """The largest difference, relative to the size of the numbers; or what is wrong, as text."""
    if list(got.shape) != list(expected.shape):
        return f"shape {list(got.shape)}, expected {list(expected.shape)}"
    if got.dtype != expected.dtype:
        return f"dtype {NAMES[got.dtype]}, expected {NAMES[expected.dtype]}"
    if got.dtype not in TOLERANCE:
        same = (got == expected) | ((got != got) & (expected != expected))
        return 0.0 if bool(same.all()) else at_first("differs", ~same, got, expected)
    got, expected = got.double(), expected.double()
    special = ~torch.isfinite(got) | ~torch.isfinite(expected)
    same = (got == expected) | (torch.isnan(got) & torch.isnan(expected))
    if bool((special & ~same).any()):
        return at_first("not finite", special & ~same, got, expected)
    apart = torch.where(special, torch.zeros_like(got), (got - expected).abs())
    size = torch.where(special, torch.zeros_like(got), expected.abs())
    if apart.numel() == 0:
        return 0.0
    if elementwise:
        return float((apart / size.clamp(min=1)).max())
    return float(apart.max() / max(1.0, float(size.max())))


def at_first(what, mask, got, expected):
    index = [int(one) for one in mask.nonzero()[0]]
    return f"{what} at {index}: {got[tuple(index)].item()!r}, expected {expected[tuple(index)].item()!r}"


def verdict(case, result):
    """None or what is wrong, and the largest difference."""
    if case.expected is None:
        if not isinstance(result, str):
            return f"no error, but {[list(one.shape) for one in result]}", 0.0
        missing = [word for word in case.words
                   if not any(one in result for one in ([word] if isinstance(word, str) else word))]
        if missing or result.startswith("CRASH"):
            return f"the error does not say {missing}: {result}", 0.0
        return None, 0.0
    if isinstance(result, str):
        return result, 0.0
    if len(result) != len(case.expected):
        return f"{len(result)} tensors, expected {len(case.expected)}", 0.0
    worst = 0.0
    for i, (got, expected) in enumerate(zip(result, case.expected)):
        apart = difference(got, expected, case.elementwise)
        if case.truth and not isinstance(apart, str) and apart > TOLERANCE[got.dtype]:
            # PyTorch's own f32 may be that far off, as in norms of a few elements that are nearly equal.
            apart = min(apart, difference(got.double(), case.truth[i], case.elementwise))
        if isinstance(apart, str):
            return f"output {i}: {apart}", worst
        worst = max(worst, apart)
        if apart > TOLERANCE.get(got.dtype, 0):
            return f"output {i}: off by {apart:.2g}", worst
    return None, worst


def bracketed(text):
    """The shapes in an error."""
    return re.findall(r"\[[^\[\]]*\]", text)
