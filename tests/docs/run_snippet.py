# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs a program made from a block of a document and compares its output with the document.

usage: run_snippet.py PROGRAM EXPECTED MODEL...

The program runs in a fresh folder with copies of the models. If there is no file EXPECTED, the program
must only succeed.
"""

import difflib
import pathlib
import shutil
import subprocess
import sys
import tempfile


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, expected = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        for model in sys.argv[3:]:
            shutil.copy(model, folder)
        run = subprocess.run([program], stdout=subprocess.PIPE, encoding="utf-8", check=False,
                             cwd=folder)
    sys.stdout.write(run.stdout)
    if run.returncode != 0:
        sys.exit(f"{program}: exit code {run.returncode}")
    if not expected.exists():
        return
    wanted = expected.read_text(encoding="utf-8")
    if run.stdout != wanted:
        sys.stdout.writelines(difflib.unified_diff(
            wanted.splitlines(True), run.stdout.splitlines(True), "the document", "the program"))
        sys.exit("the document shows another output")


if __name__ == "__main__":
    main()
