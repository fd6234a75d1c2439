# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks that a wrong program does not compile, and that the compiler says why in a few lines.

usage: run.py COMPILER INCLUDE_DIR FILE

The file's second line says what is to happen: `// compiles`, or `// error: TEXT` for one error
whose message, with its notes, has TEXT in it. A line `// flags: ...` adds flags.
"""

import os
import pathlib
import re
import subprocess
import sys

# A screenful: who must scroll reads the wrong end.
MOST_LINES = 30


def marked(source, mark):
    found = re.search(rf"^// {mark}: (.*)$", source, re.MULTILINE)
    return found.group(1) if found else ""


def complaints(source, exit_status, output):
    if "\n// compiles\n" in source:
        return [] if exit_status == 0 else ["it does not compile"]
    if exit_status == 0:
        return ["it compiles"]
    found = []
    text = marked(source, "error")
    # Without the excerpts of the source, of which newer compilers print more.
    lines = [line for line in output.splitlines() if not re.match(r"\s+(\d+ )?\|", line)]
    errors = sum(": error: " in line or ": fatal error: " in line for line in lines)
    if not text or text not in output:
        found.append(f"the message lacks {text!r}")
    if errors != 1:
        found.append(f"{errors} errors instead of 1")
    if len(lines) > MOST_LINES:
        found.append(f"{len(lines)} lines, more than {MOST_LINES}")
    return found


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    compiler, include_dir, path = sys.argv[1:]
    source = pathlib.Path(path).read_text(encoding="utf-8")
    command = [compiler, "-fsyntax-only", "-std=c++20", "-Wall", "-Wextra", "-I", include_dir,
               *marked(source, "flags").split(), path]
    run = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, encoding="utf-8",
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = complaints(source, run.returncode, run.stdout)
    print(run.stdout)
    for complaint in found:
        print(f"{path}: {complaint}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
