# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks of truths by numbers: the file's weights go where the truth says, and both networks must answer alike.

The makers call these always and they do something only with `--check` on the command line, because they need real
weights and a forward pass:  python held_out_patches.py --check
"""
import sys
import tempfile

import torch

checking = "--check" in sys.argv


def fill(module, seed=0):
    """Random values that a network can compute with: no two tensors are alike, and all have an effect."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if not tensor.is_floating_point() or name.endswith("inv_freq"):
                continue
            values = torch.randn(tensor.shape, generator=generator)
            if name.endswith("running_var"):
                values = values.abs() + 0.5
            elif tensor.dim() >= 2:
                values *= (2 / max(tensor[0].numel(), 1)) ** 0.5
            elif name.endswith("bias") or name.endswith("running_mean"):
                values *= 0.2
            else:
                values = 1 + 0.2 * values
            tensor.copy_(values)
    return module.eval()


def given(truth, values):
    """What a truth says, made of the file's tensors."""
    if isinstance(truth, int):
        return values[truth]
    if isinstance(truth, dict):
        return torch.cat([values[i] for i in truth["join"]], truth.get("dim", 0))
    i, part, of, *dim = truth
    return values[i].chunk(of, dim[0] if dim else 0)[part]


def fed(f, name, values, module):
    """The state_dict of the model of a case: what the truth gives, and the module's own values for the rest."""
    case = next(c for c in f.data["cases"] if c["name"] == name)
    own = module.state_dict()
    assert [t[0] for t in f.data["listings"][case["model"]]["tensors"]] == list(own), name
    turned = set(case.get("transposed", ()))
    for (tensor, value), truth in zip(own.items(), case["truth"]):
        if truth is None:
            continue
        found = given(truth, values)
        found = found.T if tensor in turned else found
        assert found.shape == value.shape, f"{name}: {tensor}"
        own[tensor] = found
    return own


def alike(f, name, file, model, ask_file, ask_model=None, before=None):
    """file and model make the modules of a case. The file's listing may be renamed or wrapped: its tensors are in the
    order of the module. before(file, model) sets what the file cannot feed, such as a position table."""
    if not checking:
        return
    torch.manual_seed(0)
    file, model = fill(file()), fill(model(), 1)
    model.load_state_dict(fed(f, name, list(file.state_dict().values()), model))
    if before:
        before(file, model)
    with torch.no_grad():
        one, two = ask_file(file), (ask_model or ask_file)(model)
    assert one.shape == two.shape, f"{name}: {one.shape} and {two.shape}"
    assert one.std() > 1e-3, f"{name}: the output says nothing"
    worst = (one - two).abs().max() / one.std()
    assert worst < 1e-3, f"{f.data['family']}/{name}: outputs differ by {worst:.3g}"
    print(f"{f.data['family']}/{name}: outputs agree ({worst:.1e})")


def renamed(f, name, names):
    """names(state) is somebody else's conversion of a dict of tensors, such as timm's checkpoint_filter_fn. Every
    tensor that it gives must be the one that the truth gives."""
    if not checking:
        return
    case = next(c for c in f.data["cases"] if c["name"] == name)
    file, model = (f.data["listings"][case[side]]["tensors"] for side in ("file", "model"))
    values = [torch.randn(t[2]) for t in file]
    converted = names({t[0]: v for t, v in zip(file, values)})
    compared = 0
    for (tensor, *_), truth in zip(model, case["truth"]):
        if truth is None:
            continue
        found = given(truth, values)
        assert tensor in converted, f"{name}: the conversion has no {tensor}"
        assert torch.equal(converted[tensor].reshape(found.shape), found), f"{name}: {tensor} is another tensor"
        compared += 1
    print(f"{f.data['family']}/{name}: {compared} tensors as converted")


def loaded(kind, config):
    """For `renamed`: what transformers makes of a file with the published names."""
    def names(state):
        from safetensors.torch import save_file
        with tempfile.TemporaryDirectory() as folder:
            config.save_pretrained(folder)
            save_file(state, f"{folder}/model.safetensors", {"format": "pt"})
            return kind.from_pretrained(folder).state_dict()
    return names
