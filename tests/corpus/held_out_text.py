# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families: language models."""
import re

import torch
import transformers as hf
from torch import nn

from held_out_lib import (adam, changed, family, fused, linear, listings, net, on_cpu, param, rms, seq, strip, ways,
                          write)


def gemma():
    f = family("gemma", "transformers")

    def config(kv, layers=3):
        return hf.GemmaConfig(vocab_size=160, hidden_size=48, num_hidden_layers=layers, num_attention_heads=4,
                              num_key_value_heads=kv, head_dim=16, intermediate_size=192, num_labels=3)

    def google(kv, layers=3):
        def weight(a, b):
            return net("Linear", weight=param(b, a))

        def layer():
            return net("GemmaDecoderLayer",
                       self_attn=net("GemmaAttention", qkv_proj=weight(48, (4 + 2 * kv) * 16), o_proj=weight(64, 48)),
                       mlp=net("GemmaMLP", gate_proj=weight(48, 192), up_proj=weight(48, 192),
                               down_proj=weight(192, 48)), input_layernorm=rms(48), post_attention_layernorm=rms(48))
        return lambda: net("GemmaForCausalLM", embedder=net("Embedding", weight=param(160, 48)),
                           model=net("GemmaModel", layers=[layer() for _ in range(layers)], norm=rms(48)))
    original = "google/gemma_pytorch GemmaForCausalLM"
    listings(f, causal_2b=lambda: hf.GemmaForCausalLM(config(1)), hf_7b=lambda: hf.GemmaModel(config(4)),
             google_2b=(google(1), original), google_7b=(google(4), original),
             classifier_2b=lambda: hf.GemmaForSequenceClassification(config(1)))
    changed(f, "hub_2b", "causal_2b", without=["^lm_head"])
    f.wrapped("google_file", "google_7b", "model_state_dict.", [["model_state_dict.freqs_cis", "f32", [64, 8, 2], ""]])
    same = ways(("model.embed_tokens", "embedder"))
    parts = fused("model.layers.*.self_attn.qkv_proj", *(f"model.layers.*.self_attn.{x}_proj" for x in "qkv"))
    base = fused("model.layers.*.self_attn.qkv_proj", *(f"layers.*.self_attn.{x}_proj" for x in "qkv"))
    f.case("hub_to_google", "hub_2b", "google_2b", "fused", same[0], joins=[parts])
    f.case("google_to_hf", "google_7b", "hf_7b", "fused", [("^embedder", "embed_tokens"), (r"^model\.(?!.*qkv)", "")],
           splits=[base])
    f.case("google_file_to_hf", "google_file", "hf_7b", "wrapped",
           [strip("model_state_dict."), ("^embedder", "embed_tokens"), (r"^model\.(?!.*qkv)", "")], splits=[base],
           sorted_file=False)
    f.case("hub_to_classifier", "hub_2b", "classifier_2b", "head", unfed=["^score"])
    write(f)


def phi():
    f = family("phi", "transformers")

    def config(layers):
        return hf.PhiConfig(vocab_size=120, hidden_size=32, num_hidden_layers=layers, num_attention_heads=4,
                            intermediate_size=128)

    def block():
        return net("ParallelBlock", ln=nn.LayerNorm(32),
                   mixer=net("MHA", rotary_emb=net("RotaryEmbedding", inv_freq=torch.empty(2)), Wqkv=linear(32, 96),
                             out_proj=linear(32, 32)), mlp=net("MLP", fc1=linear(32, 128), fc2=linear(128, 32)))

    def head():
        return net("CausalLMHead", ln=nn.LayerNorm(32), linear=linear(32, 120))

    def embedding():
        return net("Embedding", wte=nn.Embedding(120, 32))

    def sequential(layers):
        return (lambda: net("MixFormerSequentialForCausalLM",
                            layers=seq(embedding(), *(block() for _ in range(layers)), head())),
                "microsoft/phi-1_5 MixFormerSequentialForCausalLM")

    def later():
        return net("PhiForCausalLM", transformer=net("PhiModel", embd=embedding(), h=[block() for _ in range(3)]),
                   lm_head=head())
    listings(f, hf=lambda: hf.PhiForCausalLM(config(3)), hf_24=lambda: hf.PhiForCausalLM(config(24)),
             sequential=sequential(3), sequential_24=sequential(24), later=(later, "microsoft/phi-2 PhiForCausalLM"))

    def inner(a, b):
        return [(a + ".ln", b + ".input_layernorm"), (a + ".mixer.out_proj", b + ".self_attn.dense"),
                (a + ".mlp", b + ".mlp")]

    def numbered(n):
        rules = ways(("layers.0.wte", "model.embed_tokens"), (f"layers.{n + 1}.ln", "model.final_layernorm"),
                     (f"layers.{n + 1}.linear", "lm_head"),
                     *(p for i in range(n) for p in inner(f"layers.{i + 1}", f"model.layers.{i}")))
        return rules, [fused(f"layers.{i + 1}.mixer.Wqkv", *(f"model.layers.{i}.self_attn.{x}_proj" for x in "qkv"))
                       for i in range(n)]
    rules, qkv = numbered(3)
    f.case("sequential_to_hf", "sequential", "hf", "numbered", rules[0], splits=qkv)
    f.case("hf_to_sequential", "hf", "sequential", "numbered", rules[1], joins=qkv, unfed=["inv_freq"])
    rules, qkv = numbered(24)
    f.case("sequential_to_hf_24_layers", "sequential_24", "hf_24", "numbered", rules[0], splits=qkv)
    rules = ways(("transformer.embd.wte", "model.embed_tokens"), ("lm_head.ln", "model.final_layernorm"),
                 ("lm_head.linear", "lm_head"), *inner("transformer.h.*", "model.layers.*"))
    qkv = fused("transformer.h.*.mixer.Wqkv", *(f"model.layers.*.self_attn.{x}_proj" for x in "qkv"))
    f.case("later_to_hf", "later", "hf", "fused", rules[0], splits=[qkv], sorted_file=False)
    f.case("later_to_hf_burn", "later", "hf", "fused", rules[0], splits=[qkv], layout="burn")
    f.case("hf_to_later", "hf", "later", "fused", rules[1], joins=[qkv], unfed=["inv_freq"])
    write(f)


def falcon():
    f = family("falcon", "transformers")
    small = hf.FalconConfig(vocab_size=128, hidden_size=64, num_hidden_layers=3, num_attention_heads=4)
    large = hf.FalconConfig(vocab_size=128, hidden_size=64, num_hidden_layers=2, num_attention_heads=8, num_kv_heads=2,
                            new_decoder_architecture=True)

    def lit(layers, heads, groups, norms):
        def block():
            size = 64 // heads
            return net("Block", norm_1=nn.LayerNorm(64),
                       attn=net("CausalSelfAttention", attn=linear(64, (heads + 2 * groups) * size, bias=False),
                                proj=linear(64, 64, bias=False)), norm_2=nn.LayerNorm(64) if norms == 2 else None,
                       mlp=net("GptNeoxMLP", fc=linear(64, 256, bias=False), proj=linear(256, 64, bias=False)))
        return lambda: net("GPT", lm_head=linear(64, 128, bias=False),
                           transformer=net("ModuleDict", wte=nn.Embedding(128, 64), h=[block() for _ in range(layers)],
                                           ln_f=nn.LayerNorm(64)))
    listings(f, hf_7b=lambda: hf.FalconForCausalLM(small), hf_40b=lambda: hf.FalconForCausalLM(large),
             lit_7b=(lit(3, 4, 1, 1), "Lightning-AI/litgpt GPT"), lit_40b=(lit(2, 8, 2, 2), "Lightning-AI/litgpt GPT"),
             other=lambda: hf.AlbertModel(hf.AlbertConfig(
                 vocab_size=300, embedding_size=16, hidden_size=48, num_attention_heads=4, intermediate_size=192)))
    f.wrapped("fabric", "lit_7b", "model._forward_module.")
    a, b = "transformer.h.*", "transformer.h.*"
    inner = [("transformer.word_embeddings", "transformer.wte"),
             (a + ".self_attention.query_key_value", b + ".attn.attn"),
             (a + ".self_attention.dense", b + ".attn.proj"), (a + ".mlp.dense_h_to_4h", b + ".mlp.fc"),
             (a + ".mlp.dense_4h_to_h", b + ".mlp.proj")]
    rules = ways(*inner, (a + ".input_layernorm", b + ".norm_1"))
    two = ways(*inner, (a + ".ln_attn", b + ".norm_1"), (a + ".ln_mlp", b + ".norm_2"))
    f.case("hf_to_lit_7b", "hf_7b", "lit_7b", "renamed", rules[0])
    f.case("hf_to_lit_40b", "hf_40b", "lit_40b", "renamed", two[0])
    f.case("lit_to_hf_40b", "lit_40b", "hf_40b", "renamed", two[1], sorted_file=False)
    f.case("hf_to_lit_7b_burn", "hf_7b", "lit_7b", "renamed", rules[0], layout="burn")
    f.case("fabric_to_hf", "fabric", "hf_7b", "wrapped", [strip("model._forward_module.")] + rules[1])
    f.unrelated("albert_to_hf", "other", "hf_7b")
    write(f)


def bloom():
    f = family("bloom", "transformers")

    def config(layers):
        return hf.BloomConfig(vocab_size=128, hidden_size=32, n_layer=layers, n_head=4)

    def cpp(layers):
        def layer():
            return net("Block", attention_norm=nn.LayerNorm(32),
                       attention=net("Attention", query_key_value=linear(32, 96), wo=linear(32, 32)),
                       ffn_norm=nn.LayerNorm(32),
                       feed_forward=net("FeedForward", w1=linear(32, 128), w2=linear(128, 32)))
        return (lambda: net("Bloom", tok_embeddings=nn.Embedding(128, 32), norm=nn.LayerNorm(32),
                            layers=[layer() for _ in range(layers)], output_norm=nn.LayerNorm(32)),
                "a class with the names of bloomz.cpp")

    def other():
        return net("Net", word_embed=nn.Embedding(50, 300), convs=[nn.Conv2d(1, 10, (k, 300)) for k in (3, 4, 5)],
                   fc1=linear(30, 2))
    listings(f, hub_base=lambda: hf.BloomModel(config(24)), small=lambda: hf.BloomForCausalLM(config(2)),
             cpp=cpp(24), cpp_2=cpp(2), cpp_3=cpp(3), other=(other, "a text classifier with convolutions"))
    changed(f, "small_file", "small", without=["^lm_head"])
    a, b = "h.*", "layers.*"
    rules = ways(("word_embeddings", "tok_embeddings"), ("word_embeddings_layernorm", "norm"), ("ln_f", "output_norm"),
                 (a + ".input_layernorm", b + ".attention_norm"),
                 (a + ".self_attention.query_key_value", b + ".attention.query_key_value"),
                 (a + ".self_attention.dense", b + ".attention.wo"), (a + ".post_attention_layernorm", b + ".ffn_norm"),
                 (a + ".mlp.dense_h_to_4h", b + ".feed_forward.w1"), (a + ".mlp.dense_4h_to_h", b + ".feed_forward.w2"))
    f.case("hub_to_cpp_24_layers", "hub_base", "cpp", "renamed", rules[0])
    f.case("hub_to_cpp", "small_file", "cpp_2", "renamed", [strip("transformer.")] + rules[0], sorted_file=False)
    f.case("hub_to_cpp_burn", "small_file", "cpp_2", "renamed", [strip("transformer.")] + rules[0], layout="burn")
    f.case("cpp_to_hf", "cpp_2", "small_file", "renamed", rules[1] + [("^", "transformer.")])
    f.case("hub_to_deeper_cpp", "small_file", "cpp_3", "depth", [strip("transformer.")] + rules[0],
           unfed=[r"^layers\.2\."])
    f.unrelated("text_classifier_to_cpp", "other", "cpp_2")
    write(f)


def stablelm():
    f = family("stablelm", "transformers")
    config = hf.StableLmConfig(vocab_size=128, hidden_size=64, num_hidden_layers=3, num_attention_heads=4,
                               num_key_value_heads=4, intermediate_size=176, use_qkv_bias=True, num_labels=2)

    def lit():
        def block():
            return net("Block", norm_1=nn.LayerNorm(64),
                       attn=net("CausalSelfAttention", qkv=linear(64, 192), proj=linear(64, 64, bias=False)),
                       norm_2=nn.LayerNorm(64), mlp=net("LLaMAMLP", fc_1=linear(64, 176, bias=False),
                                                        fc_2=linear(64, 176, bias=False),
                                                        proj=linear(176, 64, bias=False)))
        return net("GPT", lm_head=linear(64, 128, bias=False),
                   transformer=net("ModuleDict", wte=nn.Embedding(128, 64), h=[block() for _ in range(3)],
                                   ln_f=nn.LayerNorm(64)))
    listings(f, hf=lambda: hf.StableLmForCausalLM(config),
             hf_classifier=lambda: hf.StableLmForSequenceClassification(config),
             lit=(lit, "Lightning-AI/litgpt GPT"))
    f.wrapped("fsdp", "hf", "_fsdp_wrapped_module.")
    f.wrapped("lit_file", "lit", "model.", adam(f, "lit"))
    a, b = "model.layers.*", "transformer.h.*"
    rules = ways(("model.embed_tokens", "transformer.wte"), ("model.norm", "transformer.ln_f"),
                 (a + ".input_layernorm", b + ".norm_1"), (a + ".post_attention_layernorm", b + ".norm_2"),
                 (a + ".self_attn.o_proj", b + ".attn.proj"), (a + ".mlp.gate_proj", b + ".mlp.fc_1"),
                 (a + ".mlp.up_proj", b + ".mlp.fc_2"), (a + ".mlp.down_proj", b + ".mlp.proj"))
    qkv = fused(b + ".attn.qkv", *(f"{a}.self_attn.{x}_proj" for x in "qkv"))
    f.case("hf_to_lit", "hf", "lit", "fused", rules[0], joins=[qkv])
    f.case("lit_to_hf", "lit", "hf", "fused", rules[1], splits=[qkv], sorted_file=False)
    f.case("hf_to_lit_burn", "hf", "lit", "fused", rules[0], joins=[qkv], layout="burn")
    f.case("fsdp_to_lit", "fsdp", "lit", "wrapped", [strip("_fsdp_wrapped_module.")] + rules[0], joins=[qkv])
    f.case("lit_file_to_hf", "lit_file", "hf", "wrapped", [strip("model.")] + rules[1], splits=[qkv], sorted_file=False)
    f.case("lit_to_classifier", "lit", "hf_classifier", "head", rules[1], splits=[qkv], unfed=["^score"])
    write(f)


def is_matrix(name):
    return name.endswith(".weight") and not re.search(r"LayerNorm|layer_norm|_embeddings", name)


def to_tensorflow(f, name, of, before, after, class_name):
    """The names of a TensorFlow checkpoint: slashes, kernels that are turned, gamma and beta."""
    rules = [(r"((?:LayerNorm|layer_norm))\.weight$", r"\1.gamma"), (r"((?:LayerNorm|layer_norm))\.bias$", r"\1.beta"),
             (r"(_embeddings)\.weight$", r"\1"), (r"\.weight$", ".kernel")]
    changed(f, name, of, before + rules + [(r"\.", "/")] + after, class_name=class_name, turn=is_matrix)


from_tensorflow = [("/", "."), (r"\.kernel$", ".weight"), (r"\.gamma$", ".weight"), (r"\.beta$", ".bias"),
                   (r"((?:word|position|token_type)_embeddings)$", r"\1.weight")]
matrices = [r"(?<!LayerNorm)(?<!layer_norm)(?<!_embeddings)\.weight$"]


def electra():
    f = family("electra", "transformers")
    config = hf.ElectraConfig(vocab_size=128, embedding_size=16, hidden_size=32, num_hidden_layers=2,
                              num_attention_heads=4, intermediate_size=128, max_position_embeddings=64, num_labels=2)
    listings(f, hf=lambda: hf.ElectraForPreTraining(config), hf_base=lambda: hf.ElectraModel(config),
             hf_classifier=lambda: hf.ElectraForSequenceClassification(config),
             hf_tokens=lambda: hf.ElectraForTokenClassification(config))
    to_tensorflow(f, "google", "hf", [(r"layer\.(\d+)", r"layer_\1"), (r"dense_prediction", "dense_1")], [],
                  "google-research/electra")
    f.wrapped("google_file", "google", "", [["global_step", "i64", [], ""],
                                            ["generator_lm_head/bias", "f32", [128], ""],
                                            ["generator_predictions/dense/kernel", "f32", [32, 16], ""],
                                            ["generator_predictions/dense/bias", "f32", [16], ""],
                                            ["generator_predictions/LayerNorm/gamma", "f32", [16], ""],
                                            ["generator_predictions/LayerNorm/beta", "f32", [16], ""]])
    rules = from_tensorflow + [(r"layer_(\d+)", r"layer.\1"),
                               (r"(discriminator_predictions\.)dense_1", r"\1dense_prediction")]
    f.case("google_to_hf", "google_file", "hf", "renamed", rules, transposed=matrices)
    f.case("google_to_base", "google_file", "hf_base", "head", rules + [strip("electra.")], transposed=matrices,
           sorted_file=False)
    f.case("hf_to_classifier", "hf", "hf_classifier", "head", unfed=["^classifier"])
    f.case("hf_to_tokens", "hf", "hf_tokens", "head", unfed=["^classifier"], sorted_file=False)
    f.case("hf_to_base_burn", "hf", "hf_base", "head", [strip("electra.")], layout="burn")
    write(f)


def albert():
    f = family("albert", "transformers")
    config = hf.AlbertConfig(vocab_size=128, embedding_size=16, hidden_size=48, num_hidden_layers=4,
                             num_attention_heads=4, intermediate_size=192, max_position_embeddings=64)
    listings(f, hf=lambda: hf.AlbertModel(config), hf_masked=lambda: hf.AlbertForMaskedLM(config),
             hf_classifier=lambda: hf.AlbertForSequenceClassification(config))
    changed(f, "hub", "hf_masked", without=[r"^predictions\.decoder"])
    to_tensorflow(f, "google", "hf", [
        (r"^", "bert."), (r"encoder\.albert_layer_groups\.0\.albert_layers\.0",
                          "encoder.transformer.group_0.inner_group_0"),
        (r"full_layer_layer_norm", "LayerNorm_1"), (r"attention\.(query|key|value)", r"attention_1.self.\1"),
        (r"attention\.dense", "attention_1.output.dense"), (r"attention\.LayerNorm", "LayerNorm"),
        (r"ffn_output", "ffn_1.intermediate.output.dense"), (r"ffn\.", "ffn_1.intermediate.dense."),
        (r"pooler", "pooler.dense"), (r"LayerNorm_1\.weight", "LayerNorm_1.gamma"),
        (r"LayerNorm_1\.bias", "LayerNorm_1.beta")], [], "google-research/albert")
    f.wrapped("google_file", "google", "", [["cls/predictions/transform/dense/kernel", "f32", [48, 16], ""],
                                            ["cls/predictions/transform/dense/bias", "f32", [16], ""],
                                            ["cls/predictions/output_bias", "f32", [128], ""],
                                            ["cls/seq_relationship/output_weights", "f32", [2, 48], ""],
                                            ["cls/seq_relationship/output_bias", "f32", [2], ""]])
    rules = [(r"inner_group_0/LayerNorm_1", "inner_group_0/full_layer_layer_norm"),
             (r"inner_group_0/LayerNorm", "inner_group_0/attention/LayerNorm"),
             (r"transformer/group_0/inner_group_0/", "albert_layer_groups/0/albert_layers/0/"),
             (r"ffn_1/intermediate/output/dense", "ffn_output"), (r"ffn_1/intermediate/dense", "ffn"),
             (r"attention_1/self/", "attention/"), (r"attention_1/output/", "attention/"), (r"pooler/dense", "pooler"),
             (r"^bert/", "")] + from_tensorflow
    f.case("google_to_hf", "google", "hf", "renamed", rules, transposed=matrices)
    f.case("google_file_to_hf", "google_file", "hf", "renamed", rules, transposed=matrices, sorted_file=False)
    f.case("hub_to_base", "hub", "hf", "head", [strip("albert.")], unfed=["^pooler"])
    f.case("hub_to_classifier", "hub", "hf_classifier", "head", unfed=["pooler", "^classifier"])
    f.case("hub_to_classifier_burn", "hub", "hf_classifier", "head", unfed=["pooler", "^classifier"],
           sorted_file=False, layout="burn")
    write(f)


def roberta():
    f = family("roberta_original", "transformers")
    config = hf.RobertaConfig(vocab_size=120, hidden_size=32, num_hidden_layers=3, num_attention_heads=4,
                              intermediate_size=128, max_position_embeddings=66, type_vocab_size=1, num_labels=3)

    def fairseq(old):
        def layer():
            attn = net("MultiheadAttention", in_proj_weight=param(96, 32), in_proj_bias=param(96),
                       out_proj=linear(32, 32)) if old else net(
                "MultiheadAttention", **{x + "_proj": linear(32, 32) for x in "kvq"}, out_proj=linear(32, 32))
            return net("TransformerSentenceEncoderLayer", self_attn=attn, self_attn_layer_norm=nn.LayerNorm(32),
                       fc1=linear(32, 128), fc2=linear(128, 32), final_layer_norm=nn.LayerNorm(32))
        encoder = net("TransformerSentenceEncoder", embed_tokens=nn.Embedding(120, 32),
                      embed_positions=nn.Embedding(66, 32), layers=[layer() for _ in range(3)],
                      **{"emb_layer_norm" if old else "layernorm_embedding": nn.LayerNorm(32)})
        head = net("RobertaLMHead", weight=param(120, 32), bias=param(120), dense=linear(32, 32),
                   layer_norm=nn.LayerNorm(32))
        return net("RobertaModel", **{"decoder" if old else "encoder": net("RobertaEncoder", sentence_encoder=encoder,
                                                                           lm_head=head)})
    listings(f, hf_masked=lambda: hf.RobertaForMaskedLM(config),
             hf=lambda: hf.RobertaModel(config, add_pooling_layer=False),
             hf_classifier=lambda: hf.RobertaForSequenceClassification(config),
             fairseq_old=(lambda: fairseq(True), "fairseq RobertaModel of 2019"),
             fairseq=(lambda: fairseq(False), "fairseq RobertaModel"),
             other=lambda: net("SSD", extras=[nn.Conv2d(64, 32, 1), nn.Conv2d(32, 64, 3)],
                               conf=[nn.Conv2d(64, 84, 3)], loc=[nn.Conv2d(64, 16, 3)]))
    changed(f, "hub", "hf_masked", without=[r"decoder\.bias"])
    f.wrapped("fairseq_file", "fairseq", "model.",
              [["last_optimizer_state." + n[len("optimizer."):], d, s, c] for n, d, s, c in adam(f, "fairseq")])

    def rules(side, norm):
        a, b = side + ".sentence_encoder.layers.*", "encoder.layer.*"
        return ways((side + ".sentence_encoder.embed_tokens", "embeddings.word_embeddings"),
                    (side + ".sentence_encoder.embed_positions", "embeddings.position_embeddings"),
                    (f"{side}.sentence_encoder.{norm}", "embeddings.LayerNorm"),
                    *((f"{a}.self_attn.{x[0]}_proj", f"{b}.attention.self.{x}") for x in ("query", "key", "value")),
                    (a + ".self_attn.out_proj", b + ".attention.output.dense"),
                    (a + ".self_attn_layer_norm", b + ".attention.output.LayerNorm"),
                    (a + ".fc1", b + ".intermediate.dense"), (a + ".fc2", b + ".output.dense"),
                    (a + ".final_layer_norm", b + ".output.LayerNorm"))
    old, new = rules("decoder", "emb_layer_norm"), rules("encoder", "layernorm_embedding")
    qkv = [fused("decoder.sentence_encoder.layers.*.self_attn.in_proj_" + p,
                 *(f"encoder.layer.*.attention.self.{x}.{p}" for x in ("query", "key", "value")))
           for p in ("weight", "bias")]
    types = ["token_type_embeddings"]
    head = [(r"^lm_head\.decoder\.weight", "encoder.lm_head.weight"), (r"^lm_head", "encoder.lm_head")]
    f.case("old_fairseq_to_hf", "fairseq_old", "hf", "fused", old[0], splits=qkv, unfed=types, sorted_file=False)
    f.case("fairseq_to_hf", "fairseq", "hf", "renamed", new[0], unfed=types)
    f.case("fairseq_to_hf_burn", "fairseq", "hf", "renamed", new[0], unfed=types, layout="burn")
    f.case("fairseq_file_to_hf", "fairseq_file", "hf", "wrapped", [strip("model.")] + new[0], unfed=types,
           sorted_file=False)
    f.case("hub_to_fairseq", "hub", "fairseq", "renamed", [strip("roberta.")] + head + new[1])
    f.case("hub_to_classifier", "hub", "hf_classifier", "head", unfed=["^classifier"])
    f.unrelated("detector_to_hf", "other", "hf")
    write(f)


def translation():
    """The pre-norm transformer for translation of three code bases."""
    f = family("transformer_mt")
    d, ff, vocab = 32, 128, 128

    def opennmt():
        def attention():
            return net("MultiHeadedAttention", linear_keys=linear(d, d), linear_values=linear(d, d),
                       linear_query=linear(d, d), final_linear=linear(d, d))

        def feed():
            return net("PositionwiseFeedForward", w_1=linear(d, ff), w_2=linear(ff, d), layer_norm=nn.LayerNorm(d))

        def embeddings():
            luts = net("Elementwise", **{"0": nn.Embedding(vocab, d)})
            pe = net("PositionalEncoding", pe=torch.empty(200, 1, d))
            return net("Embeddings", make_embedding=net("Sequential", emb_luts=luts, pe=pe))
        encoder = net("TransformerEncoder", embeddings=embeddings(), transformer=[
            net("TransformerEncoderLayer", self_attn=attention(), feed_forward=feed(), layer_norm=nn.LayerNorm(d))
            for _ in range(2)], layer_norm=nn.LayerNorm(d))
        decoder = net("TransformerDecoder", embeddings=embeddings(), transformer_layers=[
            net("TransformerDecoderLayer", self_attn=attention(), feed_forward=feed(), layer_norm_1=nn.LayerNorm(d),
                context_attn=attention(), layer_norm_2=nn.LayerNorm(d)) for _ in range(2)], layer_norm=nn.LayerNorm(d))
        return net("NMTModel", encoder=encoder, decoder=decoder, generator=seq(linear(d, vocab)))

    def harvard():
        def norm():
            return net("LayerNorm", a_2=param(d), b_2=param(d))

        def attention():
            return net("MultiHeadedAttention", linears=[linear(d, d) for _ in range(4)])

        def layer(count, **attentions):
            return net("Layer", **attentions, feed_forward=net("PositionwiseFeedForward", w_1=linear(d, ff),
                                                               w_2=linear(ff, d)),
                       sublayer=[net("SublayerConnection", norm=norm()) for _ in range(count)])

        def embed():
            return seq(net("Embeddings", lut=nn.Embedding(vocab, d)),
                       net("PositionalEncoding", pe=torch.empty(1, 100, d)))
        return net("EncoderDecoder",
                   encoder=net("Encoder", layers=[layer(2, self_attn=attention()) for _ in range(2)], norm=norm()),
                   decoder=net("Decoder", layers=[layer(3, self_attn=attention(), src_attn=attention())
                                                  for _ in range(2)], norm=norm()),
                   src_embed=embed(), tgt_embed=embed(), generator=net("Generator", proj=linear(d, vocab)))

    def tutorial():
        return net("Seq2SeqTransformer", transformer=nn.Transformer(d, 4, 2, 2, ff, norm_first=True),
                   generator=linear(d, vocab), src_tok_emb=net("TokenEmbedding", embedding=nn.Embedding(vocab, d)),
                   tgt_tok_emb=net("TokenEmbedding", embedding=nn.Embedding(vocab, d)),
                   positional_encoding=net("PositionalEncoding", pos_embedding=torch.empty(64, 1, d)))
    listings(f, opennmt=(opennmt, "OpenNMT-py NMTModel"), harvard=(harvard, "The Annotated Transformer EncoderDecoder"),
             tutorial=(tutorial, "PyTorch's tutorial Seq2SeqTransformer"))
    # OpenNMT-py saves the generator beside the model.
    changed(f, "opennmt_file", "opennmt", [(r"^(encoder|decoder)", r"model.\1")])

    e, g = "encoder.transformer.*", "decoder.transformer_layers.*"
    lut = ".embeddings.make_embedding.emb_luts.0"
    x, y = "encoder.layers.*", "decoder.layers.*"
    names = ("linear_query", "linear_keys", "linear_values", "final_linear")
    attentions = ((e + ".self_attn", x + ".self_attn"), (g + ".self_attn", y + ".self_attn"),
                  (g + ".context_attn", y + ".src_attn"))

    def norms(pairs):
        return [(f"{a}.{p}", f"{b}.{q}") for a, b in pairs for p, q in (("weight", "a_2"), ("bias", "b_2"))]
    harvard_rules = ways(
        ("encoder" + lut, "src_embed.0.lut"), ("decoder" + lut, "tgt_embed.0.lut"), ("generator.0", "generator.proj"),
        *((f"{a}.{n}", f"{b}.linears.{i}") for a, b in attentions for i, n in enumerate(names)),
        *((f"{a}.feed_forward.{w}", f"{b}.feed_forward.{w}") for a, b in ((e, x), (g, y)) for w in ("w_1", "w_2")),
        *norms([(e + ".layer_norm", x + ".sublayer.0.norm"), (e + ".feed_forward.layer_norm", x + ".sublayer.1.norm"),
                (g + ".layer_norm_1", y + ".sublayer.0.norm"), (g + ".layer_norm_2", y + ".sublayer.1.norm"),
                (g + ".feed_forward.layer_norm", y + ".sublayer.2.norm"), ("encoder.layer_norm", "encoder.norm"),
                ("decoder.layer_norm", "decoder.norm")]))
    t, u = "transformer.encoder.layers.*", "transformer.decoder.layers.*"
    tutorial_rules = ways(
        ("encoder" + lut, "src_tok_emb.embedding"), ("decoder" + lut, "tgt_tok_emb.embedding"),
        ("generator.0", "generator"), ("encoder.layer_norm", "transformer.encoder.norm"),
        ("decoder.layer_norm", "transformer.decoder.norm"), (e + ".layer_norm", t + ".norm1"),
        (e + ".feed_forward.layer_norm", t + ".norm2"), (g + ".layer_norm_1", u + ".norm1"),
        (g + ".layer_norm_2", u + ".norm2"), (g + ".feed_forward.layer_norm", u + ".norm3"),
        *((f"{a}.feed_forward.w_{i}", f"{b}.linear{i}") for a, b in ((e, t), (g, u)) for i in "12"),
        *((f"{a}.final_linear", f"{b}.out_proj") for a, b in (
            (e + ".self_attn", t + ".self_attn"), (g + ".self_attn", u + ".self_attn"),
            (g + ".context_attn", u + ".multihead_attn"))))
    qkv = [fused(f"{b}.in_proj_{p}", *(f"{a}.{n}.{p}" for n in names[:3])) for p in ("weight", "bias") for a, b in (
        (e + ".self_attn", t + ".self_attn"), (g + ".self_attn", u + ".self_attn"),
        (g + ".context_attn", u + ".multihead_attn"))]
    sines = [r"\.pe$", "pos_embedding"]
    file = [(r"^model\.", "")]
    f.case("opennmt_to_harvard", "opennmt", "harvard", "numbered", harvard_rules[0], unfed=sines)
    f.case("harvard_to_opennmt", "harvard", "opennmt", "numbered", harvard_rules[1], unfed=sines)
    f.case("harvard_to_opennmt_burn", "harvard", "opennmt", "numbered", harvard_rules[1], unfed=sines,
           sorted_file=False, layout="burn")
    f.case("opennmt_to_tutorial", "opennmt_file", "tutorial", "fused", file + tutorial_rules[0], joins=qkv, unfed=sines)
    f.case("tutorial_to_opennmt", "tutorial", "opennmt", "fused", tutorial_rules[1], splits=qkv, unfed=sines,
           sorted_file=False)
    f.case("harvard_to_tutorial", "harvard", "tutorial", "fused", harvard_rules[1] + tutorial_rules[0], joins=qkv,
           unfed=sines)
    f.case("file_to_opennmt", "opennmt_file", "opennmt", "wrapped", file)
    write(f)


def mamba():
    from mambapy.mamba import Mamba, MambaConfig
    f = family("mamba", "transformers", "mambapy")

    def config(layers):
        return hf.MambaConfig(vocab_size=128, hidden_size=32, num_hidden_layers=layers)

    def layers(count):
        def layer():
            return net("Block", mixer=net("Mamba", A_log=param(64, 16), D=param(64),
                                          in_proj=linear(32, 128, bias=False), conv1d=nn.Conv1d(64, 64, 4, groups=64),
                                          x_proj=linear(64, 34, bias=False), dt_proj=linear(2, 64),
                                          out_proj=linear(64, 32, bias=False)), norm=rms(32))
        return [layer() for _ in range(count)]

    def official(count):
        return (lambda: net("MambaLMHeadModel", backbone=net("MixerModel", embedding=nn.Embedding(128, 32),
                                                             layers=layers(count), norm_f=rms(32)),
                            lm_head=linear(32, 128, bias=False)), "mamba_ssm MambaLMHeadModel")

    def minimal():
        return net("Mamba", embedding=nn.Embedding(128, 32), layers=layers(3), norm_f=rms(32),
                   lm_head=linear(32, 128, bias=False))

    def py():
        return net("LM", embedding=nn.Embedding(128, 32), mamba=Mamba(MambaConfig(d_model=32, n_layers=3)),
                   norm_f=rms(32), lm_head=linear(32, 128, bias=False))
    listings(f, hf=lambda: hf.MambaForCausalLM(config(3)), hf_4=lambda: hf.MambaForCausalLM(config(4)),
             official=official(3), minimal=(minimal, "johnma2006/mamba-minimal Mamba"),
             mambapy=(on_cpu(py), "mambapy LM"))
    f.wrapped("compiled", "minimal", "model._orig_mod.", adam(f, "minimal"))
    hub = [(r"^backbone\.embeddings", "backbone.embedding")]
    plain = [strip("backbone.")]
    py_rules = ways(("layers", "mamba.layers"))
    f.case("official_to_hf", "official", "hf", "renamed", [(r"embedding\.", "embeddings.")])
    f.case("official_to_minimal", "official", "minimal", "renamed", plain, sorted_file=False)
    f.case("hf_to_minimal", "hf", "minimal", "renamed", hub + plain)
    f.case("hf_to_mambapy", "hf", "mambapy", "renamed", hub + plain + py_rules[0])
    f.case("mambapy_to_hf_burn", "mambapy", "hf", "renamed",
           py_rules[1] + [(r"^(?!lm_head)", "backbone."), (r"embedding\.", "embeddings.")], layout="burn")
    f.case("compiled_to_hf", "compiled", "hf", "wrapped",
           [strip("model._orig_mod."), (r"^(?!lm_head|optim)", "backbone."), (r"embedding\.", "embeddings.")])
    f.case("official_to_deeper_hf", "official", "hf_4", "depth", [(r"embedding\.", "embeddings.")],
           unfed=[r"layers\.3\."])
    write(f)


def rwkv():
    f = family("rwkv", "transformers")

    def config(layers):
        return hf.RwkvConfig(vocab_size=128, hidden_size=32, num_hidden_layers=layers, attention_hidden_size=32,
                             tie_word_embeddings=False)

    def blink():
        def block(i):
            mix = {f"time_mix_{x}": param(1, 1, 32) for x in "kvr"}
            att = net("RWKV_TimeMix", time_decay=param(32), time_first=param(32), **mix,
                      key=linear(32, 32, bias=False), value=linear(32, 32, bias=False),
                      receptance=linear(32, 32, bias=False), output=linear(32, 32, bias=False))
            ffn = net("RWKV_ChannelMix", time_mix_k=param(1, 1, 32), time_mix_r=param(1, 1, 32),
                      key=linear(32, 128, bias=False), receptance=linear(32, 32, bias=False),
                      value=linear(128, 32, bias=False))
            return net("Block", ln1=nn.LayerNorm(32), ln2=nn.LayerNorm(32), ln0=nn.LayerNorm(32) if i == 0 else None,
                       att=att, ffn=ffn)
        return net("RWKV", emb=nn.Embedding(128, 32), blocks=[block(i) for i in range(3)], ln_out=nn.LayerNorm(32),
                   head=linear(32, 128, bias=False))
    listings(f, original=(blink, "BlinkDL/RWKV-LM RWKV"), hf=lambda: hf.RwkvForCausalLM(config(3)),
             hf_base=lambda: hf.RwkvModel(config(3)), hf_4=lambda: hf.RwkvForCausalLM(config(4)))
    f.wrapped("deepspeed", "original", "_forward_module.")
    a, b = "blocks.*", "rwkv.blocks.*"
    long = {"k": "key", "v": "value", "r": "receptance"}
    rules = ways(("emb", "rwkv.embeddings"), ("ln_out", "rwkv.ln_out"), (a + ".ln0", b + ".pre_ln"),
                 (a + ".ln1", b + ".ln1"), (a + ".ln2", b + ".ln2"),
                 *((f"{a}.att.time_mix_{x}", f"{b}.attention.time_mix_{long[x]}") for x in "kvr"),
                 *((f"{a}.ffn.time_mix_{x}", f"{b}.feed_forward.time_mix_{long[x]}") for x in "kr"),
                 (a + ".att", b + ".attention"), (a + ".ffn", b + ".feed_forward"))
    f.case("original_to_hf", "original", "hf", "renamed", rules[0], sorted_file=False)
    f.case("hf_to_original", "hf", "original", "renamed", rules[1])
    f.case("original_to_hf_burn", "original", "hf", "renamed", rules[0], layout="burn")
    f.case("deepspeed_to_base", "deepspeed", "hf_base", "wrapped", [strip("_forward_module.")] + rules[0] +
           [strip("rwkv.")])
    f.case("original_to_deeper_hf", "original", "hf_4", "depth", rules[0], unfed=[r"blocks\.3\."])
    write(f)


def blip():
    from transformers.models.blip.modeling_blip_text import BlipTextLMHeadModel
    f = family("blip", "transformers")
    config = hf.BlipConfig(
        text_config=dict(vocab_size=128, hidden_size=32, encoder_hidden_size=32, intermediate_size=128,
                         num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=24),
        vision_config=dict(hidden_size=32, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                           image_size=32, patch_size=8))

    def salesforce():
        def block():
            return net("Block", norm1=nn.LayerNorm(32), attn=net("Attention", qkv=linear(32, 96), proj=linear(32, 32)),
                       norm2=nn.LayerNorm(32), mlp=net("Mlp", fc1=linear(32, 128), fc2=linear(128, 32)))
        visual = net("VisionTransformer", cls_token=param(1, 1, 32), pos_embed=param(1, 17, 32),
                     patch_embed=net("PatchEmbed", proj=nn.Conv2d(3, 32, 8, 8)), blocks=[block(), block()],
                     norm=nn.LayerNorm(32))
        return net("BLIP_Decoder", visual_encoder=visual, text_decoder=BlipTextLMHeadModel(config.text_config))
    listings(f, hf=lambda: hf.BlipForConditionalGeneration(config),
             hf_vision=lambda: hf.BlipVisionModel(config.vision_config),
             original=(salesforce, "salesforce/BLIP BLIP_Decoder"))
    f.wrapped("original_file", "original", "model.")
    a, b = "visual_encoder.blocks.*", "vision_model.encoder.layers.*"
    rules = ways(("visual_encoder.cls_token", "vision_model.embeddings.class_embedding"),
                 ("visual_encoder.pos_embed", "vision_model.embeddings.position_embedding"),
                 ("visual_encoder.patch_embed.proj", "vision_model.embeddings.patch_embedding"),
                 ("visual_encoder.norm", "vision_model.post_layernorm"), (a + ".attn.qkv", b + ".self_attn.qkv"),
                 (a + ".attn.proj", b + ".self_attn.projection"), (a + ".norm1", b + ".layer_norm1"),
                 (a + ".norm2", b + ".layer_norm2"), (a + ".mlp", b + ".mlp"))
    f.case("original_to_hf", "original_file", "hf", "wrapped", [strip("model.")] + rules[0])
    f.case("hf_to_original", "hf", "original", "renamed", rules[1], sorted_file=False)
    f.case("hf_to_original_burn", "hf", "original", "renamed", rules[1], layout="burn")
    f.case("original_to_vision_model", "original", "hf_vision", "head", rules[0] + [strip("vision_model.")])
    write(f)


for make in (gemma, phi, falcon, bloom, stablelm, electra, albert, roberta, translation, mamba, rwkv, blip):
    make()
