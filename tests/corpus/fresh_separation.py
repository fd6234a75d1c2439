# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: separation of sources. Hybrid Demucs and Conv-TasNet.

Checked by forward passes: demucs against torchaudio, asteroid's masks against torchaudio's. The typed structs define
themselves."""
import torch
from torch import nn

from fresh_lib import Fresh, Table, adam, alike, net
from fresh_text import lines


def hdemucs():
    from demucs.hdemucs import HDemucs as Original
    from torchaudio.models import HDemucs
    f = Fresh("hdemucs", "torchaudio", "demucs")

    def audio(sources=4):
        return lambda: HDemucs([str(i) for i in range(sources)], channels=8)

    def original(sources=4):
        return lambda: Original([str(i) for i in range(sources)], channels=8)
    f.add(torchaudio=audio(), torchaudio_2=audio(2), demucs=original())
    f.wrapped("demucs_file", "demucs", "state.")
    f.wrapped("solver", "demucs", "best_state.", adam(f, "demucs"))
    table = Table("""
        encoder.** = freq_encoder.**
        decoder.** = freq_decoder.**
        tencoder.** = time_encoder.**
        tdecoder.** = time_decoder.**
        freq_emb.** = freq_emb.**""")
    # torchaudio makes a norm for a layer that ends before it.
    idle = [r"^time_encoder\.4\.norm1"]
    f.pair("demucs_to_torchaudio", "demucs_file", "torchaudio", table, kind="wrapped", strip=r"^state\.", unfed=idle,
           sorted_file=False)
    f.pair("torchaudio_to_demucs", "torchaudio", "demucs", table, back=True, spare=idle)
    f.pair("solver_to_2_sources", "solver", "torchaudio_2", table, kind="head", strip=r"^best_state\.",
           unfed=idle + [r"^(freq_decoder\.5|time_decoder\.4)\.conv_tr"],
           spare=["^optimizer", r"best_state\.(decoder\.5|tdecoder\.4)\.conv_tr"], sorted_file=False)
    sound = torch.randn(1, 2, 65536)
    alike(f, "torchaudio_to_demucs", audio(), original(), lambda m: m(sound), lambda m: m(sound))
    f.write()


def conv_tasnet():
    from asteroid.models import ConvTasNet as Asteroid
    from torchaudio.models import ConvTasNet
    f = Fresh("conv_tasnet", "torchaudio", "asteroid")

    def audio(stacks=2):
        return lambda: ConvTasNet(num_sources=2, enc_kernel_size=16, enc_num_feats=32, msk_kernel_size=3,
                                  msk_num_feats=16, msk_num_hidden_feats=40, msk_num_layers=3, msk_num_stacks=stacks)

    def asteroid(sources=2):
        return lambda: Asteroid(sources, n_blocks=3, n_repeats=2, bn_chan=16, hid_chan=40, skip_chan=16, n_filters=32,
                                kernel_size=16, mask_act="sigmoid")

    def struct():
        """A typed model of one's own."""
        def block():
            return net("Block", widen=nn.Conv1d(16, 40, 1), slope_1=nn.PReLU(), norm_1=nn.GroupNorm(1, 40),
                       depthwise=nn.Conv1d(40, 40, 3, groups=40), slope_2=nn.PReLU(), norm_2=nn.GroupNorm(1, 40),
                       residual=nn.Conv1d(40, 16, 1), skip=nn.Conv1d(40, 16, 1))
        return net("Separator", analysis=nn.Conv1d(1, 32, 16, bias=False), norm=nn.GroupNorm(1, 32),
                   narrow=nn.Conv1d(32, 16, 1), blocks=[block() for _ in range(6)], slope=nn.PReLU(),
                   masks=nn.Conv1d(16, 64, 1), synthesis=nn.ConvTranspose1d(32, 1, 16, bias=False))
    f.add(torchaudio=audio(), torchaudio_3=audio(3), asteroid=asteroid(), asteroid_3=asteroid(3),
          struct=(struct, "typed model"))
    f.wrapped("asteroid_file", "asteroid", "state_dict.")
    rows = [("encoder.filterbank._filters", "encoder.weight", "analysis.weight"),
            ("decoder.filterbank._filters", "decoder.weight", "synthesis.weight"),
            ("masker.bottleneck.1", "mask_generator.input_conv", "narrow"),
            ("masker.mask_net.0", "mask_generator.output_prelu", "slope"),
            ("masker.mask_net.1", "mask_generator.output_conv", "masks")]
    a, b, s = "masker.TCN.{i}.", "mask_generator.conv_layers.{i}.", "blocks.{i}."
    rows += [(f"{a}shared_block.{k}", f"{b}conv_layers.{k}", s + n) for k, n in (
        (0, "widen"), (1, "slope_1"), (3, "depthwise"), (4, "slope_2"))]
    rows += [(a + "res_conv", b + "res_out", s + "residual"), (a + "skip_conv", b + "skip_out", s + "skip")]
    for x, y, z in (("masker.bottleneck.0", "mask_generator.input_norm", "norm"),
                    (a + "shared_block.2", b + "conv_layers.2", s + "norm_1"),
                    (a + "shared_block.5", b + "conv_layers.5", s + "norm_2")):
        rows += [(f"{x}.{g}", f"{y}.{w}", f"{z}.{w}") for g, w in (("gamma", "weight"), ("beta", "bias"))]
    to_audio = Table(lines("%s = %s", [(x, y) for x, y, _ in rows]))
    to_struct = Table(lines("%s = %s", [(x, z) for x, _, z in rows]))
    # torchaudio leaves out the last residual, which nothing adds.
    last = [r"TCN\.5\.res_conv"]
    f.pair("asteroid_file_to_torchaudio", "asteroid_file", "torchaudio", to_audio, kind="wrapped",
           strip=r"^state_dict\.", spare=last, sorted_file=False)
    f.pair("torchaudio_to_asteroid", "torchaudio", "asteroid", to_audio, back=True, unfed=last)
    f.pair("asteroid_to_struct_burn", "asteroid", "struct", to_struct, layout="burn")
    f.pair("torchaudio_to_3_speakers", "torchaudio", "asteroid_3", to_audio, back=True, kind="head",
           unfed=last + [r"mask_net\.1"], spare=["output_conv"], sorted_file=False)
    f.pair("asteroid_to_longer_torchaudio", "asteroid", "torchaudio_3", to_audio, kind="depth",
           unfed=[r"conv_layers\.[678]\.", r"conv_layers\.5\.res_out"], spare=last)
    # The encoders cut the sound in other places.
    features = torch.randn(2, 32, 50)
    alike(f, "torchaudio_to_asteroid", audio(), asteroid(), lambda m: m.mask_generator(features),
          lambda m: m.masker(features))
    f.write()


if __name__ == "__main__":
    for make in (hdemucs, conv_tasnet):
        make()
