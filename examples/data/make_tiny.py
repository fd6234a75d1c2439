# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes tiny.safetensors, the checkpoint that the demo and the examples work on, with the real
safetensors package: a small classifier with weights of several types. Needs safetensors, numpy and
ml_dtypes; the same bytes come out each time.
"""

import pathlib

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file


def uniform(generator, *shape):
    """Weights as a fresh linear layer has them."""
    bound = 1 / np.sqrt(shape[-1])
    return generator.uniform(-bound, bound, shape).astype(np.float32)


def main():
    generator = np.random.default_rng(1)
    tensors = {
        "embed.weight": uniform(generator, 16, 8).astype(ml_dtypes.bfloat16),
        "norm.running_mean": uniform(generator, 8),
        "norm.running_var": np.ones(8, np.float32),
        "norm.num_batches_tracked": np.array(128, np.int64),
        "head.weight": uniform(generator, 10, 8).astype(np.float16),
        "head.bias": np.zeros(10, np.float16),
    }
    # Eleven blocks: layers.10 shows that numbers in names are sorted as numbers.
    for layer in range(11):
        tensors[f"layers.{layer}.weight"] = uniform(generator, 8, 8)
        tensors[f"layers.{layer}.bias"] = uniform(generator, 8)
    # One entry, as the package writes several in no fixed order.
    save_file(tensors, pathlib.Path(__file__).with_name("tiny.safetensors"), {"format": "pt"})


if __name__ == "__main__":
    main()
