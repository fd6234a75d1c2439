# SPDX-License-Identifier: MIT OR Apache-2.0
"""Listings of modules and the truth about pairs of them, in the format of README.md.

    family = Family("llama", "tuning", packages=["transformers"])
    family.listing("hf", make_hf)           # a function that returns a torch module
    family.listing("meta", make_meta)
    family.case("hf_to_meta", "hf", "meta", kind="renamed", rules=[(r"^model\\.", "")])
    family.write()

The rules are regular expressions for the names of the file, in order. They are the truth, so each
case is checked: every tensor of the model gets one of the same shape, unless `unfed` names it.
"""
import importlib.metadata
import json
import pathlib
import re

import torch

here = pathlib.Path(__file__).parent

dtypes = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64",
          torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8",
          torch.uint8: "u8", torch.bool: "bool"}


def tensors_of(module):
    """The state_dict of a module: name, dtype, shape, class that owns it."""
    owners = {}
    for path, child in module.named_modules():
        for name in list(child._parameters) + list(child._buffers):
            owners[f"{path}.{name}" if path else name] = type(child).__name__
    return [[name, dtypes[tensor.dtype], list(tensor.shape), owners.get(name, "")]
            for name, tensor in module.state_dict().items()]


def ties_of(module):
    """For each tied parameter the name of the first one that it is."""
    first = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        first.setdefault(id(parameter), name)
    return {name: first[id(parameter)]
            for name, parameter in module.named_parameters(remove_duplicate=False)
            if first[id(parameter)] != name}


class Family:
    def __init__(self, name, part, packages=()):
        self.part = part
        self.data = {"family": name,
                     "made_with": {p: importlib.metadata.version(p) for p in packages},
                     "listings": {}, "cases": []}

    def listing(self, name, make, class_name=None):
        """Adds the state_dict of the module that make() returns, on the meta device."""
        with torch.device("meta"):
            module = make()
        kind = type(module)
        self.tensors(name, tensors_of(module), class_name or f"{kind.__module__}.{kind.__name__}")
        self.data["listings"][name]["ties"] = ties_of(module)

    def tensors(self, name, tensors, class_name):
        """Adds a listing that is not a module's, such as names of a published checkpoint."""
        assert name not in self.data["listings"], name
        assert len({t[0] for t in tensors}) == len(tensors), f"{name}: a name repeats"
        self.data["listings"][name] = {"class": class_name, "tensors": tensors}

    def wrapped(self, name, of, prefix="", more=()):
        """Adds a listing with a prefix before all names of another, and more tensors after them."""
        listing = self.data["listings"][of]
        tensors = [[prefix + n, d, s, k] for n, d, s, k in listing["tensors"]]
        self.tensors(name, tensors + [list(t) for t in more], listing["class"])
        self.data["listings"][name]["ties"] = {
            prefix + n: prefix + first for n, first in listing.get("ties", {}).items()}

    def case(self, name, file, model, kind, rules=(), splits=(), joins=(), transposed=(),
             unfed=(), sorted_file=True, layout=None):
        """rules: (pattern, replacement) for names of the file, in order.
        splits: (pattern, [replacements]) or (pattern, [replacements], dim): a tensor of the file
        (named after the rules) becomes equal parts. joins: (pattern of a tensor of the model,
        [replacements that give the names to join, after the rules]) or the same with a dim.
        transposed: patterns of tensors of the model that take a transposed matrix.
        unfed: patterns of tensors of the model that the file cannot feed."""
        source = self.data["listings"][file]["tensors"]
        target = self.data["listings"][model]["tensors"]
        by_name = {}
        for i, (tensor, *_) in enumerate(source):
            for pattern, replacement in rules:
                tensor = re.sub(pattern, replacement, tensor)
            assert tensor not in by_name, f"{name}: two tensors become {tensor}"
            by_name[tensor] = i
        parts = {}
        for pattern, replacements, *dim in splits:
            for tensor, i in by_name.items():
                if not re.search(pattern, tensor):
                    continue
                for k, replacement in enumerate(replacements):
                    to = re.sub(pattern, replacement, tensor)
                    parts[to] = [i, k, len(replacements)] + list(dim)
        turned = []
        truth = []
        for tensor, _, shape, _ in target:
            if any(re.search(p, tensor) for p in unfed):
                truth.append(None)
                continue
            is_turned = any(re.search(p, tensor) for p in transposed)
            if is_turned:
                turned.append(tensor)
                shape = shape[::-1]
            joined = None
            for pattern, replacements, *dim in joins:
                if re.search(pattern, tensor):
                    indices = [by_name[re.sub(pattern, r, tensor)] for r in replacements]
                    joined = {"join": indices}
                    d = dim[0] if dim else 0
                    if d:
                        joined["dim"] = d
                    found = list(source[indices[0]][2])
                    found[d] = sum(source[i][2][d] for i in indices)
            if joined:
                truth.append(joined)
            elif tensor in by_name:
                truth.append(by_name[tensor])
                found = source[by_name[tensor]][2]
            elif tensor in parts:
                truth.append(parts[tensor])
                i, _, of, *dim = parts[tensor]
                found = list(source[i][2])
                d = dim[0] if dim else 0
                assert found[d] % of == 0
                found[d] //= of
            else:
                raise AssertionError(f"{self.data['family']}/{name}: nothing feeds {tensor}")
            assert found == shape, f"{name}: {tensor} is {shape} and would get {found}"
        case = {"name": name, "file": file, "model": model, "kind": kind, "sorted": sorted_file}
        if layout:
            case["layout"] = layout
        if turned:
            case["transposed"] = turned
        case["truth"] = truth
        self.data["cases"].append(case)

    def unrelated(self, name, file, model, **more):
        """A file that has nothing to do with the model."""
        self.case(name, file, model, "unrelated", unfed=[""], **more)

    def write(self):
        def line(value):
            return json.dumps(value, separators=(",", ":"))
        data = self.data
        folder = here / self.part
        folder.mkdir(exist_ok=True)
        with open(folder / (data["family"] + ".json"), "w") as out:
            out.write('{"family":%s,\n"made_with":%s,\n"listings":{\n' %
                      (line(data["family"]), line(data["made_with"])))
            out.write(",\n".join(
                '%s:{"class":%s,"ties":%s,"tensors":[\n%s]}' %
                (line(name), line(one["class"]), line(one.get("ties", {})),
                 ",\n".join(line(t) for t in one["tensors"]))
                for name, one in data["listings"].items()))
            out.write('},\n"cases":[\n' + ",\n".join(line(c) for c in data["cases"]) + "]}\n")
