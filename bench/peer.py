# SPDX-License-Identifier: MIT OR Apache-2.0
"""Does a job with python's safetensors each time it is told "go", and answers "done".

usage: peer.py open|load PATH
"""

import sys

import safetensors
import safetensors.numpy


def open_header(path):
    with safetensors.safe_open(path, framework="numpy") as file:
        return len(file.keys())


def load(path):
    return len(safetensors.numpy.load_file(path))


def main():
    job = {"open": open_header, "load": load}[sys.argv[1]]
    print(f"python safetensors {safetensors.__version__}", flush=True)
    for line in sys.stdin:
        if line == "go\n":
            job(sys.argv[2])
            print("done", flush=True)


if __name__ == "__main__":
    main()
