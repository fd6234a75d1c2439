#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares the speed of forward passes with PyTorch's, on the models of examples/models.

usage: forward.py PROGRAMS [--threads N] [--rounds N] [--row TEXT ...]

PROGRAMS is the folder of the built models, such as build/release/examples/models. Run it with a
Python that has torch. Each round runs ours and PyTorch's one after the other and takes the fastest
of some passes of each; the ratio is the median of the rounds: below 1, we are faster.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples" / "models"))
import make_weights  # noqa: E402

# Each row: its name, the model, what is changed in its config, the shape of the input.
ROWS = [
    ("ResNet-18, batch 1", "resnet18", {}, (1, 3, 224, 224)),
    ("ResNet-18, batch 8", "resnet18", {}, (8, 3, 224, 224)),
    ("GPT-2, 1 token", "gpt2", {"n_layer": 12}, (1, 1)),
    ("GPT-2, 64 tokens", "gpt2", {"n_layer": 12}, (1, 64)),
    ("LSTM, 100 steps, batch 1", "lstm_tagger", {}, (1, 100)),
    ("LSTM, 100 steps, batch 16", "lstm_tagger", {}, (16, 100)),
    ("LLaMA-like, 64 tokens", "llama", {}, (1, 64)),
    ("ViT-S/16", "vit", {}, (1, 3, 224, 224)),
    ("U-Net", "unet", {}, (1, 3, 128, 128)),
]


def ours(program, folder, passes, threads):
    run = subprocess.run([program, folder, str(passes)], capture_output=True, text=True,
                         env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    if run.returncode != 0:
        sys.exit(f"{program}: {run.stdout}{run.stderr}")
    return float(re.search(r"fastest ([0-9.]+) ms", run.stdout).group(1))


def theirs(model, inputs, passes):
    best = float("inf")
    for _ in range(passes + 1):
        start = time.perf_counter()
        model(*inputs)
        best = min(best, time.perf_counter() - start)
    return best * 1000


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--row", action="append", dest="rows", metavar="TEXT",
                        help="only rows whose name contains this")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"PyTorch {torch.__version__}, {arguments.threads} threads, milliseconds")
    print(f"{'':28}{'ours':>9}{'PyTorch':>9}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name, model_name, config, shape in ROWS:
            if arguments.rows and not any(part in name for part in arguments.rows):
                continue
            place = pathlib.Path(folder) / model_name
            with open(os.devnull, "w") as nowhere:
                out, sys.stdout = sys.stdout, nowhere
                model, inputs = make_weights.make(model_name, True, place, config, shape,
                                                  torch.float32)
                sys.stdout = out
            once = theirs(model, inputs, 1)
            passes = int(min(100, max(3, 500 / once)))
            rounds = [(ours(arguments.programs / model_name, place, passes, arguments.threads),
                       theirs(model, inputs, passes)) for _ in range(arguments.rounds)]
            ratio = statistics.median(a / b for a, b in rounds)
            print(f"{name:28}{min(a for a, _ in rounds):9.2f}{min(b for _, b in rounds):9.2f}"
                  f"{ratio:7.2f}", flush=True)


if __name__ == "__main__":
    main()
