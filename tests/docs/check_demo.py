# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares what README.md shows of the demo with what the demo's program prints.

usage: check_demo.py README PROGRAM ARGUMENT...

The lines below `$ scripts/demo` must be lines of the output, in the same order. A line `...` stands
for lines that README.md leaves out.
"""

import pathlib
import subprocess
import sys

COMMAND = "$ scripts/demo"
LEFT_OUT = "..."


def shown_lines(text):
    lines = text.splitlines()
    first = lines.index(COMMAND) + 1
    return lines[first:lines.index("```", first)]


def first_fault(shown, printed):
    """The first shown line that is not where the output has it, or None. Without `...` in between,
    a line must follow the one before it."""
    position, may_skip = 0, True
    for line in shown:
        if line.strip() == LEFT_OUT:
            may_skip = True
            continue
        found = next((i for i in range(position, len(printed)) if printed[i] == line), None)
        if found is None or (found != position and not may_skip):
            return line
        position, may_skip = found + 1, False
    return None


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    shown = shown_lines(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    run = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    print(run.stdout)
    fault = first_fault(shown, run.stdout.splitlines())
    if fault is not None:
        sys.exit(f"README.md shows a line that does not come here: {fault}")
    print(f"README.md shows {len(shown)} lines of the demo")


if __name__ == "__main__":
    main()
