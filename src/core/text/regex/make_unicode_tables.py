#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes unicode_tables.cpp from UnicodeData.txt, Scripts.txt and CaseFolding.txt.

usage: make_unicode_tables.py FOLDER > unicode_tables.cpp

FOLDER has these files of the Unicode Character Database, as the package unicode-data installs them. Take the version
that RE2 was built with, so that both engines agree.
"""

import pathlib
import re
import sys

END = 0x110000


def lines_of(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.partition("#")[0].strip()
        if line:
            yield [field.strip() for field in line.split(";")]


def general_categories(folder):
    """The category of every code point; '' where none is assigned."""
    category = [""] * END
    first = None
    for fields in lines_of(folder / "UnicodeData.txt"):
        code = int(fields[0], 16)
        if fields[1].endswith(", First>"):
            first = code
            continue
        for c in range(code if first is None else first, code + 1):
            category[c] = fields[2]
        first = None
    return category


def scripts(folder):
    script = [""] * END
    for span, name in lines_of(folder / "Scripts.txt"):
        first, _, last = span.partition("..")
        for c in range(int(first, 16), int(last or first, 16) + 1):
            script[c] = name
    return script


def foldings(folder):
    """Pairs of a character and what simple case folding makes of it, ascending."""
    return sorted((int(fields[0], 16), int(fields[2], 16))
                  for fields in lines_of(folder / "CaseFolding.txt") if fields[1] in "CS")


def number(value):
    """Seven bits a byte, the lowest first; all but the last have the highest bit set."""
    out = []
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return out + [value]


def runs(values, names):
    """For each run of equal values one number: its length, and which of `names` it has (counted from 1)."""
    out = []
    start = 0
    for c in range(1, END + 1):
        if c == END or values[c] != values[start]:
            name = names.index(values[start]) + 1 if values[start] else 0
            out += number((c - start) * (len(names) + 1) + name)
            start = c
    return out


def folding_runs(pairs):
    """For each run of characters with the same distance to their foldings: how far it begins after the end of the last,
    how many characters it has, the step between them, and the distance, with its sign in the lowest bit."""
    grouped = []  # [first, count, step, distance]
    for code, folded in pairs:
        distance = folded - code
        if grouped:
            first, count, step, last_distance = grouped[-1]
            gap = code - (first + (count - 1) * step)
            if distance == last_distance and gap <= 2 and (count == 1 or gap == step):
                grouped[-1] = [first, count + 1, gap, distance]
                continue
        grouped.append([code, 1, 1, distance])
    out = []
    end = 0
    for first, count, step, distance in grouped:
        out += number(first - end) + number(count) + number(step)
        out += number(abs(distance) << 1 | (distance < 0))
        end = first + (count - 1) * step + 1
    return out


def rows(words, width):
    """Joins words by blanks to lines of at most `width` characters, each with a blank after its last word."""
    line = ""
    for word in words:
        if len(line) + len(word) + 1 > width:
            yield line
            line = ""
        line += word + " "
    yield line


def array(name, values):
    lines = "".join(f"    {row.rstrip()}\n" for row in rows([f"{value}," for value in values], 96))
    return f"constexpr unsigned char {name}[] = {{\n{lines}}};"


def text(name, words):
    lines = "\n".join(f'    "{row}"' for row in rows(words, 92))
    return f"const std::string_view {name} =\n{lines};"


def main():
    folder = pathlib.Path(sys.argv[1])
    version = re.search(r"Scripts-([\d.]+)\.txt", (folder / "Scripts.txt").read_text(encoding="utf-8"))[1]
    categories_of = general_categories(folder)
    scripts_of = scripts(folder)
    category_names = sorted(set(categories_of) - {""})
    script_names = sorted(set(scripts_of) - {""})
    tables = {"category_runs": runs(categories_of, category_names),
              "script_runs": runs(scripts_of, script_names),
              "folding_runs": folding_runs(foldings(folder))}
    print(f"""\
// SPDX-License-Identifier: MIT OR Apache-2.0
// Unicode {version}, {sum(map(len, tables.values()))} bytes, written by make_unicode_tables.py.
// Tested by tests/core/regex_unicode_test.cpp
#include "src/core/text/regex/unicode_tables.h"

namespace andiron::inline v1::automaton {{
namespace {{

// clang-format off""")
    for name, values in tables.items():
        print(array(name + "_bytes", values) + "\n")
    print("}  // namespace\n")
    print(text("category_names", category_names) + "\n")
    print(text("script_names", script_names) + "\n// clang-format on\n")
    for name in tables:
        print(f"const std::span<const unsigned char> {name} = {name}_bytes;")
    print("\n}  // namespace andiron::inline v1::automaton")


if __name__ == "__main__":
    main()
