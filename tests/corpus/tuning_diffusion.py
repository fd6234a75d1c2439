# SPDX-License-Identifier: MIT OR Apache-2.0
"""Diffusion models of the tuning corpus: diffusers and the code of latent diffusion (LDM)."""
import diffusers
from torch import nn

from tuning_common import Names, Table, linear, part

groups = 8
widths = (16, 32, 64)


def norm(d):
    return nn.GroupNorm(groups, d)


def conv(a, b, size=3):
    return nn.Conv2d(a, b, size)


# ---------------------------------------------------------------- U-Net


def hf_unet(layers=1, flat=False, channels=4, widths=widths):
    """The last level has no attention, as in Stable Diffusion."""
    down = ["CrossAttnDownBlock2D"] * (len(widths) - 1) + ["DownBlock2D"]
    up = ["UpBlock2D"] + ["CrossAttnUpBlock2D"] * (len(widths) - 1)
    return diffusers.UNet2DConditionModel(
        in_channels=channels, sample_size=16, block_out_channels=widths, layers_per_block=layers,
        down_block_types=down, up_block_types=up, cross_attention_dim=40, attention_head_dim=4, norm_num_groups=groups,
        use_linear_projection=flat)


def ldm_unet(layers=1, flat=False, channels=4, widths=widths, context=40):
    """UNetModel of ldm/modules/diffusionmodules/openaimodel.py."""
    first, time = widths[0], 4 * widths[0]

    def res(a, b):
        return part("ResBlock", in_layers=nn.Sequential(norm(a), nn.SiLU(), conv(a, b)),
                    emb_layers=nn.Sequential(nn.SiLU(), linear(time, b)),
                    out_layers=nn.Sequential(norm(b), nn.SiLU(), nn.Dropout(), conv(b, b)),
                    skip_connection=nn.Identity() if a == b else conv(a, b, 1))

    def attention(d, context):
        return part("CrossAttention", to_q=linear(d, d, False), to_k=linear(context, d, False),
                    to_v=linear(context, d, False), to_out=nn.Sequential(linear(d, d), nn.Dropout()))

    def spatial(d):
        block = part("BasicTransformerBlock", attn1=attention(d, d),
                     ff=part("FeedForward", net=nn.Sequential(part("GEGLU", proj=linear(d, 8 * d)), nn.Dropout(),
                                                              linear(4 * d, d))),
                     attn2=attention(d, context), norm1=nn.LayerNorm(d), norm2=nn.LayerNorm(d), norm3=nn.LayerNorm(d))
        project = (lambda: linear(d, d)) if flat else (lambda: conv(d, d, 1))
        return part("SpatialTransformer", norm=norm(d), proj_in=project(), transformer_blocks=[block],
                    proj_out=project())

    inputs, skips, now = [nn.Sequential(conv(channels, first))], [first], first
    for level, width in enumerate(widths):
        for _ in range(layers):
            inputs.append(nn.Sequential(res(now, width), *[spatial(width)] * (level < len(widths) - 1)))
            now = width
            skips.append(now)
        if level < len(widths) - 1:
            inputs.append(nn.Sequential(part("Downsample", op=conv(now, now))))
            skips.append(now)
    middle = nn.Sequential(res(now, now), spatial(now), res(now, now))
    outputs = []
    for level, width in reversed(list(enumerate(widths))):
        for i in range(layers + 1):
            block = [res(now + skips.pop(), width)] + [spatial(width)] * (level < len(widths) - 1)
            now = width
            if level and i == layers:
                block.append(part("Upsample", conv=conv(now, now)))
            outputs.append(nn.Sequential(*block))
    return part("UNetModel", time_embed=nn.Sequential(linear(first, time), nn.SiLU(), linear(time, time)),
                input_blocks=inputs, middle_block=middle, output_blocks=outputs,
                out=nn.Sequential(norm(first), nn.SiLU(), conv(first, 4)))


def unet_table(layers=1, levels=len(widths), ldm=""):
    """From diffusers to LDM."""
    def res(a, b):
        return [f"{a}.{x} = {ldm}{b}.{y}" for x, y in (
            ("norm1", "in_layers.0"), ("conv1", "in_layers.2"), ("time_emb_proj", "emb_layers.1"),
            ("norm2", "out_layers.0"), ("conv2", "out_layers.3"), ("conv_shortcut", "skip_connection"))]
    lines = [f"{a} = {ldm}{b}" for a, b in (
        ("time_embedding.linear_1", "time_embed.0"), ("time_embedding.linear_2", "time_embed.2"),
        ("conv_in", "input_blocks.0.0"), ("conv_norm_out", "out.0"), ("conv_out", "out.2"),
        ("mid_block.attentions.0.**", "middle_block.1.**"))]
    lines += res("mid_block.resnets.0", "middle_block.0") + res("mid_block.resnets.1", "middle_block.2")
    for i in range(levels):
        for j in range(layers):
            at = (layers + 1) * i + j + 1
            lines += res(f"down_blocks.{i}.resnets.{j}", f"input_blocks.{at}.0")
            lines.append(f"down_blocks.{i}.attentions.{j}.** = {ldm}input_blocks.{at}.1.**")
        lines.append(f"down_blocks.{i}.downsamplers.0.conv = {ldm}input_blocks.{(layers + 1) * (i + 1)}.0.op")
        for j in range(layers + 1):
            at = (layers + 1) * i + j
            lines += res(f"up_blocks.{i}.resnets.{j}", f"output_blocks.{at}.0")
            if i:
                lines.append(f"up_blocks.{i}.attentions.{j}.** = {ldm}output_blocks.{at}.1.**")
        lines.append(f"up_blocks.{i}.upsamplers.0.conv = {ldm}output_blocks.{(layers + 1) * i + layers}"
                     f".{2 if i else 1}.conv")
    return Table("\n".join(lines))


def unet():
    f = Names("unet", "diffusers")
    f.listing("diffusers", hf_unet)
    f.listing("ldm", ldm_unet, "ldm.modules.diffusionmodules.openaimodel.UNetModel")
    small = dict(layers=2, flat=True, widths=(16, 32))
    f.listing("diffusers_2", lambda: hf_unet(**small))
    f.listing("ldm_2", lambda: ldm_unet(**small), "ldm.modules.diffusionmodules.openaimodel.UNetModel")
    f.pair("diffusers_to_ldm", "diffusers", "ldm", unet_table(), kind="numbered")
    f.pair("ldm_to_diffusers", "ldm", "diffusers", unet_table(), back=True, kind="numbered")
    f.pair("diffusers_to_ldm_2", "diffusers_2", "ldm_2", unet_table(2, 2), kind="numbered", sorted_file=False)
    f.pair("ldm_to_diffusers_2", "ldm_2", "diffusers_2", unet_table(2, 2), back=True, kind="numbered",
           sorted_file=False)
    f.pair("ldm_to_diffusers_burn_layout", "ldm_2", "diffusers_2", unet_table(2, 2), back=True, kind="numbered",
           layout="burn")
    f.wrapped("stable_diffusion", "ldm_2", "model.diffusion_model.",
              [["alphas_cumprod", "f32", [1000], ""], ["betas", "f32", [1000], ""],
               ["first_stage_model.quant_conv.weight", "f32", [8, 8, 1, 1], ""],
               ["first_stage_model.quant_conv.bias", "f32", [8], ""], ["model_ema.decay", "f32", [], ""],
               ["model_ema.num_updates", "i32", [], ""]] +
              [["model_ema.diffusion_model" + n.replace(".", ""), d, s, ""] for n, d, s, _ in f.get("ldm_2")])
    f.case("from_release", "stable_diffusion", "ldm_2", "wrapped", [(r"^model\.diffusion_model\.", "")])
    f.pair("from_release_to_diffusers", "stable_diffusion", "diffusers_2", unet_table(2, 2), back=True, kind="wrapped",
           strip=r"^model\.diffusion_model\.")
    f.write()


# ---------------------------------------------------------------- VAE


def hf_vae(layers=1, channels=4):
    return diffusers.AutoencoderKL(
        block_out_channels=widths, layers_per_block=layers, down_block_types=("DownEncoderBlock2D",) * len(widths),
        up_block_types=("UpDecoderBlock2D",) * len(widths), latent_channels=channels, norm_num_groups=groups)


def ldm_vae(layers=1, channels=4):
    """AutoencoderKL of ldm/models/autoencoder.py."""
    def res(a, b):
        block = part("ResnetBlock", norm1=norm(a), conv1=conv(a, b), norm2=norm(b), conv2=conv(b, b))
        if a != b:
            block.nin_shortcut = conv(a, b, 1)
        return block

    def middle(d):
        return part("Module", block_1=res(d, d), attn_1=part("AttnBlock", norm=norm(d), q=conv(d, d, 1),
                                                             k=conv(d, d, 1), v=conv(d, d, 1), proj_out=conv(d, d, 1)),
                    block_2=res(d, d))
    down, up, now = [], [], widths[0]
    for level, width in enumerate(widths):
        blocks = [res(now if i == 0 else width, width) for i in range(layers)]
        now = width
        down.append(part("Module", block=blocks, attn=[]))
        if level < len(widths) - 1:
            down[-1].downsample = part("Downsample", conv=conv(now, now))
    last = now
    for level, width in reversed(list(enumerate(widths))):
        blocks = [res(now if i == 0 else width, width) for i in range(layers + 1)]
        now = width
        up.insert(0, part("Module", block=blocks, attn=[]))
        if level:
            up[0].upsample = part("Upsample", conv=conv(now, now))
    return part("AutoencoderKL",
                encoder=part("Encoder", conv_in=conv(3, widths[0]), down=down, mid=middle(last), norm_out=norm(last),
                             conv_out=conv(last, 2 * channels)),
                decoder=part("Decoder", conv_in=conv(channels, last), mid=middle(last), up=up, norm_out=norm(widths[0]),
                             conv_out=conv(widths[0], 3)),
                quant_conv=conv(2 * channels, 2 * channels, 1), post_quant_conv=conv(channels, channels, 1))


def vae_table(attention=("to_q", "to_k", "to_v", "to_out.0")):
    """From diffusers to LDM, whose decoder counts its levels from the last one."""
    lines = ["quant_conv = quant_conv", "post_quant_conv = post_quant_conv"]

    def res(a, b):
        return [f"{a}.{x} = {b}.{y}" for x, y in (("norm1", "norm1"), ("conv1", "conv1"), ("norm2", "norm2"),
                                                  ("conv2", "conv2"), ("conv_shortcut", "nin_shortcut"))]
    for i in range(len(widths)):
        back = len(widths) - 1 - i
        lines += res(f"encoder.down_blocks.{i}.resnets.{{j}}", f"encoder.down.{i}.block.{{j}}")
        lines += res(f"decoder.up_blocks.{i}.resnets.{{j}}", f"decoder.up.{back}.block.{{j}}")
        lines += [f"encoder.down_blocks.{i}.downsamplers.0.conv = encoder.down.{i}.downsample.conv",
                  f"decoder.up_blocks.{i}.upsamplers.0.conv = decoder.up.{back}.upsample.conv"]
    for side in ("encoder", "decoder"):
        lines += [f"{side}.conv_in = {side}.conv_in", f"{side}.conv_norm_out = {side}.norm_out",
                  f"{side}.conv_out = {side}.conv_out",
                  f"{side}.mid_block.attentions.0.group_norm = {side}.mid.attn_1.norm"]
        lines += res(f"{side}.mid_block.resnets.{{j}}", f"{side}.mid.block_{{j+1}}")
        lines += [f"{side}.mid_block.attentions.0.{a} = {side}.mid.attn_1.{b}"
                  for a, b in zip(attention, ("q", "k", "v", "proj_out"))]
    return Table("\n".join(lines))


# The Hub's first files.
old_vae = Table("\n".join(f"{side}.mid_block.attentions.0.{a} = {side}.mid_block.attentions.0.{b}"
                          for side in ("encoder", "decoder")
                          for a, b in (("query", "to_q"), ("key", "to_k"), ("value", "to_v"),
                                       ("proj_attn", "to_out.0"))) +
                "\n** = **")


def vae():
    f = Names("vae", "diffusers")
    f.listing("diffusers", hf_vae)
    f.listing("ldm", ldm_vae, "ldm.models.autoencoder.AutoencoderKL")
    f.renamed("old", "diffusers", old_vae, "diffusers.AutoencoderKL (before 0.18)", back=True)
    f.without("decoder", "ldm", r"^(encoder|quant_conv)")
    # LDM's attention has convolutions of size 1 where diffusers has linear layers: other shapes.
    shapes = [r"attentions\.0\.(to_\w+(\.0)?|query|key|value|proj_attn)\.weight$", r"attn_1\.(q|k|v|proj_out)\.weight$"]
    f.pair("diffusers_to_ldm", "diffusers", "ldm", vae_table(), kind="numbered", unfed=shapes)
    f.pair("ldm_to_diffusers", "ldm", "diffusers", vae_table(), back=True, kind="numbered", unfed=shapes)
    f.pair("old_to_diffusers", "old", "diffusers", old_vae)
    f.pair("diffusers_to_old", "diffusers", "old", old_vae, back=True, sorted_file=False)
    f.pair("old_to_ldm", "old", "ldm", vae_table(("query", "key", "value", "proj_attn")), kind="numbered", unfed=shapes,
           sorted_file=False)
    f.pair("old_to_diffusers_burn_layout", "old", "diffusers", old_vae, layout="burn")
    f.pair("decoder_from_diffusers", "diffusers", "decoder", vae_table(), kind="head", unfed=shapes)
    f.wrapped("first_stage", "ldm", "first_stage_model.",
              [["first_stage_model.loss.logvar", "f32", [], ""], ["betas", "f32", [1000], ""]])
    f.case("from_release", "first_stage", "ldm", "wrapped", [(r"^first_stage_model\.", "")])
    f.pair("from_release_to_diffusers", "first_stage", "diffusers", vae_table(), back=True, kind="wrapped",
           unfed=shapes, strip=r"^first_stage_model\.")
    f.write()


makers = [unet, vae]
