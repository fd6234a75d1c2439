# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes every C++ block of the documents to a source file of its own, so that tests can run them.

usage: extract_snippets.py ROOT OUT

Takes the ```cpp blocks of ROOT/README.md and ROOT/docs/**/*.md, but for those right below a line
`<!-- not compiled -->`, and prints the names of the sources it made. A block without main() becomes
the body of a function that sees all of andiron. Files in OUT that are up to date are left alone.
"""

import pathlib
import re
import sys

SKIP = "<!-- not compiled -->"
FENCE = re.compile(r"^```")
HAS_MAIN = re.compile(r"\bint\s+main\s*\(")


def cpp_blocks(text, document):
    """(number of the first line, lines) of each C++ block that is to be compiled."""
    lines = text.splitlines()
    last_text = ""  # the last line before this one that is not empty
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if not FENCE.match(line):
            last_text = line.strip() or last_text
            continue
        begin = number
        while number < len(lines) and not FENCE.match(lines[number]):
            number += 1
        if number == len(lines):
            sys.exit(f"{document}:{begin}: the block is never closed")
        if line.strip() == "```cpp" and last_text != SKIP:
            yield begin + 1, lines[begin:number]
        number += 1
        last_text = ""


def source_of(block, first_line, document):
    """A whole program. Compilers report the lines of the document."""
    body = "\n".join([f'#line {first_line} "{document}"', *block, ""])
    if HAS_MAIN.search("\n".join(block)):
        return body
    return ("#include <andiron/andiron.h>\nusing namespace andiron;\n"
            f"static void snippet() {{\n{body}}}\nint main() {{ snippet(); }}\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, out = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    made = []
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        document = path.relative_to(root)
        stem = "-".join(document.with_suffix("").parts)
        blocks = cpp_blocks(path.read_text(encoding="utf-8"), document)
        for count, (first_line, block) in enumerate(blocks, start=1):
            target = out / f"{stem}-{count}.cpp"
            source = source_of(block, first_line, document)
            if not target.exists() or target.read_text(encoding="utf-8") != source:
                target.write_text(source, encoding="utf-8")
            made.append(target.name)
    for stale in out.glob("*.cpp"):
        if stale.name not in made:
            stale.unlink()
    print("\n".join(made))


if __name__ == "__main__":
    main()
