# SPDX-License-Identifier: MIT OR Apache-2.0
"""PyTorch files as the real torch writes them: we read what it has in memory.

usage: pytorch_interop.py [--long]

To be run with a Python that has torch; which release it is makes a difference, and any will do.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import torch

from pytorch_cases import Maker, checkpoints, modules, particular_objects, random_checkpoints
from pytorch_containers import (bare_pickles, big_endian, compressed, distributed_checkpoints, sharded,
                                zips)
from pytorch_scripts import exported, scripts
from pytorch_truth import SINCE_2_0, Entry
from suite import TOOL, Suite, shorten

FILES_AT_ONCE = 1000
KINDS = [modules, checkpoints, particular_objects, zips, big_endian, bare_pickles, compressed, sharded,
         scripts] + ([exported, distributed_checkpoints] if SINCE_2_0 else [])


def answers_of_tool(paths):
    """What the tool says of each file, by path."""
    answers = {}
    for start in range(0, len(paths), FILES_AT_ONCE):
        done = subprocess.run([TOOL, "hash", "--json", *paths[start:start + FILES_AT_ONCE]],
                              capture_output=True, check=False)
        for line in done.stdout.splitlines():
            answer = json.loads(line)
            answers[answer["path"]] = answer
    return answers


def tensors_of(answer):
    return {entry["name"]: Entry(*(entry.get(field) for field in Entry._fields))
            for entry in answer["tensors"]}


def only(fields, tensors):
    return {name: tuple(getattr(entry, field) for field in fields) for name, entry in tensors.items()}


def differences(got, expected):
    """Of two dicts: the keys, with both values."""
    return {key: (got.get(key), expected.get(key)) for key in got | expected
            if got.get(key) != expected.get(key)}


def check(suite, case, answer):
    what = f"{case.what} ({case.path})"
    if not suite.check(f"{what} is read", answer is not None and "error" not in answer, answer):
        return
    suite.equal(f"{what}: format", (answer["format"], answer["container"]), ("pytorch", case.container))
    got, expected = tensors_of(answer), case.tensors
    for part, fields in (("tensors", Entry._fields[:-1]), ("sharing", ("alias_of",))):
        different = differences(only(fields, got), only(fields, expected))
        suite.check(f"{what}: {part}", not different, f"got and expected {fields}: {shorten(different)}")
    skipped = {entry["name"] for entry in answer.get("skipped", ())}
    suite.equal(f"{what}: skipped", sorted(skipped), sorted(case.skipped))
    if case.note:
        notes = answer.get("notes", ())
        suite.check(f"{what}: noted", any(case.note in note for note in notes), notes)


def check_collision(suite, folder):
    path = folder / "collision.pt"
    torch.save({1: torch.rand(2), "1": torch.rand(3)}, path)
    error = answers_of_tool([str(path)])[str(path)].get("error", {})
    suite.equal("two tensors of the same name are refused", error.get("code"), "NameCollision")


def main():
    warnings.simplefilter("ignore")  # much of what we save is deprecated or a prototype
    count = 20000 if "--long" in sys.argv[1:] else 1500
    print(f"torch {torch.__version__}")
    suite = Suite()
    with tempfile.TemporaryDirectory() as name:
        make = Maker(pathlib.Path(name))
        random_checkpoints(make, count)
        for kind in KINDS:
            kind(make)
        answers = answers_of_tool([str(case.path) for case in make.cases])
        check_collision(suite, make.folder)
        for case in make.cases:
            check(suite, case, answers.get(str(case.path)))
    suite.finish()


if __name__ == "__main__":
    main()
