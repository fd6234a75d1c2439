# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the command lines that a document shows and compares what they print with what it says.

usage: check_console.py TOOL README

In ```console blocks, a line `$ andiron ...` is a command and the lines up to the next `$` its
output, standard error included. Commands run one after the other in a copy of examples/data, which
is beside README; other commands are not run.
"""

import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROMPT = "$ "


def commands(text):
    """(line number, command, expected output) of all console blocks."""
    found = []
    in_block = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            in_block = line.strip() == "```console"
        elif in_block and line.startswith(PROMPT):
            found.append((number, line.removeprefix(PROMPT), []))
        elif in_block and found:
            found[-1][2].append(line)
    return found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tool, readme = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    checked = 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tools = pathlib.Path(folder, "tools")
        tools.mkdir()
        pathlib.Path(tools, "andiron").symlink_to(tool)
        data = shutil.copytree(readme.parent / "examples" / "data", pathlib.Path(folder, "data"))
        environment = {**os.environ, "PATH": str(tools) + os.pathsep + os.environ.get("PATH", os.defpath),
                       "LC_ALL": "C.UTF-8"}
        environment.pop("COLUMNS", None)
        for number, command, expected in commands(readme.read_text(encoding="utf-8")):
            if command.split()[0] != "andiron":
                continue
            checked += 1
            run = subprocess.run(["bash", "-c", command], cwd=data, env=environment,
                                 stdin=subprocess.DEVNULL, encoding="utf-8",
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            printed = run.stdout.splitlines()
            if printed != expected:
                failed += 1
                print(f"{readme.name}:{number}: $ {command}")
                print("\n".join(difflib.unified_diff(expected, printed, "the document",
                                                     "the tool", lineterm="")))
    print(f"{checked} commands, {failed} with another output than shown")
    return 1 if failed or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
