# SPDX-License-Identifier: MIT OR Apache-2.0
"""The file truth.json of a folder: what the system that owns its files reads in them."""

import json


def entry(dtype, shape, sha256, **more):
    return {"dtype": dtype, "shape": list(shape), "sha256": sha256, **more}


def compact(value):
    return json.dumps(value, separators=(", ", ": "), sort_keys=True)


def write_truth(folder, truth):
    """One line for each tensor, so that a change is seen where it is."""
    files = []
    for name, about in sorted(truth.items()):
        parts = [f"  {compact(key)}: {compact(about[key])}" for key in sorted(about) if key != "tensors"]
        if "tensors" in about:
            tensors = ",\n".join(f"   {compact(tensor)}: {compact(about['tensors'][tensor])}"
                                 for tensor in sorted(about["tensors"]))
            parts.append(f'  "tensors": {{\n{tensors}\n  }}' if tensors else '  "tensors": {}')
        files.append(f" {compact(name)}: {{\n" + ",\n".join(parts) + "\n }")
    (folder / "truth.json").write_text("{\n" + ",\n".join(files) + "\n}\n", encoding="utf-8")
