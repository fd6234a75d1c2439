# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the makers of the tuning corpus share: modules from their fields, tables of names that
serve both directions, and what lies beside the weights in checkpoints."""
import re

from torch import Tensor, nn

from corpus import Family

def part(kind, **fields):
    """A module of the class `kind`. Lists become ModuleLists, tensors parameters."""
    module = type(kind, (nn.Module,), {})()
    for name, value in fields.items():
        if isinstance(value, list):
            value = nn.ModuleList(value)
        setattr(module, name, nn.Parameter(value) if isinstance(value, Tensor) else value)
    return module


def linear(a, b, bias=True):
    return nn.Linear(a, b, bias=bias)


token = re.compile(r"\{(\w)([+-]\d+)?\}|@|\*\*")


def pattern_of(template):
    """`{i}` and `{i+1}` stand for numbers, `@` for a word, `**` for the rest of a name. Without them,
    a last `.weight` and such may follow."""
    names, text, end = [], "^", 0
    for match in token.finditer(template):
        text += re.escape(template[end:match.start()])
        text += {"@": r"(\w+?)", "**": r"(.+)"}.get(match[0], r"(\d+)")
        names.append((match[1] or match[0], int(match[2] or 0)))
        end = match.end()
    text += re.escape(template[end:])
    return re.compile(text + ("" if "@" in template or "**" in template else r"((?:\.\w+)?)") + "$"), names


def values_of(match, names):
    values = {name: text if name in ("@", "**") else int(text) - offset
              for (name, offset), text in zip(names, match.groups())}
    values["."] = match.groups()[-1] if len(match.groups()) > len(names) else ""
    return values


def filled(template, values):
    def fill(match):
        return values[match[0]] if match[0] in values else str(values[match[1]] + int(match[2] or 0))
    return token.sub(fill, template) + values["."]


class Table:
    """Lines `a = b`, where a and b are names of modules in two implementations. `b + c + d` on one
    side: the parts of a fused tensor. ` | 1` at the end of a line: along dimension 1. Blank and
    `#` lines are left out. Names that no line has feed nothing."""

    def __init__(self, text):
        self.lines = []
        for line in text.splitlines():
            line = line.split("#")[0].strip()
            if not line:
                continue
            line, _, dim = line.partition("|")
            left, right = line.split(" = ")
            self.lines.append((left.strip().split(" + "), right.strip().split(" + "), int(dim or 0)))

    def rules(self, back=False, strip=""):
        """The rules, splits and joins of Family.case. `strip` is cut from the file's names."""
        lines = [(b, a, d) if back else (a, b, d) for a, b, d in self.lines]
        simple, fused, parts = [], [], []
        splits, joins = [], []
        for left, right, dim in lines:
            if len(left) == 1 and len(right) == 1:
                simple.append((*pattern_of(left[0]), right[0]))
            elif len(left) == 1:
                pattern, names = pattern_of(left[0])
                fused.append(pattern)
                pattern = re.compile("^fused:" + pattern.pattern[1:])
                splits.append((pattern, [lambda m, r=r, names=names: filled(r, values_of(m, names))
                                         for r in right], *[dim] * bool(dim)))
            else:
                pattern, names = pattern_of(right[0])
                parts += [pattern_of(one)[0] for one in left]
                joins.append((pattern, [lambda m, r=r, names=names: "part:" + filled(r, values_of(m, names))
                                        for r in left], *[dim] * bool(dim)))

        def rename(match):
            name = match[0]
            if strip:
                name, count = re.subn(strip, "", name)
                if not count:
                    return "-" + name
            for pattern, names, right in simple:
                if found := pattern.match(name):
                    return filled(right, values_of(found, names))
            if any(p.match(name) for p in fused):
                return "fused:" + name
            if any(p.match(name) for p in parts):
                return "part:" + name
            return "-" + name
        return {"rules": [(r"^.+$", rename)], "splits": splits, "joins": joins}

    def renamed(self, tensors, back=False):
        """The tensors of a listing with the names of the other side; others stay."""
        rename = self.rules(back)["rules"][0][1]
        return [[re.sub(r"^(-|fused:|part:)", "", rename([n])), d, s, k] for n, d, s, k in tensors]


class Names(Family):
    """A family of the tuning corpus."""

    def __init__(self, name, *packages):
        super().__init__(name, "tuning", ("torch",) + packages)

    def get(self, listing):
        return self.data["listings"][listing]["tensors"]

    def pair(self, name, file, model, table, back=False, kind="renamed", strip="", **more):
        """A case whose truth is a table, from left to right, or back."""
        self.case(name, file, model, kind, **table.rules(back, strip), **more)

    def renamed(self, name, of, table, class_name, back=False, more=()):
        """Adds a listing with names of a published checkpoint."""
        self.tensors(name, table.renamed(self.get(of), back) + [list(m) for m in more], class_name)

    def without(self, name, of, pattern):
        """Adds a listing that lacks tensors, such as a tied head or what came with a later version."""
        listing = self.data["listings"][of]
        self.tensors(name, [t for t in listing["tensors"] if not re.search(pattern, t[0])], listing["class"])

    def copied(self, of, prefix, pattern=""):
        """Tensors of a listing with a prefix: a copy beside the weights."""
        return [[prefix + n, d, s, ""] for n, d, s, _ in self.get(of) if re.search(pattern, n)]

    def adam(self, of, prefix="optimizer.state."):
        """The state of an Adam optimizer."""
        state = []
        for i, (_, _, shape, _) in enumerate(self.parameters(of)):
            state += [[f"{prefix}{i}.step", "f32", [], ""], [f"{prefix}{i}.exp_avg", "f32", shape, ""],
                      [f"{prefix}{i}.exp_avg_sq", "f32", shape, ""]]
        return state

    def momentum(self, of, prefix="optimizer.state."):
        """The state of SGD with momentum."""
        return [[f"{prefix}{i}.momentum_buffer", "f32", shape, ""]
                for i, (_, _, shape, _) in enumerate(self.parameters(of))]

    def parameters(self, of):
        return [t for t in self.get(of) if not re.search(r"running_(mean|var)$|num_batches_tracked$", t[0])]
