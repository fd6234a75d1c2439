# SPDX-License-Identifier: MIT OR Apache-2.0
"""Forward passes: models compute what PyTorch computes, from the files that it writes, in real sizes
too.

usage: models_forward_interop.py [--long]
"""

import os
import pathlib
import shutil
import sys
import tempfile

import torch

from suite import Suite, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("ANDIRON_MODELS", ROOT / "build/dev/examples/models"))

sys.path.insert(0, str(ROOT / "examples/models"))
import make_weights


@torch.no_grad()
def main():
    suite = Suite()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "model"
        for model in make_weights.MODELS:
            for full in (False, True):
                label = f"{model}, {'real' if full else 'small'} sizes"
                with suite.case(label):
                    make_weights.make(model, full, folder)
                    line = run(PROGRAMS / model, folder).decode()
                    print(line, end="", flush=True)
                    suite.check(label, line.startswith(f"{model}: "), line)
                shutil.rmtree(folder)
    suite.finish()


if __name__ == "__main__":
    main()
