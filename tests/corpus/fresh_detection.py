# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: detectors. YOLOX, FCOS, and DETR for mmdetection.

Checked by forward passes: Megvii's YOLOX (retyped) against mmdetection's whole network, torchvision's FCOS against
mmdetection's (classes and centerness), DETR's layers and heads against mmdetection's. The names of tianzhi0549/FCOS are
those of its published files; the typed struct defines itself."""
import torch
import torchvision
from torch import nn
from torchvision.ops import FrozenBatchNorm2d

from fresh_lib import Fresh, Table, adam, alike, linear, net, on_cpu, open_mmlab, param, seq
from fresh_text import lines


def mmdet(config):
    def make():
        open_mmlab()
        import mmdet.models  # noqa: F401
        from mmdet.registry import MODELS
        return MODELS.build(config())
    return on_cpu(make)


def yolox():
    f = Fresh("yolox", "mmdet")

    def with_mm(classes=6):
        return mmdet(lambda: dict(
            type="YOLOX", backbone=dict(type="CSPDarknet", deepen_factor=0.33, widen_factor=0.125),
            neck=dict(type="YOLOXPAFPN", in_channels=[32, 64, 128], out_channels=32, num_csp_blocks=1),
            bbox_head=dict(type="YOLOXHead", num_classes=classes, in_channels=32, feat_channels=32)))

    def conv(a, b, k=1, s=1):
        return net("BaseConv", conv=nn.Conv2d(a, b, k, s, k // 2, bias=False), bn=nn.BatchNorm2d(b, eps=1e-3))

    def csp(a, b, n=1):
        return net("CSPLayer", conv1=conv(a, b // 2), conv2=conv(a, b // 2), conv3=conv(b, b), m=seq(*(
            net("Bottleneck", conv1=conv(b // 2, b // 2), conv2=conv(b // 2, b // 2, 3)) for _ in range(n))))

    def megvii(classes=6):
        """Megvii-BaseDetection/YOLOX, yolox/models"""
        def make():
            dark = net("CSPDarknet", stem=net("Focus", conv=conv(12, 8, 3)), dark2=seq(conv(8, 16, 3, 2), csp(16, 16)),
                       dark3=seq(conv(16, 32, 3, 2), csp(32, 32, 3)), dark4=seq(conv(32, 64, 3, 2), csp(64, 64, 3)),
                       dark5=seq(conv(64, 128, 3, 2), net("SPPBottleneck", conv1=conv(128, 64), conv2=conv(256, 128)),
                                 csp(128, 128)))
            neck = net("YOLOPAFPN", backbone=dark, lateral_conv0=conv(128, 64), C3_p4=csp(128, 64),
                       reduce_conv1=conv(64, 32), C3_p3=csp(64, 32), bu_conv2=conv(32, 32, 3, 2), C3_n3=csp(64, 64),
                       bu_conv1=conv(64, 64, 3, 2), C3_n4=csp(128, 128))

            def towers():
                return [seq(conv(32, 32, 3), conv(32, 32, 3)) for _ in range(3)]

            def preds(n):
                return [nn.Conv2d(32, n, 1) for _ in range(3)]
            return net("YOLOX", backbone=neck, head=net(
                "YOLOXHead", cls_convs=towers(), reg_convs=towers(), cls_preds=preds(classes), reg_preds=preds(4),
                obj_preds=preds(1), stems=[conv(n, 32) for n in (32, 64, 128)]))
        return make
    f.add(mm=with_mm(), mm_2=with_mm(2), megvii=(megvii(), "Megvii-BaseDetection/YOLOX YOLOX"),
          megvii_2=(megvii(2), "Megvii-BaseDetection/YOLOX YOLOX"))
    f.wrapped("megvii_file", "megvii", "model.", adam(f, "megvii", "optimizer.state."))
    f.wrapped("mm_file", "mm", "state_dict.", [["state_dict.ema_" + n.replace(".", "_"), *rest]
                                               for n, *rest in f.get("mm")])
    inner = {"conv1": "main_conv", "conv2": "short_conv", "conv3": "final_conv"}
    pairs = [("backbone.backbone.stem.**", "backbone.stem.**")]

    def layer(a, b):
        return [(f"{a}.{x}.@.@", f"{b}.{y}.@.@") for x, y in inner.items()] + [(f"{a}.m.**", f"{b}.blocks.**")]
    for i in (2, 3, 4, 5):
        a, b = f"backbone.backbone.dark{i}", f"backbone.stage{i - 1}"
        pairs += [(f"{a}.0.**", f"{b}.0.**")]
        pairs += layer(f"{a}.1", f"{b}.1") if i < 5 else [(f"{a}.1.**", f"{b}.1.**")] + layer(f"{a}.2", f"{b}.2")
    for a, b in (("C3_p4", "top_down_blocks.0"), ("C3_p3", "top_down_blocks.1"), ("C3_n3", "bottom_up_blocks.0"),
                 ("C3_n4", "bottom_up_blocks.1")):
        pairs += layer(f"backbone.{a}", f"neck.{b}")
    pairs += [(f"backbone.{a}.**", f"neck.{b}.**") for a, b in (
        ("lateral_conv0", "reduce_layers.0"), ("reduce_conv1", "reduce_layers.1"), ("bu_conv2", "downsamples.0"),
        ("bu_conv1", "downsamples.1"))] + [("head.stems.**", "neck.out_convs.**")]
    pairs += [(f"head.{x}_convs.**", f"bbox_head.multi_level_{x}_convs.**") for x in ("cls", "reg")]
    pairs += [(f"head.{x}_preds.**", f"bbox_head.multi_level_conv_{x}.**") for x in ("cls", "reg", "obj")]
    # `@` may stand for one word only, so these lines are written out.
    pairs = [(a.replace("@.@", f"{x}.{y}"), b.replace("@.@", f"{x}.{y}")) for a, b in pairs
             for x, ys in (("conv", ["weight"]), ("bn", ["weight", "bias", "running_mean", "running_var",
                                                         "num_batches_tracked"])) for y in ys
             if "@" in a or (x, y) == ("conv", "weight")]
    table = Table(lines("%s = %s", pairs))
    f.pair("megvii_to_mm", "megvii", "mm", table, sorted_file=False)
    f.pair("mm_to_megvii", "mm", "megvii", table, back=True)
    f.pair("megvii_file_to_mm_2_classes", "megvii_file", "mm_2", table, kind="head", strip=r"^model\.",
           unfed=["multi_level_conv_cls"], spare=["^optimizer", "cls_preds"], sorted_file=False)
    f.pair("mm_file_to_megvii", "mm_file", "megvii", table, back=True, kind="wrapped", strip=r"^state_dict\.(?!ema_)",
           spare=[r"^state_dict\.ema_"], sorted_file=False)

    def act(part, x):
        return nn.functional.silu(part.bn(part.conv(x)))

    def through(part, x):
        y = act(part.conv1, x)
        for b in part.m:
            y = (y if add else 0) + act(b.conv2, act(b.conv1, y))
        return act(part.conv3, torch.cat([y, act(part.conv2, x)], 1))
    add = True

    def ask_megvii(m):
        nonlocal add
        add, d = True, m.backbone.backbone
        x = act(d.stem.conv, torch.cat([image[..., ::2, ::2], image[..., 1::2, ::2], image[..., ::2, 1::2],
                                        image[..., 1::2, 1::2]], 1))
        levels = []
        for stage in (d.dark2, d.dark3, d.dark4):
            x = through(stage[1], act(stage[0], x))
            levels.append(x)
        x = act(d.dark5[1].conv1, act(d.dark5[0], x))
        x = act(d.dark5[1].conv2, torch.cat([x] + [nn.functional.max_pool2d(x, k, 1, k // 2) for k in (5, 9, 13)], 1))
        add, (_, three, four), n = False, levels, m.backbone
        five = act(n.lateral_conv0, through(d.dark5[2], x))
        up = nn.functional.interpolate
        p4 = act(n.reduce_conv1, through(n.C3_p4, torch.cat([up(five, scale_factor=2), four], 1)))
        p3 = through(n.C3_p3, torch.cat([up(p4, scale_factor=2), three], 1))
        n3 = through(n.C3_n3, torch.cat([act(n.bu_conv2, p3), p4], 1))
        n4 = through(n.C3_n4, torch.cat([act(n.bu_conv1, n3), five], 1))
        out = []
        for i, x in enumerate((p3, n3, n4)):
            x = act(m.head.stems[i], x)
            c, r = ((lambda t: act(t[1], act(t[0], x)))(t[i]) for t in (m.head.cls_convs, m.head.reg_convs))
            out += [m.head.cls_preds[i](c), m.head.reg_preds[i](r), m.head.obj_preds[i](r)]
        return torch.cat([x.flatten(1) for x in out], 1)

    def ask_mm(m):
        found = m.bbox_head(m.neck(m.backbone(image)))
        return torch.cat([x.flatten(1) for level in zip(*found) for x in level], 1)
    image = torch.randn(2, 3, 64, 64)
    alike(f, "megvii_to_mm", megvii(), with_mm(), ask_megvii, ask_mm)
    f.write()


def resnet(norm=nn.BatchNorm2d, blocks=(2, 2, 2, 2)):
    made = torchvision.models.ResNet(torchvision.models.resnet.BasicBlock, list(blocks), norm_layer=norm)
    del made.fc
    return made


def fcos():
    from torchvision.models.detection import FCOS
    from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
    from torchvision.ops.feature_pyramid_network import LastLevelP6P7
    f = Fresh("fcos", "torchvision", "mmdet")

    def vision(classes=6):
        def make():
            body = torchvision.models.ResNet(torchvision.models.resnet.BasicBlock, [2, 2, 2, 2])
            return FCOS(_resnet_fpn_extractor(body, 5, returned_layers=[2, 3, 4],
                                              extra_blocks=LastLevelP6P7(256, 256)), classes)
        return make

    def with_mm(classes=6):
        return mmdet(lambda: dict(
            type="FCOS", backbone=dict(type="ResNet", depth=18, norm_cfg=dict(type="BN", requires_grad=True)),
            neck=dict(type="FPN", in_channels=[64, 128, 256, 512], out_channels=256, start_level=1,
                      add_extra_convs="on_output", num_outs=5, relu_before_extra_convs=True),
            bbox_head=dict(type="FCOSHead", num_classes=classes, in_channels=256, stacked_convs=4,
                           centerness_on_reg=True, conv_bias=True)))

    def tianzhi(classes=6):
        """tianzhi0549/FCOS, on top of maskrcnn-benchmark, with its frozen norms."""
        def tower():
            return seq(*(part for _ in range(4) for part in (nn.Conv2d(256, 256, 3), nn.GroupNorm(32, 256), None)))

        def make():
            body = resnet(FrozenBatchNorm2d)
            levels = {}
            for i, n in ((2, 128), (3, 256), (4, 512)):
                levels |= {f"fpn_inner{i}": nn.Conv2d(n, 256, 1), f"fpn_layer{i}": nn.Conv2d(256, 256, 3)}
            stages = {f"layer{i}": getattr(body, f"layer{i}") for i in (1, 2, 3, 4)}
            head = net("FCOSHead", cls_tower=tower(), bbox_tower=tower(), cls_logits=nn.Conv2d(256, classes, 3),
                       bbox_pred=nn.Conv2d(256, 4, 3), centerness=nn.Conv2d(256, 1, 3),
                       scales=[net("Scale", scale=param(1)) for _ in range(5)])
            return net("GeneralizedRCNN", backbone=net("Sequential", body=net(
                "ResNet", stem=net("StemWithFixedBatchNorm", conv1=body.conv1, bn1=body.bn1), **stages), fpn=net(
                    "FPN", **levels, top_blocks=net("LastLevelP6P7", p6=nn.Conv2d(256, 256, 3),
                                                    p7=nn.Conv2d(256, 256, 3)))), rpn=net("FCOSModule", head=head))
        return make
    f.add(torchvision=vision(), torchvision_80=vision(80), mm=with_mm(),
          tianzhi=(tianzhi(), "tianzhi0549/FCOS GeneralizedRCNN"),
          speech=(lambda: net("Speech", lstm=nn.LSTM(40, 64, 2, bidirectional=True), letters=linear(128, 29)),
                  "a recognizer of speech"))
    f.wrapped("tianzhi_file", "tianzhi", "model.module.")
    f.wrapped("mm_file", "mm", "state_dict.")
    mm, own = [("backbone.body.**", "backbone.**")], [("backbone.body.conv1", "backbone.body.stem.conv1"),
                                                      ("backbone.body.bn1", "backbone.body.stem.bn1")]
    for i in range(3):
        mm += [(f"backbone.fpn.inner_blocks.{i}.0", f"neck.lateral_convs.{i}.conv"),
               (f"backbone.fpn.layer_blocks.{i}.0", f"neck.fpn_convs.{i}.conv")]
        own += [(f"backbone.fpn.inner_blocks.{i}.0", f"backbone.fpn.fpn_inner{i + 2}"),
                (f"backbone.fpn.layer_blocks.{i}.0", f"backbone.fpn.fpn_layer{i + 2}")]
    for i, p in enumerate(("p6", "p7")):
        mm.append((f"backbone.fpn.extra_blocks.{p}", f"neck.fpn_convs.{i + 3}.conv"))
        own.append((f"backbone.fpn.extra_blocks.{p}", f"backbone.fpn.top_blocks.{p}"))
    for head, short, tower in (("classification", "cls", "cls"), ("regression", "reg", "bbox")):
        for i in range(4):
            mm += [(f"head.{head}_head.conv.{3 * i}", f"bbox_head.{short}_convs.{i}.conv"),
                   (f"head.{head}_head.conv.{3 * i + 1}", f"bbox_head.{short}_convs.{i}.gn")]
        own.append((f"head.{head}_head.conv.**", f"rpn.head.{tower}_tower.**"))
    for a, b, c in (("classification_head.cls_logits", "conv_cls", "cls_logits"),
                    ("regression_head.bbox_reg", "conv_reg", "bbox_pred"),
                    ("regression_head.bbox_ctrness", "conv_centerness", "centerness")):
        mm.append((f"head.{a}", f"bbox_head.{b}"))
        own.append((f"head.{a}", f"rpn.head.{c}"))
    own.append(("backbone.body.layer**", "backbone.body.layer**"))
    to_mm, to_own = Table(lines("%s = %s", mm)), Table(lines("%s = %s", own))
    scales, count = [r"scales\."], ["num_batches_tracked"]
    f.pair("torchvision_to_mm", "torchvision", "mm", to_mm, kind="numbered", unfed=scales)
    f.pair("mm_file_to_torchvision", "mm_file", "torchvision", to_mm, back=True, kind="wrapped",
           strip=r"^state_dict\.", spare=scales, sorted_file=False)
    f.pair("tianzhi_file_to_torchvision", "tianzhi_file", "torchvision", to_own, back=True, kind="wrapped",
           strip=r"^model\.module\.", unfed=count, spare=scales, sorted_file=False)
    f.pair("torchvision_to_tianzhi", "torchvision", "tianzhi", to_own, unfed=scales, spare=count)
    f.pair("tianzhi_to_80_classes", "tianzhi", "torchvision_80", to_own, back=True, kind="head",
           unfed=count + ["cls_logits"], spare=scales + ["cls_logits"])
    f.unrelated("speech_to_torchvision", "speech", "torchvision", sorted_file=False)

    def ask_vision(m):
        found = m.head(list(m.backbone(image).values()))
        return torch.cat([x.flatten(1) for x in (found["cls_logits"], found["bbox_ctrness"])], 1)

    def ask_mm(m):
        found = m.bbox_head(m.neck(m.backbone(image)))
        return torch.cat([torch.cat([x.permute(0, 2, 3, 1).flatten(1) for x in found[i]], 1) for i in (0, 2)], 1)
    image = torch.randn(1, 3, 128, 128)
    alike(f, "torchvision_to_mm", vision(), with_mm(), ask_vision, ask_mm)
    f.write()


d, hidden = 32, 72


def attends(what):
    return {f"{what}_cfg": dict(embed_dims=d, num_heads=4, dropout=0., batch_first=True)}


def detr():
    f = Fresh("detr_ports", "torchvision", "mmdet")
    ffn = dict(ffn_cfg=dict(embed_dims=d, feedforward_channels=hidden, num_fcs=2, ffn_drop=0.,
                            act_cfg=dict(type="ReLU", inplace=True)))

    def with_mm(classes=6):
        return mmdet(lambda: dict(
            type="DETR", num_queries=9, backbone=dict(type="ResNet", depth=18, out_indices=(3,), norm_cfg=dict(
                type="BN", requires_grad=False)), neck=dict(type="ChannelMapper", in_channels=[512], kernel_size=1,
                                                            out_channels=d, act_cfg=None, norm_cfg=None, num_outs=1),
            encoder=dict(num_layers=2, layer_cfg=dict(**attends("self_attn"), **ffn)),
            decoder=dict(num_layers=2, layer_cfg=dict(**attends("self_attn"), **attends("cross_attn"), **ffn),
                         return_intermediate=True), positional_encoding=dict(num_feats=d // 2, normalize=True),
            bbox_head=dict(type="DETRHead", num_classes=classes, embed_dims=d, loss_cls=dict(
                type="CrossEntropyLoss", bg_cls_weight=0.1, class_weight=1.0))))

    def original(classes=6):
        """facebookresearch/detr, models/detr.py; its layers have the names of PyTorch's."""
        encoder, decoder = ([kind(d, 4, hidden, 0., batch_first=True) for _ in range(2)]
                            for kind in (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer))
        return lambda: net("DETR", transformer=net(
            "Transformer", encoder=net("TransformerEncoder", layers=encoder),
            decoder=net("TransformerDecoder", layers=decoder, norm=nn.LayerNorm(d))),
            class_embed=linear(d, classes + 1), bbox_embed=net("MLP", layers=[linear(d, d), linear(d, d),
                                                                             linear(d, 4)]),
            query_embed=nn.Embedding(9, d), input_proj=nn.Conv2d(512, d, 1), backbone=nn.ModuleList([
                net("Backbone", body=resnet(FrozenBatchNorm2d))]))

    def struct(layers=2):
        """A typed model of one's own, the backbone apart."""
        def attention(name):
            return {f"{name}_{x}": linear(d, d) for x in ("q", "k", "v", "o")} | {f"{name}_norm": nn.LayerNorm(d)}

        def ffn():
            return dict(mlp_1=linear(d, hidden), mlp_2=linear(hidden, d), mlp_norm=nn.LayerNorm(d))
        return lambda: net("Detr", features=resnet(FrozenBatchNorm2d), project=nn.Conv2d(512, d, 1), encoder=[
            net("EncoderLayer", **attention("self"), **ffn()) for _ in range(layers)], decoder=[
                net("DecoderLayer", **attention("self"), **attention("cross"), **ffn()) for _ in range(layers)],
            decoder_norm=nn.LayerNorm(d), queries=nn.Embedding(9, d), classes=linear(d, 7), box_1=linear(d, d),
            box_2=linear(d, d), box_3=linear(d, 4))
    f.add(mm=with_mm(), mm_2=with_mm(2), original=(original(), "facebookresearch/detr DETR"),
          struct=(struct(), "typed model"), struct_4=(struct(4), "typed model"))
    f.wrapped("mm_file", "mm", "state_dict.")
    f.wrapped("release", "original", "model.")
    rows = [("query_embed", "query_embedding", "queries"), ("input_proj", "neck.convs.0.conv", "project"),
            ("class_embed", "bbox_head.fc_cls", "classes"),
            ("bbox_embed.layers.0", "bbox_head.reg_ffn.layers.0.0", "box_1"),
            ("bbox_embed.layers.1", "bbox_head.reg_ffn.layers.1", "box_2"),
            ("bbox_embed.layers.2", "bbox_head.fc_reg", "box_3"),
            ("transformer.decoder.norm", "decoder.post_norm", "decoder_norm"),
            ("backbone.0.body.**", "backbone.**", "features.**")]
    fused = []
    for side, names in (("encoder", ["self"]), ("decoder", ["self", "cross"])):
        t, m, s = f"transformer.{side}.layers.{{i}}.", f"{side}.layers.{{i}}.", f"{side}.{{i}}."
        for k, name in enumerate(names):
            own = {"self": "self_attn", "cross": "multihead_attn"}[name]
            rows += [(f"{t}{own}.out_proj", f"{m}{name}_attn.attn.out_proj", f"{s}{name}_o"),
                     (f"{t}norm{k + 1}", f"{m}norms.{k}", f"{s}{name}_norm")]
            fused += [(f"{t}{own}.in_proj_{w}", f"{m}{name}_attn.attn.in_proj_{w}", [
                f"{s}{name}_{x}.{w}" for x in "qkv"]) for w in ("weight", "bias")]
        rows += [(f"{t}linear1", f"{m}ffn.layers.0.0", f"{s}mlp_1"), (f"{t}linear2", f"{m}ffn.layers.1", f"{s}mlp_2"),
                 (f"{t}norm{len(names) + 1}", f"{m}norms.{len(names)}", f"{s}mlp_norm")]
    to_mm = Table(lines("%s = %s", [(a, b) for a, b, _ in rows + fused]))
    to_struct = Table(lines("%s = %s", [(a, c) for a, _, c in rows] + [(a, " + ".join(c)) for a, _, c in fused]))
    mm_struct = Table(lines("%s = %s", [(b, c) for _, b, c in rows] + [(b, " + ".join(c)) for _, b, c in fused]))
    count = ["num_batches_tracked"]
    f.pair("original_to_mm", "original", "mm", to_mm, unfed=count)
    f.pair("mm_file_to_original", "mm_file", "original", to_mm, back=True, kind="wrapped", strip=r"^state_dict\.",
           spare=count, sorted_file=False)
    f.pair("release_to_struct_burn", "release", "struct", to_struct, kind="wrapped", strip=r"^model\.", layout="burn",
           sorted_file=False)
    f.pair("mm_to_longer_struct", "mm", "struct_4", mm_struct, kind="depth", unfed=[r"coder\.[23]\."], spare=count)
    f.pair("original_to_mm_2_classes", "original", "mm_2", to_mm, kind="head", unfed=count + ["fc_cls"],
           spare=["class_embed"])

    def ask_original(m):
        x, q = memory, m.query_embed.weight[None].expand(2, -1, -1)
        for layer in m.transformer.encoder.layers:
            x = layer(x)
        for layer in m.transformer.decoder.layers:
            q = layer(q, x)
        q = m.transformer.decoder.norm(q)
        a, b, c = m.bbox_embed.layers
        return torch.cat([m.class_embed(q), c(torch.relu(b(torch.relu(a(q)))))], -1)

    def ask_mm(m):
        x, q = memory, m.query_embedding.weight[None].expand(2, -1, -1)
        x = m.encoder(query=x, query_pos=torch.zeros_like(x), key_padding_mask=None)
        q = m.decoder(query=q, key=x, value=x, query_pos=torch.zeros_like(q), key_pos=torch.zeros_like(x),
                      key_padding_mask=None)[-1]
        return torch.cat([m.bbox_head.fc_cls(q), m.bbox_head.fc_reg(torch.relu(m.bbox_head.reg_ffn(q)))], -1)
    memory = torch.randn(2, 12, d)
    alike(f, "original_to_mm", original(), with_mm(), ask_original, ask_mm)
    f.write()


if __name__ == "__main__":
    for make in (yolox, fcos, detr):
        make()
