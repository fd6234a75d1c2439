# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes each C++ block of the documents to its own source file, so that tests can run it.

usage: extract_snippets.py ROOT OUT

Takes the ```cpp blocks of ROOT/README.md and ROOT/docs/**/*.md, except those below a line
`<!-- not compiled -->`, and prints the names of the sources it made. A block without main() becomes
the body of a function, after an #include of all of andiron. The expected output, a ```text block
below a line `It prints:`, goes into a file NAME.expected. Files in OUT that are up to date are not
touched.
"""

import pathlib
import re
import sys

SKIP = "<!-- not compiled -->"
PRINTS = "It prints:"
FENCE = re.compile(r"^```")
HAS_MAIN = re.compile(r"\bint\s+main\s*\(")


def blocks_of(text, document):
    """(kind, last line of text before it, number of its first line, lines) of each block."""
    lines = text.splitlines()
    last_text = ""
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
            sys.exit(f"{document}:{begin}: the block is not closed")
        yield line.strip().removeprefix("```"), last_text, begin + 1, lines[begin:number]
        number += 1
        last_text = ""


def snippets_of(text, document):
    """[number of the first line, lines, expected output or None] of each block to compile."""
    snippets = []
    for kind, before, first_line, lines in blocks_of(text, document):
        if kind == "cpp" and before != SKIP:
            snippets.append([first_line, lines, None])
        elif kind == "text" and before == PRINTS:
            snippets[-1][2] = lines
    return snippets


def write_if_changed(target, text):
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def source_of(block, first_line, document):
    """A whole program, for which compilers report the lines of the document."""
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
        snippets = snippets_of(path.read_text(encoding="utf-8"), document)
        for count, (first_line, block, printed) in enumerate(snippets, start=1):
            target = out / f"{stem}-{count}.cpp"
            write_if_changed(target, source_of(block, first_line, document))
            made.append(target.name)
            expected = target.with_suffix(".expected")
            if printed is not None:
                write_if_changed(expected, "\n".join(printed) + "\n")
            elif expected.exists():
                expected.unlink()
    for stale in out.iterdir():
        if stale.with_suffix(".cpp").name not in made:
            stale.unlink()
    print("\n".join(made))


if __name__ == "__main__":
    main()
