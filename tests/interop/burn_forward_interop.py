# SPDX-License-Identifier: MIT OR Apache-2.0
"""Forward passes: models of layers compute what they compute in Burn 0.21.0, with one file of parameters.

usage: burn_forward_interop.py [--long] [--only WORD]

Burn and we both save every model, and both load both files. --only takes the models with WORD in their name;
--long changes nothing. On purpose different from Burn 0.21.0, and as in PyTorch:

* Padding "same" keeps the size of the output if the kernel is dilated. Burn computes it without the dilation.
* An AvgPool2d without count_include_pad leaves out padding that is not the same on both sides, too. Burn
  counts it.
* With ceil_mode, a last window that starts behind the input and its first padding is dropped. Burn keeps it;
  its elements are 0 in an AvgPool2d and minus infinity in a MaxPool2d.
* Interpolate2d computes positions with the scale, if one is given. Burn computes them with the sizes, as if
  the size of the output had been given.
"""

import json
import os
import pathlib
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file

from suite import BURN_PEERS, TOOL, Suite, run

PROBE = os.environ.get("ANDIRON_BURN_FORWARD_PROBE", "andiron_burn_forward_probe")
# Largest difference, relative to the largest element.
TOLERANCE = 1e-5
# Models that compute something else on purpose. Those of this name with AS_IN_BURN have other settings of ours.
DIFFERENT = ["AvgPool2d same without padding", "AvgPool2d uneven without padding", "Conv2d same dilated",
             "Interpolate2d scale", "Interpolate2d scale linear not aligned"]
AS_IN_BURN = " as in Burn"
# Burn's output has one column more.
WIDER = ["AvgPool2d ceil outside", "MaxPool2d ceil outside"]


def tensors_of(path, folder):
    readable = folder / "readable.safetensors"
    readable.unlink(missing_ok=True)
    run(TOOL, "convert", path, "-o", readable)
    return load_file(readable)


def outputs_of(program, name, model, inputs, folder):
    """What a program computes, in order."""
    path = folder / "outputs.bpk"
    path.unlink(missing_ok=True)
    run(program, "forward", name, model, inputs, path)
    tensors = tensors_of(path, folder)
    return [tensors[str(i)] for i in range(len(tensors))]


def difference(got, expected):
    """Relative to the largest element, or what is wrong, as text."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype}{list(got.shape)}, Burn has {expected.dtype}{list(expected.shape)}"
    if not np.isfinite(expected).all() or not np.isfinite(got).all():
        return "not finite"
    return float(np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-30))


def check_outputs(suite, name, what, got, expected):
    """Returns the largest difference."""
    worst = 0.0
    suite.check(f"{what}: there are outputs", len(expected) > 0)
    suite.equal(f"{what}: number of outputs", len(got), len(expected))
    for i, (ours, theirs) in enumerate(zip(got, expected)):
        if name in WIDER:
            suite.equal(f"{what}: Burn's shape", theirs.shape, (*ours.shape[:-1], ours.shape[-1] + 1))
            theirs = theirs[..., :-1]
        apart = difference(ours, theirs)
        fits = not isinstance(apart, str) and apart <= TOLERANCE
        suite.check(f"{what}: output {i}", fits != (name in DIFFERENT), apart)
        worst = max(worst, apart if fits else 0)
    return worst


def check_model(suite, name, folder):
    """Returns the largest difference."""
    burn, burn_name, worst = BURN_PEERS["0.21"], name.removesuffix(AS_IN_BURN), 0.0
    inputs = folder / "inputs.bpk"
    models = {"Burn": folder / "burn.bpk", "us": folder / "andiron.bpk"}
    for path in (inputs, *models.values()):
        path.unlink(missing_ok=True)
    run(burn, "create", burn_name, models["Burn"], inputs)
    run(PROBE, "create", name, models["us"])
    for key, tensor in tensors_of(inputs, folder).items():
        suite.check(f"{name}: {key} is not all the same", tensor.min() < tensor.max())
    for writer, model in models.items():
        what = f"{name}, saved by {writer}"
        with suite.case(what):
            got = outputs_of(PROBE, name, model, inputs, folder)
            expected = outputs_of(burn, burn_name, model, inputs, folder)
            worst = max(worst, check_outputs(suite, name, what, got, expected))
    return worst


def main():
    suite = Suite()
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    names = [name for name in json.loads(run(PROBE, "models")) if only in name]
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            with suite.case(name):
                worst = max(worst, check_model(suite, name, pathlib.Path(folder)))
    print(f"{len(names)} models; largest difference {worst:.1e}")
    suite.finish()


if __name__ == "__main__":
    main()
