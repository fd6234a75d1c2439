# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: ResNet under the layer names of Keras, Caffe, fastai and others; MNASNet.

Checked: MNASNet of torchvision against timm and pytorchcv by forward passes; kuangliu's ResNet and fastai's cut body by
forward passes of the retyped classes. The names of Keras and of Caffe say which stage, block and layer they mean, and
the typed structs define themselves."""
import timm
import torch
import torchvision
from torch import nn
from torchvision.models.resnet import BasicBlock, Bottleneck

from fresh_lib import Fresh, Table, adam, alike, linear, net, on_cpu, seq
from fresh_text import lines

image = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(1))


def named_50(style, classes=10):
    """A typed ResNet-50 with the layer names of Keras or of Caffe."""
    made, parts, pairs = torchvision.models.ResNet(Bottleneck, [3, 4, 6, 3], num_classes=classes), {}, []

    def put(path, conv, norm):
        first, _, last = path.rpartition("conv") if "downsample" not in path else (path, "", "")
        other = path + ".1" if "downsample" in path else f"{first}bn{last}"
        path = path + ".0" if "downsample" in path else path
        parts.update({conv: made.get_submodule(path), norm: made.get_submodule(other)})
        pairs.extend([(path, conv), (other, norm)])
    put("conv1", *(("conv1_conv", "conv1_bn") if style == "keras" else ("conv1", "bn_conv1")))
    for s, count in enumerate((3, 4, 6, 3)):
        for b in range(count):
            base = f"layer{s + 1}.{b}."
            letter = f"{s + 2}{'abcdef'[b]}"
            keras = f"conv{s + 2}_block{b + 1}_"
            order = (["downsample"] if b == 0 else []) + ["conv1", "conv2", "conv3"]
            for part in order:
                n = 0 if part == "downsample" else int(part[-1])
                branch = "branch1" if n == 0 else f"branch2{'abc'[n - 1]}"
                put(base + part, *((f"{keras}{n}_conv", f"{keras}{n}_bn") if style == "keras" else
                                   (f"res{letter}_{branch}", f"bn{letter}_{branch}")))
    last = "predictions" if style == "keras" else "fc1000"
    pairs.append(("fc", last))
    return net("ResNet50", **parts, **{last: made.fc}), Table(lines("%s = %s", pairs))


def kuangliu(classes=10):
    """kuangliu/pytorch-cifar, models/resnet.py"""
    def block(a, b, stride):
        short = seq(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b)) if stride > 1 or a != b else seq()
        return net("BasicBlock", conv1=nn.Conv2d(a, b, 3, stride, 1, bias=False), bn1=nn.BatchNorm2d(b),
                   conv2=nn.Conv2d(b, b, 3, 1, 1, bias=False), bn2=nn.BatchNorm2d(b), shortcut=short)
    stages = {f"layer{i + 1}": seq(block(a, b, 1 + (i > 0)), block(b, b, 1)) for i, (a, b) in enumerate(
        ((64, 64), (64, 128), (128, 256), (256, 512)))}
    return lambda: net("ResNet", conv1=nn.Conv2d(3, 64, 3, 1, 1, bias=False), bn1=nn.BatchNorm2d(64), **stages,
                       linear=linear(512, classes))


def with_torchvision(classes=10, blocks=(2, 2, 2, 2)):
    return lambda: torchvision.models.ResNet(BasicBlock, list(blocks), num_classes=classes)


def fastai(classes=5):
    """fastai's vision_learner: a body that is cut before the pool, and its own head."""
    def make():
        body = list(with_torchvision()().children())[:-2]
        head = seq(None, None, nn.BatchNorm1d(1024), None, linear(1024, 512, bias=False), None, nn.BatchNorm1d(512),
                   None, linear(512, classes, bias=False))
        return seq(seq(*body), head)
    return make


def struct_resnet(blocks=(2, 2, 2, 2), classes=10):
    """A typed model of one's own."""
    def block(a, b):
        more = dict(skip_conv=nn.Conv2d(a, b, 1, bias=False), skip_norm=nn.BatchNorm2d(b)) if a != b else {}
        return net("Residual", conv_a=nn.Conv2d(a, b, 3, bias=False), norm_a=nn.BatchNorm2d(b),
                   conv_b=nn.Conv2d(b, b, 3, bias=False), norm_b=nn.BatchNorm2d(b), **more)
    sizes = (64, 64, 128, 256, 512)
    return lambda: net("ResNet", stem_conv=nn.Conv2d(3, 64, 7, bias=False), stem_norm=nn.BatchNorm2d(64), stages=[
        nn.ModuleList(block(a if j == 0 else b, b) for j in range(n)) for a, b, n in zip(sizes, sizes[1:], blocks)],
        head=linear(512, classes))


def resnet():
    f = Fresh("resnet_ports", "torchvision")
    keras_table, caffe_table = named_50("keras")[1], named_50("caffe")[1]
    f.add(torchvision=with_torchvision(), torchvision_50=lambda: torchvision.models.ResNet(
        Bottleneck, [3, 4, 6, 3], num_classes=10),
        keras=(lambda: named_50("keras")[0], "typed model named as in Keras"),
        caffe=(lambda: named_50("caffe")[0], "typed model named as in Caffe"),
        kuangliu=(kuangliu(), "kuangliu/pytorch-cifar ResNet"), fastai=(fastai(), "fastai vision_learner"),
        struct=(struct_resnet(), "typed model"), struct_34=(struct_resnet((3, 4, 6, 3)), "typed model"),
        words=(lambda: net("Tagger", embedding=nn.Embedding(80, 24), lstm=nn.LSTM(24, 32, bidirectional=True),
                           tags=linear(64, 9)), "a tagger"))
    f.wrapped("cifar", "kuangliu", "net.module.")
    f.wrapped("learner", "fastai", "model.", adam(f, "fastai", "opt.state."))
    kuangliu_struct, vision_struct = [("bn1", "stem_norm"), ("linear", "head")], [("conv1", "stem_conv"),
                                                                                 ("bn1", "stem_norm"), ("fc", "head")]
    for a, b in (("conv1", "conv_a"), ("bn1", "norm_a"), ("conv2", "conv_b"), ("bn2", "norm_b")):
        kuangliu_struct.append((f"layer{{i+1}}.{{j}}.{a}", f"stages.{{i}}.{{j}}.{b}"))
        vision_struct.append((f"layer{{i+1}}.{{j}}.{a}", f"stages.{{i}}.{{j}}.{b}"))
    for n, b in enumerate(("skip_conv", "skip_norm")):
        kuangliu_struct.append((f"layer{{i+1}}.{{j}}.shortcut.{n}", f"stages.{{i}}.{{j}}.{b}"))
        vision_struct.append((f"layer{{i+1}}.{{j}}.downsample.{n}", f"stages.{{i}}.{{j}}.{b}"))
    kuangliu_struct, vision_struct = (Table(lines("%s = %s", t)) for t in (kuangliu_struct, vision_struct))
    cut = Table("0.0 = conv1\n0.1 = bn1\n" + "\n".join(f"0.{i + 3}.** = layer{i}.**" for i in (1, 2, 3, 4)))
    f.pair("torchvision_50_to_keras_names_burn", "torchvision_50", "keras", keras_table, kind="numbered", layout="burn")
    f.pair("caffe_names_to_torchvision_50", "caffe", "torchvision_50", caffe_table, back=True, kind="numbered",
           sorted_file=False)
    f.pair("learner_to_torchvision", "learner", "torchvision", cut, kind="wrapped", strip=r"^model\.", unfed=["^fc"],
           spare=["^opt", r"^model\.1\."], sorted_file=False)
    f.pair("cifar_to_struct_burn", "cifar", "struct", kuangliu_struct, kind="wrapped", strip=r"^net\.module\.",
           unfed=["^stem_conv"], spare=[r"module\.conv1"], layout="burn", sorted_file=False)
    f.direct("torchvision_to_kuangliu", "torchvision", "kuangliu", "head", rules=[
        ("^fc", "linear"), ("downsample", "shortcut"), (r"^conv1\.weight", "-conv1")], unfed=[r"^conv1\.weight$"],
        spare=[r"^conv1\.weight$"])
    f.pair("torchvision_18_to_34_struct", "torchvision", "struct_34", vision_struct, kind="depth",
           unfed=[r"^stages\.(0\.2|1\.[23]|2\.[2345]|3\.2)\."])
    f.unrelated("tagger_to_struct", "words", "struct")

    def ask_kuangliu(m):
        x = torch.relu(m.bn1(m.conv1(image)))
        for stage in (m.layer1, m.layer2, m.layer3, m.layer4):
            for b in stage:
                x = torch.relu(b.bn2(b.conv2(torch.relu(b.bn1(b.conv1(x))))) + b.shortcut(x))
        return m.linear(x.mean((2, 3)))

    def cifar_stem(file, model):
        """The first convolution of CIFAR's is smaller, and there is no pool after it."""
        file.conv1, file.maxpool = model.conv1, nn.Identity()
    alike(f, "torchvision_to_kuangliu", with_torchvision(), kuangliu(), lambda m: m(image), ask_kuangliu, cifar_stem)

    def body(file, model):
        model.fc = nn.Identity()
    alike(f, "learner_to_torchvision", fastai(), with_torchvision(), lambda m: m[0](image).mean((2, 3)),
          lambda m: m(image), body)
    f.write()


def mnasnet():
    from pytorchcv.models.mnasnet import mnasnet_b1
    f = Fresh("mnasnet", "torchvision", "timm", "pytorchcv")
    counts = (3, 3, 3, 2, 4, 1)

    def vision(classes=10):
        return lambda: torchvision.models.MNASNet(1.0, num_classes=classes)

    def with_timm():
        return timm.create_model("mnasnet_100", num_classes=10)
    f.add(torchvision=on_cpu(vision()), torchvision_6=on_cpu(vision(6)), timm=with_timm,
          pytorchcv=lambda: mnasnet_b1(num_classes=10))
    f.wrapped("parallel", "torchvision", "module.")
    rows = []

    def both(path, i, k, timm_conv, timm_norm, cv):
        rows.extend([(f"{path}{i}", timm_conv, cv + ".conv"), (f"{path}{k}", timm_norm, cv + ".bn")])
    both("layers.", 0, 1, "conv_stem", "bn1", "features.init_block.conv1")
    both("layers.", 3, 4, "blocks.0.0.conv_dw", "blocks.0.0.bn1", "features.init_block.conv2.dw_conv")
    both("layers.", 6, 7, "blocks.0.0.conv_pw", "blocks.0.0.bn2", "features.init_block.conv2.pw_conv")
    both("layers.", 14, 15, "conv_head", "bn2", "features.final_block.conv2")
    # pytorchcv has a stage where the picture gets smaller, so two groups of blocks share one.
    units = [(1, j + 1) for j in range(3)] + [(2, j + 1) for j in range(3)] + [(3, j + 1) for j in range(5)] + [
        (4, j + 1) for j in range(4)]
    for s, count in enumerate(counts):
        for j in range(count):
            path, block = f"layers.{8 + s}.{j}.layers.", f"blocks.{s + 1}.{j}."
            number = sum(counts[:s]) + j
            cv = "features.final_block.conv1" if s == 5 else "features.stage%d.unit%d" % units[number]
            for k, (conv, norm, part) in enumerate((("conv_pw", "bn1", "exp_conv"), ("conv_dw", "bn2", "dw_conv"),
                                                    ("conv_pwl", "bn3", "pw_conv"))):
                both(path, 3 * k, 3 * k + 1, block + conv, block + norm, f"{cv}.{part}")
    rows.append(("classifier.1", "classifier", "output"))
    to_timm = Table(lines("%s = %s", [(a, b) for a, b, _ in rows]))
    to_cv = Table(lines("%s = %s", [(a, c) for a, _, c in rows]))
    f.pair("torchvision_to_timm", "torchvision", "timm", to_timm, kind="numbered", sorted_file=False)
    f.pair("timm_to_torchvision", "timm", "torchvision", to_timm, back=True, kind="numbered")
    f.pair("parallel_to_pytorchcv_burn", "parallel", "pytorchcv", to_cv, kind="wrapped", strip=r"^module\.",
           layout="burn", sorted_file=False)
    f.pair("pytorchcv_to_6_classes", "pytorchcv", "torchvision_6", to_cv, back=True, kind="head",
           unfed=["^classifier"], spare=["^output"])
    alike(f, "torchvision_to_timm", vision(), with_timm, lambda m: m(image), lambda m: m(image))
    alike(f, "parallel_to_pytorchcv_burn", vision(), lambda: mnasnet_b1(num_classes=10),
          lambda m: m.layers(image), lambda m: m.features[:-1](image))
    f.write()


if __name__ == "__main__":
    for make in (resnet, mnasnet):
        make()
