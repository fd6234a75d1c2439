# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families: transformers for images."""
from functools import partial

import timm
import torch
import transformers as hf
import torchvision
from torch import nn
from torchvision.ops import FrozenBatchNorm2d

from held_out_lib import (adam, changed, copies, family, fused, linear, listings, net, on_cpu, param, seq, strip, ways,
                          write)


def swin():
    f = family("swin", "transformers", "timm", "torchvision")
    dims, heads, sides = (16, 32, 64), (1, 2, 4), (28, 14, 7)
    config = hf.SwinConfig(image_size=112, patch_size=4, embed_dim=16, depths=[2, 2, 2], num_heads=list(heads),
                           window_size=7, num_labels=10)

    def with_timm(classes=10, depths=(2, 2, 2)):
        return lambda: timm.models.swin_transformer.SwinTransformer(
            img_size=112, embed_dim=16, depths=depths, num_heads=heads, num_classes=classes)

    def microsoft():
        def block(i, j):
            d = dims[i]
            attn = net("WindowAttention", relative_position_bias_table=param(169, heads[i]),
                       relative_position_index=torch.empty(49, 49, dtype=torch.int64),
                       qkv=linear(d, 3 * d), proj=linear(d, d))
            windows = (sides[i] // 7) ** 2
            return net("SwinTransformerBlock", norm1=nn.LayerNorm(d), attn=attn, norm2=nn.LayerNorm(d),
                       mlp=net("Mlp", fc1=linear(d, 4 * d), fc2=linear(4 * d, d)),
                       attn_mask=torch.empty(windows, 49, 49) if j % 2 and windows > 1 else None)

        def layer(i):
            d = dims[i]
            down = None if i == 2 else net("PatchMerging", reduction=linear(4 * d, 2 * d, bias=False),
                                           norm=nn.LayerNorm(4 * d))
            return net("BasicLayer", blocks=[block(i, 0), block(i, 1)], downsample=down)
        return net("SwinTransformer", patch_embed=net("PatchEmbed", proj=nn.Conv2d(3, 16, 4, 4), norm=nn.LayerNorm(16)),
                   layers=[layer(i) for i in range(3)], norm=nn.LayerNorm(64), head=linear(64, 10))

    listings(f, hub=lambda: hf.SwinForImageClassification(config), hf=lambda: hf.SwinForImageClassification(config),
             timm=with_timm(), timm5=with_timm(5), timm_deep=with_timm(depths=(2, 2, 4)),
             torchvision=lambda: torchvision.models.SwinTransformer([4, 4], 16, [2, 2, 2], list(heads), [7, 7],
                                                                    num_classes=10),
             original=(microsoft, "microsoft/Swin-Transformer SwinTransformer"))
    f.wrapped("original_file", "original", "model.")

    a, b = "swin.encoder.layers.*.blocks.*", "layers.*.blocks.*"
    stem = [("swin.embeddings.patch_embeddings.projection", "patch_embed.proj"),
            ("swin.embeddings.norm", "patch_embed.norm"), ("swin.layernorm", "norm"), ("classifier", "head.fc"),
            (a + ".layernorm_before", b + ".norm1"), (a + ".layernorm_after", b + ".norm2"),
            ("swin.encoder.layers.0.downsample", "layers.1.downsample"),
            ("swin.encoder.layers.1.downsample", "layers.2.downsample")]
    table = ".attn.relative_position_bias_table"
    published = ways(*stem, (a + ".attention.self.relative_position_bias_table", b + table),
                     (a + ".attention.output.dense", b + ".attn.proj"), (a + ".intermediate.dense", b + ".mlp.fc1"),
                     (a + ".output.dense", b + ".mlp.fc2"))
    module = ways(*stem, (a + ".attention.relative_position_bias.relative_position_bias_table", b + table),
                  (a + ".attention.o_proj", b + ".attn.proj"), (a + ".mlp", b + ".mlp"))
    qkv = fused(b + ".attn.qkv", *(f"{a}.attention.self.{x}" for x in ("query", "key", "value")))
    qkv_module = fused(b + ".attn.qkv", *(f"{a}.attention.{x}_proj" for x in "qkv"))
    f.case("hub_to_timm", "hub", "timm", "fused", published[0], joins=[qkv])
    f.case("hub_to_timm_burn", "hub", "timm", "fused", published[0], joins=[qkv], layout="burn")
    f.case("timm_to_hf", "timm", "hf", "fused", module[1], splits=[qkv_module], sorted_file=False)
    f.case("hub_to_timm_5_classes", "hub", "timm5", "head", published[0], joins=[qkv], unfed=["^head"])
    f.case("hub_to_deeper_timm", "hub", "timm_deep", "depth", published[0], joins=[qkv],
           unfed=[r"layers\.2\.blocks\.[23]\."])

    moved = ways(*((f"layers.{i}.downsample", f"layers.{i + 1}.downsample") for i in range(2)), ("head", "head.fc"))
    buffers = ["attn_mask", "relative_position_index"]
    f.case("original_to_timm", "original_file", "timm", "numbered", [strip("model.")] + moved[0], sorted_file=False)
    f.case("timm_to_original", "timm", "original", "numbered", moved[1], unfed=buffers)
    numbered = ways(("features.0.0", "patch_embed.proj"), ("features.0.2", "patch_embed.norm"),
                    *(pair for i in range(3) for pair in (
                        (f"features.{2 * i + 1}.*.mlp.0", f"layers.{i}.blocks.*.mlp.fc1"),
                        (f"features.{2 * i + 1}.*.mlp.3", f"layers.{i}.blocks.*.mlp.fc2"),
                        (f"features.{2 * i + 1}.*", f"layers.{i}.blocks.*"),
                        (f"features.{2 * i + 2}", f"layers.{i}.downsample"))))
    f.case("torchvision_to_original", "torchvision", "original", "renamed", numbered[0], unfed=buffers)
    f.case("original_to_torchvision", "original", "torchvision", "numbered", numbered[1], unfed=buffers)
    f.case("original_to_torchvision_burn", "original", "torchvision", "numbered", numbered[1], unfed=buffers,
           sorted_file=False, layout="burn")
    write(f)


def beit():
    f = family("beit", "transformers", "timm")

    def config(classes):
        return hf.BeitConfig(image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                             intermediate_size=128, num_labels=classes, use_relative_position_bias=True,
                             use_shared_relative_position_bias=False, use_mean_pooling=True)

    def with_timm(classes):
        return lambda: timm.models.beit.Beit(img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=4,
                                             num_classes=classes, init_values=0.1, use_abs_pos_emb=False,
                                             use_rel_pos_bias=True)
    listings(f, hub=lambda: hf.BeitForImageClassification(config(10)),
             hf=lambda: hf.BeitForImageClassification(config(10)),
             hf_base=lambda: hf.BeitModel(config(10), add_pooling_layer=False), timm=with_timm(10), timm4=with_timm(4))
    f.wrapped("trained", "timm", "model.", adam(f, "timm"))
    f.wrapped("averaged", "timm", "state_dict.", copies(f, "timm", "state_dict_ema."))

    a, b = "beit.encoder.layer.*", "blocks.*"
    stem = [("beit.embeddings.cls_token", "cls_token"),
            ("beit.embeddings.patch_embeddings.projection", "patch_embed.proj"), ("beit.pooler.layernorm", "fc_norm"),
            ("classifier", "head")]
    block = [(".lambda_1", ".gamma_1"), (".lambda_2", ".gamma_2"), (".layernorm_before", ".norm1"),
             (".layernorm_after", ".norm2")]
    s = ".attention.attention"
    published = ways(*stem, *((a + x, b + y) for x, y in block), (a + ".attention.output.dense", b + ".attn.proj"),
                     (a + s + ".query.bias", b + ".attn.q_bias"), (a + s + ".value.bias", b + ".attn.v_bias"),
                     (a + s + ".relative_position_bias.relative_position_bias_table",
                      b + ".attn.relative_position_bias_table"),
                     (a + ".intermediate.dense", b + ".mlp.fc1"), (a + ".output.dense", b + ".mlp.fc2"))
    qkv = fused(b + ".attn.qkv.weight", *(f"{a}{s}.{x}.weight" for x in ("query", "key", "value")))
    c = "beit.layers.*"
    module = ways(*stem, *((c + x, b + y) for x, y in block), (c + ".attention.o_proj", b + ".attn.proj"),
                  (c + ".attention.q_proj.bias", b + ".attn.q_bias"),
                  (c + ".attention.v_proj.bias", b + ".attn.v_bias"),
                  (c + ".relative_position_bias.relative_position_bias_table",
                   b + ".attn.relative_position_bias_table"),
                  (c + ".mlp", b + ".mlp"))
    qkv_module = fused(b + ".attn.qkv.weight", *(f"{c}.attention.{x}_proj.weight" for x in "qkv"))
    f.case("hub_to_timm", "hub", "timm", "fused", published[0], joins=[qkv])
    f.case("timm_to_hf", "timm", "hf", "fused", module[1], splits=[qkv_module])
    f.case("timm_to_hf_burn", "timm", "hf", "fused", module[1], splits=[qkv_module], layout="burn")
    f.case("timm_to_hf_base", "timm", "hf_base", "head", module[1] + [strip("beit.")],
           splits=[(qkv_module[0], [p.removeprefix("beit.") for p in qkv_module[1]])], sorted_file=False)
    f.case("hub_to_timm_4_classes", "hub", "timm4", "head", published[0], joins=[qkv], unfed=["^head"])
    f.case("trained", "trained", "timm", "wrapped", [strip("model.")], sorted_file=False)
    f.case("averaged_to_4_classes", "averaged", "timm4", "wrapped", [strip("state_dict.")], unfed=["^head"])
    write(f)


def pyramid():
    """SegFormer and PVT v2."""
    from segmentation_models_pytorch.encoders.mix_transformer import MixVisionTransformer
    dims, depths, heads = [16, 32, 40, 64], [1, 1, 1, 1], [1, 2, 5, 8]

    def encoder():
        return on_cpu(lambda: MixVisionTransformer(embed_dims=dims, num_heads=heads, mlp_ratios=[4] * 4, qkv_bias=True,
                                                   depths=depths, sr_ratios=[8, 4, 2, 1]))()

    def nvidia():
        def part(d):
            return net("MLP", proj=linear(d, 48))
        fuse = net("ConvModule", conv=nn.Conv2d(192, 48, 1, bias=False), bn=nn.SyncBatchNorm(48))
        head = net("SegFormerHead", conv_seg=nn.Conv2d(128, 19, 1), linear_c4=part(64), linear_c3=part(40),
                   linear_c2=part(32), linear_c1=part(16), linear_fuse=fuse, linear_pred=nn.Conv2d(48, 19, 1))
        return net("EncoderDecoder", backbone=encoder(), decode_head=head)

    f = family("segformer", "transformers", "segmentation_models_pytorch")

    def config(classes):
        return hf.SegformerConfig(hidden_sizes=dims, depths=depths, num_attention_heads=heads, decoder_hidden_size=48,
                                  num_labels=classes)
    listings(f, hub=lambda: hf.SegformerForSemanticSegmentation(config(19)),
             hf=lambda: hf.SegformerForSemanticSegmentation(config(19)),
             hf_150=lambda: hf.SegformerForSemanticSegmentation(config(150)),
             original=(nvidia, "NVlabs/SegFormer EncoderDecoder"), encoder=encoder)
    f.wrapped("original_file", "original", "state_dict.")

    def stage(i, c):
        x, y = f"segformer.encoder.block.{i}.*", f"backbone.block{i + 1}.*"
        if c == "hf":
            x = f"segformer.stages.{i}.blocks.*"
        names = {"hub": (f"segformer.encoder.patch_embeddings.{i}.proj",
                         f"segformer.encoder.patch_embeddings.{i}.layer_norm", ".layer_norm_1", ".layer_norm_2",
                         ".attention.self.query", ".attention.output.dense", ".attention.self.sr",
                         ".attention.self.layer_norm", ".mlp.dense1", ".mlp.dense2",
                         f"segformer.encoder.layer_norm.{i}", f"decode_head.linear_c.{i}"),
                 "hf": (f"segformer.stages.{i}.patch_embeddings.proj",
                        f"segformer.stages.{i}.patch_embeddings.layer_norm", ".layernorm_before", ".layernorm_after",
                        ".attention.q_proj", ".attention.o_proj", ".attention.sequence_reduction.sequence_reduction",
                        ".attention.sequence_reduction.layer_norm", ".mlp.fc1", ".mlp.fc2",
                        f"segformer.stages.{i}.layer_norm", f"decode_head.linear_projections.{i}")}[c]
        pairs = list(zip(names[2:10], (".norm1", ".norm2", ".attn.q", ".attn.proj", ".attn.sr", ".attn.norm",
                                       ".mlp.fc1", ".mlp.fc2"))) + [(".mlp.dwconv", ".mlp.dwconv")]
        return [(x + m, y + n) for m, n in pairs] + [
            (names[0], f"backbone.patch_embed{i + 1}.proj"), (names[1], f"backbone.patch_embed{i + 1}.norm"),
            (names[10], f"backbone.norm{i + 1}"), (names[11], f"decode_head.linear_c{i + 1}")]

    head = [("decode_head.linear_fuse", "decode_head.linear_fuse.conv"),
            ("decode_head.batch_norm", "decode_head.linear_fuse.bn"),
            ("decode_head.classifier", "decode_head.linear_pred")]
    published = ways(*head, *(p for i in range(4) for p in stage(i, "hub")))
    module = ways(*head, *(p for i in range(4) for p in stage(i, "hf")))
    kv = [fused(f"backbone.block{i + 1}.*.attn.kv", *(f"segformer.encoder.block.{i}.*.attention.self.{x}"
                                                      for x in ("key", "value"))) for i in range(4)]
    kv_module = [fused(f"backbone.block{i + 1}.*.attn.kv", *(f"segformer.stages.{i}.blocks.*.attention.{x}_proj"
                                                             for x in "kv")) for i in range(4)]
    f.case("original_to_hf", "original_file", "hf", "fused", [strip("state_dict.")] + module[1], splits=kv_module)
    f.case("original_to_hf_burn", "original", "hf", "fused", module[1], splits=kv_module, layout="burn")
    f.case("hub_to_original", "hub", "original", "fused", published[0], joins=kv, unfed=["conv_seg"])
    f.case("original_to_150_classes", "original", "hf_150", "head", module[1], splits=kv_module, unfed=["classifier"],
           sorted_file=False)
    f.case("original_to_encoder", "original_file", "encoder", "wrapped", [strip("state_dict."), strip("backbone.")])
    f.case("encoder_to_original", "encoder", "original", "head", [("^", "backbone.")], unfed=["^decode_head"],
           sorted_file=False)
    write(f)

    f = family("pvt_v2", "transformers", "timm")

    def pvt(classes):
        return hf.PvtV2Config(hidden_sizes=dims, depths=depths, num_attention_heads=heads, mlp_ratios=[4] * 4,
                              num_labels=classes)
    listings(f, hf=lambda: hf.PvtV2ForImageClassification(pvt(10)), hf_7=lambda: hf.PvtV2ForImageClassification(pvt(7)),
             timm=lambda: timm.models.pvt_v2.PyramidVisionTransformerV2(
                 num_classes=10, depths=depths, embed_dims=dims, num_heads=heads, mlp_ratios=[4] * 4))
    a, b = "pvt_v2.encoder.layers.*.blocks.*", "stages.*.blocks.*"
    embed = "pvt_v2.encoder.layers.{}.patch_embedding.{}"
    rules = ways((embed.format(0, "proj"), "patch_embed.proj"), (embed.format(0, "layer_norm"), "patch_embed.norm"),
                 *((embed.format(i, x), f"stages.{i}.downsample.{y}") for i in (1, 2, 3)
                   for x, y in (("proj", "proj"), ("layer_norm", "norm"))),
                 ("pvt_v2.encoder.layers.*.layer_norm", "stages.*.norm"), ("classifier", "head"),
                 *((a + x, b + y) for x, y in (
                     (".layer_norm_1", ".norm1"), (".layer_norm_2", ".norm2"), (".attention.query", ".attn.q"),
                     (".attention.proj", ".attn.proj"), (".attention.spatial_reduction", ".attn.sr"),
                     (".attention.layer_norm", ".attn.norm"), (".mlp.dense1", ".mlp.fc1"), (".mlp.dense2", ".mlp.fc2"),
                     (".mlp.dwconv.dwconv", ".mlp.dwconv"))))
    kv = fused(b + ".attn.kv", a + ".attention.key", a + ".attention.value")
    f.case("hf_to_timm", "hf", "timm", "fused", rules[0], joins=[kv])
    f.case("timm_to_hf", "timm", "hf", "fused", rules[1], splits=[kv])
    f.case("hf_to_timm_burn", "hf", "timm", "fused", rules[0], joins=[kv], sorted_file=False, layout="burn")
    f.case("timm_to_7_classes", "timm", "hf_7", "head", rules[1], splits=[kv], unfed=["^classifier"])
    write(f)


def detr():
    f = family("detr", "transformers", "timm", "torchvision")

    def config(classes):
        return hf.DetrConfig(use_timm_backbone=True, use_pretrained_backbone=False, backbone="resnet18",
                             backbone_config=None, d_model=32, encoder_layers=2, decoder_layers=2,
                             encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
                             decoder_ffn_dim=64, num_queries=20, num_labels=classes)

    def facebook():
        def attention():
            return nn.MultiheadAttention(32, 4)

        def encoder():
            return net("TransformerEncoderLayer", self_attn=attention(), linear1=linear(32, 64), linear2=linear(64, 32),
                       norm1=nn.LayerNorm(32), norm2=nn.LayerNorm(32))

        def decoder():
            return net("TransformerDecoderLayer", self_attn=attention(), multihead_attn=attention(),
                       linear1=linear(32, 64), linear2=linear(64, 32), norm1=nn.LayerNorm(32), norm2=nn.LayerNorm(32),
                       norm3=nn.LayerNorm(32))
        body = torchvision.models.resnet18(norm_layer=FrozenBatchNorm2d)
        del body.fc
        return net("DETR", transformer=net("Transformer",
                   encoder=net("TransformerEncoder", layers=[encoder(), encoder()]),
                   decoder=net("TransformerDecoder", layers=[decoder(), decoder()], norm=nn.LayerNorm(32))),
                   class_embed=linear(32, 92), bbox_embed=net("MLP", layers=[linear(32, 32), linear(32, 32),
                                                                             linear(32, 4)]),
                   query_embed=nn.Embedding(20, 32), input_proj=nn.Conv2d(512, 32, 1),
                   backbone=net("Joiner", **{"0": net("Backbone", body=body)}))
    listings(f, hub=lambda: hf.DetrForObjectDetection(config(91)), hf=lambda: hf.DetrForObjectDetection(config(91)),
             hf_20=lambda: hf.DetrForObjectDetection(config(20)), original=(facebook, "facebookresearch/detr DETR"))

    def rules(body, out, mlp):
        e, d = "model.encoder.layers.*", "model.decoder.layers.*"
        x, y = "transformer.encoder.layers.*", "transformer.decoder.layers.*"
        return ways((body, "backbone.0.body"), ("model.query_position_embeddings", "query_embed"),
                    ("model.input_projection", "input_proj"), ("class_labels_classifier", "class_embed"),
                    ("bbox_predictor", "bbox_embed"), ("model.decoder.layernorm", "transformer.decoder.norm"),
                    *((m + ".self_attn." + out, n + ".self_attn.out_proj") for m, n in ((e, x), (d, y))),
                    (d + ".encoder_attn." + out, y + ".multihead_attn.out_proj"),
                    *((m + mlp + ".fc" + i, n + ".linear" + i) for m, n in ((e, x), (d, y)) for i in "12"),
                    (e + ".self_attn_layer_norm", x + ".norm1"), (e + ".final_layer_norm", x + ".norm2"),
                    (d + ".self_attn_layer_norm", y + ".norm1"), (d + ".encoder_attn_layer_norm", y + ".norm2"),
                    (d + ".final_layer_norm", y + ".norm3"))
    published = rules("model.backbone.conv_encoder.model", "out_proj", "")
    module = rules("model.backbone.model", "o_proj", ".mlp")
    qkv = [fused(f"transformer.{side}.layers.*.{b}.in_proj_{p}",
                 *(f"model.{side}.layers.*.{a}.{x}_proj.{p}" for x in "qkv"))
           for side, a, b in (("encoder", "self_attn", "self_attn"), ("decoder", "self_attn", "self_attn"),
                              ("decoder", "encoder_attn", "multihead_attn")) for p in ("weight", "bias")]
    f.case("original_to_hf", "original", "hf", "fused", module[1], splits=qkv, sorted_file=False)
    f.case("hub_to_original", "hub", "original", "fused", published[0], joins=qkv)
    f.case("original_to_hf_20_classes", "original", "hf_20", "head", module[1], splits=qkv,
           unfed=["^class_labels_classifier"])
    f.case("hub_to_hf", "hub", "hf", "renamed", [(r"conv_encoder\.", ""), (r"out_proj", "o_proj"),
                                                 (r"(layers\.\d+)\.fc", r"\1.mlp.fc")])
    write(f)


def dinov2():
    f = family("dinov2", "transformers", "timm")

    def config(depth, classes=10):
        return hf.Dinov2Config(image_size=28, patch_size=14, hidden_size=48, num_hidden_layers=depth,
                               num_attention_heads=3, num_labels=classes)

    def with_timm(depth, classes=0):
        return timm.models.vision_transformer.VisionTransformer(
            img_size=28, patch_size=14, embed_dim=48, depth=depth, num_heads=3, num_classes=classes, init_values=1e-5)

    def original():
        module = with_timm(2)
        module.mask_token = param(1, 48)
        return module
    listings(f, hub=lambda: hf.Dinov2Model(config(2)), hf=lambda: hf.Dinov2Model(config(2)),
             hf_head=lambda: hf.Dinov2ForImageClassification(config(2)), timm=lambda: with_timm(2),
             timm_head=lambda: with_timm(2, 10), hub_24=lambda: hf.Dinov2Model(config(24)),
             timm_24=lambda: with_timm(24), original=(original, "facebookresearch/dinov2 DinoVisionTransformer"))
    head = net("DINOHead", mlp=seq(linear(48, 96), None, linear(96, 96), None, linear(96, 32)),
               last_layer=linear(32, 128, bias=False))
    f.wrapped("teacher", "original", "teacher.backbone.",
              [["teacher.dino_head." + n, "f32", list(t.shape), ""] for n, t in head.state_dict().items()])
    a, b = "encoder.layer.*", "blocks.*"
    stem = [("embeddings.cls_token", "cls_token"), ("embeddings.mask_token", "mask_token"),
            ("embeddings.position_embeddings", "pos_embed"),
            ("embeddings.patch_embeddings.projection", "patch_embed.proj"), ("layernorm", "norm"),
            *((f"{a}.norm{i}", f"{b}.norm{i}") for i in "12"), (a + ".mlp", b + ".mlp"),
            *((f"{a}.layer_scale{i}.lambda1", f"{b}.ls{i}.gamma") for i in "12")]
    published = ways(*stem, (a + ".attention.output.dense", b + ".attn.proj"))
    module = ways(*stem, (a + ".attention.o_proj", b + ".attn.proj"))
    qkv = fused(b + ".attn.qkv", *(f"{a}.attention.attention.{x}" for x in ("query", "key", "value")))
    qkv_module = fused(b + ".attn.qkv", *(f"{a}.attention.{x}_proj" for x in "qkv"))
    f.case("hub_to_timm", "hub", "timm", "fused", published[0], joins=[qkv])
    f.case("hub_to_timm_24_layers", "hub_24", "timm_24", "fused", published[0], joins=[qkv])
    f.case("original_to_hf", "original", "hf", "fused", module[1], splits=[qkv_module], sorted_file=False)
    f.case("original_to_hf_burn", "original", "hf", "fused", module[1], splits=[qkv_module], layout="burn")
    f.case("teacher_to_timm", "teacher", "timm", "wrapped", [strip("teacher.backbone.")])
    f.case("hub_to_timm_head", "hub", "timm_head", "head", published[0], joins=[qkv], unfed=["^head"])
    f.case("teacher_to_hf_head", "teacher", "hf_head", "head",
           [strip("teacher.backbone.")] + module[1] + [(r"^(?!teacher|blocks)", "dinov2.")],
           splits=[(qkv_module[0], ["dinov2." + p for p in qkv_module[1]])], unfed=["^classifier"], sorted_file=False)
    write(f)


def sam():
    from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, Sam, TwoWayTransformer
    f = family("sam", "transformers", "segment-anything")
    vision = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=64, patch_size=16,
                  output_channels=16, window_size=2, global_attn_indexes=[1], mlp_dim=128, num_pos_feats=8)
    config = hf.SamConfig(vision_config=vision, prompt_encoder_config=dict(
        hidden_size=16, image_size=64, patch_size=16, mask_input_channels=16), mask_decoder_config=dict(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, mlp_dim=32, iou_head_hidden_dim=16))

    def original():
        return Sam(ImageEncoderViT(depth=2, embed_dim=32, img_size=64, norm_layer=partial(nn.LayerNorm, eps=1e-6),
                                   num_heads=2, use_rel_pos=True, global_attn_indexes=[1], window_size=2, out_chans=16),
                   PromptEncoder(embed_dim=16, image_embedding_size=(4, 4), input_image_size=(64, 64),
                                 mask_in_chans=16),
                   MaskDecoder(transformer=TwoWayTransformer(depth=2, embedding_dim=16, mlp_dim=32, num_heads=2),
                               transformer_dim=16, iou_head_hidden_dim=16))
    listings(f, hf=lambda: hf.SamModel(config), hf_vision=lambda: hf.SamVisionModel(config.vision_config),
             original=original)
    # The two position embeddings are one tensor; files have it once.
    changed(f, "hub", "hf", without=[r"^prompt_encoder\.shared_embedding"])
    f.wrapped("medical", "original", "model.module.")
    a, b = "vision_encoder.layers.*", "image_encoder.blocks.*"
    t = "mask_decoder.transformer."
    pe = ("shared_image_embedding.positional_embedding",
          "prompt_encoder.pe_layer.positional_encoding_gaussian_matrix")
    rules = ways(("vision_encoder.pos_embed", "image_encoder.pos_embed"),
                 ("vision_encoder.patch_embed.projection", "image_encoder.patch_embed.proj"),
                 *((f"{a}.layer_norm{i}", f"{b}.norm{i}") for i in "12"), (a + ".attn", b + ".attn"),
                 (a + ".mlp", b + ".mlp"),
                 *(("vision_encoder.neck." + x, f"image_encoder.neck.{i}")
                   for i, x in enumerate(("conv1", "layer_norm1", "conv2", "layer_norm2"))),
                 pe, ("prompt_encoder.point_embed", "prompt_encoder.point_embeddings"),
                 *(("prompt_encoder.mask_embed." + x, f"prompt_encoder.mask_downscaling.{i}") for i, x in (
                     (0, "conv1"), (1, "layer_norm1"), (3, "conv2"), (4, "layer_norm2"), (6, "conv3"))),
                 *((f"{t}layers.*.layer_norm{i}", f"{t}layers.*.norm{i}") for i in "1234"),
                 (t + "layer_norm_final_attn", t + "norm_final_attn"),
                 *(("mask_decoder." + x, f"mask_decoder.output_upscaling.{i}") for i, x in (
                     (0, "upscale_conv1"), (1, "upscale_layer_norm"), (3, "upscale_conv2"))),
                 *((f"mask_decoder.{m}.{x}", f"mask_decoder.{m}.layers.{i}")
                   for m in ("output_hypernetworks_mlps.*", "iou_prediction_head")
                   for i, x in enumerate(("proj_in", "layers.0", "proj_out"))))
    f.case("hub_to_original", "hub", "original", "renamed", rules[0])
    f.case("hub_to_original_burn", "hub", "original", "renamed", rules[0], sorted_file=False, layout="burn")
    f.case("original_to_vision_model", "original", "hf_vision", "head", rules[1])
    f.case("medical_to_vision_model", "medical", "hf_vision", "wrapped", [strip("model.module.")] + rules[1],
           sorted_file=False)
    f.case("medical_to_original", "medical", "original", "wrapped", [strip("model.module.")])
    write(f)


def mixer():
    f = family("mlp_mixer", "timm")

    def with_timm(classes, blocks=3):
        return lambda: timm.models.mlp_mixer.MlpMixer(num_classes=classes, img_size=64, patch_size=16,
                                                      num_blocks=blocks, embed_dim=64)

    def github():
        def feed(a, b):
            return net("FeedForward", net=seq(linear(a, b), None, None, linear(b, a)))
        return net("MLPMixer", to_patch_embedding=seq(nn.Conv2d(3, 64, 16, 16), None),
                   mixer_blocks=[net("MixerBlock", token_mix=seq(nn.LayerNorm(64), None, feed(16, 32), None),
                                     channel_mix=seq(nn.LayerNorm(64), feed(64, 256))) for _ in range(3)],
                   layer_norm=nn.LayerNorm(64), mlp_head=seq(linear(64, 10)))
    listings(f, timm=with_timm(10), timm_100=with_timm(100), timm_4=with_timm(10, 4),
             github=(github, "rishikksh20/MLP-Mixer-pytorch MLPMixer"))
    f.wrapped("trained", "github", "net.", copies(f, "github", "ema.module."))
    a, b = "blocks.*", "mixer_blocks.*"
    rules = ways(("stem.proj", "to_patch_embedding.0"), ("norm", "layer_norm"), ("head", "mlp_head.0"),
                 (a + ".norm1", b + ".token_mix.0"), (a + ".norm2", b + ".channel_mix.0"),
                 (a + ".mlp_tokens.fc1", b + ".token_mix.2.net.0"), (a + ".mlp_tokens.fc2", b + ".token_mix.2.net.3"),
                 (a + ".mlp_channels.fc1", b + ".channel_mix.1.net.0"),
                 (a + ".mlp_channels.fc2", b + ".channel_mix.1.net.3"))
    f.case("timm_to_github", "timm", "github", "numbered", rules[0])
    f.case("github_to_timm", "github", "timm", "numbered", rules[1])
    f.case("github_to_timm_burn", "github", "timm", "numbered", rules[1], sorted_file=False, layout="burn")
    f.case("trained_to_timm", "trained", "timm", "wrapped", [strip("net.")] + rules[1])
    f.case("github_to_deeper_timm", "github", "timm_4", "depth", rules[1], unfed=[r"^blocks\.3\."])
    f.case("timm_to_100_classes", "timm", "timm_100", "head", unfed=["^head"])
    write(f)


for make in (swin, beit, pyramid, detr, dinov2, sam, mixer):
    make()
