# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs a program made of a document's block and compares what it prints with what the document says.

usage: run_snippet.py PROGRAM EXPECTED MODEL...

It runs in a folder of its own, with copies of the models that the documents speak of. Where there is no
file EXPECTED, the program need only succeed.
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
        sys.exit("the document says that it prints something else")


if __name__ == "__main__":
    main()
