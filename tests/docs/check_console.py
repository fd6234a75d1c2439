# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the tool's commands that documents show and compares the output with the documents.

usage: check_console.py TOOL DOCUMENT...

In a ```console block, a line `$ andiron ...` is a command. The lines up to the next `$` are its
output, standard error included. The commands of a document run in order, in a fresh copy of
examples/data. Commands of other programs are not run. A document without a command fails.
"""

import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROMPT = "$ "
DATA = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data"


def commands(text):
    """(line number, command, expected output) for each command of the tool."""
    found = []
    in_block = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            in_block = line.strip() == "```console"
        elif in_block and line.startswith(PROMPT):
            found.append((number, line.removeprefix(PROMPT), []))
        elif in_block and found:
            found[-1][2].append(line)
    return [command for command in found if command[1].split()[0] == "andiron"]


def check(document, tools):
    """(number of commands, faults): a fault is a command whose output differs."""
    faults = []
    shown = commands(document.read_text(encoding="utf-8"))
    environment = {**os.environ, "PATH": str(tools) + os.pathsep + os.environ.get("PATH", os.defpath),
                   "LC_ALL": "C.UTF-8"}
    environment.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory() as folder:
        data = shutil.copytree(DATA, pathlib.Path(folder, "data"))
        for number, command, expected in shown:
            run = subprocess.run(["bash", "-c", command], cwd=data, env=environment,
                                 stdin=subprocess.DEVNULL, encoding="utf-8",
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            printed = run.stdout.splitlines()
            if printed != expected:
                difference = difflib.unified_diff(expected, printed, "the document", "the tool",
                                                  lineterm="")
                faults.append("\n".join([f"{document.name}:{number}: $ {command}", *difference]))
    if not shown:
        faults.append(f"{document.name}: no command of the tool")
    return len(shown), faults


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tool, *documents = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    faults = []
    with tempfile.TemporaryDirectory() as tools:
        pathlib.Path(tools, "andiron").symlink_to(tool)
        for document in documents:
            count, found = check(document, tools)
            faults += found
            print(f"{document.name}: {count} commands, {len(found)} faults")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
