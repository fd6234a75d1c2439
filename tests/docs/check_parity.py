# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks that every test named in a document exists, and that every row of its tables is filled in.

usage: check_parity.py DOCUMENT TEST_PROGRAM...

A name is `Suite.Name` in backquotes, without the prefix and number of a parameter. Only tables with
the heading "Burn's test" or "passage" over their first column are checked: each row has three cells,
and must name a test of ours, or say in its last cell what there is instead.
"""

import pathlib
import re
import subprocess
import sys

TEST_NAME = re.compile(r"`([A-Z]\w*\.[A-Z]\w*)`")
HEADINGS = ("burn's test", "passage")


def existing_tests(program):
    """All Suite.Name of a GoogleTest program."""
    run = subprocess.run([program, "--gtest_list_tests"], check=True, encoding="utf-8",
                         stdout=subprocess.PIPE)
    suite = ""
    for line in run.stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if line.startswith("  "):
            yield f"{suite}.{name.strip().split('/')[0]}"
        elif name.endswith("."):  # Prefix/Suite. for parameters, Suite/0. for types
            parts = [part for part in name[:-1].split("/") if not part.isdigit()]
            suite = parts[-1]


def rows(text):
    """(line number, cells) of the rows of the tables that compare something with our tests."""
    in_table = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("|"):
            in_table = False
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].lower() in HEADINGS:
            in_table = True
        elif in_table and not set(cells[0]) <= set("-: "):
            yield number, cells


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    document = pathlib.Path(sys.argv[1])
    text = document.read_text(encoding="utf-8")
    existing = {name for program in sys.argv[2:] for name in existing_tests(program)}
    faults = []
    for number, line in enumerate(text.splitlines(), start=1):
        for name in TEST_NAME.findall(line):
            if name not in existing:
                faults.append(f"{document.name}:{number}: there is no test {name}")
    compared = 0
    for number, cells in rows(text):
        compared += 1
        if len(cells) != 3 or not (TEST_NAME.search(cells[1]) or cells[2]):
            faults.append(f"{document.name}:{number}: {cells[0]} has neither a test nor a reason")
    print("\n".join(faults + [f"{compared} rows, {len(faults)} faults"]))
    return 1 if faults or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
