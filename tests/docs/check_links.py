# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks that what documents and comments point to exists, and that README.md stays short.

usage: check_links.py ROOT

Checked are relative links, with their #anchors, and paths in backquotes such as `scripts/test` or
`format/open.cpp`. A path is looked for from the root, from src, include and include/andiron, and
from the document's folder. CHANGELOG.md names files that are gone, and the pages on parity name Burn's:
of these only the links are checked. NAME in a path stands for any name. Comments of C++ sources may name a file
alone, or behind the last of its folders.
"""

import pathlib
import re
import sys

README_LINES = 180
FOREIGN_PATHS = ("CHANGELOG.md", "parity.md", "burn_parity.md")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
TOP_FOLDERS = ("src", "include", "cli", "tests", "scripts", "docs", "examples", "fuzz", "bench", "cmake", ".ci")
SOURCE_PATH = re.compile(r"[\w.-]+(/[\w.-]+)+\.(h|cpp|sh|md|cmake)")
FILE_NAME = re.compile(r"(?:[\w.-]+/)*\w[\w.-]*\.(?:h|cpp)\b")
CODE_FOLDERS = ("include", "src", "cli", "tests", "fuzz", "bench", "embedded", "examples", "web")
TREE_PATH = re.compile(r"(%s)/[\w./-]+" % "|".join(re.escape(top) for top in TOP_FOLDERS))


def without_blocks(text):
    """The lines outside of ``` blocks, with their numbers."""
    in_block = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            in_block = not in_block
        elif not in_block:
            yield number, line


def anchors_of(document):
    """The anchors that GitHub makes of headings."""
    anchors = set()
    for _, line in without_blocks(document.read_text(encoding="utf-8")):
        if heading := re.fullmatch(r"#+ (.*)", line):
            words = re.sub(r"[^\w\- ]", "", heading[1].lower())
            anchors.add(words.strip().replace(" ", "-"))
    return anchors


def link_fault(document, link):
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = document.parent / path if path else document
    if not target.exists():
        return f"the link {link} leads nowhere"
    if anchor and anchor not in anchors_of(target):
        return f"the link {link} names no heading of {target.name}"
    return None


def path_fault(root, document, code):
    path = code.split()[0] if code.startswith("scripts/") else code
    if "NAME" in path or not (SOURCE_PATH.fullmatch(path) or TREE_PATH.fullmatch(path)):
        return None
    places = (root, root / "src", root / "include", root / "include" / "andiron", document.parent)
    if any((place / path).exists() for place in places):
        return None
    return f"there is no {path}"


def comment_faults(root):
    sources = [path.relative_to(root) for top in CODE_FOLDERS for path in sorted((root / top).rglob("*"))
               if path.suffix in (".h", ".cpp")]
    known = {"/".join(source.parts[first:]) for source in sources for first in range(len(source.parts))}
    for source in sources:
        for number, line in enumerate((root / source).read_text(encoding="utf-8").splitlines(), start=1):
            if comment := re.search(r"(?<![\w:\"])//.*", line):
                yield from (f"{source}:{number}: there is no {name}" for name in FILE_NAME.findall(comment[0])
                            if name not in known)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1]).resolve()
    documents = [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md")),
                 *sorted((root / "bench").glob("*.md")), *sorted((root / "tests").glob("*.md"))]
    faults = list(comment_faults(root))
    for document in documents:
        name = document.relative_to(root)
        text = document.read_text(encoding="utf-8")
        for number, line in without_blocks(text):
            found = [link_fault(document, link) for link in LINK.findall(line)]
            if name.name not in FOREIGN_PATHS:
                found += [path_fault(root, document, code) for code in CODE.findall(line)]
            faults += [f"{name}:{number}: {fault}" for fault in found if fault]
        lines = len(text.splitlines())
        if name.name == "README.md" and document.parent == root and lines > README_LINES:
            faults.append(f"{name}: {lines} lines, {README_LINES} at most")
    print("\n".join([*faults, f"{len(documents)} documents, {len(faults)} faults"]))
    return 1 if faults or not documents else 0


if __name__ == "__main__":
    sys.exit(main())
