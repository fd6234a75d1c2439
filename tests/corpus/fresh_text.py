# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: BERT and T5 between implementations that the other sets do not have.

Checked: curated-transformers and flash-attention's names (in the order of its remap_state_dict) by forward passes
against transformers; T5X's names against the converter of transformers, PaddleNLP's against its source. The typed
structs define themselves."""
import torch
import transformers as hf
from torch import nn

from fresh_lib import Fresh, Table, alike, attention, linear, net, param, plain

ids = torch.arange(12).reshape(2, 6) * 7


def lines(pattern, pairs):
    return "\n".join(pattern % (a, b) for a, b in pairs)


# BERT

d, vocab, positions = 48, 330, 40


def bert_config(layers=3, **more):
    return hf.BertConfig(hidden_size=d, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=4 * d,
                         vocab_size=vocab, max_position_embeddings=positions, attn_implementation="eager", **more)


def curated():
    from curated_transformers.models import BERTEncoder
    from curated_transformers.models.bert import BERTConfig
    return BERTEncoder(BERTConfig(embedding_width=d, hidden_width=d, intermediate_width=4 * d, n_attention_heads=4,
                                  n_hidden_layers=3, n_pieces=vocab, n_positions=positions))


def paddle():
    """paddlenlp.transformers.BertModel: Paddle's own encoder, matrices the other way round."""
    def dense(a, b):
        return net("Linear", weight=param(a, b), bias=param(b))

    def layer():
        return net("TransformerEncoderLayer", self_attn=net(
            "MultiHeadAttention", q_proj=dense(d, d), k_proj=dense(d, d), v_proj=dense(d, d), out_proj=dense(d, d)),
            linear1=dense(d, 4 * d), linear2=dense(4 * d, d), norm1=nn.LayerNorm(d), norm2=nn.LayerNorm(d))
    return net("BertModel", embeddings=net("BertEmbeddings", word_embeddings=nn.Embedding(vocab, d),
                                           position_embeddings=nn.Embedding(positions, d),
                                           token_type_embeddings=nn.Embedding(2, d), layer_norm=nn.LayerNorm(d)),
               encoder=net("TransformerEncoder", layers=[layer() for _ in range(3)]),
               pooler=net("BertPooler", dense=dense(d, d)))


def flash(layers=3):
    """flash_attn.models.bert.BertModel"""
    def layer():
        return net("Block", mixer=net("MHA", Wqkv=linear(d, 3 * d), out_proj=linear(d, d)), norm1=nn.LayerNorm(d),
                   mlp=net("Mlp", fc1=linear(d, 4 * d), fc2=linear(4 * d, d)), norm2=nn.LayerNorm(d))
    return net("BertModel", embeddings=net("BertEmbeddings", word_embeddings=nn.Embedding(vocab, d),
                                           position_embeddings=nn.Embedding(positions, d),
                                           token_type_embeddings=nn.Embedding(2, d)), emb_ln=nn.LayerNorm(d),
               encoder=net("BertEncoder", layers=[layer() for _ in range(layers)]),
               pooler=net("BertPooler", dense=linear(d, d)))


def struct_bert(layers=3):
    """A typed model of one's own."""
    def layer():
        return net("EncoderBlock", attention=net("Attention", to_q=linear(d, d), to_k=linear(d, d), to_v=linear(d, d),
                                                 to_out=linear(d, d)), norm_after_attention=nn.LayerNorm(d),
                   expand=linear(d, 4 * d), contract=linear(4 * d, d), norm_after_mlp=nn.LayerNorm(d))
    return net("TextEncoder", word_table=nn.Embedding(vocab, d), position_table=nn.Embedding(positions, d),
               segment_table=nn.Embedding(2, d), embedding_norm=nn.LayerNorm(d),
               blocks=[layer() for _ in range(layers)], pooling=linear(d, d))


def fused_bert(layers=3):
    """Another one: short names, fused."""
    def layer():
        return net("Layer", qkv=linear(d, 3 * d), o=linear(d, d), ln1=nn.LayerNorm(d), up=linear(d, 4 * d),
                   down=linear(4 * d, d), ln2=nn.LayerNorm(d))
    return net("Bert", tok=nn.Embedding(vocab, d), pos=nn.Embedding(positions, d), typ=nn.Embedding(2, d),
               ln0=nn.LayerNorm(d), L=[layer() for _ in range(layers)], pool=linear(d, d))


def bert_table(embeddings, layer, names, pooler):
    """names: of q, k, v, the output, its norm, the two layers and their norm."""
    own = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
           "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"]
    own = [f"encoder.layer.{{i}}.{n}" for n in own]
    names = [f"{layer}.{{i}}.{n}" for n in names.split()]
    if len(names) == 6:
        own = [" + ".join(own[:3])] + own[3:]
    pairs = list(zip((f"embeddings.{n}" for n in ("word_embeddings", "position_embeddings", "token_type_embeddings",
                                                  "LayerNorm")), embeddings.split())) + list(zip(own, names))
    return Table(lines("%s = %s", pairs + ([("pooler.dense", pooler)] if pooler else [])))


def bert():
    f = Fresh("bert_ports", "transformers", "curated-transformers")
    f.add(hf=lambda: hf.BertModel(bert_config()), hf_24=lambda: hf.BertModel(bert_config(24)), curated=curated,
          labels=lambda: hf.BertForSequenceClassification(bert_config(num_labels=5)),
          pretraining=lambda: hf.BertForPreTraining(bert_config()), paddle=(paddle, "paddlenlp.transformers.BertModel"),
          flash=(flash, "flash_attn.models.bert.BertModel"), struct=(struct_bert, "typed model, words in full"),
          fused=(fused_bert, "typed model, fused matrices"),
          fused_24=(lambda: fused_bert(24), "typed model, fused matrices"))
    f.without("published", "pretraining", r"predictions\.decoder")
    f.wrapped("flash_file", "flash", "bert.", [
        ["cls.predictions.transform.dense.weight", "f32", [d, d], "Linear"],
        ["cls.predictions.transform.dense.bias", "f32", [d], "Linear"],
        ["cls.predictions.transform.layer_norm.weight", "f32", [d], "LayerNorm"],
        ["cls.predictions.transform.layer_norm.bias", "f32", [d], "LayerNorm"],
        ["cls.predictions.decoder.weight", "f32", [vocab, d], "Linear"],
        ["cls.predictions.decoder.bias", "f32", [vocab], "Linear"],
        ["cls.seq_relationship.weight", "f32", [2, d], "Linear"], ["cls.seq_relationship.bias", "f32", [2], "Linear"]])
    to_curated = bert_table("embeddings.piece_embeddings embeddings.position_embeddings embeddings.type_embeddings "
                            "embeddings.embed_output_layer_norm", "layers", "mha.query mha.key mha.value mha.output "
                            "attn_residual_layer_norm ffn.intermediate ffn.output ffn_residual_layer_norm", "")
    to_paddle = bert_table("embeddings.word_embeddings embeddings.position_embeddings embeddings.token_type_embeddings "
                           "embeddings.layer_norm", "encoder.layers", "self_attn.q_proj self_attn.k_proj "
                           "self_attn.v_proj self_attn.out_proj norm1 linear1 linear2 norm2", "pooler.dense")
    to_flash = bert_table("embeddings.word_embeddings embeddings.position_embeddings embeddings.token_type_embeddings "
                          "emb_ln", "encoder.layers", "mixer.Wqkv mixer.out_proj norm1 mlp.fc1 mlp.fc2 norm2",
                          "pooler.dense")
    to_struct = bert_table("word_table position_table segment_table embedding_norm", "blocks", "attention.to_q "
                           "attention.to_k attention.to_v attention.to_out norm_after_attention expand contract "
                           "norm_after_mlp", "pooling")
    to_fused = bert_table("tok pos typ ln0", "L", "qkv o ln1 up down ln2", "pool")
    f.pair("hf_to_curated", "hf", "curated", to_curated, spare=["^pooler"])
    f.pair("curated_to_hf", "curated", "hf", to_curated, back=True, unfed=["^pooler"], sorted_file=False)
    matrix = r"(query|key|value|dense)\.weight$"
    f.pair("paddle_to_hf", "paddle", "hf", to_paddle, back=True, transposed=[matrix], sorted_file=False)
    f.pair("published_to_flash", "published", "flash", to_flash, kind="fused", strip=r"^bert\.", spare=["^cls"])
    flash_labels = Table(lines("%s = bert.%s", [(" + ".join(b), " + bert.".join(a)) for a, b, _ in to_flash.lines]))
    f.pair("flash_file_to_labels", "flash_file", "labels", flash_labels, kind="head", strip=r"^bert\.",
           unfed=["^classifier"], spare=["^cls"], sorted_file=False)
    f.pair("labels_to_struct_burn", "labels", "struct", to_struct, strip=r"^bert\.", spare=["^classifier"],
           layout="burn")
    f.pair("hf_to_fused_24_layers", "hf_24", "fused_24", to_fused, kind="fused")
    fused_table = Table(lines("%s = %s", [(" + ".join(b), " + ".join(c)) for (a, b, _), (_, c, _) in zip(
        to_flash.lines, to_fused.lines)]))
    f.pair("flash_to_fused_burn", "flash", "fused", fused_table, layout="burn")

    def ask_flash(m):
        e = m.embeddings
        x = m.emb_ln(e.word_embeddings(ids) + e.position_embeddings(torch.arange(6)) +
                     e.token_type_embeddings(torch.zeros_like(ids)))
        for b in m.encoder.layers:
            x = b.norm1(x + b.mixer.out_proj(attention(*b.mixer.Wqkv(x).chunk(3, -1), 4)))
            x = b.norm2(x + b.mlp.fc2(nn.functional.gelu(b.mlp.fc1(x))))
        return torch.cat([x[:, :1], torch.tanh(m.pooler.dense(x[:, :1]))], 1)

    def ask_curated(m):
        from curated_transformers.layers import AttentionMask
        return m(ids, AttentionMask(torch.ones_like(ids, dtype=torch.bool))).last_hidden_layer_state
    alike(f, "hf_to_curated", lambda: hf.BertModel(bert_config()), curated,
          lambda m: m(ids).last_hidden_state, ask_curated)
    alike(f, "published_to_flash", lambda: hf.BertForPreTraining(bert_config()), flash, lambda m: torch.cat(
        [m.bert(ids).last_hidden_state[:, :1], m.bert(ids).pooler_output[:, None]], 1), ask_flash)
    f.write()


# T5

def t5():
    f = Fresh("t5_ports", "transformers")
    m, kv, ff, layers = 64, 32, 88, 3

    def with_hf(layers=3):
        return hf.T5ForConditionalGeneration(hf.T5Config(
            d_model=m, d_kv=8, d_ff=ff, num_layers=layers, num_heads=4, vocab_size=vocab,
            feed_forward_proj="gated-gelu", tie_word_embeddings=False))

    def kernel(a, b):
        return net("DenseGeneral", kernel=param(a, b))

    def t5x():
        """google-research/t5x, examples/t5 network.Transformer, flattened, without scanned layers."""
        def attend():
            return net("MultiHeadDotProductAttention", query=kernel(m, kv), key=kernel(m, kv), value=kernel(m, kv),
                       out=kernel(kv, m))

        def mlp():
            return net("MlpBlock", wi_0=kernel(m, ff), wi_1=kernel(m, ff), wo=kernel(ff, m))

        def norm():
            return plain(m, "LayerNorm")

        def relative():
            return net("RelativePositionBiases", rel_embedding=param(4, 32))
        encoder = {f"layers_{i}": net("EncoderLayer", pre_attention_layer_norm=norm(), attention=attend(),
                                      pre_mlp_layer_norm=norm(), mlp=mlp()) for i in range(layers)}
        decoder = {f"layers_{i}": net("DecoderLayer", pre_self_attention_layer_norm=norm(), self_attention=attend(),
                                      pre_cross_attention_layer_norm=norm(), encoder_decoder_attention=attend(),
                                      pre_mlp_layer_norm=norm(), mlp=mlp()) for i in range(layers)}
        return net("Transformer", target=net(
            "target", token_embedder=net("Embed", embedding=param(vocab, m)),
            encoder=net("Encoder", relpos_bias=relative(), **encoder, encoder_norm=norm()),
            decoder=net("Decoder", relpos_bias=relative(), **decoder, decoder_norm=norm(),
                        logits_dense=kernel(m, vocab))))

    def struct(layers=3):
        """A typed text encoder of one's own."""
        def layer():
            return net("Layer", attn_norm=nn.RMSNorm(m), q=linear(m, kv, bias=False), k=linear(m, kv, bias=False),
                       v=linear(m, kv, bias=False), o=linear(kv, m, bias=False), ff_norm=nn.RMSNorm(m),
                       ff_gate=linear(m, ff, bias=False), ff_up=linear(m, ff, bias=False),
                       ff_down=linear(ff, m, bias=False))
        return net("T5Encoder", tokens=nn.Embedding(vocab, m), position_bias=nn.Embedding(32, 4),
                   layers=[layer() for _ in range(layers)], norm=nn.RMSNorm(m))
    f.add(hf=with_hf, t5x=(t5x, "google-research/t5x Transformer"), struct=(struct, "typed model"),
          struct_6=(lambda: struct(6), "typed model"))
    f.without("published", "hf", "embed_tokens")
    f.without("encoder", "published", "^(decoder|lm_head)")
    f.wrapped("sentences", "encoder", "0.auto_model.", [["2.linear.weight", "f32", [48, m], "Linear"]])
    projections = (("q", "query"), ("k", "key"), ("v", "value"), ("o", "out"))
    table = []
    for side, blocks in (("encoder", (("0.SelfAttention", "attention", "attention"),)),
                         ("decoder", (("0.SelfAttention", "self_attention", "self_attention"),
                                      ("1.EncDecAttention", "encoder_decoder_attention", "cross_attention")))):
        b, x = f"{side}.block.{{i}}.layer", f"target.{side}.layers_{{i}}"
        for path, own, norm in blocks:
            table += [(f"{b}.{path}.{p}.weight", f"{x}.{own}.{q}.kernel") for p, q in projections]
            table += [(f"{b}.{path[0]}.layer_norm.weight", f"{x}.pre_{norm}_layer_norm.scale")]
        n = len(blocks)
        table += [(f"{b}.{n}.DenseReluDense.{w}.weight", f"{x}.mlp.{w}.kernel") for w in ("wi_0", "wi_1", "wo")]
        table += [(f"{b}.{n}.layer_norm.weight", f"{x}.pre_mlp_layer_norm.scale"),
                  (f"{side}.final_layer_norm.weight", f"target.{side}.{side}_norm.scale"),
                  (f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                   f"target.{side}.relpos_bias.rel_embedding")]
    table += [("shared.weight", "target.token_embedder.embedding"), ("lm_head.weight",
                                                                     "target.decoder.logits_dense.kernel")]
    to_t5x = Table(lines("%s = %s", table))
    e = "encoder.block.{i}.layer."
    to_struct = Table(lines("%s = %s", [(e + f"0.SelfAttention.{p}", f"layers.{{i}}.{p}") for p in "qkvo"] + [
        (e + "0.layer_norm", "layers.{i}.attn_norm"), (e + "1.layer_norm", "layers.{i}.ff_norm"),
        (e + "1.DenseReluDense.wi_0", "layers.{i}.ff_gate"), (e + "1.DenseReluDense.wi_1", "layers.{i}.ff_up"),
        (e + "1.DenseReluDense.wo", "layers.{i}.ff_down"), ("encoder.final_layer_norm", "norm"), ("shared", "tokens"),
        ("encoder.block.0.layer.0.SelfAttention.relative_attention_bias", "position_bias")]))
    f.pair("t5x_to_hf", "t5x", "published", to_t5x, back=True, sorted_file=False, transposed=[
        r"(\.[qkvo]|wi_\d|wo|relative_attention_bias|lm_head)\.weight$"])
    f.pair("hf_to_t5x", "published", "t5x", to_t5x, transposed=["kernel$", "rel_embedding$"])
    f.pair("hf_to_struct_encoder_burn", "published", "struct", to_struct, spare=["^(decoder|lm_head)"], layout="burn")
    f.pair("sentences_to_struct", "sentences", "struct", to_struct, kind="wrapped", strip=r"^0\.auto_model\.",
           spare=["^2"], sorted_file=False)
    f.pair("encoder_to_longer_struct", "encoder", "struct_6", to_struct, kind="depth", unfed=[r"^layers\.[345]\."])
    f.write()


if __name__ == "__main__":
    for make in (bert, t5):
        make()
