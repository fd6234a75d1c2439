# SPDX-License-Identifier: MIT OR Apache-2.0
"""Records against the recorders of Burn 0.21.0, the last release that has them.

usage: records_interop.py
"""

import json
import pathlib
import tempfile

import numpy as np

from models_interop import check_report
from suite import PROBE, TOOL, Suite, run
from zoo import BURN, BURN_PEER, OURS, contents_of, parameters

# What a recorder makes of floats and integers.
PRECISIONS = {"full": (np.float32, np.int32), "half": (np.float16, np.int16),
              "double": (np.float64, np.int64)}
NAMED = ("mpk", "mpk.gz", "json", "json.gz")
WITHOUT_NAMES = ("bin", "bin.gz")


def recorded(parameter, precision):
    """A parameter's numbers as a record holds them."""
    float_type, integer_type = PRECISIONS[precision]
    values = parameter.values
    if parameter.kind == "boolean":
        return values
    return values.astype(float_type if parameter.kind == "float" else integer_type)


def loaded_by_burn(parameter, precision):
    """Burn makes its own types of them again."""
    return recorded(parameter, precision).astype(parameter.values.dtype)


def contents(model, value_of, precision):
    return contents_of((parameter.path, value_of(parameter, precision)) for parameter in model)


def check_tool(suite, what, path, expected, ids):
    answer = json.loads(run(TOOL, "hash", "--json", path))
    tensors = {entry["name"]: entry for entry in answer["tensors"]}
    suite.equal(f"{what}, hash", {name: (entry["dtype"], entry["shape"], entry["sha256"])
                                  for name, entry in tensors.items()},
                {entry["path"]: (entry["dtype"], entry["shape"], entry["sha256"]) for entry in expected})
    suite.equal(f"{what}, ids", {name: entry["param_id"] for name, entry in tensors.items()}, ids)
    return answer["metadata"]


def check_record_of_burn(suite, model, precision, extension, folder):
    path = folder / f"theirs.{extension}"
    what = f"{extension} in {precision} precision by Burn"
    with suite.case(what):
        suite.equal(what, BURN("save", path, "--precision", precision), {"ok": True})
        theirs = BURN("load", path, "--precision", precision)
        suite.equal(f"{what}, loaded by Burn", theirs["tensors"], contents(model, loaded_by_burn, precision))
        expected = contents(model, recorded, precision)
        if extension in NAMED:
            metadata = check_tool(suite, what, path, expected, theirs["ids"])
            suite.equal(f"{what}, version", metadata["version"], "0.21.0")
        report = OURS("load", path)
        check_report(suite, f"{what}, loaded by us", report, [parameter.path for parameter in model])
        suite.equal(f"{what}, loaded by us: contents", report["tensors"], expected)
        suite.equal(f"{what}, loaded by us: ids", report["ids"], theirs["ids"])
        if extension == "mpk":
            again = folder / "again.mpk"
            run(PROBE, "rewrite", path, again, "--precision", precision)
            suite.same_bytes(f"{what}, written again", again.read_bytes(), path.read_bytes())


def check_record_of_ours(suite, model, precision, extension, folder):
    path = folder / f"ours.{extension}"
    what = f"{extension} in {precision} precision by us"
    with suite.case(what):
        suite.equal(what, OURS("save", path, "--precision", precision), {"ok": True})
        ours = OURS("load", path)
        expected = contents(model, recorded, precision)
        check_tool(suite, what, path, expected, ours["ids"])
        suite.equal(f"{what}, loaded by us", ours["tensors"], expected)
        for reader_precision in PRECISIONS:
            theirs = BURN("load", path, "--precision", reader_precision)
            read = f"{what}, loaded by Burn in {reader_precision} precision"
            suite.check(f"{read}: goes well", theirs["ok"], theirs.get("error"))
            suite.equal(f"{read}: ids", theirs["ids"], ours["ids"])
            if reader_precision == precision:
                suite.equal(f"{read}: contents", theirs["tensors"],
                            contents(model, loaded_by_burn, precision))


def check_copies(suite, model, folder):
    """A record of Burn that went through us in any form is loaded by Burn."""
    copy = folder / "copy.mpk"
    for extension in NAMED:
        what = f"a copy of {extension}"
        path = folder / f"copied.{extension}"
        with suite.case(what):
            BURN("save", path)
            run(PROBE, "rewrite", path, copy)
            theirs = BURN("load", copy)
            suite.equal(f"{what}: contents", theirs["tensors"], contents(model, loaded_by_burn, "full"))
            suite.equal(f"{what}: ids", theirs["ids"], BURN("load", path)["ids"])


def main():
    suite = Suite()
    if not BURN_PEER:
        print("NOT RUN: comparisons with the recorders of Burn (ANDIRON_BURN_PEER is not set)")
        return
    model = parameters()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for precision in PRECISIONS:
            for extension in NAMED + WITHOUT_NAMES:
                check_record_of_burn(suite, model, precision, extension, folder)
            for extension in ("mpk", "mpk.gz"):
                check_record_of_ours(suite, model, precision, extension, folder)
        check_copies(suite, model, folder)
    suite.finish()


if __name__ == "__main__":
    main()
