# SPDX-License-Identifier: MIT OR Apache-2.0
"""Weight norm: the weights that we fold are those that PyTorch computes.

usage: weight_norm_interop.py [--long]
"""

import pathlib
import sys
import tempfile
import warnings

import torch
from torch import nn

from based_on_interop import read_safetensors
from suite import TOOL, Suite, run

LAYERS = {
    "linear": lambda: nn.Linear(5, 3),
    "conv": lambda: nn.Conv2d(3, 4, (3, 2)),
    "transposed": lambda: nn.ConvTranspose1d(3, 4, 5),
    "one output": lambda: nn.Linear(6, 1),
    "large": lambda: nn.Linear(700, 90),
}
# Older releases of PyTorch know the first form alone.
FORMS = {"weight_g": nn.utils.weight_norm}
if hasattr(nn.utils.parametrizations, "weight_norm"):
    FORMS["original0"] = nn.utils.parametrizations.weight_norm


def check_folded(suite, label, module, weight, folder):
    path = folder / "normed.pt"
    torch.save({"net": module.state_dict()}, path)
    folded = folder / "folded.safetensors"
    run(TOOL, "convert", "--force", "--fold-weight-norm", "--top-level-key", "net", path, "-o", folded)
    tensors, _ = read_safetensors(folded)
    suite.equal(f"{label}: names", sorted(tensors), sorted({"weight", "bias"} if weight == "weight" else
                                                           {*tensors, weight}))
    expected = getattr(module, weight).detach()
    suite.check(f"{label}: numbers", torch.allclose(tensors[weight], expected, rtol=1e-6, atol=1e-7),
                (tensors[weight] - expected).abs().max())


def main():
    suite = Suite()
    torch.manual_seed(7)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for form, normed in FORMS.items():
            for layer, make in LAYERS.items():
                for dim in (0, 1, None):
                    label = f"{layer}, {form}, dim {dim}"
                    with suite.case(label):
                        module = normed(make(), dim=dim)
                        with torch.no_grad():
                            for parameter in module.parameters():
                                parameter.mul_(1.5)
                        module(example(make()))
                        check_folded(suite, label, module, "weight", folder)
        with suite.case("a recurrent layer"):
            module = nn.utils.weight_norm(nn.GRU(3, 4), "weight_hh_l0")
            check_folded(suite, "a recurrent layer", module, "weight_hh_l0", folder)
    suite.finish()


def example(layer):
    """An input: the older form computes its weight in the forward pass."""
    if isinstance(layer, nn.Linear):
        return torch.zeros(1, layer.in_features)
    dims = 1 if isinstance(layer, nn.ConvTranspose1d) else 2
    return torch.zeros(1, layer.in_channels, *[8] * dims)


if __name__ == "__main__":
    sys.exit(main())
