# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes programs of the C++ blocks of the documents, so that tests can run them.

usage: extract_snippets.py ROOT OUT

Takes the ```cpp blocks of ROOT/README.md and ROOT/docs/**/*.md, except those below a line
`<!-- not compiled -->`. A block becomes a function in a namespace of its own; a block without main() is
the body of a function, after an #include of all of andiron. Many blocks are one source, and all sources
one program, which runs the block that its argument names. Only a block that adds to namespace andiron is a
program of its own, which is named as it. NAME.alone has each block as a whole program.

Prints the names of the sources; those of programs of their own after "alone:". The expected output of a block,
a ```text block below a line `It prints:`, goes into a file NAME.expected. Files in OUT that are up to date
are not touched.
"""

import pathlib
import re
import sys

SKIP = "<!-- not compiled -->"
PRINTS = "It prints:"
FENCE = re.compile(r"^```")
MAIN = re.compile(r"^int main\(\)", re.MULTILINE)
INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
ADDS_TO_ANDIRON = re.compile(r"\bstruct andiron::|^namespace andiron\b", re.MULTILINE)
ANDIRON = "#include <andiron/andiron.h>\n#include <iostream>"
BLOCKS_A_SOURCE = 18  # a compiler takes about 1 GB for so many


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


def program_of(block, first_line, document):
    """The block as a whole program, for which compilers report the lines of the document."""
    body = "\n".join([f'#line {first_line} "{document}"', *block, ""])
    if MAIN.search(body):
        return body
    return (f"{ANDIRON}\nusing namespace andiron;\n"
            f"static void snippet() {{\n{body}}}\nint main() {{\n  snippet();\n}}\n")


def includes_of(program):
    return INCLUDE.findall(program)


def function_of(name, program):
    """The program as a namespace with a function run() in place of main()."""
    before, after = MAIN.split(INCLUDE.sub("", program))
    after = after.replace("\n}\n", "\n  return 0;\n}\n", 1)
    return f"namespace {name} {{\n{before}int run();\nint run(){after}}}  // namespace {name}\n"


def identifier(name):
    return "snippet_" + re.sub(r"\W", "_", name)


def dispatcher(names):
    """The main() of the program that has all blocks."""
    declarations = "".join(f"namespace {identifier(name)} {{ int run(); }}\n" for name in names)
    cases = "".join(f'  if (name == "{name}") return {identifier(name)}::run();\n' for name in names)
    return (f"#include <string_view>\n{declarations}int main(int count, char** arguments) {{\n"
            f"  const std::string_view name = count == 2 ? arguments[1] : \"\";\n{cases}  return 127;\n}}\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, out = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    files = {}  # name: text
    together = []  # (name, program)
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        document = path.relative_to(root)
        stem = "-".join(document.with_suffix("").parts)
        snippets = snippets_of(path.read_text(encoding="utf-8"), document)
        for count, (first_line, block, printed) in enumerate(snippets, start=1):
            name = f"{stem}-{count}"
            program = program_of(block, first_line, document)
            files[f"{name}.alone"] = program
            if ADDS_TO_ANDIRON.search(program):
                print(f"alone:{name}.cpp")
                files[f"{name}.cpp"] = program
            else:
                together.append((name, program))
            files[f"{name}.expected"] = None if printed is None else "\n".join(printed) + "\n"
    for begin in range(0, len(together), BLOCKS_A_SOURCE):
        part = together[begin:begin + BLOCKS_A_SOURCE]
        includes = dict.fromkeys(line for _, program in part for line in includes_of(program))
        files[f"part-{begin // BLOCKS_A_SOURCE + 1}.cpp"] = "\n".join(
            [*includes, *(function_of(identifier(name), program) for name, program in part)])
    files["all.cpp"] = dispatcher([name for name, _ in together])
    files["names.txt"] = "".join(f"{name}\n" for name, _ in together)
    for name, text in files.items():
        target = out / name
        if text is not None and (not target.exists() or target.read_text(encoding="utf-8") != text):
            target.write_text(text, encoding="utf-8")
    for stale in out.iterdir():
        if files.get(stale.name) is None:
            stale.unlink()
    print("\n".join(name for name in files if re.fullmatch(r"(part-\d+|all)\.cpp", name)))


if __name__ == "__main__":
    main()
