# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families, second part: convolutional networks. Needs timm, torchvision, transformers and pytorchcv."""
import re

import torch
import torchvision
import transformers as hf
from pytorchcv.models import seresnext
from timm.models import resnet as timm_resnet, resnetv2, senet as timm_senet
from torch import nn
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
from torchvision.ops import FrozenBatchNorm2d

from held_out_check import alike, renamed
from held_out_lib import adam, changed, family, linear, listings, net, seq, strip, ways, write

image = torch.randn(2, 3, 64, 64)
tracked = ["num_batches_tracked$"]


def conv(*sizes):
    return nn.Conv2d(*sizes, bias=False)


def squeeze_and_excitation():
    """SE-ResNeXt. timm still has the implementation that the first published weights are for."""
    f = family("senet", "timm", "pytorchcv")

    def cadene():
        return timm_senet.SENet(timm_senet.SEResNeXtBottleneck, [1, 2, 1, 1], groups=32, reduction=16, inplanes=64,
                                input_3x3=False, downsample_kernel_size=1, downsample_padding=0, num_classes=10)

    def with_timm(classes=10):
        return lambda: timm_resnet.ResNet(timm_resnet.Bottleneck, [1, 2, 1, 1], cardinality=32, base_width=4,
                                          block_args={"attn_layer": "se"}, num_classes=classes)

    def other():
        channels = [[256], [512, 512], [1024], [2048]]
        return seresnext.SEResNeXt(channels=channels, init_block_channels=64, cardinality=32, bottleneck_width=4,
                                   num_classes=10)
    listings(f, cadene=(cadene, "Cadene/pretrained-models.pytorch SENet"), timm=with_timm(), timm_7=with_timm(7),
             pytorchcv=other)
    f.wrapped("parallel", "cadene", "module.")
    f.wrapped("lightning", "cadene", "state_dict.net.", adam(f, "cadene"))
    rules = ways(("layer0.conv1", "conv1"), ("layer0.bn1", "bn1"), ("last_linear", "fc"),
                 *((f"layer{i}.*.se_module", f"layer{i}.*.se") for i in (1, 2, 3, 4)))
    flat = ways(("features.init_block.conv.conv", "conv1"), ("features.init_block.conv.bn", "bn1"), ("output", "fc"),
                *((f"features.stage{i}.unit{j + 1}.{x}", f"layer{i}.{j}.{y}") for i in (1, 2, 3, 4) for j in (0, 1)
                  for x, y in [(f"body.conv{k}.{m}", f"{n}{k}") for k in (1, 2, 3)
                               for m, n in (("conv", "conv"), ("bn", "bn"))] +
                  [("identity_conv.conv", "downsample.0"), ("identity_conv.bn", "downsample.1"),
                   ("se.conv1", "se.fc1"), ("se.conv2", "se.fc2")]))
    f.case("cadene_to_timm", "cadene", "timm", "renamed", rules[0])
    f.case("cadene_to_pytorchcv", "parallel", "pytorchcv", "wrapped", [strip("module.")] + rules[0] + flat[1])
    f.case("pytorchcv_to_timm", "pytorchcv", "timm", "renamed", flat[0], sorted_file=False)
    f.case("pytorchcv_to_timm_burn", "pytorchcv", "timm", "renamed", flat[0], layout="burn")
    f.case("lightning_to_7_classes", "lightning", "timm_7", "head", [strip("state_dict.net.")] + rules[0],
           unfed=["^fc"], sorted_file=False)

    def ceil(file, model):
        # The first implementation pools over the border, which is no matter of names.
        file.pool0 = nn.MaxPool2d(3, 2, 1)
    alike(f, "cadene_to_timm", cadene, with_timm(), lambda m: m(image), before=ceil)
    alike(f, "pytorchcv_to_timm", other, with_timm(), lambda m: m.features[:-1](image),
          lambda m: m.forward_features(image))
    write(f)


def big_transfer():
    f = family("bit", "transformers", "timm")
    channels, depths = [128, 256, 384, 512], [1, 1, 2, 1]

    def config(layers=depths):
        return hf.BitConfig(embedding_size=32, hidden_sizes=channels, depths=list(layers), num_labels=5)

    def with_timm(classes=10, layers=depths):
        return lambda: resnetv2.ResNetV2(layers=list(layers), channels=channels, stem_chs=32, num_classes=classes,
                                         stem_type="fixed")

    def google():
        def unit(a, b, first):
            c = b // 4
            return net("PreActBottleneck", gn1=nn.GroupNorm(32, a), conv1=conv(a, c, 1), gn2=nn.GroupNorm(32, c),
                       conv2=conv(c, c, 3), gn3=nn.GroupNorm(32, c), conv3=conv(c, b, 1),
                       downsample=conv(a, b, 1) if first else None)
        sizes = [32] + channels
        blocks = {f"block{i + 1}": net("Sequential", **{
            f"unit{j + 1:02d}": unit(sizes[i + (j > 0)], sizes[i + 1], j == 0) for j in range(n)})
            for i, n in enumerate(depths)}
        return net("ResNetV2", root=net("Sequential", conv=conv(3, 32, 7)), body=net("Sequential", **blocks),
                   head=net("Sequential", gn=nn.GroupNorm(32, 512), conv=nn.Conv2d(512, 10, 1)))
    listings(f, hf=lambda: hf.BitForImageClassification(config()), hf_base=lambda: hf.BitModel(config()),
             timm=with_timm(), timm_4=with_timm(4), timm_deep=with_timm(layers=[1, 1, 2, 2]),
             google=(google, "google-research/big_transfer ResNetV2"))
    f.wrapped("tuned", "google", "model.module.", adam(f, "google", "optim.state."))
    a = "stages.{}.blocks.{}"
    rules = ways(("stem.conv", "root.conv"), ("norm", "head.gn"), ("head.fc", "head.conv"),
                 *((a.format(i, j) + x, f"body.block{i + 1}.unit{j + 1:02d}{y}") for i in range(4) for j in (0, 1)
                   for x, y in [(f".norm{k}", f".gn{k}") for k in (1, 2, 3)] + [(f".conv{k}", f".conv{k}")
                                                                              for k in (1, 2, 3)] +
                   [(".downsample.conv", ".downsample")]))
    other = ways(("bit.embedder.convolution", "stem.conv"), ("bit.norm", "norm"), ("classifier.1", "head.fc"),
                 ("bit.encoder.stages.*.layers.*", "stages.*.blocks.*"))
    # transformers has a matrix where the others have a convolution.
    f.case("google_to_timm", "google", "timm", "numbered", rules[1], sorted_file=False)
    f.case("timm_to_hf_base", "timm", "hf_base", "head", other[1] + [strip("bit.")])
    f.case("google_to_hf_burn", "google", "hf", "head", rules[1] + other[1], unfed=["^classifier"], layout="burn")
    f.case("tuned_to_4_classes", "tuned", "timm_4", "head", [strip("model.module.")] + rules[1], unfed=[r"^head\.fc"],
           sorted_file=False)
    f.case("hf_to_deeper_timm", "hf", "timm_deep", "depth", other[0], unfed=[r"^head\.fc", r"^stages\.3\.blocks\.1\."])
    alike(f, "timm_to_hf_base", with_timm(), lambda: hf.BitModel(config()), lambda m: m.forward_features(image),
          lambda m: m(image).last_hidden_state)
    write(f)


def mask_r_cnn():
    f = family("mask_rcnn", "torchvision")
    depths = [1, 2, 1, 1]

    def resnet(norm=FrozenBatchNorm2d):
        return torchvision.models.ResNet(torchvision.models.resnet.Bottleneck, depths, norm_layer=norm)

    def with_torchvision(classes):
        return lambda: MaskRCNN(_resnet_fpn_extractor(resnet(), 5), classes)

    def detectron():
        def layer(*sizes):
            made = conv(*sizes)
            made.norm = FrozenBatchNorm2d(sizes[1])
            return made

        def block(a, b, first):
            c = b // 4
            return net("BottleneckBlock", shortcut=layer(a, b, 1) if first else None, conv1=layer(a, c, 1),
                       conv2=layer(c, c, 3), conv3=layer(c, b, 1))
        sizes = [64, 256, 512, 1024, 2048]
        stages = {f"res{i + 2}": seq(*(block(sizes[i + (j > 0)], sizes[i + 1], j == 0) for j in range(n)))
                  for i, n in enumerate(depths)}
        fpn = {f"fpn_{x}{i + 2}": nn.Conv2d(sizes[i + 1] if k == 1 else 256, 256, k) for i in range(4)
               for x, k in (("lateral", 1), ("output", 3))}
        bottom = net("ResNet", stem=net("BasicStem", conv1=layer(3, 64, 7)), **stages)
        rpn = net("StandardRPNHead", conv=nn.Conv2d(256, 256, 3), objectness_logits=nn.Conv2d(256, 3, 1),
                  anchor_deltas=nn.Conv2d(256, 12, 1))
        heads = net("StandardROIHeads", box_head=net("FastRCNNConvFCHead", fc1=linear(12544, 1024),
                                                     fc2=linear(1024, 1024)),
                    box_predictor=net("FastRCNNOutputLayers", cls_score=linear(1024, 81), bbox_pred=linear(1024, 320)),
                    mask_head=net("MaskRCNNConvUpsampleHead",
                                  **{f"mask_fcn{i}": nn.Conv2d(256, 256, 3) for i in (1, 2, 3, 4)},
                                  deconv=nn.ConvTranspose2d(256, 256, 2), predictor=nn.Conv2d(256, 80, 1)))
        return net("GeneralizedRCNN", backbone=net("FPN", **fpn, bottom_up=bottom),
                   proposal_generator=net("RPN", rpn_head=rpn), roi_heads=heads)

    def mm():
        def module(*sizes):
            return net("ConvModule", conv=nn.Conv2d(*sizes))
        made = resnet(nn.BatchNorm2d)
        del made.fc
        neck = net("FPN", lateral_convs=[module(n, 256, 1) for n in (256, 512, 1024, 2048)],
                   fpn_convs=[module(256, 256, 3) for _ in range(4)])
        rpn = net("RPNHead", rpn_conv=nn.Conv2d(256, 256, 3), rpn_cls=nn.Conv2d(256, 3, 1),
                  rpn_reg=nn.Conv2d(256, 12, 1))
        box = net("Shared2FCBBoxHead", fc_cls=linear(1024, 81), fc_reg=linear(1024, 320),
                  shared_fcs=[linear(12544, 1024), linear(1024, 1024)])
        mask = net("FCNMaskHead", convs=[module(256, 256, 3) for _ in range(4)],
                   upsample=nn.ConvTranspose2d(256, 256, 2), conv_logits=nn.Conv2d(256, 80, 1))
        return net("MaskRCNN", backbone=made, neck=neck, rpn_head=rpn,
                   roi_head=net("StandardRoIHead", bbox_head=box, mask_head=mask))
    listings(f, torchvision=with_torchvision(91), torchvision_5=with_torchvision(5),
             detectron=(detectron, "facebookresearch/detectron2 GeneralizedRCNN"),
             mm=(mm, "open-mmlab/mmdetection MaskRCNN"), resnet=lambda: resnet(nn.BatchNorm2d))
    f.wrapped("mm_file", "mm", "state_dict.")
    # Until torchvision 0.13 the convolutions were no pairs with a norm.
    changed(f, "published", "torchvision", [(r"(_blocks\.\d+)\.0\.", r"\1."),
                                            (r"^rpn\.head\.conv\.0\.0", "rpn.head.conv"),
                                            (r"mask_head\.(\d)\.0\.", lambda m: f"mask_head.mask_fcn{int(m[1]) + 1}.")])
    f.wrapped("trained", "detectron", "model.", [["iteration", "i64", [], ""]])
    blocks = [(i, j) for i, n in enumerate(depths) for j in range(n)]

    def backbone(prefix):
        """The residual network, from torchvision's names to detectron2's."""
        inner = [(f"{x}{k}", f"conv{k}{y}") for k in (1, 2, 3) for x, y in (("bn", ".norm"), ("conv", ""))]
        inner += [("downsample.1", "shortcut.norm"), ("downsample.0", "shortcut")]
        bottom = "backbone.bottom_up."
        return [(prefix + "bn1", bottom + "stem.conv1.norm"), (prefix + "conv1", bottom + "stem.conv1"),
                *((f"{prefix}layer{i + 1}.{j}.{x}", f"{bottom}res{i + 2}.{j}.{y}") for i, j in blocks
                  for x, y in inner)]
    d = "roi_heads."
    common = ways(*backbone("backbone."), *(
        pair for i in range(4) for pair in (
            (f"neck.lateral_convs.{i}.conv", f"backbone.fpn_lateral{i + 2}"),
            (f"neck.fpn_convs.{i}.conv", f"backbone.fpn_output{i + 2}"),
            (f"roi_head.mask_head.convs.{i}.conv", f"{d}mask_head.mask_fcn{i + 1}"))),
        ("rpn_head.rpn_conv", "proposal_generator.rpn_head.conv"),
        ("rpn_head.rpn_cls", "proposal_generator.rpn_head.objectness_logits"),
        ("rpn_head.rpn_reg", "proposal_generator.rpn_head.anchor_deltas"),
        ("roi_head.bbox_head.shared_fcs.0", d + "box_head.fc1"),
        ("roi_head.bbox_head.shared_fcs.1", d + "box_head.fc2"),
        ("roi_head.bbox_head.fc_cls", d + "box_predictor.cls_score"),
        ("roi_head.bbox_head.fc_reg", d + "box_predictor.bbox_pred"),
        ("roi_head.mask_head.upsample", d + "mask_head.deconv"),
        ("roi_head.mask_head.conv_logits", d + "mask_head.predictor"))
    other = ways(*backbone("backbone.body."), *(
        pair for i in range(4) for pair in (
            (f"backbone.fpn.inner_blocks.{i}.0", f"backbone.fpn_lateral{i + 2}"),
            (f"backbone.fpn.layer_blocks.{i}.0", f"backbone.fpn_output{i + 2}"),
            (f"{d}mask_head.{i}.0", f"{d}mask_head.mask_fcn{i + 1}"))),
        ("rpn.head.conv.0.0", "proposal_generator.rpn_head.conv"),
        ("rpn.head.cls_logits", "proposal_generator.rpn_head.objectness_logits"),
        ("rpn.head.bbox_pred", "proposal_generator.rpn_head.anchor_deltas"),
        (d + "box_head.fc6", d + "box_head.fc1"), (d + "box_head.fc7", d + "box_head.fc2"),
        (d + "mask_predictor.conv5_mask", d + "mask_head.deconv"))
    # torchvision counts the background and the ids without objects among its classes.
    classes = ["box_predictor", r"mask_head\.predictor", "mask_fcn_logits"]
    modern = [(r"(_blocks\.\d+)\.(?=\w)", r"\1.0."), (r"^rpn\.head\.conv", "rpn.head.conv.0.0"),
              (r"mask_fcn(\d)\.", lambda m: f"{int(m[1]) - 1}.0.")]
    f.case("mm_to_detectron", "mm_file", "detectron", "wrapped", [strip("state_dict.")] + common[0])
    f.case("mm_to_detectron_burn", "mm", "detectron", "renamed", common[0], layout="burn")
    f.case("detectron_to_mm", "detectron", "mm", "renamed", common[1], unfed=tracked, sorted_file=False)
    f.case("trained_to_torchvision", "trained", "torchvision", "head", [strip("model.")] + other[1],
           unfed=tracked + classes)
    f.case("published_to_5_classes", "published", "torchvision_5", "head", modern, unfed=classes, sorted_file=False)
    f.case("resnet_to_detectron", "resnet", "detectron", "head", ways(*backbone(""))[0],
           unfed=["fpn_", "^proposal", "^roi"])

    def upgraded(state):
        """torchvision renames old files when it loads them."""
        model = with_torchvision(5)()
        model.load_state_dict({n: t for n, t in state.items() if not re.search("|".join(classes), n)}, strict=False)
        return model.state_dict()

    def converted(state):
        """The steps of detectron2's convert-torchvision-to-d2."""
        result = {}
        for name, tensor in state.items():
            name = name if "layer" in name else "stem." + name
            for i in (1, 2, 3, 4):
                name = name.replace(f"layer{i}", f"res{i + 1}")
            for i in (1, 2, 3):
                name = name.replace(f"bn{i}", f"conv{i}.norm")
            name = name.replace("downsample.0", "shortcut").replace("downsample.1", "shortcut.norm")
            result["backbone.bottom_up." + name] = tensor
        return result
    renamed(f, "published_to_5_classes", upgraded)
    renamed(f, "resnet_to_detectron", converted)
    write(f)


if __name__ == "__main__":
    for make in (squeeze_and_excitation, big_transfer, mask_r_cnn):
        make()
