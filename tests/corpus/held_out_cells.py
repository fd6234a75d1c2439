# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families: small convolutional networks, detection, segmentation. Needs pytorchcv and
segmentation-models-pytorch beside requirements.txt."""
import torch
import torchvision.models as tv
import transformers as hf
from torch import nn
from torchvision.ops import FrozenBatchNorm2d

from held_out_check import alike
from held_out_lib import changed, copies, family, linear, listings, net, seq, strip, ways, write


def mobilenet_v1():
    from pytorchcv.models.mobilenet import get_mobilenet
    from timm.models.efficientnet import _gen_mobilenet_v1
    f = family("mobilenet_v1", "transformers", "timm", "pytorchcv")

    def with_hf(classes=10):
        return lambda: hf.MobileNetV1ForImageClassification(hf.MobileNetV1Config(
            depth_multiplier=0.25, num_labels=classes, tf_padding=False, layer_norm_eps=1e-5))

    def with_timm(classes=10):
        return lambda: _gen_mobilenet_v1("mobilenetv1_100", channel_multiplier=0.25, num_classes=classes)
    sizes = [8, 16, 32, 32, 64, 64, 128, 128, 128, 128, 128, 128, 256, 256]

    def marvis():
        def unit(a, b):
            return seq(nn.Conv2d(a, a, 3, groups=a, bias=False), nn.BatchNorm2d(a), None,
                       nn.Conv2d(a, b, 1, bias=False), nn.BatchNorm2d(b), None)
        return net("Net", model=seq(seq(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), None),
                                    *(unit(a, b) for a, b in zip(sizes, sizes[1:])), None), fc=linear(256, 10))
    listings(f, hf=with_hf(), timm=with_timm(), timm_4=with_timm(4),
             pytorchcv=lambda: get_mobilenet(width_scale=0.25, num_classes=10),
             marvis=(marvis, "marvis/pytorch-mobilenet Net"))
    f.wrapped("marvis_file", "marvis", "state_dict.module.")
    stages = [(s, u) for s, n in enumerate((1, 2, 2, 6, 2)) for u in range(n)]
    h = "mobilenet_v1."
    units = list(enumerate(stages))
    timm_rules = ways((h + "conv_stem.convolution", "conv_stem"), (h + "conv_stem.normalization", "bn1"),
                      *(pair for i, (s, u) in units for k, (conv, bn) in enumerate((("conv_dw", "bn1"),
                                                                                  ("conv_pw", "bn2")))
                        for pair in ((f"{h}layer.{2 * i + k}.convolution", f"blocks.{s}.{u}.{conv}"),
                                     (f"{h}layer.{2 * i + k}.normalization", f"blocks.{s}.{u}.{bn}"))))
    cv = ways((h + "conv_stem.convolution", "features.init_block.conv"),
              (h + "conv_stem.normalization", "features.init_block.bn"), ("classifier", "output"),
              *((f"{h}layer.{2 * i + k}.{x}", f"features.stage{s + 1}.unit{u + 1}.{conv}.{y}") for i, (s, u) in units
                for k, conv in enumerate(("dw_conv", "pw_conv")) for x, y in (("convolution", "conv"),
                                                                             ("normalization", "bn"))))
    numbers = ways((h + "conv_stem.convolution", "model.0.0"), (h + "conv_stem.normalization", "model.0.1"),
                   ("classifier", "fc"),
                   *((f"{h}layer.{2 * i + k}.{x}", f"model.{i + 1}.{3 * k + n}") for i, _ in units for k in (0, 1)
                     for x, n in (("convolution", 0), ("normalization", 1))))
    f.case("hf_to_timm", "hf", "timm", "numbered", timm_rules[0])
    f.case("timm_to_hf", "timm", "hf", "numbered", timm_rules[1], sorted_file=False)
    f.case("timm_to_hf_sorted", "timm", "hf", "numbered", timm_rules[1])
    f.case("pytorchcv_to_timm", "pytorchcv", "timm", "renamed", cv[1] + timm_rules[0])
    f.case("pytorchcv_to_hf_burn", "pytorchcv", "hf", "numbered", cv[1], layout="burn")
    f.case("marvis_to_timm", "marvis_file", "timm", "wrapped", [strip("state_dict.module.")] + numbers[1] +
           timm_rules[0], sorted_file=False)
    f.case("hf_to_marvis", "hf", "marvis", "numbered", numbers[0])
    f.case("marvis_to_4_classes", "marvis", "timm_4", "head", numbers[1] + timm_rules[0], unfed=["^classifier"])
    image = torch.randn(2, 3, 64, 64)
    alike(f, "hf_to_timm", with_hf(), with_timm(), lambda m: m(image).logits, lambda m: m(image))
    alike(f, "timm_to_hf", with_timm(), with_hf(), lambda m: m(image), lambda m: m(image).logits)

    def marvis_forward(m):
        x = image
        for i, part in enumerate(list(m.model)[:-1]):
            x = nn.functional.relu6(part[1](nn.functional.conv2d(
                x, part[0].weight, stride=2 if i in (0, 2, 4, 6, 12) else 1, padding=1,
                groups=x.shape[1] if i else 1)))
            x = nn.functional.relu6(part[4](part[3](x))) if i else x
        return m.fc(x.mean((2, 3)))
    alike(f, "hf_to_marvis", with_hf(), marvis, lambda m: m(image).logits, marvis_forward)
    write(f)


def shufflenet_v2():
    from pytorchcv.models.shufflenetv2b import ShuffleNetV2b
    f = family("shufflenet_v2", "torchvision", "pytorchcv")

    def vision(classes=10, repeats=(2, 2, 2)):
        return lambda: tv.ShuffleNetV2(list(repeats), [8, 16, 32, 64, 96], num_classes=classes)

    def cv():
        return ShuffleNetV2b(channels=[[16] * 2, [32] * 2, [64] * 2], init_block_channels=8, final_block_channels=96,
                             num_classes=10)
    listings(f, torchvision=vision(), torchvision_3=vision(3), torchvision_deep=vision(repeats=(2, 3, 2)), pytorchcv=cv)
    f.wrapped("lightning", "torchvision", "state_dict.model.", [["state_dict.loss.weight", "f32", [10], ""]])
    pairs = []
    for i in (1, 2, 3):
        for j in (0, 1):
            a, b = f"stage{i + 1}.{j}", f"features.stage{i}.unit{j + 1}"
            parts = [("branch2", 0, "conv1"), ("branch2", 3, "dconv"), ("branch2", 5, "conv2")]
            parts += [] if j else [("branch1", 0, "shortcut_dconv"), ("branch1", 2, "shortcut_conv")]
            for branch, n, name in parts:
                pairs += [(f"{a}.{branch}.{n}", f"{b}.{name}.conv"), (f"{a}.{branch}.{n + 1}", f"{b}.{name}.bn")]
    rules = ways(("conv1.0", "features.init_block.conv.conv"), ("conv1.1", "features.init_block.conv.bn"),
                 ("conv5.0", "features.final_block.conv"), ("conv5.1", "features.final_block.bn"), ("fc", "output"),
                 *pairs)
    f.case("torchvision_to_pytorchcv", "torchvision", "pytorchcv", "numbered", rules[0])
    f.case("pytorchcv_to_torchvision", "pytorchcv", "torchvision", "numbered", rules[1], sorted_file=False)
    f.case("torchvision_to_pytorchcv_burn", "torchvision", "pytorchcv", "numbered", rules[0], sorted_file=False,
           layout="burn")
    f.case("lightning_to_3_classes", "lightning", "torchvision_3", "wrapped", [strip("state_dict.model.")],
           unfed=["^fc"])
    f.case("pytorchcv_to_deeper_torchvision", "pytorchcv", "torchvision_deep", "depth", rules[1],
           unfed=[r"^stage3\.2\."])
    image = torch.randn(2, 3, 64, 64)
    # The networks shuffle in the same order, so the outputs are equal and not only alike up to an order of channels.
    alike(f, "torchvision_to_pytorchcv", vision(), cv, lambda m: m(image), lambda m: m.output(
        m.features[:-1](image).mean((2, 3)) if isinstance(m.features[-1], nn.AvgPool2d) else m.features(image)))
    write(f)


def superpoint():
    from pytorchcv.models.superpointnet import superpointnet
    f = family("superpoint", "transformers", "pytorchcv")
    sizes = [1, 64, 64, 128, 128]

    def original():
        parts = {}
        for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
            parts |= {f"conv{i + 1}a": nn.Conv2d(a, b, 3), f"conv{i + 1}b": nn.Conv2d(b, b, 3)}
        return net("SuperPointNet", **parts, convPa=nn.Conv2d(128, 256, 3), convPb=nn.Conv2d(256, 65, 1),
                   convDa=nn.Conv2d(128, 256, 3), convDb=nn.Conv2d(256, 256, 1))
    listings(f, original=(original, "magicleap/SuperPointPretrainedNetwork SuperPointNet"), pytorchcv=superpointnet,
             hf=lambda: hf.SuperPointForKeypointDetection(hf.SuperPointConfig()),
             other=lambda: tv.shufflenet_v2_x0_5(num_classes=2))
    f.wrapped("matching", "original", "state_dict.superpoint.", [
        ["state_dict.superglue.bin_score", "f32", [], ""],
        ["state_dict.superglue.kenc.encoder.0.weight", "f32", [32, 3, 1], ""],
        ["state_dict.superglue.kenc.encoder.0.bias", "f32", [32], ""],
        ["state_dict.superglue.final_proj.weight", "f32", [256, 256, 1], ""],
        ["state_dict.superglue.final_proj.bias", "f32", [256], ""]])
    ab = ((1, "a"), (2, "b"))
    heads = (("P", "keypoint_decoder.conv_score_", "detector.detector"),
             ("D", "descriptor_decoder.conv_descriptor_", "descriptor.head"))
    rules = ways(*((f"conv{i}{x}", f"encoder.conv_blocks.{i - 1}.conv_{x}") for i in range(1, 5) for _, x in ab),
                 *((f"conv{h}{x}", name + x) for h, name, _ in heads for _, x in ab))
    cv = ways(*((f"conv{i}{x}", f"features.stage{i}.unit{n}.conv") for i in range(1, 5) for n, x in ab),
              *((f"conv{h}{x}", f"{name}.conv{n}" + (".conv" if n == 1 else "")) for h, _, name in heads
                for n, x in ab))
    f.case("original_to_hf", "original", "hf", "numbered", rules[0])
    f.case("hf_to_original", "hf", "original", "numbered", rules[1])
    f.case("original_to_pytorchcv", "original", "pytorchcv", "numbered", cv[0], sorted_file=False)
    f.case("pytorchcv_to_hf_burn", "pytorchcv", "hf", "numbered", cv[1] + rules[0], layout="burn")
    f.case("matching_to_hf", "matching", "hf", "wrapped", [strip("state_dict.superpoint.")] + rules[0])
    f.unrelated("classifier_to_hf", "other", "hf")
    image = torch.rand(1, 1, 32, 32)

    def features(m):
        if hasattr(m, "features"):
            x = m.features(image)
            return torch.cat([x, *(part.conv2(part.conv1(x)) for part in (m.detector.detector, m.descriptor.head))], 1)
        x = image
        for i, block in enumerate(m.encoder.conv_blocks):
            x = torch.relu(block.conv_b(torch.relu(block.conv_a(x))))
            x = nn.functional.max_pool2d(x, 2) if i < 3 else x
        one, two = m.keypoint_decoder, m.descriptor_decoder
        return torch.cat([x, one.conv_score_b(torch.relu(one.conv_score_a(x))),
                          two.conv_descriptor_b(torch.relu(two.conv_descriptor_a(x)))], 1)
    alike(f, "pytorchcv_to_hf_burn", superpointnet, lambda: hf.SuperPointForKeypointDetection(hf.SuperPointConfig()),
          features)
    write(f)


def deeplab():
    import segmentation_models_pytorch as smp
    from segmentation_models_pytorch.encoders.resnet import ResNetEncoder
    from torchvision.models.segmentation.deeplabv3 import _deeplabv3_resnet
    f = family("deeplab", "torchvision", "segmentation_models_pytorch")

    def vision(classes=21, aux=True, depths=(1, 1, 1, 1)):
        return lambda: _deeplabv3_resnet(tv.ResNet(tv.resnet.Bottleneck, list(depths), replace_stride_with_dilation=[
            False, True, True]), classes, aux)

    def with_smp(classes=21):
        def make():
            model = smp.DeepLabV3("resnet50", encoder_weights=None, classes=classes)
            model.encoder = ResNetEncoder(out_channels=[3, 64, 256, 512, 1024, 2048], block=tv.resnet.Bottleneck,
                                          layers=[1, 1, 1, 1], depth=5, output_stride=8)
            model.encoder.make_dilated(8)
            return model
        return make
    listings(f, torchvision=vision(aux=None), torchvision_aux=vision(), torchvision_4=vision(4),
             torchvision_deep=vision(aux=None, depths=(1, 1, 2, 1)), smp=with_smp(), smp_2=with_smp(2))
    changed(f, "vainf", "torchvision", [("^classifier", "classifier.classifier")],
            class_name="VainF/DeepLabV3Plus-Pytorch DeepLabV3")
    f.wrapped("vainf_file", "vainf", "model_state.")
    f.wrapped("trained", "torchvision_aux", "model.module.")
    rules = ways(("backbone", "encoder"), ("classifier.0", "decoder.aspp"), ("classifier.1", "decoder.conv"),
                 ("classifier.2", "decoder.bn"), ("classifier.4", "segmentation_head.0"))
    vainf = [strip("model_state."), (r"^classifier\.classifier", "classifier")]
    f.case("torchvision_to_smp", "torchvision_aux", "smp", "renamed", rules[0])
    f.case("smp_to_torchvision", "smp", "torchvision", "renamed", rules[1])
    f.case("smp_to_torchvision_burn", "smp", "torchvision", "renamed", rules[1], sorted_file=False, layout="burn")
    f.case("smp_to_torchvision_with_aux", "smp", "torchvision_aux", "head", rules[1], unfed=["^aux"],
           sorted_file=False)
    f.case("vainf_to_smp", "vainf_file", "smp", "wrapped", vainf + rules[0])
    f.case("vainf_to_2_classes", "vainf_file", "smp_2", "head", vainf + rules[0], unfed=["^segmentation_head"],
           sorted_file=False)
    f.case("trained_to_4_classes", "trained", "torchvision_4", "head", [strip("model.module.")],
           unfed=[r"classifier\.4"])
    f.case("smp_to_deeper_torchvision", "smp", "torchvision_deep", "depth", rules[1], unfed=[r"layer3\.1\."])
    image = torch.randn(1, 3, 64, 64)

    def same_dilation(file, model):
        """smp dilates the first block of a stage too."""
        for layer in ("layer3", "layer4"):
            one, two = (getattr(part, layer)[0].conv2 for part in (file.encoder, model.backbone))
            two.dilation, two.padding = one.dilation, one.padding
    alike(f, "smp_to_torchvision", with_smp(), vision(aux=None), lambda m: m.segmentation_head[0](
        m.decoder(m.encoder(image))), lambda m: m.classifier(m.backbone(image)["out"]), same_dilation)
    write(f)


def retinanet():
    from torchvision.models.detection import RetinaNet
    from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
    from torchvision.ops.feature_pyramid_network import LastLevelP6P7
    f = family("retinanet", "torchvision")

    def vision(classes):
        def make():
            body = tv.ResNet(tv.resnet.Bottleneck, [1, 1, 1, 1], norm_layer=FrozenBatchNorm2d)
            # detectron2 makes the smaller levels from the last stage, not from the pyramid.
            return RetinaNet(_resnet_fpn_extractor(body, 3, returned_layers=[2, 3, 4],
                                                   extra_blocks=LastLevelP6P7(2048, 256)), classes)
        return make

    def detectron(classes):
        def conv(a, b, size):
            # detectron2's convolutions own their norm.
            module = nn.Conv2d(a, b, size, bias=False)
            module.norm = FrozenBatchNorm2d(b)
            return module

        def stage(a, inner, b):
            return seq(net("BottleneckBlock", shortcut=conv(a, b, 1), conv1=conv(a, inner, 1),
                           conv2=conv(inner, inner, 3), conv3=conv(inner, b, 1)))

        def make():
            bottom = net("ResNet", stem=net("BasicStem", conv1=conv(3, 64, 7)), res2=stage(64, 64, 256),
                         res3=stage(256, 128, 512), res4=stage(512, 256, 1024), res5=stage(1024, 512, 2048))
            levels = {}
            for i, size in ((3, 512), (4, 1024), (5, 2048)):
                levels |= {f"fpn_lateral{i}": nn.Conv2d(size, 256, 1), f"fpn_output{i}": nn.Conv2d(256, 256, 3)}
            top = net("LastLevelP6P7", p6=nn.Conv2d(2048, 256, 3), p7=nn.Conv2d(256, 256, 3))

            def subnet():
                return seq(*(nn.Conv2d(256, 256, 3) if i % 2 == 0 else None for i in range(8)))
            head = net("RetinaNetHead", cls_subnet=subnet(), bbox_subnet=subnet(),
                       cls_score=nn.Conv2d(256, 9 * classes, 3), bbox_pred=nn.Conv2d(256, 36, 3))
            return net("RetinaNet", backbone=net("FPN", **levels, top_block=top, bottom_up=bottom), head=head)
        return make, "facebookresearch/detectron2 RetinaNet"
    listings(f, torchvision=vision(80), torchvision_91=vision(91), detectron=detectron(80),
             body=(lambda: tv.ResNet(tv.resnet.Bottleneck, [1, 1, 1, 1]), "torchvision.models.ResNet"))
    f.wrapped("trained", "detectron", "model.", [["model.pixel_mean", "f32", [3, 1, 1], ""],
                                                 ["model.pixel_std", "f32", [3, 1, 1], ""]])
    t, d = "backbone.body.", "backbone.bottom_up."
    rules = ways((t + "conv1", d + "stem.conv1"), (t + "bn1", d + "stem.conv1.norm"),
                 *(pair for i in range(1, 5) for pair in (
                     *((f"{t}layer{i}.0.bn{k}", f"{d}res{i + 1}.0.conv{k}.norm") for k in (1, 2, 3)),
                     *((f"{t}layer{i}.0.conv{k}.weight", f"{d}res{i + 1}.0.conv{k}.weight") for k in (1, 2, 3)),
                     (f"{t}layer{i}.0.downsample.0", f"{d}res{i + 1}.0.shortcut"),
                     (f"{t}layer{i}.0.downsample.1", f"{d}res{i + 1}.0.shortcut.norm"))),
                 *(pair for i in range(3) for pair in (
                     (f"backbone.fpn.inner_blocks.{i}.0", f"backbone.fpn_lateral{i + 3}"),
                     (f"backbone.fpn.layer_blocks.{i}.0", f"backbone.fpn_output{i + 3}"))),
                 ("backbone.fpn.extra_blocks", "backbone.top_block"),
                 *((f"head.{a}_head.conv.{i}.0", f"head.{b}_subnet.{2 * i}") for i in range(4)
                   for a, b in (("classification", "cls"), ("regression", "bbox"))),
                 ("head.classification_head.cls_logits", "head.cls_score"),
                 ("head.regression_head.bbox_reg", "head.bbox_pred"))
    # The norms of a convolution are below it, so they go first on the way back.
    back = sorted(rules[1][:-1], key=lambda rule: -len(rule[0])) + rules[1][-1:]
    f.case("detectron_to_torchvision", "detectron", "torchvision", "numbered", back)
    f.case("detectron_to_torchvision_burn", "detectron", "torchvision", "numbered", back, sorted_file=False,
           layout="burn")
    f.case("torchvision_to_detectron", "torchvision", "detectron", "numbered", rules[0])
    f.case("trained_to_91_classes", "trained", "torchvision_91", "wrapped", [strip("model.")] + back,
           unfed=["cls_logits"], sorted_file=False)
    f.case("body_to_detectron", "body", "detectron", "head", [("^", t)] + rules[0],
           unfed=["^head", "fpn_", "top_block"])
    image = torch.randn(1, 3, 128, 128)

    def conv(module, x, stride=1):
        x = nn.functional.conv2d(x, module.weight, module.bias, stride, module.weight.shape[-1] // 2)
        return module.norm(x) if hasattr(module, "norm") else x

    def heads(levels, *stacks):
        """All outputs of the towers, as one vector. A tower is its inner layers and the last one."""
        out = list(levels)
        for inner, last in stacks:
            for x in levels:
                for layer in inner:
                    x = torch.relu(conv(layer, x))
                out.append(conv(last, x))
        return torch.cat([x.flatten() for x in out])

    def ask_detectron(m):
        x = nn.functional.max_pool2d(torch.relu(conv(m.backbone.bottom_up.stem.conv1, image, 2)), 3, 2, 1)
        found, above, levels = [], None, []
        for i in (2, 3, 4, 5):
            block, stride = getattr(m.backbone.bottom_up, f"res{i}")[0], 1 if i == 2 else 2
            y = torch.relu(conv(block.conv2, torch.relu(conv(block.conv1, x)), stride))
            x = torch.relu(conv(block.conv3, y) + conv(block.shortcut, x, stride))
            found.append(x)
        for i in (5, 4, 3):
            side = conv(getattr(m.backbone, f"fpn_lateral{i}"), found[i - 2])
            above = side if above is None else side + nn.functional.interpolate(above, scale_factor=2)
            levels.insert(0, conv(getattr(m.backbone, f"fpn_output{i}"), above))
        levels.append(conv(m.backbone.top_block.p6, found[-1], 2))
        levels.append(conv(m.backbone.top_block.p7, torch.relu(levels[-1]), 2))
        return heads(levels, (m.head.cls_subnet[::2], m.head.cls_score), (m.head.bbox_subnet[::2], m.head.bbox_pred))

    def ask_torchvision(m):
        one, two = m.head.classification_head, m.head.regression_head
        return heads(list(m.backbone(image).values()), ([part[0] for part in one.conv], one.cls_logits),
                     ([part[0] for part in two.conv], two.bbox_reg))
    alike(f, "detectron_to_torchvision", detectron(80)[0], vision(80), ask_detectron, ask_torchvision)
    alike(f, "torchvision_to_detectron", vision(80), detectron(80)[0], ask_torchvision, ask_detectron)
    write(f)


def edsr():
    f = family("edsr")

    def up(scale):
        return seq(*(nn.Conv2d(16, 64, 3) if i % 2 == 0 else None for i in range(2 if scale == 2 else 4)))

    def original(blocks=3, scale=4):
        def block():
            return net("ResBlock", body=seq(nn.Conv2d(16, 16, 3), None, nn.Conv2d(16, 16, 3)))
        return lambda: net("EDSR", sub_mean=nn.Conv2d(3, 3, 1), add_mean=nn.Conv2d(3, 3, 1),
                           head=seq(nn.Conv2d(3, 16, 3)),
                           body=seq(*(block() for _ in range(blocks)), nn.Conv2d(16, 16, 3)),
                           tail=seq(up(scale), nn.Conv2d(16, 3, 3)))

    def basicsr(blocks=3, scale=4):
        def block():
            return net("ResidualBlockNoBN", conv1=nn.Conv2d(16, 16, 3), conv2=nn.Conv2d(16, 16, 3))
        return lambda: net("EDSR", conv_first=nn.Conv2d(3, 16, 3), body=seq(*(block() for _ in range(blocks))),
                           conv_after_body=nn.Conv2d(16, 16, 3), upsample=up(scale), conv_last=nn.Conv2d(16, 3, 3))
    one, two = "sanghyun-son/EDSR-PyTorch EDSR", "basicsr EDSR"
    listings(f, original=(original(), one), original_x2=(original(scale=2), one), original_deep=(original(5), one),
             basicsr=(basicsr(), two), basicsr_x2=(basicsr(scale=2), two), basicsr_deep=(basicsr(5), two))
    f.wrapped("params", "basicsr", "params.", copies(f, "basicsr", "params_ema."))

    def between(n):
        return ways(("head.0", "conv_first"), ("body.*.body.0", "body.*.conv1"), ("body.*.body.2", "body.*.conv2"),
                    (f"body.{n}", "conv_after_body"), ("tail.0", "upsample"), ("tail.1", "conv_last"))
    rules = between(3)
    mean = ["_mean"]
    f.case("original_to_basicsr", "original", "basicsr", "numbered", rules[0])
    f.case("basicsr_to_original", "basicsr", "original", "numbered", rules[1], unfed=mean, sorted_file=False)
    f.case("original_to_basicsr_burn", "original", "basicsr", "numbered", rules[0], sorted_file=False, layout="burn")
    # The larger scale begins from the smaller one: the first step up is the same size, the second one is new.
    f.case("scale_2_to_4", "original_x2", "basicsr", "head", rules[0], unfed=[r"^upsample\.2"])
    f.case("original_to_deeper_basicsr", "original", "basicsr_deep", "depth", rules[0], unfed=[r"^body\.[34]\."])
    f.case("original_to_deeper_original", "original", "original_deep", "depth",
           [(r"^body\.3\.", "body.5.")], unfed=[r"^body\.[34]\."])
    f.case("params_to_original", "params", "original", "wrapped", [strip("params.")] + rules[1], unfed=mean)
    image = torch.randn(1, 3, 12, 12)

    def ask(m):
        def conv(module, x):
            return nn.functional.conv2d(x, module.weight, module.bias, 1, 1)
        if hasattr(m, "head"):
            first, blocks, after, up, last = m.head[0], [b.body[::2] for b in m.body[:-1]], m.body[-1], *m.tail
        else:
            first, blocks, after, up, last = (m.conv_first, [(b.conv1, b.conv2) for b in m.body], m.conv_after_body,
                                              m.upsample, m.conv_last)
        x = begin = conv(first, image)
        for one, two in blocks:
            x = x + conv(two, torch.relu(conv(one, x)))
        x = conv(after, x) + begin
        for part in up[::2]:
            x = nn.functional.pixel_shuffle(conv(part, x), 2)
        return conv(last, x)
    alike(f, "original_to_basicsr", original(), basicsr(), ask)
    alike(f, "basicsr_to_original", basicsr(), original(), ask)
    alike(f, "params_to_original", basicsr(), original(), ask)
    write(f)


for make in (mobilenet_v1, shufflenet_v2, superpoint, deeplab, retinanet, edsr):
    make()
