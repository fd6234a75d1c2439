# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: CLIP and Stable Diffusion for ports of them, CycleGAN, SRGAN.

Checked: MLX's names of CLIP and of the U-Net against its model_io.py and clip.py, with a forward pass of the retyped
text encoder; clip.cpp's names against its converter; open_clip's tower by a forward pass of the typed one; CycleGAN and
SRGAN by forward passes of the retyped classes. The typed structs define themselves."""
import re

import torch
import transformers as hf
from torch import nn

from fresh_lib import Fresh, Table, adam, alike, attention, linear, net, param, seq
from fresh_text import lines

d, width, vocab = 48, 64, 330


def clip_config():
    return hf.CLIPConfig(
        text_config=dict(hidden_size=d, intermediate_size=4 * d, num_hidden_layers=3, num_attention_heads=4,
                         vocab_size=vocab, max_position_embeddings=20, projection_dim=40, hidden_act="gelu"),
        vision_config=dict(hidden_size=width, intermediate_size=4 * width, num_hidden_layers=2, num_attention_heads=4,
                           image_size=32, patch_size=8, projection_dim=40, hidden_act="gelu"), projection_dim=40)


def mlx_clip():
    """ml-explore/mlx-examples, stable_diffusion/clip.py"""
    def layer():
        return net("CLIPEncoderLayer", layer_norm1=nn.LayerNorm(d), layer_norm2=nn.LayerNorm(d), attention=net(
            "MultiHeadAttention", query_proj=linear(d, d), key_proj=linear(d, d), value_proj=linear(d, d),
            out_proj=linear(d, d)), linear1=linear(d, 4 * d), linear2=linear(4 * d, d))
    return net("CLIPTextModel", token_embedding=nn.Embedding(vocab, d), position_embedding=nn.Embedding(20, d),
               layers=[layer() for _ in range(3)], final_layer_norm=nn.LayerNorm(d))


def struct_tower(layers=2):
    """A typed vision tower of one's own."""
    def layer():
        return net("TowerBlock", pre_attn=nn.LayerNorm(width), q=linear(width, width), k=linear(width, width),
                   v=linear(width, width), o=linear(width, width), pre_mlp=nn.LayerNorm(width),
                   mlp_up=linear(width, 4 * width), mlp_down=linear(4 * width, width))
    return lambda: net("ImageTower", cls=param(width), pos=nn.Embedding(17, width),
                       patch=nn.Conv2d(3, width, 8, 8, bias=False), ln_in=nn.LayerNorm(width),
                       blocks=[layer() for _ in range(layers)], ln_out=nn.LayerNorm(width))


def clip():
    import open_clip
    f = Fresh("clip_ports", "transformers", "open_clip_torch")

    def with_open():
        return open_clip.model.CLIP(embed_dim=40, vision_cfg=dict(layers=2, width=width, head_width=16, patch_size=8,
                                                                 image_size=32),
                                    text_cfg=dict(context_length=20, vocab_size=vocab, width=d, heads=4, layers=3))
    f.add(hub=lambda: hf.CLIPModel(clip_config()), hub_text=lambda: hf.CLIPTextModel(clip_config().text_config),
          mlx=(mlx_clip, "mlx-examples CLIPTextModel"),
          open_clip=with_open, struct=(struct_tower(), "typed model"))
    # The published files of the text encoder and of the whole model.
    text = [[n if n.startswith("text_model.") else "text_model." + n, *rest] for n, *rest in f.get("hub_text")]
    f.tensors("text_file", text, "transformers.CLIPTextModel, as published")
    whole = [[re.sub(r"^(text|vision)_model\.(?!\1_model)", r"\1_model.", n), *rest] for n, *rest in f.get("hub")]
    f.tensors("published", whole, "transformers.CLIPModel, as published")

    def gguf(name):
        """clip.cpp, convert_hf_to_gguf.py"""
        if "projection" in name:
            return name
        for a, b in (("text_model", "t"), ("vision_model", "v"), ("encoder.layers", "blk"), ("embeddings.", ""),
                     ("_proj", ""), ("self_attn.", "attn_"), ("layer_norm", "ln"), ("layernorm", "ln"),
                     ("mlp.fc1", "ffn_down"), ("mlp.fc2", "ffn_up"), ("embedding", "embd"), ("final", "post"),
                     ("layrnorm", "ln")):
            name = name.replace(a, b)
        return name
    f.tensors("gguf", [[gguf(n), *rest] for n, *rest in whole], "the names of clip.cpp's GGUF files")
    f.wrapped("open_clip_file", "open_clip", "state_dict.module.", adam(f, "open_clip"))
    to_mlx = Table("""
        text_model.embeddings.token_embedding = token_embedding
        text_model.embeddings.position_embedding = position_embedding
        text_model.final_layer_norm = final_layer_norm""" + "".join(f"""
        text_model.encoder.layers.{{i}}.{a} = layers.{{i}}.{b}""" for a, b in (
            ("layer_norm1", "layer_norm1"), ("layer_norm2", "layer_norm2"), ("mlp.fc1", "linear1"),
            ("mlp.fc2", "linear2"), ("self_attn.q_proj", "attention.query_proj"),
            ("self_attn.k_proj", "attention.key_proj"), ("self_attn.v_proj", "attention.value_proj"),
            ("self_attn.out_proj", "attention.out_proj"))))
    v = "v."
    to_struct = Table(lines(v + "%s = %s", [("class_embd", "cls"), ("position_embd", "pos"), ("patch_embd", "patch"),
                                            ("pre_ln", "ln_in"), ("post_ln", "ln_out")] + [
        (f"blk.{{i}}.{a}", f"blocks.{{i}}.{b}") for a, b in (
            ("ln1", "pre_attn"), ("ln2", "pre_mlp"), ("attn_q", "q"), ("attn_k", "k"), ("attn_v", "v"),
            ("attn_out", "o"), ("ffn_down", "mlp_up"), ("ffn_up", "mlp_down"))]))
    r = "visual.transformer.resblocks.{i}."
    open_struct = Table(lines("%s = %s", [
        ("visual.class_embedding", "cls"), ("visual.positional_embedding", "pos.weight"), ("visual.conv1", "patch"),
        ("visual.ln_pre", "ln_in"), ("visual.ln_post", "ln_out")] + [(r + a, "blocks.{i}." + b) for a, b in (
            ("ln_1", "pre_attn"), ("ln_2", "pre_mlp"), ("attn.out_proj", "o"), ("mlp.c_fc", "mlp_up"),
            ("mlp.c_proj", "mlp_down"))] + [(r + f"attn.in_proj_{w}", " + ".join(
                f"blocks.{{i}}.{x}.{w}" for x in "qkv")) for w in ("weight", "bias")]))
    gguf_whole = Table(lines("%s = %s", [(gguf(n), n) for n, *_ in whole]))
    f.pair("text_file_to_mlx", "text_file", "mlx", to_mlx)
    f.pair("mlx_to_text_file", "mlx", "text_file", to_mlx, back=True, sorted_file=False)
    f.pair("gguf_to_struct_burn", "gguf", "struct", to_struct, spare=[r"^t\.", "projection", "logit_scale"],
           layout="burn", sorted_file=False)
    f.pair("gguf_to_published", "gguf", "published", gguf_whole)
    f.pair("open_clip_file_to_struct", "open_clip_file", "struct", open_struct, kind="wrapped",
           strip=r"^state_dict\.module\.", sorted_file=False,
           spare=["^optimizer", r"module\.(?!visual)", r"visual\.proj"])

    def ask_mlx(m):
        x = m.token_embedding(ids) + m.position_embedding(torch.arange(6))
        for b in m.layers:
            y, a = b.layer_norm1(x), b.attention
            x = x + a.out_proj(attention(a.query_proj(y), a.key_proj(y), a.value_proj(y), 4, True))
            x = x + b.linear2(nn.functional.gelu(b.linear1(b.layer_norm2(x))))
        return m.final_layer_norm(x)

    def ask_struct(m):
        x = torch.cat([m.cls.expand(2, 1, -1), m.patch(image).flatten(2).mT], 1) + m.pos.weight
        x = m.ln_in(x)
        for b in m.blocks:
            y = b.pre_attn(x)
            x = x + b.o(attention(b.q(y), b.k(y), b.v(y), 4))
            x = x + b.mlp_down(nn.functional.gelu(b.mlp_up(b.pre_mlp(x))))
        return m.ln_out(x[:, 0])
    ids, image = torch.arange(12).reshape(2, 6) * 7, torch.randn(2, 3, 32, 32)
    alike(f, "text_file_to_mlx", lambda: hf.CLIPTextModel(clip_config().text_config), mlx_clip,
          lambda m: m(ids).last_hidden_state, ask_mlx)

    def no_projection(file, model):
        file.visual.proj = None
    alike(f, "open_clip_file_to_struct", with_open, struct_tower(), lambda m: m.visual(image), ask_struct,
          no_projection)
    f.write()


def diffusion():
    from diffusers import AutoencoderKL, UNet2DConditionModel
    f = Fresh("stable_diffusion_mlx", "diffusers")

    def unet():
        return UNet2DConditionModel(
            sample_size=16, block_out_channels=(32, 64, 96), layers_per_block=2, cross_attention_dim=56,
            attention_head_dim=(2, 4, 6), use_linear_projection=True, norm_num_groups=16,
            down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"))

    def vae():
        return AutoencoderKL(block_out_channels=(32, 64), layers_per_block=1, latent_channels=4, norm_num_groups=16,
                             down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2)
    f.add(unet=unet, vae=vae)

    def mlx(name):
        """mlx-examples, stable_diffusion/model_io.py. Its convolutions of one pixel stay such here."""
        for a, b in (("downsamplers.0.conv", "downsample"), ("upsamplers.0.conv", "upsample"),
                     ("mid_block.resnets.0", "mid_blocks.0"), ("mid_block.attentions.0", "mid_blocks.1"),
                     ("mid_block.resnets.1", "mid_blocks.2"), ("to_k", "key_proj"), ("to_out.0", "out_proj"),
                     ("to_q", "query_proj"), ("to_v", "value_proj"), ("ff.net.2", "linear3"),
                     ("quant_conv", "quant_proj")):
            name = name.replace(a, b)
        return name
    table, tensors = [], []
    for name, dtype, shape, owner in f.get("unet"):
        if "ff.net.0.proj" in name:
            halves = [mlx(name.replace("ff.net.0.proj", x)) for x in ("linear1", "linear2")]
            table.append((name, " + ".join(halves)))
            one, two = ([n, dtype, [shape[0] // 2, *shape[1:]], "Linear"] for n in halves)
            # The first one's bias comes before the second one's weight.
            tensors[-1:] = [tensors[-1], one, two] if name.endswith("weight") else [one, tensors[-1], two]
        else:
            table.append((name, mlx(name)))
            tensors.append([mlx(name), dtype, shape, owner])
    f.tensors("mlx_unet", tensors, "a typed port with the names of mlx-examples UNetModel")
    f.tensors("mlx_vae", [[mlx(n), *rest] for n, *rest in f.get("vae")],
              "a typed port with the names of mlx-examples Autoencoder")
    f.wrapped("trained", "unet", "module.", [["ema." + n, *rest] for n, *rest in f.get("unet")])
    to_mlx = Table(lines("%s = %s", table))
    vae_table = Table(lines("%s = %s", [(n, mlx(n)) for n, *_ in f.get("vae")]))
    f.pair("unet_to_mlx", "unet", "mlx_unet", to_mlx, kind="fused")
    f.pair("mlx_to_unet", "mlx_unet", "unet", to_mlx, back=True, kind="fused", sorted_file=False)
    f.pair("unet_to_mlx_burn", "unet", "mlx_unet", to_mlx, kind="fused", layout="burn", sorted_file=False)
    f.pair("trained_to_mlx", "trained", "mlx_unet", to_mlx, kind="wrapped", strip=r"^module\.", spare=[r"^ema\."],
           sorted_file=False)
    f.pair("vae_to_mlx_burn", "vae", "mlx_vae", vae_table, layout="burn")
    f.unrelated("vae_to_mlx_unet", "vae", "mlx_unet")
    f.write()


def cyclegan():
    f = Fresh("cyclegan")

    def up(a, b):
        return nn.ConvTranspose2d(a, b, 3, 2, 1, 1)

    def junyanz(blocks=9):
        """junyanz/pytorch-CycleGAN-and-pix2pix, ResnetGenerator with norms of instances."""
        parts = [None, nn.Conv2d(3, 16, 7), None, None, nn.Conv2d(16, 32, 3, 2, 1), None, None,
                 nn.Conv2d(32, 64, 3, 2, 1), None, None]
        parts += [net("ResnetBlock", conv_block=seq(None, nn.Conv2d(64, 64, 3), None, None, None, nn.Conv2d(64, 64, 3),
                                                    None)) for _ in range(blocks)]
        parts += [up(64, 32), None, None, up(32, 16), None, None, None, nn.Conv2d(16, 3, 7), None]
        return lambda: net("ResnetGenerator", model=seq(*parts))

    def persson():
        """aladdinpersson/Machine-Learning-Collection, CycleGAN/generator_model.py"""
        def block(layer):
            return net("ConvBlock", conv=seq(layer, None, None))
        return net("Generator", initial=seq(nn.Conv2d(3, 16, 7), None, None), down_blocks=[
            block(nn.Conv2d(16, 32, 3, 2, 1)), block(nn.Conv2d(32, 64, 3, 2, 1))], res_blocks=seq(*(
                net("ResidualBlock", block=seq(block(nn.Conv2d(64, 64, 3)), block(nn.Conv2d(64, 64, 3))))
                for _ in range(9))), up_blocks=[block(up(64, 32)), block(up(32, 16))], last=nn.Conv2d(16, 3, 7))

    def struct(blocks=9):
        """A typed generator of one's own."""
        return lambda: net("Painter", enter=nn.Conv2d(3, 16, 7), shrink_a=nn.Conv2d(16, 32, 3),
                           shrink_b=nn.Conv2d(32, 64, 3), residual=[net("Residual", first=nn.Conv2d(64, 64, 3),
                                                                        second=nn.Conv2d(64, 64, 3))
                                                                    for _ in range(blocks)],
                           grow_a=up(64, 32), grow_b=up(32, 16), leave=nn.Conv2d(16, 3, 7))
    f.add(junyanz=(junyanz(), "junyanz/pytorch-CycleGAN-and-pix2pix ResnetGenerator"),
          junyanz_6=(junyanz(6), "junyanz/pytorch-CycleGAN-and-pix2pix ResnetGenerator"),
          persson=(persson, "aladdinpersson/Machine-Learning-Collection Generator"), struct=(struct(), "typed model"),
          lstm=(lambda: nn.LSTM(24, 32, 2), "torch.nn.LSTM"))
    f.wrapped("persson_file", "persson", "state_dict.", adam(f, "persson", "optimizer."))
    f.wrapped("parallel", "junyanz", "module.")
    ends = [("model.1", "initial.0", "enter"), ("model.4", "down_blocks.0.conv.0", "shrink_a"),
            ("model.7", "down_blocks.1.conv.0", "shrink_b"), ("model.19", "up_blocks.0.conv.0", "grow_a"),
            ("model.22", "up_blocks.1.conv.0", "grow_b"), ("model.26", "last", "leave")]
    rows = [(f"model.{10 + i}.conv_block.{n}", f"res_blocks.{i}.block.{k}.conv.0",
             f"residual.{i}.{('first', 'second')[k]}") for i in range(9) for k, n in enumerate((1, 5))]
    to_persson = Table(lines("%s = %s", [(a, b) for a, b, _ in ends + rows]))
    to_struct = Table(lines("%s = %s", [(a, c) for a, _, c in ends + rows]))
    # With six blocks what follows them has other numbers.
    six = [(f"model.{n}", c) for n, (_, _, c) in zip((1, 4, 7, 16, 19, 23), ends)] + [
        (a, c) for a, _, c in rows if int(a.split(".")[1]) < 16]
    f.pair("junyanz_to_persson", "junyanz", "persson", to_persson, kind="numbered", sorted_file=False)
    f.pair("persson_file_to_junyanz", "persson_file", "junyanz", to_persson, back=True, kind="wrapped",
           strip=r"^state_dict\.", spare=["^optimizer"], sorted_file=False)
    f.pair("parallel_to_struct_burn", "parallel", "struct", to_struct, kind="wrapped", strip=r"^module\.",
           layout="burn")
    f.pair("six_blocks_to_struct", "junyanz_6", "struct", Table(lines("%s = %s", six)), kind="depth",
           unfed=[r"^residual\.[678]\."])
    f.unrelated("lstm_to_persson", "lstm", "persson", sorted_file=False)

    def act(x):
        return torch.relu(nn.functional.instance_norm(x))

    def padded(layer, x, n):
        return layer(nn.functional.pad(x, (n,) * 4, mode="reflect"))

    def ask(enter, downs, blocks, ups, leave):
        x = act(padded(enter, image, 3))
        for layer in downs:
            x = act(layer(x))
        for a, b in blocks:
            x = x + nn.functional.instance_norm(padded(b, act(padded(a, x, 1)), 1))
        for layer in ups:
            x = act(layer(x))
        return padded(leave, x, 3)
    image = torch.randn(1, 3, 32, 32)
    alike(f, "junyanz_to_persson", junyanz(), persson, lambda m: ask(
        m.model[1], [m.model[4], m.model[7]], [(b.conv_block[1], b.conv_block[5]) for b in m.model[10:19]],
        [m.model[19], m.model[22]], m.model[26]), lambda m: ask(
            m.initial[0], [b.conv[0] for b in m.down_blocks], [(b.block[0].conv[0], b.block[1].conv[0])
                                                               for b in m.res_blocks],
            [b.conv[0] for b in m.up_blocks], m.last))
    f.write()


def srgan():
    f = Fresh("srgan")

    def conv(k=3, a=64, b=64):
        return nn.Conv2d(a, b, k, padding=k // 2)

    def norm():
        return nn.BatchNorm2d(64)

    def thomas():
        """leftthomas/SRGAN, model.py"""
        blocks = {f"block{i}": net("ResidualBlock", conv1=conv(), bn1=norm(), prelu=nn.PReLU(), conv2=conv(),
                                   bn2=norm()) for i in range(2, 7)}

        def grow():
            return net("UpsampleBLock", conv=conv(b=256), prelu=nn.PReLU())
        return net("Generator", block1=seq(conv(9, 3), nn.PReLU()), **blocks, block7=seq(conv(), norm()),
                   block8=seq(grow(), grow(), conv(9, 64, 3)))

    def vinod(blocks=5):
        """sgrvinod/a-PyTorch-Tutorial-to-Super-Resolution, SRResNet"""
        def block(*parts):
            return net("ConvolutionalBlock", conv_block=seq(*parts))

        def grow():
            return net("SubPixelConvolutionalBlock", conv=conv(b=256), prelu=nn.PReLU())
        return lambda: net("SRResNet", conv_block1=block(conv(9, 3), nn.PReLU()), residual_blocks=seq(*(
            net("ResidualBlock", conv_block1=block(conv(), norm(), nn.PReLU()), conv_block2=block(conv(), norm()))
            for _ in range(blocks))), conv_block2=block(conv(), norm()),
            subpixel_convolutional_blocks=seq(grow(), grow()), conv_block3=block(conv(9, 64, 3), None))

    def struct():
        """A typed generator of one's own."""
        def block():
            return net("Block", conv_a=conv(), norm_a=norm(), slope=nn.PReLU(), conv_b=conv(), norm_b=norm())
        return net("Upscaler", head=conv(9, 3), head_slope=nn.PReLU(), body=[block() for _ in range(5)], tail=conv(),
                   tail_norm=norm(), up_1=conv(b=256), up_1_slope=nn.PReLU(), up_2=conv(b=256), up_2_slope=nn.PReLU(),
                   to_rgb=conv(9, 64, 3))
    f.add(thomas=(thomas, "leftthomas/SRGAN Generator"), vinod=(vinod(), "sgrvinod SRResNet"),
          vinod_16=(vinod(16), "sgrvinod SRResNet"), struct=(struct, "typed model"))
    f.wrapped("generator", "vinod", "net.")
    rows = [("block1.0", "conv_block1.conv_block.0", "head"), ("block1.1", "conv_block1.conv_block.1", "head_slope"),
            ("block7.0", "conv_block2.conv_block.0", "tail"), ("block7.1", "conv_block2.conv_block.1", "tail_norm"),
            ("block8.2", "conv_block3.conv_block.0", "to_rgb")]
    for i in range(2):
        rows += [(f"block8.{i}.{x}", f"subpixel_convolutional_blocks.{i}.{x}", f"up_{i + 1}{y}")
                 for x, y in (("conv", ""), ("prelu", "_slope"))]
    for i in range(5):
        rows += [(f"block{i + 2}.{a}", f"residual_blocks.{i}.{b}", f"body.{i}.{c}") for a, b, c in (
            ("conv1", "conv_block1.conv_block.0", "conv_a"), ("bn1", "conv_block1.conv_block.1", "norm_a"),
            ("prelu", "conv_block1.conv_block.2", "slope"), ("conv2", "conv_block2.conv_block.0", "conv_b"),
            ("bn2", "conv_block2.conv_block.1", "norm_b"))]
    to_vinod = Table(lines("%s = %s", [(a, b) for a, b, _ in rows]))
    to_struct = Table(lines("%s = %s", [(a, c) for a, _, c in rows]))
    f.pair("thomas_to_vinod", "thomas", "vinod", to_vinod, kind="numbered")
    f.pair("generator_to_thomas", "generator", "thomas", to_vinod, back=True, kind="wrapped", strip=r"^net\.",
           sorted_file=False)
    f.pair("thomas_to_struct_burn", "thomas", "struct", to_struct, kind="numbered", layout="burn", sorted_file=False)
    f.pair("thomas_to_deeper_vinod", "thomas", "vinod_16", to_vinod, kind="depth",
           unfed=[r"^residual_blocks\.([5-9]|1\d)\."])

    def ask_thomas(m):
        x = first = m.block1(image)
        for i in range(2, 7):
            b = getattr(m, f"block{i}")
            x = x + b.bn2(b.conv2(b.prelu(b.bn1(b.conv1(x)))))
        x = first + m.block7(x)
        for b in m.block8[:2]:
            x = b.prelu(nn.functional.pixel_shuffle(b.conv(x), 2))
        return m.block8[2](x)

    def ask_vinod(m):
        x = first = m.conv_block1.conv_block(image)
        for b in m.residual_blocks:
            x = x + b.conv_block2.conv_block(b.conv_block1.conv_block(x))
        x = first + m.conv_block2.conv_block(x)
        for b in m.subpixel_convolutional_blocks:
            x = b.prelu(nn.functional.pixel_shuffle(b.conv(x), 2))
        return m.conv_block3.conv_block(x)
    image = torch.randn(1, 3, 12, 12)
    alike(f, "thomas_to_vinod", thomas, vinod(), ask_thomas, ask_vinod)
    f.write()


if __name__ == "__main__":
    for make in (clip, diffusion, cyclegan, srgan):
        make()
