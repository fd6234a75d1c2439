# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: speech. Whisper for CTranslate2 and ports of it, WavLM, ECAPA-TDNN.

Checked by forward passes: WavLM of torchaudio against transformers, SpeechBrain's ECAPA-TDNN against the retyped one of
TaoRuijie (up to the pooling). The names of CTranslate2 and the order of its joined matrices, and the names of
whisper-burn, unilm and TaoRuijie were compared with their sources. The typed structs define themselves."""
import torch
import transformers as hf
from torch import nn

from fresh_lib import Fresh, Table, alike, linear, net, on_cpu, param
from fresh_text import lines

d, vocab = 48, 330


def whisper_config(layers=2):
    return hf.WhisperConfig(vocab_size=vocab, num_mel_bins=20, d_model=d, encoder_layers=layers, decoder_layers=layers,
                            encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=4 * d,
                            decoder_ffn_dim=4 * d, max_source_positions=30, max_target_positions=24, pad_token_id=0,
                            bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)


def burn_attention():
    return net("MultiHeadAttention", query=linear(d, d), key=linear(d, d, bias=False), value=linear(d, d),
               out=linear(d, d))


def whisper_burn(layers=2):
    """Gadersd/whisper-burn, src/model/mod.rs"""
    def block(cross):
        more = dict(cross_attn=burn_attention(), cross_attn_ln=nn.LayerNorm(d)) if cross else {}
        return net("ResidualAttentionBlock", attn=burn_attention(), attn_ln=nn.LayerNorm(d), **more, mlp=net(
            "MLP", lin1=linear(d, 4 * d), lin2=linear(4 * d, d)), mlp_ln=nn.LayerNorm(d))
    return lambda: net("Whisper", encoder=net(
        "AudioEncoder", conv1=nn.Conv1d(20, d, 3), conv2=nn.Conv1d(d, d, 3), blocks=[
            block(False) for _ in range(layers)], ln_post=nn.LayerNorm(d), positional_embedding=param(30, d)),
        decoder=net("TextDecoder", token_embedding=param(vocab, d), positional_embedding=param(24, d),
                    blocks=[block(True) for _ in range(layers)], ln=nn.LayerNorm(d), mask=param(24, 24)))


def ct2(layers=2):
    """CTranslate2, specs/whisper_spec.py: self attention has its matrices in one, cross attention k and v."""
    def norm():
        return [("layer_norm/gamma", [d]), ("layer_norm/beta", [d])]

    def dense(name, a, b):
        return [(f"{name}/weight", [b, a]), (f"{name}/bias", [b])]
    rows = []
    for side in ("encoder", "decoder"):
        if side == "encoder":
            rows += [(f"encoder/conv{i}/{w}", s) for i, n in ((1, 20), (2, d)) for w, s in (("weight", [d, n, 3]),
                                                                                            ("bias", [d]))]
            rows += [("encoder/position_encodings/encodings", [30, d])]
        else:
            rows += [("decoder/embeddings/weight", [vocab, d]), ("decoder/position_encodings/encodings", [24, d])]
        rows += [(f"{side}/{n}", s) for n, s in norm()]
        for i in range(layers):
            parts = {"self_attention": norm() + dense("linear_0", d, 3 * d) + dense("linear_1", d, d)}
            if side == "decoder":
                parts["attention"] = norm() + dense("linear_0", d, d) + dense("linear_1", d, 2 * d) + dense(
                    "linear_2", d, d)
            parts["ffn"] = norm() + dense("linear_0", d, 4 * d) + dense("linear_1", 4 * d, d)
            rows += [(f"{side}/layer_{i}/{part}/{n}", s) for part, ns in parts.items() for n, s in ns]
    return [[n, "f32", s, ""] for n, s in rows]


def whisper():
    import whisper as openai
    f = Fresh("whisper_ports", "transformers", "openai-whisper")

    def with_openai():
        return openai.model.Whisper(openai.model.ModelDimensions(
            n_mels=20, n_audio_ctx=30, n_audio_state=d, n_audio_head=4, n_audio_layer=2, n_vocab=vocab, n_text_ctx=24,
            n_text_state=d, n_text_head=4, n_text_layer=2))

    def struct():
        """A typed model of one's own."""
        def attend(name):
            return {f"{name}_norm": nn.LayerNorm(d), f"{name}_q": linear(d, d), f"{name}_k": linear(d, d, bias=False),
                    f"{name}_v": linear(d, d), f"{name}_o": linear(d, d)}

        def block(*names):
            return net("Block", **{k: v for n in names for k, v in attend(n).items()}, mlp_norm=nn.LayerNorm(d),
                       mlp_in=linear(d, 4 * d), mlp_out=linear(4 * d, d))
        return net("Transcriber", ear=net("Ear", conv_a=nn.Conv1d(20, d, 3), conv_b=nn.Conv1d(d, d, 3),
                                          place=nn.Embedding(30, d), layer=[block("self"), block("self")],
                                          norm=nn.LayerNorm(d)),
                   mouth=net("Mouth", word=nn.Embedding(vocab, d), place=nn.Embedding(24, d),
                             layer=[block("self", "cross"), block("self", "cross")], norm=nn.LayerNorm(d)))
    f.add(hf=lambda: hf.WhisperForConditionalGeneration(whisper_config()), openai=on_cpu(with_openai),
          burn=(whisper_burn(), "Gadersd/whisper-burn Whisper"),
          burn_4=(whisper_burn(4), "Gadersd/whisper-burn Whisper"), struct=(struct, "typed model"))
    f.without("published", "hf", "^proj_out")
    f.tensors("ct2", ct2(), "CTranslate2 WhisperSpec")
    f.wrapped("openai_file", "openai", "model_state_dict.")
    hf_burn, openai_burn, ct2_hf, hf_struct = [], [], [], []
    for side, names in (("encoder", ["attn"]), ("decoder", ["attn", "cross_attn"])):
        h, b, o = f"model.{side}.layers.{{i}}.", f"{side}.blocks.{{i}}.", {"encoder": "ear", "decoder": "mouth"}[side]
        c, s = f"{side}/layer_{{i}}/", f"{o}.layer.{{i}}."
        for name in names:
            ours = {"attn": "self_attn", "cross_attn": "encoder_attn"}[name]
            mine = {"attn": "self", "cross_attn": "cross"}[name]
            for a, z, w in (("q", "query", "q"), ("k", "key", "k"), ("v", "value", "v"), ("out", "out", "o")):
                hf_burn.append((f"{h}{ours}.{a}_proj", f"{b}{name}.{z}"))
                hf_struct.append((f"{h}{ours}.{a}_proj", f"{s}{mine}_{w}"))
            hf_burn.append((f"{h}{ours}_layer_norm", f"{b}{name}_ln"))
            hf_struct.append((f"{h}{ours}_layer_norm", f"{s}{mine}_norm"))
            openai_burn += [(f"{b}{name}.**", f"{b}{name}.**"), (f"{b}{name}_ln", f"{b}{name}_ln")]
        for n, (a, z) in enumerate((("fc1", "mlp.lin1"), ("fc2", "mlp.lin2"))):
            hf_burn.append((h + a, b + z))
            hf_struct.append((h + a, s + ("mlp_in", "mlp_out")[n]))
            openai_burn.append((f"{b}mlp.{2 * n}", b + z))
            ct2_hf += [(f"{c}ffn/linear_{n}/{w}", f"{h}{a}.{w}") for w in ("weight", "bias")]
        hf_burn += [(h + "final_layer_norm", b + "mlp_ln"),
                    (f"model.{side}.embed_positions.weight", f"{side}.positional_embedding"),
                    (f"model.{side}.layer_norm", f"{side}." + ("ln_post" if side == "encoder" else "ln"))]
        hf_struct += [(h + "final_layer_norm", s + "mlp_norm"), (f"model.{side}.embed_positions", f"{o}.place"),
                      (f"model.{side}.layer_norm", f"{o}.norm")]
        openai_burn.append((b + "mlp_ln", b + "mlp_ln"))
        for a, z in (("self_attention", "self_attn_layer_norm"), ("attention", "encoder_attn_layer_norm"),
                     ("ffn", "final_layer_norm")):
            ct2_hf += [(f"{c}{a}/layer_norm/{g}", f"{h}{z}.{w}") for g, w in (("gamma", "weight"), ("beta", "bias"))]
        ct2_hf += [(f"{side}/layer_norm/{g}", f"model.{side}.layer_norm.{w}") for g, w in (("gamma", "weight"),
                                                                                          ("beta", "bias"))]
        ct2_hf += [(f"{side}/position_encodings/encodings", f"model.{side}.embed_positions.weight")]
        for w in ("weight", "bias"):
            ct2_hf += [(f"{c}self_attention/linear_0/{w}", " + ".join(f"{h}self_attn.{x}_proj.{w}" for x in "qkv")),
                       (f"{c}self_attention/linear_1/{w}", f"{h}self_attn.out_proj.{w}"),
                       (f"{c}attention/linear_0/{w}", f"{h}encoder_attn.q_proj.{w}"),
                       (f"{c}attention/linear_1/{w}", " + ".join(f"{h}encoder_attn.{x}_proj.{w}" for x in "kv")),
                       (f"{c}attention/linear_2/{w}", f"{h}encoder_attn.out_proj.{w}")]
    ct2_hf += [(f"encoder/conv{i}/{w}", f"model.encoder.conv{i}.{w}") for i in (1, 2) for w in ("weight", "bias")]
    ct2_hf += [("decoder/embeddings/weight", "model.decoder.embed_tokens.weight")]
    hf_burn += [(f"model.encoder.conv{i}", f"encoder.conv{i}") for i in (1, 2)]
    hf_burn += [("model.decoder.embed_tokens.weight", "decoder.token_embedding")]
    hf_struct += [("model.encoder.conv1", "ear.conv_a"), ("model.encoder.conv2", "ear.conv_b"),
                  ("model.decoder.embed_tokens", "mouth.word")]
    openai_burn += [("decoder.token_embedding.weight", "decoder.token_embedding")]
    openai_burn += [(n, n) for n in ("encoder.conv1", "encoder.conv2", "encoder.ln_post", "decoder.ln",
                                     "encoder.positional_embedding", "decoder.positional_embedding")]
    hf_burn, openai_burn, ct2_hf, hf_struct = (Table(lines("%s = %s", t)) for t in (hf_burn, openai_burn, ct2_hf,
                                                                                   hf_struct))
    mask = [r"^decoder\.mask$"]
    f.pair("openai_file_to_burn", "openai_file", "burn", openai_burn, kind="wrapped", strip=r"^model_state_dict\.",
           unfed=mask, layout="burn", sorted_file=False)
    f.pair("published_to_burn", "published", "burn", hf_burn, unfed=mask, layout="burn")
    f.pair("ct2_to_published", "ct2", "published", ct2_hf, kind="fused", gaps=True, sorted_file=False)
    # CTranslate2 has zeros for the bias of k, and transformers has none.
    f.pair("published_to_ct2", "published", "ct2", Table(lines("%s = %s", [
        (" + ".join(b), " + ".join(a)) for a, b, _ in ct2_hf.lines if len(b) == 1 or b[0].endswith("weight")])),
        kind="fused", unfed=["self_attention/linear_0/bias", "/attention/linear_1/bias"],
        spare=[r"self_attn\.[qv]_proj\.bias", r"encoder_attn\.v_proj\.bias"])
    f.pair("published_to_struct_burn", "published", "struct", hf_struct, layout="burn", sorted_file=False)
    f.pair("published_to_deeper_burn", "published", "burn_4", hf_burn, kind="depth", unfed=mask + [r"blocks\.[23]\."])
    f.write()


def wavlm():
    import torchaudio
    f = Fresh("wavlm", "transformers", "torchaudio")
    m = 32

    def config():
        return hf.WavLMConfig(
            hidden_size=m, num_hidden_layers=3, num_attention_heads=4, intermediate_size=72, conv_dim=(16, 16, 16),
            conv_kernel=(10, 3, 2), conv_stride=(5, 2, 2), num_conv_pos_embeddings=16,
            num_conv_pos_embedding_groups=4, num_buckets=20, max_bucket_distance=40, num_feat_extract_layers=3,
            vocab_size=30)

    def audio():
        return torchaudio.models.wavlm_model(
            extractor_mode="group_norm", extractor_conv_layer_config=[(16, 10, 5), (16, 3, 2), (16, 2, 2)],
            extractor_conv_bias=False, encoder_embed_dim=m, encoder_projection_dropout=0., encoder_pos_conv_kernel=16,
            encoder_pos_conv_groups=4, encoder_num_layers=3, encoder_num_heads=4, encoder_num_buckets=20,
            encoder_max_distance=40, encoder_attention_dropout=0., encoder_ff_interm_features=72,
            encoder_ff_interm_dropout=0., encoder_dropout=0., encoder_layer_norm_first=False, encoder_layer_drop=0.,
            aux_num_out=None)
    f.add(hf=lambda: hf.WavLMModel(config()), torchaudio=audio,
          labels=lambda: hf.WavLMForSequenceClassification(config()))
    a = "encoder.layers.{i}."
    rows = [("mask_emb", "masked_spec_embed", ""), ("layer_norm", "feature_projection.layer_norm",
                                                    "encoder.feature_projection.layer_norm"),
            ("post_extract_proj", "feature_projection.projection", "encoder.feature_projection.projection"),
            ("feature_extractor.conv_layers.{i}.0", "feature_extractor.conv_layers.{i}.conv",
             "feature_extractor.conv_layers.{i}.conv"),
            ("feature_extractor.conv_layers.0.2", "feature_extractor.conv_layers.0.layer_norm",
             "feature_extractor.conv_layers.0.layer_norm"),
            ("encoder.layer_norm", "encoder.layer_norm", "encoder.transformer.layer_norm")]
    for x, y in (("weight_g", "parametrizations.weight.original0"), ("weight_v", "parametrizations.weight.original1"),
                 ("bias", "bias")):
        rows.append((f"encoder.pos_conv.0.{x}", f"encoder.pos_conv_embed.conv.{y}",
                     f"encoder.transformer.pos_conv_embed.conv.{y}"))
    for x, y in (("self_attn.out_proj", "attention.out_proj"),
                 ("self_attn.grep_linear", "attention.gru_rel_pos_linear"),
                 ("self_attn.grep_a", "attention.gru_rel_pos_const"),
                 ("self_attn.relative_attention_bias", "attention.rel_attn_embed"),
                 ("self_attn_layer_norm", "layer_norm"), ("fc1", "feed_forward.intermediate_dense"),
                 ("fc2", "feed_forward.output_dense"), ("final_layer_norm", "final_layer_norm")):
        rows.append((a + x, a + y, "encoder.transformer.layers.{i}." + (
            y.replace("attention.out", "attention.attention.out"))))
    projections = [(a + f"self_attn.{x}_proj", a + f"attention.{x}_proj") for x in "qkv"]
    to_hf = Table(lines("%s = %s", [(x, y) for x, y, _ in rows] + projections))
    f.renamed("original", "hf", to_hf, "microsoft/unilm WavLM", back=True)
    f.wrapped("original_file", "original", "model.")
    f.tensors("published", [[n.replace("parametrizations.weight.original0", "weight_g").replace(
        "parametrizations.weight.original1", "weight_v"), *rest] for n, *rest in f.get("hf")],
        "transformers.WavLMModel, as published")

    def joined(side):
        return [(" + ".join(f"{p[side]}.{w}" for p in projections),
                 f"encoder.transformer.layers.{{i}}.attention.attention.in_proj_{w}") for w in ("weight", "bias")]
    original_audio = Table(lines("%s = %s", [(x, z) for x, _, z in rows if z] + joined(0)))
    hf_audio = Table(lines("%s = %s", [(y, z) for _, y, z in rows if z] + joined(1)))
    published = Table(lines("%s = %s", [(y if "param" not in y else y.replace(
        "parametrizations.weight.original0", "weight_g").replace("parametrizations.weight.original1", "weight_v"), z)
        for _, y, z in rows if z] + joined(1)))
    f.pair("original_file_to_hf", "original_file", "hf", to_hf, kind="wrapped", strip=r"^model\.", sorted_file=False)
    f.pair("original_to_torchaudio", "original", "torchaudio", original_audio, kind="fused", spare=["^mask_emb"])
    f.pair("published_to_torchaudio", "published", "torchaudio", published, kind="fused", spare=["^masked"])
    f.pair("torchaudio_to_hf", "torchaudio", "hf", hf_audio, back=True, kind="fused", unfed=["^masked_spec_embed"],
           sorted_file=False)
    labels = Table(lines("%s = wavlm.%s", [(x, y) for x, y, _ in rows] + projections))
    f.pair("original_file_to_labels", "original_file", "labels", labels, kind="head", strip=r"^model\.",
           unfed=["^(projector|classifier)"], sorted_file=False)
    sound = torch.randn(2, 2000)
    alike(f, "torchaudio_to_hf", audio, lambda: hf.WavLMModel(config()), lambda m: m(sound)[0],
          lambda m: m(sound).last_hidden_state)
    f.write()


def ecapa():
    from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN
    f = Fresh("ecapa_tdnn", "speechbrain")
    c = 32

    def brain():
        return ECAPA_TDNN(20, lin_neurons=24, channels=[c] * 4 + [96], attention_channels=12, res2net_scale=4,
                          se_channels=10, global_context=True)

    def conv(a, b, k=1, dilation=1):
        return nn.Conv1d(a, b, k, dilation=dilation, padding=dilation * (k // 2))

    def norm(n):
        return nn.BatchNorm1d(n)

    def tao():
        """TaoRuijie/ECAPA-TDNN, model.py"""
        def layer(n):
            return net("Bottle2neck", conv1=conv(c, c), bn1=norm(c), convs=[conv(8, 8, 3, n) for _ in range(3)],
                       bns=[norm(8) for _ in range(3)], conv3=conv(c, c), bn3=norm(c), se=net("SEModule", se=(
                           nn.Sequential(nn.Identity(), conv(c, 10), nn.ReLU(), conv(10, c), nn.Sigmoid()))))
        return net("ECAPA_TDNN", conv1=conv(20, c, 5), bn1=norm(c), layer1=layer(2), layer2=layer(3), layer3=layer(4),
                   layer4=conv(96, 96), attention=nn.Sequential(conv(288, 12), nn.ReLU(), norm(12), nn.Tanh(),
                                                                conv(12, 96), nn.Softmax(2)),
                   bn5=norm(192), fc6=linear(192, 24), bn6=norm(24))

    def struct():
        """A typed model of one's own."""
        def block():
            return net("Block", squeeze=conv(c, c), squeeze_norm=norm(c), branches=[conv(8, 8, 3) for _ in range(3)],
                       branch_norms=[norm(8) for _ in range(3)], expand=conv(c, c), expand_norm=norm(c),
                       gate_down=conv(c, 10), gate_up=conv(10, c))
        return net("SpeakerNet", stem=conv(20, c, 5), stem_norm=norm(c), block_a=block(), block_b=block(),
                   block_c=block(), mix=conv(96, 96), mix_norm=norm(96), attend_in=conv(288, 12), attend_norm=norm(12),
                   attend_out=conv(12, 96), pool_norm=norm(192), embed=conv(192, 24))
    f.add(speechbrain=brain, tao=(tao, "TaoRuijie/ECAPA-TDNN ECAPA_TDNN"), struct=(struct, "typed model"),
          gpt2=lambda: hf.GPT2Model(hf.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=90, n_positions=16)))
    f.wrapped("tao_file", "tao", "speaker_encoder.", [["speaker_loss.weight", "f32", [50, 24], ""]])
    rows = [("blocks.0.conv.conv", "conv1", "stem"), ("blocks.0.norm.norm", "bn1", "stem_norm"),
            ("mfa.conv.conv", "layer4", "mix"), ("mfa.norm.norm", "", "mix_norm"),
            ("asp.tdnn.conv.conv", "attention.0", "attend_in"), ("asp.tdnn.norm.norm", "attention.2", "attend_norm"),
            ("asp.conv.conv", "attention.4", "attend_out"), ("asp_bn.norm", "bn5", "pool_norm"),
            ("fc.conv", "", "embed")]
    for i, name in ((1, "block_a"), (2, "block_b"), (3, "block_c")):
        rows += [(f"blocks.{i}.{a}", f"layer{i}.{b}", f"{name}.{s}") for a, b, s in (
            ("tdnn1.conv.conv", "conv1", "squeeze"), ("tdnn1.norm.norm", "bn1", "squeeze_norm"),
            ("tdnn2.conv.conv", "conv3", "expand"), ("tdnn2.norm.norm", "bn3", "expand_norm"),
            ("se_block.conv1.conv", "se.se.1", "gate_down"), ("se_block.conv2.conv", "se.se.3", "gate_up"),
            ("res2net_block.blocks.{j}.conv.conv", "convs.{j}", "branches.{j}"),
            ("res2net_block.blocks.{j}.norm.norm", "bns.{j}", "branch_norms.{j}"))]
    to_tao = Table(lines("%s = %s", [(a, b) for a, b, _ in rows if b]))
    to_struct = Table(lines("%s = %s", [(a, s) for a, _, s in rows]))
    f.pair("speechbrain_to_tao", "speechbrain", "tao", to_tao, unfed=["^(fc6|bn6)"], spare=[r"^mfa\.norm", r"^fc\."])
    f.pair("tao_file_to_speechbrain", "tao_file", "speechbrain", to_tao, back=True, kind="wrapped",
           strip=r"^speaker_encoder\.", unfed=[r"^mfa\.norm", r"^fc\."], spare=["loss", r"\.(fc6|bn6)\."],
           sorted_file=False)
    f.pair("speechbrain_to_struct_burn", "speechbrain", "struct", to_struct, layout="burn", sorted_file=False)
    f.unrelated("gpt2_to_speechbrain", "gpt2", "speechbrain")

    def ask_brain(m):
        x, found = mel, []
        for layer in m.blocks:
            x = layer(x)
            found.append(x)
        return m.mfa.conv.conv(torch.cat(found[1:], 1))

    def ask_tao(m):
        def layer(part, x):
            y = part.bn1(torch.relu(part.conv1(x)))
            parts, out, z = y.chunk(4, 1), [], 0
            for i in range(3):
                z = z + parts[i + 1]
                z = part.bns[i](torch.relu(part.convs[i](z)))
                out.append(z)
            y = part.bn3(torch.relu(part.conv3(torch.cat([parts[0], *out], 1))))
            return x + y * torch.sigmoid(part.se.se[3](torch.relu(part.se.se[1](y.mean(2, keepdim=True)))))
        x, found = m.bn1(torch.relu(m.conv1(mel))), []
        for part in (m.layer1, m.layer2, m.layer3):
            x = layer(part, x)
            found.append(x)
        return m.layer4(torch.cat(found, 1))

    def pads(file, model):
        """SpeechBrain pads by reflection. It leaves the first group of channels alone and TaoRuijie the last, which
        here is done as SpeechBrain does it."""
        for module in file.modules():
            if type(module).__name__ == "Conv1d" and hasattr(module, "padding_mode"):
                module.padding_mode = "constant"
    mel = torch.randn(2, 20, 60)
    alike(f, "speechbrain_to_tao", brain, tao, ask_brain, ask_tao, pads)
    f.write()


if __name__ == "__main__":
    for make in (whisper, wavlm, ecapa):
        make()
