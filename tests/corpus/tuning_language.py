# SPDX-License-Identifier: MIT OR Apache-2.0
"""Language models of the tuning corpus."""
import re

import torch
import torchvision
import transformers
from torch import nn

from tuning_common import Names, Table, linear, part

embedding, norm = nn.Embedding, nn.LayerNorm


def small_convnet():
    return torchvision.models.MobileNetV2(10, 0.25, [[1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 2, 2]])


# ---------------------------------------------------------------- LLaMA and its relatives


def rms(d, kind="RMSNorm", field="weight"):
    return part(kind, **{field: torch.empty(d)})


def hf_llama(config="LlamaConfig", model="LlamaForCausalLM", layers=3, d=64, heads=8, kv=8, ffn=176,
             vocab=320, **more):
    settings = getattr(transformers, config)(
        vocab_size=vocab, hidden_size=d, intermediate_size=ffn, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=kv, max_position_embeddings=128,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, **more)
    return getattr(transformers, model)(settings)


def meta_llama(layers=3, d=64, heads=8, kv=8, ffn=176, vocab=320, experts=0):
    """llama/model.py of Meta, and mistral_inference/transformer_layers.py with experts."""
    def feed_forward():
        return part("FeedForward", w1=linear(d, ffn, False), w2=linear(ffn, d, False), w3=linear(d, ffn, False))

    def block():
        side = d // heads * kv
        return part("TransformerBlock",
                    attention=part("Attention", wq=linear(d, d, False), wk=linear(d, side, False),
                                   wv=linear(d, side, False), wo=linear(d, d, False)),
                    feed_forward=part("MoeLayer", experts=[feed_forward() for _ in range(experts)],
                                      gate=linear(d, experts, False)) if experts else feed_forward(),
                    attention_norm=rms(d), ffn_norm=rms(d))
    return part("Transformer", tok_embeddings=embedding(vocab, d), layers=[block() for _ in range(layers)],
                norm=rms(d), output=linear(d, vocab, False))


def litgpt_llama(layers=3, d=64, ffn=176, vocab=320):
    """litgpt/model.py, with LLaMAMLP."""
    def block():
        return part("Block", norm_1=rms(d),
                    attn=part("CausalSelfAttention", qkv=linear(d, 3 * d, False), proj=linear(d, d, False)),
                    norm_2=rms(d),
                    mlp=part("LLaMAMLP", fc_1=linear(d, ffn, False), fc_2=linear(d, ffn, False),
                             proj=linear(ffn, d, False)))
    return part("GPT", lm_head=linear(d, vocab, False),
                transformer=nn.ModuleDict(dict(wte=embedding(vocab, d),
                                               h=nn.ModuleList(block() for _ in range(layers)), ln_f=rms(d))))


def torchtune_llama(layers=3, d=64, heads=8, kv=8, ffn=176, vocab=320):
    """torchtune/modules/transformer.py."""
    def block():
        side = d // heads * kv
        return part("TransformerSelfAttentionLayer",
                    attn=part("MultiHeadAttention", q_proj=linear(d, d, False), k_proj=linear(d, side, False),
                              v_proj=linear(d, side, False), output_proj=linear(d, d, False)),
                    mlp=part("FeedForward", w1=linear(d, ffn, False), w2=linear(ffn, d, False),
                             w3=linear(d, ffn, False)),
                    sa_norm=rms(d, field="scale"), mlp_norm=rms(d, field="scale"))
    return part("TransformerDecoder", tok_embeddings=embedding(vocab, d), layers=[block() for _ in range(layers)],
                norm=rms(d, field="scale"), output=linear(d, vocab, False))


def burn_llama(layers=3, d=64, heads=8, kv=8, ffn=176, vocab=320):
    """llama-burn/src/transformer.rs: SwiGlu has two linear layers of its own."""
    def block():
        side = d // heads * kv
        return part("TransformerBlock",
                    attention=part("MultiHeadAttention", wq=linear(d, d, False), wk=linear(d, side, False),
                                   wv=linear(d, side, False), wo=linear(d, d, False)),
                    attention_norm=rms(d, "RmsNorm"),
                    feed_forward=part("FeedForward", swiglu=part("SwiGlu", linear_inner=linear(d, ffn, False),
                                                                 linear_outer=linear(d, ffn, False)),
                                      w2=linear(ffn, d, False)),
                    ffn_norm=rms(d, "RmsNorm"))
    return part("Transformer", tok_embeddings=embedding(vocab, d), layers=[block() for _ in range(layers)],
                norm=rms(d, "RmsNorm"), output=linear(d, vocab, False))


hf_meta = Table("""
    model.embed_tokens = tok_embeddings
    model.layers.{i}.self_attn.q_proj = layers.{i}.attention.wq
    model.layers.{i}.self_attn.k_proj = layers.{i}.attention.wk
    model.layers.{i}.self_attn.v_proj = layers.{i}.attention.wv
    model.layers.{i}.self_attn.o_proj = layers.{i}.attention.wo
    model.layers.{i}.mlp.gate_proj = layers.{i}.feed_forward.w1
    model.layers.{i}.mlp.down_proj = layers.{i}.feed_forward.w2
    model.layers.{i}.mlp.up_proj = layers.{i}.feed_forward.w3
    model.layers.{i}.block_sparse_moe.gate = layers.{i}.feed_forward.gate
    model.layers.{i}.block_sparse_moe.experts.{j}.w1 = layers.{i}.feed_forward.experts.{j}.w1
    model.layers.{i}.block_sparse_moe.experts.{j}.w2 = layers.{i}.feed_forward.experts.{j}.w2
    model.layers.{i}.block_sparse_moe.experts.{j}.w3 = layers.{i}.feed_forward.experts.{j}.w3
    model.layers.{i}.input_layernorm = layers.{i}.attention_norm
    model.layers.{i}.post_attention_layernorm = layers.{i}.ffn_norm
    model.norm = norm
    lm_head = output""")
hf_litgpt = Table("""
    model.embed_tokens = transformer.wte
    model.layers.{i}.input_layernorm = transformer.h.{i}.norm_1
    model.layers.{i}.post_attention_layernorm = transformer.h.{i}.norm_2
    model.layers.{i}.self_attn.q_proj + model.layers.{i}.self_attn.k_proj + model.layers.{i}.self_attn.v_proj = \
transformer.h.{i}.attn.qkv
    model.layers.{i}.self_attn.o_proj = transformer.h.{i}.attn.proj
    model.layers.{i}.mlp.gate_proj = transformer.h.{i}.mlp.fc_1
    model.layers.{i}.mlp.up_proj = transformer.h.{i}.mlp.fc_2
    model.layers.{i}.mlp.down_proj = transformer.h.{i}.mlp.proj
    model.norm = transformer.ln_f
    lm_head = lm_head""")
hf_torchtune = Table("""
    model.embed_tokens = tok_embeddings
    model.layers.{i}.self_attn.q_proj = layers.{i}.attn.q_proj
    model.layers.{i}.self_attn.k_proj = layers.{i}.attn.k_proj
    model.layers.{i}.self_attn.v_proj = layers.{i}.attn.v_proj
    model.layers.{i}.self_attn.o_proj = layers.{i}.attn.output_proj
    model.layers.{i}.mlp.gate_proj = layers.{i}.mlp.w1
    model.layers.{i}.mlp.down_proj = layers.{i}.mlp.w2
    model.layers.{i}.mlp.up_proj = layers.{i}.mlp.w3
    model.layers.{i}.input_layernorm.weight = layers.{i}.sa_norm.scale
    model.layers.{i}.post_attention_layernorm.weight = layers.{i}.mlp_norm.scale
    model.norm.weight = norm.scale
    lm_head = output""")
hf_gguf = Table("""
    model.embed_tokens = token_embd
    model.layers.{i}.self_attn.q_proj = blk.{i}.attn_q
    model.layers.{i}.self_attn.k_proj = blk.{i}.attn_k
    model.layers.{i}.self_attn.v_proj = blk.{i}.attn_v
    model.layers.{i}.self_attn.o_proj = blk.{i}.attn_output
    model.layers.{i}.mlp.gate_proj = blk.{i}.ffn_gate
    model.layers.{i}.mlp.up_proj = blk.{i}.ffn_up
    model.layers.{i}.mlp.down_proj = blk.{i}.ffn_down
    model.layers.{i}.input_layernorm = blk.{i}.attn_norm
    model.layers.{i}.post_attention_layernorm = blk.{i}.ffn_norm
    model.norm = output_norm
    lm_head = output""")
meta_burn = Table("""
    tok_embeddings = tok_embeddings
    layers.{i}.attention.@.weight = layers.{i}.attention.@.weight
    layers.{i}.attention_norm = layers.{i}.attention_norm
    layers.{i}.ffn_norm = layers.{i}.ffn_norm
    layers.{i}.feed_forward.w1 = layers.{i}.feed_forward.swiglu.linear_inner
    layers.{i}.feed_forward.w3 = layers.{i}.feed_forward.swiglu.linear_outer
    layers.{i}.feed_forward.w2 = layers.{i}.feed_forward.w2
    norm = norm
    output = output""")
hf_burn = Table("""
    model.embed_tokens = tok_embeddings
    model.layers.{i}.self_attn.q_proj = layers.{i}.attention.wq
    model.layers.{i}.self_attn.k_proj = layers.{i}.attention.wk
    model.layers.{i}.self_attn.v_proj = layers.{i}.attention.wv
    model.layers.{i}.self_attn.o_proj = layers.{i}.attention.wo
    model.layers.{i}.mlp.gate_proj = layers.{i}.feed_forward.swiglu.linear_inner
    model.layers.{i}.mlp.up_proj = layers.{i}.feed_forward.swiglu.linear_outer
    model.layers.{i}.mlp.down_proj = layers.{i}.feed_forward.w2
    model.layers.{i}.input_layernorm = layers.{i}.attention_norm
    model.layers.{i}.post_attention_layernorm = layers.{i}.ffn_norm
    model.norm = norm
    lm_head = output""")
hf_phi3 = Table("""
    model.embed_tokens = model.embed_tokens
    model.layers.{i}.self_attn.q_proj + model.layers.{i}.self_attn.k_proj + model.layers.{i}.self_attn.v_proj = \
model.layers.{i}.self_attn.qkv_proj
    model.layers.{i}.self_attn.o_proj = model.layers.{i}.self_attn.o_proj
    model.layers.{i}.mlp.gate_proj + model.layers.{i}.mlp.up_proj = model.layers.{i}.mlp.gate_up_proj
    model.layers.{i}.mlp.down_proj = model.layers.{i}.mlp.down_proj
    model.layers.{i}.@_layernorm.weight = model.layers.{i}.@_layernorm.weight
    model.norm = model.norm
    lm_head = lm_head""")
# The first half of x-transformers' GLU is the value, the second one the gate.
hf_x_transformers = Table("\n".join(
    line for i in range(3) for line in f"""
    model.layers.{i}.input_layernorm.weight = attn_layers.layers.{2 * i}.0.0.g
    model.layers.{i}.self_attn.q_proj = attn_layers.layers.{2 * i}.1.to_q
    model.layers.{i}.self_attn.k_proj = attn_layers.layers.{2 * i}.1.to_k
    model.layers.{i}.self_attn.v_proj = attn_layers.layers.{2 * i}.1.to_v
    model.layers.{i}.self_attn.o_proj = attn_layers.layers.{2 * i}.1.to_out
    model.layers.{i}.post_attention_layernorm.weight = attn_layers.layers.{2 * i + 1}.0.0.g
    model.layers.{i}.mlp.up_proj + model.layers.{i}.mlp.gate_proj = attn_layers.layers.{2 * i + 1}.1.ff.0.proj
    model.layers.{i}.mlp.down_proj = attn_layers.layers.{2 * i + 1}.1.ff.2
    """.splitlines()) + """
    model.embed_tokens = token_emb.emb
    model.norm.weight = attn_layers.final_norm.g
    lm_head = to_logits""")


def x_transformers_llama():
    import x_transformers
    return x_transformers.TransformerWrapper(
        num_tokens=320, max_seq_len=128, use_abs_pos_emb=False,
        attn_layers=x_transformers.Decoder(dim=64, depth=3, heads=8, attn_dim_head=8, use_rmsnorm=True,
                                           ff_glu=True, ff_swish=True, ff_no_bias=True, rotary_pos_emb=True,
                                           ff_mult=2.75))


def llama():
    f = Names("llama", "transformers", "x-transformers")
    f.listing("hf", hf_llama)
    f.listing("hf_grouped", lambda: hf_llama(kv=2))
    f.listing("hf_base", lambda: hf_llama(model="LlamaModel"))
    f.listing("hf_labels", lambda: hf_llama(model="LlamaForSequenceClassification"))
    f.listing("hf_deeper", lambda: hf_llama(layers=5))
    f.listing("hf_32", lambda: hf_llama(layers=32, d=32, heads=4, kv=4, ffn=88))
    f.listing("meta", meta_llama, "llama.model.Transformer")
    f.listing("meta_grouped", lambda: meta_llama(kv=2), "llama.model.Transformer")
    f.listing("meta_32", lambda: meta_llama(layers=32, d=32, heads=4, kv=4, ffn=88), "llama.model.Transformer")
    f.wrapped("meta_rope", "meta", more=[["rope.freqs", "f32", [4], ""]])
    f.listing("litgpt", litgpt_llama, "litgpt.model.GPT")
    f.listing("torchtune", lambda: torchtune_llama(kv=2), "torchtune.modules.TransformerDecoder")
    f.listing("burn", burn_llama, "llama_burn.Transformer")
    f.listing("phi3", lambda: hf_llama("Phi3Config", "Phi3ForCausalLM"))
    f.listing("x_transformers", x_transformers_llama)
    f.renamed("gguf", "hf_grouped", hf_gguf, "llama.cpp GGUF")
    f.pair("hf_to_meta", "hf", "meta", hf_meta)
    f.pair("meta_to_hf", "meta_rope", "hf", hf_meta, back=True)
    f.pair("hf_to_meta_grouped", "hf_grouped", "meta_grouped", hf_meta, sorted_file=False)
    f.pair("meta_to_hf_grouped", "meta_grouped", "hf_grouped", hf_meta, back=True)
    f.pair("hf_to_meta_32", "hf_32", "meta_32", hf_meta)
    f.pair("meta_to_hf_32", "meta_32", "hf_32", hf_meta, back=True, sorted_file=False)
    f.pair("meta_to_hf_burn_layout", "meta", "hf", hf_meta, back=True, layout="burn")
    f.pair("hf_to_litgpt", "hf", "litgpt", hf_litgpt, kind="fused")
    f.pair("litgpt_to_hf", "litgpt", "hf", hf_litgpt, back=True, kind="fused", sorted_file=False)
    f.pair("hf_to_torchtune", "hf_grouped", "torchtune", hf_torchtune)
    f.pair("torchtune_to_hf", "torchtune", "hf_grouped", hf_torchtune, back=True)
    f.pair("gguf_to_hf", "gguf", "hf_grouped", hf_gguf, back=True, sorted_file=False)
    f.pair("gguf_to_meta", "gguf", "meta_grouped", Table("""
        token_embd = tok_embeddings
        blk.{i}.attn_q = layers.{i}.attention.wq
        blk.{i}.attn_k = layers.{i}.attention.wk
        blk.{i}.attn_v = layers.{i}.attention.wv
        blk.{i}.attn_output = layers.{i}.attention.wo
        blk.{i}.ffn_gate = layers.{i}.feed_forward.w1
        blk.{i}.ffn_down = layers.{i}.feed_forward.w2
        blk.{i}.ffn_up = layers.{i}.feed_forward.w3
        blk.{i}.attn_norm = layers.{i}.attention_norm
        blk.{i}.ffn_norm = layers.{i}.ffn_norm
        output_norm = norm
        output = output"""))
    f.pair("meta_to_burn", "meta", "burn", meta_burn, layout="burn")
    f.pair("hf_to_burn", "hf", "burn", hf_burn, layout="burn")
    f.pair("hf_to_phi3", "hf", "phi3", hf_phi3, kind="fused")
    f.pair("phi3_to_hf", "phi3", "hf", hf_phi3, back=True, kind="fused")
    f.pair("hf_to_x_transformers", "hf", "x_transformers", hf_x_transformers, kind="fused",
           unfed=[r"\.proj\.bias$", "inv_freq$"])
    f.pair("x_transformers_to_hf", "x_transformers", "hf", hf_x_transformers, back=True, kind="fused")
    f.wrapped("hf_ddp", "hf", "module.", more=[["lr_scheduler.last_epoch", "i64", [], ""]])
    f.case("ddp", "hf_ddp", "hf", "wrapped", [(r"^module\.", "")])
    f.wrapped("hf_lora_base", "hf", "base_model.model.")
    f.case("peft", "hf_lora_base", "hf", "wrapped", [(r"^base_model\.model\.", "")], layout="burn")
    f.wrapped("meta_fsdp", "meta", "model._orig_mod.", f.adam("meta"))
    f.case("compiled_with_optimizer", "meta_fsdp", "meta", "wrapped", [(r"^model\._orig_mod\.", "")], sorted_file=False)
    f.pair("compiled_with_optimizer_to_hf", "meta_fsdp", "hf", hf_meta, back=True, kind="wrapped",
           strip=r"^model\._orig_mod\.")
    f.case("base_from_lm", "hf", "hf_base", "head", [(r"^model\.", "")])
    f.case("lm_from_base", "hf_base", "hf", "head", [(r"^", "model.")], unfed=[r"^lm_head\."])
    f.case("labels_from_lm", "hf", "hf_labels", "head", unfed=[r"^score\."], sorted_file=False)
    f.case("deeper", "hf", "hf_deeper", "depth", unfed=[r"layers\.[34]\."])
    f.pair("deeper_from_meta", "meta", "hf_deeper", hf_meta, back=True, kind="depth", unfed=[r"layers\.[34]\."])
    f.listing("resnet", small_convnet)
    f.unrelated("from_resnet", "resnet", "hf")
    f.write()


def mistral():
    f = Names("mistral", "transformers")
    size = dict(layers=3, d=96, heads=12, kv=4, ffn=336, vocab=400)
    f.listing("hf", lambda: hf_llama("MistralConfig", "MistralForCausalLM", **size))
    f.listing("inference", lambda: meta_llama(**size), "mistral_inference.transformer.Transformer")
    f.listing("hf_token", lambda: hf_llama("MistralConfig", "MistralForTokenClassification", num_labels=7, **size))
    deep = dict(layers=48, d=32, heads=8, kv=2, ffn=112, vocab=400)
    f.listing("hf_48", lambda: hf_llama("MistralConfig", "MistralForCausalLM", **deep))
    f.listing("inference_48", lambda: meta_llama(**deep), "mistral_inference.transformer.Transformer")
    f.pair("hf_to_inference", "hf", "inference", hf_meta, sorted_file=False)
    f.pair("inference_to_hf", "inference", "hf", hf_meta, back=True)
    f.pair("hf_to_inference_48", "hf_48", "inference_48", hf_meta)
    f.pair("inference_to_hf_48", "inference_48", "hf_48", hf_meta, back=True)
    f.pair("inference_to_hf_burn_layout", "inference", "hf", hf_meta, back=True, layout="burn")
    f.pair("token_labels_from_inference", "inference", "hf_token", hf_meta, back=True, kind="head",
           unfed=[r"^score\."])
    f.write()


def qwen2():
    f = Names("qwen2", "transformers")
    size = dict(layers=4, d=56, heads=7, kv=1, ffn=304, vocab=500)
    f.listing("hf", lambda: hf_llama("Qwen2Config", "Qwen2ForCausalLM", **size))
    f.listing("hf_reward", lambda: hf_llama("Qwen2Config", "Qwen2ForSequenceClassification", num_labels=1, **size))
    f.renamed("gguf", "hf", hf_gguf, "llama.cpp GGUF")
    # QWenLMHeadModel of Qwen 1 has a fused c_attn; w2 is the gate, w1 the other one.
    d, ffn = 64, 176
    f.listing("hf_full", lambda: hf_llama("Qwen2Config", "Qwen2ForCausalLM", layers=3, vocab=500))
    f.listing("qwen1", lambda: part("QWenLMHeadModel", transformer=part(
        "QWenModel", wte=embedding(500, d),
        h=[part("QWenBlock", ln_1=rms(d), attn=part("QWenAttention", c_attn=linear(d, 3 * d),
                                                    c_proj=linear(d, d, False)), ln_2=rms(d),
                mlp=part("QWenMLP", w1=linear(d, ffn, False), w2=linear(d, ffn, False),
                         c_proj=linear(ffn, d, False))) for _ in range(3)],
        ln_f=rms(d)), lm_head=linear(d, 500, False)), "modeling_qwen.QWenLMHeadModel")
    qwen1 = Table("""
        transformer.wte = model.embed_tokens
        transformer.h.{i}.ln_1 = model.layers.{i}.input_layernorm
        transformer.h.{i}.ln_2 = model.layers.{i}.post_attention_layernorm
        transformer.h.{i}.attn.c_attn = model.layers.{i}.self_attn.q_proj + \
model.layers.{i}.self_attn.k_proj + model.layers.{i}.self_attn.v_proj
        transformer.h.{i}.attn.c_proj = model.layers.{i}.self_attn.o_proj
        transformer.h.{i}.mlp.w1 = model.layers.{i}.mlp.up_proj
        transformer.h.{i}.mlp.w2 = model.layers.{i}.mlp.gate_proj
        transformer.h.{i}.mlp.c_proj = model.layers.{i}.mlp.down_proj
        transformer.ln_f = model.norm
        lm_head = lm_head""")
    f.pair("gguf_to_hf", "gguf", "hf", hf_gguf, back=True)
    f.pair("qwen1_to_hf", "qwen1", "hf_full", qwen1, kind="fused")
    f.pair("hf_to_qwen1", "hf_full", "qwen1", qwen1, back=True, kind="fused", sorted_file=False)
    f.wrapped("trainer", "hf", "_orig_mod.module.")
    f.case("compiled", "trainer", "hf", "wrapped", [(r"^_orig_mod\.module\.", "")])
    f.wrapped("multimodal", "hf", "language_model.", more=[
        ["multi_modal_projector.linear_1.weight", "f32", [56, 32], "Linear"],
        ["multi_modal_projector.linear_1.bias", "f32", [56], "Linear"],
        ["multi_modal_projector.linear_2.weight", "f32", [56, 56], "Linear"],
        ["multi_modal_projector.linear_2.bias", "f32", [56], "Linear"]])
    f.case("from_multimodal", "multimodal", "hf", "wrapped", [(r"^language_model\.", "")], layout="burn")
    f.case("reward_from_lm", "hf", "hf_reward", "head", unfed=[r"^score\."])
    f.write()


# The names of the Hub's files, which transformers 5 fuses when it loads them.
def hf_mixtral(layers=2, d=48, heads=6, kv=2, ffn=168, vocab=320, experts=4):
    model = hf_llama("MistralConfig", "MistralForCausalLM", layers, d, heads, kv, ffn, vocab)
    for layer in model.model.layers:
        del layer.mlp
        layer.block_sparse_moe = part(
            "MixtralSparseMoeBlock", gate=linear(d, experts, False),
            experts=[part("MixtralBlockSparseTop2MLP", w1=linear(d, ffn, False), w2=linear(ffn, d, False),
                          w3=linear(d, ffn, False)) for _ in range(experts)])
    return model


def hf_qwen_moe(layers=2, d=48, heads=6, kv=2, ffn=168, vocab=320, experts=4):
    model = hf_llama("MistralConfig", "MistralForCausalLM", layers, d, heads, kv, ffn, vocab)
    for layer in model.model.layers:
        layer.mlp = part(
            "Qwen3MoeSparseMoeBlock", gate=linear(d, experts, False),
            experts=[part("Qwen3MoeMLP", gate_proj=linear(d, ffn, False), up_proj=linear(d, ffn, False),
                          down_proj=linear(ffn, d, False)) for _ in range(experts)])
    return model


def mixtral():
    f = Names("mixtral", "transformers")
    size = dict(layers=2, d=48, heads=6, kv=2, ffn=168, vocab=320)
    f.listing("hf", hf_mixtral, "transformers.MixtralForCausalLM (4)")
    f.listing("hf_8", lambda: hf_mixtral(experts=8, layers=3), "transformers.MixtralForCausalLM (4)")
    f.listing("inference", lambda: meta_llama(experts=4, **size), "mistral_inference.transformer.Transformer")
    f.listing("inference_8", lambda: meta_llama(experts=8, **(size | dict(layers=3))),
              "mistral_inference.transformer.Transformer")
    f.listing("qwen_moe", hf_qwen_moe, "transformers.Qwen3MoeForCausalLM (4), without the norms of q and k")
    f.listing("dense", lambda: hf_llama("MistralConfig", "MistralForCausalLM", **size))
    qwen_moe = Table("""
        model.layers.{i}.block_sparse_moe.gate = model.layers.{i}.mlp.gate
        model.layers.{i}.block_sparse_moe.experts.{j}.w1 = model.layers.{i}.mlp.experts.{j}.gate_proj
        model.layers.{i}.block_sparse_moe.experts.{j}.w2 = model.layers.{i}.mlp.experts.{j}.down_proj
        model.layers.{i}.block_sparse_moe.experts.{j}.w3 = model.layers.{i}.mlp.experts.{j}.up_proj
        model.layers.{i}.self_attn.@.weight = model.layers.{i}.self_attn.@.weight
        model.layers.{i}.@.weight = model.layers.{i}.@.weight
        model.@.weight = model.@.weight
        lm_head = lm_head""")
    f.pair("hf_to_inference", "hf", "inference", hf_meta)
    f.pair("inference_to_hf", "inference", "hf", hf_meta, back=True, sorted_file=False)
    f.pair("hf_to_inference_8", "hf_8", "inference_8", hf_meta, sorted_file=False)
    f.pair("inference_to_hf_8", "inference_8", "hf_8", hf_meta, back=True)
    f.pair("inference_to_hf_burn_layout", "inference", "hf", hf_meta, back=True, layout="burn")
    f.pair("hf_to_qwen_moe", "hf", "qwen_moe", qwen_moe)
    f.pair("qwen_moe_to_hf", "qwen_moe", "hf", qwen_moe, back=True)
    f.pair("dense_from_experts", "hf", "dense", Table("""
        model.layers.{i}.self_attn.@.weight = model.layers.{i}.self_attn.@.weight
        model.layers.{i}.@.weight = model.layers.{i}.@.weight
        model.@.weight = model.@.weight
        lm_head = lm_head"""), kind="head", unfed=[r"\.mlp\."])
    f.wrapped("module", "inference", "module.")
    f.pair("ddp", "module", "hf", hf_meta, back=True, kind="wrapped", strip=r"^module\.")
    f.write()


# ---------------------------------------------------------------- GPT-2


def gpt2_config(layers=3, d=48, heads=4, vocab=384, positions=80):
    return transformers.GPT2Config(vocab_size=vocab, n_embd=d, n_layer=layers, n_head=heads, n_positions=positions,
                                   bos_token_id=0, eos_token_id=0)


def nano_gpt(layers=3, d=48, vocab=384, positions=80, bias=True, mask=False):
    """model.py of nanoGPT; minGPT has the same names and keeps its mask."""
    def block():
        attn = part("CausalSelfAttention", c_attn=linear(d, 3 * d, bias), c_proj=linear(d, d, bias))
        if mask:
            attn.register_buffer("bias", torch.empty(1, 1, positions, positions))
        return part("Block", ln_1=norm(d, bias=bias), attn=attn, ln_2=norm(d, bias=bias),
                    mlp=part("MLP", c_fc=linear(d, 4 * d, bias), c_proj=linear(4 * d, d, bias)))
    return part("GPT", transformer=nn.ModuleDict(dict(
        wte=embedding(vocab, d), wpe=embedding(positions, d), h=nn.ModuleList(block() for _ in range(layers)),
        ln_f=norm(d, bias=bias))), lm_head=linear(d, vocab, False))


def scratch_gpt(layers=3, d=48, vocab=384, positions=80):
    """GPTModel of LLMs-from-scratch (Raschka)."""
    def scaled():
        return part("LayerNorm", scale=torch.empty(d), shift=torch.empty(d))

    def block():
        return part("TransformerBlock",
                    att=part("MultiHeadAttention", W_query=linear(d, d), W_key=linear(d, d), W_value=linear(d, d),
                             out_proj=linear(d, d)),
                    ff=part("FeedForward", layers=nn.Sequential(linear(d, 4 * d), nn.GELU(), linear(4 * d, d))),
                    norm1=scaled(), norm2=scaled())
    return part("GPTModel", tok_emb=embedding(vocab, d), pos_emb=embedding(positions, d),
                trf_blocks=nn.Sequential(*[block() for _ in range(layers)]), final_norm=scaled(),
                out_head=linear(d, vocab, False))


def old_min_gpt(layers=3, d=48, vocab=384, positions=80):
    """minGPT of 2020: separate key, query, value in this order. Its pos_emb is a parameter there."""
    def block():
        return part("Block", ln1=norm(d), ln2=norm(d),
                    attn=part("CausalSelfAttention", key=linear(d, d), query=linear(d, d), value=linear(d, d),
                              proj=linear(d, d)),
                    mlp=nn.Sequential(linear(d, 4 * d), nn.GELU(), linear(4 * d, d)))
    return part("GPT", tok_emb=embedding(vocab, d), pos_emb=torch.empty(1, positions, d),
                blocks=nn.Sequential(*[block() for _ in range(layers)]), ln_f=norm(d), head=linear(d, vocab, False))


conv1d = [r"(c_attn|c_proj|c_fc)\.weight$"]
hf_scratch = Table("""
    transformer.wte = tok_emb
    transformer.wpe = pos_emb
    transformer.h.{i}.attn.c_attn.weight = trf_blocks.{i}.att.W_query.weight + trf_blocks.{i}.att.W_key.weight + \
trf_blocks.{i}.att.W_value.weight | 1
    transformer.h.{i}.attn.c_attn.bias = trf_blocks.{i}.att.W_query.bias + trf_blocks.{i}.att.W_key.bias + \
trf_blocks.{i}.att.W_value.bias
    transformer.h.{i}.attn.c_proj = trf_blocks.{i}.att.out_proj
    transformer.h.{i}.mlp.c_fc = trf_blocks.{i}.ff.layers.0
    transformer.h.{i}.mlp.c_proj = trf_blocks.{i}.ff.layers.2
    transformer.h.{i}.ln_{j}.weight = trf_blocks.{i}.norm{j}.scale
    transformer.h.{i}.ln_{j}.bias = trf_blocks.{i}.norm{j}.shift
    transformer.ln_f.weight = final_norm.scale
    transformer.ln_f.bias = final_norm.shift
    lm_head = out_head""")
nano_scratch = Table("""
    transformer.wte = tok_emb
    transformer.wpe = pos_emb
    transformer.h.{i}.attn.c_attn = trf_blocks.{i}.att.W_query + trf_blocks.{i}.att.W_key + \
trf_blocks.{i}.att.W_value
    transformer.h.{i}.attn.c_proj = trf_blocks.{i}.att.out_proj
    transformer.h.{i}.mlp.c_fc = trf_blocks.{i}.ff.layers.0
    transformer.h.{i}.mlp.c_proj = trf_blocks.{i}.ff.layers.2
    transformer.h.{i}.ln_{j}.weight = trf_blocks.{i}.norm{j}.scale
    transformer.h.{i}.ln_{j}.bias = trf_blocks.{i}.norm{j}.shift
    transformer.ln_f.weight = final_norm.scale
    transformer.ln_f.bias = final_norm.shift
    lm_head = out_head""")
nano_old = Table("""
    transformer.wte = tok_emb
    transformer.h.{i}.attn.c_attn = blocks.{i}.attn.query + blocks.{i}.attn.key + blocks.{i}.attn.value
    transformer.h.{i}.attn.c_proj = blocks.{i}.attn.proj
    transformer.h.{i}.mlp.c_fc = blocks.{i}.mlp.0
    transformer.h.{i}.mlp.c_proj = blocks.{i}.mlp.2
    transformer.h.{i}.ln_{j} = blocks.{i}.ln{j}
    transformer.ln_f = ln_f
    lm_head = head""")

old_scratch = Table("""
    tok_emb = tok_emb
    blocks.{i}.attn.query = trf_blocks.{i}.att.W_query
    blocks.{i}.attn.key = trf_blocks.{i}.att.W_key
    blocks.{i}.attn.value = trf_blocks.{i}.att.W_value
    blocks.{i}.attn.proj = trf_blocks.{i}.att.out_proj
    blocks.{i}.mlp.{k} = trf_blocks.{i}.ff.layers.{k}
    blocks.{i}.ln{j}.weight = trf_blocks.{i}.norm{j}.scale
    blocks.{i}.ln{j}.bias = trf_blocks.{i}.norm{j}.shift
    ln_f.weight = final_norm.scale
    ln_f.bias = final_norm.shift
    head = out_head""")


def gpt2():
    f = Names("gpt2", "transformers")
    f.listing("hf", lambda: transformers.GPT2LMHeadModel(gpt2_config()))
    f.listing("hf_base", lambda: transformers.GPT2Model(gpt2_config()))
    f.listing("hf_labels", lambda: transformers.GPT2ForSequenceClassification(gpt2_config()))
    f.without("hf_tied", "hf", r"^lm_head")
    f.wrapped("hub", "hf_base", more=[[f"h.{i}.attn.bias", "f32", [1, 1, 80, 80], ""] for i in range(3)])
    f.listing("nano", nano_gpt, "nanoGPT model.GPT")
    f.without("nano_tied", "nano", r"^lm_head")
    f.listing("nano_deeper", lambda: nano_gpt(layers=4), "nanoGPT model.GPT")
    f.listing("min", lambda: nano_gpt(mask=True), "mingpt.model.GPT")
    f.listing("old_min", old_min_gpt, "mingpt.model.GPT (2020)")
    f.listing("scratch", scratch_gpt, "LLMs-from-scratch GPTModel")
    f.listing("nano_12", lambda: nano_gpt(layers=12, d=24), "nanoGPT model.GPT")
    f.listing("hf_12", lambda: transformers.GPT2LMHeadModel(gpt2_config(layers=12, d=24)))
    f.case("hf_to_nano", "hf", "nano", "renamed", transposed=conv1d)
    f.case("nano_to_hf", "nano", "hf", "renamed", transposed=conv1d)
    f.case("hf_to_nano_12", "hf_12", "nano_12", "renamed", transposed=conv1d)
    f.case("nano_to_hf_12", "nano_12", "hf_12", "renamed", transposed=conv1d, sorted_file=False)
    f.case("hub_to_hf", "hub", "hf_tied", "wrapped", [(r"^", "transformer.")])
    f.case("hub_to_nano", "hub", "nano_tied", "renamed", [(r"^", "transformer.")], transposed=conv1d)
    f.case("hf_to_min", "hf", "min", "renamed", transposed=conv1d, unfed=[r"\.attn\.bias$"])
    f.case("min_to_nano", "min", "nano", "same", sorted_file=False)
    f.pair("hf_to_scratch", "hf", "scratch", hf_scratch, kind="fused",
           transposed=[r"\.(W_\w+|out_proj|layers\.[02])\.weight$"])
    f.pair("scratch_to_hf", "scratch", "hf", Table("""
        tok_emb = transformer.wte
        pos_emb = transformer.wpe
        trf_blocks.{i}.att.W_query + trf_blocks.{i}.att.W_key + trf_blocks.{i}.att.W_value = \
transformer.h.{i}.attn.c_attn
        trf_blocks.{i}.att.out_proj = transformer.h.{i}.attn.c_proj
        trf_blocks.{i}.ff.layers.0 = transformer.h.{i}.mlp.c_fc
        trf_blocks.{i}.ff.layers.2 = transformer.h.{i}.mlp.c_proj
        trf_blocks.{i}.norm{j}.scale = transformer.h.{i}.ln_{j}.weight
        trf_blocks.{i}.norm{j}.shift = transformer.h.{i}.ln_{j}.bias
        final_norm.scale = transformer.ln_f.weight
        final_norm.shift = transformer.ln_f.bias
        out_head = lm_head"""), kind="fused", transposed=conv1d, sorted_file=False)
    f.pair("nano_to_scratch", "nano", "scratch", nano_scratch, kind="fused")
    f.pair("scratch_to_nano", "scratch", "nano", nano_scratch, back=True, kind="fused")
    f.pair("nano_to_old_min", "nano", "old_min", nano_old, kind="fused", unfed=["^pos_emb$"])
    f.pair("old_min_to_nano", "old_min", "nano", nano_old, back=True, kind="fused", unfed=[r"\.wpe\."],
           sorted_file=False)
    f.pair("old_min_to_scratch", "old_min", "scratch", old_scratch, unfed=["^pos_emb"], sorted_file=False)
    f.case("deeper_burn_layout", "nano", "nano_deeper", "depth", unfed=[r"\.h\.3\."], layout="burn")
    f.pair("old_min_to_scratch_burn_layout", "old_min", "scratch", old_scratch, unfed=["^pos_emb"], layout="burn")
    f.wrapped("nano_checkpoint", "nano", "model._orig_mod.", f.adam("nano"))
    f.case("checkpoint", "nano_checkpoint", "nano", "wrapped", [(r"^model\._orig_mod\.", "")])
    f.pair("checkpoint_to_scratch", "nano_checkpoint", "scratch", nano_scratch, kind="wrapped",
           strip=r"^model\._orig_mod\.")
    f.case("base_from_lm", "hf", "hf_base", "head", [(r"^transformer\.", "")])
    f.case("lm_from_base", "hf_base", "hf_tied", "head", [(r"^", "transformer.")])
    f.case("labels_from_lm", "hf", "hf_labels", "head", unfed=[r"^score\."])
    f.case("deeper", "nano", "nano_deeper", "depth", unfed=[r"\.h\.3\."])
    f.listing("t5", lambda: transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=200, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4)))
    f.unrelated("from_t5", "t5", "nano")
    f.write()


# ---------------------------------------------------------------- BERT


def bert_config(config=transformers.BertConfig, layers=3, d=48, heads=4, vocab=360, positions=72, **more):
    return config(vocab_size=vocab, hidden_size=d, num_hidden_layers=layers, num_attention_heads=heads,
                  intermediate_size=4 * d, max_position_embeddings=positions, **more)


def torch_bert(layers=3, d=48, heads=4, vocab=360, positions=72):
    """A common way to write BERT with torch's own layers."""
    layer = nn.TransformerEncoderLayer(d, heads, 4 * d, activation="gelu", batch_first=True)
    return part("Bert", token=embedding(vocab, d), position=embedding(positions, d), segment=embedding(2, d),
                norm=norm(d), encoder=nn.TransformerEncoder(layer, layers, enable_nested_tensor=False),
                pooler=linear(d, d))


def burn_bert(layers=3, d=48, vocab=360, positions=72):
    """bert-burn: burn's TransformerEncoder."""
    def block():
        return part("TransformerEncoderLayer",
                    mha=part("MultiHeadAttention", query=linear(d, d), key=linear(d, d), value=linear(d, d),
                             output=linear(d, d)),
                    pwff=part("PositionWiseFeedForward", linear_inner=linear(d, 4 * d), linear_outer=linear(4 * d, d)),
                    norm_1=norm(d), norm_2=norm(d))
    return part("BertModel",
                embeddings=part("BertEmbeddings", word_embeddings=embedding(vocab, d),
                                position_embeddings=embedding(positions, d), token_type_embeddings=embedding(2, d),
                                layer_norm=norm(d)),
                encoder=part("TransformerEncoder", layers=[block() for _ in range(layers)]),
                pooler=part("Pooler", output=linear(d, d)))


def fairseq_encoder(layers, d, fused=False):
    def block():
        attn = part("MultiheadAttention", in_proj_weight=torch.empty(3 * d, d), in_proj_bias=torch.empty(3 * d),
                    out_proj=linear(d, d)) if fused else part(
            "MultiheadAttention", k_proj=linear(d, d), v_proj=linear(d, d), q_proj=linear(d, d), out_proj=linear(d, d))
        return part("TransformerSentenceEncoderLayer", self_attn=attn, self_attn_layer_norm=norm(d),
                    fc1=linear(d, 4 * d), fc2=linear(4 * d, d), final_layer_norm=norm(d))
    return [block() for _ in range(layers)]


def fairseq_roberta(layers=3, d=48, vocab=360, positions=72, fused=False):
    """fairseq/models/roberta/model.py; in_proj_weight in the first released files."""
    return part("RobertaModel", encoder=part(
        "RobertaEncoder",
        sentence_encoder=part("TransformerSentenceEncoder", embed_tokens=embedding(vocab, d),
                              embed_positions=embedding(positions, d), layers=fairseq_encoder(layers, d, fused),
                              emb_layer_norm=norm(d)),
        lm_head=part("RobertaLMHead", weight=torch.empty(vocab, d), bias=torch.empty(vocab), dense=linear(d, d),
                     layer_norm=norm(d))))


hf_torch = Table("""
    embeddings.word_embeddings = token
    embeddings.position_embeddings = position
    embeddings.token_type_embeddings = segment
    embeddings.LayerNorm = norm
    encoder.layer.{i}.attention.self.query.@ + encoder.layer.{i}.attention.self.key.@ + \
encoder.layer.{i}.attention.self.value.@ = encoder.layers.{i}.self_attn.in_proj_@
    encoder.layer.{i}.attention.output.dense = encoder.layers.{i}.self_attn.out_proj
    encoder.layer.{i}.attention.output.LayerNorm = encoder.layers.{i}.norm1
    encoder.layer.{i}.intermediate.dense = encoder.layers.{i}.linear1
    encoder.layer.{i}.output.dense = encoder.layers.{i}.linear2
    encoder.layer.{i}.output.LayerNorm = encoder.layers.{i}.norm2
    pooler.dense = pooler""")
hf_burn_bert = Table("""
    embeddings.word_embeddings = embeddings.word_embeddings
    embeddings.position_embeddings = embeddings.position_embeddings
    embeddings.token_type_embeddings = embeddings.token_type_embeddings
    embeddings.LayerNorm = embeddings.layer_norm
    encoder.layer.{i}.attention.self.query = encoder.layers.{i}.mha.query
    encoder.layer.{i}.attention.self.key = encoder.layers.{i}.mha.key
    encoder.layer.{i}.attention.self.value = encoder.layers.{i}.mha.value
    encoder.layer.{i}.attention.output.dense = encoder.layers.{i}.mha.output
    encoder.layer.{i}.attention.output.LayerNorm = encoder.layers.{i}.norm_1
    encoder.layer.{i}.intermediate.dense = encoder.layers.{i}.pwff.linear_inner
    encoder.layer.{i}.output.dense = encoder.layers.{i}.pwff.linear_outer
    encoder.layer.{i}.output.LayerNorm = encoder.layers.{i}.norm_2
    pooler.dense = pooler.output""")
hf_gamma = Table("""
    bert.embeddings.LayerNorm.weight = bert.embeddings.LayerNorm.gamma
    bert.embeddings.LayerNorm.bias = bert.embeddings.LayerNorm.beta
    bert.encoder.layer.{i}.attention.output.LayerNorm.weight = bert.encoder.layer.{i}.attention.output.LayerNorm.gamma
    bert.encoder.layer.{i}.attention.output.LayerNorm.bias = bert.encoder.layer.{i}.attention.output.LayerNorm.beta
    bert.encoder.layer.{i}.output.LayerNorm.weight = bert.encoder.layer.{i}.output.LayerNorm.gamma
    bert.encoder.layer.{i}.output.LayerNorm.bias = bert.encoder.layer.{i}.output.LayerNorm.beta
    cls.predictions.transform.LayerNorm.weight = cls.predictions.transform.LayerNorm.gamma
    cls.predictions.transform.LayerNorm.bias = cls.predictions.transform.LayerNorm.beta""")
gamma_rules = [(r"LayerNorm\.gamma$", "LayerNorm.weight"), (r"LayerNorm\.beta$", "LayerNorm.bias")]
tf_rules = [(r"/kernel$", "/weight"), (r"/gamma$", "/weight"), (r"/beta$", "/bias"), (r"layer_(\d+)", r"layer.\1"),
            (r"_embeddings$", "_embeddings/weight"), (r"/output_(weights|bias)$", r"/\1"),
            (r"seq_relationship/weights", "seq_relationship/weight"), ("/", ".")]


def tf_bert(tensors):
    """The names of google-research/bert, whose kernels are transposed."""
    found = []
    for name, dtype, shape, kind in tensors:
        if name.startswith("cls.predictions.decoder"):
            continue  # tied
        name = name.replace("layer.", "layer_")
        if kind == "Linear" and name.endswith("weight") and "seq_relationship" not in name:
            name, shape = name[:-6] + "kernel", shape[::-1]
        elif kind == "LayerNorm":
            name = name.replace(".weight", ".gamma").replace(".bias", ".beta")
        elif kind == "Embedding":
            name = name.removesuffix(".weight")
        elif name == "cls.predictions.bias":
            name = "cls.predictions.output_bias"
        elif "seq_relationship" in name:
            name = name.replace("relationship.weight", "relationship.output_weights").replace(
                "relationship.bias", "relationship.output_bias")
        found.append([name.replace(".", "/"), dtype, shape, ""])
    return found


def roberta_table(attention):
    return Table(attention.strip() + """
    roberta.embeddings.word_embeddings = encoder.sentence_encoder.embed_tokens
    roberta.embeddings.position_embeddings = encoder.sentence_encoder.embed_positions
    roberta.embeddings.LayerNorm = encoder.sentence_encoder.emb_layer_norm
    roberta.encoder.layer.{i}.attention.output.dense = encoder.sentence_encoder.layers.{i}.self_attn.out_proj
    roberta.encoder.layer.{i}.attention.output.LayerNorm = encoder.sentence_encoder.layers.{i}.self_attn_layer_norm
    roberta.encoder.layer.{i}.intermediate.dense = encoder.sentence_encoder.layers.{i}.fc1
    roberta.encoder.layer.{i}.output.dense = encoder.sentence_encoder.layers.{i}.fc2
    roberta.encoder.layer.{i}.output.LayerNorm = encoder.sentence_encoder.layers.{i}.final_layer_norm
    lm_head.dense = encoder.lm_head.dense
    lm_head.layer_norm = encoder.lm_head.layer_norm
    lm_head.decoder.weight = encoder.lm_head.weight
    lm_head.bias = encoder.lm_head.bias""")


roberta_fairseq = roberta_table("""
    roberta.encoder.layer.{i}.attention.self.query = encoder.sentence_encoder.layers.{i}.self_attn.q_proj
    roberta.encoder.layer.{i}.attention.self.key = encoder.sentence_encoder.layers.{i}.self_attn.k_proj
    roberta.encoder.layer.{i}.attention.self.value = encoder.sentence_encoder.layers.{i}.self_attn.v_proj""")
roberta_fused = roberta_table("""
    roberta.encoder.layer.{i}.attention.self.query.@ + roberta.encoder.layer.{i}.attention.self.key.@ + \
roberta.encoder.layer.{i}.attention.self.value.@ = encoder.sentence_encoder.layers.{i}.self_attn.in_proj_@""")


def bert():
    f = Names("bert", "transformers")
    f.listing("hf", lambda: transformers.BertModel(bert_config()))
    f.listing("hf_pretraining", lambda: transformers.BertForPreTraining(bert_config()))
    f.without("hf_tied", "hf_pretraining", r"predictions\.decoder")
    f.listing("hf_labels", lambda: transformers.BertForSequenceClassification(bert_config(num_labels=5)))
    f.listing("hf_questions", lambda: transformers.BertForQuestionAnswering(bert_config()))
    f.listing("hf_masked", lambda: transformers.BertForMaskedLM(bert_config()))
    f.listing("hf_deeper", lambda: transformers.BertModel(bert_config(layers=4)))
    f.listing("torch", torch_bert, "nn.TransformerEncoder")
    f.listing("burn", burn_bert, "bert_burn.BertModel")
    f.renamed("gamma", "hf_pretraining", hf_gamma, "pytorch_pretrained_bert.BertForPreTraining")
    f.tensors("tf", tf_bert(f.get("hf_pretraining")), "google-research/bert modeling.BertModel")
    f.pair("hf_to_torch", "hf", "torch", hf_torch, kind="fused")
    f.pair("torch_to_hf", "torch", "hf", hf_torch, back=True, kind="fused")
    f.pair("torch_to_hf_burn_layout", "torch", "hf", hf_torch, back=True, kind="fused", layout="burn")
    f.pair("hf_to_burn", "hf", "burn", hf_burn_bert, layout="burn")
    f.pair("labels_to_burn", "hf_labels", "burn", hf_burn_bert, kind="head", strip=r"^bert\.", layout="burn",
           sorted_file=False)
    f.pair("burn_names_to_hf", "burn", "hf", hf_burn_bert, back=True, sorted_file=False)
    f.case("gamma_to_hf", "gamma", "hf_pretraining", "renamed", gamma_rules)
    f.case("gamma_to_base", "gamma", "hf", "renamed", gamma_rules + [(r"^bert\.", "")])
    f.case("hf_to_gamma", "hf_pretraining", "gamma", "renamed", [
        (r"LayerNorm\.weight$", "LayerNorm.gamma"), (r"LayerNorm\.bias$", "LayerNorm.beta")])
    dense = [r"(query|key|value|dense)\.weight$"]
    f.case("tf_to_hf", "tf", "hf_tied", "renamed", tf_rules, transposed=dense)
    f.case("tf_to_base", "tf", "hf", "renamed", tf_rules + [(r"^bert\.", "")], transposed=dense, sorted_file=False)
    f.case("base_from_pretraining", "hf_pretraining", "hf", "head", [(r"^bert\.", "")])
    f.case("labels_from_pretraining", "hf_pretraining", "hf_labels", "head", unfed=[r"^classifier\."])
    f.case("questions_from_labels", "hf_labels", "hf_questions", "head", unfed=[r"^qa_outputs\."], sorted_file=False)
    f.case("masked_from_base", "hf", "hf_masked", "head", [(r"^", "bert.")], unfed=[r"^cls\."])
    f.case("deeper", "hf", "hf_deeper", "depth", unfed=[r"layer\.3\."], layout="burn")
    f.wrapped("sentence", "hf", "0.auto_model.", [["2.linear.weight", "f32", [32, 48], "Linear"],
                                                  ["2.linear.bias", "f32", [32], "Linear"]])
    f.case("sentence_transformers", "sentence", "hf", "wrapped", [(r"^0\.auto_model\.", "")])
    f.wrapped("lightning", "hf_labels", "state_dict.model.", f.momentum("hf", "optimizer_states.0.state."))
    f.case("lightning", "lightning", "hf_labels", "wrapped", [(r"^state_dict\.model\.", "")])
    f.pair("lightning_to_torch", "lightning", "torch", hf_torch, kind="wrapped", strip=r"^state_dict\.model\.bert\.")
    f.listing("convnet", small_convnet)
    f.unrelated("from_convnet", "convnet", "hf", sorted_file=False)
    f.listing("gpt", lambda: nano_gpt(layers=1), "nanoGPT model.GPT")
    f.unrelated("from_gpt", "gpt", "hf")
    f.write()


def roberta():
    f = Names("roberta", "transformers")
    f.listing("hf", lambda: transformers.RobertaForMaskedLM(bert_config(transformers.RobertaConfig, type_vocab_size=1)))
    f.without("hf_one_bias", "hf", r"decoder\.bias$")
    del f.data["listings"]["hf"]
    f.listing("hf_labels", lambda: transformers.RobertaForSequenceClassification(
        bert_config(transformers.RobertaConfig, type_vocab_size=1, num_labels=3)))
    f.listing("fairseq", fairseq_roberta, "fairseq.models.roberta.RobertaModel")
    f.listing("fairseq_fused", lambda: fairseq_roberta(fused=True), "fairseq.models.roberta.RobertaModel")
    types = [r"token_type_embeddings"]
    f.pair("fairseq_to_hf", "fairseq", "hf_one_bias", roberta_fairseq, back=True, unfed=types)
    f.pair("hf_to_fairseq", "hf_one_bias", "fairseq", roberta_fairseq, sorted_file=False)
    f.pair("fairseq_fused_to_hf", "fairseq_fused", "hf_one_bias", roberta_fused, back=True, kind="fused", unfed=types)
    f.pair("hf_to_fairseq_fused", "hf_one_bias", "fairseq_fused", roberta_fused, kind="fused")
    f.pair("fairseq_to_hf_burn_layout", "fairseq", "hf_one_bias", roberta_fairseq, back=True, unfed=types,
           layout="burn")
    f.pair("labels_from_fairseq", "fairseq", "hf_labels", roberta_fairseq, back=True, kind="head",
           unfed=types + [r"^classifier\."])
    f.wrapped("fairseq_model", "fairseq", "model.", [["last_optimizer_state.state.0.exp_avg", "f32", [360, 48], ""],
                                                     ["last_optimizer_state.state.0.exp_avg_sq", "f32", [360, 48], ""]])
    f.pair("fairseq_checkpoint", "fairseq_model", "hf_one_bias", roberta_fairseq, back=True, kind="wrapped",
           strip=r"^model\.", unfed=types)
    f.write()


# ---------------------------------------------------------------- DistilBERT


def distil_config(layers=3, d=48, vocab=360, positions=72, **more):
    return transformers.DistilBertConfig(vocab_size=vocab, dim=d, n_layers=layers, n_heads=4, hidden_dim=4 * d,
                                         max_position_embeddings=positions, **more)


def distil_table(query, key, value, output, norm1, fc1, fc2, norm2, words, positions, norm0, prefix="distilbert."):
    layer = prefix + "transformer.layer.{i}."
    qkv = f"""
    {layer}attention.q_lin = {query}
    {layer}attention.k_lin = {key}
    {layer}attention.v_lin = {value}""" if key else f"""
    {layer}attention.q_lin.@ + {layer}attention.k_lin.@ + {layer}attention.v_lin.@ = {query}"""
    return Table(qkv + f"""
    {layer}attention.out_lin = {output}
    {layer}sa_layer_norm = {norm1}
    {layer}ffn.lin1 = {fc1}
    {layer}ffn.lin2 = {fc2}
    {layer}output_layer_norm = {norm2}
    {prefix}embeddings.word_embeddings = {words}
    {prefix}embeddings.position_embeddings = {positions}
    {prefix}embeddings.LayerNorm = {norm0}""")


def distilbert():
    f = Names("distilbert", "transformers")
    f.listing("hf", lambda: transformers.DistilBertForMaskedLM(distil_config()))
    f.listing("hf_base", lambda: transformers.DistilBertModel(distil_config()))
    f.listing("hf_labels", lambda: transformers.DistilBertForSequenceClassification(distil_config(num_labels=4)))
    f.listing("bert", lambda: transformers.BertModel(bert_config(), add_pooling_layer=False))
    f.listing("burn", burn_bert, "bert_burn.BertModel")
    f.listing("torch", torch_bert, "nn.TransformerEncoder")
    bert_table = distil_table(
        *["encoder.layer.{i}." + n for n in (
            "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
            "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm")],
        "embeddings.word_embeddings", "embeddings.position_embeddings", "embeddings.LayerNorm")
    burn_table = distil_table(
        *["encoder.layers.{i}." + n for n in ("mha.query", "mha.key", "mha.value", "mha.output", "norm_1",
                                              "pwff.linear_inner", "pwff.linear_outer", "norm_2")],
        "embeddings.word_embeddings", "embeddings.position_embeddings", "embeddings.layer_norm")
    layer = "encoder.layers.{i}."
    torch_table = distil_table(layer + "self_attn.in_proj_@", "", "", layer + "self_attn.out_proj", layer + "norm1",
                               layer + "linear1", layer + "linear2", layer + "norm2", "token", "position", "norm")
    rest = [r"^pooler", r"token_type|^segment"]
    f.pair("to_bert", "hf", "bert", bert_table, unfed=rest)
    f.pair("from_bert", "bert", "hf", bert_table, back=True, unfed=[r"^vocab_"], sorted_file=False)
    f.pair("to_burn", "hf", "burn", burn_table, unfed=rest, layout="burn")
    f.pair("labels_to_burn", "hf_labels", "burn", burn_table, unfed=rest, layout="burn", kind="head",
           sorted_file=False)
    f.pair("to_torch", "hf", "torch", torch_table, kind="fused", unfed=rest)
    f.pair("from_torch", "torch", "hf_labels", torch_table, back=True, kind="fused",
           unfed=[r"^(pre_)?classifier\."])
    f.case("labels_from_masked", "hf", "hf_labels", "head", unfed=[r"^(pre_)?classifier\."])
    f.case("base_from_labels", "hf_labels", "hf_base", "head", [(r"^distilbert\.", "")])
    f.wrapped("net", "hf_labels", "net.", [["loss_fn.weight", "f32", [4], ""]])
    f.case("net", "net", "hf_labels", "wrapped", [(r"^net\.", "")])
    f.write()


# ---------------------------------------------------------------- T5


def t5_config(config=transformers.T5Config, layers=2, d=48, heads=4, ffn=128, vocab=260, **more):
    return config(vocab_size=vocab, d_model=d, d_kv=d // heads, d_ff=ffn, num_layers=layers, num_heads=heads,
                  pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, **more)


def wan_t5(layers=2, d=48, heads=4, ffn=128, vocab=260):
    """T5Encoder of Wan 2.1 (wan/modules/t5.py)."""
    def block():
        return part("T5SelfAttention", norm1=rms(d, "T5LayerNorm"),
                    attn=part("T5Attention", q=linear(d, d, False), k=linear(d, d, False), v=linear(d, d, False),
                              o=linear(d, d, False)),
                    norm2=rms(d, "T5LayerNorm"),
                    ffn=part("T5FeedForward", gate=nn.Sequential(linear(d, ffn, False), nn.GELU()),
                             fc1=linear(d, ffn, False), fc2=linear(ffn, d, False)),
                    pos_embedding=part("T5RelativeEmbedding", embedding=embedding(32, heads)))
    return part("T5Encoder", token_embedding=embedding(vocab, d), blocks=[block() for _ in range(layers)],
                norm=rms(d, "T5LayerNorm"))


t5_wan = Table("""
    shared = token_embedding
    encoder.block.{i}.layer.0.SelfAttention.relative_attention_bias = blocks.{i}.pos_embedding.embedding
    encoder.block.{i}.layer.0.SelfAttention.@.weight = blocks.{i}.attn.@.weight
    encoder.block.{i}.layer.0.layer_norm = blocks.{i}.norm1
    encoder.block.{i}.layer.1.DenseReluDense.wi_0 = blocks.{i}.ffn.gate.0
    encoder.block.{i}.layer.1.DenseReluDense.wi_1 = blocks.{i}.ffn.fc1
    encoder.block.{i}.layer.1.DenseReluDense.wo = blocks.{i}.ffn.fc2
    encoder.block.{i}.layer.1.layer_norm = blocks.{i}.norm2
    encoder.final_layer_norm = norm""")
t5_gguf = Table("\n".join(f"""
    {a}.block.{{i}}.layer.0.SelfAttention.q = {b}.blk.{{i}}.attn_q
    {a}.block.{{i}}.layer.0.SelfAttention.k = {b}.blk.{{i}}.attn_k
    {a}.block.{{i}}.layer.0.SelfAttention.v = {b}.blk.{{i}}.attn_v
    {a}.block.{{i}}.layer.0.SelfAttention.o = {b}.blk.{{i}}.attn_o
    {a}.block.{{i}}.layer.0.SelfAttention.relative_attention_bias = {b}.blk.{{i}}.attn_rel_b
    {a}.block.{{i}}.layer.0.layer_norm = {b}.blk.{{i}}.attn_norm
    {a}.block.{{i}}.layer.{ff}.DenseReluDense.wi = {b}.blk.{{i}}.ffn_up
    {a}.block.{{i}}.layer.{ff}.DenseReluDense.wo = {b}.blk.{{i}}.ffn_down
    {a}.block.{{i}}.layer.{ff}.layer_norm = {b}.blk.{{i}}.ffn_norm
    {a}.final_layer_norm = {b}.output_norm""" for a, b, ff in (("encoder", "enc", 1), ("decoder", "dec", 2))) + """
    decoder.block.{i}.layer.1.EncDecAttention.q = dec.blk.{i}.cross_attn_q
    decoder.block.{i}.layer.1.EncDecAttention.k = dec.blk.{i}.cross_attn_k
    decoder.block.{i}.layer.1.EncDecAttention.v = dec.blk.{i}.cross_attn_v
    decoder.block.{i}.layer.1.EncDecAttention.o = dec.blk.{i}.cross_attn_o
    decoder.block.{i}.layer.1.layer_norm = dec.blk.{i}.cross_attn_norm
    shared = token_embd
    lm_head = output""")
mesh_rules = [(r"/block_0*(\d+)/", r"/block/\1/"), (r"/layer_0*(\d+)/", r"/layer/\1/"),
              (r"/(kernel|scale|embedding)$", ""), (r"$", "/weight"), ("/", ".")]


def mesh_t5(tensors):
    """The names of the Mesh TensorFlow release, whose matrices are transposed."""
    found = []
    for name, dtype, shape, kind in tensors:
        name = name.removesuffix(".weight")
        name = re.sub(r"block\.(\d+)", lambda m: f"block_{int(m[1]):03}", name)
        name = re.sub(r"layer\.(\d+)", lambda m: f"layer_{int(m[1]):03}", name).replace(".", "/")
        if "Norm" in kind:
            name += "/scale"
        elif "DenseReluDense" in name:
            name += "/kernel"
        elif name == "shared":
            name += "/embedding"
        found.append([name, dtype, shape if name == "shared/embedding" else shape[::-1], ""])
    return found


def t5():
    f = Names("t5", "transformers")
    f.listing("hf", lambda: transformers.T5ForConditionalGeneration(t5_config()))
    f.without("hf_shared", "hf", r"embed_tokens")
    f.listing("hf_encoder", lambda: transformers.T5EncoderModel(t5_config()))
    f.listing("umt5", lambda: transformers.UMT5EncoderModel(t5_config(transformers.UMT5Config, 3)))
    f.without("umt5_shared", "umt5", r"embed_tokens")
    f.listing("wan", lambda: wan_t5(3), "wan.modules.t5.T5Encoder")
    f.listing("hf_deeper", lambda: transformers.T5EncoderModel(t5_config(layers=3)))
    f.renamed("gguf", "hf_shared", t5_gguf, "llama.cpp GGUF")
    f.without("hf_tied", "hf_shared", r"^lm_head")
    f.tensors("mesh", mesh_t5(f.get("hf_tied")), "Mesh TensorFlow T5")
    f.pair("umt5_to_wan", "umt5", "wan", t5_wan)
    f.pair("wan_to_umt5", "wan", "umt5_shared", t5_wan, back=True, sorted_file=False)
    f.pair("umt5_to_wan_burn_layout", "umt5", "wan", t5_wan, layout="burn")
    f.pair("gguf_to_hf", "gguf", "hf_shared", t5_gguf, back=True)
    f.pair("hf_to_gguf_names", "hf_shared", "gguf", t5_gguf, sorted_file=False)
    f.case("mesh_to_hf", "mesh", "hf_tied", "renamed", mesh_rules,
           transposed=[r"\.(q|k|v|o|wi|wo|relative_attention_bias)\.weight$"])
    f.case("encoder_from_hf", "hf", "hf_encoder", "head")
    f.wrapped("in_diffusion", "hf_encoder", "text_encoders.t5xxl.transformer.",
              [["text_encoders.clip_l.logit_scale", "f32", [], ""]])
    f.case("from_diffusion", "in_diffusion", "hf_encoder", "wrapped", [(r"^text_encoders\.t5xxl\.transformer\.", "")])
    f.wrapped("state", "umt5", "state_dict.text_encoder.")
    f.pair("state_to_wan", "state", "wan", t5_wan, kind="wrapped", strip=r"^state_dict\.text_encoder\.")
    f.case("deeper", "hf_encoder", "hf_deeper", "depth", unfed=[r"block\.2\."])
    f.listing("bert", lambda: transformers.BertModel(bert_config(layers=1)))
    f.unrelated("from_bert", "bert", "wan")
    f.write()


# ---------------------------------------------------------------- GPT-NeoX


def neox_sequential(layers=3, d=48, vocab=300):
    """gpt-neox of EleutherAI as a pipeline: layers 2 to n + 1 of a sequence are the blocks."""
    sequence = nn.ModuleDict()
    sequence["0"] = part("EmbeddingPipe", word_embeddings=embedding(vocab, d))
    for i in range(layers):
        sequence[str(i + 2)] = part(
            "ParallelTransformerLayerPipe", input_layernorm=norm(d),
            attention=part("ParallelSelfAttention", query_key_value=linear(d, 3 * d), dense=linear(d, d)),
            post_attention_layernorm=norm(d),
            mlp=part("ParallelMLP", dense_h_to_4h=linear(d, 4 * d), dense_4h_to_h=linear(4 * d, d)))
    sequence[str(layers + 3)] = part("NormPipe", norm=norm(d))
    sequence[str(layers + 4)] = part("ParallelLinearPipe", final_linear=linear(d, vocab, False))
    return part("GPT2ModelPipe", sequential=sequence)


def litgpt_neox(layers=3, d=48, vocab=300):
    """litgpt/model.py, with GptNeoxMLP."""
    def block():
        return part("Block", norm_1=norm(d),
                    attn=part("CausalSelfAttention", attn=linear(d, 3 * d), proj=linear(d, d)),
                    norm_2=norm(d), mlp=part("GptNeoxMLP", fc=linear(d, 4 * d), proj=linear(4 * d, d)))
    return part("GPT", lm_head=linear(d, vocab, False),
                transformer=nn.ModuleDict(dict(wte=embedding(vocab, d),
                                               h=nn.ModuleList(block() for _ in range(layers)), ln_f=norm(d))))


def neox_table(layers):
    return Table(f"""
    gpt_neox.embed_in = sequential.0.word_embeddings
    gpt_neox.layers.{{i}}.@_layernorm.weight = sequential.{{i+2}}.@_layernorm.weight
    gpt_neox.layers.{{i}}.@_layernorm.bias = sequential.{{i+2}}.@_layernorm.bias
    gpt_neox.layers.{{i}}.attention.query_key_value = sequential.{{i+2}}.attention.query_key_value
    gpt_neox.layers.{{i}}.attention.dense = sequential.{{i+2}}.attention.dense
    gpt_neox.layers.{{i}}.mlp.dense_h_to_4h = sequential.{{i+2}}.mlp.dense_h_to_4h
    gpt_neox.layers.{{i}}.mlp.dense_4h_to_h = sequential.{{i+2}}.mlp.dense_4h_to_h
    gpt_neox.final_layer_norm = sequential.{layers + 3}.norm
    lm_head = sequential.{layers + 4}.final_linear""")


neox_litgpt = Table("""
    gpt_neox.embed_in = transformer.wte
    gpt_neox.layers.{i}.input_layernorm = transformer.h.{i}.norm_1
    gpt_neox.layers.{i}.post_attention_layernorm = transformer.h.{i}.norm_2
    gpt_neox.layers.{i}.attention.query_key_value = transformer.h.{i}.attn.attn
    gpt_neox.layers.{i}.attention.dense = transformer.h.{i}.attn.proj
    gpt_neox.layers.{i}.mlp.dense_h_to_4h = transformer.h.{i}.mlp.fc
    gpt_neox.layers.{i}.mlp.dense_4h_to_h = transformer.h.{i}.mlp.proj
    gpt_neox.final_layer_norm = transformer.ln_f
    lm_head = lm_head""")
neox_gguf = Table("""
    gpt_neox.embed_in = token_embd
    gpt_neox.layers.{i}.input_layernorm = blk.{i}.attn_norm
    gpt_neox.layers.{i}.post_attention_layernorm = blk.{i}.ffn_norm
    gpt_neox.layers.{i}.attention.query_key_value = blk.{i}.attn_qkv
    gpt_neox.layers.{i}.attention.dense = blk.{i}.attn_output
    gpt_neox.layers.{i}.mlp.dense_h_to_4h = blk.{i}.ffn_up
    gpt_neox.layers.{i}.mlp.dense_4h_to_h = blk.{i}.ffn_down
    gpt_neox.final_layer_norm = output_norm
    lm_head = output""")


def gpt_neox():
    def config(layers=3):
        return transformers.GPTNeoXConfig(vocab_size=300, hidden_size=48, num_hidden_layers=layers,
                                          num_attention_heads=4, intermediate_size=192, bos_token_id=0, eos_token_id=0)
    f = Names("gpt_neox", "transformers")
    f.listing("hf", lambda: transformers.GPTNeoXForCausalLM(config()))
    f.listing("hf_labels", lambda: transformers.GPTNeoXForTokenClassification(config()))
    f.listing("hf_12", lambda: transformers.GPTNeoXForCausalLM(config(12)))
    f.wrapped("hub", "hf", more=[t for i in range(3) for t in (
        [f"gpt_neox.layers.{i}.attention.bias", "bool", [1, 1, 64, 64], ""],
        [f"gpt_neox.layers.{i}.attention.masked_bias", "f32", [], ""],
        [f"gpt_neox.layers.{i}.attention.rotary_emb.inv_freq", "f32", [6], ""])])
    f.listing("sequential", neox_sequential, "megatron.model.GPT2ModelPipe")
    f.listing("sequential_12", lambda: neox_sequential(12), "megatron.model.GPT2ModelPipe")
    f.listing("litgpt", litgpt_neox, "litgpt.model.GPT")
    f.renamed("gguf", "hf", neox_gguf, "llama.cpp GGUF")
    f.pair("hf_to_sequential", "hf", "sequential", neox_table(3), kind="numbered")
    f.pair("sequential_to_hf", "sequential", "hf", neox_table(3), back=True, kind="numbered")
    f.pair("hf_to_sequential_12", "hf_12", "sequential_12", neox_table(12), kind="numbered", sorted_file=False)
    f.pair("sequential_12_to_hf", "sequential_12", "hf_12", neox_table(12), back=True, kind="numbered")
    f.pair("hub_to_litgpt", "hub", "litgpt", neox_litgpt)
    f.pair("litgpt_to_hf", "litgpt", "hf", neox_litgpt, back=True)
    f.pair("hf_to_litgpt_burn_layout", "hf", "litgpt", neox_litgpt, layout="burn")
    f.pair("gguf_to_hf", "gguf", "hf", neox_gguf, back=True, sorted_file=False)
    f.case("hub_to_hf", "hub", "hf", "same")
    f.case("labels_from_lm", "hub", "hf_labels", "head", unfed=[r"^classifier\."])
    f.wrapped("module", "sequential", "module.")
    f.pair("module_to_hf", "module", "hf", neox_table(3), back=True, kind="wrapped", strip=r"^module\.")
    f.write()


# ---------------------------------------------------------------- OPT, BART


def fairseq_layer(d, cross=False, fused=False):
    def attention():
        if fused:
            return part("ModelParallelMultiheadAttention", qkv_proj=linear(d, 3 * d), out_proj=linear(d, d))
        return part("MultiheadAttention", k_proj=linear(d, d), v_proj=linear(d, d), q_proj=linear(d, d),
                    out_proj=linear(d, d))
    layer = part("TransformerLayer", self_attn=attention(), self_attn_layer_norm=norm(d))
    if cross:
        layer.encoder_attn, layer.encoder_attn_layer_norm = attention(), norm(d)
    layer.fc1, layer.fc2, layer.final_layer_norm = linear(d, 4 * d), linear(4 * d, d), norm(d)
    return layer


def metaseq_opt(layers=3, d=48, vocab=320, positions=66, fused=False):
    """The decoder of metaseq and fairseq."""
    return part("TransformerLanguageModel", decoder=part(
        "TransformerDecoder", embed_tokens=embedding(vocab, d), embed_positions=embedding(positions, d),
        layers=[fairseq_layer(d, fused=fused) for _ in range(layers)], layer_norm=norm(d)))


def opt_table(qkv):
    layer, own = "model.decoder.layers.{i}.", "decoder.layers.{i}."
    if qkv:  # metaseq keeps them in this order
        lines = f"{layer}self_attn.k_proj + {layer}self_attn.v_proj + {layer}self_attn.q_proj = {own}self_attn.qkv_proj"
    else:
        lines = "\n".join(f"{layer}self_attn.{x}_proj = {own}self_attn.{x}_proj" for x in "qkv")
    return Table(lines + "\n" + "\n".join(f"{layer}{n} = {own}{n}" for n in (
        "self_attn.out_proj", "self_attn_layer_norm", "fc1", "fc2", "final_layer_norm")) + """
    model.decoder.embed_tokens = decoder.embed_tokens
    model.decoder.embed_positions = decoder.embed_positions
    model.decoder.final_layer_norm = decoder.layer_norm""")


def opt():
    def config(layers=3):
        return transformers.OPTConfig(vocab_size=320, hidden_size=48, num_hidden_layers=layers, num_attention_heads=4,
                                      ffn_dim=192, word_embed_proj_dim=48, max_position_embeddings=64, pad_token_id=1,
                                      bos_token_id=2, eos_token_id=2)
    f = Names("opt", "transformers")
    f.listing("hf", lambda: transformers.OPTForCausalLM(config()))
    f.without("hf_tied", "hf", "^lm_head")
    f.listing("hf_labels", lambda: transformers.OPTForSequenceClassification(config()))
    f.listing("hf_deeper", lambda: transformers.OPTModel(config(4)))
    f.listing("metaseq", metaseq_opt, "metaseq.models.TransformerLanguageModel")
    f.listing("metaseq_fused", lambda: metaseq_opt(fused=True), "metaseq.models.TransformerLanguageModel")
    f.listing("burn", lambda: part("Opt", tokens=embedding(320, 48), positions=embedding(66, 48), blocks=[
        part("Block", norm_1=norm(48), attention=part("MultiHeadAttention", query=linear(48, 48), key=linear(48, 48),
                                                      value=linear(48, 48), output=linear(48, 48)),
             norm_2=norm(48), feed_forward=part("FeedForward", inner=linear(48, 192), outer=linear(192, 48)))
        for _ in range(3)], norm=norm(48)), "Opt")
    opt_burn = Table("""
        model.decoder.embed_tokens = tokens
        model.decoder.embed_positions = positions
        model.decoder.layers.{i}.self_attn_layer_norm = blocks.{i}.norm_1
        model.decoder.layers.{i}.self_attn.q_proj = blocks.{i}.attention.query
        model.decoder.layers.{i}.self_attn.k_proj = blocks.{i}.attention.key
        model.decoder.layers.{i}.self_attn.v_proj = blocks.{i}.attention.value
        model.decoder.layers.{i}.self_attn.out_proj = blocks.{i}.attention.output
        model.decoder.layers.{i}.final_layer_norm = blocks.{i}.norm_2
        model.decoder.layers.{i}.fc1 = blocks.{i}.feed_forward.inner
        model.decoder.layers.{i}.fc2 = blocks.{i}.feed_forward.outer
        model.decoder.final_layer_norm = norm""")
    f.pair("hf_to_metaseq", "hf_tied", "metaseq", opt_table(False))
    f.pair("metaseq_to_hf", "metaseq", "hf_tied", opt_table(False), back=True, sorted_file=False)
    f.pair("metaseq_fused_to_hf", "metaseq_fused", "hf_tied", opt_table(True), back=True, kind="fused")
    f.pair("hf_to_burn", "hf_tied", "burn", opt_burn, layout="burn")
    f.pair("burn_names_to_hf", "burn", "hf_tied", opt_burn, back=True)
    f.wrapped("module", "metaseq", "model.", [["model.decoder.version", "f32", [1], ""]])
    f.pair("module_to_hf", "module", "hf_tied", opt_table(False), back=True, kind="wrapped", strip=r"^model\.")
    f.case("labels_from_lm", "hf", "hf_labels", "head", unfed=[r"^score\."])
    f.case("deeper", "hf", "hf_deeper", "depth", [(r"^model\.", "")], unfed=[r"layers\.3\."], sorted_file=False)
    f.write()


def fairseq_bart(layers=2, d=48, vocab=340, positions=66):
    def side(kind, cross):
        return part(kind, embed_tokens=embedding(vocab, d), embed_positions=embedding(positions, d),
                    layers=[fairseq_layer(d, cross) for _ in range(layers)], layernorm_embedding=norm(d))
    return part("BARTModel", encoder=side("TransformerEncoder", False), decoder=side("TransformerDecoder", True))


def torch_bart(layers=2, d=48, vocab=340, positions=66):
    """BART with torch's own layers."""
    encoder = nn.TransformerEncoderLayer(d, 4, 4 * d, batch_first=True)
    decoder = nn.TransformerDecoderLayer(d, 4, 4 * d, batch_first=True)
    return part("Bart", embedding=embedding(vocab, d),
                encoder_positions=embedding(positions, d), encoder_norm=norm(d),
                encoder=nn.TransformerEncoder(encoder, layers, enable_nested_tensor=False),
                decoder_positions=embedding(positions, d), decoder_norm=norm(d),
                decoder=nn.TransformerDecoder(decoder, layers))


def bart_torch_table():
    lines = ["model.shared = embedding"]
    for side in ("encoder", "decoder"):
        a, b = f"model.{side}.layers.{{i}}.", f"{side}.layers.{{i}}."
        lines += [f"model.{side}.embed_positions = {side}_positions",
                  f"model.{side}.layernorm_embedding = {side}_norm",
                  f"{a}fc1 = {b}linear1", f"{a}fc2 = {b}linear2",
                  f"{a}self_attn_layer_norm = {b}norm1",
                  f"{a}final_layer_norm = {b}norm{2 if side == 'encoder' else 3}"]
        for x, y in (("self_attn", "self_attn"), ("encoder_attn", "multihead_attn")):
            lines += [f"{a}{x}.q_proj.@ + {a}{x}.k_proj.@ + {a}{x}.v_proj.@ = {b}{y}.in_proj_@",
                      f"{a}{x}.out_proj = {b}{y}.out_proj"]
    return Table("\n".join(lines + ["model.decoder.layers.{i}.encoder_attn_layer_norm = decoder.layers.{i}.norm2"]))


def bart():
    def config():
        return transformers.BartConfig(
            vocab_size=340, d_model=48, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=192, decoder_ffn_dim=192, max_position_embeddings=64)
    f = Names("bart", "transformers")
    f.listing("hf", lambda: transformers.BartForConditionalGeneration(config()))
    f.listing("hf_base", lambda: transformers.BartModel(config()))
    f.listing("hf_labels", lambda: transformers.BartForSequenceClassification(config()))
    f.without("hf_tied", "hf", r"embed_tokens|^lm_head|final_logits")
    f.without("hf_sides", "hf", r"shared|^lm_head|final_logits")
    f.listing("fairseq", fairseq_bart, "fairseq.models.bart.BARTModel")
    f.wrapped("fairseq_file", "fairseq", "model.", [["model.encoder.version", "f32", [1], ""],
                                                    ["model.decoder.version", "f32", [1], ""],
                                                    ["model.decoder.embed_positions._float_tensor", "f32", [1], ""]])
    f.listing("torch", torch_bart, "nn.TransformerEncoder and nn.TransformerDecoder")
    f.case("fairseq_to_hf", "fairseq", "hf_sides", "wrapped", [(r"^", "model.")])
    f.case("hf_to_fairseq", "hf_sides", "fairseq", "wrapped", [(r"^model\.", "")], sorted_file=False)
    f.case("fairseq_file_to_hf", "fairseq_file", "hf_sides", "same")
    f.pair("hf_to_torch", "hf_tied", "torch", bart_torch_table(), kind="fused")
    f.pair("torch_to_hf", "torch", "hf_tied", bart_torch_table(), back=True, kind="fused", sorted_file=False)
    f.pair("torch_to_hf_burn_layout", "torch", "hf_tied", bart_torch_table(), back=True, kind="fused", layout="burn")
    f.case("base_from_lm", "hf", "hf_base", "head", [(r"^model\.", "")])
    f.case("labels_from_lm", "hf", "hf_labels", "head", unfed=[r"^classification_head\."], sorted_file=False)
    f.wrapped("summarizer", "hf", "model.", [["hparams.lr", "f32", [], ""]])
    f.case("summarizer", "summarizer", "hf", "wrapped", [(r"^model\.", "")])
    f.write()


# ---------------------------------------------------------------- LSTM


def tagger(kind, embed, rnn, out, layers=1, vocab=200, d=24, hidden=32, both=False, tags=9, more=None):
    return part(kind, **{embed: embedding(vocab, d),
                         rnn: nn.LSTM(d, hidden, layers, bidirectional=both, batch_first=True),
                         out: linear(hidden * (1 + both), tags)}, **(more or {}))


def lstm():
    f = Names("lstm")
    f.listing("tutorial", lambda: tagger("LSTMTagger", "word_embeddings", "lstm", "hidden2tag"))
    f.listing("plain", lambda: tagger("Tagger", "embedding", "rnn", "fc"))
    f.listing("plain_tags", lambda: tagger("Tagger", "embedding", "rnn", "fc", tags=17))
    f.listing("crf", lambda: tagger("BiLSTM_CRF", "word_embeds", "lstm", "hidden2tag", both=True,
                                    more=dict(transitions=torch.empty(9, 9))))
    f.listing("both", lambda: tagger("BiLSTM", "embed", "encoder", "classifier", both=True))
    f.listing("two", lambda: tagger("LanguageModel", "encoder", "rnn", "decoder", 2, hidden=24, tags=200))
    f.listing("two_split", lambda: part("Net", emb=embedding(200, 24), lstm1=nn.LSTM(24, 24), lstm2=nn.LSTM(24, 24),
                                        out=linear(24, 200)))
    f.listing("awd", lambda: part("RNNModel", encoder=embedding(200, 24),
                                  rnns=[nn.LSTM(24, 24), nn.LSTM(24, 24)], decoder=linear(24, 200)))

    def gate():
        return part("GateController", input_transform=linear(24, 32), hidden_transform=linear(32, 32))
    f.listing("burn", lambda: part("Tagger", embedding=embedding(200, 24), lstm=part(
        "Lstm", input_gate=gate(), forget_gate=gate(), output_gate=gate(), cell_gate=gate()), fc=linear(32, 9)))
    plain = Table("""
        word_embeddings = embedding
        lstm = rnn
        hidden2tag = fc""")
    both = Table("""
        word_embeds = embed
        lstm = encoder
        hidden2tag = classifier""")
    awd = Table("""
        encoder = encoder
        rnn.weight_ih_l{i} = rnns.{i}.weight_ih_l0
        rnn.weight_hh_l{i} = rnns.{i}.weight_hh_l0
        rnn.bias_ih_l{i} = rnns.{i}.bias_ih_l0
        rnn.bias_hh_l{i} = rnns.{i}.bias_hh_l0
        decoder = decoder""")
    split = Table("\n".join(f"""
        rnn.{n}_l{{i}} = lstm{{i+1}}.{n}_l0""" for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")) + """
        encoder = emb
        decoder = out""")
    gates = Table("""
        embedding = embedding
        fc = fc
        rnn.@_ih_l0 = lstm.input_gate.input_transform.@ + lstm.forget_gate.input_transform.@ + \
lstm.cell_gate.input_transform.@ + lstm.output_gate.input_transform.@
        rnn.@_hh_l0 = lstm.input_gate.hidden_transform.@ + lstm.forget_gate.hidden_transform.@ + \
lstm.cell_gate.hidden_transform.@ + lstm.output_gate.hidden_transform.@""")
    f.pair("tutorial_to_plain", "tutorial", "plain", plain)
    f.pair("plain_to_tutorial", "plain", "tutorial", plain, back=True, sorted_file=False)
    f.pair("crf_to_both", "crf", "both", both)
    f.pair("both_to_crf", "both", "crf", both, back=True, unfed=["^transitions$"])
    f.pair("two_to_awd", "two", "awd", awd, kind="numbered")
    f.pair("awd_to_two", "awd", "two", awd, back=True, kind="numbered", sorted_file=False)
    f.pair("two_to_split", "two", "two_split", split, kind="numbered")
    f.pair("split_to_two", "two_split", "two", split, back=True, kind="numbered")
    f.pair("plain_to_burn", "plain", "burn", gates, kind="fused", layout="burn")
    f.case("tags", "plain", "plain_tags", "head", unfed=[r"^fc\."])
    f.wrapped("module", "tutorial", "model.", f.adam("tutorial"))
    f.pair("checkpoint", "module", "plain", plain, kind="wrapped", strip=r"^model\.")
    f.case("checkpoint_same", "module", "tutorial", "wrapped", [(r"^model\.", "")], sorted_file=False)
    f.listing("mlp", lambda: nn.Sequential(linear(28, 64), nn.ReLU(), linear(64, 10)))
    f.unrelated("from_mlp", "mlp", "two")
    f.write()


makers = [llama, mistral, qwen2, mixtral, gpt2, bert, roberta, distilbert, t5, gpt_neox, opt, bart, lstm]
