# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families, second part: transformers for images, and ControlNet. Needs timm, transformers and diffusers."""
import re

import diffusers
import timm
import torch
import transformers as hf
from diffusers.loaders.single_file_utils import convert_controlnet_checkpoint
from timm.models import eva
from torch import nn

from held_out_check import alike, renamed
from held_out_lib import adam, changed, family, fused, linear, listings, net, param, seq, strip, ways, write

width, wide = 48, 192
image = torch.randn(2, 3, 32, 32)
sizes = {"hidden_size": width, "intermediate_size": wide, "num_attention_heads": 4, "image_size": 32, "patch_size": 8}


def block(d=width, **more):
    """The block of timm's vision transformer, which most of the original implementations have."""
    parts = {"norm1": nn.LayerNorm(d), "attn": net("Attention", qkv=linear(d, 3 * d), proj=linear(d, d)),
             "norm2": nn.LayerNorm(d), "mlp": net("Mlp", fc1=linear(d, 4 * d), fc2=linear(4 * d, d))}
    return net("Block", **{**parts, **more})


def embed():
    return net("PatchEmbed", proj=nn.Conv2d(3, width, 8, 8))


def with_timm(classes, layers=2):
    return lambda: timm.create_model("vit_base_patch16_224", img_size=32, patch_size=8, embed_dim=width, depth=layers,
                                     num_heads=4, num_classes=classes)


def masked_autoencoder():
    f = family("mae", "transformers", "timm")

    def config(layers=2):
        return hf.ViTMAEConfig(num_hidden_layers=layers, decoder_hidden_size=40, decoder_intermediate_size=160,
                               decoder_num_hidden_layers=2, decoder_num_attention_heads=4, mask_ratio=0.0, **sizes)

    def original():
        return net("MaskedAutoencoderViT", cls_token=param(1, 1, width), pos_embed=param(1, 17, width),
                   mask_token=param(1, 1, 40), decoder_pos_embed=param(1, 17, 40), patch_embed=embed(),
                   blocks=[block(), block()], norm=nn.LayerNorm(width), decoder_embed=linear(width, 40),
                   decoder_blocks=[block(40), block(40)], decoder_norm=nn.LayerNorm(40), decoder_pred=linear(40, 192))
    vit = hf.ViTConfig(num_hidden_layers=2, num_labels=5, **sizes)
    listings(f, hf=lambda: hf.ViTMAEForPreTraining(config()), hub_raw=lambda: hf.ViTMAEForPreTraining(config()),
             hf_encoder=lambda: hf.ViTMAEModel(config()), hf_deep=lambda: hf.ViTMAEModel(config(3)),
             classifier=lambda: hf.ViTForImageClassification(vit), timm=with_timm(0), timm_10=with_timm(10),
             original=(original, "facebookresearch/mae MaskedAutoencoderViT"))
    # transformers reverts the decoder's names wrongly: facebook/vit-mae-base has decoder_layers.
    changed(f, "hub", "hub_raw", [(r"decoder_encoder\.layer", "decoder_layers")])
    f.wrapped("original_file", "original", "model.")
    f.wrapped("training", "original", "model.", adam(f, "original"))

    def names(e, d, inner):
        """e and d: the blocks of the encoder and of the decoder."""
        stem = [("vit.embeddings.cls_token", "cls_token"), ("vit.embeddings.position_embeddings", "pos_embed"),
                ("vit.embeddings.patch_embeddings.projection", "patch_embed.proj"), ("vit.layernorm", "norm"),
                *(("decoder." + x, x) for x in ("mask_token", "decoder_pos_embed", "decoder_embed", "decoder_norm",
                                                "decoder_pred"))]
        return ways(*stem, *((x + i, y + j) for x, y in ((e, "blocks.*"), (d, "decoder_blocks.*")) for i, j in inner))
    e, d = "vit.layers.*", "decoder.decoder_layers.*"
    norms = [(".layernorm_before", ".norm1"), (".layernorm_after", ".norm2")]
    module = names(e, d, norms + [(".attention.o_proj", ".attn.proj"), (".mlp", ".mlp")])
    qkv = [fused(y + ".attn.qkv", *(f"{x}.attention.{n}_proj" for n in "qkv"))
           for x, y in ((e, "blocks.*"), (d, "decoder_blocks.*"))]
    published = names("vit.encoder.layer.*", d, norms + [(".attention.output.dense", ".attn.proj"),
                                                         (".intermediate.dense", ".mlp.fc1"),
                                                         (".output.dense", ".mlp.fc2")])
    hub_qkv = [fused(y + ".attn.qkv", *(f"{x}.attention.attention.{n}" for n in ("query", "key", "value")))
               for x, y in (("vit.encoder.layer.*", "blocks.*"), (d, "decoder_blocks.*"))]
    short = [(p, [n.removeprefix("vit.") for n in n_s]) for p, n_s in qkv[:1]]
    f.case("original_to_hf", "original_file", "hf", "wrapped", [strip("model.")] + module[1], splits=qkv)
    f.case("original_to_hf_burn", "original", "hf", "fused", module[1], splits=qkv, sorted_file=False, layout="burn")
    f.case("hub_to_original", "hub", "original", "fused", published[0], joins=hub_qkv)
    f.case("timm_to_hf_encoder", "timm", "hf_encoder", "fused", module[1] + [strip("vit.")], splits=short)
    f.case("training_to_timm_10_classes", "training", "timm_10", "head", [strip("model.")], unfed=["^head"],
           sorted_file=False)
    f.case("original_to_classifier", "original_file", "classifier", "head", [strip("model.")] + module[1],
           splits=qkv[:1], unfed=["^classifier"])
    f.case("timm_to_deeper_hf", "timm", "hf_deep", "depth", module[1] + [strip("vit.")], splits=short,
           unfed=[r"^layers\.2\."])
    # The noise sorts the patches, so they stay in their order here.
    order = torch.arange(16.0).repeat(2, 1)
    alike(f, "timm_to_hf_encoder", with_timm(0), lambda: hf.ViTMAEModel(config()), lambda m: m.forward_features(image),
          lambda m: m(image, noise=order).last_hidden_state)
    write(f)


def dino_3():
    f = family("dinov3", "transformers", "timm")

    def config():
        return hf.DINOv3ViTConfig(num_hidden_layers=2, num_register_tokens=4, **sizes)

    def with_bias(classes=0):
        return lambda: timm.create_model("vit_small_patch16_dinov3_qkvb", img_size=32, patch_size=8, embed_dim=width,
                                         depth=2, num_heads=4, num_classes=classes)

    def meta():
        def layer():
            attn = net("SelfAttention", qkv=net("LinearKMaskedBias", weight=param(144, width), bias=param(144),
                                                bias_mask=torch.empty(144)), proj=linear(width, width))
            made = block()
            return net("SelfAttentionBlock", norm1=made.norm1, attn=attn, ls1=net("LayerScale", gamma=param(width)),
                       norm2=made.norm2, mlp=made.mlp, ls2=net("LayerScale", gamma=param(width)))
        return net("DinoVisionTransformer", cls_token=param(1, 1, width), storage_tokens=param(1, 4, width),
                   mask_token=param(1, width), patch_embed=embed(),
                   rope_embed=net("RopePositionEmbedding", periods=torch.empty(3)), blocks=[layer(), layer()],
                   norm=nn.LayerNorm(width))
    listings(f, hf=lambda: hf.DINOv3ViTModel(config()), timm=with_bias(),
             timm_10=with_bias(10), meta=(meta, "facebookresearch/dinov3 DinoVisionTransformer"))
    f.wrapped("teacher", "meta", "teacher.backbone.")
    a, b = "model.layer.*", "blocks.*"

    def names(*pairs):
        return ways(("embeddings.cls_token", "cls_token"), ("embeddings.patch_embeddings", "patch_embed.proj"),
                    (a + ".norm1", b + ".norm1"), (a + ".norm2", b + ".norm2"),
                    (a + ".attention.o_proj", b + ".attn.proj"), (a + ".mlp.up_proj", b + ".mlp.fc1"),
                    (a + ".mlp.down_proj", b + ".mlp.fc2"), *pairs)
    original = names(("embeddings.register_tokens", "storage_tokens"),
                     *((f"{a}.layer_scale{i}.lambda1", f"{b}.ls{i}.gamma") for i in (1, 2)))
    other = names(("embeddings.register_tokens", "reg_token"),
                  *((f"{a}.layer_scale{i}.lambda1", f"{b}.gamma_{i}") for i in (1, 2)),
                  *((f"{a}.attention.{x}_proj.bias", f"{b}.attn.{x}_bias") for x in "qv"))
    qkv = fused(b + ".attn.qkv", *(f"{a}.attention.{x}_proj" for x in "qkv"))
    matrix = fused(b + ".attn.qkv.weight", *(f"{a}.attention.{x}_proj.weight" for x in "qkv"))
    # The key's part of the bias is nowhere else, and the mask token has one dimension more.
    biases = fused(b + ".attn.qkv.bias", *(f"{b}.attn.{x}_bias" for x in "qkv"))
    renames = ways(("storage_tokens", "reg_token"), *((f"{b}.ls{i}.gamma", f"{b}.gamma_{i}") for i in (1, 2)))[0]
    mask = ["mask_token"]
    f.case("meta_to_hf", "meta", "hf", "fused", original[1], splits=[qkv], unfed=mask)
    f.case("meta_to_hf_burn", "meta", "hf", "fused", original[1], splits=[qkv], unfed=mask, layout="burn")
    f.case("teacher_to_hf", "teacher", "hf", "wrapped", [strip("teacher.backbone.")] + original[1], splits=[qkv],
           unfed=mask, sorted_file=False)
    f.case("meta_to_timm", "meta", "timm", "fused", renames, splits=[biases])
    f.case("hf_to_timm", "hf", "timm", "fused", other[0], joins=[matrix])
    f.case("timm_to_hf", "timm", "hf", "fused", other[1], splits=[matrix], unfed=mask, sorted_file=False)
    f.case("meta_to_timm_10_classes", "meta", "timm_10", "head", renames, splits=[biases], unfed=["^head"])
    renamed(f, "meta_to_timm", lambda state: eva.checkpoint_filter_fn(state, with_bias()()))
    alike(f, "hf_to_timm", lambda: hf.DINOv3ViTModel(config()), with_bias(), lambda m: m(image).last_hidden_state,
          lambda m: m.forward_features(image))
    write(f)


def depth():
    """DPT, as in MiDaS."""
    f = family("dpt", "transformers", "timm")
    channels = [24, 40, 56, 72]

    def config():
        return hf.DPTConfig(num_hidden_layers=4, backbone_out_indices=[0, 1, 2, 3], is_hybrid=False,
                            neck_hidden_sizes=channels, fusion_hidden_size=64, use_auxiliary_head=False, **sizes)

    def midas():
        def post(i):
            n = channels[i]
            resize = (nn.ConvTranspose2d(n, n, 4, 4), nn.ConvTranspose2d(n, n, 2, 2), None, nn.Conv2d(n, n, 3))[i]
            project = net("ProjectReadout", project=seq(linear(2 * width, width), None))
            return seq(*[project, None, None, nn.Conv2d(width, n, 1), *([resize] if resize else [])])

        def fusion():
            def unit():
                return net("ResidualConvUnit_custom", conv1=nn.Conv2d(64, 64, 3), conv2=nn.Conv2d(64, 64, 3))
            return net("FeatureFusionBlock_custom", out_conv=nn.Conv2d(64, 64, 1), resConfUnit1=unit(),
                       resConfUnit2=unit())
        vit = net("VisionTransformer", cls_token=param(1, 1, width), pos_embed=param(1, 17, width),
                  patch_embed=embed(), blocks=seq(*(block() for _ in range(4))), norm=nn.LayerNorm(width),
                  head=linear(width, 1000))
        scratch = net("Module", **{f"layer{i + 1}_rn": nn.Conv2d(n, 64, 3, bias=False) for i, n in enumerate(channels)},
                      **{f"refinenet{i}": fusion() for i in (1, 2, 3, 4)},
                      output_conv=seq(nn.Conv2d(64, 32, 3), None, nn.Conv2d(32, 32, 3), None, nn.Conv2d(32, 1, 1)))
        return net("DPTDepthModel", pretrained=net("Module", model=vit, **{f"act_postprocess{i + 1}": post(i)
                                                                          for i in range(4)}), scratch=scratch)
    listings(f, hf=lambda: hf.DPTForDepthEstimation(config()), vit=with_timm(1000, 4),
             midas=(midas, "isl-org/MiDaS DPTDepthModel"))
    f.wrapped("training", "midas", "model.", adam(f, "midas"))
    a, b = "dpt.encoder.layer.*", "pretrained.model.blocks.*"
    neck = "neck.reassemble_stage."
    backbone = [("dpt.embeddings.cls_token", "pretrained.model.cls_token"), ("dpt.layernorm", "pretrained.model.norm"),
                ("dpt.embeddings.position_embeddings", "pretrained.model.pos_embed"),
                ("dpt.embeddings.patch_embeddings.projection", "pretrained.model.patch_embed.proj"),
                (a + ".layernorm_before", b + ".norm1"), (a + ".layernorm_after", b + ".norm2"),
                (a + ".attention.output.dense", b + ".attn.proj"), (a + ".intermediate.dense", b + ".mlp.fc1"),
                (a + ".output.dense", b + ".mlp.fc2")]
    # The first fusion layer takes the deepest map, which the original calls the fourth.
    rules = ways(*backbone, ("head.head", "scratch.output_conv"), *(pair for i in range(4) for pair in (
        (f"{neck}readout_projects.{i}.0", f"pretrained.act_postprocess{i + 1}.0.project.0"),
        (f"{neck}layers.{i}.projection", f"pretrained.act_postprocess{i + 1}.3"),
        (f"{neck}layers.{i}.resize", f"pretrained.act_postprocess{i + 1}.4"),
        (f"neck.convs.{i}", f"scratch.layer{i + 1}_rn"),
        (f"neck.fusion_stage.layers.{i}.projection", f"scratch.refinenet{4 - i}.out_conv"),
        *((f"neck.fusion_stage.layers.{i}.residual_layer{j}.convolution{k}",
           f"scratch.refinenet{4 - i}.resConfUnit{j}.conv{k}") for j in (1, 2) for k in (1, 2)))))
    qkv = fused(b + ".attn.qkv", *(f"{a}.attention.attention.{x}" for x in ("query", "key", "value")))
    f.case("midas_to_hf", "midas", "hf", "numbered", rules[1], splits=[qkv])
    f.case("midas_to_hf_burn", "midas", "hf", "numbered", rules[1], splits=[qkv], sorted_file=False, layout="burn")
    f.case("hf_to_midas", "hf", "midas", "numbered", rules[0], joins=[qkv], unfed=[r"pretrained\.model\.head"])
    f.case("training_to_hf", "training", "hf", "wrapped", [strip("model.")] + rules[1], splits=[qkv])
    f.case("backbone_to_hf", "vit", "hf", "head", [("^", "pretrained.model.")] + rules[1], splits=[qkv],
           unfed=["^neck", "^head"])
    alike(f, "backbone_to_hf", with_timm(1000, 4), lambda: hf.DPTForDepthEstimation(config()),
          lambda m: m.forward_features(image), lambda m: m.dpt(image).last_hidden_state)
    write(f)


def controlnet():
    f = family("controlnet", "diffusers")
    config = {"block_out_channels": (32, 64, 96, 96), "layers_per_block": 2, "cross_attention_dim": 56,
              "attention_head_dim": 4}

    def control():
        return diffusers.ControlNetModel(**config)
    listings(f, diffusers=control, unet=lambda: diffusers.UNet2DConditionModel(**config))
    resnet = [(".norm1", ".in_layers.0"), (".conv1", ".in_layers.2"), (".time_emb_proj", ".emb_layers.1"),
              (".norm2", ".out_layers.0"), (".conv2", ".out_layers.3"), (".conv_shortcut", ".skip_connection")]
    pairs = [("time_embedding.linear_1", "time_embed.0"), ("time_embedding.linear_2", "time_embed.2"),
             ("conv_in", "input_blocks.0.0"), ("controlnet_mid_block", "middle_block_out.0"),
             ("controlnet_cond_embedding.conv_in", "input_hint_block.0"),
             ("controlnet_cond_embedding.conv_out", "input_hint_block.14"),
             ("mid_block.attentions.0", "middle_block.1")]
    pairs += [(f"controlnet_cond_embedding.blocks.{i}", f"input_hint_block.{2 * i + 2}") for i in range(6)]
    pairs += [(f"mid_block.resnets.{i}{x}", f"middle_block.{2 * i}{y}") for i in (0, 1) for x, y in resnet]
    pairs += [(f"controlnet_down_blocks.{i}", f"zero_convs.{i}.0") for i in range(12)]
    for i in range(4):
        for j in range(2):
            at = f"input_blocks.{1 + 3 * i + j}"
            pairs += [(f"down_blocks.{i}.resnets.{j}{x}", f"{at}.0{y}") for x, y in resnet]
            pairs += [(f"down_blocks.{i}.attentions.{j}", f"{at}.1")]
        pairs += [(f"down_blocks.{i}.downsamplers.0.conv", f"input_blocks.{3 * i + 3}.0.op")]
    rules = ways(*pairs)
    changed(f, "ldm", "diffusers", rules[0], class_name="lllyasviel/ControlNet cldm.ControlNet")
    order = ["time_embed", "input_blocks", "zero_convs", "input_hint_block", "middle_block", "middle_block_out"]
    f.data["listings"]["ldm"]["tensors"].sort(
        key=lambda t: (order.index(t[0].split(".")[0]), int(re.search(r"\.(\d+)", t[0])[1])))
    f.wrapped("ldm_file", "ldm", "control_model.")
    # The large files have the locked network too, whose names are nearly the same.
    f.wrapped("whole", "ldm", "control_model.", [
        ["model.diffusion_model." + t[0], *t[1:]] for t in f.data["listings"]["ldm"]["tensors"]
        if not re.match("zero_convs|input_hint_block|middle_block_out", t[0])])
    f.case("ldm_to_diffusers", "ldm_file", "diffusers", "wrapped", [strip("control_model.")] + rules[1])
    f.case("ldm_to_diffusers_burn", "ldm", "diffusers", "numbered", rules[1], layout="burn")
    f.case("diffusers_to_ldm", "diffusers", "ldm", "numbered", rules[0], sorted_file=False)
    f.case("whole_to_diffusers", "whole", "diffusers", "wrapped", [strip("control_model.")] + rules[1],
           sorted_file=False)
    f.case("unet_to_diffusers", "unet", "diffusers", "head", unfed=["^controlnet"])
    renamed(f, "ldm_to_diffusers", lambda state: convert_controlnet_checkpoint(state, config))
    write(f)


if __name__ == "__main__":
    for make in (masked_autoencoder, dino_3, depth, controlnet):
        make()
