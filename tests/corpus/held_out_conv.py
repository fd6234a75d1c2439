# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families: convolutional networks."""
import torchvision.models as tv
import transformers as hf
from torch import nn

from held_out_lib import changed, copies, family, linear, listings, net, param, seq, strip, ways, write


def densenet():
    from monai.networks.nets import DenseNet as Monai
    from pytorchcv.models.densenet import DenseNet as Pytorchcv
    f = family("densenet", "torchvision", "pytorchcv", "monai")

    def vision(classes):
        return lambda: tv.DenseNet(8, (2, 2, 2), 16, num_classes=classes)
    listings(f, torchvision=vision(14), torchvision_3=vision(3),
             pytorchcv=lambda: Pytorchcv([[24, 32], [24, 32], [24, 32]], 16, num_classes=14),
             monai=lambda: Monai(2, 3, 14, init_features=16, growth_rate=8, block_config=(2, 2, 2)),
             other=lambda: tv.squeezenet1_1(num_classes=14))
    # Files of 2017 have a dot before the number of a layer, and no counts of batches.
    changed(f, "old", "torchvision", [(r"(denselayer\d+\.(?:norm|conv))(\d)", r"\1.\2")], ["num_batches_tracked"],
            "torchvision.models.DenseNet of 2017")
    changed(f, "chexnet", "old", [("^", "module.densenet121."), (r"classifier\.", "classifier.0.")],
            class_name="arnoldwang/CheXNet DenseNet121")
    f.wrapped("chexnet_file", "chexnet", "state_dict.")
    undot = [(r"(denselayer\d+\.(?:norm|conv))\.(\d)", r"\1\2")]
    f.case("old_to_torchvision", "old", "torchvision", "numbered", undot, unfed=["num_batches_tracked"],
           sorted_file=False)
    f.case("chexnet_to_torchvision", "chexnet_file", "torchvision", "wrapped",
           [strip("state_dict.module.densenet121."), (r"classifier\.0", "classifier")] + undot,
           unfed=["num_batches_tracked"], sorted_file=False)
    f.case("chexnet_to_3_classes_burn", "chexnet_file", "torchvision_3", "head",
           [strip("state_dict.module.densenet121.")] + undot, unfed=["num_batches_tracked", "^classifier"],
           sorted_file=False, layout="burn")
    a, b = "features.denseblock*.denselayer*", "features.stage*.unit*"
    rules = ways(("features.conv0", "features.init_block.conv"), ("features.norm0", "features.init_block.bn"),
                 ("features.norm5", "features.post_activ.bn"), ("classifier", "output"),
                 *((f"{a}.{x}{i}", f"{b}.conv{i}.{y}") for i in "12" for x, y in (("conv", "conv"), ("norm", "bn"))),
                 *((f"features.transition{i}.{x}", f"features.stage{i + 1}.trans{i + 1}.conv.{y}") for i in (1, 2)
                   for x, y in (("conv", "conv"), ("norm", "bn"))))
    f.case("torchvision_to_pytorchcv", "torchvision", "pytorchcv", "renamed", rules[0])
    f.case("pytorchcv_to_torchvision", "pytorchcv", "torchvision", "renamed", rules[1])
    f.case("torchvision_to_pytorchcv_burn", "torchvision", "pytorchcv", "renamed", rules[0], layout="burn")
    f.case("torchvision_to_monai", "torchvision", "monai", "renamed",
           [(r"(denselayer\d+)\.", r"\1.layers."), ("^classifier", "class_layers.out")])
    f.unrelated("squeezenet_to_torchvision", "other", "torchvision")
    write(f)


def regnet():
    from timm.models.regnet import RegNet, RegNetCfg
    f = family("regnet", "torchvision", "timm", "transformers")
    widths, depths = [16, 24, 40, 64], [1, 1, 1, 2]
    config = hf.RegNetConfig(embedding_size=16, hidden_sizes=widths, depths=depths, groups_width=8, layer_type="y",
                             num_labels=10)
    listings(f, hf=lambda: hf.RegNetForImageClassification(config), hf_base=lambda: hf.RegNetModel(config),
             torchvision=lambda: tv.RegNet(tv.regnet.BlockParams(depths, widths, [8] * 4, [1.0] * 4, [2] * 4, 0.25),
                                           num_classes=10, stem_width=16),
             timm=lambda: RegNet(RegNetCfg(depth=5, w0=16, wa=16.0, wm=1.6, group_size=8, se_ratio=0.25, stem_width=16),
                                 num_classes=10))
    stages = [(i, j) for i in range(4) for j in range(depths[i])]

    def t(i, j):
        return f"trunk_output.block{i + 1}.block{i + 1}-{j}"

    def h(i, j):
        return f"regnet.encoder.stages.{i}.layers.{j}"
    conv = (("0", "convolution", "conv"), ("1", "normalization", "bn"))
    hf_rules = ways(*(("stem." + n, "regnet.embedder.embedder." + x) for n, x, _ in conv), ("fc", "classifier.1"),
                    *((f"{t(i, j)}.proj.{n}", f"{h(i, j)}.shortcut.{x}") for i, j in stages for n, x, _ in conv),
                    *((f"{t(i, j)}.f.{p}.{n}", f"{h(i, j)}.layer.{k}.{x}") for i, j in stages
                      for p, k in (("a", 0), ("b", 1), ("c", 3)) for n, x, _ in conv),
                    *((f"{t(i, j)}.f.se.fc{k}", f"{h(i, j)}.layer.2.attention.{2 * k - 2}") for i, j in stages
                      for k in (1, 2)))
    timm_rules = ways(*(("stem." + n, "stem." + y) for n, _, y in conv), ("fc", "head.fc"),
                      *((f"{t(i, j)}.proj.{n}", f"s{i + 1}.b{j + 1}.downsample.{y}") for i, j in stages
                        for n, _, y in conv),
                      *((f"{t(i, j)}.f.{p}.{n}", f"s{i + 1}.b{j + 1}.conv{k + 1}.{y}") for i, j in stages
                        for k, p in enumerate("abc") for n, _, y in conv),
                      *((f"{t(i, j)}.f.se", f"s{i + 1}.b{j + 1}.se") for i, j in stages))
    f.case("torchvision_to_hf", "torchvision", "hf", "numbered", hf_rules[0])
    f.case("hf_to_torchvision", "hf", "torchvision", "renamed", hf_rules[1], sorted_file=False)
    f.case("hf_to_torchvision_burn", "hf", "torchvision", "renamed", hf_rules[1], layout="burn")
    f.case("timm_to_torchvision", "timm", "torchvision", "numbered", timm_rules[1])
    f.case("torchvision_to_timm", "torchvision", "timm", "numbered", timm_rules[0])
    f.case("torchvision_to_hf_base", "torchvision", "hf_base", "head", hf_rules[0] + [strip("regnet.")])
    write(f)


def mobilenet_v3():
    from timm.models._efficientnet_builder import decode_arch_def
    from timm.models.mobilenetv3 import MobileNetV3
    f = family("mobilenet_v3", "torchvision", "timm")
    arch = [["ds_r1_k3_s2_e1_c16_se0.25_nre"], ["ir_r1_k3_s2_e4.5_c24_nre", "ir_r1_k3_s1_e3.67_c24_nre"],
            ["ir_r1_k5_s2_e4_c40_se0.25"], ["cn_r1_k1_s1_c240"]]
    block = tv.mobilenetv3.InvertedResidualConfig

    def vision(classes=10):
        # torchvision's first convolution has as many channels as the first block takes.
        return tv.MobileNetV3([block(32, 3, 32, 16, True, "RE", 2, 1, 1.0),
                               block(16, 3, 72, 24, False, "RE", 2, 1, 1.0),
                               block(24, 3, 88, 24, False, "RE", 1, 1, 1.0),
                               block(24, 5, 96, 40, True, "HS", 2, 1, 1.0)], 128, num_classes=classes)

    def backbone():
        module = vision()
        module.classifier = nn.Identity()
        return module

    def with_timm():
        return MobileNetV3(block_args=decode_arch_def(arch), num_classes=10, num_features=128, fix_stem=True,
                           stem_size=32, act_layer=nn.Hardswish)
    listings(f, torchvision=vision, torchvision_2=lambda: vision(2), backbone=(backbone, "torchvision features"),
             timm=with_timm)
    f.wrapped("compiled", "torchvision", "_orig_mod.module.")
    depth, wide = (("block.0", "conv_dw", "bn1"), ("block.2", "conv_pw", "bn2")), (
        ("block.0", "conv_pw", "bn1"), ("block.1", "conv_dw", "bn2"), ("block.2", "conv_pwl", "bn3"))
    squeezed = (("block.0", "conv_pw", "bn1"), ("block.1", "conv_dw", "bn2"), ("block.3", "conv_pwl", "bn3"))
    layers = [(1, "blocks.0.0", depth), (2, "blocks.1.0", wide), (3, "blocks.1.1", wide), (4, "blocks.2.0", squeezed)]
    rules = ways(("features.0.0", "conv_stem"), ("features.0.1", "bn1"), ("features.5.0", "blocks.3.0.conv"),
                 ("features.5.1", "blocks.3.0.bn1"),
                 *(pair for i, to, parts in layers for x, conv, norm in parts
                   for pair in ((f"features.{i}.{x}.0", f"{to}.{conv}"), (f"features.{i}.{x}.1", f"{to}.{norm}"))),
                 *(pair for at, to in (("features.1.block.1", "blocks.0.0.se"), ("features.4.block.2", "blocks.2.0.se"))
                   for pair in ((at + ".fc1", to + ".conv_reduce"), (at + ".fc2", to + ".conv_expand"))))
    f.case("timm_to_backbone", "timm", "backbone", "head", rules[1])
    f.case("timm_to_backbone_burn", "timm", "backbone", "head", rules[1], sorted_file=False, layout="burn")
    f.case("backbone_to_timm", "backbone", "timm", "head", rules[0], unfed=["^conv_head", "^classifier"])
    f.case("compiled_to_torchvision", "compiled", "torchvision", "wrapped", [strip("_orig_mod.module.")])
    f.case("compiled_to_2_classes", "compiled", "torchvision_2", "wrapped", [strip("_orig_mod.module.")],
           unfed=[r"^classifier\.3"], sorted_file=False)
    write(f)


def alexnet():
    from pytorchcv.models.alexnet import alexnetb
    f = family("alexnet", "torchvision", "pytorchcv")

    def named():
        sizes = [(3, 64, 11), (64, 192, 5), (192, 384, 3), (384, 256, 3), (256, 256, 3)]
        return net("AlexNet", **{f"conv{i + 1}": nn.Conv2d(*s) for i, s in enumerate(sizes)}, fc6=linear(9216, 4096),
                   fc7=linear(4096, 4096), fc8=linear(4096, 365))

    def crnn():
        return net("CRNN", cnn=seq(nn.Conv2d(1, 64, 3), None, nn.Conv2d(64, 128, 3)), lstm=nn.LSTM(128, 64))
    listings(f, torchvision=lambda: tv.alexnet(num_classes=365), torchvision_10=lambda: tv.alexnet(num_classes=10),
             pytorchcv=lambda: alexnetb(num_classes=365), named=(named, "a class with the layer names of Caffe"),
             other=(crnn, "a network for text lines"))
    # Places365: DataParallel around the features only.
    changed(f, "places", "torchvision", [(r"^features\.", "state_dict.features.module."),
                                         (r"^classifier", "state_dict.classifier")], class_name="places365 AlexNet")
    convs, fcs = (0, 3, 6, 8, 10), (1, 4, 6)
    names = ways(*((f"features.{n}", f"conv{i + 1}") for i, n in enumerate(convs)),
                 *((f"classifier.{n}", f"fc{i + 6}") for i, n in enumerate(fcs)))
    units = ("stage1.unit1", "stage2.unit1", "stage3.unit1", "stage3.unit2", "stage3.unit3")
    cv = ways(*((f"features.{n}", f"features.{u}.conv") for n, u in zip(convs, units)),
              ("classifier.1", "output.fc1.fc"), ("classifier.4", "output.fc2.fc"), ("classifier.6", "output.fc3"))
    places = [(r"^state_dict\.", ""), (r"features\.module\.", "features.")]
    f.case("torchvision_to_named", "torchvision", "named", "numbered", names[0])
    f.case("named_to_torchvision", "named", "torchvision", "numbered", names[1])
    f.case("named_to_torchvision_burn", "named", "torchvision", "numbered", names[1], layout="burn")
    f.case("torchvision_to_pytorchcv", "torchvision", "pytorchcv", "numbered", cv[0])
    f.case("pytorchcv_to_named", "pytorchcv", "named", "renamed", cv[1] + names[0])
    f.case("places_to_torchvision", "places", "torchvision", "wrapped", places, sorted_file=False)
    f.case("places_to_named", "places", "named", "wrapped", places + names[0])
    f.case("places_to_10_classes", "places", "torchvision_10", "head", places, unfed=[r"^classifier\.6"],
           sorted_file=False)
    f.unrelated("places_to_text_lines", "places", "other")
    write(f)


def squeezenet():
    from pytorchcv.models.squeezenet import squeezenet_v1_1
    f = family("squeezenet", "torchvision", "pytorchcv")
    fires, sizes = (3, 4, 6, 7, 9, 10, 11, 12), (16, 16, 32, 32, 48, 48, 64, 64)

    def named():
        ins = (64, 128, 128, 256, 256, 384, 384, 512)
        return net("SqueezeNet", conv1=nn.Conv2d(3, 64, 3), **{
            f"fire{i + 2}": net("Fire", squeeze1x1=nn.Conv2d(ins[i], s, 1), expand1x1=nn.Conv2d(s, 4 * s, 1),
                                expand3x3=nn.Conv2d(s, 4 * s, 3)) for i, s in enumerate(sizes)},
            conv10=nn.Conv2d(512, 1000, 1))
    listings(f, torchvision=lambda: tv.squeezenet1_1(), torchvision_7=lambda: tv.squeezenet1_1(num_classes=7),
             pytorchcv=lambda: squeezenet_v1_1(), named=(named, "a class with the layer names of Caffe"))
    units = [f"features.stage{s}.unit{u}" for s, n in ((1, 2), (2, 2), (3, 4)) for u in range(1, n + 1)]
    names = ways(("features.0", "conv1"), ("classifier.1", "conv10"),
                 *((f"features.{n}.squeeze", f"fire{i + 2}.squeeze1x1") for i, n in enumerate(fires)),
                 *((f"features.{n}", f"fire{i + 2}") for i, n in enumerate(fires)))
    cv = ways(("features.0", "features.init_block.conv"), ("classifier.1", "output.final_conv"),
              *((f"features.{n}.{x}", f"{u}.{x}.conv") for n, u in zip(fires, units)
                for x in ("squeeze", "expand1x1", "expand3x3")))
    f.case("torchvision_to_named", "torchvision", "named", "numbered", names[0])
    f.case("named_to_torchvision", "named", "torchvision", "numbered", names[1], sorted_file=False)
    f.case("pytorchcv_to_torchvision", "pytorchcv", "torchvision", "numbered", cv[1])
    f.case("torchvision_to_pytorchcv_burn", "torchvision", "pytorchcv", "numbered", cv[0], layout="burn")
    f.case("named_to_7_classes", "named", "torchvision_7", "head", names[1], unfed=["^classifier"])
    write(f)


def unet():
    f = family("unet_segmentation")
    widths = (8, 16, 32, 64, 128)

    def double(a, b):
        return net("DoubleConv", double_conv=seq(nn.Conv2d(a, b, 3, bias=False), nn.BatchNorm2d(b), None,
                                                 nn.Conv2d(b, b, 3, bias=False), nn.BatchNorm2d(b), None))

    def milesial(classes, channels=3):
        def make():
            down = {f"down{i}": net("Down", maxpool_conv=seq(None, double(widths[i - 1], widths[i])))
                    for i in range(1, 5)}
            up = {f"up{i}": net("Up", up=nn.ConvTranspose2d(widths[5 - i], widths[4 - i], 2),
                                conv=double(widths[5 - i], widths[4 - i])) for i in range(1, 5)}
            return net("UNet", inc=double(channels, 8), **down, **up,
                       outc=net("OutConv", conv=nn.Conv2d(8, classes, 1)))
        return make, "milesial/Pytorch-UNet UNet"

    def block(name, a, b):
        return net("Sequential", **{name + "conv1": nn.Conv2d(a, b, 3, bias=False), name + "norm1": nn.BatchNorm2d(b),
                                    name + "conv2": nn.Conv2d(b, b, 3, bias=False), name + "norm2": nn.BatchNorm2d(b)})

    def buda(classes):
        def make():
            encoder = {f"encoder{i + 1}": block(f"enc{i + 1}", 3 if i == 0 else widths[i - 1], widths[i])
                       for i in range(4)}
            decoder = {}
            for i in (4, 3, 2, 1):
                decoder[f"upconv{i}"] = nn.ConvTranspose2d(widths[i], widths[i - 1], 2)
                decoder[f"decoder{i}"] = block(f"dec{i}", widths[i], widths[i - 1])
            return net("UNet", **encoder, bottleneck=block("bottleneck", 64, 128), **decoder,
                       conv=nn.Conv2d(8, classes, 1))
        return make, "mateuszbuda/brain-segmentation-pytorch UNet"

    def gan():
        return net("Generator", main=seq(nn.ConvTranspose2d(100, 64, 4, bias=False), nn.BatchNorm2d(64), None,
                                         nn.ConvTranspose2d(64, 3, 4, bias=False)))
    listings(f, milesial=milesial(2), milesial_5=milesial(5), milesial_gray=milesial(2, 1), buda=buda(2),
             other=(gan, "a generator of images"))
    f.wrapped("lightning", "milesial", "state_dict.net.")
    parts = (("0", "conv1"), ("1", "norm1"), ("3", "conv2"), ("4", "norm2"))
    places = [("inc", "encoder1.enc1"), ("down1.maxpool_conv.1", "encoder2.enc2"),
              ("down2.maxpool_conv.1", "encoder3.enc3"), ("down3.maxpool_conv.1", "encoder4.enc4"),
              ("down4.maxpool_conv.1", "bottleneck.bottleneck")] + [
                  (f"up{i}.conv", f"decoder{5 - i}.dec{5 - i}") for i in range(1, 5)]
    rules = ways(*((f"{a}.double_conv.{n}", b + x) for a, b in places for n, x in parts),
                 *((f"up{i}.up", f"upconv{5 - i}") for i in range(1, 5)), ("outc.conv", "conv"))
    f.case("milesial_to_buda", "milesial", "buda", "renamed", rules[0])
    f.case("buda_to_milesial", "buda", "milesial", "numbered", rules[1])
    f.case("buda_to_milesial_burn", "buda", "milesial", "numbered", rules[1], sorted_file=False, layout="burn")
    f.case("lightning_to_milesial", "lightning", "milesial", "wrapped", [strip("state_dict.net.")])
    f.case("lightning_to_5_classes", "lightning", "milesial_5", "head", [strip("state_dict.net.")], unfed=["^outc"])
    f.case("buda_to_gray", "buda", "milesial_gray", "head", rules[1], unfed=[r"^inc\.double_conv\.0\."],
           sorted_file=False)
    f.unrelated("generator_to_milesial", "other", "milesial")
    write(f)


def ssd():
    f = family("ssd", "torchvision")
    vgg = {0: (3, 64), 2: (64, 64), 5: (64, 128), 7: (128, 128), 10: (128, 256), 12: (256, 256), 14: (256, 256),
           17: (256, 512), 19: (512, 512), 21: (512, 512), 24: (512, 512), 26: (512, 512), 28: (512, 512),
           31: (512, 1024), 33: (1024, 1024, 1)}
    extras = [(1024, 256, 1), (256, 512, 3), (512, 128, 1), (128, 256, 3), (256, 128, 1), (128, 256, 3), (256, 128, 1),
              (128, 256, 3)]

    def body():
        return [nn.Conv2d(*vgg[i][:2], (vgg[i] + (3,))[2]) if i in vgg else nn.Identity() for i in range(34)]

    def degroot():
        boxes = list(zip((512, 1024, 512, 256, 256, 256), (4, 6, 6, 6, 4, 4)))
        return net("SSD", vgg=body(), L2Norm=net("L2Norm", weight=param(512)), extras=[nn.Conv2d(*e) for e in extras],
                   loc=[nn.Conv2d(c, 4 * n, 3) for c, n in boxes], conf=[nn.Conv2d(c, 21 * n, 3) for c, n in boxes])

    def vision(classes):
        return lambda: tv.detection.ssd300_vgg16(weights=None, weights_backbone=None, num_classes=classes)
    listings(f, original=(degroot, "amdegroot/ssd.pytorch SSD"), torchvision=vision(21), torchvision_91=vision(91),
             reduced_vgg=(lambda: seq(*body()), "vgg16_reducedfc.pth"))
    rules = ways(*((f"vgg.{i}", f"backbone.features.{i}") for i in vgg if i <= 21),
                 ("vgg.24", "backbone.extra.0.1"), ("vgg.26", "backbone.extra.0.3"), ("vgg.28", "backbone.extra.0.5"),
                 ("vgg.31", "backbone.extra.0.7.1"), ("vgg.33", "backbone.extra.0.7.3"),
                 *((f"extras.{i}", f"backbone.extra.{1 + i // 2}.{2 * (i % 2)}") for i in range(8)),
                 ("L2Norm.weight", "backbone.scale_weight"), ("loc", "head.regression_head.module_list"),
                 ("conf", "head.classification_head.module_list"))
    f.case("original_to_torchvision", "original", "torchvision", "numbered", rules[0], sorted_file=False)
    f.case("torchvision_to_original", "torchvision", "original", "numbered", rules[1])
    f.case("torchvision_to_original_burn", "torchvision", "original", "numbered", rules[1], layout="burn")
    f.case("original_to_91_classes", "original", "torchvision_91", "head", rules[0], unfed=["classification_head"])
    f.case("vgg_to_original", "reduced_vgg", "original", "head", [("^", "vgg.")],
           unfed=["^L2Norm", "^extras", "^loc", "^conf"], sorted_file=False)
    write(f)


def raft():
    f = family("raft", "torchvision")

    def princeton():
        def block(a, b, norm, stride):
            third = {}
            if stride == 2:
                n = norm(b)
                third = dict(norm3=n, downsample=seq(nn.Conv2d(a, b, 1), n))
            return net("ResidualBlock", conv1=nn.Conv2d(a, b, 3), conv2=nn.Conv2d(b, b, 3), norm1=norm(b),
                       norm2=norm(b), **third)

        def encoder(norm):
            return net("BasicEncoder", norm1=norm(64), conv1=nn.Conv2d(3, 64, 7),
                       **{f"layer{i}": seq(block(a, b, norm, 1 if i == 1 else 2), block(b, b, norm, 1))
                          for i, a, b in ((1, 64, 64), (2, 64, 96), (3, 96, 128))}, conv2=nn.Conv2d(128, 256, 1))
        motion = net("BasicMotionEncoder", convc1=nn.Conv2d(324, 256, 1), convc2=nn.Conv2d(256, 192, 3),
                     convf1=nn.Conv2d(2, 128, 7), convf2=nn.Conv2d(128, 64, 3), conv=nn.Conv2d(256, 126, 3))
        gru = net("SepConvGRU", **{f"conv{x}{i}": nn.Conv2d(384, 128, k) for i, k in ((1, (1, 5)), (2, (5, 1)))
                                   for x in "zrq"})
        update = net("BasicUpdateBlock", encoder=motion, gru=gru,
                     flow_head=net("FlowHead", conv1=nn.Conv2d(128, 256, 3), conv2=nn.Conv2d(256, 2, 3)),
                     mask=seq(nn.Conv2d(128, 256, 3), None, nn.Conv2d(256, 576, 1)))
        return net("RAFT", fnet=encoder(nn.InstanceNorm2d), cnet=encoder(nn.BatchNorm2d), update_block=update)
    listings(f, original=(princeton, "princeton-vl/RAFT RAFT"), torchvision=lambda: tv.optical_flow.raft_large())
    f.wrapped("original_file", "original", "module.")
    pairs = []
    for a, b in (("fnet", "feature_encoder"), ("cnet", "context_encoder")):
        pairs += [(a + ".conv1", b + ".convnormrelu.0"), (a + ".norm1", b + ".convnormrelu.1"),
                  (a + ".conv2", b + ".conv")]
        pairs += [(f"{a}.layer*.*.{x}{i}", f"{b}.layer*.*.convnormrelu{i}.{n}") for i in "12"
                  for x, n in (("conv", 0), ("norm", 1))]
        pairs += [(f"{a}.layer*.*.downsample", f"{b}.layer*.*.downsample")]
    m, n = "update_block.encoder.", "update_block.motion_encoder."
    pairs += [(m + f"conv{x[0]}{i}", n + f"conv{x}{i}.0") for x in ("corr", "flow") for i in "12"]
    pairs += [(m + "conv", n + "conv.0"), ("update_block.mask.0", "mask_predictor.convrelu.0"),
              ("update_block.mask.2", "mask_predictor.conv")]
    pairs += [(f"update_block.gru.conv{x}{i}", f"update_block.recurrent_block.convgru{i}.conv{x}") for x in "zrq"
              for i in "12"]
    rules = ways(*pairs)
    f.case("file_to_torchvision", "original_file", "torchvision", "wrapped", [strip("module.")] + rules[0],
           sorted_file=False)
    f.case("original_to_torchvision", "original", "torchvision", "renamed", rules[0])
    f.case("original_to_torchvision_burn", "original", "torchvision", "renamed", rules[0], layout="burn")
    f.case("file_to_original", "original_file", "original", "wrapped", [strip("module.")])
    write(f)


def esrgan():
    f = family("esrgan")

    def dense(wrap=lambda conv: conv):
        return {f"conv{i}": wrap(nn.Conv2d(16 + 8 * (i - 1), 8 if i < 5 else 16, 3)) for i in range(1, 6)}

    def block(name, **more):
        return net("RRDB", **{f"{name}{i}": net("ResidualDenseBlock", **dense(**more)) for i in (1, 2, 3)})

    def first():
        return net("RRDBNet", conv_first=nn.Conv2d(3, 16, 3), RRDB_trunk=seq(*(block("RDB") for _ in range(3))),
                   trunk_conv=nn.Conv2d(16, 16, 3), upconv1=nn.Conv2d(16, 16, 3), upconv2=nn.Conv2d(16, 16, 3),
                   HRconv=nn.Conv2d(16, 16, 3), conv_last=nn.Conv2d(16, 3, 3))

    def basicsr(channels=3):
        return net("RRDBNet", conv_first=nn.Conv2d(channels, 16, 3), body=seq(*(block("rdb") for _ in range(3))),
                   conv_body=nn.Conv2d(16, 16, 3), conv_up1=nn.Conv2d(16, 16, 3), conv_up2=nn.Conv2d(16, 16, 3),
                   conv_hr=nn.Conv2d(16, 16, 3), conv_last=nn.Conv2d(16, 3, 3))

    def old():
        trunk = net("ShortcutBlock", sub=seq(*(block("RDB", wrap=seq) for _ in range(3)), nn.Conv2d(16, 16, 3)))
        return net("RRDB_Net", model=seq(nn.Conv2d(3, 16, 3), trunk, None, nn.Conv2d(16, 16, 3), None, None,
                                         nn.Conv2d(16, 16, 3), None, nn.Conv2d(16, 16, 3), None, nn.Conv2d(16, 3, 3)))
    listings(f, old=(old, "xinntao/ESRGAN RRDB_Net, old architecture"), original=(first, "xinntao/ESRGAN RRDBNet"),
             basicsr=(basicsr, "basicsr RRDBNet"), basicsr_x2=(lambda: basicsr(12), "basicsr RRDBNet, scale 2"))
    f.wrapped("params", "basicsr", "params.", copies(f, "basicsr", "params_ema."))
    rules = ways(*((f"RRDB_trunk.*.RDB{i}", f"body.*.rdb{i}") for i in (1, 2, 3)), ("trunk_conv", "conv_body"),
                 ("upconv1", "conv_up1"), ("upconv2", "conv_up2"), ("HRconv", "conv_hr"))
    numbered = ways(("model.0", "conv_first"), ("model.1.sub.3", "conv_body"), ("model.3", "conv_up1"),
                    ("model.6", "conv_up2"), ("model.8", "conv_hr"), ("model.10", "conv_last"),
                    *((f"model.1.sub.*.RDB{i}.conv{k}.0", f"body.*.rdb{i}.conv{k}") for i in (1, 2, 3)
                      for k in range(1, 6)))
    f.case("original_to_basicsr", "original", "basicsr", "renamed", rules[0])
    f.case("basicsr_to_original", "basicsr", "original", "renamed", rules[1])
    f.case("old_to_basicsr", "old", "basicsr", "numbered", numbered[0], sorted_file=False)
    f.case("old_to_basicsr_sorted", "old", "basicsr", "numbered", numbered[0])
    f.case("basicsr_to_old_burn", "basicsr", "old", "numbered", numbered[1], layout="burn")
    f.case("params_to_original", "params", "original", "wrapped", [strip("params.")] + rules[1])
    f.case("params_to_scale_2", "params", "basicsr_x2", "head", [strip("params.")], unfed=["^conv_first.weight"],
           sorted_file=False)
    write(f)


def dcgan():
    f = family("dcgan")
    sizes = (100, 64, 32, 16, 8)

    def up(a, b):
        return nn.ConvTranspose2d(a, b, 4, bias=False)

    def steps():
        return list(zip(sizes, sizes[1:]))

    def examples():
        parts = [x for a, b in steps() for x in (up(a, b), nn.BatchNorm2d(b), None)]
        return net("Generator", main=seq(*parts, up(8, 3), None))

    def bolts():
        return net("DCGANGenerator", gen=seq(*(seq(up(a, b), nn.BatchNorm2d(b), None) for a, b in steps()),
                                             seq(up(8, 3), None)))

    def named():
        parts = {}
        for i, (a, b) in enumerate(steps()):
            parts |= {f"deconv{i + 1}": up(a, b), f"deconv{i + 1}_bn": nn.BatchNorm2d(b)}
        return net("generator", **parts, deconv5=up(8, 3))

    def discriminator():
        def down(a, b):
            return nn.Conv2d(a, b, 4, bias=False)
        inner = [seq(down(a, b), nn.BatchNorm2d(b), None) for a, b in ((8, 16), (16, 32), (32, 64))]
        return net("DCGANDiscriminator", disc=seq(seq(down(3, 8), None, None), *inner, seq(down(64, 1), None)))
    listings(f, examples=(examples, "pytorch/examples dcgan Generator"), bolts=(bolts, "pl_bolts DCGANGenerator"),
             named=(named, "znxlwm/pytorch-MNIST-CelebA-GAN-DCGAN generator"),
             discriminator=(discriminator, "pl_bolts DCGANDiscriminator"))
    f.wrapped("lightning", "bolts", "state_dict.generator.", copies(f, "discriminator", "state_dict.discriminator."))
    numbered = ways(*(pair for i in range(5) for pair in ((f"main.{3 * i}", f"gen.{i}.0"),
                                                          (f"main.{3 * i + 1}", f"gen.{i}.1"))))
    names = ways(*(pair for i in range(5) for pair in ((f"main.{3 * i}", f"deconv{i + 1}"),
                                                       (f"main.{3 * i + 1}", f"deconv{i + 1}_bn"))))
    f.case("examples_to_bolts", "examples", "bolts", "numbered", numbered[0])
    f.case("examples_to_named", "examples", "named", "numbered", names[0], sorted_file=False)
    f.case("named_to_examples", "named", "examples", "numbered", names[1])
    f.case("named_to_bolts_burn", "named", "bolts", "numbered", names[1] + numbered[0], layout="burn")
    f.case("lightning_to_examples", "lightning", "examples", "wrapped",
           [strip("state_dict.generator.")] + numbered[1])
    f.case("lightning_to_discriminator", "lightning", "discriminator", "wrapped",
           [strip("state_dict.discriminator.")], sorted_file=False)
    write(f)


for make in (densenet, regnet, mobilenet_v3, alexnet, squeezenet, unet, ssd, raft, esrgan, dcgan):
    make()
