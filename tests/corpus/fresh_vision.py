# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: ViT, ConvNeXt and MobileNetV2 between implementations that the other sets do not have.

Checked by forward passes: mmpretrain against timm (ViT, ConvNeXt) and torchvision (MobileNetV2), the ViT of
pytorch_pretrained_vit against transformers, pytorchcv's MobileNetV2 against torchvision. jeonsworld's ViT was compared
with its source and by a forward pass of the retyped class. The typed structs define themselves."""
import timm.models.convnext
import timm.models.vision_transformer
import torch
import torchvision
import transformers as hf
from torch import nn

from fresh_lib import Fresh, Table, adam, alike, attention, linear, net, on_cpu, open_mmlab, param
from fresh_text import lines

d, hidden, tokens = 48, 128, 17
image = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(1))


def with_timm(layers=3, classes=10):
    return lambda: timm.models.vision_transformer.VisionTransformer(
        img_size=32, patch_size=8, embed_dim=d, depth=layers, num_heads=4, mlp_ratio=hidden / d, num_classes=classes)


def with_torchvision():
    return torchvision.models.VisionTransformer(32, 8, 3, 4, d, hidden, num_classes=10)


def with_hf(layers=3):
    return lambda: hf.ViTForImageClassification(hf.ViTConfig(
        hidden_size=d, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=hidden, image_size=32,
        patch_size=8, num_labels=10))


def with_mm(classes=10):
    def make():
        open_mmlab()
        from mmpretrain.models.backbones import VisionTransformer
        from mmpretrain.models.heads import VisionTransformerClsHead
        return net("ImageClassifier", backbone=VisionTransformer(arch=dict(
            embed_dims=d, num_layers=3, num_heads=4, feedforward_channels=hidden), img_size=32, patch_size=8),
            head=VisionTransformerClsHead(classes, d))
    return on_cpu(make)


def luke(layers=3):
    def make():
        import pytorch_pretrained_vit
        pytorch_pretrained_vit.model.resize_positional_embedding = False  # The class asks for it and has none.
        return pytorch_pretrained_vit.ViT(image_size=32, patches=8, dim=d, ff_dim=hidden, num_heads=4,
                                          num_layers=layers, num_classes=10)
    return on_cpu(make)


def jeons(classes=10):
    """jeonsworld/ViT-pytorch, models/modeling.py"""
    def layer():
        return net("Block", attention_norm=nn.LayerNorm(d, 1e-6), ffn_norm=nn.LayerNorm(d, 1e-6), ffn=net(
            "Mlp", fc1=linear(d, hidden), fc2=linear(hidden, d)), attn=net(
                "Attention", query=linear(d, d), key=linear(d, d), value=linear(d, d), out=linear(d, d)))
    return lambda: net("VisionTransformer", transformer=net("Transformer", embeddings=net(
        "Embeddings", position_embeddings=param(1, tokens, d), cls_token=param(1, 1, d),
        patch_embeddings=nn.Conv2d(3, d, 8, 8)), encoder=net("Encoder", layer=[layer() for _ in range(3)],
                                                             encoder_norm=nn.LayerNorm(d, 1e-6))),
        head=linear(d, classes))


def struct_vit(layers=3, classes=10):
    """A typed model of one's own."""
    def layer():
        return net("Block", norm_a=nn.LayerNorm(d), query=linear(d, d), key=linear(d, d), value=linear(d, d),
                   merge=linear(d, d), norm_b=nn.LayerNorm(d), widen=linear(d, hidden), narrow=linear(hidden, d))
    return lambda: net("Vit", patchify=nn.Conv2d(3, d, 8, 8), summary=param(1, 1, d), places=param(1, tokens, d),
                       blocks=[layer() for _ in range(layers)], norm_c=nn.LayerNorm(d), classes=linear(d, classes))


vit_names = {
    "timm": ("cls_token pos_embed patch_embed.proj blocks.{i} norm1 attn.qkv attn.proj norm2 mlp.fc1 mlp.fc2 norm "
             "head"),
    "mm": ("backbone.cls_token backbone.pos_embed backbone.patch_embed.projection backbone.layers.{i} ln1 attn.qkv "
           "attn.proj ln2 ffn.layers.0.0 ffn.layers.1 backbone.ln1 head.layers.head"),
    "luke": ("class_token positional_embedding.pos_embedding patch_embedding transformer.blocks.{i} norm1 "
             "attn.proj_q,attn.proj_k,attn.proj_v proj norm2 pwff.fc1 pwff.fc2 norm fc"),
    "jeons": ("transformer.embeddings.cls_token transformer.embeddings.position_embeddings "
              "transformer.embeddings.patch_embeddings transformer.encoder.layer.{i} attention_norm "
              "attn.query,attn.key,attn.value attn.out ffn_norm ffn.fc1 ffn.fc2 transformer.encoder.encoder_norm head"),
    "hub": ("vit.embeddings.cls_token vit.embeddings.position_embeddings vit.embeddings.patch_embeddings.projection "
            "vit.encoder.layer.{i} layernorm_before attention.attention.query,attention.attention.key,"
            "attention.attention.value attention.output.dense layernorm_after intermediate.dense output.dense "
            "vit.layernorm classifier"),
    "struct": ("summary places patchify blocks.{i} norm_a query,key,value merge norm_b widen narrow norm_c classes"),
}


def vit_table(a, b):
    a, b = ([n.split(",") for n in vit_names[x].split()] for x in (a, b))
    pairs = []
    for i, (x, y) in enumerate(zip(a, b)):
        if i == 3:
            continue
        x, y = ([f"{side[3][0]}.{n}" for n in names] if 3 < i < 10 else names for side, names in ((a, x), (b, y)))
        pairs += list(zip(x, y)) if len(x) == len(y) else [(" + ".join(x), " + ".join(y))]
    return Table(lines("%s = %s", pairs))


def vit():
    f = Fresh("vit_ports", "timm", "torchvision", "transformers", "mmpretrain", "pytorch-pretrained-vit")
    f.add(timm=with_timm(), timm_12=with_timm(12), torchvision=with_torchvision, hub=with_hf(), mm=with_mm(),
          luke=luke(), luke_12=luke(12), jeons=(jeons(), "jeonsworld/ViT-pytorch VisionTransformer"),
          jeons_21=(jeons(21), "jeonsworld/ViT-pytorch VisionTransformer"), struct=(struct_vit(), "typed model"),
          struct_6=(struct_vit(6), "typed model"))
    f.wrapped("mm_file", "mm", "state_dict.", adam(f, "mm"))
    vision = Table("""
        transformer.embeddings.cls_token = class_token
        transformer.embeddings.position_embeddings = encoder.pos_embedding
        transformer.embeddings.patch_embeddings = conv_proj
        transformer.encoder.encoder_norm = encoder.ln
        head = heads.head""" + "".join(f"""
        transformer.encoder.layer.{{i}}.{a} = encoder.layers.encoder_layer_{{i}}.{b}""" for a, b in (
            ("attention_norm", "ln_1"), ("ffn_norm", "ln_2"), ("attn.out", "self_attention.out_proj"),
            ("ffn.fc1", "mlp.0"), ("ffn.fc2", "mlp.3"))) + "".join("\n" + " + ".join(
                f"transformer.encoder.layer.{{i}}.attn.{x}.{w}" for x in ("query", "key", "value")) +
                f" = encoder.layers.encoder_layer_{{i}}.self_attention.in_proj_{w}" for w in ("weight", "bias")))
    f.pair("mm_file_to_timm", "mm_file", "timm", vit_table("mm", "timm"), kind="wrapped", strip=r"^state_dict\.",
           spare=["^optimizer"], sorted_file=False)
    f.pair("timm_to_mm", "timm", "mm", vit_table("timm", "mm"))
    f.pair("hub_to_luke", "hub", "luke", vit_table("hub", "luke"))
    f.pair("luke_to_timm_12_layers", "luke_12", "timm_12", vit_table("luke", "timm"), kind="fused", sorted_file=False)
    f.pair("jeons_to_torchvision", "jeons", "torchvision", vision, kind="fused", sorted_file=False)
    f.pair("mm_to_struct_burn", "mm", "struct", vit_table("mm", "struct"), kind="fused", layout="burn")
    f.pair("jeons_21_classes_to_struct_burn", "jeons_21", "struct", vit_table("jeons", "struct"), kind="head",
           unfed=["^classes"], spare=["^head"], layout="burn", sorted_file=False)
    f.pair("hub_to_longer_struct", "hub", "struct_6", vit_table("hub", "struct"), kind="depth",
           unfed=[r"^blocks\.[345]\."])

    def ask_jeons(m):
        e = m.transformer.embeddings
        x = torch.cat([e.cls_token.expand(2, -1, -1), e.patch_embeddings(image).flatten(2).mT], 1)
        x = x + e.position_embeddings
        for b in m.transformer.encoder.layer:
            y = b.attention_norm(x)
            x = x + b.attn.out(attention(b.attn.query(y), b.attn.key(y), b.attn.value(y), 4))
            x = x + b.ffn.fc2(nn.functional.gelu(b.ffn.fc1(b.ffn_norm(x))))
        return m.head(m.transformer.encoder.encoder_norm(x)[:, 0])

    def same_norms(file, model):
        for module in [*file.modules(), *model.modules()]:
            if isinstance(module, nn.LayerNorm):
                module.eps = 1e-6
    alike(f, "timm_to_mm", with_timm(), with_mm(), lambda m: m(image), lambda m: m.head(m.backbone(image)), same_norms)
    alike(f, "hub_to_luke", with_hf(), luke(), lambda m: m(image).logits, lambda m: m(image), same_norms)
    alike(f, "jeons_to_torchvision", jeons(), with_torchvision, ask_jeons, lambda m: m(image), same_norms)
    f.write()


# ConvNeXt

sizes, depths = (16, 24, 32, 48), (1, 2, 3, 1)


def convnext():
    f = Fresh("convnext_ports", "timm", "transformers", "mmpretrain")

    def with_timm(depths=depths, classes=10):
        return lambda: timm.models.convnext.ConvNeXt(depths=depths, dims=sizes, num_classes=classes)

    def with_mm():
        open_mmlab()
        from mmpretrain.models.backbones import ConvNeXt
        from mmpretrain.models.heads import LinearClsHead
        return net("ImageClassifier", backbone=ConvNeXt(arch=dict(depths=list(depths), channels=list(sizes))),
                   head=LinearClsHead(10, 48))

    def struct(depths=depths, classes=10):
        """A typed model of one's own: stages counted from one."""
        def block(c):
            return net("Block", depthwise=nn.Conv2d(c, c, 7, groups=c), norm=nn.LayerNorm(c), expand=linear(c, 4 * c),
                       project=linear(4 * c, c), scale=param(c))
        parts = {}
        for i, (c, n) in enumerate(zip(sizes, depths)):
            if i:
                parts |= {f"reduce{i + 1}_norm": nn.LayerNorm(sizes[i - 1]),
                          f"reduce{i + 1}": nn.Conv2d(sizes[i - 1], c, 2)}
            parts[f"stage{i + 1}"] = [block(c) for _ in range(n)]
        return lambda: net("ConvNext", stem=nn.Conv2d(3, sizes[0], 4), stem_norm=nn.LayerNorm(sizes[0]), **parts,
                           norm=nn.LayerNorm(48), classifier=linear(48, classes))

    def with_hf():
        return hf.ConvNextForImageClassification(hf.ConvNextConfig(hidden_sizes=list(sizes), depths=list(depths),
                                                                   num_labels=10))
    f.add(timm=with_timm(), mm=on_cpu(with_mm), hf=with_hf, struct=(struct(), "typed model"),
          struct_5=(struct(classes=5), "typed model"), struct_deep=(struct((1, 2, 4, 1)), "typed model"))
    f.wrapped("mm_file", "mm", "state_dict.", [["ema_state_dict.steps", "i64", [], ""]] + [
        ["ema_state_dict.module." + n, *rest] for n, *rest in f.get("mm")])
    mm_timm = ["backbone.downsample_layers.0.0 = stem.0", "backbone.downsample_layers.0.1 = stem.1",
               "backbone.norm3 = head.norm", "head.fc = head.fc", "backbone.stages.{i}.{j}.gamma = "
               "stages.{i}.blocks.{j}.gamma"]
    mm_hf = ["backbone.downsample_layers.0.0 = convnext.embeddings.patch_embeddings",
             "backbone.downsample_layers.0.1 = convnext.embeddings.layernorm", "backbone.norm3 = convnext.layernorm",
             "head.fc = classifier", "backbone.stages.{i}.{j}.gamma = "
             "convnext.encoder.stages.{i}.layers.{j}.layer_scale_parameter"]
    mm_struct = ["backbone.downsample_layers.0.0 = stem", "backbone.downsample_layers.0.1 = stem_norm",
                 "backbone.norm3 = norm", "head.fc = classifier", "backbone.stages.{i}.{j}.gamma = "
                 "stage{i+1}.{j}.scale"]
    hf_struct = ["convnext.embeddings.patch_embeddings = stem", "convnext.embeddings.layernorm = stem_norm",
                 "convnext.layernorm = norm", "classifier = classifier",
                 "convnext.encoder.stages.{i}.layers.{j}.layer_scale_parameter = stage{i+1}.{j}.scale"]
    for i in (1, 2, 3):
        down = f"backbone.downsample_layers.{i}."
        mm_timm += [f"{down}0 = stages.{i}.downsample.0", f"{down}1 = stages.{i}.downsample.1"]
        mm_hf += [f"{down}{k} = convnext.encoder.stages.{i}.downsampling_layer.{k}" for k in (0, 1)]
        mm_struct += [f"{down}0 = reduce{i + 1}_norm", f"{down}1 = reduce{i + 1}"]
        hf_struct += [f"convnext.encoder.stages.{i}.downsampling_layer.0 = reduce{i + 1}_norm",
                      f"convnext.encoder.stages.{i}.downsampling_layer.1 = reduce{i + 1}"]
    for a, b, c, e in (("depthwise_conv", "conv_dw", "dwconv", "depthwise"), ("norm", "norm", "layernorm", "norm"),
                       ("pointwise_conv1", "mlp.fc1", "pwconv1", "expand"),
                       ("pointwise_conv2", "mlp.fc2", "pwconv2", "project")):
        mm_timm.append(f"backbone.stages.{{i}}.{{j}}.{a} = stages.{{i}}.blocks.{{j}}.{b}")
        mm_hf.append(f"backbone.stages.{{i}}.{{j}}.{a} = convnext.encoder.stages.{{i}}.layers.{{j}}.{c}")
        mm_struct.append(f"backbone.stages.{{i}}.{{j}}.{a} = stage{{i+1}}.{{j}}.{e}")
        hf_struct.append(f"convnext.encoder.stages.{{i}}.layers.{{j}}.{c} = stage{{i+1}}.{{j}}.{e}")
    mm_timm, mm_hf, mm_struct, hf_struct = (Table("\n".join(t)) for t in (mm_timm, mm_hf, mm_struct, hf_struct))
    f.pair("timm_to_mm", "timm", "mm", mm_timm, back=True, kind="numbered")
    f.pair("mm_file_to_hf", "mm_file", "hf", mm_hf, kind="wrapped", strip=r"^state_dict\.", spare=["^ema"],
           sorted_file=False)
    f.pair("hf_to_struct_burn", "hf", "struct", hf_struct, kind="numbered", layout="burn")
    f.pair("mm_to_struct_5_classes", "mm", "struct_5", mm_struct, kind="head", unfed=["^classifier"],
           spare=[r"^head\.fc"])
    f.pair("hf_to_deeper_struct", "hf", "struct_deep", hf_struct, kind="depth", unfed=[r"^stage3\.3\."],
           sorted_file=False)

    def whole(file, model):
        model.backbone.norm3.eps = 1e-6
    alike(f, "timm_to_mm", with_timm(), with_mm, lambda m: m(image), lambda m: m.head(m.backbone(image)), whole)
    f.write()


# MobileNetV2

def mobilenet_v2():
    from pytorchcv.models.mobilenetv2 import get_mobilenetv2
    f = Fresh("mobilenet_v2_ports", "torchvision", "mmpretrain", "pytorchcv")
    plan = [(1, 16, 1), (6, 24, 2), (6, 32, 3), (6, 64, 4), (6, 96, 3), (6, 160, 3), (6, 320, 1)]

    def vision(classes=10):
        return lambda: torchvision.models.MobileNetV2(num_classes=classes)

    def with_mm():
        open_mmlab()
        from mmpretrain.models.backbones import MobileNetV2
        from mmpretrain.models.heads import LinearClsHead
        return net("ImageClassifier", backbone=MobileNetV2(out_indices=(7,)),
                   head=LinearClsHead(10, 1280))

    def keras(classes=10):
        """A typed model with the layer names of Keras."""
        made = vision()()
        parts = {}

        def norm(conv):
            return nn.BatchNorm2d(conv.out_channels)
        for module, name in ((made.features[0][0], "Conv1"), (made.features[18][0], "Conv_1")):
            parts |= {name: module, {"Conv1": "bn_Conv1", "Conv_1": "Conv_1_bn"}[name]: norm(module)}
        last = {n: parts.pop(n) for n in ("Conv_1", "Conv_1_bn")}
        for i in range(1, 18):
            convs = [m for m in made.features[i].modules() if isinstance(m, nn.Conv2d)]
            name = "expanded_conv" if i == 1 else f"block_{i - 1}"
            for conv, what in zip(reversed(convs), ("project", "depthwise", "expand")):
                last |= {f"{name}_{what}": conv, f"{name}_{what}_BN": norm(conv)}
        order = [f"{n}_{w}{b}" for n in ["expanded_conv"] + [f"block_{i}" for i in range(1, 17)]
                 for w in ("expand", "depthwise", "project") for b in ("", "_BN") if f"{n}_{w}" in last]
        return net("MobileNetV2", **parts, **{n: last[n] for n in order}, Conv_1=last["Conv_1"],
                   Conv_1_bn=last["Conv_1_bn"], predictions=linear(1280, classes))
    f.add(torchvision=vision(), torchvision_3=vision(3), mm=on_cpu(with_mm),
          keras=(keras, "typed model named as in Keras"),
          pytorchcv=lambda: get_mobilenetv2(1.0, remove_exp_conv=True, num_classes=10))
    f.wrapped("mm_file", "mm", "state_dict.")
    f.wrapped("parallel", "torchvision", "state_dict.module.", adam(f, "torchvision", "optimizer_state."))
    to_mm, to_keras, to_cv = [], [], []
    for k, (conv, norm) in ((0, ("Conv1", "bn_Conv1")), (18, ("Conv_1", "Conv_1_bn"))):
        cv = "features.init_block" if k == 0 else "features.final_block"
        to_mm += [(f"features.{k}.0", f"backbone.conv{1 if k == 0 else 2}.conv"),
                  (f"features.{k}.1", f"backbone.conv{1 if k == 0 else 2}.bn")]
        to_keras += [(f"features.{k}.0", conv), (f"features.{k}.1", norm)]
        to_cv += [(f"features.{k}.0", cv + ".conv"), (f"features.{k}.1", cv + ".bn")]
    # pytorchcv has five stages, the others seven groups of blocks.
    stages = iter([(1, 1)] + [(2, 1), (2, 2)] + [(3, i) for i in (1, 2, 3)] + [(4, i) for i in range(1, 8)] +
                  [(5, i) for i in (1, 2, 3, 4)])
    k = 0
    for group, (_, _, count) in enumerate(plan):
        for j in range(count):
            k += 1
            base, stage = f"features.{k}.conv.", next(stages)
            ours = [("0.0", "0.1"), ("1", "2")] if k == 1 else [("0.0", "0.1"), ("1.0", "1.1"), ("2", "3")]
            what = ("depthwise", "project") if k == 1 else ("expand", "depthwise", "project")
            # pytorchcv calls the layer that widens conv1 also where it is left out.
            cvs = ("conv2", "conv3") if k == 1 else ("conv1", "conv2", "conv3")
            for n, ((conv, norm), w, cv) in enumerate(zip(ours, what, cvs)):
                name = "expanded_conv" if k == 1 else f"block_{k - 1}"
                unit = f"features.stage{stage[0]}.unit{stage[1]}.{cv}"
                to_mm += [(base + conv, f"backbone.layer{group + 1}.{j}.conv.{n}.conv"),
                          (base + norm, f"backbone.layer{group + 1}.{j}.conv.{n}.bn")]
                to_keras += [(base + conv, f"{name}_{w}"), (base + norm, f"{name}_{w}_BN")]
                to_cv += [(base + conv, unit + ".conv"), (base + norm, unit + ".bn")]
    to_mm, to_keras = (Table(lines("%s = %s", t)) for t in (to_mm + [("classifier.1", "head.fc")],
                                                            to_keras + [("classifier.1", "predictions")]))
    to_cv = Table(lines("%s = %s", to_cv))
    f.pair("mm_file_to_torchvision", "mm_file", "torchvision", to_mm, back=True, kind="wrapped",
           strip=r"^state_dict\.", sorted_file=False)
    f.pair("torchvision_to_mm", "torchvision", "mm", to_mm, kind="numbered")
    f.pair("torchvision_to_keras_names_burn", "torchvision", "keras", to_keras, kind="numbered", layout="burn")
    f.pair("keras_names_to_3_classes", "keras", "torchvision_3", to_keras, back=True, kind="head",
           unfed=["^classifier"], spare=["^predictions"], sorted_file=False)
    f.pair("parallel_to_pytorchcv", "parallel", "pytorchcv", to_cv, kind="wrapped", strip=r"^state_dict\.module\.",
           unfed=["^output"], spare=["^optimizer", r"module\.classifier"], sorted_file=False)
    alike(f, "torchvision_to_mm", vision(), with_mm, lambda m: m(image),
          lambda m: m.head.fc(m.backbone(image)[0].mean((2, 3))))
    alike(f, "parallel_to_pytorchcv", vision(), lambda: get_mobilenetv2(1.0, remove_exp_conv=True, num_classes=10),
          lambda m: m.features(image), lambda m: m.features[:-1](image))
    f.write()


if __name__ == "__main__":
    for make in (vit, convnext, mobilenet_v2):
        make()
