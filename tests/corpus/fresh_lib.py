# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the makers of the fresh set share.

Run all makers, with the checks by numbers:  for name in fresh_*.py; do python $name --check; done

Packages beside requirements.txt (their dependencies too where nothing else is said): torchaudio, curated-transformers,
litgpt, speechbrain, demucs, asteroid, pytorch_pretrained_vit, rtdl, rtdl_revisiting_models, pytorchcv, mmengine,
mmcv-lite==2.1.0, mmpretrain, mmdet, recbole, timesfm (the last five without dependencies).

How a truth comes about: a Table says which module of one implementation is which of the other, written from both
sources. Family.case asserts that each tensor of the model gets one of its shape. write() asserts that no tensor of the
file is used twice, and that no tensor of the file is left over unless the case says so. Each maker says in its first
lines what was compared beside that.
"""
import importlib.machinery
import re
import sys
import tempfile
import types

import torch
from torch import nn

from held_out_check import alike, checking  # noqa: F401
from held_out_lib import adam, hub, linear, net, on_cpu, param, rms, seq  # noqa: F401
from tuning_common import Names, Table  # noqa: F401

# torchaudio compares the versions of CUDA that it and torch were built with. Nothing here runs on a GPU.
torch.version.cuda = None


class Fresh(Names):
    """A family of the fresh set."""

    def __init__(self, name, *packages):
        super().__init__(name, *packages)
        self.part = "held_out"
        self.spare = {}
        self.gaps = set()

    def add(self, **makes):
        """Several listings. A pair is (make, class name); names from hub on get the names of the Hub's files."""
        for name, make in makes.items():
            make, class_name = make if isinstance(make, tuple) else (make, None)
            if name.startswith("hub"):
                hub(self, name, make)
            else:
                self.listing(name, make, class_name)

    def pair(self, name, file, model, table, back=False, kind="renamed", spare=(), gaps=False, **more):
        """spare: patterns of tensors of the file that nothing takes. gaps: not all parts of a tensor are taken."""
        super().pair(name, file, model, table, back, kind, **more)
        self.gaps |= {name} if gaps else set()
        self.spare[name] = spare

    def direct(self, name, file, model, kind, spare=(), **more):
        """A case by rules, as Family.case."""
        self.case(name, file, model, kind, **more)
        self.spare[name] = spare

    def write(self):
        used = {case[side] for case in self.data["cases"] for side in ("file", "model")}
        self.data["listings"] = {n: t for n, t in self.data["listings"].items() if n in used}
        for case in self.data["cases"]:
            if case["kind"] != "unrelated":
                self.check_use(case)
        super().write()

    def check_use(self, case):
        listing = self.data["listings"][case["file"]]
        ties = self.data["listings"][case["model"]].get("ties", {})
        model = [t[0] for t in self.data["listings"][case["model"]]["tensors"]]
        taken = {}
        for name, truth in zip(model, case["truth"]):
            if truth is None or name in ties:
                continue
            indices = truth["join"] if isinstance(truth, dict) else [truth] if isinstance(truth, int) else [truth[0]]
            part = "" if not isinstance(truth, list) else truth[1]
            for i in indices:
                assert (i, part) not in taken and (i, "") not in taken, \
                    f"{case['name']}: {name} and {taken.get((i, part))} get {listing['tensors'][i][0]}"
                taken[i, part] = name
        parts = {}
        for name, truth in zip(model, case["truth"]):
            if isinstance(truth, list) and name not in ties:
                parts.setdefault((truth[0], truth[2]), set()).add(truth[1])
        for (i, of), seen in parts.items():
            assert len(seen) == of or case["name"] in self.gaps, \
                f"{case['name']}: only parts {seen} of {listing['tensors'][i][0]} are used"
        indices = {i for i, _ in taken}
        left = [t[0] for i, t in enumerate(listing["tensors"]) if i not in indices and t[0] not in listing.get(
            "ties", {}) and not any(re.search(p, t[0]) for p in self.spare.get(case["name"], ()))]
        assert not left, f"{self.data['family']}/{case['name']}: left over {left[:6]}"


def open_mmlab():
    """mmpretrain and mmdet without the compiled operators of mmcv, and without multimodal models that an old
    version of transformers has to make. No class that is used here needs them."""
    class Fake(types.ModuleType):
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return lambda *a, **k: None
    for name in ("mmcv._ext", "mmpretrain.models.multimodal"):
        if name not in sys.modules:
            fake = Fake(name)
            fake.__spec__ = importlib.machinery.ModuleSpec(name, None)
            fake.__all__ = []
            sys.modules[name] = fake
    import mmpretrain.models
    return mmpretrain.models


def attention(q, k, v, heads, causal=False):
    """Plain attention for forward passes of retyped classes."""
    b, n, _ = q.shape
    q, k, v = (t.reshape(b, t.shape[1], heads, -1).transpose(1, 2) for t in (q, k, v))
    out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return out.transpose(1, 2).reshape(b, n, -1)


def plain(size, kind):
    """A norm whose only parameter is `scale`, as some authors call it."""
    return net(kind, scale=param(size))


def loads(f, listing, kind, config, allowed=()):
    """With --check: transformers takes a file with the names of a listing and misses nothing."""
    if not checking:
        return
    from safetensors.torch import save_file
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        save_file({n: torch.randn(s) for n, _, s, _ in f.get(listing)}, f"{folder}/model.safetensors",
                  {"format": "pt"})
        model, info = kind.from_pretrained(folder, output_loading_info=True)
    wrong = [n for key in ("missing_keys", "unexpected_keys", "mismatched_keys") for n in info[key]
             if not any(re.search(p, str(n)) for p in allowed)]
    assert not wrong, f"{f.data['family']}: {listing} does not load: {wrong[:6]}"
    print(f"{f.data['family']}: {listing} loads into {kind.__name__}")


def into(kind, config, ask):
    """For `alike`: what transformers answers with the weights of a module that has the names of published files."""
    def answer(module):
        from safetensors.torch import save_file
        with tempfile.TemporaryDirectory() as folder:
            config.save_pretrained(folder)
            save_file({n: t.contiguous() for n, t in module.state_dict().items()}, f"{folder}/model.safetensors",
                      {"format": "pt"})
            return ask(kind.from_pretrained(folder).eval())
    return answer
