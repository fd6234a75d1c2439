#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Puts the page into one file: markup, style, scripts and the module.

usage: inline.py MODULE OUTPUT

MODULE is andiron.wasm. The scripts are joined module by module, each in a scope of its own.
"""

import base64
import gzip
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]*)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) ([\w$]+))", re.MULTILINE)


def bundle(path, done):
    """The text of a script after all that it imports; what is in `done` is there already."""
    if path in done:
        return ""
    done.append(path)
    source = path.read_text(encoding="utf-8")
    before = "".join(bundle((path.parent / name).resolve(), done) for _, name in IMPORT.findall(source))

    def taken(found):
        names, module = found.groups()
        return f"const {{{names}}} = {scope_of((path.parent / module).resolve())};\n"

    names = re.findall(r"^export (?:async )?(?:function|class|const) ([\w$]+)", source, re.MULTILINE)
    body = EXPORT.sub("", IMPORT.sub(taken, source)).replace("import.meta.url", "self.location.href")
    return f"{before}const {scope_of(path)} = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();\n"


def scope_of(path):
    return "module_" + re.sub(r"\W", "_", path.stem)


def main():
    module, output = map(pathlib.Path, sys.argv[1:])
    packed = base64.b64encode(gzip.compress(module.read_bytes(), 9, mtime=0)).decode("ascii")
    parts = {
        "page.css": (HERE / "page/page.css").read_text(encoding="utf-8"),
        "andiron.wasm.gz.base64": packed,
        "worker.bundle.js": bundle(HERE / "page/page_worker.js", []),
        "page.bundle.js": bundle(HERE / "page/page.js", []),
    }
    page = (HERE / "page/page.html").read_text(encoding="utf-8")
    for name, text in parts.items():
        if re.search(r"</script", text, re.IGNORECASE):
            sys.exit(f"inline.py: {name} would end the script that it is in")
        page = page.replace(f"/*{{{name}}}*/", text)
    output.write_text(page, encoding="utf-8")


main()
