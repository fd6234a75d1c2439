# SPDX-License-Identifier: MIT OR Apache-2.0
"""Vision models of the tuning corpus."""
import timm
import torch
import torchvision
import transformers
from torch import nn

from tuning_common import Names, Table, linear, part

# ---------------------------------------------------------------- ViT, DeiT


def timm_vit(name="vit_tiny_patch16_224", depth=3, d=48, classes=10, image=64, **more):
    return timm.create_model(name, embed_dim=d, num_heads=3, depth=depth, img_size=image, num_classes=classes, **more)


def hf_vit(depth=3, d=48, classes=10, kind="ViT", model="ViTForImageClassification", **more):
    return getattr(transformers, model)(getattr(transformers, kind + "Config")(
        hidden_size=d, num_hidden_layers=depth, num_attention_heads=3, intermediate_size=4 * d, image_size=64,
        num_labels=classes, **more))


def torchvision_vit(depth=3, d=48, classes=10):
    return torchvision.models.VisionTransformer(64, 16, depth, 3, d, 4 * d, num_classes=classes)


def lucidrains_vit(depth=3, d=48, classes=10):
    import vit_pytorch
    return vit_pytorch.ViT(image_size=64, patch_size=16, num_classes=classes, dim=d, depth=depth, heads=3, dim_head=16,
                           mlp_dim=4 * d)


def timm_hf(vit, head=""):
    """transformers 5."""
    return Table(f"""
    cls_token = {vit}.embeddings.cls_token
    dist_token = {vit}.embeddings.distillation_token
    pos_embed = {vit}.embeddings.position_embeddings
    patch_embed.proj = {vit}.embeddings.patch_embeddings.projection
    blocks.{{i}}.norm1 = {vit}.layers.{{i}}.layernorm_before
    blocks.{{i}}.attn.qkv = {vit}.layers.{{i}}.attention.q_proj + {vit}.layers.{{i}}.attention.k_proj + \
{vit}.layers.{{i}}.attention.v_proj
    blocks.{{i}}.attn.proj = {vit}.layers.{{i}}.attention.o_proj
    blocks.{{i}}.norm2 = {vit}.layers.{{i}}.layernorm_after
    blocks.{{i}}.mlp.@ = {vit}.layers.{{i}}.mlp.@
    blocks.{{i}}.mlp.@.weight = {vit}.layers.{{i}}.mlp.@.weight
    blocks.{{i}}.mlp.@.bias = {vit}.layers.{{i}}.mlp.@.bias
    norm = {vit}.layernorm
    head = {head}classifier
    head_dist = distillation_classifier""")


def hub_hf(vit):
    """The Hub's files, which have the names of transformers 4."""
    return Table(f"""
    {vit}.embeddings.cls_token = {vit}.embeddings.cls_token
    {vit}.embeddings.distillation_token = {vit}.embeddings.distillation_token
    {vit}.embeddings.position_embeddings = {vit}.embeddings.position_embeddings
    {vit}.embeddings.patch_embeddings.projection = {vit}.embeddings.patch_embeddings.projection
    {vit}.encoder.layer.{{i}}.layernorm_before = {vit}.layers.{{i}}.layernorm_before
    {vit}.encoder.layer.{{i}}.layernorm_after = {vit}.layers.{{i}}.layernorm_after
    {vit}.encoder.layer.{{i}}.attention.attention.query = {vit}.layers.{{i}}.attention.q_proj
    {vit}.encoder.layer.{{i}}.attention.attention.key = {vit}.layers.{{i}}.attention.k_proj
    {vit}.encoder.layer.{{i}}.attention.attention.value = {vit}.layers.{{i}}.attention.v_proj
    {vit}.encoder.layer.{{i}}.attention.output.dense = {vit}.layers.{{i}}.attention.o_proj
    {vit}.encoder.layer.{{i}}.intermediate.dense = {vit}.layers.{{i}}.mlp.fc1
    {vit}.encoder.layer.{{i}}.output.dense = {vit}.layers.{{i}}.mlp.fc2
    {vit}.layernorm = {vit}.layernorm
    classifier = classifier
    cls_classifier = cls_classifier
    distillation_classifier = distillation_classifier""")


def timm_hub(vit, head=""):
    return Table(f"""
    cls_token = {vit}.embeddings.cls_token
    dist_token = {vit}.embeddings.distillation_token
    pos_embed = {vit}.embeddings.position_embeddings
    patch_embed.proj = {vit}.embeddings.patch_embeddings.projection
    blocks.{{i}}.norm1 = {vit}.encoder.layer.{{i}}.layernorm_before
    blocks.{{i}}.attn.qkv = {vit}.encoder.layer.{{i}}.attention.attention.query + \
{vit}.encoder.layer.{{i}}.attention.attention.key + {vit}.encoder.layer.{{i}}.attention.attention.value
    blocks.{{i}}.attn.proj = {vit}.encoder.layer.{{i}}.attention.output.dense
    blocks.{{i}}.norm2 = {vit}.encoder.layer.{{i}}.layernorm_after
    blocks.{{i}}.mlp.fc1 = {vit}.encoder.layer.{{i}}.intermediate.dense
    blocks.{{i}}.mlp.fc2 = {vit}.encoder.layer.{{i}}.output.dense
    norm = {vit}.layernorm
    head = {head}classifier
    head_dist = distillation_classifier""")


timm_torchvision = Table("""
    cls_token = class_token
    pos_embed = encoder.pos_embedding
    patch_embed.proj = conv_proj
    blocks.{i}.norm{j} = encoder.layers.encoder_layer_{i}.ln_{j}
    blocks.{i}.attn.qkv.@ = encoder.layers.encoder_layer_{i}.self_attention.in_proj_@
    blocks.{i}.attn.proj = encoder.layers.encoder_layer_{i}.self_attention.out_proj
    blocks.{i}.mlp.fc1 = encoder.layers.encoder_layer_{i}.mlp.0
    blocks.{i}.mlp.fc2 = encoder.layers.encoder_layer_{i}.mlp.3
    norm = encoder.ln
    head = heads.head""")
torchvision_hf = Table("""
    class_token = vit.embeddings.cls_token
    encoder.pos_embedding = vit.embeddings.position_embeddings
    conv_proj = vit.embeddings.patch_embeddings.projection
    encoder.layers.encoder_layer_{i}.ln_1 = vit.layers.{i}.layernorm_before
    encoder.layers.encoder_layer_{i}.ln_2 = vit.layers.{i}.layernorm_after
    encoder.layers.encoder_layer_{i}.self_attention.in_proj_@ = vit.layers.{i}.attention.q_proj.@ + \
vit.layers.{i}.attention.k_proj.@ + vit.layers.{i}.attention.v_proj.@
    encoder.layers.encoder_layer_{i}.self_attention.out_proj = vit.layers.{i}.attention.o_proj
    encoder.layers.encoder_layer_{i}.mlp.0 = vit.layers.{i}.mlp.fc1
    encoder.layers.encoder_layer_{i}.mlp.3 = vit.layers.{i}.mlp.fc2
    encoder.ln = vit.layernorm
    heads.head = classifier""")
# The embedding of patches differs, and so do the shapes of the class token and the positions.
timm_lucidrains = Table("""
    blocks.{i}.norm1 = transformer.layers.{i}.0.norm
    blocks.{i}.attn.qkv = transformer.layers.{i}.0.to_qkv
    blocks.{i}.attn.proj = transformer.layers.{i}.0.to_out.0
    blocks.{i}.norm2 = transformer.layers.{i}.1.net.0
    blocks.{i}.mlp.fc1 = transformer.layers.{i}.1.net.1
    blocks.{i}.mlp.fc2 = transformer.layers.{i}.1.net.4
    norm = transformer.norm
    head = mlp_head""")
patches = [r"^cls_token$", r"^pos_embed", r"patch_embed"]


def vit():
    f = Names("vit", "timm", "torchvision", "transformers", "vit-pytorch")
    f.listing("timm", timm_vit)
    f.listing("timm_no_head", lambda: timm_vit(classes=0))
    f.listing("timm_100", lambda: timm_vit(classes=100))
    f.listing("timm_deeper", lambda: timm_vit(depth=5))
    f.listing("timm_12", lambda: timm_vit(depth=12, d=24))
    f.listing("timm_no_qkv_bias", lambda: timm_vit(qkv_bias=False))
    f.listing("hf", hf_vit)
    f.listing("hf_base", lambda: hf_vit(model="ViTModel"))
    f.renamed("hub", "hf", hub_hf("vit"), "transformers.ViTForImageClassification (4)", back=True)
    f.listing("torchvision", torchvision_vit)
    f.listing("torchvision_12", lambda: torchvision_vit(depth=12, d=24))
    f.listing("lucidrains", lucidrains_vit)
    f.pair("timm_to_hf", "timm", "hf", timm_hf("vit"), kind="fused")
    f.pair("hf_to_timm", "hf", "timm", timm_hf("vit"), back=True, kind="fused", sorted_file=False)
    f.pair("hub_to_hf", "hub", "hf", hub_hf("vit"))
    f.pair("hub_to_timm", "hub", "timm", timm_hub("vit"), back=True, kind="fused")
    f.pair("timm_to_hub", "timm", "hub", timm_hub("vit"), kind="fused", sorted_file=False)
    f.pair("timm_to_torchvision", "timm", "torchvision", timm_torchvision)
    f.pair("torchvision_to_timm", "torchvision", "timm", timm_torchvision, back=True)
    f.pair("timm_to_torchvision_12", "timm_12", "torchvision_12", timm_torchvision, sorted_file=False)
    f.pair("torchvision_to_timm_12", "torchvision_12", "timm_12", timm_torchvision, back=True)
    f.pair("torchvision_to_hf", "torchvision", "hf", torchvision_hf, kind="fused")
    f.pair("hf_to_torchvision", "hf", "torchvision", torchvision_hf, back=True, kind="fused")
    f.pair("timm_to_lucidrains", "timm_no_qkv_bias", "lucidrains", timm_lucidrains,
           unfed=patches + ["^pos_embedding", "^to_patch"])
    f.pair("lucidrains_to_timm", "lucidrains", "timm_no_qkv_bias", timm_lucidrains, back=True, unfed=patches,
           sorted_file=False)
    f.pair("timm_to_hf_burn_layout", "timm", "hf", timm_hf("vit"), kind="fused", layout="burn")
    f.pair("hub_to_hf_burn_layout", "hub", "hf", hub_hf("vit"), layout="burn")
    f.pair("torchvision_to_timm_burn_layout", "torchvision", "timm", timm_torchvision, back=True, layout="burn")
    f.case("classes", "timm", "timm_100", "head", unfed=[r"^head\."])
    f.case("classes_burn_layout", "timm", "timm_100", "head", unfed=[r"^head\."], layout="burn", sorted_file=False)
    f.case("no_head", "timm", "timm_no_head", "head")
    f.case("head_from_none", "timm_no_head", "timm", "head", unfed=[r"^head\."])
    f.pair("hf_classes_from_torchvision", "torchvision", "hf_base", Table("\n".join(
        " = ".join((" + ".join(a), " + ".join(b).replace("vit.", ""))) for a, b, _ in torchvision_hf.lines)),
        kind="head", unfed=[r"^pooler\."])
    f.wrapped("dino", "timm_no_head", "student.module.backbone.",
              [["student.module.head.mlp.0.weight", "f32", [96, 48], "Linear"],
               ["student.module.head.mlp.0.bias", "f32", [96], "Linear"],
               ["student.module.head.last_layer.weight_g", "f32", [64, 1], ""],
               ["student.module.head.last_layer.weight_v", "f32", [64, 96], ""], ["epoch", "i64", [], ""]])
    f.case("dino_student", "dino", "timm_no_head", "wrapped", [(r"^student\.module\.backbone\.", "")])
    f.wrapped("ema", "timm", "state_dict.", f.copied("timm", "state_dict_ema."))
    f.case("beside_ema", "ema", "timm", "wrapped", [(r"^state_dict\.", "")])
    f.pair("beside_ema_to_hf", "ema", "hf", timm_hf("vit"), kind="wrapped", strip=r"^state_dict\.")
    f.case("deeper", "timm", "timm_deeper", "depth", unfed=[r"blocks\.[34]\."])
    f.listing("lstm", lambda: nn.LSTM(24, 32, 2, bidirectional=True))
    f.unrelated("from_lstm", "lstm", "timm")
    f.listing("bert", lambda: transformers.BertModel(transformers.BertConfig(
        vocab_size=200, hidden_size=48, num_hidden_layers=2, num_attention_heads=3, intermediate_size=192,
        max_position_embeddings=64)))
    f.unrelated("from_bert", "bert", "timm")
    f.write()


def deit():
    f = Names("deit", "timm", "transformers")
    name = "deit_tiny_distilled_patch16_224"
    f.listing("timm", lambda: timm_vit(name))
    f.listing("timm_plain", lambda: timm_vit("deit_tiny_patch16_224"))
    f.listing("hf", lambda: hf_vit(kind="DeiT", model="DeiTForImageClassificationWithTeacher"))
    f.renamed("hub", "hf", hub_hf("deit"), "transformers.DeiTForImageClassificationWithTeacher (4)", back=True)
    f.pair("timm_to_hf", "timm", "hf", timm_hf("deit", "cls_"), kind="fused")
    f.pair("hf_to_timm", "hf", "timm", timm_hf("deit", "cls_"), back=True, kind="fused")
    f.pair("hub_to_timm", "hub", "timm", timm_hub("deit", "cls_"), back=True, kind="fused", sorted_file=False)
    f.pair("hub_to_hf", "hub", "hf", hub_hf("deit"))
    f.pair("hub_to_hf_burn_layout", "hub", "hf", hub_hf("deit"), layout="burn")
    f.wrapped("release", "timm", "model.")
    f.case("release", "release", "timm", "wrapped", [(r"^model\.", "")], sorted_file=False)
    f.pair("release_to_hf", "release", "hf", timm_hf("deit", "cls_"), kind="wrapped", strip=r"^model\.")
    f.case("plain_from_distilled", "timm", "timm_plain", "head", unfed=[r"^pos_embed$"])
    f.case("distilled_from_plain", "timm_plain", "timm", "head", unfed=[r"^pos_embed$", r"dist"])
    f.write()


# ---------------------------------------------------------------- CLIP


def hf_clip(layers=2, d=64, vocab=300, model="CLIPModel", config="CLIPConfig", heads=1):
    text = dict(hidden_size=d, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=4 * d,
                vocab_size=vocab, max_position_embeddings=20, bos_token_id=0, eos_token_id=1, pad_token_id=1)
    vision = dict(hidden_size=96, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=384,
                  image_size=32, patch_size=8)
    settings = {"CLIPConfig": dict(text_config=text, vision_config=vision), "CLIPTextConfig": text,
                "CLIPVisionConfig": vision}[config]
    return getattr(transformers, model)(getattr(transformers, config)(projection_dim=32, **settings))


def open_clip_model(layers=2, d=64, vocab=300):
    import open_clip
    return open_clip.CLIP(32, dict(layers=layers, width=96, head_width=32, image_size=32, patch_size=8),
                          dict(context_length=20, vocab_size=vocab, width=d, heads=2, layers=layers))


def clip_table(text="text_model.", vision="vision_model.", head=True):
    def tower(a, b):
        return f"""
        {a}.layers.{{i}}.layer_norm{{j}} = {b}.resblocks.{{i}}.ln_{{j}}
        {a}.layers.{{i}}.self_attn.q_proj.@ + {a}.layers.{{i}}.self_attn.k_proj.@ + \
{a}.layers.{{i}}.self_attn.v_proj.@ = {b}.resblocks.{{i}}.attn.in_proj_@
        {a}.layers.{{i}}.self_attn.out_proj = {b}.resblocks.{{i}}.attn.out_proj
        {a}.layers.{{i}}.mlp.fc1 = {b}.resblocks.{{i}}.mlp.c_fc
        {a}.layers.{{i}}.mlp.fc2 = {b}.resblocks.{{i}}.mlp.c_proj"""
    lines = ""
    if text is not None:
        lines += tower(text + "encoder", "transformer") + f"""
        {text}embeddings.token_embedding = token_embedding
        {text}embeddings.position_embedding.weight = positional_embedding
        {text}final_layer_norm = ln_final"""
    if vision is not None:
        lines += tower(vision + "encoder", "visual.transformer") + f"""
        {vision}embeddings.class_embedding = visual.class_embedding
        {vision}embeddings.patch_embedding = visual.conv1
        {vision}embeddings.position_embedding.weight = visual.positional_embedding
        {vision}pre_layrnorm = visual.ln_pre
        {vision}post_layernorm = visual.ln_post"""
    if head:
        lines += """
        logit_scale = logit_scale
        visual_projection.weight = visual.proj
        text_projection.weight = text_projection"""
    return Table(lines)


def clip():
    f = Names("clip", "transformers", "open_clip_torch")
    f.listing("hf", hf_clip)
    f.listing("hf_text", lambda: hf_clip(model="CLIPTextModel", config="CLIPTextConfig"))
    f.listing("hf_vision", lambda: hf_clip(model="CLIPVisionModel", config="CLIPVisionConfig"))
    f.listing("hf_vision_projection",
              lambda: hf_clip(model="CLIPVisionModelWithProjection", config="CLIPVisionConfig"))
    f.wrapped("hub", "hf", more=[["text_model.embeddings.position_ids", "i64", [1, 20], ""],
                                 ["vision_model.embeddings.position_ids", "i64", [1, 17], ""]])
    f.listing("open_clip", open_clip_model)
    f.wrapped("openai", "open_clip", more=[["input_resolution", "i64", [], ""], ["context_length", "i64", [], ""],
                                           ["vocab_size", "i64", [], ""]])
    f.listing("open_clip_deeper", lambda: open_clip_model(layers=3))
    turned = [r"^(visual_projection\.weight|text_projection\.weight|visual\.proj|text_projection)$"]
    f.pair("hf_to_open_clip", "hf", "open_clip", clip_table(), kind="fused", transposed=turned)
    f.pair("hub_to_open_clip", "hub", "open_clip", clip_table(), kind="fused", transposed=turned, sorted_file=False)
    f.pair("openai_to_hf", "openai", "hf", clip_table(), back=True, kind="fused", transposed=turned)
    f.pair("open_clip_to_hf", "open_clip", "hf", clip_table(), back=True, kind="fused", transposed=turned,
           sorted_file=False)
    f.case("openai_to_open_clip", "openai", "open_clip", "same")
    text = "text_model." if f.get("hf_text")[0][0].startswith("text_model.") else ""
    vision = "vision_model." if f.get("hf_vision")[0][0].startswith("vision_model.") else ""
    f.pair("open_clip_to_hf_text", "open_clip", "hf_text", clip_table(text, None, False), back=True, kind="head")
    f.pair("open_clip_to_hf_vision", "open_clip", "hf_vision", clip_table(None, vision, False), back=True, kind="head",
           layout="burn")
    f.case("text_from_hub", "hub", "hf_text", "head", [(r"^text_model\.", text)])
    f.case("vision_from_hub", "hub", "hf_vision", "head", [(r"^vision_model\.", vision)], layout="burn")
    f.case("vision_projection_from_hub", "hub", "hf_vision_projection", "head", sorted_file=False)
    f.wrapped("text_in_diffusion", "hf_text", "cond_stage_model.transformer." + ("" if text else "text_model."),
              [["alphas_cumprod", "f32", [1000], ""], ["betas", "f32", [1000], ""],
               ["cond_stage_model.logit_scale", "f32", [], ""]])
    f.case("text_from_diffusion", "text_in_diffusion", "hf_text", "wrapped",
           [(r"^cond_stage_model\.transformer\.text_model\.", text)])
    f.wrapped("trained", "open_clip", "state_dict.module.", f.adam("hf_vision"))
    f.case("trained", "trained", "open_clip", "wrapped", [(r"^state_dict\.module\.", "")])
    f.pair("trained_to_hf", "trained", "hf", clip_table(), back=True, kind="wrapped", transposed=turned,
           strip=r"^state_dict\.module\.")
    f.case("deeper", "open_clip", "open_clip_deeper", "depth", unfed=[r"resblocks\.2\."])
    f.write()


# ---------------------------------------------------------------- ResNet


class SmallResNet(torchvision.models.ResNet):
    def __init__(self, block, layers, classes=10):
        super().__init__(block, layers, num_classes=classes)
        self.fc = linear(64 * block.expansion, classes)

    def _make_layer(self, block, planes, *more, **named):
        return super()._make_layer(block, planes // 8, *more, **named)


def torchvision_resnet(layers, classes=10):
    block = torchvision.models.resnet.Bottleneck if max(layers) > 2 else torchvision.models.resnet.BasicBlock
    return SmallResNet(block, layers, classes)


def hf_resnet(layers, classes=10, model="ResNetForImageClassification"):
    kind, times = ("bottleneck", 4) if max(layers) > 2 else ("basic", 1)
    return getattr(transformers, model)(transformers.ResNetConfig(
        embedding_size=64, hidden_sizes=[w * times for w in (8, 16, 32, 64)], depths=layers, layer_type=kind,
        num_labels=classes))


def timm_resnet(layers, classes=10):
    block = timm.models.resnet.Bottleneck if max(layers) > 2 else timm.models.resnet.BasicBlock
    return timm.models.resnet.ResNet(block, layers, num_classes=classes, channels=(8, 16, 32, 64))


def burn_resnet(layers, classes=10):
    """resnet-burn: LayerBlock has blocks, Downsample a conv and a bn."""
    def convert(module):
        if hasattr(module, "downsample") and module.downsample is not None:
            conv, bn = module.downsample
            module.downsample = part("Downsample", conv=conv, bn=bn)
        return module
    net = torchvision_resnet(layers, classes)
    for i in (1, 2, 3, 4):
        setattr(net, f"layer{i}", part("LayerBlock", blocks=[convert(b) for b in getattr(net, f"layer{i}")]))
    return net


def resnet_hf(prefix="resnet."):
    convs = "\n".join(f"""
    layer{{i+1}}.{{j}}.conv{n} = {prefix}encoder.stages.{{i}}.layers.{{j}}.layer.{n - 1}.convolution
    layer{{i+1}}.{{j}}.bn{n} = {prefix}encoder.stages.{{i}}.layers.{{j}}.layer.{n - 1}.normalization"""
                      for n in (1, 2, 3))
    return Table(convs + f"""
    conv1 = {prefix}embedder.embedder.convolution
    bn1 = {prefix}embedder.embedder.normalization
    layer{{i+1}}.{{j}}.downsample.0 = {prefix}encoder.stages.{{i}}.layers.{{j}}.shortcut.convolution
    layer{{i+1}}.{{j}}.downsample.1 = {prefix}encoder.stages.{{i}}.layers.{{j}}.shortcut.normalization
    fc = classifier.1""")


resnet_burn = Table("""
    conv1 = conv1
    bn1 = bn1
    layer{i}.{j}.conv{k} = layer{i}.blocks.{j}.conv{k}
    layer{i}.{j}.bn{k} = layer{i}.blocks.{j}.bn{k}
    layer{i}.{j}.downsample.0 = layer{i}.blocks.{j}.downsample.conv
    layer{i}.{j}.downsample.1 = layer{i}.blocks.{j}.downsample.bn
    fc = fc""")


def resnet():
    f = Names("resnet", "torchvision", "timm", "transformers")
    small, r50, r101 = [2, 2, 2, 2], [3, 4, 6, 3], [3, 4, 23, 3]
    f.listing("torchvision", lambda: torchvision_resnet(small))
    f.listing("torchvision_5", lambda: torchvision_resnet(small, 5))
    f.listing("timm", lambda: timm_resnet(small))
    f.listing("hf", lambda: hf_resnet(small))
    f.listing("hf_base", lambda: hf_resnet(small, model="ResNetModel"))
    f.listing("burn", lambda: burn_resnet(small), "resnet_burn.ResNet")
    f.listing("torchvision_50", lambda: torchvision_resnet(r50))
    f.listing("burn_50", lambda: burn_resnet(r50), "resnet_burn.ResNet")
    f.listing("torchvision_101", lambda: torchvision_resnet(r101))
    f.listing("hf_101", lambda: hf_resnet(r101))
    for name in ("torchvision_50", "burn_50", "torchvision_101", "hf_101"):  # without the counters, as in old files
        f.data["listings"][name]["tensors"] = [t for t in f.get(name) if not t[0].endswith("num_batches_tracked")]
    f.without("old", "torchvision", "num_batches_tracked$")
    f.without("no_head", "torchvision", r"^fc\.")
    f.pair("torchvision_to_hf", "torchvision", "hf", resnet_hf(), kind="numbered")
    f.pair("hf_to_torchvision", "hf", "torchvision", resnet_hf(), back=True, kind="numbered")
    f.case("torchvision_to_timm", "torchvision", "timm", "same", sorted_file=False)
    f.pair("timm_to_hf", "timm", "hf", resnet_hf(), kind="numbered", sorted_file=False)
    f.pair("torchvision_50_to_burn", "torchvision_50", "burn_50", resnet_burn, layout="burn")
    f.pair("burn_50_to_torchvision", "burn_50", "torchvision_50", resnet_burn, back=True, sorted_file=False)
    f.pair("torchvision_101_to_hf", "torchvision_101", "hf_101", resnet_hf(), kind="numbered")
    f.pair("hf_101_to_torchvision", "hf_101", "torchvision_101", resnet_hf(), back=True, kind="numbered")
    f.pair("torchvision_to_burn", "torchvision", "burn", resnet_burn, layout="burn")
    f.pair("old_to_burn", "old", "burn", resnet_burn, layout="burn", unfed=[r"num_batches_tracked$"])
    f.pair("hf_to_torchvision_burn_layout", "hf", "torchvision", resnet_hf(), back=True, kind="numbered", layout="burn")
    f.pair("burn_names_to_torchvision", "burn", "torchvision", resnet_burn, back=True)
    f.case("old_to_torchvision", "old", "torchvision", "same", unfed=[r"num_batches_tracked$"])
    f.case("classes", "torchvision", "torchvision_5", "head", unfed=[r"^fc\."])
    f.case("classes_burn_layout", "torchvision", "torchvision_5", "head", unfed=[r"^fc\."], layout="burn")
    f.case("no_head", "torchvision", "no_head", "head")
    f.case("head_from_none", "no_head", "torchvision", "head", unfed=[r"^fc\."], sorted_file=False)
    f.pair("hf_base_from_timm", "timm", "hf_base", resnet_hf(""), kind="head")
    f.wrapped("trained", "old", "state_dict.module.", f.momentum("old"))
    f.case("trained", "trained", "old", "wrapped", [(r"^state_dict\.module\.", "")])
    f.pair("trained_to_burn", "trained", "burn", resnet_burn, kind="wrapped", strip=r"^state_dict\.module\.",
           unfed=[r"num_batches_tracked$"], layout="burn")
    f.wrapped("backbone", "no_head", "backbone.", [["projector.0.weight", "f32", [32, 64], "Linear"],
                                                   ["projector.0.bias", "f32", [32], "Linear"]])
    f.case("backbone", "backbone", "no_head", "wrapped", [(r"^backbone\.", "")], sorted_file=False)
    f.case("backbone_to_classifier", "backbone", "torchvision", "head", [(r"^backbone\.", "")], unfed=[r"^fc\."])
    f.write()


# ---------------------------------------------------------------- ConvNeXt


def hf_convnext(classes=10, model="ConvNextForImageClassification"):
    return getattr(transformers, model)(transformers.ConvNextConfig(
        hidden_sizes=[8, 16, 32, 64], depths=[1, 1, 3, 1], num_labels=classes))


def timm_convnext(classes=10):
    return timm.models.convnext.ConvNeXt(depths=(1, 1, 3, 1), dims=(8, 16, 32, 64), num_classes=classes)


def torchvision_convnext(classes=10):
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt
    return ConvNeXt([CNBlockConfig(8, 16, 1), CNBlockConfig(16, 32, 1), CNBlockConfig(32, 64, 3),
                     CNBlockConfig(64, None, 1)], num_classes=classes)


def meta_convnext(classes=10, dims=(8, 16, 32, 64), depths=(1, 1, 3, 1)):
    """models/convnext.py of facebookresearch/ConvNeXt."""
    def norm(d):
        return part("LayerNorm", weight=torch.empty(d), bias=torch.empty(d))

    def block(d):
        return part("Block", gamma=torch.empty(d), dwconv=nn.Conv2d(d, d, 7, groups=d), norm=norm(d),
                    pwconv1=linear(d, 4 * d), pwconv2=linear(4 * d, d))
    return part("ConvNeXt",
                downsample_layers=[nn.Sequential(nn.Conv2d(3, dims[0], 4), norm(dims[0]))] +
                [nn.Sequential(norm(a), nn.Conv2d(a, b, 2)) for a, b in zip(dims, dims[1:])],
                stages=[nn.Sequential(*[block(d) for _ in range(n)]) for d, n in zip(dims, depths)],
                norm=nn.LayerNorm(dims[-1]), head=linear(dims[-1], classes))


def convnext_blocks(a, b):
    return "\n".join(f"    {x} = {y}" for x, y in zip(a, b)) + "\n"


convnext_names = {
    "hf": ["convnext.encoder.stages.{i}.layers.{j}." + n for n in (
        "layer_scale_parameter", "dwconv", "layernorm", "pwconv1", "pwconv2")] + [
        "convnext.embeddings.patch_embeddings", "convnext.embeddings.layernorm",
        "convnext.encoder.stages.{i}.downsampling_layer.{k}", "convnext.layernorm", "classifier"],
    "timm": ["stages.{i}.blocks.{j}." + n for n in ("gamma", "conv_dw", "norm", "mlp.fc1", "mlp.fc2")] + [
        "stem.0", "stem.1", "stages.{i}.downsample.{k}", "head.norm", "head.fc"],
    "meta": ["stages.{i}.{j}." + n for n in ("gamma", "dwconv", "norm", "pwconv1", "pwconv2")] + [
        "downsample_layers.0.0", "downsample_layers.0.1", "downsample_layers.{i}.{k}", "norm", "head"]}


def convnext_table(a, b):
    return Table(convnext_blocks(convnext_names[a], convnext_names[b]))


def torchvision_convnext_table(side):
    """Its stages are features 1, 3, 5, 7, and its scales have the shape (d, 1, 1)."""
    names = convnext_names[side]
    lines = [f"features.0.0 = {names[5]}", f"features.0.1 = {names[6]}", f"classifier.0 = {names[8]}",
             f"classifier.2 = {names[9]}"]
    for i in range(4):
        for n, name in ((0, names[1]), (2, names[2]), (3, names[3]), (5, names[4])):
            lines.append(f"features.{2 * i + 1}.{{j}}.block.{n} = {name.replace('{i}', str(i))}")
        if i:
            lines.append(f"features.{2 * i}.{{k}} = {names[7].replace('{i}', str(i))}")
    return Table("\n".join(lines))


def convnext():
    f = Names("convnext", "timm", "torchvision", "transformers")
    f.listing("hf", hf_convnext)
    f.listing("timm", timm_convnext)
    f.listing("timm_7", lambda: timm_convnext(7))
    f.listing("torchvision", torchvision_convnext)
    f.listing("meta", meta_convnext, "facebookresearch/ConvNeXt")
    scales = [r"layer_scale|\.gamma$"]
    f.pair("meta_to_timm", "meta", "timm", convnext_table("meta", "timm"))
    f.pair("timm_to_meta", "timm", "meta", convnext_table("timm", "meta"), sorted_file=False)
    f.pair("meta_to_hf", "meta", "hf", convnext_table("meta", "hf"))
    f.pair("hf_to_timm", "hf", "timm", convnext_table("hf", "timm"))
    f.pair("timm_to_hf", "timm", "hf", convnext_table("timm", "hf"), sorted_file=False)
    f.pair("timm_to_hf_burn_layout", "timm", "hf", convnext_table("timm", "hf"), layout="burn")
    f.pair("torchvision_to_timm", "torchvision", "timm", torchvision_convnext_table("timm"), kind="numbered",
           unfed=scales)
    f.pair("timm_to_torchvision", "timm", "torchvision", torchvision_convnext_table("timm"), back=True, kind="numbered",
           unfed=scales)
    f.pair("torchvision_to_hf", "torchvision", "hf", torchvision_convnext_table("hf"), kind="numbered", unfed=scales,
           sorted_file=False)
    f.case("classes", "timm", "timm_7", "head", unfed=[r"^head\.fc\."])
    f.pair("classes_from_hf", "hf", "timm_7", convnext_table("hf", "timm"), kind="head", unfed=[r"^head\.fc\."],
           layout="burn")
    f.wrapped("release", "meta", "model.", f.copied("meta", "model_ema."))
    f.pair("release_to_timm", "release", "timm", convnext_table("meta", "timm"), kind="wrapped", strip=r"^model\.")
    f.case("release", "release", "meta", "wrapped", [(r"^model\.", "")])
    f.write()


# ---------------------------------------------------------------- MobileNetV2


def hf_mobilenet(classes=10):
    return transformers.MobileNetV2ForImageClassification(
        transformers.MobileNetV2Config(depth_multiplier=0.25, num_labels=classes))


def torchvision_mobilenet(classes=10):
    return torchvision.models.MobileNetV2(classes, 0.25)


def timm_mobilenet(classes=10):
    from timm.models._efficientnet_builder import decode_arch_def, round_channels
    from timm.models.efficientnet import EfficientNet
    arch = [["ds_r1_k3_s1_c16"], ["ir_r2_k3_s2_e6_c24"], ["ir_r3_k3_s2_e6_c32"], ["ir_r4_k3_s2_e6_c64"],
            ["ir_r3_k3_s1_e6_c96"], ["ir_r3_k3_s2_e6_c160"], ["ir_r1_k3_s1_e6_c320"]]
    return EfficientNet(decode_arch_def(arch), num_classes=classes, stem_size=8, fix_stem=True, num_features=1280,
                        round_chs_fn=lambda c: round_channels(c, 0.25))


mobilenet_stages = [(s, b) for s, n in enumerate((1, 2, 3, 4, 3, 3, 1)) for b in range(n)]


def torchvision_timm_mobilenet():
    lines = ["features.0.0 = conv_stem", "features.0.1 = bn1", "features.18.0 = conv_head", "features.18.1 = bn2",
             "classifier.1 = classifier", "features.1.conv.0.0 = blocks.0.0.conv_dw",
             "features.1.conv.0.1 = blocks.0.0.bn1", "features.1.conv.1 = blocks.0.0.conv_pw",
             "features.1.conv.2 = blocks.0.0.bn2"]
    for i, (s, b) in enumerate(mobilenet_stages):
        if i:
            lines += [f"features.{i + 1}.conv.{x} = blocks.{s}.{b}.{y}" for x, y in (
                ("0.0", "conv_pw"), ("0.1", "bn1"), ("1.0", "conv_dw"), ("1.1", "bn2"), ("2", "conv_pwl"),
                ("3", "bn3"))]
    return Table("\n".join(lines))


torchvision_hf_mobilenet = Table("""
    features.0.0 = mobilenet_v2.conv_stem.first_conv.convolution
    features.0.1 = mobilenet_v2.conv_stem.first_conv.normalization
    features.1.conv.0.0 = mobilenet_v2.conv_stem.conv_3x3.convolution
    features.1.conv.0.1 = mobilenet_v2.conv_stem.conv_3x3.normalization
    features.1.conv.1 = mobilenet_v2.conv_stem.reduce_1x1.convolution
    features.1.conv.2 = mobilenet_v2.conv_stem.reduce_1x1.normalization
    features.18.0 = mobilenet_v2.conv_1x1.convolution
    features.18.1 = mobilenet_v2.conv_1x1.normalization
    features.{i+2}.conv.0.0 = mobilenet_v2.layer.{i}.expand_1x1.convolution
    features.{i+2}.conv.0.1 = mobilenet_v2.layer.{i}.expand_1x1.normalization
    features.{i+2}.conv.1.0 = mobilenet_v2.layer.{i}.conv_3x3.convolution
    features.{i+2}.conv.1.1 = mobilenet_v2.layer.{i}.conv_3x3.normalization
    features.{i+2}.conv.2 = mobilenet_v2.layer.{i}.reduce_1x1.convolution
    features.{i+2}.conv.3 = mobilenet_v2.layer.{i}.reduce_1x1.normalization
    classifier.1 = classifier""")


def mobilenet_v2():
    f = Names("mobilenet_v2", "timm", "torchvision", "transformers")
    f.listing("torchvision", torchvision_mobilenet)
    f.listing("timm", timm_mobilenet)
    f.listing("hf", hf_mobilenet)
    for name in ("torchvision", "timm", "hf"):  # without the counters, as in old files
        f.data["listings"][name]["tensors"] = [t for t in f.get(name) if not t[0].endswith("num_batches_tracked")]
    f.without("features", "torchvision", "^classifier")
    f.pair("torchvision_to_timm", "torchvision", "timm", torchvision_timm_mobilenet(), kind="numbered")
    f.pair("timm_to_torchvision", "timm", "torchvision", torchvision_timm_mobilenet(), back=True, kind="numbered")
    f.pair("torchvision_to_hf", "torchvision", "hf", torchvision_hf_mobilenet, kind="numbered", sorted_file=False)
    f.pair("hf_to_torchvision", "hf", "torchvision", torchvision_hf_mobilenet, back=True, kind="numbered")
    f.pair("torchvision_to_hf_burn_layout", "torchvision", "hf", torchvision_hf_mobilenet, kind="numbered",
           layout="burn")
    f.case("features_from_classifier", "torchvision", "features", "head", layout="burn")
    f.case("classifier_from_features", "features", "torchvision", "head", unfed=["^classifier"], sorted_file=False)
    f.pair("timm_to_features", "timm", "features", torchvision_timm_mobilenet(), back=True, kind="head")
    f.write()


# ---------------------------------------------------------------- EfficientNet


def timm_efficientnet(classes=10):
    from timm.models._efficientnet_builder import decode_arch_def
    from timm.models.efficientnet import EfficientNet
    arch = [["ds_r1_k3_s1_e1_c8_se0.25"], ["ir_r2_k3_s2_e6_c16_se0.25"], ["ir_r3_k5_s2_e6_c24_se0.25"]]
    return EfficientNet(decode_arch_def(arch), num_classes=classes, num_features=96, stem_size=32, fix_stem=True)


def torchvision_efficientnet(classes=10):
    from torchvision.models.efficientnet import EfficientNet, MBConvConfig
    return EfficientNet([MBConvConfig(1, 3, 1, 32, 8, 1, width_mult=1, depth_mult=1), MBConvConfig(6, 3, 2, 8, 16, 2),
                         MBConvConfig(6, 5, 2, 16, 24, 3)], 0.0, num_classes=classes, last_channel=96)


def luke_efficientnet(classes=10):
    import efficientnet_pytorch
    from efficientnet_pytorch.utils import BlockDecoder, GlobalParams
    blocks = BlockDecoder.decode(["r1_k3_s11_e1_i32_o8_se0.25", "r2_k3_s22_e6_i8_o16_se0.25",
                                  "r3_k5_s22_e6_i16_o24_se0.25"])
    net = efficientnet_pytorch.EfficientNet(blocks, GlobalParams(
        width_coefficient=1.0, depth_coefficient=1.0, image_size=64, dropout_rate=0.2, num_classes=classes,
        batch_norm_momentum=0.99, batch_norm_epsilon=1e-3, drop_connect_rate=0.2, depth_divisor=8, min_depth=None,
        include_top=True))
    net._conv_head, net._bn1, net._fc = nn.Conv2d(24, 96, 1, bias=False), nn.BatchNorm2d(96), linear(96, classes)
    return net


def hf_efficientnet(classes=10):
    net = transformers.EfficientNetForImageClassification(transformers.EfficientNetConfig(
        width_coefficient=1.0, depth_coefficient=1.0, kernel_sizes=[3, 3, 5], in_channels=[32, 8, 16],
        out_channels=[8, 16, 24], strides=[1, 2, 2], num_block_repeats=[1, 2, 3], expand_ratios=[1, 6, 6],
        hidden_dim=96, depthwise_padding=[], num_labels=classes))
    net.efficientnet.encoder.top_conv = nn.Conv2d(24, 96, 1, bias=False)
    return net


def efficientnet_names():
    """Names of the same modules in the four implementations."""
    rows = [("conv_stem", "features.0.0", "_conv_stem", "efficientnet.embeddings.convolution"),
            ("bn1", "features.0.1", "_bn0", "efficientnet.embeddings.batchnorm"),
            ("conv_head", "features.4.0", "_conv_head", "efficientnet.encoder.top_conv"),
            ("bn2", "features.4.1", "_bn1", "efficientnet.encoder.top_bn"),
            ("classifier", "classifier.1", "_fc", "classifier")]
    first = (("conv_dw", "0.0", "_depthwise_conv", "depthwise_conv.depthwise_conv"),
             ("bn1", "0.1", "_bn1", "depthwise_conv.depthwise_norm"),
             ("se.conv_reduce", "1.fc1", "_se_reduce", "squeeze_excite.reduce"),
             ("se.conv_expand", "1.fc2", "_se_expand", "squeeze_excite.expand"),
             ("conv_pw", "2.0", "_project_conv", "projection.project_conv"),
             ("bn2", "2.1", "_bn2", "projection.project_bn"))
    others = (("conv_pw", "0.0", "_expand_conv", "expansion.expand_conv"),
              ("bn1", "0.1", "_bn0", "expansion.expand_bn"),
              ("conv_dw", "1.0", "_depthwise_conv", "depthwise_conv.depthwise_conv"),
              ("bn2", "1.1", "_bn1", "depthwise_conv.depthwise_norm"),
              ("se.conv_reduce", "2.fc1", "_se_reduce", "squeeze_excite.reduce"),
              ("se.conv_expand", "2.fc2", "_se_expand", "squeeze_excite.expand"),
              ("conv_pwl", "3.0", "_project_conv", "projection.project_conv"),
              ("bn3", "3.1", "_bn2", "projection.project_bn"))
    for n, (s, b) in enumerate((s, b) for s, count in enumerate((1, 2, 3)) for b in range(count)):
        rows += [(f"blocks.{s}.{b}.{t}", f"features.{s + 1}.{b}.block.{v}", f"_blocks.{n}.{k}",
                  f"efficientnet.encoder.blocks.{n}.{h}") for t, v, k, h in (others if n else first)]
    return rows


def efficientnet():
    f = Names("efficientnet", "timm", "torchvision", "transformers", "efficientnet_pytorch")
    sides = ["timm", "torchvision", "luke", "hf"]

    def table(a, b):
        return Table("\n".join(f"{row[sides.index(a)]} = {row[sides.index(b)]}" for row in efficientnet_names()))
    f.listing("timm", timm_efficientnet)
    f.listing("torchvision", torchvision_efficientnet)
    f.listing("luke", luke_efficientnet)
    f.listing("hf", hf_efficientnet)
    f.listing("timm_3", lambda: timm_efficientnet(3))
    for a, b, is_sorted in (("torchvision", "timm", True), ("timm", "torchvision", True), ("luke", "timm", False),
                            ("timm", "luke", True), ("luke", "hf", True), ("hf", "luke", False),
                            ("torchvision", "luke", True), ("hf", "torchvision", True)):
        kind = "renamed" if {a, b} == {"luke", "hf"} else "numbered"
        f.pair(f"{a}_to_{b}", a, b, table(a, b), kind=kind, sorted_file=is_sorted)
    f.pair("luke_to_torchvision_burn_layout", "luke", "torchvision", table("luke", "torchvision"), kind="numbered",
           layout="burn")
    f.case("classes", "timm", "timm_3", "head", unfed=[r"^classifier\."])
    f.wrapped("unet_encoder", "luke", "encoder.", [["segmentation_head.0.weight", "f32", [2, 16, 3, 3], "Conv2d"],
                                                   ["segmentation_head.0.bias", "f32", [2], "Conv2d"]])
    f.case("encoder", "unet_encoder", "luke", "wrapped", [(r"^encoder\.", "")])
    f.write()


# ---------------------------------------------------------------- VGG


def vgg_net(classes=10, norm=False):
    features = torchvision.models.vgg.make_layers([8, 8, "M", 16, 16, "M", 32, 32, 32, "M", 64, 64, 64, "M"], norm)
    net = torchvision.models.VGG(features, num_classes=classes)
    net.classifier[0], net.classifier[3], net.classifier[6] = linear(64 * 49, 96), linear(96, 96), linear(96, classes)
    return net


vgg_convs = [(0, "1_1"), (2, "1_2"), (5, "2_1"), (7, "2_2"), (10, "3_1"), (12, "3_2"), (14, "3_3"), (17, "4_1"),
             (19, "4_2"), (21, "4_3")]


def caffe_vgg(classes=10):
    """The names of the Caffe model, as in many re-implementations."""
    layers, widths = {}, {"1": 8, "2": 16, "3": 32, "4": 64}
    before = 3
    for _, name in vgg_convs:
        layers["conv" + name] = nn.Conv2d(before, widths[name[0]], 3)
        before = widths[name[0]]
    return part("VGG16", **layers, fc6=linear(64 * 49, 96), fc7=linear(96, 96), fc8=linear(96, classes))


def lpips_vgg():
    """pretrained_networks.py of LPIPS: slices of the features, with their numbers."""
    features = vgg_net().features
    slices = {f"slice{n + 1}": nn.Sequential() for n in range(4)}
    for n, (first, last) in enumerate(((0, 4), (4, 9), (9, 16), (16, 23))):
        for i in range(first, last):
            slices[f"slice{n + 1}"].add_module(str(i), features[i])
    return part("vgg16", **slices)


def vgg():
    f = Names("vgg", "torchvision", "timm")
    f.listing("torchvision", vgg_net)
    f.listing("torchvision_100", lambda: vgg_net(100))
    f.listing("torchvision_bn", lambda: vgg_net(norm=True))
    f.listing("caffe", caffe_vgg, "VGG16 of Caffe")
    f.listing("lpips", lpips_vgg, "lpips.pretrained_networks.vgg16")
    f.listing("ssd", lambda: part("SSD", vgg=list(vgg_net().features), extras=[nn.Conv2d(64, 32, 1)],
                                  loc=[nn.Conv2d(64, 16, 3)], conf=[nn.Conv2d(64, 84, 3)]), "ssd.pytorch SSD")
    caffe = Table("\n".join(f"features.{i} = conv{n}" for i, n in vgg_convs) + """
        classifier.0 = fc6
        classifier.3 = fc7
        classifier.6 = fc8""")
    lpips = Table("\n".join(f"features.{i} = slice{n[0]}.{i}" for i, n in vgg_convs))
    ssd = Table("features.{i} = vgg.{i}")
    # The convolutions of the variant with norms are 3 entries apart, not 2.
    plain = [i for i, _ in vgg_convs]
    with_norm, at = [], 0
    for width in [8, 8, "M", 16, 16, "M", 32, 32, 32, "M", 64, 64, 64, "M"]:
        if width == "M":
            at += 1
        else:
            with_norm.append(at)
            at += 3
    f.pair("torchvision_to_caffe", "torchvision", "caffe", caffe, kind="numbered")
    f.pair("caffe_to_torchvision", "caffe", "torchvision", caffe, back=True, kind="numbered")
    f.pair("torchvision_to_caffe_unsorted", "torchvision", "caffe", caffe, kind="numbered", sorted_file=False)
    f.pair("caffe_to_torchvision_burn_layout", "caffe", "torchvision", caffe, back=True, kind="numbered",
           layout="burn")
    f.pair("torchvision_to_lpips", "torchvision", "lpips", lpips, kind="numbered")
    f.pair("lpips_to_torchvision", "lpips", "torchvision", lpips, back=True, kind="numbered",
           unfed=[r"^classifier\."])
    f.pair("ssd_from_torchvision", "torchvision", "ssd", ssd, kind="head", unfed=[r"^(extras|loc|conf)\."])
    f.pair("plain_to_norm", "torchvision", "torchvision_bn", Table("\n".join(
        [f"features.{a} = features.{b}" for a, b in zip(plain, with_norm)] + ["classifier.{i} = classifier.{i}"])),
        kind="numbered", unfed=[rf"^features\.({'|'.join(str(i + 1) for i in with_norm)})\."])
    f.case("classes", "torchvision", "torchvision_100", "head", unfed=[r"^classifier\.6\."], layout="burn")
    f.wrapped("perceptual", "torchvision", "perceptual_loss.vgg.",
              [["generator.conv.weight", "f32", [8, 3, 3, 3], "Conv2d"],
               ["generator.conv.bias", "f32", [8], "Conv2d"]])
    f.case("perceptual", "perceptual", "torchvision", "wrapped", [(r"^perceptual_loss\.vgg\.", "")])
    f.listing("vit", lambda: timm_vit(depth=1))
    f.unrelated("from_vit", "vit", "caffe")
    f.write()


# ---------------------------------------------------------------- YOLO


def yolo_net(config="yolov8n.yaml", classes=10):
    from ultralytics.nn import tasks
    settings = tasks.yaml_model_load(config)
    settings["scales"] = {"n": [0.33, 0.125, 512]}
    kind = tasks.ClassificationModel if "cls" in config else tasks.DetectionModel
    with torch.device("cpu"):  # it runs the model to find its strides
        return kind(settings, nc=classes, verbose=False)


def tinygrad_yolo():
    """examples/yolov8.py of tinygrad: the same layers under other names."""
    layers = yolo_net().model
    for layer in layers:
        if hasattr(layer, "m") and isinstance(layer.m, nn.ModuleList):
            layer.bottleneck = layer.m
            del layer.m
    return part("YOLOv8",
                net=part("Darknet", **{f"b{n + 1}": [layers[2 * n], layers[2 * n + 1]] for n in range(5)}),
                fpn=part("Yolov8NECK", **{f"n{n + 1}": layers[i] for n, i in enumerate((12, 15, 16, 18, 19, 21))}),
                head=layers[22])


def yolo():
    f = Names("yolo", "ultralytics")
    f.listing("v8", yolo_net)
    f.listing("v8_3", lambda: yolo_net(classes=3))
    f.listing("v8_labels", lambda: yolo_net("yolov8n-cls.yaml"))
    f.listing("tinygrad", tinygrad_yolo, "tinygrad examples/yolov8.py")
    for one in f.data["listings"].values():  # without the counters, to keep the lists short
        one["tensors"] = [t for t in one["tensors"] if not t[0].endswith("num_batches_tracked")]
    lines = []
    for i in range(22):
        name = f"net.b{i // 2 + 1}.{i % 2}" if i < 10 else {12: "fpn.n1", 15: "fpn.n2", 16: "fpn.n3", 18: "fpn.n4",
                                                            19: "fpn.n5", 21: "fpn.n6"}.get(i)
        if name:
            lines += [f"model.{i}.m.{{j}}.** = {name}.bottleneck.{{j}}.**", f"model.{i}.** = {name}.**"]
    tinygrad = Table("\n".join(lines + ["model.22.** = head.**"]))
    f.pair("to_tinygrad", "v8", "tinygrad", tinygrad, kind="numbered")
    f.pair("from_tinygrad", "tinygrad", "v8", tinygrad, back=True, kind="numbered", sorted_file=False)
    f.pair("to_tinygrad_burn_layout", "v8", "tinygrad", tinygrad, kind="numbered", layout="burn")
    f.case("classes", "v8", "v8_3", "head", unfed=[r"^model\.22\.cv3\.\d\.2\."])
    f.case("labels_from_boxes", "v8", "v8_labels", "head", unfed=[r"^model\.9\."], sorted_file=False)
    f.wrapped("model", "v8", "model.")
    f.case("wrapped", "model", "v8", "wrapped", [(r"^model\.model\.", "model.")])
    f.pair("wrapped_to_tinygrad", "model", "tinygrad", tinygrad, kind="wrapped", strip=r"^model\.(?=model)")
    f.case("unwrapped", "v8", "model", "wrapped", [(r"^", "model.")], layout="burn", sorted_file=False)
    f.write()


makers = [vit, deit, clip, resnet, convnext, mobilenet_v2, efficientnet, vgg, yolo]
