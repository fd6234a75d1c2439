# SPDX-License-Identifier: MIT OR Apache-2.0
"""Does a job with a package of Python's each time it is told "go", and answers "done".

usage: peer.py safetensors|torch open|load PATH
"""

import sys


def with_safetensors(path):
    import safetensors
    import safetensors.numpy

    def open_header():
        with safetensors.safe_open(path, framework="numpy") as file:
            return len(file.keys())

    def load():
        return len(safetensors.numpy.load_file(path))

    return safetensors.__version__, {"open": open_header, "load": load}


def with_torch(path):
    import torch

    # Data that is mapped is not read.
    def open_mapped():
        return len(torch.load(path, weights_only=True, mmap=True))

    def load():
        return len(torch.load(path, weights_only=True))

    return torch.__version__, {"open": open_mapped, "load": load}


def main():
    package, job, path = sys.argv[1:]
    version, jobs = {"safetensors": with_safetensors, "torch": with_torch}[package](path)
    print(f"python {package} {version}", flush=True)
    for line in sys.stdin:
        if line == "go\n":
            jobs[job]()
            print("done", flush=True)


if __name__ == "__main__":
    main()
