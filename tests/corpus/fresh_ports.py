# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: ports of ten models of transformers and torchvision to names of others.

The one side is instantiated. The other side's names are those of the original repositories (ConvNeXt V2, FocalNet,
PatchTST) or of typed models of one's own; its shapes follow from the table, so that truths hold by construction. A rule
is a pattern and its replacement, the first that matches counts. `joined` gives the names that one tensor of the other
side joins, in order."""
import re

import torchvision
import transformers as hf

from corpus import Family

adam = [["optimizer.state.0.exp_avg", "f32", [64, 64], ""], ["optimizer.state.0.exp_avg_sq", "f32", [64, 64], ""]]


class Ports(Family):
    def __init__(self, name, package, rules, joined=()):
        super().__init__(name, "tuning", [package])
        self.rules, self.joined, self.sources = rules, joined, {}

    def renamed(self, name):
        for pattern, replacement in self.rules:
            if re.search(pattern, name):
                return re.sub(pattern, replacement, name)
        raise AssertionError(f"{self.data['family']}: no rule for {name}")

    def port(self, of, name, class_name="typed model"):
        """Adds the other side of a listing."""
        groups = {}
        for i, (tensor, dtype, shape, owner) in enumerate(self.data["listings"][of]["tensors"]):
            to, place = self.renamed(tensor), 0
            for pattern, parts in self.joined:
                match = re.search(pattern, to)
                if match:
                    place = parts.index(match[1])
                    to = to[:match.start(1)] + "".join(parts) + to[match.end(1):]
            groups.setdefault(to, []).append((place, i, dtype, shape, owner))
        tensors = []
        for to, parts in groups.items():
            parts.sort()
            shape = [sum(p[3][0] for p in parts)] + parts[0][3][1:] if parts[0][3] else []
            tensors.append([to, parts[0][2], shape, parts[0][4]])
        self.tensors(name, tensors, class_name)
        self.sources[name] = {to: [self.data["listings"][of]["tensors"][p[1]][0] for p in parts]
                              for to, parts in groups.items()}

    def pair(self, name, file, model, kind, ports, prefix="", sorted_file=True, layout=None):
        """ports: the listing that was added by port(), which is one of both sides or of their depth."""
        source = {t[0].removeprefix(prefix): (i, t[2]) for i, t in enumerate(self.data["listings"][file]["tensors"])}
        parts = self.sources[ports]
        whole = {one: (to, k, len(names)) for to, names in parts.items() for k, one in enumerate(names)}
        truth = []
        for tensor, _, shape, _ in self.data["listings"][model]["tensors"]:
            names = parts.get(tensor, [])
            if tensor in whole and whole[tensor][0] in source:
                to, k, count = whole[tensor]
                i, found = source[to]
                found = [found[0] // count] + found[1:] if found else []
                truth.append((i if count == 1 else [i, k, count]) if found == shape else None)
            elif names and all(one in source for one in names):
                found = [source[one] for one in names]
                size = [sum(s[0] for _, s in found)] + found[0][1][1:] if shape else []
                value = found[0][0] if len(found) == 1 else {"join": [i for i, _ in found]}
                truth.append(value if size == shape else None)
            else:
                truth.append(None)
        fed = sum(t is not None for t in truth)
        assert fed == len(truth) if kind not in ("head", "depth") else 2 * fed > len(truth), (name, fed, len(truth))
        case = {"name": name, "file": file, "model": model, "kind": kind, "sorted": sorted_file}
        self.data["cases"].append(case | ({"layout": layout} if layout else {}) | {"truth": truth})

    def usual(self, make, deeper=None, other_head=None, kind="renamed", class_name="typed model"):
        """The cases of a family. `make`, `deeper`, `other_head`: functions that make the instantiated side."""
        self.listing("source", make)
        self.port("source", "port", class_name)
        self.wrapped("training", "port", "state_dict.module.", adam)
        self.pair("source_to_port", "source", "port", kind, "port", sorted_file=False)
        self.pair("port_to_source", "port", "source", kind, "port")
        self.pair("source_to_port_burn", "source", "port", kind, "port", layout="burn")
        self.pair("training_to_source", "training", "source", "wrapped", "port", prefix="state_dict.module.",
                  sorted_file=False)
        if deeper:
            self.listing("deeper", deeper)
            self.port("deeper", "deeper_port", class_name)
            self.pair("source_to_deeper_port", "source", "deeper_port", "depth", "deeper_port")
        if other_head:
            self.listing("other_head", other_head)
            self.pair("port_to_other_head", "port", "other_head", "head", "port")
        self.write()


small = dict(vocab_size=300, hidden_size=48, intermediate_size=160, num_attention_heads=4, num_key_value_heads=2,
             bos_token_id=0, eos_token_id=1, pad_token_id=2)


def starcoder2():
    def make(layers):
        return lambda: hf.Starcoder2ForCausalLM(hf.Starcoder2Config(num_hidden_layers=layers, **small))
    block = r"^model\.layers\.(\d+)\."
    Ports("starcoder2", "transformers", [
        (r"^model\.embed_tokens", "embed"), (r"^model\.norm", "ln_out"), (r"^lm_head", "unembed"),
        (block + r"self_attn\.(\w)_proj", r"blocks.\1.attn.w\2"), (block + r"mlp\.c_fc", r"blocks.\1.mlp.expand"),
        (block + r"mlp\.c_proj", r"blocks.\1.mlp.contract"), (block + "input_layernorm", r"blocks.\1.ln_attn"),
        (block + "post_attention_layernorm", r"blocks.\1.ln_mlp")]).usual(make(2), make(3))


def qwen2_moe():
    def make(layers):
        return lambda: hf.Qwen2MoeForCausalLM(hf.Qwen2MoeConfig(
            num_hidden_layers=layers, moe_intermediate_size=24, shared_expert_intermediate_size=40, num_experts=4,
            **small))
    block = r"^model\.layers\.(\d+)\."
    Ports("qwen2_moe", "transformers", [
        (r"^model\.embed_tokens", "tok_embed"), (r"^model\.norm", "final_norm"), (r"^lm_head", "vocab_out"),
        (block + r"self_attn\.(\w)_proj", r"layer.\1.attn_\2"), (block + r"mlp\.gate\.", r"layer.\1.router."),
        (block + r"mlp\.experts\.gate_up_proj", r"layer.\1.experts_in"),
        (block + r"mlp\.experts\.down_proj", r"layer.\1.experts_out"),
        (block + r"mlp\.shared_expert\.(\w+)_proj", r"layer.\1.shared_\2"),
        (block + r"mlp\.shared_expert_gate", r"layer.\1.shared_switch"),
        (block + "input_layernorm", r"layer.\1.norm_1"),
        (block + "post_attention_layernorm", r"layer.\1.norm_2")]).usual(make(3), make(4))


def fnet():
    def make(layers):
        return lambda: hf.FNetForMaskedLM(hf.FNetConfig(
            vocab_size=300, hidden_size=48, intermediate_size=160, num_hidden_layers=layers, tie_word_embeddings=False))
    block = r"^fnet\.encoder\.layer\.(\d+)\."
    e = r"^fnet\.embeddings\."
    Ports("fnet", "transformers", [
        (e + "word_embeddings", "embedding.words"), (e + "position_embeddings", "embedding.places"),
        (e + "token_type_embeddings", "embedding.kinds"), (e + "LayerNorm", "embedding.norm"),
        (e + "projection", "embedding.project"), (block + r"fourier\.output\.LayerNorm", r"blocks.\1.mix_norm"),
        (block + r"intermediate\.dense", r"blocks.\1.ff_in"), (block + r"output\.dense", r"blocks.\1.ff_out"),
        (block + r"output\.LayerNorm", r"blocks.\1.ff_norm"), (r"^fnet\.pooler\.dense", "pool"),
        (r"^cls\.predictions\.bias", "mlm.free_bias"), (r"^cls\.predictions\.transform\.dense", "mlm.dense"),
        (r"^cls\.predictions\.transform\.LayerNorm", "mlm.norm"), (r"^cls\.predictions\.decoder", "mlm.out")]).usual(
            make(2), make(4))


def convnext_v2():
    def make(depths=(1, 2, 3, 1), labels=9):
        return lambda: hf.ConvNextV2ForImageClassification(hf.ConvNextV2Config(
            hidden_sizes=[16, 24, 40, 56], depths=list(depths), num_labels=labels))
    s = r"^convnextv2\.encoder\.stages\.(\d+)\."
    Ports("convnext_v2", "transformers", [
        (r"^convnextv2\.embeddings\.patch_embeddings", "downsample_layers.0.0"),
        (r"^convnextv2\.embeddings\.layernorm", "downsample_layers.0.1"),
        (s + r"downsampling_layer\.(\d)", r"downsample_layers.\1.\2"), (s + r"layers\.(\d+)\.layernorm", r"stages.\1.\2.norm"),
        (s + r"layers\.(\d+)\.grn\.weight", r"stages.\1.\2.grn.gamma"),
        (s + r"layers\.(\d+)\.grn\.bias", r"stages.\1.\2.grn.beta"), (s + r"layers\.(\d+)\.", r"stages.\1.\2."),
        (r"^convnextv2\.layernorm", "norm"), ("^classifier", "head")]).usual(
            make(), make((1, 2, 4, 1)), make(labels=5), "numbered", "facebookresearch/ConvNeXt-V2 ConvNeXtV2")


def focalnet():
    def make(depths=(1, 2, 3, 1), labels=9):
        return lambda: hf.FocalNetForImageClassification(hf.FocalNetConfig(
            embed_dim=16, depths=list(depths), num_labels=labels))
    s = r"^focalnet\.encoder\.stages\.(\d+)\."
    b = s + r"layers\.(\d+)\."
    Ports("focalnet", "transformers", [
        (r"^focalnet\.embeddings\.patch_embeddings\.projection", "patch_embed.proj"),
        (r"^focalnet\.embeddings\.norm", "patch_embed.norm"), (s + r"downsample\.projection", r"layers.\1.downsample.proj"),
        (s + r"downsample\.norm", r"layers.\1.downsample.norm"),
        (b + r"modulation\.projection_in", r"layers.\1.blocks.\2.modulation.f"),
        (b + r"modulation\.projection_context", r"layers.\1.blocks.\2.modulation.h"),
        (b + r"modulation\.projection_out", r"layers.\1.blocks.\2.modulation.proj"), (b, r"layers.\1.blocks.\2."),
        (r"^focalnet\.layernorm", "norm"), ("^classifier", "head")]).usual(
            make(), make((1, 2, 4, 1)), make(labels=5), class_name="microsoft/FocalNet FocalNet")


def m2m_100():
    def make(layers):
        return lambda: hf.M2M100ForConditionalGeneration(hf.M2M100Config(
            vocab_size=300, d_model=48, encoder_layers=layers, decoder_layers=layers, encoder_ffn_dim=160,
            decoder_ffn_dim=144, encoder_attention_heads=4, decoder_attention_heads=4, tie_word_embeddings=False))
    b = r"^model\.(enc|dec)oder\.layers\.(\d+)\."
    Ports("m2m_100", "transformers", [
        (r"^model\.shared", "vocabulary"), (r"^model\.(enc|dec)oder\.embed_tokens", r"\1.tokens"), (r"^lm_head", "project"),
        (r"^model\.(enc|dec)oder\.layer_norm", r"\1.norm"), (b + r"self_attn\.([qkv])_proj", r"\1.blocks.\2.attn.\3"),
        (b + r"self_attn\.out_proj", r"\1.blocks.\2.attn.out"), (b + r"encoder_attn\.([qkv])_proj", r"\1.blocks.\2.cross.\3"),
        (b + r"encoder_attn\.out_proj", r"\1.blocks.\2.cross.out"), (b + "self_attn_layer_norm", r"\1.blocks.\2.attn_norm"),
        (b + "encoder_attn_layer_norm", r"\1.blocks.\2.cross_norm"), (b + "final_layer_norm", r"\1.blocks.\2.ff_norm"),
        (b + "fc(.)", r"\1.blocks.\2.ff.\3")], [(r"\.attn\.([qkv])\.", ["q", "k", "v"])]).usual(
            make(2), make(3), kind="fused")


def xlm():
    def make(layers):
        return lambda: hf.XLMWithLMHeadModel(hf.XLMConfig(vocab_size=300, emb_dim=48, n_layers=layers, n_heads=4))
    t = r"^transformer\."
    Ports("xlm", "transformers", [
        (t + "position_embeddings", "pos_table"), (t + "embeddings", "word_table"), (t + "layer_norm_emb", "input_norm"),
        (t + r"attentions\.(\d+)\.(\w+)_lin", r"layers.\1.attention.\2"), (t + r"layer_norm(\d)\.(\d+)", r"layers.\2.norm\1"),
        (t + r"ffns\.(\d+)\.lin(\d)", r"layers.\1.feed.\2"), (r"^pred_layer\.proj", "predict")]).usual(make(2), make(3))


def patchtst():
    def make(layers):
        return lambda: hf.PatchTSTForPrediction(hf.PatchTSTConfig(
            num_input_channels=3, d_model=48, ffn_dim=160, num_hidden_layers=layers, num_attention_heads=4,
            context_length=64, patch_length=8, patch_stride=8, prediction_length=12))
    b, to = r"^model\.encoder\.layers\.(\d+)\.", r"model.backbone.encoder.layers.\1."
    Ports("patchtst", "transformers", [
        (r"^model\.encoder\.embedder\.input_embedding", "model.backbone.W_P"),
        (r"^model\.encoder\.positional_encoder\.position_enc", "model.backbone.W_pos"),
        (b + r"self_attn\.q_proj", to + "self_attn.W_Q"), (b + r"self_attn\.k_proj", to + "self_attn.W_K"),
        (b + r"self_attn\.v_proj", to + "self_attn.W_V"), (b + r"self_attn\.out_proj", to + "self_attn.to_out.0"),
        (b + r"norm_sublayer1\.batchnorm", to + "norm_attn.1"), (b + r"norm_sublayer3\.batchnorm", to + "norm_ffn.1"),
        (b + "ff", to + "ff"), (r"^head\.projection", "model.head.linear")]).usual(
            make(2), make(3), kind="numbered", class_name="yuqinie98/PatchTST Model")


def cohere():
    def make(layers):
        return lambda: hf.CohereForCausalLM(hf.CohereConfig(num_hidden_layers=layers, **small))
    b = r"^model\.layers\.(\d+)\."
    Ports("cohere", "transformers", [
        (r"^model\.embed_tokens", "wte"), (r"^model\.norm", "ln_last"), (r"^lm_head", "to_words"),
        (b + r"self_attn\.([qk])_proj", r"stack.\1.\2"), (b + r"self_attn\.v_proj", r"stack.\1.v"),
        (b + r"self_attn\.o_proj", r"stack.\1.merge"), (b + r"mlp\.(gate|up)_proj", r"stack.\1.\2"),
        (b + r"mlp\.down_proj", r"stack.\1.down"), (b + "input_layernorm", r"stack.\1.ln")],
        [(r"\.(gate|up)\.", ["gate", "up"])]).usual(make(2), make(3), kind="fused")


def googlenet():
    def make(labels):
        return lambda: torchvision.models.googlenet(num_classes=labels, init_weights=False, aux_logits=False)
    Ports("googlenet", "torchvision", [
        (r"^conv1", "stem.a"), (r"^conv2", "stem.b"), (r"^conv3", "stem.c"),
        (r"^inception(\d)(\w)\.branch1\.", r"mixed\1.\2.one."),
        (r"^inception(\d)(\w)\.branch([23])\.0\.", r"mixed\1.\2.way\3.reduce."),
        (r"^inception(\d)(\w)\.branch([23])\.1\.", r"mixed\1.\2.way\3.spread."),
        (r"^inception(\d)(\w)\.branch4\.1\.", r"mixed\1.\2.pooled."), ("^fc", "classify")]).usual(
            make(9), other_head=make(4), kind="renamed")


if __name__ == "__main__":
    for make_family in (starcoder2, qwen2_moe, fnet, convnext_v2, focalnet, m2m_100, xlm, patchtst, cohere, googlenet):
        make_family()
