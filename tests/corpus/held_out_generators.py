# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families: networks that make pictures, videos and sound. Needs diffusers and transformers."""
import diffusers
import torch
import transformers as hf
from diffusers.loaders import single_file_utils
from torch import nn

from held_out_check import renamed
from held_out_lib import family, fused, linear, listings, net, on_cpu, param, seq, strip, ways, write


def flux():
    """The last norm's matrix has its halves in another order in diffusers. It is the same tensor here, as for SD3."""
    f = family("flux", "diffusers")

    def with_diffusers(layers=2, single=2, guidance=True):
        return lambda: diffusers.FluxTransformer2DModel(
            in_channels=16, num_layers=layers, num_single_layers=single, attention_head_dim=16, num_attention_heads=2,
            joint_attention_dim=24, pooled_projection_dim=40, guidance_embeds=guidance, axes_dims_rope=(4, 6, 6))

    def original(guidance=True, single=2):
        def embedder(size):
            return net("MLPEmbedder", in_layer=linear(size, 32), out_layer=linear(32, 32))

        def norms():
            return net("QKNorm", **{f"{x}_norm": net("RMSNorm", scale=param(16)) for x in ("query", "key")})

        def modulation(count):
            return net("Modulation", lin=linear(32, 32 * count))

        def double():
            parts = {}
            for x in ("img", "txt"):
                parts |= {x + "_mod": modulation(6),
                          x + "_attn": net("SelfAttention", qkv=linear(32, 96), norm=norms(), proj=linear(32, 32)),
                          x + "_mlp": seq(linear(32, 128), None, linear(128, 32))}
            return net("DoubleStreamBlock", **parts)

        def alone():
            return net("SingleStreamBlock", linear1=linear(32, 224), linear2=linear(160, 32), norm=norms(),
                       modulation=modulation(3))
        return lambda: net("Flux", img_in=linear(16, 32), time_in=embedder(256), vector_in=embedder(40),
                           guidance_in=embedder(256) if guidance else None, txt_in=linear(24, 32),
                           double_blocks=[double(), double()], single_blocks=[alone() for _ in range(single)],
                           final_layer=net("LastLayer", linear=linear(32, 16),
                                           adaLN_modulation=seq(None, linear(32, 64))))
    def control():
        return diffusers.FluxControlNetModel(
            in_channels=16, num_layers=2, num_single_layers=0, attention_head_dim=16, num_attention_heads=2,
            joint_attention_dim=24, pooled_projection_dim=40, guidance_embeds=True, axes_dims_rope=[4, 6, 6])
    name = "black-forest-labs/flux Flux"
    listings(f, diffusers=with_diffusers(), original=(original(), name), schnell=(original(False), name),
             deep=(original(single=4), name), schnell_diffusers=with_diffusers(guidance=False),
             control=control)
    f.wrapped("single_file", "original", "model.diffusion_model.",
              [["vae.decoder.conv_in.weight", "f32", [32, 16, 3, 3], ""], ["vae.decoder.conv_in.bias", "f32", [32], ""],
               ["text_encoders.clip_l.transformer.text_model.embeddings.token_embedding.weight", "f32", [64, 40], ""]])
    f.wrapped("single_schnell", "schnell", "model.diffusion_model.")
    a, b, c, d = "transformer_blocks.*", "double_blocks.*", "single_transformer_blocks.*", "single_blocks.*"
    t = "time_text_embed."
    pairs = [("x_embedder", "img_in"), ("context_embedder", "txt_in"), ("proj_out", "final_layer.linear"),
             ("norm_out.linear", "final_layer.adaLN_modulation.1"),
             *((f"{t}{x}_embedder.linear_{i}", f"{y}_in.{z}_layer") for i, z in ((1, "in"), (2, "out")) for x, y in (
                 ("timestep", "time"), ("text", "vector"), ("guidance", "guidance"))),
             (c + ".norm.linear", d + ".modulation.lin"), (c + ".proj_out", d + ".linear2")]
    for x, context, added, ff, out in (("img", "", "", "ff", "to_out.0"),
                                       ("txt", "_context", "added_", "ff_context", "to_add_out")):
        pairs += [(f"{a}.norm1{context}.linear", f"{b}.{x}_mod.lin"), (f"{a}.attn.{out}", f"{b}.{x}_attn.proj"),
                  (f"{a}.{ff}.net.0.proj", f"{b}.{x}_mlp.0"), (f"{a}.{ff}.net.2", f"{b}.{x}_mlp.2"),
                  *((f"{a}.attn.norm_{added}{y[0]}.weight", f"{b}.{x}_attn.norm.{y}_norm.scale")
                    for y in ("query", "key"))]
    pairs += [(f"{c}.attn.norm_{y[0]}.weight", f"{d}.norm.{y}_norm.scale") for y in ("query", "key")]
    rules = ways(*pairs)
    qkv = [fused(b + ".img_attn.qkv", *(f"{a}.attn.to_{x}" for x in "qkv")),
           fused(b + ".txt_attn.qkv", *(f"{a}.attn.add_{x}_proj" for x in "qkv"))]
    # Four parts of two sizes. The other direction has no equal parts, so its case is a network without single blocks:
    # a control network begins as a copy of the first layers.
    whole = qkv + [fused(d + ".linear1", *(f"{c}.attn.to_{x}" for x in "qkv"), c + ".proj_mlp")]
    first = [strip("model.diffusion_model.")]
    f.case("diffusers_to_original", "diffusers", "original", "fused", rules[0], joins=whole)
    f.case("diffusers_to_original_burn", "diffusers", "original", "fused", rules[0], joins=whole, sorted_file=False,
           layout="burn")
    f.case("single_file_to_control", "single_file", "control", "fused", first + rules[1], splits=qkv,
           unfed=["^controlnet_"])
    f.case("single_file_to_original", "single_file", "original", "wrapped", first, sorted_file=False)
    f.case("schnell_to_original", "single_schnell", "original", "wrapped", first, unfed=["^guidance_in"])
    f.case("schnell_diffusers_to_original", "schnell_diffusers", "original", "fused", rules[0], joins=whole,
           unfed=["^guidance_in"], sorted_file=False)
    f.case("diffusers_to_deeper_original", "diffusers", "deep", "depth", rules[0], joins=whole,
           unfed=[r"^single_blocks\.[23]\."])

    def convert(state):
        # diffusers' conversion knows the published size only, and turns the halves of the last norm.
        wide = {k: v for k, v in state.items() if ".linear1." not in k and "vae." not in k and "encoders." not in k}
        for k in [k for k in state if ".linear1." in k]:
            wide[k] = torch.zeros(7 * 3072, *state[k].shape[1:])
        out = single_file_utils.convert_flux_transformer_checkpoint_to_diffusers(wide)
        for k in ("norm_out.linear.weight", "norm_out.linear.bias"):
            out[k] = torch.cat(out[k].chunk(2)[::-1])
        return out
    renamed(f, "single_file_to_control", convert)
    write(f)


def wan():
    f = family("wan", "diffusers")

    def with_diffusers(layers=2, channels=4):
        return on_cpu(lambda: diffusers.WanTransformer3DModel(
            num_attention_heads=2, attention_head_dim=16, in_channels=channels, out_channels=4, text_dim=24,
            freq_dim=16, ffn_dim=64, num_layers=layers))

    def original():
        def attention():
            return net("WanSelfAttention", **{x: linear(32, 32) for x in "qkvo"},
                       norm_q=net("WanRMSNorm", weight=param(32)), norm_k=net("WanRMSNorm", weight=param(32)))

        def block():
            return net("WanAttentionBlock", modulation=param(1, 6, 32), self_attn=attention(), norm3=nn.LayerNorm(32),
                       cross_attn=attention(), ffn=seq(linear(32, 64), None, linear(64, 32)))
        return net("WanModel", patch_embedding=nn.Conv3d(4, 32, (1, 2, 2)),
                   text_embedding=seq(linear(24, 32), None, linear(32, 32)),
                   time_embedding=seq(linear(16, 32), None, linear(32, 32)),
                   time_projection=seq(None, linear(32, 192)), blocks=[block(), block()],
                   head=net("Head", modulation=param(1, 2, 32), head=linear(32, 16)))
    listings(f, diffusers=with_diffusers(), diffusers_image=with_diffusers(channels=9),
             diffusers_deep=with_diffusers(4), original=(original, "Wan-Video/Wan2.1 WanModel"),
             other=lambda: diffusers.AutoencoderTiny(encoder_block_out_channels=(16, 16), num_encoder_blocks=(1, 1),
                                                     decoder_block_out_channels=(16, 16), num_decoder_blocks=(1, 1)))
    f.wrapped("single_file", "original", "model.diffusion_model.")
    a, b, e = "blocks.*", "blocks.*", "condition_embedder."
    rules = ways(("text_embedding.0", e + "text_embedder.linear_1"), ("text_embedding.2", e + "text_embedder.linear_2"),
                 ("time_embedding.0", e + "time_embedder.linear_1"), ("time_embedding.2", e + "time_embedder.linear_2"),
                 ("time_projection.1", e + "time_proj"), ("head.modulation", "scale_shift_table"),
                 ("head.head", "proj_out"), (a + ".modulation", b + ".scale_shift_table"), (a + ".norm3", b + ".norm2"),
                 (a + ".ffn.0", b + ".ffn.net.0.proj"), (a + ".ffn.2", b + ".ffn.net.2"),
                 *(pair for x, y in (("self_attn", "attn1"), ("cross_attn", "attn2")) for pair in (
                     *((f"{a}.{x}.{z}", f"{b}.{y}.to_{z}") for z in "qkv"), (f"{a}.{x}.o", f"{b}.{y}.to_out.0"),
                     (f"{a}.{x}.norm_q", f"{b}.{y}.norm_q"), (f"{a}.{x}.norm_k", f"{b}.{y}.norm_k"))))
    first = [strip("model.diffusion_model.")]
    f.case("original_to_diffusers", "original", "diffusers", "renamed", rules[0])
    f.case("original_to_diffusers_burn", "original", "diffusers", "renamed", rules[0], sorted_file=False, layout="burn")
    f.case("diffusers_to_original", "diffusers", "original", "renamed", rules[1])
    f.case("single_file_to_diffusers", "single_file", "diffusers", "wrapped", first + rules[0], sorted_file=False)
    # From text only to a first picture: the network gets more channels.
    f.case("single_file_to_pictures", "single_file", "diffusers_image", "head", first + rules[0],
           unfed=["^patch_embedding.weight"])
    f.case("original_to_deeper_diffusers", "original", "diffusers_deep", "depth", rules[0],
           unfed=[r"^blocks\.[23]\."])
    f.unrelated("pictures_to_diffusers", "other", "diffusers")
    renamed(f, "original_to_diffusers", single_file_utils.convert_wan_transformer_to_diffusers)
    renamed(f, "single_file_to_diffusers", single_file_utils.convert_wan_transformer_to_diffusers)
    write(f)


def dac():
    f = family("dac", "transformers")

    def with_hf(normed):
        def make():
            model = hf.DacModel(hf.DacConfig(
                encoder_hidden_size=8, downsampling_ratios=[2, 2, 2, 2], decoder_hidden_size=64,
                upsampling_ratios=[2, 2, 2, 2], n_codebooks=2, codebook_size=32, codebook_dim=4))
            if normed:
                model.apply_weight_norm()
            return model
        return on_cpu(make)

    def descript(normed):
        def conv(*sizes, kind=nn.Conv1d):
            module = kind(*sizes)
            return nn.utils.weight_norm(module) if normed else module

        def snake(size):
            return net("Snake1d", alpha=param(1, size, 1))

        def unit(size):
            return net("ResidualUnit", block=seq(snake(size), conv(size, size, 7), snake(size), conv(size, size, 1)))

        def down(size):
            return net("EncoderBlock", block=seq(unit(size // 2), unit(size // 2), unit(size // 2), snake(size // 2),
                                                 conv(size // 2, size, 4)))

        def up(size):
            return net("DecoderBlock", block=seq(snake(size), conv(size, size // 2, 4, kind=nn.ConvTranspose1d),
                                                 unit(size // 2), unit(size // 2), unit(size // 2)))

        def book():
            return net("VectorQuantize", in_proj=conv(128, 4, 1), out_proj=conv(4, 128, 1),
                       codebook=nn.Embedding(32, 4))
        return on_cpu(lambda: net(
            "DAC", encoder=net("Encoder", block=seq(conv(1, 8, 7), *(down(16 << i) for i in range(4)), snake(128),
                                                    conv(128, 128, 3))),
            quantizer=net("ResidualVectorQuantize", quantizers=[book(), book()]),
            decoder=net("Decoder", model=seq(conv(128, 64, 7), *(up(64 >> i) for i in range(4)), snake(4),
                                             conv(4, 1, 7), None))))
    name = "descriptinc/descript-audio-codec DAC"
    listings(f, hf=with_hf(False), hf_normed=with_hf(True), descript=(descript(False), name),
             descript_normed=(descript(True), name))
    f.wrapped("file", "descript_normed", "state_dict.")
    units = (("0", "snake1"), ("1", "conv1"), ("2", "snake2"), ("3", "conv2"))
    pairs = [("encoder.block.0", "encoder.conv1"), ("encoder.block.5", "encoder.snake1"),
             ("encoder.block.6", "encoder.conv2"), ("decoder.model.0", "decoder.conv1"),
             ("decoder.model.5", "decoder.snake1"), ("decoder.model.6", "decoder.conv2")]
    for i in range(4):
        e, d = f"encoder.block.{i + 1}.block", f"decoder.model.{i + 1}.block"
        to_e, to_d = f"encoder.block.{i}", f"decoder.block.{i}"
        pairs += [(e + ".3", to_e + ".snake1"), (e + ".4", to_e + ".conv1"), (d + ".0", to_d + ".snake1"),
                  (d + ".1", to_d + ".conv_t1")]
        pairs += [pair for j in range(3) for n, x in units for pair in (
            (f"{e}.{j}.block.{n}", f"{to_e}.res_unit{j + 1}.{x}"),
            (f"{d}.{j + 2}.block.{n}", f"{to_d}.res_unit{j + 1}.{x}"))]
    rules = ways(*pairs)
    now = [("weight_g$", "parametrizations.weight.original0"), ("weight_v$", "parametrizations.weight.original1")]
    old = [(r"parametrizations\.weight\.original0$", "weight_g"), (r"parametrizations\.weight\.original1$", "weight_v")]
    f.case("descript_to_hf", "descript", "hf", "numbered", rules[0])
    f.case("hf_to_descript", "hf", "descript", "numbered", rules[1])
    f.case("hf_to_descript_burn", "hf", "descript", "numbered", rules[1], sorted_file=False, layout="burn")
    f.case("file_to_normed_hf", "file", "hf_normed", "wrapped", [strip("state_dict.")] + rules[0] + now)
    f.case("normed_hf_to_descript", "hf_normed", "descript_normed", "numbered", old + rules[1], sorted_file=False)
    write(f)


for make in (flux, wan, dac):
    make()
