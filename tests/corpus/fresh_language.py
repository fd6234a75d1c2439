# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: LLaMA and GPT-2 between implementations that the other sets do not have.

Checked: x-transformers, lit-llama and PyTorch's own layers by forward passes; Megatron by a forward pass with the
layout of checkpoint version 0 (q, k, v one after the other); vLLM, gpt-fast and Baichuan against their sources. The
typed structs define themselves."""
import re

import torch
import transformers as hf
from torch import nn

from fresh_lib import Fresh, Table, adam, alike, attention, linear, net, param, plain, rms

d, ffn, vocab, ids = 64, 176, 320, torch.arange(12).reshape(2, 6) * 7


def llama_config(kv=8, layers=3, **more):
    return hf.LlamaConfig(hidden_size=d, intermediate_size=ffn, vocab_size=vocab, num_hidden_layers=layers,
                          num_attention_heads=8, num_key_value_heads=kv, **more)


def with_hf(kv=8, layers=3):
    return lambda: hf.LlamaForCausalLM(llama_config(kv, layers))


def vllm(kv=2):
    """vllm/model_executor/models/llama.py"""
    def dense(kind, a, b):
        return net(kind, weight=param(b, a))

    def layer():
        return net("LlamaDecoderLayer", self_attn=net(
            "LlamaAttention", qkv_proj=dense("QKVParallelLinear", d, d + 2 * 8 * kv),
            o_proj=dense("RowParallelLinear", d, d)), mlp=net(
                "LlamaMLP", gate_up_proj=dense("MergedColumnParallelLinear", d, 2 * ffn),
                down_proj=dense("RowParallelLinear", ffn, d)), input_layernorm=rms(d), post_attention_layernorm=rms(d))
    return net("LlamaForCausalLM", model=net("LlamaModel", embed_tokens=dense("VocabParallelEmbedding", d, vocab),
                                             layers=[layer() for _ in range(3)], norm=rms(d)),
               lm_head=dense("ParallelLMHead", d, vocab))


def gpt_fast(kv=2):
    """gpt-fast/model.py"""
    def layer():
        return net("TransformerBlock", attention=net("Attention", wqkv=linear(d, d + 2 * 8 * kv, bias=False),
                                                     wo=linear(d, d, bias=False)),
                   feed_forward=net("FeedForward", w1=linear(d, ffn, bias=False), w3=linear(d, ffn, bias=False),
                                    w2=linear(ffn, d, bias=False)), ffn_norm=rms(d), attention_norm=rms(d))
    return net("Transformer", tok_embeddings=nn.Embedding(vocab, d), layers=[layer() for _ in range(3)], norm=rms(d),
               output=linear(d, vocab, bias=False))


def lit_llama():
    """lit-llama/lit_llama/model.py"""
    def layer():
        return net("Block", rms_1=plain(d, "RMSNorm"), attn=net(
            "CausalSelfAttention", c_attn=linear(d, 3 * d, bias=False), c_proj=linear(d, d, bias=False)),
            rms_2=plain(d, "RMSNorm"), mlp=net("MLP", c_fc1=linear(d, ffn, bias=False),
                                               c_fc2=linear(d, ffn, bias=False), c_proj=linear(ffn, d, bias=False)))
    return net("LLaMA", lm_head=linear(d, vocab, bias=False), transformer=net(
        "ModuleDict", wte=nn.Embedding(vocab, d), h=[layer() for _ in range(3)], ln_f=plain(d, "RMSNorm")))


def struct_llama(layers=3, kv=8):
    """A typed model of one's own: words in full."""
    def layer():
        return net("DecoderLayer", attn_norm=nn.RMSNorm(d), attn=net(
            "SelfAttention", query=linear(d, d, bias=False), key=linear(d, 8 * kv, bias=False),
            value=linear(d, 8 * kv, bias=False), output=linear(d, d, bias=False)), mlp_norm=nn.RMSNorm(d), mlp=net(
                "GatedMlp", gate=linear(d, ffn, bias=False), up=linear(d, ffn, bias=False),
                down=linear(ffn, d, bias=False)))
    return net("Llama", embed=nn.Embedding(vocab, d), blocks=[layer() for _ in range(layers)],
               final_norm=nn.RMSNorm(d), unembed=linear(d, vocab, bias=False))


def fused_llama(kv=2):
    """A typed model of one's own: fused matrices, names in camel case."""
    def layer():
        return net("Layer", preAttention=nn.RMSNorm(d), attention=net(
            "Attention", qkv=linear(d, d + 2 * 8 * kv, bias=False), proj=linear(d, d, bias=False)),
            preFeedForward=nn.RMSNorm(d), feedForward=net("FeedForward", gateUp=linear(d, 2 * ffn, bias=False),
                                                          down=linear(ffn, d, bias=False)))
    return net("Model", tokenEmbedding=nn.Embedding(vocab, d), layers=[layer() for _ in range(3)],
               outputNorm=nn.RMSNorm(d), classifier=linear(d, vocab, bias=False))


def short_llama(layers=3):
    """A typed model of one's own: private members, short names."""
    parts = {"wq_": (d, d), "wk_": (d, d), "wv_": (d, d), "wo_": (d, d), "w1_": (d, ffn), "w2_": (ffn, d),
             "w3_": (d, ffn)}
    return net("Llama", tok_=nn.Embedding(vocab, d), layers_=[net(
        "Layer", norm1_=nn.RMSNorm(d), **{n: linear(*s, bias=False) for n, s in parts.items()}, norm2_=nn.RMSNorm(d))
        for _ in range(layers)], norm_=nn.RMSNorm(d), head_=linear(d, vocab, bias=False))


same = """
    model.embed_tokens = {embed}
    model.layers.{i}.input_layernorm = {norm1}
    model.layers.{i}.post_attention_layernorm = {norm2}
    model.layers.{i}.self_attn.o_proj = {o}
    model.layers.{i}.mlp.down_proj = {down}
    model.norm = {norm}
    lm_head = {head}"""
q_k_v = " + ".join(f"model.layers.{{i}}.self_attn.{x}_proj" for x in "qkv")
gate_up = " + ".join(f"model.layers.{{i}}.mlp.{x}_proj" for x in ("gate", "up"))


def llama_table(more, **names):
    text = re.sub(r"\{(\w\w+|o)\}", lambda m: names[m[1]], same)
    return Table(text + more)


kept = dict(re.findall(r"(\S+) = \{(\w+)\}", same))
kept = {name: module for module, name in kept.items()}
to_vllm = llama_table(f"""
    {q_k_v} = model.layers.{{i}}.self_attn.qkv_proj
    {gate_up} = model.layers.{{i}}.mlp.gate_up_proj""", **kept)
to_fast = llama_table(f"""
    {q_k_v} = layers.{{i}}.attention.wqkv
    model.layers.{{i}}.mlp.gate_proj = layers.{{i}}.feed_forward.w1
    model.layers.{{i}}.mlp.up_proj = layers.{{i}}.feed_forward.w3""", embed="tok_embeddings", norm="norm",
                      head="output", norm1="layers.{i}.attention_norm", norm2="layers.{i}.ffn_norm",
                      o="layers.{i}.attention.wo", down="layers.{i}.feed_forward.w2")
to_lit = llama_table(f"""
    {q_k_v} = transformer.h.{{i}}.attn.c_attn
    model.layers.{{i}}.mlp.gate_proj = transformer.h.{{i}}.mlp.c_fc1
    model.layers.{{i}}.mlp.up_proj = transformer.h.{{i}}.mlp.c_fc2""",
                     embed="transformer.wte", norm="transformer.ln_f", head="lm_head",
                     norm1="transformer.h.{i}.rms_1", norm2="transformer.h.{i}.rms_2",
                     o="transformer.h.{i}.attn.c_proj", down="transformer.h.{i}.mlp.c_proj")
to_struct = llama_table("".join(f"""
    model.layers.{{i}}.self_attn.{x}_proj = blocks.{{i}}.attn.{y}""" for x, y in (
        ("q", "query"), ("k", "key"), ("v", "value"))) + "".join(f"""
    model.layers.{{i}}.mlp.{x}_proj = blocks.{{i}}.mlp.{x}""" for x in ("gate", "up")),
                        embed="embed", norm="final_norm", head="unembed", norm1="blocks.{i}.attn_norm",
                        norm2="blocks.{i}.mlp_norm", o="blocks.{i}.attn.output", down="blocks.{i}.mlp.down")
to_fused = llama_table(f"""
    {q_k_v} = layers.{{i}}.attention.qkv
    {gate_up} = layers.{{i}}.feedForward.gateUp""", embed="tokenEmbedding", norm="outputNorm", head="classifier",
                       norm1="layers.{i}.preAttention", norm2="layers.{i}.preFeedForward",
                       o="layers.{i}.attention.proj", down="layers.{i}.feedForward.down")
to_short = llama_table("".join(f"""
    model.layers.{{i}}.{x}_proj = layers_.{{i}}.{y}_""" for x, y in (
        ("self_attn.q", "wq"), ("self_attn.k", "wk"), ("self_attn.v", "wv"), ("mlp.gate", "w1"), ("mlp.up", "w3"))),
                       embed="tok_", norm="norm_", head="head_", norm1="layers_.{i}.norm1_", norm2="layers_.{i}.norm2_",
                       o="layers_.{i}.wo_", down="layers_.{i}.w2_")
lit_struct = Table("".join(f"""
    transformer.h.{{i}}.{x} = blocks.{{i}}.{y}""" for x, y in (
        ("rms_1.scale", "attn_norm.weight"), ("rms_2.scale", "mlp_norm.weight"), ("attn.c_proj", "attn.output"),
        ("mlp.c_fc1", "mlp.gate"), ("mlp.c_fc2", "mlp.up"), ("mlp.c_proj", "mlp.down"))) + """
    transformer.h.{i}.attn.c_attn = blocks.{i}.attn.query + blocks.{i}.attn.key + blocks.{i}.attn.value
    transformer.wte = embed
    transformer.ln_f.scale = final_norm.weight
    lm_head = unembed""")
baichuan = llama_table(f"""
    model.layers.{{i}}.self_attn.W_pack = {q_k_v}
    model.layers.{{i}}.mlp.gate_proj = model.layers.{{i}}.mlp.gate_proj
    model.layers.{{i}}.mlp.up_proj = model.layers.{{i}}.mlp.up_proj""", **kept)


def norms(table):
    """lit-llama's norms call their parameter scale."""
    for i, (a, b, dim) in enumerate(table.lines):
        if "norm" in a[0]:
            table.lines[i] = [a[0] + ".weight"], [b[0] + ".scale"], dim
    return table


def llama():
    f = Fresh("llama_ports", "transformers")
    f.add(hf=with_hf(), hf_2=with_hf(2), hf_32=with_hf(2, 32), vllm=(vllm, "vllm LlamaForCausalLM"),
          gpt_fast=(gpt_fast, "gpt-fast Transformer"), lit=(lit_llama, "lit_llama.LLaMA"),
          struct=(struct_llama, "typed model, words in full"),
          struct_32=(lambda: struct_llama(32, 2), "typed model, words in full"),
          fused=(fused_llama, "typed model, fused matrices"), short=(short_llama, "typed model, short members"),
          short_5=(lambda: short_llama(5), "typed model, short members"),
          reward=lambda: hf.LlamaForSequenceClassification(llama_config(num_labels=1)))
    f.tensors("baichuan", [t for n, *rest in f.get("hf") for t in (
        [[n.replace("q_proj", "W_pack"), "f32", [3 * d, d], "Linear"]] if "q_proj" in n else
        [] if re.search("[kv]_proj", n) else
        [[n, *rest], [n.replace("o_proj.weight", "rotary_emb.inv_freq"), "f32", [4], "RotaryEmbedding"]]
        if "o_proj" in n else [[n, *rest]])], "baichuan-inc/Baichuan-7B BaiChuanForCausalLM")
    f.wrapped("fabric", "lit", "model.", adam(f, "lit"))
    f.pair("hf_to_vllm", "hf_2", "vllm", to_vllm, kind="fused")
    f.pair("hf_to_gpt_fast", "hf_2", "gpt_fast", to_fast, kind="fused", sorted_file=False)
    f.pair("baichuan_to_hf", "baichuan", "hf", baichuan, kind="fused", sorted_file=False, spare=["inv_freq"])
    f.pair("lit_to_hf", "lit", "hf", norms(to_lit), back=True, kind="fused", sorted_file=False)
    f.pair("fabric_to_struct_burn", "fabric", "struct", lit_struct, kind="wrapped", strip=r"^model\.",
           spare=["^optimizer"], layout="burn", sorted_file=False)
    f.pair("hf_to_struct_32_layers_burn", "hf_32", "struct_32", to_struct, layout="burn")
    f.pair("struct_to_hf", "struct", "hf", to_struct, back=True, sorted_file=False)
    f.pair("hf_to_fused_burn", "hf_2", "fused", to_fused, kind="fused", layout="burn")
    f.pair("hf_to_longer_short", "hf", "short_5", to_short, kind="depth", unfed=[r"^layers_\.[34]\."])
    f.pair("reward_to_short_burn", "reward", "short", to_short, kind="head", unfed=["^head_"], spare=["^score"],
           layout="burn")

    def ask_lit(m):
        cos, sin = hf_rope()
        x = m.transformer.wte(ids)
        for b in m.transformer.h:
            q, k, v = b.attn.c_attn(norm(x, b.rms_1.scale)).chunk(3, -1)
            x = x + b.attn.c_proj(attention(turn(q, cos, sin), turn(k, cos, sin), v, 8, True))
            y = norm(x, b.rms_2.scale)
            x = x + b.mlp.c_proj(nn.functional.silu(b.mlp.c_fc1(y)) * b.mlp.c_fc2(y))
        return m.lm_head(norm(x, m.transformer.ln_f.scale))

    def norm(x, weight):
        return nn.functional.rms_norm(x, (d,), weight, 1e-6)

    def hf_rope():
        angles = torch.outer(torch.arange(6.), 1 / 10000 ** (torch.arange(0, 8, 2) / 8))
        return angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)

    def turn(x, cos, sin):
        x = x.reshape(2, 6, 8, 8)
        a, b = x.chunk(2, -1)
        return (x * cos[:, None] + torch.cat([-b, a], -1) * sin[:, None]).reshape(2, 6, d)
    alike(f, "lit_to_hf", lit_llama, with_hf(), ask_lit, lambda m: m(ids).logits)
    f.write()


def gpt2_config(layers=3, **more):
    return hf.GPT2Config(n_embd=d, n_layer=layers, n_head=4, vocab_size=vocab, n_positions=40, **more)


def megatron(layers=3, heads=None):
    """NVIDIA/Megatron-LM before 2021, checkpoint version 0."""
    def layer():
        return net("ParallelTransformerLayer", input_layernorm=nn.LayerNorm(d), attention=net(
            "ParallelSelfAttention", query_key_value=linear(d, 3 * d), dense=linear(d, d)),
            post_attention_layernorm=nn.LayerNorm(d), mlp=net("ParallelMLP", dense_h_to_4h=linear(d, 4 * d),
                                                              dense_4h_to_h=linear(4 * d, d)))
    return net("GPT2Model", language_model=net("TransformerLanguageModel", embedding=net(
        "Embedding", word_embeddings=nn.Embedding(vocab, d), position_embeddings=nn.Embedding(40, d)),
        transformer=net("ParallelTransformer", layers=[layer() for _ in range(layers)],
                        final_layernorm=nn.LayerNorm(d))))


def llm_c(layers=3):
    """The fields of llm.c's ParameterTensors, one struct per block."""
    shapes = {"ln1w": (d,), "ln1b": (d,), "qkvw": (3 * d, d), "qkvb": (3 * d,), "attprojw": (d, d), "attprojb": (d,),
              "ln2w": (d,), "ln2b": (d,), "fcw": (4 * d, d), "fcb": (4 * d,), "fcprojw": (d, 4 * d), "fcprojb": (d,)}
    return net("GPT2", wte=param(vocab, d), wpe=param(40, d), h=[net("Block", **{n: param(*s) for n, s in
                                                                                shapes.items()})
                                                                for _ in range(layers)], lnfw=param(d), lnfb=param(d))


def with_torch(layers=3):
    """A small GPT from PyTorch's own layers."""
    return net("GPT", tok_emb=nn.Embedding(vocab, d), pos_emb=nn.Embedding(40, d), encoder=nn.TransformerEncoder(
        nn.TransformerEncoderLayer(d, 4, 4 * d, norm_first=True, batch_first=True, activation="gelu", dropout=0.),
        layers, nn.LayerNorm(d), enable_nested_tensor=False))


def struct_gpt(layers=3):
    """A typed model of one's own."""
    def layer():
        return net("Block", attn_norm=nn.LayerNorm(d), q=linear(d, d), k=linear(d, d), v=linear(d, d),
                   out=linear(d, d), ffn_norm=nn.LayerNorm(d), ffn_in=linear(d, 4 * d), ffn_out=linear(4 * d, d))
    return net("Gpt", words=nn.Embedding(vocab, d), positions=nn.Embedding(40, d),
               stack=[layer() for _ in range(layers)], last_norm=nn.LayerNorm(d))


def nano(bias=False):
    """nanoGPT's GPT without biases, tied."""
    def norm():
        return net("LayerNorm", weight=param(d))

    def layer():
        return net("Block", ln_1=norm(), attn=net("CausalSelfAttention", c_attn=linear(d, 3 * d, bias=bias),
                                                  c_proj=linear(d, d, bias=bias)), ln_2=norm(),
                   mlp=net("MLP", c_fc=linear(d, 4 * d, bias=bias), c_proj=linear(4 * d, d, bias=bias)))
    return net("GPT", transformer=net("ModuleDict", wte=nn.Embedding(vocab, d), wpe=nn.Embedding(40, d),
                                      h=[layer() for _ in range(3)], ln_f=norm()), lm_head=linear(d, vocab, bias=bias))


mega = "language_model.transformer.layers.{i}"
rows = (("input_layernorm", "ln_1", "ln1", "norm1"), ("attention.query_key_value", "attn.c_attn", "qkv", ""),
        ("attention.dense", "attn.c_proj", "attproj", "self_attn.out_proj"),
        ("post_attention_layernorm", "ln_2", "ln2", "norm2"), ("mlp.dense_h_to_4h", "mlp.c_fc", "fc", "linear1"),
        ("mlp.dense_4h_to_h", "mlp.c_proj", "fcproj", "linear2"))
ends = (("language_model.embedding.word_embeddings", "wte", "wte"),
        ("language_model.embedding.position_embeddings", "wpe", "wpe"))
last = "language_model.transformer.final_layernorm"
mega_hf = Table("\n".join([f"{mega}.{a} = h.{{i}}.{b}" for a, b, _, _ in rows] + [f"{a} = {b}" for a, b, _ in ends] +
                          [f"{last} = ln_f"]))
hf_c = Table("\n".join([f"h.{{i}}.{b}.{x} = h.{{i}}.{c}{x[0]}" for _, b, c, _ in rows for x in ("weight", "bias")] +
                       ["wte.weight = wte", "wpe.weight = wpe", "ln_f.weight = lnfw", "ln_f.bias = lnfb"]))
mega_torch = Table("\n".join([f"{mega}.{a} = encoder.layers.{{i}}.{t}" for a, _, _, t in rows if t] + [
    f"{mega}.attention.query_key_value.{x} = encoder.layers.{{i}}.self_attn.in_proj_{x}" for x in ("weight", "bias")] +
    [f"{ends[0][0]} = tok_emb", f"{ends[1][0]} = pos_emb", f"{last} = encoder.norm"]))
mega_struct = Table("\n".join([f"{mega}.{a} = stack.{{i}}.{b}" for (a, *_), b in zip(rows, (
    "attn_norm", "q + stack.{i}.k + stack.{i}.v", "out", "ffn_norm", "ffn_in", "ffn_out"))] +
    [f"{ends[0][0]} = words", f"{ends[1][0]} = positions", f"{last} = last_norm"]))
nano_x = Table("\n".join(f"transformer.h.{i}.{a} = attn_layers.layers.{2 * i + n}.{b}" for i in range(3)
                         for a, n, b in (("ln_1.weight", 0, "0.0.gamma"), ("attn.c_proj", 0, "1.to_out"),
                                         ("ln_2.weight", 1, "0.0.gamma"), ("mlp.c_fc", 1, "1.ff.0.0"),
                                         ("mlp.c_proj", 1, "1.ff.2"))) + "".join(
    f"\ntransformer.h.{i}.attn.c_attn = " + " + ".join(f"attn_layers.layers.{2 * i}.1.to_{x}" for x in "qkv")
    for i in range(3)) + """
    transformer.wte = token_emb.emb
    transformer.wpe = pos_emb.emb
    transformer.ln_f.weight = attn_layers.final_norm.gamma
    lm_head = to_logits""")


def gpt2():
    from x_transformers import Decoder, TransformerWrapper
    f = Fresh("gpt2_ports", "transformers", "x-transformers")

    def x_transformers():
        return TransformerWrapper(num_tokens=vocab, max_seq_len=40, attn_layers=Decoder(
            dim=d, depth=3, heads=4, attn_dim_head=16, ff_no_bias=True))

    def with_hf(layers=3):
        return lambda: hf.GPT2Model(gpt2_config(layers))
    f.add(hf=with_hf(), hf_24=with_hf(24), megatron=(megatron, "NVIDIA/Megatron-LM GPT2Model"),
          megatron_24=(lambda: megatron(24), "NVIDIA/Megatron-LM GPT2Model"), nano=(nano, "nanoGPT model.GPT"),
          llm_c=(llm_c, "typed model with the fields of llm.c"), torch=(with_torch, "nn.TransformerEncoder"),
          struct=(struct_gpt, "typed model"), struct_4=(lambda: struct_gpt(4), "typed model"),
          x_transformers=x_transformers)
    f.wrapped("megatron_file", "megatron_24", "model.")
    matrix = [r"(c_attn|c_proj|c_fc)\.weight$"]
    f.pair("megatron_file_to_hf_24_layers", "megatron_file", "hf_24", mega_hf, kind="wrapped", strip=r"^model\.",
           transposed=matrix, sorted_file=False)
    f.pair("hf_to_megatron", "hf", "megatron", mega_hf, back=True, transposed=[r"(query_key_value|dense\w*)\.weight$"])
    f.pair("hf_to_llm_c", "hf", "llm_c", hf_c, transposed=[r"(qkv|attproj|fc|fcproj)w$"])
    f.pair("megatron_to_torch", "megatron", "torch", mega_torch)
    f.pair("megatron_to_struct_burn", "megatron", "struct", mega_struct, kind="fused", layout="burn")
    f.pair("megatron_to_deeper_struct", "megatron", "struct_4", mega_struct, kind="depth", unfed=[r"^stack\.3\."])
    f.pair("nano_to_x_transformers", "nano", "x_transformers", nano_x, kind="fused")
    f.pair("x_transformers_to_nano", "x_transformers", "nano", nano_x, back=True, kind="fused", sorted_file=False)

    def ask_megatron(m):
        m = m.language_model
        x = m.embedding.word_embeddings(ids) + m.embedding.position_embeddings(torch.arange(6))
        for b in m.transformer.layers:
            q, k, v = b.attention.query_key_value(b.input_layernorm(x)).chunk(3, -1)
            x = x + b.attention.dense(attention(q, k, v, 4, True))
            x = x + b.mlp.dense_4h_to_h(nn.functional.gelu(b.mlp.dense_h_to_4h(b.post_attention_layernorm(x))))
        return m.transformer.final_layernorm(x)

    def ask_nano(m):
        def norm(x, layer):
            return nn.functional.layer_norm(x, (d,), layer.weight)
        t = m.transformer
        x = t.wte(ids) + t.wpe(torch.arange(6))
        for b in t.h:
            x = x + b.attn.c_proj(attention(*b.attn.c_attn(norm(x, b.ln_1)).chunk(3, -1), 4, True))
            x = x + b.mlp.c_proj(nn.functional.gelu(b.mlp.c_fc(norm(x, b.ln_2))))
        return m.lm_head(norm(x, t.ln_f))

    def as_nano(file, model):
        """x-transformers scales its table of positions and adds one to the weights of norms."""
        model.pos_emb.emb.weight.data /= model.pos_emb.scale
        for name, weight in model.named_parameters():
            weight.data -= 1. if name.endswith("gamma") else 0.
    mask = nn.Transformer.generate_square_subsequent_mask(6)
    alike(f, "hf_to_megatron", lambda: hf.GPT2Model(gpt2_config(activation_function="gelu")), megatron,
          lambda m: m(ids).last_hidden_state, ask_megatron)
    alike(f, "megatron_to_torch", megatron, with_torch, ask_megatron, lambda m: m.encoder(
        m.tok_emb(ids) + m.pos_emb(torch.arange(6)), mask=mask, is_causal=True))
    alike(f, "nano_to_x_transformers", nano, x_transformers, ask_nano, lambda m: m(ids), as_nano)
    f.write()


if __name__ == "__main__":
    for make in (llama, gpt2):
        make()
