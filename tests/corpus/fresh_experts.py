# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: mixtures of experts (Mixtral for litgpt, DeepSeek-V3), LLaVA, GPT-J.

Checked: the published names of Mixtral, DeepSeek-V3 and LLaVA by loading them into transformers; litgpt's mixture by a
forward pass against transformers with the published names; DeepSeek's own names against its inference/convert.py and
model.py; LLaVA's against its source and the converter of transformers; vLLM's GPT-J against its source. The typed
structs define themselves."""
import transformers as hf
from torch import nn

from fresh_lib import Fresh, Table, adam, alike, into, linear, loads, net, param, rms
from fresh_text import ids, lines

vocab = 320


def dense(a, b):
    return linear(a, b, bias=False)


# Mixtral

d, ffn = 64, 112


def mixtral_config(layers=3, experts=4):
    return hf.MixtralConfig(hidden_size=d, intermediate_size=ffn, num_hidden_layers=layers, num_attention_heads=8,
                            num_key_value_heads=2, vocab_size=vocab, num_local_experts=experts, num_experts_per_tok=2,
                            rms_norm_eps=1e-5, rope_parameters={"rope_type": "default", "rope_theta": 10000.0})


def mixtral_hub(layers=3, experts=4):
    """The names of the published files."""
    def layer():
        return net("MixtralDecoderLayer", self_attn=net("MixtralAttention", q_proj=dense(d, d), k_proj=dense(d, 16),
                                                        v_proj=dense(d, 16), o_proj=dense(d, d)),
                   block_sparse_moe=net("MixtralSparseMoeBlock", gate=dense(d, experts), experts=[net(
                       "MixtralBlockSparseTop2MLP", w1=dense(d, ffn), w2=dense(ffn, d), w3=dense(d, ffn))
                       for _ in range(experts)]), input_layernorm=rms(d, "MixtralRMSNorm"),
                   post_attention_layernorm=rms(d, "MixtralRMSNorm"))
    return net("MixtralForCausalLM", model=net("MixtralModel", embed_tokens=nn.Embedding(vocab, d), layers=[
        layer() for _ in range(layers)], norm=rms(d, "MixtralRMSNorm")), lm_head=dense(d, vocab))


def struct_mixtral(layers=3, experts=4):
    """A typed model of one's own."""
    def layer():
        return net("Layer", norm_in=nn.RMSNorm(d), attn=net("Gqa", q=dense(d, d), k=dense(d, 16), v=dense(d, 16),
                                                            out=dense(d, d)), norm_mid=nn.RMSNorm(d), moe=net(
            "Moe", router=dense(d, experts), experts=[net("Expert", gate=dense(d, ffn), up=dense(d, ffn),
                                                          down=dense(ffn, d)) for _ in range(experts)]))
    return net("Mixtral", embedding=nn.Embedding(vocab, d), layer=[layer() for _ in range(layers)],
               norm_out=nn.RMSNorm(d), logits=dense(d, vocab))


def mixtral():
    from litgpt import GPT, Config
    f = Fresh("mixtral_ports", "transformers", "litgpt")

    def lit():
        return GPT(Config(block_size=64, vocab_size=vocab, padded_vocab_size=vocab, n_layer=3, n_head=8,
                          n_query_groups=2, n_embd=d, rotary_percentage=1.0, parallel_residual=False, bias=False,
                          norm_class_name="RMSNorm", norm_eps=1e-5, mlp_class_name="LLaMAMoE", intermediate_size=ffn,
                          n_expert=4, n_expert_per_token=2))
    f.add(published=(mixtral_hub, "transformers.MixtralForCausalLM, as published"), lit=lit,
          published_12=(lambda: mixtral_hub(12, 8), "transformers.MixtralForCausalLM, as published"),
          struct=(struct_mixtral, "typed model"), struct_12=(lambda: struct_mixtral(12, 8), "typed model"),
          struct_5=(lambda: struct_mixtral(5), "typed model"))
    f.wrapped("trained", "published", "module.", adam(f, "published"))
    p, t, s = "model.layers.{i}.", "transformer.h.{i}.", "layer.{i}."
    moe, expert = "block_sparse_moe", "block_sparse_moe.experts.{j}."
    to_lit = Table(lines("%s = %s", [
        (" + ".join(f"{p}self_attn.{x}_proj" for x in "qkv"), t + "attn.qkv"),
        (p + "self_attn.o_proj", t + "attn.proj"),
        (p + "input_layernorm", t + "norm_1"), (p + "post_attention_layernorm", t + "norm_2"),
        (p + moe + ".gate", t + "mlp.gate"), (p + expert + "w1", t + "mlp.experts.{j}.fc_1"),
        (p + expert + "w3", t + "mlp.experts.{j}.fc_2"), (p + expert + "w2", t + "mlp.experts.{j}.proj"),
        ("model.embed_tokens", "transformer.wte"), ("model.norm", "transformer.ln_f"), ("lm_head", "lm_head")]))
    to_struct = Table(lines("%s = %s", [
        *((p + f"self_attn.{x}_proj", s + f"attn.{y}") for x, y in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "out"))),
        (p + "input_layernorm", s + "norm_in"), (p + "post_attention_layernorm", s + "norm_mid"),
        (p + moe + ".gate", s + "moe.router"), (p + expert + "w1", s + "moe.experts.{j}.gate"),
        (p + expert + "w3", s + "moe.experts.{j}.up"), (p + expert + "w2", s + "moe.experts.{j}.down"),
        ("model.embed_tokens", "embedding"), ("model.norm", "norm_out"), ("lm_head", "logits")]))
    f.pair("published_to_lit", "published", "lit", to_lit, kind="fused")
    f.pair("published_to_struct_12_layers_burn", "published_12", "struct_12", to_struct, layout="burn")
    f.pair("trained_to_struct", "trained", "struct", to_struct, kind="wrapped", strip=r"^module\.",
           spare=["^optimizer"], sorted_file=False)
    f.pair("struct_to_published", "struct", "published", to_struct, back=True, sorted_file=False)
    f.pair("published_to_longer_struct", "published", "struct_5", to_struct, kind="depth",
           unfed=[r"^layer\.[34]\."])
    loads(f, "published", hf.MixtralForCausalLM, mixtral_config())
    alike(f, "published_to_lit", mixtral_hub, lit, into(hf.MixtralForCausalLM, mixtral_config(),
                                                        lambda m: m(ids).logits), lambda m: m(ids))
    f.write()


# DeepSeek-V3

rank, rope, nope, value, heads, inner, moe_inner = 24, 8, 16, 12, 4, 112, 28


def deepseek_config(layers=3):
    return hf.DeepseekV3Config(
        hidden_size=d, intermediate_size=inner, moe_intermediate_size=moe_inner, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=heads, n_shared_experts=1, n_routed_experts=6, n_group=2,
        topk_group=1, num_experts_per_tok=2, first_k_dense_replace=1, q_lora_rank=rank, kv_lora_rank=20,
        qk_rope_head_dim=rope, qk_nope_head_dim=nope, v_head_dim=value, vocab_size=vocab)


def deepseek(names, layers=3, norm=rms):
    """names: a dict from this project's words to the names of an implementation."""
    n = names.split()

    def mlp(size):
        return net("MLP", **dict(zip(n[7:10], (dense(d, size), dense(d, size), dense(size, d)))))

    def layer(i):
        attention = net("MLA", **dict(zip(n[:7], (
            dense(d, rank), norm(rank), dense(rank, heads * (rope + nope)), dense(d, 20 + rope), norm(20),
            dense(20, heads * (nope + value)), dense(heads * value, d)))))
        gate = net("Gate", weight=param(6, d), **{n[11]: param(6)})
        moe = net("MoE", **{n[10]: gate}, experts=[mlp(moe_inner) for _ in range(6)], **{n[12]: mlp(moe_inner)})
        return net("Block", **{n[13]: attention, n[14]: mlp(inner) if i == 0 else moe, n[15]: norm(d), n[16]: norm(d)})
    return [layer(i) for i in range(layers)]


hub_names = ("q_a_proj q_a_layernorm q_b_proj kv_a_proj_with_mqa kv_a_layernorm kv_b_proj o_proj gate_proj up_proj "
             "down_proj gate e_score_correction_bias shared_experts self_attn mlp input_layernorm "
             "post_attention_layernorm")
own_names = ("wq_a q_norm wq_b wkv_a kv_norm wkv_b wo w1 w3 w2 gate bias shared_experts attn ffn attn_norm ffn_norm")
struct_names = ("q_down q_norm q_up kv_down kv_norm kv_up output gate up down router score_bias shared mla "
                "feed_forward norm_before_attention norm_before_ffn")


def deepseek_hub(layers=3):
    return net("DeepseekV3ForCausalLM", model=net(
        "DeepseekV3Model", embed_tokens=nn.Embedding(vocab, d), layers=deepseek(hub_names, layers, lambda s: rms(
            s, "DeepseekV3RMSNorm")), norm=rms(d, "DeepseekV3RMSNorm")), lm_head=dense(d, vocab))


def deepseek_own(layers=3):
    return net("Transformer", embed=nn.Embedding(vocab, d), layers=deepseek(own_names, layers), norm=rms(d),
               head=dense(d, vocab))


def deepseek_struct(layers=3):
    return net("Model", tokens=nn.Embedding(vocab, d), layers=deepseek(struct_names, layers, nn.RMSNorm),
               final_norm=nn.RMSNorm(d), lm_head=dense(d, vocab))


def deepseek_table(a, b, ends):
    """From the published names to those of another implementation."""
    a, b = a.split(), b.split()
    pairs = []
    for i in range(7):
        pairs.append((f"{a[13]}.{a[i]}", f"{b[13]}.{b[i]}"))
    for i in (7, 8, 9):
        pairs += [(f"{a[14]}.{x}{a[i]}", f"{b[14]}.{y}{b[i]}") for x, y in (
            ("", ""), ("experts.{j}.", "experts.{j}."), (a[12] + ".", b[12] + "."))]
    pairs += [(f"{a[14]}.{a[10]}.weight", f"{b[14]}.{b[10]}.weight"),
              (f"{a[14]}.{a[10]}.{a[11]}", f"{b[14]}.{b[10]}.{b[11]}"), (a[15], b[15]), (a[16], b[16])]
    return Table(lines("model.layers.{i}.%s = layers.{i}.%s", pairs) + "\n" + lines("%s = %s", ends))


def deepseek_v3():
    f = Fresh("deepseek_v3", "transformers")
    f.add(published=(deepseek_hub, "transformers.DeepseekV3ForCausalLM, as published"),
          original=(deepseek_own, "deepseek-ai/DeepSeek-V3 Transformer"),
          original_4=(lambda: deepseek_own(4), "deepseek-ai/DeepSeek-V3 Transformer"),
          struct=(deepseek_struct, "typed model"),
          published_16=(lambda: deepseek_hub(16), "transformers.DeepseekV3ForCausalLM, as published"),
          original_16=(lambda: deepseek_own(16), "deepseek-ai/DeepSeek-V3 Transformer"))
    # The last layer of the released files predicts a second token. Nobody's model has it.
    extra = [[n.replace("layers.2", "layers.3"), *rest] for n, *rest in f.get("published") if "layers.2." in n]
    extra += [["model.layers.3.embed_tokens.weight", "f32", [vocab, d], ""],
              ["model.layers.3.enorm.weight", "f32", [d], ""], ["model.layers.3.hnorm.weight", "f32", [d], ""],
              ["model.layers.3.eh_proj.weight", "f32", [d, 2 * d], ""],
              ["model.layers.3.shared_head.norm.weight", "f32", [d], ""],
              ["model.layers.3.shared_head.head.weight", "f32", [vocab, d], ""]]
    f.wrapped("release", "published", "", extra)
    to_own = deepseek_table(hub_names, own_names, [("model.embed_tokens", "embed"), ("model.norm", "norm"),
                                                   ("lm_head", "head")])
    to_struct = deepseek_table(hub_names, struct_names, [("model.embed_tokens", "tokens"), ("model.norm", "final_norm"),
                                                         ("lm_head", "lm_head")])
    f.pair("published_to_original", "published", "original", to_own)
    f.pair("original_to_published", "original", "published", to_own, back=True, sorted_file=False)
    f.pair("published_to_original_16_layers", "published_16", "original_16", to_own)
    f.pair("release_to_struct_burn", "release", "struct", to_struct, spare=[r"layers\.3\."], layout="burn")
    f.pair("published_to_longer_original", "published", "original_4", to_own, kind="depth", unfed=[r"^layers\.3\."],
           sorted_file=False)
    loads(f, "published", hf.DeepseekV3ForCausalLM, deepseek_config())
    loads(f, "release", hf.DeepseekV3ForCausalLM, deepseek_config(), allowed=[r"layers\.3\."])
    f.write()


# LLaVA

def llava():
    f = Fresh("llava", "transformers")
    text = hf.LlamaConfig(hidden_size=d, intermediate_size=ffn, num_hidden_layers=2, num_attention_heads=4,
                          vocab_size=vocab)
    vision = hf.CLIPVisionConfig(hidden_size=40, intermediate_size=96, num_hidden_layers=2, num_attention_heads=2,
                                 image_size=28, patch_size=14)
    config = hf.LlavaConfig(vision_config=vision, text_config=text)

    def original():
        """haotian-liu/LLaVA LlavaLlamaForCausalLM: the tower is inside of the language model."""
        made = hf.LlamaForCausalLM(text)
        made.model.vision_tower = net("CLIPVisionTower", vision_tower=net("CLIPVisionModel", vision_model=hf.
                                                                          CLIPVisionModel(vision)))
        made.model.mm_projector = nn.Sequential(linear(40, d), nn.GELU(), linear(d, d))
        return made

    def struct():
        """A typed model of one's own, with fused projections in the tower."""
        def sight():
            return net("VitBlock", ln1=nn.LayerNorm(40), q=linear(40, 40), k=linear(40, 40), v=linear(40, 40),
                       o=linear(40, 40), ln2=nn.LayerNorm(40), mlp_in=linear(40, 96), mlp_out=linear(96, 40))

        def layer():
            return net("Layer", attn_norm=nn.RMSNorm(d), wq=dense(d, d), wk=dense(d, d), wv=dense(d, d),
                       wo=dense(d, d), ffn_norm=nn.RMSNorm(d), gate=dense(d, ffn), up=dense(d, ffn),
                       down=dense(ffn, d))
        return net("Llava", eye=net("Vit", cls=param(40), patches=nn.Conv2d(3, 40, 14, bias=False),
                                    positions=nn.Embedding(5, 40), ln_pre=nn.LayerNorm(40),
                                    blocks=[sight(), sight()], ln_post=nn.LayerNorm(40)),
                   bridge_in=linear(40, d), bridge_out=linear(d, d),
                   words=net("Llama", embed=nn.Embedding(vocab, d), layers=[layer(), layer()], norm=nn.RMSNorm(d),
                             head=dense(d, vocab)))
    f.add(hf=lambda: hf.LlavaForConditionalGeneration(config), hub=lambda: hf.LlavaForConditionalGeneration(config),
          original=(original, "haotian-liu/LLaVA LlavaLlamaForCausalLM"), struct=(struct, "typed model"),
          vicuna=lambda: hf.LlamaForCausalLM(text))
    # The published files name the tower as the class had it then.
    f.tensors("published", [[n.replace("vision_tower.", "vision_tower.vision_model."), *rest]
                            for n, *rest in f.get("hub")], "transformers.LlavaForConditionalGeneration, as published")
    f.without("stage_1", "original", "^(?!model.mm_projector)")
    tower = "vision_tower.vision_model."
    hub_original = Table(f"""
        language_model.lm_head = lm_head
        {tower}** = model.vision_tower.{tower}**
        multi_modal_projector.linear_1 = model.mm_projector.0
        multi_modal_projector.linear_2 = model.mm_projector.2
        language_model.model.** = model.**""")
    hf_original = Table(f"""
        lm_head = lm_head
        model.vision_tower.** = model.vision_tower.{tower}**
        model.multi_modal_projector.linear_1 = model.mm_projector.0
        model.multi_modal_projector.linear_2 = model.mm_projector.2
        model.language_model.** = model.**""")
    hub_hf = Table(f"""
        language_model.model.** = model.language_model.**
        language_model.lm_head = lm_head
        {tower}** = model.vision_tower.**
        multi_modal_projector.** = model.multi_modal_projector.**""")
    e, w = "model.vision_tower.vision_tower.vision_model.", "model.layers.{i}."
    to_struct = Table(lines(e + "%s = eye.%s", [
        ("embeddings.class_embedding", "cls"), ("embeddings.patch_embedding", "patches"),
        ("embeddings.position_embedding", "positions"), ("pre_layrnorm", "ln_pre"), ("post_layernorm", "ln_post")] + [
            ("encoder.layers.{i}." + a, "blocks.{i}." + b) for a, b in (
                ("self_attn.q_proj", "q"), ("self_attn.k_proj", "k"), ("self_attn.v_proj", "v"),
                ("self_attn.out_proj", "o"), ("layer_norm1", "ln1"), ("layer_norm2", "ln2"), ("mlp.fc1", "mlp_in"),
                ("mlp.fc2", "mlp_out"))]) + "\n" + lines(w + "%s = words.layers.{i}.%s", [
                    ("self_attn.q_proj", "wq"), ("self_attn.k_proj", "wk"), ("self_attn.v_proj", "wv"),
                    ("self_attn.o_proj", "wo"), ("mlp.gate_proj", "gate"), ("mlp.up_proj", "up"),
                    ("mlp.down_proj", "down"), ("input_layernorm", "attn_norm"),
                    ("post_attention_layernorm", "ffn_norm")]) + """
        model.embed_tokens = words.embed
        model.norm = words.norm
        lm_head = words.head
        model.mm_projector.0 = bridge_in
        model.mm_projector.2 = bridge_out""")
    f.pair("original_to_hf", "original", "hf", hf_original, back=True, sorted_file=False)
    f.pair("published_to_original", "published", "original", hub_original)
    f.pair("published_to_hf", "published", "hf", hub_hf, kind="wrapped")
    f.pair("vicuna_to_hf", "vicuna", "hf", hf_original, back=True, kind="head",
           unfed=[r"^model\.(vision_tower|multi_modal)"])
    f.pair("stage_1_to_hf", "stage_1", "hf", hf_original, back=True, kind="head", unfed=["^(?!model.multi_modal)"],
           sorted_file=False)
    f.pair("original_to_struct_burn", "original", "struct", to_struct, layout="burn")
    loads(f, "published", hf.LlavaForConditionalGeneration, config)
    f.write()


# GPT-J

def gpt_j():
    f = Fresh("gpt_j", "transformers")

    def with_hf(layers=3):
        return hf.GPTJForCausalLM(hf.GPTJConfig(n_embd=d, n_layer=layers, n_head=4, vocab_size=vocab, n_positions=64,
                                                rotary_dim=8, tie_word_embeddings=False))

    def vllm():
        """vllm/model_executor/models/gpt_j.py"""
        def layer():
            return net("GPTJBlock", ln_1=nn.LayerNorm(d), attn=net("GPTJAttention", qkv_proj=dense(d, 3 * d),
                                                                   out_proj=dense(d, d)),
                       mlp=net("GPTJMLP", fc_in=linear(d, 4 * d), fc_out=linear(4 * d, d)))
        return net("GPTJForCausalLM", transformer=net("GPTJModel", wte=nn.Embedding(vocab, d), h=[
            layer() for _ in range(3)], ln_f=nn.LayerNorm(d)), lm_head=linear(d, vocab))

    def struct(layers=3):
        """A typed model of one's own."""
        def layer():
            return net("ParallelBlock", norm=nn.LayerNorm(d), attention_query=dense(d, d), attention_key=dense(d, d),
                       attention_value=dense(d, d), attention_output=dense(d, d), mlp_hidden=linear(d, 4 * d),
                       mlp_output=linear(4 * d, d))
        return net("GptJ", token_embeddings=nn.Embedding(vocab, d), blocks=[layer() for _ in range(layers)],
                   norm_out=nn.LayerNorm(d), vocabulary=linear(d, vocab))
    f.add(hf=with_hf, hf_28=lambda: with_hf(28), vllm=(vllm, "vllm GPTJForCausalLM"), struct=(struct, "typed model"),
          struct_28=(lambda: struct(28), "typed model"), resnet=resnet)
    h, b = "transformer.h.{i}.", "blocks.{i}."
    to_vllm = Table(f"""
        {h}attn.q_proj + {h}attn.k_proj + {h}attn.v_proj = {h}attn.qkv_proj
        {h}attn.out_proj = {h}attn.out_proj
        {h}ln_1 = {h}ln_1
        {h}mlp.fc_in = {h}mlp.fc_in
        {h}mlp.fc_out = {h}mlp.fc_out
        transformer.wte = transformer.wte
        transformer.ln_f = transformer.ln_f
        lm_head = lm_head""")
    to_struct = Table(f"""
        {h}attn.q_proj = {b}attention_query
        {h}attn.k_proj = {b}attention_key
        {h}attn.v_proj = {b}attention_value
        {h}attn.out_proj = {b}attention_output
        {h}ln_1 = {b}norm
        {h}mlp.fc_in = {b}mlp_hidden
        {h}mlp.fc_out = {b}mlp_output
        transformer.wte = token_embeddings
        transformer.ln_f = norm_out
        lm_head = vocabulary""")
    f.pair("hf_to_vllm", "hf", "vllm", to_vllm, kind="fused", sorted_file=False)
    f.pair("vllm_to_hf", "vllm", "hf", to_vllm, back=True, kind="fused")
    f.pair("hf_to_struct_28_layers_burn", "hf_28", "struct_28", to_struct, layout="burn")
    f.pair("struct_to_hf", "struct", "hf", to_struct, back=True, sorted_file=False)
    f.unrelated("resnet_to_struct", "resnet", "struct")
    f.write()


def resnet():
    import torchvision
    return torchvision.models.ResNet(torchvision.models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=20)


if __name__ == "__main__":
    for make in (mixtral, deepseek_v3, llava, gpt_j):
        make()
