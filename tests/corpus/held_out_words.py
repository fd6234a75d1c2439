# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families, second part: language models and speech. Needs transformers."""
import transformers as hf
from torch import nn

from held_out_check import loaded, renamed
from held_out_lib import adam, changed, family, fused, linear, listings, net, param, rms, strip, ways, write

width, wide, words = 48, 208, 101
sizes = {"vocab_size": words, "hidden_size": width, "intermediate_size": wide, "num_attention_heads": 4}


def bare(*size):
    return linear(*size, bias=False)


def lit(layers, groups, head_size=16, norms=(), after=()):
    """litgpt's GPT. norms: more norms of attention; after: norms behind attention and behind the feed-forward."""
    def block():
        one, two = after or (None, None)
        attn = net("CausalSelfAttention", qkv=bare(width, (4 + 2 * groups) * head_size),
                   proj=bare(4 * head_size, width), **{n: rms(head_size) for n in norms})
        parts = {"norm_1": rms(width), "attn": attn, one: rms(width), "norm_2": rms(width),
                 "mlp": net("LLaMAMLP", fc_1=bare(width, wide), fc_2=bare(width, wide), proj=bare(wide, width)),
                 two: rms(width)}
        return net("Block", **{n: p for n, p in parts.items() if n})
    return (lambda: net("GPT", lm_head=bare(width, words),
                        transformer=net("ModuleDict", wte=nn.Embedding(words, width),
                                        h=[block() for _ in range(layers)], ln_f=rms(width))),
            "Lightning-AI/litgpt GPT")


def tune(layers, groups, head_size=16, norms=()):
    """torchtune's TransformerDecoder. Its norms have a scale."""
    def norm(size):
        return net("RMSNorm", scale=param(size))

    def block():
        attn = net("MultiHeadAttention", q_proj=bare(width, 4 * head_size), k_proj=bare(width, groups * head_size),
                   v_proj=bare(width, groups * head_size), output_proj=bare(4 * head_size, width),
                   **{n: norm(head_size) for n in norms})
        return net("TransformerSelfAttentionLayer", attn=attn,
                   mlp=net("FeedForward", w1=bare(width, wide), w2=bare(wide, width), w3=bare(width, wide)),
                   sa_norm=norm(width), mlp_norm=norm(width))
    return (lambda: net("TransformerDecoder", tok_embeddings=nn.Embedding(words, width),
                        layers=[block() for _ in range(layers)], norm=norm(width), output=bare(width, words)),
            "pytorch/torchtune TransformerDecoder")


def gguf(to, name, of, *pairs):
    """The names that llama.cpp writes."""
    a, b = "model.layers.*", "blk.*"
    rules = ways(("model.embed_tokens", "token_embd"), ("model.norm", "output_norm"), ("lm_head", "output"),
                 (a + ".input_layernorm", b + ".attn_norm"), (a + ".self_attn.o_proj", b + ".attn_output"),
                 (a + ".mlp.down_proj", b + ".ffn_down"), *((a + x, b + y) for x, y in pairs))
    changed(to, name, of, rules[0], class_name="the names of llama.cpp's GGUF files")
    return rules[1]


separate = [(f".self_attn.{x}_proj", f".attn_{x}") for x in "qkv"] + [
    (".mlp.gate_proj", ".ffn_gate"), (".mlp.up_proj", ".ffn_up")]
a, b, c = "model.layers.*", "transformer.h.*", "layers.*"
lit_common = [("model.embed_tokens", "transformer.wte"), ("model.norm", "transformer.ln_f"),
              (a + ".input_layernorm", b + ".norm_1"), (a + ".self_attn.o_proj", b + ".attn.proj"),
              (a + ".mlp.gate_proj", b + ".mlp.fc_1"), (a + ".mlp.up_proj", b + ".mlp.fc_2"),
              (a + ".mlp.down_proj", b + ".mlp.proj")]
lit_qkv = fused(b + ".attn.qkv", *(f"{a}.self_attn.{x}_proj" for x in "qkv"))
tune_common = [("model.embed_tokens", "tok_embeddings"), ("model.norm.weight", "norm.scale"), ("lm_head", "output"),
               (a + ".input_layernorm.weight", c + ".sa_norm.scale"), (a + ".mlp.down_proj", c + ".mlp.w2"),
               (a + ".post_attention_layernorm.weight", c + ".mlp_norm.scale"),
               (a + ".self_attn.o_proj", c + ".attn.output_proj")]


def gemma_2():
    f = family("gemma2", "transformers")

    def config(layers=2, groups=2):
        return hf.Gemma2Config(num_hidden_layers=layers, num_key_value_heads=groups, head_dim=16, num_labels=3,
                               **sizes)

    def google(groups):
        def layer():
            attn = net("GemmaAttention", qkv_proj=bare(width, (4 + 2 * groups) * 16), o_proj=bare(64, width))
            mlp = net("GemmaMLP", gate_proj=bare(width, wide), up_proj=bare(width, wide), down_proj=bare(wide, width))
            return net("Gemma2DecoderLayer", self_attn=attn, mlp=mlp, input_layernorm=rms(width),
                       post_attention_layernorm=rms(width), pre_feedforward_layernorm=rms(width),
                       post_feedforward_layernorm=rms(width))
        return (lambda: net("GemmaForCausalLM", embedder=net("Embedding", weight=param(words, width)),
                            model=net("GemmaModel", layers=[layer(), layer()], norm=rms(width))),
                "google/gemma_pytorch GemmaForCausalLM")
    after = ("post_attention_norm", "post_mlp_norm")
    listings(f, hf=lambda: hf.Gemma2ForCausalLM(config()), hf_4=lambda: hf.Gemma2Model(config(groups=4)),
             classifier=lambda: hf.Gemma2ForSequenceClassification(config()),
             lit=lit(2, 2, after=after), lit_deep=lit(3, 2, after=after), google=google(2), google_4=google(4))
    changed(f, "hub", "hf", without=["^lm_head"])
    f.wrapped("google_file", "google_4", "model_state_dict.", [["model_state_dict.freqs_cis", "f32", [64, 8, 2], ""]])
    ggml = gguf(f, "gguf", "hub", *separate, (".post_attention_layernorm", ".post_attention_norm"),
                (".pre_feedforward_layernorm", ".ffn_norm"), (".post_feedforward_layernorm", ".post_ffw_norm"))
    rules = ways(*lit_common, (a + ".post_attention_layernorm", b + ".post_attention_norm"),
                 (a + ".pre_feedforward_layernorm", b + ".norm_2"),
                 (a + ".post_feedforward_layernorm", b + ".post_mlp_norm"))
    parts = fused("model.layers.*.self_attn.qkv_proj", *(f"model.layers.*.self_attn.{x}_proj" for x in "qkv"))
    base = fused("model.layers.*.self_attn.qkv_proj", *(f"layers.*.self_attn.{x}_proj" for x in "qkv"))
    f.case("hf_to_lit", "hf", "lit", "fused", rules[0], joins=[lit_qkv])
    f.case("hf_to_lit_burn", "hf", "lit", "fused", rules[0], joins=[lit_qkv], layout="burn")
    f.case("hf_to_deeper_lit", "hf", "lit_deep", "depth", rules[0], joins=[lit_qkv], unfed=[r"^transformer\.h\.2\."],
           sorted_file=False)
    f.case("hub_to_google", "hub", "google", "fused", [("^model.embed_tokens", "embedder")], joins=[parts])
    f.case("google_to_hf", "google_file", "hf_4", "wrapped",
           [strip("model_state_dict."), ("^embedder", "embed_tokens"), (r"^model\.(?!.*qkv)", "")], splits=[base],
           sorted_file=False)
    f.case("gguf_to_classifier", "gguf", "classifier", "head", ggml, unfed=["^score"], sorted_file=False)
    write(f)


def qwen_3():
    f = family("qwen3", "transformers")

    def config(layers=3):
        return hf.Qwen3Config(num_hidden_layers=layers, num_key_value_heads=2, head_dim=16, num_labels=2,
                              tie_word_embeddings=False, **sizes)
    norms = ("q_norm", "k_norm")
    listings(f, hf=lambda: hf.Qwen3ForCausalLM(config()), hf_deep=lambda: hf.Qwen3ForCausalLM(config(4)),
             tune=tune(3, 2, norms=norms), lit=lit(3, 2, norms=("norm_q", "norm_k")))
    ggml = gguf(f, "gguf", "hf", *separate, (".post_attention_layernorm", ".ffn_norm"),
                *((f".self_attn.{n}", f".attn_{n}") for n in norms))
    f.wrapped("trained", "tune", "model.", adam(f, "tune"))
    rules = ways(*lit_common, (a + ".post_attention_layernorm", b + ".norm_2"),
                 (a + ".self_attn.q_norm", b + ".attn.norm_q"), (a + ".self_attn.k_norm", b + ".attn.norm_k"))
    other = ways(*tune_common, (a + ".mlp.gate_proj", c + ".mlp.w1"), (a + ".mlp.up_proj", c + ".mlp.w3"),
                 *((f"{a}.self_attn.{x}_proj", f"{c}.attn.{x}_proj") for x in "qkv"),
                 *((f"{a}.self_attn.{x}.weight", f"{c}.attn.{x}.scale") for x in norms))
    f.case("hf_to_lit", "hf", "lit", "fused", rules[0], joins=[lit_qkv], sorted_file=False)
    f.case("hf_to_tune", "hf", "tune", "renamed", other[0])
    f.case("tune_to_hf_burn", "tune", "hf", "renamed", other[1], layout="burn")
    f.case("trained_to_hf", "trained", "hf", "wrapped", [strip("model.")] + other[1], sorted_file=False)
    f.case("gguf_to_hf", "gguf", "hf", "renamed", ggml, sorted_file=False)
    f.case("tune_to_deeper_hf", "tune", "hf_deep", "depth", other[1], unfed=[r"layers\.3\."])
    write(f)


def phi_3():
    """Here the published file is fused, and the other implementations are not."""
    f = family("phi3", "transformers")

    def config():
        return hf.Phi3Config(num_hidden_layers=2, num_key_value_heads=4, pad_token_id=0, num_labels=4, **sizes)
    listings(f, hf=lambda: hf.Phi3ForCausalLM(config()), classifier=lambda: hf.Phi3ForSequenceClassification(config()),
             tune=tune(2, 4, 12), lit=lit(2, 4, 12))
    ggml = gguf(f, "gguf", "hf", (".self_attn.qkv_proj", ".attn_qkv"), (".mlp.gate_up_proj", ".ffn_up"),
                (".post_attention_layernorm", ".ffn_norm"))
    rules = ways(*lit_common, (a + ".post_attention_layernorm", b + ".norm_2"),
                 (a + ".self_attn.qkv_proj", b + ".attn.qkv"))
    mlp = fused(a + ".mlp.gate_up_proj", b + ".mlp.fc_1", b + ".mlp.fc_2")
    other = ways(*tune_common)
    parts = [fused(a + ".mlp.gate_up_proj", c + ".mlp.w1", c + ".mlp.w3"),
             fused(a + ".self_attn.qkv_proj", *(f"{c}.attn.{x}_proj" for x in "qkv"))]
    f.case("hf_to_lit", "hf", "lit", "fused", rules[0], splits=[mlp])
    f.case("lit_to_hf", "lit", "hf", "fused", rules[1], joins=[
        fused(a + ".mlp.gate_up_proj", a + ".mlp.gate_proj", a + ".mlp.up_proj")], sorted_file=False)
    f.case("hf_to_tune", "hf", "tune", "fused", other[0], splits=parts)
    f.case("hf_to_tune_burn", "hf", "tune", "fused", other[0], splits=parts, sorted_file=False, layout="burn")
    f.case("tune_to_hf", "tune", "hf", "fused", other[1], joins=parts)
    f.case("gguf_to_classifier", "gguf", "classifier", "head", ggml, unfed=["^score"], sorted_file=False)
    write(f)


def nomic_bert():
    f = family("nomic_bert", "transformers")

    def config():
        return hf.NomicBertConfig(num_hidden_layers=2, num_labels=5, max_position_embeddings=64, **sizes)

    def original():
        def layer():
            return net("NomicBertBlock", attn=net("NomicBertAttention", Wqkv=bare(width, 3 * width),
                                                  out_proj=bare(width, width)),
                       mlp=net("NomciBertGatedMLP", fc11=bare(width, wide), fc12=bare(width, wide),
                               fc2=bare(wide, width)), norm1=nn.LayerNorm(width), norm2=nn.LayerNorm(width))
        return net("NomicBertModel", embeddings=net("NomicBertEmbeddings", word_embeddings=nn.Embedding(words, width),
                                                    token_type_embeddings=nn.Embedding(2, width)),
                   encoder=net("NomicBertEncoder", layers=[layer(), layer()]), emb_ln=nn.LayerNorm(width))
    listings(f, hf=lambda: hf.NomicBertModel(config(), add_pooling_layer=False),
             classifier=lambda: hf.NomicBertForTokenClassification(config()),
             original=(original, "nomic-ai/nomic-bert-2048 NomicBertModel"))
    f.wrapped("sentences", "original", "0.auto_model.")
    f.wrapped("masked", "original", "bert.", [
        ["cls.predictions.transform.dense.weight", "f32", [width, width], "Linear"],
        ["cls.predictions.transform.layer_norm.weight", "f32", [width], "LayerNorm"],
        ["cls.predictions.transform.layer_norm.bias", "f32", [width], "LayerNorm"],
        ["cls.predictions.decoder.weight", "f32", [words, width], "Linear"]])
    a, b = "layers.*", "encoder.layers.*"
    rules = ways(("embeddings.LayerNorm", "emb_ln"), (a + ".self_attn.o_proj", b + ".attn.out_proj"),
                 (a + ".mlp.up_proj", b + ".mlp.fc11"), (a + ".mlp.gate_proj", b + ".mlp.fc12"),
                 (a + ".mlp.down_proj", b + ".mlp.fc2"), (a + ".post_attention_layernorm", b + ".norm1"),
                 (a + ".post_mlp_layernorm", b + ".norm2"))
    qkv = fused(b + ".attn.Wqkv", *(f"{a}.self_attn.{x}_proj" for x in "qkv"))
    within = (qkv[0], ["nomic_bert." + p for p in qkv[1]])
    f.case("original_to_hf", "original", "hf", "fused", rules[1], splits=[qkv])
    f.case("original_to_hf_burn", "original", "hf", "fused", rules[1], splits=[qkv], layout="burn")
    f.case("hf_to_original", "hf", "original", "fused", rules[0], joins=[qkv], sorted_file=False)
    f.case("sentences_to_hf", "sentences", "hf", "wrapped", [strip("0.auto_model.")] + rules[1], splits=[qkv],
           sorted_file=False)
    f.case("masked_to_classifier", "masked", "classifier", "head", [strip("bert.")] + rules[1] + [
        (r"^(?!encoder|cls)", "nomic_bert.")], splits=[within], unfed=["^classifier"])
    # transformers converts the published names itself.
    renamed(f, "original_to_hf", loaded(hf.NomicBertModel, config()))
    write(f)


def hubert():
    f = family("hubert", "transformers")

    def config():
        return hf.HubertConfig(vocab_size=32, hidden_size=width, intermediate_size=wide, num_hidden_layers=2,
                               num_attention_heads=4, conv_dim=(40, 40, 40), conv_kernel=(10, 3, 2),
                               conv_stride=(5, 2, 2), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
                               classifier_proj_size=24, num_labels=7)
    listings(f, hf=lambda: hf.HubertModel(config()), hf_letters=lambda: hf.HubertForCTC(config()),
             hf_emotions=lambda: hf.HubertForSequenceClassification(config()),
             gpt2=lambda: hf.GPT2Model(hf.GPT2Config(vocab_size=words, n_embd=width, n_layer=2, n_head=4,
                                                     n_positions=64)))
    a, b = "encoder.layers.*", "encoder.layers.*"
    position = "encoder.pos_conv_embed.conv.parametrizations.weight.original"
    fairseq = ways(("masked_spec_embed", "mask_emb"), ("feature_projection.layer_norm", "layer_norm"),
                   ("feature_projection.projection", "post_extract_proj"),
                   ("feature_extractor.conv_layers.*.conv", "feature_extractor.conv_layers.*.0"),
                   ("feature_extractor.conv_layers.*.layer_norm", "feature_extractor.conv_layers.*.2"),
                   (position + "0", "encoder.pos_conv.0.weight_g"), (position + "1", "encoder.pos_conv.0.weight_v"),
                   ("encoder.pos_conv_embed.conv.bias", "encoder.pos_conv.0.bias"),
                   (a + ".attention", b + ".self_attn"), (a + ".layer_norm", b + ".self_attn_layer_norm"),
                   (a + ".feed_forward.intermediate_dense", b + ".fc1"),
                   (a + ".feed_forward.output_dense", b + ".fc2"))
    torchaudio = [(r"^(encoder|feature_projection)\.", r"encoder.\1."), (r"^encoder\.encoder", "encoder.transformer"),
                  (r"\.parametrizations\.weight\.original0", ".weight_g"),
                  (r"\.parametrizations\.weight\.original1", ".weight_v")]
    from_torchaudio = [(r"^encoder\.transformer", "layers_of"), (r"^encoder\.", ""), ("^layers_of", "encoder"),
                       ("weight_g$", "parametrizations.weight.original0"),
                       ("weight_v$", "parametrizations.weight.original1")]
    changed(f, "original", "hf", fairseq[0], class_name="facebookresearch/fairseq HubertModel")
    changed(f, "torchaudio", "hf", torchaudio, ["masked_spec_embed"], "torchaudio.models.Wav2Vec2Model")
    f.wrapped("pretrained", "original", "model.", [["model.label_embs_concat", "f32", [504, 16], ""],
                                                   ["model.final_proj.weight", "f32", [16, width], "Linear"],
                                                   ["model.final_proj.bias", "f32", [16], "Linear"]])
    f.wrapped("letters", "original", "w2v_encoder.w2v_model.", [
        ["w2v_encoder.proj.weight", "f32", [32, width], "Linear"], ["w2v_encoder.proj.bias", "f32", [32], "Linear"]])
    inside = [("^", "hubert.")]
    f.case("pretrained_to_hf", "pretrained", "hf", "wrapped", [strip("model.")] + fairseq[1], sorted_file=False)
    f.case("hf_to_original", "hf", "original", "renamed", fairseq[0])
    f.case("original_to_hf_burn", "original", "hf", "renamed", fairseq[1], layout="burn")
    f.case("letters_to_hf", "letters", "hf_letters", "wrapped",
           [strip("w2v_encoder.w2v_model.")] + fairseq[1] + inside + [("^hubert.w2v_encoder.proj", "lm_head")])
    f.case("pretrained_to_emotions", "pretrained", "hf_emotions", "head", [strip("model.")] + fairseq[1] + inside,
           unfed=["^projector", "^classifier"])
    f.case("torchaudio_to_hf", "torchaudio", "hf", "renamed", from_torchaudio, unfed=["masked_spec_embed"])
    f.unrelated("gpt2_to_hf", "gpt2", "hf")
    write(f)


if __name__ == "__main__":
    for make in (gemma_2, qwen_3, phi_3, nomic_bert, hubert):
        make()
