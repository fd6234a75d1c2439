# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families, second part: convolutional networks for faces, pictures and features. Needs timm and torchvision.
"""
import torch
import torchvision
from timm.models import resnet as timm_resnet
from torch import nn

from held_out_check import alike
from held_out_lib import adam, family, linear, listings, net, seq, strip, ways, write


def conv(*sizes):
    return nn.Conv2d(*sizes, bias=False)


def faces():
    """ArcFace's residual networks, as in insightface and in AdaFace."""
    f = family("arcface")
    sizes, depths = [16, 32, 48, 64], [2, 2, 3, 2]

    def insight():
        def block(a, b, first):
            down = seq(conv(a, b, 1), nn.BatchNorm2d(b)) if first else None
            return net("IBasicBlock", bn1=nn.BatchNorm2d(a), conv1=conv(a, b, 3, 1, 1), bn2=nn.BatchNorm2d(b),
                       prelu=nn.PReLU(b), conv2=conv(b, b, 3, 1, 1), bn3=nn.BatchNorm2d(b), downsample=down)
        layers = {f"layer{i + 1}": seq(*(block(sizes[max(i - 1, 0)] if j == 0 else sizes[i], sizes[i], j == 0)
                                         for j in range(n))) for i, n in enumerate(depths)}
        return net("IResNet", conv1=conv(3, 16, 3, 1, 1), bn1=nn.BatchNorm2d(16), prelu=nn.PReLU(16), **layers,
                   bn2=nn.BatchNorm2d(64), fc=linear(64 * 49, 56), features=nn.BatchNorm1d(56))

    def ada(depths=depths):
        def block(a, b):
            short = seq(conv(a, b, 1), nn.BatchNorm2d(b)) if a != b else nn.MaxPool2d(1)
            return net("BasicBlockIR", shortcut_layer=short,
                       res_layer=seq(nn.BatchNorm2d(a), conv(a, b, 3, 1, 1), nn.BatchNorm2d(b), nn.PReLU(b),
                                     conv(b, b, 3, 1, 1), nn.BatchNorm2d(b)))
        def body():
            return seq(*(block(sizes[max(i - 1, 0)] if j == 0 else sizes[i], sizes[i])
                         for i, n in enumerate(depths) for j in range(n)))
        return lambda: net("Backbone", input_layer=seq(conv(3, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.PReLU(16)),
                           output_layer=seq(nn.BatchNorm2d(64), None, None, linear(64 * 49, 56),
                                            nn.BatchNorm1d(56, affine=False)), body=body())
    listings(f, insight=(insight, "deepinsight/insightface IResNet"), ada=(ada(), "mk-minchul/AdaFace Backbone"),
             ada_deep=(ada([2, 2, 3, 3]), "mk-minchul/AdaFace Backbone"))
    f.wrapped("lightning", "ada", "state_dict.model.", [["state_dict.head.kernel", "f32", [56, 1001], ""],
                                                        ["state_dict.head.t", "f32", [1], ""]])
    f.wrapped("parallel", "insight", "module.")
    inner = [("bn1", "res_layer.0"), ("conv1", "res_layer.1"), ("bn2", "res_layer.2"), ("prelu", "res_layer.3"),
             ("conv2", "res_layer.4"), ("bn3", "res_layer.5"), ("downsample", "shortcut_layer")]
    blocks = [(i, j) for i, n in enumerate(depths) for j in range(n)]
    rules = ways(("conv1", "input_layer.0"), ("bn1", "input_layer.1"), ("prelu", "input_layer.2"),
                 ("bn2", "output_layer.0"), ("fc", "output_layer.3"), ("features", "output_layer.4"),
                 *((f"layer{i + 1}.{j}.{x}", f"body.{n}.{y}") for n, (i, j) in enumerate(blocks) for x, y in inner))
    # AdaFace's first block pools instead, and its last norm has no scale.
    unfed = [r"^layer1\.0\.downsample", r"^features\.(weight|bias)"]
    f.case("insight_to_ada", "insight", "ada", "numbered", rules[0])
    f.case("ada_to_insight", "ada", "insight", "numbered", rules[1], unfed=unfed, sorted_file=False)
    f.case("parallel_to_ada_burn", "parallel", "ada", "wrapped", [strip("module.")] + rules[0], layout="burn")
    f.case("lightning_to_insight", "lightning", "insight", "wrapped", [strip("state_dict.model.")] + rules[1],
           unfed=unfed)
    f.case("insight_to_deeper_ada", "insight", "ada_deep", "depth", rules[0], unfed=[r"^body\.9\."],
           sorted_file=False)

    def ask_insight(m):
        x = m.prelu(m.bn1(m.conv1(face)))
        for i in (1, 2, 3, 4):
            for b in getattr(m, f"layer{i}"):
                y = b.bn3(b.conv2(b.prelu(b.bn2(b.conv1(b.bn1(x))))))
                x = y + (b.downsample(x) if hasattr(b, "downsample") else x)
        return m.features(m.fc(m.bn2(x).flatten(1)))

    def ask_ada(m):
        x = m.input_layer(face)
        for b in m.body:
            x = b.res_layer(x) + b.shortcut_layer(x)
        norm, *_, matrix, last = m.output_layer
        return last(matrix(norm(x).flatten(1)))

    def without(file, model):
        file.layer1[0].downsample = nn.Identity()
        nn.init.ones_(file.features.weight), nn.init.zeros_(file.features.bias)
    face = torch.randn(2, 3, 7, 7)
    alike(f, "insight_to_ada", insight, ada(), ask_insight, ask_ada, without)
    write(f)


def pix2pix():
    f = family("pix2pix", "torchvision")
    outer = [16, 32, 64, 128, 128, 128, 128, 128]

    def junyanz():
        inside = None
        for i in reversed(range(8)):
            a, b = outer[i - 1] if i else 3, outer[i]
            up = nn.ConvTranspose2d(b if i == 7 else 2 * b, a, 4, 2, 1, bias=i == 0)
            down = [None] * (i > 0) + [conv(a, b, 4, 2, 1)] + [nn.BatchNorm2d(b)] * (0 < i < 7)
            parts = down + [inside] * (i < 7) + [None, up] + ([nn.BatchNorm2d(a)] if i else [])
            inside = net("UnetSkipConnectionBlock", model=seq(*parts))
        return net("UnetGenerator", model=inside)

    def persson():
        def down(a, b):
            return net("Block", conv=seq(conv(a, b, 4, 2, 1), nn.BatchNorm2d(b)))

        def up(a, b):
            return net("Block", conv=seq(nn.ConvTranspose2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b)))
        return net("Generator", initial_down=seq(nn.Conv2d(3, 16, 4, 2, 1)),
                   **{f"down{i}": down(outer[i - 1], outer[i]) for i in range(1, 7)},
                   bottleneck=seq(nn.Conv2d(128, 128, 4, 2, 1)), up1=up(128, 128),
                   **{f"up{i}": up(2 * outer[8 - i], outer[7 - i]) for i in range(2, 8)},
                   final_up=seq(nn.ConvTranspose2d(32, 3, 4, 2, 1)))
    listings(f, junyanz=(junyanz, "junyanz/pytorch-CycleGAN-and-pix2pix UnetGenerator"),
             persson=(persson, "aladdinpersson/Machine-Learning-Collection Generator"),
             squeezenet=lambda: torchvision.models.squeezenet1_1(num_classes=10))
    f.wrapped("parallel", "junyanz", "module.")
    f.wrapped("trained", "persson", "state_dict.", adam(f, "persson"))
    pairs = [("model.model.0", "initial_down.0"), ("model.model.3", "final_up.0")]
    path = "model.model.1"
    for i in range(1, 7):
        pairs += [(f"{path}.model.1", f"down{i}.conv.0"), (f"{path}.model.2", f"down{i}.conv.1"),
                  (f"{path}.model.5", f"up{8 - i}.conv.0"), (f"{path}.model.6", f"up{8 - i}.conv.1")]
        path += ".model.3"
    pairs += [(path + ".model.1", "bottleneck.0"), (path + ".model.3", "up1.conv.0"), (path + ".model.4", "up1.conv.1")]
    rules = ways(*pairs)
    biases = [r"^(initial_down|bottleneck)\.0\.bias"]
    f.case("junyanz_to_persson", "junyanz", "persson", "numbered", rules[0], unfed=biases, sorted_file=False)
    f.case("parallel_to_persson_burn", "parallel", "persson", "wrapped", [strip("module.")] + rules[0], unfed=biases,
           layout="burn")
    f.case("trained_to_junyanz", "trained", "junyanz", "wrapped", [strip("state_dict.")] + rules[1],
           sorted_file=False)
    f.case("persson_to_junyanz", "persson", "junyanz", "numbered", rules[1])
    f.unrelated("squeezenet_to_persson", "squeezenet", "persson", sorted_file=False)
    picture = torch.randn(1, 3, 256, 256)

    def ask_junyanz(m):
        def through(block, x, outermost=False):
            y = x
            for part in block.model:
                y = through(part, y) if hasattr(part, "model") else torch.tanh(part(y))
            return y if outermost else torch.cat([x, y], 1)
        return through(m.model, picture, True)

    def ask_persson(m):
        def one(part, x):
            for layer in getattr(part, "conv", part):
                x = torch.tanh(layer(x))
            return x
        # The other one has activations before its first layers too.
        down = [one(m.initial_down, picture)]
        for i in range(1, 7):
            down.append(one(getattr(m, f"down{i}"), torch.tanh(down[-1])))
        x = one(m.up1, torch.tanh(one(m.bottleneck, torch.tanh(down[-1]))))
        for i in range(2, 8):
            x = one(getattr(m, f"up{i}"), torch.tanh(torch.cat([down[8 - i], x], 1)))
        return one(m.final_up, torch.tanh(torch.cat([down[0], x], 1)))

    def unbiased(file, model):
        nn.init.zeros_(model.initial_down[0].bias), nn.init.zeros_(model.bottleneck[0].bias)
    alike(f, "junyanz_to_persson", junyanz, persson, ask_junyanz, ask_persson, unbiased)
    write(f)


def contrast():
    """MoCo and SimCLR: a residual network inside of what trained it."""
    f = family("moco", "torchvision", "timm")

    def resnet(classes=1000, layers=(1, 2, 1, 1)):
        return torchvision.models.ResNet(torchvision.models.resnet.Bottleneck, list(layers), num_classes=classes)

    def encoder():
        made = resnet(128)
        made.fc = seq(linear(2048, 2048), None, linear(2048, 128))
        return made

    def moco(queue):
        return lambda: net("MoCo", queue=torch.empty(128, queue), queue_ptr=torch.empty(1, dtype=torch.int64),
                           encoder_q=encoder(), encoder_k=encoder())

    def third():
        def one():
            made = resnet()
            made.fc = seq(linear(2048, 512, bias=False), nn.BatchNorm1d(512), None, linear(512, 256, bias=False),
                          nn.BatchNorm1d(256, affine=False))
            return made
        return net("MoCo_ResNet", base_encoder=one(), momentum_encoder=one(),
                   predictor=seq(linear(256, 512, bias=False), nn.BatchNorm1d(512), None, linear(512, 256)))

    def lightly():
        return net("SimCLR", backbone=seq(*list(resnet().children())[:-1]), projection_head=net(
            "SimCLRProjectionHead", layers=seq(linear(2048, 2048, bias=False), nn.BatchNorm1d(2048), None,
                                               linear(2048, 128, bias=False), nn.BatchNorm1d(128))))
    listings(f, moco=(moco(4096), "facebookresearch/moco MoCo"), moco_short=(moco(1024), "facebookresearch/moco MoCo"),
             third=(third, "facebookresearch/moco-v3 MoCo_ResNet"), lightly=(lightly, "lightly SimCLR"),
             torchvision=resnet, torchvision_10=lambda: resnet(10),
             torchvision_deep=lambda: resnet(layers=(1, 2, 2, 1)), timm_10=lambda: timm_resnet.ResNet(
                 timm_resnet.Bottleneck, [1, 2, 1, 1], num_classes=10))
    for name in ("moco", "third"):
        f.wrapped(name + "_file", name, "state_dict.module.")
    f.wrapped("lightning", "lightly", "state_dict.", adam(f, "lightly", "optimizer_states.0.state."))
    flat = ways(("backbone.0", "conv1"), ("backbone.1", "bn1"), *((f"backbone.{i + 3}", f"layer{i}")
                                                                   for i in (1, 2, 3, 4)))[0]
    # The published scripts take the query's encoder, and the base encoder of the third version.
    query, base = [strip("state_dict.module.encoder_q.")], [strip("state_dict.module.base_encoder.")]
    f.case("moco_to_torchvision", "moco_file", "torchvision", "wrapped", query, unfed=[r"^fc\."])
    f.case("moco_to_shorter_queue", "moco_file", "moco_short", "wrapped", [strip("state_dict.module.")],
           unfed=["^queue$"], sorted_file=False)
    f.case("third_to_10_classes", "third_file", "timm_10", "head", base, unfed=[r"^fc\."], sorted_file=False)
    f.case("lightly_to_torchvision_burn", "lightning", "torchvision", "wrapped", [strip("state_dict.")] + flat,
           unfed=["^fc"], layout="burn", sorted_file=False)
    f.case("lightly_to_deeper_torchvision", "lightly", "torchvision_deep", "depth", flat,
           unfed=["^fc", r"^layer3\.1\."])
    write(f)


if __name__ == "__main__":
    for make in (faces, pix2pix, contrast):
        make()
