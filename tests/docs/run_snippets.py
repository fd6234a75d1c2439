# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the blocks of documents that a program is made of, and compares their output with the documents.

usage: run_snippets.py PROGRAM FOLDER [NAME...] -- MODEL...

The program is run once for each name, which is its argument; without names once, without arguments. It runs in
a fresh folder with copies of the models. It must succeed, and print what the file NAME.expected of FOLDER has,
if there is one; without names, the program's own.
"""

import difflib
import pathlib
import shutil
import subprocess
import sys
import tempfile


def fault_of(program, name, expected, models):
    """What is wrong with a block, or None."""
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            shutil.copy(model, folder)
        run = subprocess.run([program, *([name] if name else [])], stdout=subprocess.PIPE, encoding="utf-8",
                             check=False, cwd=folder)
    if run.returncode != 0:
        return f"{run.stdout}exit code {run.returncode}"
    if not expected.exists():
        return None
    wanted = expected.read_text(encoding="utf-8")
    if run.stdout == wanted:
        return None
    return "the document shows another output\n" + "".join(difflib.unified_diff(
        wanted.splitlines(True), run.stdout.splitlines(True), "the document", "the program"))


def main():
    arguments = sys.argv[1:]
    if len(arguments) < 3 or "--" not in arguments:
        sys.exit(__doc__)
    split = arguments.index("--")
    (program, folder, *names), models = arguments[:split], arguments[split + 1:]
    faults = 0
    for name in names or [None]:
        shown = name or pathlib.Path(program).name.removeprefix("snippet_")
        if fault := fault_of(program, name, pathlib.Path(folder) / f"{shown}.expected", models):
            faults += 1
            print(f"{shown}: {fault}", file=sys.stderr)
    print(f"{max(len(names), 1)} blocks, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
