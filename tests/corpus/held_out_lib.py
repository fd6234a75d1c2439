# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the held-out makers share: modules from attribute names, names of published files, rules for both directions.

Run all makers:  for name in vision conv text sound other patches cells sequences generators words images pixels
                     features; do python held_out_$name.py; done

Packages beside requirements.txt: segment-anything, segmentation-models-pytorch, pytorchcv, monai, encodec, mambapy,
torch_geometric, stable-baselines3, gymnasium, fair-esm.
"""
import logging
import re
import warnings

import torch
from torch import nn

from corpus import Family, tensors_of

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)


# Families that were opened since, and count as tuning.
opened = {
    "albert",
    "alexnet",
    "ast",
    "bark",
    "beit",
    "blip",
    "bloom",
    "crnn",
    "dac",
    "dcgan",
    "deeplab",
    "densenet",
    "detr",
    "dinov2",
    "dlrm",
    "edsr",
    "electra",
    "encodec",
    "esm",
    "esrgan",
    "falcon",
    "flux",
    "gemma",
    "glm",
    "graph_networks",
    "hiera",
    "hifigan",
    "mamba",
    "mlp_mixer",
    "mmdit",
    "mobilenet_v1",
    "mobilenet_v3",
    "musicgen",
    "nerf",
    "olmo2",
    "parakeet",
    "phi",
    "pixart",
    "pointnet",
    "poolformer",
    "pvt_v2",
    "raft",
    "regnet",
    "reinforcement",
    "retinanet",
    "roberta_original",
    "rwkv",
    "sam",
    "segformer",
    "shufflenet_v2",
    "siglip",
    "squeezenet",
    "ssd",
    "stablelm",
    "superpoint",
    "swin",
    "tacotron2",
    "transformer_mt",
    "unet_segmentation",
    "videomae",
    "wan",
}


def family(name, *packages):
    part = "tuning" if name in opened else "held_out"
    return Family(name, part, packages=("torch",) + packages)


def write(made):
    """Writes a family without the listings that no case has."""
    used = {case[side] for case in made.data["cases"] for side in ("file", "model")}
    made.data["listings"] = {n: t for n, t in made.data["listings"].items() if n in used}
    made.write()


# Modules: an implementation is what its attributes are called and what they hold.

def net(kind, **parts):
    """A module of a class with that name; a list becomes a ModuleList, a tensor a buffer."""
    module = type(kind, (nn.Module,), {})()
    for name, part in parts.items():
        if isinstance(part, nn.Parameter):
            module.register_parameter(name, part)
        elif isinstance(part, torch.Tensor):
            module.register_buffer(name, part)
        elif part is not None:
            module.add_module(name, nn.ModuleList(part) if isinstance(part, (list, tuple)) else part)
    return module


def seq(*parts):
    """nn.Sequential; None is a layer without parameters."""
    return nn.Sequential(*(nn.Identity() if part is None else part for part in parts))


def param(*shape):
    return nn.Parameter(torch.empty(*shape))


def rms(size, kind="RMSNorm"):
    return net(kind, weight=param(size))


def linear(*sizes, bias=True):
    return nn.Linear(*sizes, bias=bias)


def on_cpu(make):
    """make() for classes that compute with values while they are created."""
    def made():
        with torch.device("cpu"):
            return make()
    return made


# Listings

def listings(to, **makes):
    """Several listings. A pair is (make, class name); names from hub on get the names of the Hub's files."""
    for name, make in makes.items():
        make, class_name = make if isinstance(make, tuple) else (make, None)
        if name.startswith("hub"):
            hub(to, name, make)
        else:
            to.listing(name, make, class_name)


def hub(to, name, make):
    """The names that transformers writes to files, which are not always those of its modules."""
    from transformers.core_model_loading import revert_weight_conversion
    with torch.device("meta"):
        module = make()
    tensors = []
    for tensor, dtype, shape, owner in tensors_of(module):
        written = revert_weight_conversion(module, {tensor: torch.empty(shape, device="meta")})
        assert len(written) == 1, tensor
        tensors += [[n, dtype, list(t.shape), owner] for n, t in written.items()]
    kind = type(module)
    to.tensors(name, tensors, f"{kind.__module__}.{kind.__name__}, as published")


def changed(to, name, of, rules=(), without=(), class_name=None, turn=None):
    """Another listing with other names, without some tensors, with matrices turned where turn(name) is true."""
    listing = to.data["listings"][of]
    tensors = []
    for tensor, dtype, shape, owner in listing["tensors"]:
        if any(re.search(p, tensor) for p in without):
            continue
        shape = shape[::-1] if turn and turn(tensor) else shape
        for pattern, replacement in rules:
            tensor = re.sub(pattern, replacement, tensor)
        tensors.append([tensor, dtype, shape, owner])
    to.tensors(name, tensors, class_name or listing["class"])


def copies(to, of, prefix):
    """The tensors of a listing once more, as for an average of the weights."""
    return [[prefix + n, d, s, ""] for n, d, s, _ in to.data["listings"][of]["tensors"]]


def adam(to, of, prefix="optimizer.state."):
    """The state of Adam beside the weights of a listing, as flattened names."""
    more = []
    params = [t for t in to.data["listings"][of]["tensors"]
              if t[1] == "f32" and not re.search(r"running_(mean|var)$", t[0])]
    for i, (_, _, shape, _) in enumerate(params):
        more += [[f"{prefix}{i}.step", "f32", [], ""], [f"{prefix}{i}.exp_avg", "f32", shape, ""],
                 [f"{prefix}{i}.exp_avg_sq", "f32", shape, ""]]
    return more


# Rules

def at(template):
    """The pattern for names that begin with a path; * is a number."""
    return "^" + re.escape(template).replace(r"\*", r"(\d+)") + r"(?=\.|$)"


def to(template):
    count = iter(range(1, 10))
    return re.sub(r"\*", lambda _: rf"\g<{next(count)}>", template)


def ways(*pairs):
    """Rules for paths there and back. Each name is changed by one pair at most."""
    def rules(pairs):
        return [(at(a), "@" + to(b)) for a, b in pairs] + [("^@", "")]
    return rules(pairs), rules([(b, a) for a, b in pairs])


def fused(whole, *parts):
    """For `splits` if the file has the whole, and for `joins` if the model has it."""
    return at(whole), [to(p) for p in parts]


def strip(prefix):
    return "^" + re.escape(prefix), ""
