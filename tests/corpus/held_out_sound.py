# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families: sound, and images from text."""
import sys
import types

import diffusers
import torch
import transformers as hf
from torch import nn

from held_out_lib import changed, copies, family, fused, linear, listings, net, param, seq, strip, ways, write


def encodec():
    config = hf.EncodecConfig(num_filters=4, num_residual_layers=1, upsampling_ratios=[4, 2], hidden_size=16,
                              codebook_size=32, codebook_dim=16, num_lstm_layers=2, target_bandwidths=[60.0])
    with torch.device("meta"):
        module = hf.EncodecModel(config)
    # The package imports torchaudio, but its modules do not need it.
    sys.modules["torchaudio"] = types.ModuleType("torchaudio")
    from encodec.model import EncodecModel
    from encodec.modules import SEANetDecoder, SEANetEncoder
    from encodec.quantization import ResidualVectorQuantizer
    del sys.modules["torchaudio"]

    def original():
        sizes = dict(channels=1, dimension=16, n_filters=4, ratios=[4, 2])
        return EncodecModel(SEANetEncoder(**sizes), SEANetDecoder(**sizes),
                            ResidualVectorQuantizer(dimension=16, n_q=4, bins=32), [60.0], 24000, 1)
    f = family("encodec", "transformers", "encodec")
    listings(f, hf=lambda: module, original=original, other=(
        lambda: net("Tagger", word_embeds=nn.Embedding(500, 100), lstm=nn.LSTM(100, 64, bidirectional=True),
                    hidden2tag=linear(128, 9), transitions=param(9, 9)), "a tagger"))
    changed(f, "hub", "hf", [(r"\.parametrizations\.weight\.original0", ".weight_g"),
                             (r"\.parametrizations\.weight\.original1", ".weight_v")],
            class_name="transformers.EncodecModel, as published")
    f.wrapped("trained", "original", "best_state.")
    norm = [(r"\.weight_g$", ".parametrizations.weight.original0"),
            (r"\.weight_v$", ".parametrizations.weight.original1")]
    there = [(r"^(encoder|decoder)\.model\.", r"\1.layers."), (r"\.conv\.conv\.", ".conv."),
             (r"\.convtr\.convtr\.", ".conv."), (r"^quantizer\.vq\.layers\.(\d+)\._codebook",
                                                 r"quantizer.layers.\1.codebook")]
    back = [(r"^decoder\.layers\.([36])\.conv\.", r"decoder.model.\1.convtr.convtr."),
            (r"^(encoder|decoder)\.layers\.", r"\1.model."), (r"\.conv\.(?!conv)", ".conv.conv."),
            (r"^quantizer\.layers\.(\d+)\.codebook", r"quantizer.vq.layers.\1._codebook")]
    plain = [(r"\.parametrizations\.weight\.original0", ".weight_g"),
             (r"\.parametrizations\.weight\.original1", ".weight_v")]
    f.case("original_to_hf", "original", "hf", "renamed", there + norm, sorted_file=False)
    f.case("hub_to_original", "hub", "original", "renamed", back)
    f.case("hf_to_original", "hf", "original", "renamed", plain + back)
    f.case("hub_to_hf", "hub", "hf", "renamed", norm)
    f.case("trained_to_hf", "trained", "hf", "wrapped", [strip("best_state.")] + there + norm)
    f.unrelated("tagger_to_original", "other", "original")
    write(f)


def hifigan():
    f = family("hifigan", "transformers")
    config = hf.SpeechT5HifiGanConfig(model_in_dim=20, upsample_initial_channel=32, upsample_rates=[8, 8],
                                      upsample_kernel_sizes=[16, 16])
    widths = (32, 16, 8)

    def parts(wrap):
        ups = [wrap(nn.ConvTranspose1d(widths[i], widths[i + 1], 16)) for i in range(2)]
        blocks = [net("ResBlock", **{f"convs{n}": [wrap(nn.Conv1d(c, c, k)) for _ in range(3)] for n in "12"})
                  for c in widths[1:] for k in (3, 7, 11)]
        return wrap(nn.Conv1d(20, 32, 7)), ups, blocks, wrap(nn.Conv1d(8, 1, 7))

    def original(wrap=lambda conv: conv):
        def make():
            pre, ups, blocks, post = parts(wrap)
            return net("Generator", conv_pre=pre, ups=ups, resblocks=blocks, conv_post=post)
        return make, "jik876/hifi-gan Generator"

    def kan_bayashi(norm=lambda conv: conv):
        def make():
            pre, ups, blocks, post = parts(lambda conv: seq(None, norm(conv)))
            return net("HiFiGANGenerator", input_conv=pre[1], upsamples=ups, blocks=blocks, output_conv=post)
        return make, "kan-bayashi/ParallelWaveGAN HiFiGANGenerator"
    normed = nn.utils.weight_norm
    listings(f, hf=lambda: hf.SpeechT5HifiGan(config), original=original(), pwg=kan_bayashi(),
             original_normed=original(normed), pwg_normed=kan_bayashi(normed))
    f.wrapped("original_file", "original", "generator.")
    hf_rules = ways(("ups", "upsampler"))
    pwg = ways(("conv_pre", "input_conv"), ("conv_post", "output_conv.1"), ("ups.*", "upsamples.*.1"),
               *((f"resblocks.*.convs{n}.*", f"blocks.*.convs{n}.*.1") for n in "12"))
    scale = ["^mean$", "^scale$"]
    f.case("file_to_hf", "original_file", "hf", "wrapped", [strip("generator.")] + hf_rules[0], unfed=scale)
    f.case("hf_to_original", "hf", "original", "renamed", hf_rules[1])
    f.case("original_to_pwg", "original", "pwg", "renamed", pwg[0])
    f.case("pwg_to_original", "pwg", "original", "numbered", pwg[1], sorted_file=False)
    f.case("pwg_to_hf_burn", "pwg", "hf", "renamed", pwg[1] + hf_rules[0], unfed=scale, layout="burn")
    f.case("normed_to_pwg", "original_normed", "pwg_normed", "renamed", pwg[0])
    f.case("normed_pwg_to_original", "pwg_normed", "original_normed", "numbered", pwg[1], sorted_file=False)
    write(f)


def tacotron2():
    f = family("tacotron2")

    def model(conv, dense, symbols=148):
        def stack(*sizes):
            return [seq(conv(nn.Conv1d(a, b, 5)), nn.BatchNorm1d(b)) for a, b in zip(sizes, sizes[1:])]
        attention = net("Attention", query_layer=dense(64, 16, False), memory_layer=dense(32, 16, False),
                        v=dense(16, 1, False), location_layer=net(
                            "LocationLayer", location_conv=conv(nn.Conv1d(2, 8, 31, bias=False)),
                            location_dense=dense(8, 16, False)))
        return net("Tacotron2", embedding=nn.Embedding(symbols, 32),
                   encoder=net("Encoder", convolutions=stack(32, 32, 32, 32),
                               lstm=nn.LSTM(32, 16, batch_first=True, bidirectional=True)),
                   decoder=net("Decoder", prenet=net("Prenet", layers=[dense(20, 24, False), dense(24, 24, False)]),
                               attention_rnn=nn.LSTMCell(56, 64), attention_layer=attention,
                               decoder_rnn=nn.LSTMCell(96, 64), linear_projection=dense(96, 20, True),
                               gate_layer=dense(96, 1, True)),
                   postnet=net("Postnet", convolutions=stack(20, 32, 32, 32, 32, 20)))

    def nvidia(**more):
        return (lambda: model(lambda c: net("ConvNorm", conv=c),
                              lambda a, b, bias: net("LinearNorm", linear_layer=linear(a, b, bias=bias)), **more),
                "NVIDIA/tacotron2 Tacotron2")
    listings(f, nvidia=nvidia(), nvidia_cyrillic=nvidia(symbols=96),
             torchaudio=(lambda: model(lambda c: c, lambda a, b, bias: linear(a, b, bias=bias)),
                         "torchaudio.models.Tacotron2"),
             other=(lambda: net("Generator", conv_pre=nn.Conv1d(80, 64, 7), ups=[nn.ConvTranspose1d(64, 32, 16)],
                                resblocks=[net("ResBlock", convs1=[nn.Conv1d(32, 32, 3)])],
                                conv_post=nn.Conv1d(32, 1, 7)), "a vocoder"))
    f.wrapped("nvidia_file", "nvidia", "state_dict.module.")
    there = [(r"\.linear_layer\.", "."), (r"\.conv\.", ".")]
    dense = (r"(query_layer|memory_layer|attention_layer\.v|location_dense|linear_projection|gate_layer|"
             r"prenet\.layers\.\d)")
    back = [(dense + r"\.", r"\1.linear_layer."), (r"(convolutions\.\d\.0|location_conv)\.", r"\1.conv.")]
    f.case("nvidia_to_torchaudio", "nvidia", "torchaudio", "renamed", there, sorted_file=False)
    f.case("torchaudio_to_nvidia", "torchaudio", "nvidia", "renamed", back)
    f.case("file_to_torchaudio", "nvidia_file", "torchaudio", "wrapped", [strip("state_dict.module.")] + there)
    f.case("file_to_cyrillic", "nvidia_file", "nvidia_cyrillic", "head", [strip("state_dict.module.")],
           unfed=["^embedding"])
    f.unrelated("vocoder_to_nvidia", "other", "nvidia")
    write(f)


def pixart():
    f = family("pixart", "diffusers")

    def original():
        def block():
            return net("PixArtBlock", scale_shift_table=param(6, 32),
                       attn=net("WindowAttention", qkv=linear(32, 96), proj=linear(32, 32)),
                       cross_attn=net("MultiHeadCrossAttention", q_linear=linear(32, 32), kv_linear=linear(32, 64),
                                      proj=linear(32, 32)), mlp=net("Mlp", fc1=linear(32, 128), fc2=linear(128, 32)))
        return net("PixArt", pos_embed=torch.empty(1, 16, 32),
                   x_embedder=net("PatchEmbed", proj=nn.Conv2d(4, 32, 2, 2)),
                   t_embedder=net("TimestepEmbedder", mlp=seq(linear(256, 32), None, linear(32, 32))),
                   t_block=seq(None, linear(32, 192)),
                   y_embedder=net("CaptionEmbedder", y_embedding=torch.empty(120, 48),
                                  y_proj=net("Mlp", fc1=linear(48, 32), fc2=linear(32, 32))),
                   blocks=[block(), block()],
                   final_layer=net("T2IFinalLayer", scale_shift_table=param(2, 32), linear=linear(32, 32)))

    def with_diffusers(layers):
        return lambda: diffusers.PixArtTransformer2DModel(
            num_attention_heads=2, attention_head_dim=16, in_channels=4, out_channels=8, num_layers=layers,
            cross_attention_dim=32, sample_size=8, caption_channels=48)
    listings(f, original=(original, "PixArt-alpha/PixArt-alpha PixArt"), diffusers=with_diffusers(2))
    f.wrapped("training", "original", "state_dict.", copies(f, "original", "state_dict_ema."))
    a, b = "blocks.*", "transformer_blocks.*"
    rules = ways(("x_embedder.proj", "pos_embed.proj"), ("t_block.1", "adaln_single.linear"),
                 ("t_embedder.mlp.0", "adaln_single.emb.timestep_embedder.linear_1"),
                 ("t_embedder.mlp.2", "adaln_single.emb.timestep_embedder.linear_2"),
                 ("y_embedder.y_proj.fc1", "caption_projection.linear_1"),
                 ("y_embedder.y_proj.fc2", "caption_projection.linear_2"), ("final_layer.linear", "proj_out"),
                 ("final_layer.scale_shift_table", "scale_shift_table"),
                 (a + ".scale_shift_table", b + ".scale_shift_table"), (a + ".attn.proj", b + ".attn1.to_out.0"),
                 (a + ".cross_attn.q_linear", b + ".attn2.to_q"), (a + ".cross_attn.proj", b + ".attn2.to_out.0"),
                 (a + ".mlp.fc1", b + ".ff.net.0.proj"), (a + ".mlp.fc2", b + ".ff.net.2"))
    parts = [fused(a + ".attn.qkv", *(f"{b}.attn1.to_{x}" for x in "qkv")),
             fused(a + ".cross_attn.kv_linear", *(f"{b}.attn2.to_{x}" for x in "kv"))]
    alone = ["^pos_embed$", "y_embedding"]
    f.case("original_to_diffusers", "original", "diffusers", "fused", rules[0], splits=parts)
    f.case("original_to_diffusers_burn", "original", "diffusers", "fused", rules[0], splits=parts, sorted_file=False,
           layout="burn")
    f.case("diffusers_to_original", "diffusers", "original", "fused", rules[1], joins=parts, unfed=alone)
    f.case("training_to_diffusers", "training", "diffusers", "wrapped", [strip("state_dict.")] + rules[0], splits=parts,
           sorted_file=False)
    f.case("training_to_original", "training", "original", "wrapped", [strip("state_dict.")])
    write(f)


def mmdit():
    f = family("mmdit", "diffusers")

    def original(layers):
        def block(last):
            parts = {} if last else dict(proj=linear(32, 32))
            more = {} if last else dict(mlp=net("Mlp", fc1=linear(32, 128), fc2=linear(128, 32)))
            return net("DismantledBlock", attn=net("SelfAttention", qkv=linear(32, 96), **parts), **more,
                       adaLN_modulation=seq(None, linear(32, 64 if last else 192)))

        def embedder(size):
            return net("Embedder", mlp=seq(linear(size, 32), None, linear(32, 32)))
        return net("MMDiT", pos_embed=torch.empty(1, 64, 32),
                   x_embedder=net("PatchEmbed", proj=nn.Conv2d(16, 32, 2, 2)),
                   t_embedder=embedder(256), y_embedder=embedder(40), context_embedder=linear(24, 32),
                   joint_blocks=[net("JointBlock", context_block=block(i == layers - 1), x_block=block(False))
                                 for i in range(layers)],
                   final_layer=net("FinalLayer", linear=linear(32, 64), adaLN_modulation=seq(None, linear(32, 64))))
    listings(f, original=(lambda: original(3), "Stability-AI/sd3-ref MMDiT"),
             diffusers=lambda: diffusers.SD3Transformer2DModel(
                 sample_size=8, num_layers=3, attention_head_dim=16, num_attention_heads=2, joint_attention_dim=24,
                 caption_projection_dim=32, pooled_projection_dim=40, pos_embed_max_size=8))
    vae = net("SDVAE", encoder=net("VAEEncoder", conv_in=nn.Conv2d(3, 32, 3), down=[
        net("Module", block=[net("ResnetBlock", norm1=nn.GroupNorm(32, 32), conv1=nn.Conv2d(32, 32, 3),
                                 norm2=nn.GroupNorm(32, 32), conv2=nn.Conv2d(32, 32, 3))])]),
              decoder=net("VAEDecoder", conv_in=nn.Conv2d(16, 32, 3), conv_out=nn.Conv2d(32, 3, 3)))
    f.wrapped("single_file", "original", "model.diffusion_model.",
              [["first_stage_model." + n, "f32", list(t.shape), ""] for n, t in vae.state_dict().items()])
    a, b = "joint_blocks.*", "transformer_blocks.*"
    sides = (("x_block", "attn.to_out.0", "ff", "norm1.linear"),
             ("context_block", "attn.to_add_out", "ff_context", "norm1_context.linear"))
    rules = ways(("pos_embed", "pos_embed.pos_embed"), ("x_embedder.proj", "pos_embed.proj"),
                 *((f"{x}_embedder.mlp.{2 * i - 2}", f"time_text_embed.{y}_embedder.linear_{i}")
                   for x, y in (("t", "timestep"), ("y", "text")) for i in (1, 2)),
                 ("final_layer.linear", "proj_out"), ("final_layer.adaLN_modulation.1", "norm_out.linear"),
                 *(pair for s, proj, ff, norm in sides for pair in (
                     (f"{a}.{s}.attn.proj", f"{b}.{proj}"), (f"{a}.{s}.mlp.fc1", f"{b}.{ff}.net.0.proj"),
                     (f"{a}.{s}.mlp.fc2", f"{b}.{ff}.net.2"), (f"{a}.{s}.adaLN_modulation.1", f"{b}.{norm}"))))
    parts = [fused(a + ".x_block.attn.qkv", *(f"{b}.attn.to_{x}" for x in "qkv")),
             fused(a + ".context_block.attn.qkv", *(f"{b}.attn.add_{x}_proj" for x in "qkv"))]
    f.case("original_to_diffusers", "original", "diffusers", "fused", rules[0], splits=parts, sorted_file=False)
    f.case("diffusers_to_original", "diffusers", "original", "fused", rules[1], joins=parts)
    f.case("diffusers_to_original_burn", "diffusers", "original", "fused", rules[1], joins=parts, layout="burn")
    f.case("single_file_to_diffusers", "single_file", "diffusers", "wrapped", [strip("model.diffusion_model.")] +
           rules[0], splits=parts)
    f.case("single_file_to_original", "single_file", "original", "wrapped", [strip("model.diffusion_model.")])
    write(f)


for make in (encodec, hifigan, tacotron2, pixart, mmdit):
    make()
