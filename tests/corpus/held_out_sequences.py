# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families: networks over sequences of words, amino acids and sound. Needs fair-esm (pip, without its
dependencies) beside requirements.txt."""
import torch
import transformers as hf
from torch import nn

from held_out_check import alike
from held_out_lib import adam, changed, family, fused, linear, listings, net, param, rms, seq, strip, ways, write


def norm(size):
    """A LayerNorm without bias."""
    return net("LayerNorm", weight=param(size))


def bark():
    from transformers.models.bark.configuration_bark import BarkFineConfig, BarkSemanticConfig
    from transformers.models.bark.modeling_bark import BarkFineModel, BarkSemanticModel
    f = family("bark", "transformers")
    sizes = dict(block_size=32, input_vocab_size=64, output_vocab_size=64, num_heads=2, hidden_size=16)

    def semantic(layers=3):
        return lambda: BarkSemanticModel(BarkSemanticConfig(num_layers=layers, bias=False, **sizes))

    def fine():
        return BarkFineModel(BarkFineConfig(num_layers=2, bias=True, n_codes_total=4, n_codes_given=1, **sizes))

    def blocks(n, bias):
        ln = nn.LayerNorm if bias else norm
        return [net("Block", ln_1=ln(16), attn=net("CausalSelfAttention", c_attn=linear(16, 48, bias=bias),
                                                   c_proj=linear(16, 16, bias=bias)),
                    ln_2=ln(16), mlp=net("MLP", c_fc=linear(16, 64, bias=bias), c_proj=linear(64, 16, bias=bias)))
                for _ in range(n)]

    def suno():
        return net("GPT", transformer=net("ModuleDict", wte=nn.Embedding(64, 16), wpe=nn.Embedding(32, 16),
                                          h=blocks(3, False), ln_f=norm(16)), lm_head=linear(16, 64, bias=False))

    def suno_fine():
        module = net("FineGPT", lm_heads=[linear(16, 64, bias=False) for _ in range(3)], transformer=net(
            "ModuleDict", wtes=[nn.Embedding(64, 16) for _ in range(4)], wpe=nn.Embedding(32, 16),
            h=blocks(2, True), ln_f=nn.LayerNorm(16)))
        for i in range(3):
            module.transformer.wtes[i + 1].weight = module.lm_heads[i].weight
        return module
    listings(f, hf=semantic(), hf_deep=semantic(5), hf_fine=fine, suno=(suno, "suno-ai/bark GPT"),
             suno_fine=(suno_fine, "suno-ai/bark FineGPT"))
    f.wrapped("suno_file", "suno", "model._orig_mod.")
    f.wrapped("suno_fine_file", "suno_fine", "model._orig_mod.")
    a, b = "transformer.h.*", "layers.*"
    shared = [("transformer.wpe", "position_embeds_layer"), ("transformer.ln_f", "layernorm_final"),
              (a + ".ln_1", b + ".layernorm_1"), (a + ".ln_2", b + ".layernorm_2"),
              (a + ".attn.c_attn", b + ".attn.att_proj"), (a + ".attn.c_proj", b + ".attn.out_proj"),
              (a + ".mlp.c_fc", b + ".mlp.in_proj"), (a + ".mlp.c_proj", b + ".mlp.out_proj")]
    rules = ways(("transformer.wte", "input_embeds_layer"), *shared)
    fine_rules = ways(("transformer.wtes", "input_embeds_layers"), *shared)
    first = [strip("model._orig_mod.")]
    # transformers keeps the mask for the past as a buffer, the published files do not have it.
    mask = [r"attn\.bias$"]
    f.case("suno_to_hf", "suno", "hf", "renamed", rules[0], unfed=mask)
    f.case("suno_to_hf_burn", "suno", "hf", "renamed", rules[0], unfed=mask, sorted_file=False, layout="burn")
    f.case("hf_to_suno", "hf", "suno", "renamed", rules[1])
    f.case("file_to_hf", "suno_file", "hf", "wrapped", first + rules[0], unfed=mask, sorted_file=False)
    f.case("file_to_fine_hf", "suno_fine_file", "hf_fine", "wrapped", first + fine_rules[0])
    f.case("fine_hf_to_suno", "hf_fine", "suno_fine", "renamed", fine_rules[1])
    f.case("suno_to_deeper_hf", "suno_file", "hf_deep", "depth", first + rules[0], unfed=mask + [r"layers\.[34]\."])
    write(f)


def musicgen():
    from transformers.models.musicgen.modeling_musicgen import MusicgenForCausalLM
    f = family("musicgen", "transformers")

    def config(books):
        return hf.MusicgenDecoderConfig(vocab_size=64, hidden_size=32, ffn_dim=128, num_hidden_layers=2,
                                        num_attention_heads=4, num_codebooks=books, max_position_embeddings=32)

    def audiocraft(books=4):
        def attention():
            return net("StreamingMultiheadAttention", in_proj_weight=param(96, 32), out_proj=linear(32, 32, bias=False))

        def layer():
            return net("StreamingTransformerLayer", self_attn=attention(), linear1=linear(32, 128, bias=False),
                       linear2=linear(128, 32, bias=False), norm1=nn.LayerNorm(32), norm2=nn.LayerNorm(32),
                       cross_attention=attention(), norm_cross=nn.LayerNorm(32))
        text = net("T5Conditioner", output_proj=linear(24, 32))
        return net("LMModel", condition_provider=net("ConditioningProvider", conditioners=net(
            "ModuleDict", description=text)), emb=[nn.Embedding(65, 32) for _ in range(books)],
            transformer=net("StreamingTransformer", layers=[layer(), layer()]), out_norm=nn.LayerNorm(32),
            linears=[linear(32, 64, bias=False) for _ in range(books)])
    listings(f, hf=lambda: MusicgenForCausalLM(config(4)), hf_stereo=lambda: MusicgenForCausalLM(config(8)),
             audiocraft=(audiocraft, "facebookresearch/audiocraft LMModel"))
    f.wrapped("file", "audiocraft", "best_state.")
    f.wrapped("training", "audiocraft", "model.", adam(f, "audiocraft"))
    a, b = "model.decoder.layers.*", "transformer.layers.*"
    rules = ways(("model.decoder.embed_tokens", "emb"), ("model.decoder.layer_norm", "out_norm"),
                 ("lm_heads", "linears"), (a + ".self_attn.out_proj", b + ".self_attn.out_proj"),
                 (a + ".encoder_attn.out_proj", b + ".cross_attention.out_proj"),
                 (a + ".self_attn_layer_norm", b + ".norm1"), (a + ".encoder_attn_layer_norm", b + ".norm_cross"),
                 (a + ".final_layer_norm", b + ".norm2"), (a + ".fc1", b + ".linear1"), (a + ".fc2", b + ".linear2"))
    qkv = [fused(f"{b}.{x}.in_proj_weight", *(f"{a}.{y}.{z}_proj.weight" for z in "qkv"))
           for x, y in (("self_attn", "self_attn"), ("cross_attention", "encoder_attn"))]
    text = ["^condition_provider"]
    f.case("file_to_hf", "file", "hf", "fused", [strip("best_state.")] + rules[1], splits=qkv)
    f.case("audiocraft_to_hf_burn", "audiocraft", "hf", "fused", rules[1], splits=qkv, sorted_file=False,
           layout="burn")
    f.case("hf_to_audiocraft", "hf", "audiocraft", "fused", rules[0], joins=qkv, unfed=text)
    f.case("training_to_hf", "training", "hf", "wrapped", [strip("model.")] + rules[1], splits=qkv, sorted_file=False)
    # Twice the codebooks: the network is the same, and new tables and heads follow the known ones.
    f.case("file_to_stereo", "file", "hf_stereo", "head", [strip("best_state.")] + rules[1], splits=qkv,
           unfed=[r"(embed_tokens|lm_heads)\.[4567]\."])
    write(f)


def parakeet():
    f = family("parakeet", "transformers")

    def config(classes=65, layers=2):
        return hf.ParakeetCTCConfig(vocab_size=classes, encoder_config=dict(
            hidden_size=32, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=128,
            subsampling_conv_channels=8, num_mel_bins=16))

    def nemo():
        def forward():
            return net("ConformerFeedForward", linear1=linear(32, 128), linear2=linear(128, 32))

        def layer():
            attention = net("RelPositionMultiHeadAttention", pos_bias_u=param(4, 8), pos_bias_v=param(4, 8),
                            **{f"linear_{x}": linear(32, 32) for x in ("q", "k", "v", "out")},
                            linear_pos=linear(32, 32, bias=False))
            conv = net("ConformerConvolution", pointwise_conv1=nn.Conv1d(32, 64, 1),
                       depthwise_conv=nn.Conv1d(32, 32, 9, groups=32), batch_norm=nn.BatchNorm1d(32),
                       pointwise_conv2=nn.Conv1d(32, 32, 1))
            return net("ConformerLayer", norm_feed_forward1=nn.LayerNorm(32), feed_forward1=forward(),
                       norm_conv=nn.LayerNorm(32), conv=conv, norm_self_att=nn.LayerNorm(32), self_attn=attention,
                       norm_feed_forward2=nn.LayerNorm(32), feed_forward2=forward(), norm_out=nn.LayerNorm(32))

        def deep():
            return nn.Conv2d(8, 8, 3, groups=8)
        sampling = net("ConvSubsampling", out=linear(16, 32), conv=seq(
            nn.Conv2d(1, 8, 3), None, deep(), nn.Conv2d(8, 8, 1), None, deep(), nn.Conv2d(8, 8, 1)))
        features = net("FilterbankFeatures", window=torch.empty(400), fb=torch.empty(1, 16, 257))
        return net("EncDecCTCModelBPE", preprocessor=net("AudioToMelSpectrogramPreprocessor", featurizer=features),
                   encoder=net("ConformerEncoder", pre_encode=sampling, layers=[layer(), layer()]),
                   decoder=net("ConvASRDecoder", decoder_layers=seq(nn.Conv1d(32, 65, 1))))
    listings(f, hf=lambda: hf.ParakeetForCTC(config()), hf_33=lambda: hf.ParakeetForCTC(config(33)),
             hf_deep=lambda: hf.ParakeetForCTC(config(layers=4)),
             hf_encoder=lambda: hf.ParakeetEncoder(config().encoder_config),
             nemo=(nemo, "NVIDIA/NeMo EncDecCTCModelBPE"))
    f.wrapped("lightning", "nemo", "state_dict.", adam(f, "nemo", "optimizer_states.0.state."))
    a, b = "encoder.layers.*.self_attn", "encoder.layers.*.self_attn"
    rules = ways(("encoder.pre_encode.conv", "encoder.subsampling.layers"),
                 ("encoder.pre_encode.out", "encoder.subsampling.linear"),
                 ("encoder.layers.*.conv.batch_norm", "encoder.layers.*.conv.norm"),
                 ("decoder.decoder_layers.0", "ctc_head"), *((f"{a}.linear_{x}", f"{b}.{x}_proj") for x in "qkv"),
                 (a + ".linear_out", b + ".o_proj"), (a + ".linear_pos", b + ".relative_k_proj"),
                 (a + ".pos_bias_u", b + ".bias_u"), (a + ".pos_bias_v", b + ".bias_v"))
    f.case("nemo_to_hf", "nemo", "hf", "renamed", rules[0])
    f.case("nemo_to_hf_burn", "nemo", "hf", "renamed", rules[0], sorted_file=False, layout="burn")
    f.case("hf_to_nemo", "hf", "nemo", "renamed", rules[1], unfed=["^preprocessor"])
    f.case("lightning_to_hf", "lightning", "hf", "wrapped", [strip("state_dict.")] + rules[0])
    f.case("nemo_to_33_letters", "nemo", "hf_33", "head", rules[0], unfed=["^ctc_head"])
    f.case("nemo_to_encoder", "nemo", "hf_encoder", "head", rules[0] + [strip("encoder.")], sorted_file=False)
    f.case("nemo_to_deeper_hf", "nemo", "hf_deep", "depth", rules[0], unfed=[r"^encoder\.layers\.[23]\."])
    write(f)


def proteins():
    """ESM-2."""
    import esm as fair_esm
    f = family("esm", "transformers", "fair-esm")
    config = hf.EsmConfig(vocab_size=33, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                          intermediate_size=128, position_embedding_type="rotary", token_dropout=True,
                          emb_layer_norm_before=False, mask_token_id=32, pad_token_id=1, num_labels=3,
                          layer_norm_eps=1e-5)
    listings(f, fair=lambda: fair_esm.ESM2(2, 32, 4), fair_deep=lambda: fair_esm.ESM2(4, 32, 4),
             now=lambda: hf.EsmForMaskedLM(config), now_tokens=lambda: hf.EsmForTokenClassification(config),
             other=lambda: hf.DistilBertModel(hf.DistilBertConfig(vocab_size=96, dim=48, hidden_dim=192, n_layers=2,
                                                                  n_heads=4, max_position_embeddings=64)))
    # Version 4 of transformers, and the files on the Hub, have the frequencies in each layer.
    for name, of in (("hf", "now"), ("hf_tokens", "now_tokens")):
        changed(f, name, of, without=["^esm.rotary"])
        tensors = f.data["listings"][name]["tensors"]
        for i in range(2):
            value = f"esm.encoder.layer.{i}.attention.self.value.bias"
            at = next(n for n, t in enumerate(tensors) if t[0] == value) + 1
            tensors.insert(at, [f"esm.encoder.layer.{i}.attention.self.rotary_embeddings.inv_freq", "f32", [4],
                                "RotaryEmbedding"])
        f.data["listings"][name]["ties"] = {k: v for k, v in f.data["listings"][of]["ties"].items()}
    # Published files of fair-esm come from its trainer, which has an encoder and one more level.
    changed(f, "fair_file", "fair", [("^lm_head", "model.encoder.lm_head"),
                                     ("^(?!model)", "model.encoder.sentence_encoder.")], ["^contact"])
    a, b = "esm.encoder.layer.*", "layers.*"
    rules = ways(("esm.embeddings.word_embeddings", "embed_tokens"), ("esm.contact_head", "contact_head"),
                 ("esm.encoder.emb_layer_norm_after", "emb_layer_norm_after"), ("lm_head.decoder", "lm_head"),
                 *((f"{a}.attention.self.{x}", f"{b}.self_attn.{x[0]}_proj") for x in ("query", "key", "value")),
                 (a + ".attention.self.rotary_embeddings", b + ".self_attn.rot_emb"),
                 (a + ".attention.output.dense", b + ".self_attn.out_proj"),
                 (a + ".attention.LayerNorm", b + ".self_attn_layer_norm"), (a + ".intermediate.dense", b + ".fc1"),
                 (a + ".output.dense", b + ".fc2"), (a + ".LayerNorm", b + ".final_layer_norm"))
    # Only the matrix of the last layer is in a module of its own.
    back = [("^lm_head.weight$", "lm_head.decoder.weight")] + [r for r in rules[1] if "lm_head" not in r[0]]
    there = [("^lm_head.decoder.weight$", "lm_head.weight")] + [r for r in rules[0] if "lm_head" not in r[0]]
    f.case("fair_to_hf", "fair", "hf", "renamed", back)
    f.case("hf_to_fair", "hf", "fair", "renamed", there, sorted_file=False)
    f.case("hf_to_fair_burn", "hf", "fair", "renamed", there, layout="burn")
    trainer = [(r"^model\.encoder\.(sentence_encoder\.)?", "")]
    f.case("file_to_fair", "fair_file", "fair", "wrapped", trainer, unfed=["^contact"], sorted_file=False)
    f.case("file_to_hf", "fair_file", "hf", "wrapped", trainer + back, unfed=["contact"])
    f.case("fair_to_tokens", "fair", "hf_tokens", "head", back, unfed=["^classifier"])
    f.case("hf_to_deeper_fair", "hf", "fair_deep", "depth", there,
           unfed=[r"^layers\.[23]\.", "^contact_head.regression.weight"])
    f.unrelated("words_to_fair", "other", "fair")
    tokens = torch.randint(4, 24, (2, 12))
    # The module of today has the frequencies once, and they are constants.
    f.case("now", "fair", "now", "renamed", back, unfed=["rotary"])
    alike(f, "now", lambda: fair_esm.ESM2(2, 32, 4), lambda: hf.EsmForMaskedLM(config),
          lambda m: m(tokens)["logits"], lambda m: m(tokens, attention_mask=torch.ones_like(tokens)).logits)
    f.data["cases"].pop()
    write(f)


def olmo():
    f = family("olmo2", "transformers")

    def config(layers=3):
        return hf.Olmo2Config(vocab_size=96, hidden_size=32, num_hidden_layers=layers, num_attention_heads=4,
                              intermediate_size=96, num_labels=2)

    def allenai():
        def block():
            return net("OLMoSequentialBlock", k_norm=rms(32, "RMSLayerNorm"), q_norm=rms(32, "RMSLayerNorm"),
                       attn_out=linear(32, 32, bias=False), ff_out=linear(96, 32, bias=False),
                       attn_norm=rms(32, "RMSLayerNorm"), ff_norm=rms(32, "RMSLayerNorm"),
                       att_proj=linear(32, 96, bias=False), ff_proj=linear(32, 192, bias=False))
        return net("OLMo", transformer=net("ModuleDict", wte=nn.Embedding(96, 32), ln_f=rms(32, "RMSLayerNorm"),
                                           blocks=[block() for _ in range(3)], ff_out=linear(32, 96, bias=False)))
    listings(f, hf=lambda: hf.Olmo2ForCausalLM(config()), hf_deep=lambda: hf.Olmo2ForCausalLM(config(4)),
             hf_base=lambda: hf.Olmo2Model(config()), allenai=(allenai, "allenai/OLMo OLMo"))
    f.wrapped("remote", "allenai", "model.")
    f.wrapped("fsdp", "allenai", "_fsdp_wrapped_module.")
    a, b = "transformer.blocks.*", "model.layers.*"
    rules = ways(("transformer.wte", "model.embed_tokens"), ("transformer.ln_f", "model.norm"),
                 ("transformer.ff_out", "lm_head"), (a + ".q_norm", b + ".self_attn.q_norm"),
                 (a + ".k_norm", b + ".self_attn.k_norm"), (a + ".attn_out", b + ".self_attn.o_proj"),
                 (a + ".ff_out", b + ".mlp.down_proj"), (a + ".attn_norm", b + ".post_attention_layernorm"),
                 (a + ".ff_norm", b + ".post_feedforward_layernorm"))
    # The gate is the second half.
    parts = [fused(a + ".att_proj", *(f"{b}.self_attn.{x}_proj" for x in "qkv")),
             fused(a + ".ff_proj", b + ".mlp.up_proj", b + ".mlp.gate_proj")]
    base = [(p, [r.removeprefix("model.") for r in replacements]) for p, replacements in parts]
    f.case("allenai_to_hf", "allenai", "hf", "fused", rules[0], splits=parts)
    f.case("allenai_to_hf_burn", "allenai", "hf", "fused", rules[0], splits=parts, sorted_file=False, layout="burn")
    f.case("hf_to_allenai", "hf", "allenai", "fused", rules[1], joins=parts)
    f.case("remote_to_hf", "remote", "hf", "wrapped", [strip("model.")] + rules[0], splits=parts)
    f.case("fsdp_to_base", "fsdp", "hf_base", "head", [strip("_fsdp_wrapped_module.")] + rules[0] + [strip("model.")],
           splits=base)
    f.case("allenai_to_deeper_hf", "allenai", "hf_deep", "depth", rules[0], splits=parts, unfed=[r"layers\.3\."],
           sorted_file=False)
    write(f)


def glm():
    f = family("glm", "transformers")

    def config(heads, groups):
        return hf.GlmConfig(pad_token_id=0, vocab_size=96, hidden_size=32, num_hidden_layers=3,
                            num_attention_heads=heads, num_key_value_heads=groups, head_dim=32 // heads,
                            intermediate_size=88, num_labels=3)

    def thudm(heads, groups):
        def layer():
            attention = net("SelfAttention", query_key_value=linear(32, 32 + 2 * groups * (32 // heads)),
                            dense=linear(32, 32, bias=False))
            return net("GLMBlock", input_layernorm=rms(32), self_attention=attention,
                       post_attention_layernorm=rms(32), mlp=net("MLP", dense_h_to_4h=linear(32, 176, bias=False),
                                                                 dense_4h_to_h=linear(88, 32, bias=False)))
        return (lambda: net("ChatGLMForConditionalGeneration", transformer=net(
            "ChatGLMModel", embedding=net("Embedding", word_embeddings=nn.Embedding(96, 32)),
            rotary_pos_emb=net("RotaryEmbedding", inv_freq=torch.empty(8 // heads)),
            encoder=net("GLMTransformer", layers=[layer() for _ in range(3)], final_layernorm=rms(32)),
            output_layer=linear(32, 96, bias=False))), "THUDM/glm-4-9b ChatGLMForConditionalGeneration")
    listings(f, hf=lambda: hf.GlmForCausalLM(config(2, 2)), hf_grouped=lambda: hf.GlmForCausalLM(config(4, 2)),
             hf_classifier=lambda: hf.GlmForSequenceClassification(config(2, 2)), thudm=thudm(2, 2),
             thudm_grouped=thudm(4, 2))
    f.wrapped("deepspeed", "thudm", "module.")
    a, b = "transformer.encoder.layers.*", "model.layers.*"
    rules = ways(("transformer.embedding.word_embeddings", "model.embed_tokens"),
                 ("transformer.encoder.final_layernorm", "model.norm"), ("transformer.output_layer", "lm_head"),
                 (a + ".self_attention.dense", b + ".self_attn.o_proj"),
                 (a + ".mlp.dense_h_to_4h", b + ".mlp.gate_up_proj"), (a + ".mlp.dense_4h_to_h", b + ".mlp.down_proj"),
                 (a + ".input_layernorm", b + ".input_layernorm"),
                 (a + ".post_attention_layernorm", b + ".post_attention_layernorm"))
    qkv = fused(a + ".self_attention.query_key_value", *(f"{b}.self_attn.{x}_proj" for x in "qkv"))
    f.case("thudm_to_hf", "thudm", "hf", "fused", rules[0], splits=[qkv])
    f.case("thudm_to_hf_burn", "thudm", "hf", "fused", rules[0], splits=[qkv], layout="burn")
    f.case("grouped_hf_to_thudm", "hf_grouped", "thudm_grouped", "fused", rules[1], joins=[qkv], unfed=["inv_freq"],
           sorted_file=False)
    f.case("deepspeed_to_hf", "deepspeed", "hf", "wrapped", [strip("module.")] + rules[0], splits=[qkv],
           sorted_file=False)
    f.case("thudm_to_classifier", "thudm", "hf_classifier", "head", rules[0], splits=[qkv], unfed=["^score"])
    write(f)


for make in (bark, musicgen, parakeet, proteins, olmo, glm):
    make()
